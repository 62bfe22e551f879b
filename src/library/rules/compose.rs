//! Makes a rule from its header and its SELECT: the query with the columns of every rule, and its
//! documentation.

use std::collections::BTreeMap;

use super::super::{Body, Column, File, Problem, View, header, lint};
use super::header::{Header, take};
use super::limit::{Finding, Setting};
use super::select::Select;
use super::template::{self, Kind, Names, literal};
use super::{COLUMNS, PREFIX};

/// A composed rule.
#[derive(Debug)]
pub struct Composed {
    /// The view of the rule, with all columns.
    pub view: View,
    /// The settings that the rule defines, with the lines that define them.
    pub settings: Vec<(usize, Setting)>,
    /// Settings that contain the limits of the rule but are defined elsewhere, with the lines that
    /// name them.
    pub limits: Vec<(usize, String)>,
}

/// The columns that the SELECT of every rule must have.
const NEEDED: [&str; 2] = ["trace_id", "rank"];

/// The columns that a SELECT cannot have, because they are derived from the others.
const MADE: [&str; 2] = ["rule", "status"];

/// The column that a SELECT may have in addition to those of every rule.
const IS_FINDING: &str = "is_finding";

/// Composes a rule from a file with header lines; `None` for other files.
pub fn compose(file: &File) -> Option<Result<Composed, Problem>> {
    if !super::is_rule(file) || !file.stem.starts_with(PREFIX) {
        return None;
    }
    match take(file) {
        Ok(None) => None,
        Err(problem) => Some(Err(problem)),
        Ok(Some((header, rest))) => Some(composed(file, &header, rest)),
    }
}

fn composed(file: &File, header: &Header, text: String) -> Result<Composed, Problem> {
    let mut view = header::parse(&File { text, ..file.clone() }, &mut BTreeMap::new())?;
    let select = Select::parse(&file.text).map_err(|(line, m)| file.problem(line, m))?;
    let rule = Rule::new(file, header, select)?;
    rule.check_columns()?;
    let (mut settings, mut limits) = (Vec::new(), Vec::new());
    if let (Some(finding), Some(text)) = (&rule.finding, header.get("finding")) {
        let line = text.line();
        settings.extend(finding.settings(&file.stem).into_iter().map(|s| (line, s)));
        limits.extend(finding.settings_of_others().map(|name| (line, name.to_owned())));
        let gap = if view.detail.is_empty() { "" } else { "\n\n" };
        view.detail = format!("{}{gap}{}", view.detail, finding.sentence());
    }
    for text in &header.settings {
        let setting = Setting::parse(&text.text).map_err(|m| file.problem(text.line(), m))?;
        settings.push((text.line(), setting));
    }
    if view.example.is_empty() {
        view.example = format!("SELECT status, severity, value, message FROM {}", file.stem);
    }
    view.body = Body::Query(rule.query()?);
    view.columns = rule.columns(view.columns)?;
    Ok(Composed { view: lint::check(file, view)?, settings, limits })
}

/// A rule whose header and SELECT are already parsed.
struct Rule<'a> {
    file: &'a File,
    header: &'a Header,
    select: Select<'a>,
    finding: Option<Finding>,
}

impl<'a> Rule<'a> {
    fn new(file: &'a File, header: &'a Header, select: Select<'a>) -> Result<Self, Problem> {
        let finding = header
            .get("finding")
            .map(|text| {
                Finding::parse(&file.stem, &text.text).map_err(|m| file.problem(text.line(), m))
            })
            .transpose()?;
        Ok(Self { file, header, select, finding })
    }

    fn has(&self, column: &str) -> bool {
        self.select.has(column)
    }

    fn is_share(&self) -> bool {
        self.finding.as_ref().is_some_and(|f| f.unit == "pct") || self.finding.is_none()
    }

    /// Checks that the columns of the SELECT and the lines of the header form a complete rule.
    fn check_columns(&self) -> Result<(), Problem> {
        let missing = |what: &str| Err(self.file.problem(self.select.line, what));
        if let Some(name) = NEEDED.iter().find(|n| !self.has(n)) {
            return missing(&format!("the SELECT of a rule must give the column {name}"));
        }
        if let Some((name, line)) =
            self.select.columns.iter().find(|(n, _)| MADE.contains(&n.as_str()))
        {
            let message = format!(
                "a rule with a header cannot give {name}: it is made from the name of the file \
                 and from what is measured"
            );
            return Err(self.file.problem(*line, message));
        }
        for (i, (name, line)) in self.select.columns.iter().enumerate() {
            if self.select.columns[..i].iter().any(|(n, _)| n == name) {
                return Err(self.file.problem(*line, format!("column {name} is there twice")));
            }
        }
        if self.has("numerator") != self.has("denominator") {
            return missing(
                "the SELECT of a rule gives both numerator and denominator, or value alone",
            );
        }
        if !self.has("numerator") && !self.has("value") {
            return missing("the SELECT of a rule must give numerator and denominator, or value");
        }
        if self.finding.is_none() {
            for name in [IS_FINDING, "severity", "unit", "threshold"] {
                if !self.has(name) {
                    return missing(&format!(
                        "the rule needs a header line @finding, or a SELECT that gives {name}"
                    ));
                }
            }
        }
        let needs = |column: &str, key: &str| !self.has(column) && self.header.get(key).is_none();
        for (column, key) in [("message", "message"), ("advice", "advice")] {
            if needs(column, key) {
                return missing(&format!("the rule needs a header line @{key}"));
            }
        }
        for name in ["numerator", "denominator"] {
            if self.has(name) && needs(&format!("{name}_name"), name) {
                return missing(&format!(
                    "the rule needs a header line @{name} that says what the column {name} is"
                ));
            }
        }
        self.check_use()
    }

    /// A column that nothing uses is a mistake, usually a misspelt name.
    fn check_use(&self) -> Result<(), Problem> {
        let mut used = Vec::new();
        for key in super::header::KEYS {
            if let Some(text) = self.header.get(key) {
                let names = template::names(&text.text, kind(key))
                    .map_err(|f| self.file.problem(text.line_at(f.at), f.message))?;
                used.extend(names);
            }
        }
        let is_used = |name: &str| {
            name == IS_FINDING || COLUMNS.iter().any(|(c, _)| *c == name) || used.contains(&name)
        };
        match self.select.columns.iter().find(|(name, _)| !is_used(name)) {
            None => Ok(()),
            Some((name, line)) => Err(self.file.problem(
                *line,
                format!(
                    "column {name} is not used: no rule has such a column, and no header \
                         line names it as {{{name}}}"
                ),
            )),
        }
    }

    /// The SQL expression for the value of a row that could be measured.
    fn value(&self) -> String {
        let quotient = if self.is_share() {
            "100.0 * numerator / denominator"
        } else {
            "CAST(numerator AS DOUBLE) / denominator"
        };
        match (self.has("value"), self.has("numerator")) {
            (true, true) => format!("coalesce(CAST(value AS DOUBLE), {quotient})"),
            (true, false) => "CAST(value AS DOUBLE)".to_owned(),
            _ => quotient.to_owned(),
        }
    }

    /// The SQL condition for a row that has no value, whatever the SELECT returns.
    fn has_no_value(&self) -> &'static str {
        match (self.has("value"), self.has("numerator")) {
            (true, true) => "value IS NULL AND (numerator IS NULL OR coalesce(denominator, 0) = 0)",
            (true, false) => "value IS NULL",
            _ => "numerator IS NULL OR coalesce(denominator, 0) = 0",
        }
    }

    /// The SQL expression for the limit that the value is compared with.
    fn threshold(&self) -> String {
        let setting = self.finding.as_ref().map(|f| setting(&f.limit.setting));
        match (self.has("threshold"), setting) {
            (true, Some(setting)) => format!("coalesce(threshold, {setting})"),
            (true, None) => "threshold".to_owned(),
            (false, setting) => setting.unwrap_or_else(|| "NULL".to_owned()),
        }
    }

    /// The SQL condition for a value beyond a limit. Quotients are compared without a division, so
    /// that a value at the limit does not count as beyond it.
    fn is_beyond(&self, finding: &Finding, limit: &str) -> String {
        let sign = if finding.is_below { "<" } else { ">" };
        let factor = if self.is_share() { "100.0 * " } else { "" };
        let value = format!("value {sign} {limit}");
        let quotient = format!("{factor}numerator {sign} {limit} * denominator");
        match (self.has("value"), self.has("numerator")) {
            (true, true) => format!("coalesce({value}, {quotient})"),
            (true, false) => value,
            _ => quotient,
        }
    }

    fn is_finding(&self) -> String {
        let beyond = self.finding.as_ref().map(|f| self.is_beyond(f, &self.threshold()));
        match (self.has(IS_FINDING), beyond) {
            (true, Some(beyond)) => format!("coalesce({IS_FINDING}, {beyond})"),
            (true, None) => IS_FINDING.to_owned(),
            (false, beyond) => beyond.unwrap_or_else(|| "false".to_owned()),
        }
    }

    fn severity(&self) -> String {
        let usual = self.finding.as_ref().map(|f| {
            let first = literal(&f.limit.severity);
            match &f.second {
                None => first,
                Some(second) => format!(
                    "CASE WHEN {} THEN {} ELSE {first} END",
                    self.is_beyond(f, &setting(&second.setting)),
                    literal(&second.severity)
                ),
            }
        });
        self.given_or("severity", usual)
    }

    /// An SQL expression: the column of the SELECT, else the expression from the header.
    fn given_or(&self, column: &str, header: Option<String>) -> String {
        match (self.has(column), header) {
            (true, Some(header)) => format!("coalesce({column}, {header})"),
            (true, None) => column.to_owned(),
            (false, Some(header)) => header,
            (false, None) => "CAST(NULL AS VARCHAR)".to_owned(),
        }
    }

    /// A header line as an SQL expression.
    fn template(&self, key: &str) -> Result<Option<String>, Problem> {
        let Some(text) = self.header.get(key) else { return Ok(None) };
        if text.text.is_empty() {
            return Err(self.file.problem(text.line(), format!("@{key} has no text")));
        }
        let (value, threshold) = (format!("({})", self.value()), self.threshold());
        let names = Names {
            columns: self.select.columns.iter().map(|(name, _)| name.as_str()).collect(),
            value: &value,
            threshold: Some(&threshold),
        };
        template::expression(&text.text, kind(key), &names)
            .map(Some)
            .map_err(|f| self.file.problem(text.line_at(f.at), f.message))
    }

    /// The query with the columns of every rule. Lines of the file keep their numbers, because
    /// errors refer to them.
    fn query(&self) -> Result<String, Problem> {
        let text = |key: &str| self.template(key);
        let name = self.file.stem.strip_prefix(PREFIX).unwrap_or(&self.file.stem);
        let could_not = format!("The rule {name} could not be measured.");
        let lacks = "The trace does not hold what the rule needs.";
        let unmeasured = text("unmeasured")?.unwrap_or_else(|| literal(&could_not));
        let no_reason = text("reason")?.unwrap_or_else(|| literal(lacks));
        let unit = self.finding.as_ref().map(|f| literal(&f.unit));
        let subject = match (text("subject")?, self.has("subject")) {
            (Some(subject), false) => format!("CASE WHEN {MEASURED} THEN {subject} END"),
            _ => self.given_or("subject", None),
        };
        let id = |column: &str| {
            let given = if self.has(column) { column } else { "NULL" };
            format!("CAST({given} AS BIGINT)")
        };
        let part = |column: &str| {
            if self.has(column) {
                format!("CASE WHEN {MEASURED} THEN CAST({column} AS BIGINT) END")
            } else {
                "CAST(NULL AS BIGINT)".to_owned()
            }
        };
        let reason =
            if self.has("reason") { format!("coalesce(reason, {no_reason})") } else { no_reason };
        let message = self.given_or("message", text("message")?);
        let advice = self.given_or("advice", text("advice")?);
        let evidence = self.given_or("evidence", text("evidence")?);
        let columns = [
            ("rule", literal(name)),
            ("status", STATUS.to_owned()),
            ("severity", format!("CASE WHEN {STATUS} = 'finding' THEN {} END", self.severity())),
            ("trace_id", "trace_id".to_owned()),
            ("rank", id("rank")),
            ("device", id("device")),
            ("step", id("step")),
            ("subject", subject),
            ("value", format!("CASE WHEN {MEASURED} THEN {} END", self.value())),
            ("unit", self.given_or("unit", unit)),
            ("threshold", format!("CAST({} AS DOUBLE)", self.threshold())),
            ("numerator", part("numerator")),
            ("denominator", part("denominator")),
            ("numerator_name", self.given_or("numerator_name", text("numerator")?)),
            ("denominator_name", self.given_or("denominator_name", text("denominator")?)),
            ("message", format!("CASE WHEN {MEASURED} THEN {message} ELSE {unmeasured} END")),
            ("advice", format!("CASE WHEN {STATUS} = 'finding' THEN {advice} END")),
            ("evidence", evidence),
            ("reason", format!("CASE WHEN NOT ({MEASURED}) THEN {reason} END")),
        ];
        let columns: Vec<String> =
            columns.iter().map(|(name, sql)| format!("{sql} AS {name}")).collect();
        let unmeasurable = if self.has("reason") {
            format!("reason IS NOT NULL OR {}", self.has_no_value())
        } else {
            self.has_no_value().to_owned()
        };
        let before = self.select.before;
        let with = if self.select.has_with { ", " } else { "WITH " };
        Ok(format!(
            "{before}{with}_measured AS ({}\n),\n_judged AS (\n    SELECT *,\n        \
             CASE WHEN {unmeasurable} THEN 'not_measurable' WHEN {} THEN 'finding' ELSE 'ok' END \
             AS {STATUS}\n    \
             FROM _measured\n)\nSELECT\n    {}\nFROM _judged",
            self.select.text,
            self.is_finding(),
            columns.join(",\n    ")
        ))
    }

    /// The columns with their descriptions. `@column` lines of the file take precedence.
    fn columns(&self, own: Vec<Column>) -> Result<Vec<Column>, Problem> {
        if let Some(unknown) = own.iter().find(|c| !COLUMNS.iter().any(|(n, _)| *n == c.name)) {
            let needle = format!("@column {} ", unknown.name);
            let line = self.file.text.lines().position(|l| l.contains(&needle));
            let message = format!("{} is not a column of a rule", unknown.name);
            return Err(self.file.problem(line.map_or(1, |i| i + 1), message));
        }
        Ok(COLUMNS
            .iter()
            .map(|(name, data_type)| {
                own.iter().find(|c| c.name == *name).cloned().unwrap_or_else(|| Column {
                    name: (*name).to_owned(),
                    data_type: (*data_type).to_owned(),
                    unit: unit_of(name).to_owned(),
                    description: self.meaning(name),
                })
            })
            .collect())
    }

    fn meaning(&self, column: &str) -> String {
        let whole = "NULL: the rule is about the whole trace.";
        let header = |key: &str| self.header.get(key).map(|t| t.text.as_str()).unwrap_or_default();
        let part = |name: &str| match (self.has(name), header(name)) {
            (false, _) => "NULL: value is not a quotient.".to_owned(),
            (true, "") => format!("The {name} of value; NULL if not measurable."),
            (true, text) => format!("{text}; NULL if not measurable."),
        };
        match column {
            "rule" => format!("{}.", self.file.stem.strip_prefix(PREFIX).unwrap_or_default()),
            "status" => "finding, ok or not_measurable.".to_owned(),
            "severity" => "high, medium, low or info; NULL unless status is finding.".to_owned(),
            "trace_id" => "The trace.".to_owned(),
            "rank" => "Rank of the trace; NULL if not recorded.".to_owned(),
            "device" if self.has("device") => {
                "Device; NULL where none was written, or if not measurable.".to_owned()
            }
            "step" if self.has("step") => "Step; NULL for the whole trace.".to_owned(),
            "subject" if self.has("subject") || self.header.get("subject").is_some() => {
                "What the row is about; NULL if not known or not measurable.".to_owned()
            }
            "value" => match (self.has("value"), self.is_share()) {
                (true, _) => "What was measured; NULL if not measurable.".to_owned(),
                (_, true) => "100 * numerator / denominator; NULL if not measurable.".to_owned(),
                _ => "numerator / denominator; NULL if not measurable.".to_owned(),
            },
            "unit" => match &self.finding {
                Some(f) => format!("Unit of value and threshold: {}.", f.unit),
                None => "Unit of value and threshold.".to_owned(),
            },
            "threshold" => match &self.finding {
                Some(f) if f.is_below => {
                    format!("The setting {}: lower values are findings.", f.limit.setting)
                }
                Some(f) => format!("The setting {}.", f.limit.setting),
                None => "The limit.".to_owned(),
            },
            "numerator" | "denominator" => part(column),
            "numerator_name" => "What numerator is; NULL if there is none.".to_owned(),
            "denominator_name" => "What denominator is; NULL if there is none.".to_owned(),
            "message" => "The finding in a sentence.".to_owned(),
            "advice" => "What to do; NULL unless status is finding.".to_owned(),
            "evidence" => "A query that shows the rows behind it.".to_owned(),
            "reason" => {
                "Why it is not measurable and how to record what is missing; NULL otherwise."
                    .to_owned()
            }
            _ => whole.to_owned(),
        }
    }
}

/// The kind of template that the header line with this key contains.
fn kind(key: &str) -> Kind {
    if key == "evidence" { Kind::Query } else { Kind::Text }
}

/// The column that contains the status before the columns of every rule are made.
const STATUS: &str = "_status";

/// The SQL condition for a row that could be measured.
const MEASURED: &str = "_status <> 'not_measurable'";

fn setting(name: &str) -> String {
    format!("setting('{name}')")
}

/// The unit of a column of every rule.
fn unit_of(column: &str) -> &'static str {
    match column {
        "rank" | "device" | "step" => "id",
        "value" | "threshold" | "numerator" | "denominator" => "number",
        _ => "text",
    }
}
