//! Parses the comment at the top of a view's file: summary, detail, source, example, conditions on
//! its rows, and columns.

use std::collections::BTreeMap;

use super::{Body, Column, Csv, File, Problem, Scope, Truths, View};

/// Parses the file of a view. A data table takes its CSV file out of `data`.
pub fn parse(file: &File, data: &mut BTreeMap<String, Csv>) -> Result<View, Problem> {
    let mut view = View {
        name: file.stem.clone(),
        area: file.area.clone(),
        summary: String::new(),
        detail: String::new(),
        source: String::new(),
        example: String::new(),
        columns: Vec::new(),
        truths: Truths::default(),
        scope: None,
        lookup: Vec::new(),
        is_of_several: false,
        file: file.shown.clone(),
        body: Body::Query(file.text.clone()),
    };
    let mut part = Part::Summary;
    let mut csv = None;
    // The line of the scope.
    let mut scope = None;
    // Truths may continue over several lines. They are parsed when they are complete. Each is a
    // line number, a keyword and a text.
    let mut truths: Vec<(usize, &str, String)> = Vec::new();
    let mut lines = file.text.lines().enumerate().map(|(i, line)| (i + 1, line.trim_end()));
    for (number, line) in lines.by_ref() {
        let Some(text) = line.strip_prefix("--") else {
            if line.is_empty() {
                continue;
            }
            break;
        };
        let (text, indented) = (text.trim(), text.starts_with("   "));
        if let Some(rest) = text.strip_prefix("@column ") {
            view.columns.push(column(file, number, rest)?);
            part = Part::Column;
        } else if let Some(name) = text.strip_prefix("@data ") {
            csv = Some((number, name.trim().to_owned()));
        } else if let Some(rest) = text.strip_prefix("@scope") {
            if scope.replace(number).is_some() {
                return Err(file.problem(number, "@scope is there twice"));
            }
            let parsed = Scope::parse(rest).map_err(|message| file.problem(number, message))?;
            (view.scope, view.lookup) = (Some(parsed.0), parsed.1);
            part = Part::Detail;
        } else if text == "@traces several" {
            view.is_of_several = true;
            part = Part::Detail;
        } else if text.starts_with('@') {
            return Err(file.problem(
                number,
                format!(
                    "{text:?} is not known; use @column NAME TYPE UNIT TEXT, \
                     @scope trace|job|store, @traces several or @data NAME.csv"
                ),
            ));
        } else if let Some(rest) = text.strip_prefix("Source:") {
            part = Part::Source;
            view.source = rest.trim().to_owned();
        } else if let Some(rest) = text.strip_prefix("Example:") {
            part = Part::Example;
            view.example = rest.trim().to_owned();
        } else if let Some((keyword, rest)) =
            TRUTHS.iter().find_map(|k| Some((*k, text.strip_prefix(k)?)))
        {
            part = Part::Truth;
            truths.push((number, keyword, rest.trim().to_owned()));
        } else {
            part = part.after(text, indented);
            match truths.last_mut() {
                Some((_, _, truth)) if part == Part::Truth => *truth = format!("{truth} {text}"),
                _ => part.append(&mut view, text),
            }
        }
    }
    if view.summary.is_empty() {
        return Err(file.problem(
            1,
            "the first line must be a comment that says in one sentence what a row is",
        ));
    }
    view.detail = view.detail.trim().to_owned();
    for (number, keyword, text) in truths {
        view.truths.add(keyword, &text).map_err(|message| file.problem(number, message))?;
    }
    if let Some((number, name)) = csv {
        let stem = name.strip_suffix(".csv").unwrap_or(&name);
        if stem != view.name {
            return Err(
                file.problem(number, format!("the data of {0} must be in {0}.csv", view.name))
            );
        }
        let missing = || {
            file.problem(
                number,
                format!("{name} is missing; it belongs in the folder of this file"),
            )
        };
        view.body =
            Body::Data(vec![data.remove(&format!("{}/{stem}", file.area)).ok_or_else(missing)?]);
        if let Some(number) = scope {
            let message = "a data table has no scope: its rows belong to no trace";
            return Err(file.problem(number, message));
        }
    } else {
        // A view that does not state its scope may read any trace.
        view.scope.get_or_insert(Scope::Store);
    }
    Ok(view)
}

/// The keywords of lines that state conditions on the rows.
const TRUTHS: &[&str] = &["Holds:", "Parts:", "Range:"];

/// The part of the comment that a line belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Summary,
    Detail,
    Source,
    Example,
    Column,
    Truth,
}

impl Part {
    /// The part that the next line belongs to.
    fn after(self, text: &str, indented: bool) -> Self {
        match self {
            Self::Summary if text.is_empty() => Self::Detail,
            Self::Source | Self::Example | Self::Column | Self::Truth if !indented => Self::Detail,
            part => part,
        }
    }

    fn append(self, view: &mut View, text: &str) {
        let (to, separator) = match self {
            Self::Summary => (&mut view.summary, ' '),
            Self::Detail => (&mut view.detail, '\n'),
            Self::Source => (&mut view.source, ' '),
            Self::Example => (&mut view.example, '\n'),
            Self::Column => match view.columns.last_mut() {
                Some(column) => (&mut column.description, ' '),
                None => return,
            },
            Self::Truth => return,
        };
        if !to.is_empty() {
            to.push(separator);
        }
        to.push_str(text);
    }
}

fn column(file: &File, line: usize, text: &str) -> Result<Column, Problem> {
    let mut words = text.splitn(4, char::is_whitespace).map(str::trim);
    match (words.next(), words.next(), words.next(), words.next()) {
        (Some(name), Some(data_type), Some(unit), Some(description)) if !description.is_empty() => {
            let own = str::to_owned;
            Ok(Column {
                name: own(name),
                data_type: own(data_type),
                unit: own(unit),
                description: own(description),
            })
        }
        _ => Err(file.problem(line, "write it as `-- @column NAME TYPE UNIT TEXT`")),
    }
}
