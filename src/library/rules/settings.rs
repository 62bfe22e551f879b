//! The settings that rules define. They become rows of the data table `settings`.

use std::collections::{BTreeMap, BTreeSet};

use super::super::{Body, Csv, File, Library, Problem, View};
use super::compose::Composed;
use super::limit::Setting;

/// The data table of all settings.
const TABLE: &str = "settings";

/// The settings of all rules.
#[derive(Debug, Default)]
pub struct RuleSettings {
    /// The defined settings, by name.
    defined: BTreeMap<String, Place<Setting>>,
    /// Settings that rules name as their limits but that no rule defines.
    named: Vec<Place<String>>,
}

/// A value with the line of the rule's file that it comes from.
#[derive(Debug)]
struct Place<T> {
    rule: String,
    file: String,
    line: usize,
    what: T,
}

impl RuleSettings {
    /// Adds the settings of a rule. A user's rule that replaces a rule of the library replaces its
    /// settings too. Settings that it does not define are kept, because other rules may read them.
    pub fn define(&mut self, file: &File, rule: Composed) -> Result<View, Problem> {
        let name = &rule.view.name;
        for (i, (line, setting)) in rule.settings.iter().enumerate() {
            if rule.settings[..i].iter().any(|(_, s)| s.name == setting.name) {
                return Err(file.problem(*line, format!("setting {} is there twice", setting.name)));
            }
            if let Some(other) = self.defined.get(&setting.name).filter(|p| p.rule != *name) {
                let message = format!(
                    "setting {} is defined by {}; rename this rule or the setting",
                    setting.name, other.file
                );
                return Err(file.problem(*line, message));
            }
        }
        let place = |line| (name.clone(), file.shown.clone(), line);
        for (line, setting) in rule.settings {
            let (rule, file, line) = place(line);
            self.defined.insert(setting.name.clone(), Place { rule, file, line, what: setting });
        }
        for (line, setting) in rule.limits {
            let (rule, file, line) = place(line);
            self.named.push(Place { rule, file, line, what: setting });
        }
        Ok(rule.view)
    }
}

impl Library {
    /// Adds the settings of rules to those of the library. Returns the problems in them.
    pub(super) fn add_rule_settings(&mut self) -> Vec<Problem> {
        let Some(View { body: Body::Data(files), .. }) = self.views.get_mut(TABLE) else {
            return Vec::new();
        };
        let own: BTreeSet<&str> = files
            .iter()
            .take(1)
            .flat_map(|csv| csv.text.lines().skip(1))
            .filter_map(|line| line.split(',').next())
            .collect();
        let settings = &self.rule_settings;
        let problem = |place: (&str, usize), message: String| Problem {
            file: place.0.to_owned(),
            line: place.1,
            message,
        };
        let twice = settings.defined.iter().filter(|(name, _)| own.contains(name.as_str()));
        let twice = twice.map(|(name, p)| {
            problem((&p.file, p.line), format!("setting {name} is one of the library already"))
        });
        let unknown = settings
            .named
            .iter()
            .filter(|p| !own.contains(p.what.as_str()) && !settings.defined.contains_key(&p.what));
        let unknown = unknown.map(|p| {
            problem(
                (&p.file, p.line),
                format!(
                    "there is no setting {}; write a number, or define it with @setting",
                    p.what
                ),
            )
        });
        let problems: Vec<Problem> = twice.chain(unknown).collect();
        let rows: Vec<Csv> = settings
            .defined
            .values()
            .filter(|p| !problems.iter().any(|problem| problem.file == p.file))
            .map(csv)
            .collect();
        // Users' files come after the first file and take precedence.
        let at = files.len().min(1);
        files.splice(at..at, rows);
        problems
    }
}

/// A setting in the form of a file of the data table.
fn csv(place: &Place<Setting>) -> Csv {
    let Setting { name, default, unit, description } = &place.what;
    let description = description.replace('"', "\"\"");
    Csv {
        file: place.file.clone(),
        text: format!("name,value,unit,description\n{name},{default},{unit},\"{description}\"\n"),
    }
}
