//! The settings that a client sends when it connects.

use std::collections::BTreeMap;

use super::connection::{LIBRARY, OF_ENGINE, engine_setting};
use super::variables::{REPORTED, Variables};
use crate::failure::{Failure, code};

/// What a startup message contains in addition to settings.
const OTHERS: &[&str] = &["user", "database", "options", "replication"];

/// Applies the settings of a startup message. Returns those of views, which need the engine.
///
/// Unknown settings are left out, because drivers send some of their own. A setting whose value is
/// reported to the client keeps the server's value if the server cannot take the client's.
pub fn apply(
    variables: &mut Variables,
    parameters: &BTreeMap<String, String>,
) -> Result<Vec<(String, String)>, Failure> {
    let mut all = match parameters.get("options") {
        Some(options) => of_options(options)?,
        None => Vec::new(),
    };
    let others = parameters
        .iter()
        .filter(|(name, _)| !OTHERS.contains(&name.as_str()) && !name.starts_with("_pq_."));
    all.extend(others.map(|(name, value)| (name.clone(), value.clone())));
    let mut of_views = Vec::new();
    for (name, value) in all {
        let lower = name.to_lowercase();
        if lower.starts_with(OF_ENGINE) {
            return Err(engine_setting(&name));
        }
        if let Some(setting) = lower.strip_prefix(LIBRARY) {
            of_views.push((setting.to_owned(), value));
            continue;
        }
        if let Err(failure) = variables.set(&name, &value) {
            let is_reported = REPORTED.iter().any(|known| known.eq_ignore_ascii_case(&name));
            if failure.code != code::UNDEFINED_OBJECT && !is_reported {
                return Err(failure);
            }
        }
    }
    variables.begin();
    Ok(of_views)
}

/// The settings in a text of command-line options such as `-c name=value --name=value`.
fn of_options(options: &str) -> Result<Vec<(String, String)>, Failure> {
    let wrong = |word: &str| {
        let message = format!("invalid command-line argument for server process: {word}");
        Failure::new(code::SYNTAX_ERROR, message).with_hint("options are -c name=value")
    };
    let mut all = Vec::new();
    let mut words = words(options).into_iter();
    while let Some(word) = words.next() {
        let setting = match (word.strip_prefix("--"), word.strip_prefix("-c")) {
            (Some(setting), _) => setting.to_owned(),
            (None, Some("")) => words.next().ok_or_else(|| wrong(&word))?,
            (None, Some(setting)) => setting.to_owned(),
            (None, None) => return Err(wrong(&word)),
        };
        let (name, value) = setting.split_once('=').ok_or_else(|| wrong(&setting))?;
        all.push((name.replace('-', "_"), value.to_owned()));
    }
    Ok(all)
}

/// The words of a text. A backslash makes the next character a part of its word.
fn words(text: &str) -> Vec<String> {
    let mut all = Vec::new();
    let mut word = String::new();
    let mut begun = false;
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        if c.is_whitespace() {
            if std::mem::take(&mut begun) {
                all.push(std::mem::take(&mut word));
            }
            continue;
        }
        begun = true;
        word.extend(if c == '\\' { rest.next() } else { Some(c) });
    }
    if begun {
        all.push(word);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn applied(pairs: &[(&str, &str)]) -> Result<(Variables, Vec<(String, String)>), Failure> {
        let mut variables = Variables::new("ann", false);
        let given = pairs.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
        apply(&mut variables, &given).map(|of_views| (variables, of_views))
    }

    #[test]
    fn settings_come_from_options_and_from_parameters() {
        let options = r"-c statement_timeout=5s  -capplication_name=a\ b --extra-float-digits=2";
        let (mut variables, of_views) = applied(&[
            ("user", "ann"),
            ("options", options),
            ("extra_float_digits", "3"),
            ("tracesql.Top", "7"),
            ("unknown_of_a_driver", "x"),
            ("client_encoding", "LATIN1"),
        ])
        .expect("settings");
        let value = |variables: &Variables, name| variables.get(name).map(|(_, v)| v.to_owned());
        for (name, expected) in [
            ("statement_timeout", Some("5s")),
            ("application_name", Some("a b")),
            ("extra_float_digits", Some("3")),
            ("client_encoding", Some("UTF8")),
            ("unknown_of_a_driver", None),
        ] {
            assert_eq!(value(&variables, name).as_deref(), expected, "{name}");
        }
        assert_eq!(of_views, [("top".to_owned(), "7".to_owned())]);
        // RESET goes back to these values.
        assert_eq!(variables.set("statement_timeout", "1s"), Ok(()));
        variables.reset_all();
        assert_eq!(value(&variables, "statement_timeout").as_deref(), Some("5s"));
    }

    #[test]
    fn settings_that_cannot_be_applied_end_the_connection() {
        for (name, value, code) in [
            ("options", "-x", "42601"),
            ("options", "-c", "42601"),
            ("options", "-c statement_timeout", "42601"),
            ("options", "-c statement_timeout=soon", "22023"),
            ("options", "-c datafusion.execution.batch_size=1", "42501"),
            ("bytea_output", "escape", "22023"),
        ] {
            let failure = applied(&[(name, value)]).map(drop).expect_err(value);
            assert_eq!(failure.code, code, "{name} {value}");
        }
    }
}
