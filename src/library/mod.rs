//! The standard library: views, data tables and their documentation. They are read from `sql/` and
//! from the user's folders.
//!
//! One file defines one view: a comment that documents it and each column, then a SELECT. The
//! catalogue, `tracesql docs`, completion and the reference are all made from this. Nothing is
//! planned here, because a library of hundreds of views must not slow down the start.

mod data;
mod expand;
mod header;
mod lint;
mod name_rules;
mod rules;
mod scope;
mod truths;
mod types;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use include_dir::{Dir, DirEntry, include_dir};
use tracesql_ingest::schema;
use tracesql_udfs::names::{BUILT_IN_RULES, Rules};

use crate::error::{Error, Result};
pub use data::rows;
pub use rules::{COLUMNS as RULE_COLUMNS, RULES_OF_A_TRACE};
pub use scope::{JOB_RANKS, Scope};
pub use truths::{Parts, Range, Ranges, Truths};
pub use types::{arrow_type, matches, sql_type};

static EMBEDDED: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/sql");

/// The data table with the rules that classify names. Its documentation is in `sql/core`. Its rows
/// come with the functions that use them.
const NAME_RULES: &str = "name_rules";

/// A view or data table, with its documentation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    /// The name of the view and of its file.
    pub name: String,
    /// The area, which is the name of the folder.
    pub area: String,
    /// A summary of one sentence.
    pub summary: String,
    /// A full description of how the rows are made.
    pub detail: String,
    /// The origin of the formula; empty if the project defines the formula itself.
    pub source: String,
    /// An example query; empty if there is none.
    pub example: String,
    /// Columns in order.
    pub columns: Vec<Column>,
    /// Conditions that the rows satisfy.
    pub truths: Truths,
    /// The traces that a row depends on; see [`View::scope`]. `None` for a table whose rows belong
    /// to no trace.
    pub scope: Option<Scope>,
    /// The columns by which views of any scope may look up rows, if the scope is [`Scope::Store`].
    /// A row depends on these columns only, and no two rows agree in all of them.
    pub lookup: Vec<String>,
    /// Whether it has rows only if there are several traces. With one, it is in no plan; see
    /// `docs/views.md`.
    pub is_of_several: bool,
    /// The file name for messages: `sql/core/settings.sql` for a built-in view, else the path.
    pub file: String,
    /// The definition of the rows.
    pub body: Body,
}

/// The definition of the rows of a view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    /// The text of the file: comments, then one query. A composed rule has the composed query.
    Query(String),
    /// CSV files with the same columns: first the built-in one, then those of users.
    Data(Vec<Csv>),
}

/// A CSV file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Csv {
    /// The file name for messages.
    pub file: String,
    /// Its text.
    pub text: String,
}

/// A column of a view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Name.
    pub name: String,
    /// SQL type: `BIGINT`, `DOUBLE`, `VARCHAR`, `BOOLEAN`, `VARBINARY`, lists as `BIGINT[]`.
    pub data_type: String,
    /// Unit, one of [`UNITS`].
    pub unit: String,
    /// The meaning of the column, and when it is NULL.
    pub description: String,
}

pub use lint::UNITS;

/// An error in a file of a library.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The file.
    pub file: String,
    /// The line number, starting at 1.
    pub line: usize,
    /// A description of the problem, and what the user can do about it.
    pub message: String,
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.message)
    }
}

/// The views of a session.
#[derive(Debug)]
pub struct Library {
    views: BTreeMap<String, View>,
    problems: Vec<Problem>,
    name_rules: Rules,
    rule_settings: rules::RuleSettings,
    /// Views of users that replaced views of a smaller scope.
    widened: Vec<String>,
}

impl Library {
    /// Loads the built-in views and those in the user's folders. A view of a later folder replaces
    /// a view of the same name.
    ///
    /// An invalid file is left out and reported by [`Library::problems`]. A folder that cannot be
    /// read is an error.
    pub fn load(folders: &[PathBuf]) -> Result<Self> {
        Self::load_with_rules(folders, &[])
    }

    /// The library of a session. Sessions without folders of their own share the built-in one, which
    /// takes 20 ms to load.
    pub fn of_session(folders: &[PathBuf], rules: &[PathBuf]) -> Result<Arc<Self>> {
        static BUILT_IN: OnceLock<Arc<Library>> = OnceLock::new();
        if !folders.is_empty() || !rules.is_empty() {
            return Ok(Arc::new(Self::load_with_rules(folders, rules)?));
        }
        if let Some(library) = BUILT_IN.get() {
            return Ok(library.clone());
        }
        let library = Arc::new(Self::load(&[])?);
        Ok(BUILT_IN.get_or_init(|| library).clone())
    }

    /// Like [`Library::load`], with additional folders of rules. Their files may lie directly in
    /// the folder.
    pub fn load_with_rules(folders: &[PathBuf], rules: &[PathBuf]) -> Result<Self> {
        let mut library = Self {
            views: BTreeMap::new(),
            problems: Vec::new(),
            name_rules: Rules::built_in(),
            rule_settings: rules::RuleSettings::default(),
            widened: Vec::new(),
        };
        let mut files = Vec::new();
        embedded(&EMBEDDED, &mut files);
        files.push(File {
            area: "core".to_owned(),
            stem: NAME_RULES.to_owned(),
            extension: "csv".to_owned(),
            shown: "udfs/src/names/name_rules.csv".to_owned(),
            text: BUILT_IN_RULES.to_owned(),
        });
        library.add(files);
        for folder in folders {
            library.add(on_disk("--sql", folder)?);
        }
        for folder in rules {
            let mut files = in_folder("--rules", folder, folder)?;
            for file in &mut files {
                file.area = rules::AREA.to_owned();
            }
            files.extend(on_disk("--rules", folder)?);
            if !files.iter().any(|f| rules::is_rule(f) || rules::misnamed(f).is_some()) {
                return Err(Error::Usage(format!(
                    "--rules {}: there is no rule in it, a file rule_NAME.sql",
                    folder.display()
                )));
            }
            library.problems.extend(files.iter().filter_map(rules::misnamed));
            library.add(files);
        }
        let widened = std::mem::take(&mut library.widened);
        library.widen_readers(widened);
        library.compose_rules();
        Ok(library)
    }

    fn add(&mut self, files: Vec<File>) {
        let (files, problems) = expand::families(files);
        self.problems.extend(problems);
        let mut data: BTreeMap<String, Csv> = BTreeMap::new();
        for file in files.iter().filter(|f| f.extension == "csv") {
            data.insert(
                format!("{}/{}", file.area, file.stem),
                Csv { file: file.shown.clone(), text: file.text.clone() },
            );
        }
        for file in files.iter().filter(|f| f.extension == "sql") {
            let parsed = match rules::compose(file) {
                Some(rule) => rule.and_then(|rule| self.rule_settings.define(file, rule)),
                None => header::parse(file, &mut data).and_then(|view| lint::check(file, view)),
            };
            match parsed {
                Ok(view) => self.insert(view),
                Err(problem) => self.problems.push(problem),
            }
        }
        // The remaining files are rows for a data table that another folder documents.
        for (key, csv) in data {
            let (area, name) = key.rsplit_once('/').unwrap_or_default();
            match self.views.get_mut(name) {
                Some(View { area: a, body: Body::Data(files), .. }) if a == area => {
                    if name == NAME_RULES {
                        match usable(&csv) {
                            Ok(rules) => self.name_rules = self.name_rules.clone().extend(rules),
                            Err(problems) => {
                                self.problems.extend(problems);
                                continue;
                            }
                        }
                    }
                    files.push(csv);
                }
                _ => self.problems.push(Problem {
                    line: 1,
                    message: format!(
                        "no data table {name} in area {area}; document it in \
                                      {name}.sql with `-- @data {name}.csv`"
                    ),
                    file: csv.file,
                }),
            }
        }
    }

    fn insert(&mut self, view: View) {
        if schema::table(&view.name).is_some() {
            let message = format!(
                "{} is a table of every store; choose another name for the view",
                view.name
            );
            self.problems.push(Problem { file: view.file, line: 1, message });
        } else {
            if self.is_wider(&view) {
                self.widened.push(view.name.clone());
            }
            self.views.insert(view.name.clone(), view);
        }
    }

    /// All views by name, including private ones, whose names start with `_`.
    pub fn views(&self) -> impl Iterator<Item = &View> {
        self.views.values()
    }

    /// The documented views: all but the private ones.
    pub fn public_views(&self) -> impl Iterator<Item = &View> {
        self.views.values().filter(|v| !v.is_private())
    }

    /// The view with this name.
    pub fn view(&self, name: &str) -> Option<&View> {
        self.views.get(name)
    }

    /// The rules that `classify` follows: the built-in rules and those of the user.
    pub fn name_rules(&self) -> &Rules {
        &self.name_rules
    }

    /// The files that were left out.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// The tables that every store has, documented like views.
    pub fn tables() -> impl Iterator<Item = View> {
        schema::TABLES.iter().map(|table| View {
            name: table.name.to_owned(),
            area: "tables".to_owned(),
            summary: table
                .about
                .split_inclusive(". ")
                .next()
                .unwrap_or_default()
                .trim_end()
                .to_owned(),
            detail: table
                .about
                .split_once(". ")
                .map(|(_, rest)| rest.to_owned())
                .unwrap_or_default(),
            source: String::new(),
            example: String::new(),
            columns: table
                .schema()
                .fields()
                .iter()
                .zip(table.columns)
                .map(|(f, c)| column(f.data_type(), c))
                .collect(),
            truths: Truths::default(),
            scope: Some(Scope::Trace),
            lookup: Vec::new(),
            is_of_several: false,
            file: String::new(),
            body: Body::Data(Vec::new()),
        })
    }
}

/// The name rules of a user's file, or all problems in the file.
fn usable(csv: &Csv) -> std::result::Result<Rules, Vec<Problem>> {
    let problem = |line: usize, message: String| Problem { file: csv.file.clone(), line, message };
    let rules = Rules::parse(&csv.text).map_err(|e| vec![problem(1, e.strip_backtrace())])?;
    let problems: Vec<Problem> = name_rules::problems(&rules, &Rules::built_in())
        .into_iter()
        .map(|(line, message)| problem(line, message))
        .collect();
    if problems.is_empty() { Ok(rules) } else { Err(problems) }
}

fn column(data_type: &arrow::datatypes::DataType, column: &schema::Column) -> Column {
    Column {
        name: column.name.to_owned(),
        data_type: sql_type(data_type),
        unit: column.unit.to_owned(),
        description: column.about.to_owned(),
    }
}

impl View {
    /// Whether the view is private, so that only other views use it.
    pub fn is_private(&self) -> bool {
        self.name.starts_with('_')
    }
}

/// The files that [`Library::load_with_rules`] reads from a user's folder. They are written as
/// `AREA/NAME.EXTENSION`, or `NAME.EXTENSION` for a rule directly in the folder.
pub fn source_files(option: &str, folder: &Path) -> Result<Vec<SourceFile>> {
    let mut files = in_folder(option, folder, folder)?;
    files.extend(on_disk(option, folder)?);
    let inside =
        |file: &File| Path::new(&file.area).join(format!("{}.{}", file.stem, file.extension));
    Ok(files
        .into_iter()
        .map(|file| SourceFile { inside: inside(&file), text: file.text })
        .collect())
}

/// A file of a user's folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
    /// The path inside the folder.
    pub inside: PathBuf,
    /// The text.
    pub text: String,
}

/// A file of a library.
#[derive(Debug, Clone)]
struct File {
    area: String,
    stem: String,
    extension: String,
    shown: String,
    text: String,
}

fn embedded(folder: &Dir<'_>, files: &mut Vec<File>) {
    for entry in folder.entries() {
        match entry {
            DirEntry::Dir(inner) => embedded(inner, files),
            DirEntry::File(file) => {
                if let Some(text) = file.contents_utf8() {
                    let shown = format!("sql/{}", file.path().display());
                    files.extend(
                        File::new(file.path(), shown, text.to_owned())
                            .filter(|f| !f.area.is_empty()),
                    );
                }
            }
        }
    }
}

/// The files of a folder with the layout AREA/NAME.sql. Areas may contain folders, which are areas
/// too.
fn on_disk(option: &str, folder: &Path) -> Result<Vec<File>> {
    let mut files = Vec::new();
    for area in folders_in(option, folder)? {
        files.extend(in_folder(option, folder, &area)?);
        for part in folders_in(option, &area)? {
            files.extend(in_folder(option, folder, &part)?);
        }
    }
    files.sort_by(|a, b| a.shown.cmp(&b.shown));
    Ok(files)
}

fn folders_in(option: &str, folder: &Path) -> Result<Vec<PathBuf>> {
    let cannot = |e| Error::Usage(format!("{option} {}: cannot be read: {e}", folder.display()));
    let mut folders = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(cannot)? {
        let path = entry.map_err(cannot)?.path();
        if path.is_dir() {
            folders.push(path);
        }
    }
    Ok(folders)
}

/// The files of a single folder. Their area is the path of the folder below the root.
fn in_folder(option: &str, root: &Path, folder: &Path) -> Result<Vec<File>> {
    let cannot = |path: &Path, e: &dyn std::fmt::Display| {
        Error::Usage(format!("{option} {}: cannot be read: {e}", path.display()))
    };
    let mut files = Vec::new();
    for file in std::fs::read_dir(folder).map_err(|e| cannot(folder, &e))? {
        let path = file.map_err(|e| cannot(folder, &e))?.path();
        if path
            .extension()
            .is_none_or(|e| !e.eq_ignore_ascii_case("sql") && !e.eq_ignore_ascii_case("csv"))
        {
            continue;
        }
        let text = std::fs::read(&path).map_err(|e| cannot(&path, &e))?;
        let inside = path.strip_prefix(root).unwrap_or(&path).to_owned();
        files.extend(File::new(
            &inside,
            path.display().to_string(),
            String::from_utf8_lossy(&text).into_owned(),
        ));
    }
    files.sort_by(|a, b| a.shown.cmp(&b.shown));
    Ok(files)
}

impl File {
    /// Creates a file. Its area is empty if it is not in a folder.
    fn new(inside: &Path, shown: String, text: String) -> Option<Self> {
        let area = inside.parent()?.to_str()?.to_owned();
        let stem = inside.file_stem()?.to_str()?.to_owned();
        let extension = inside.extension()?.to_str()?.to_ascii_lowercase();
        Some(Self { area, stem, extension, shown, text })
    }

    fn problem(&self, line: usize, message: impl Into<String>) -> Problem {
        Problem { file: self.shown.clone(), line, message: message.into() }
    }
}
