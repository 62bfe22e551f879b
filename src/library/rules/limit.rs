//! The limits of a rule, as in `@finding above 10 pct, high above 30: share of busy time in
//! copies`, and the settings that contain them.

use super::super::UNITS;

/// A limit of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limit {
    /// The severity of findings beyond the limit.
    pub severity: String,
    /// The name of the setting that contains the limit.
    pub setting: String,
    /// Its default; `None` if the setting is defined elsewhere.
    pub default: Option<String>,
}

/// The condition for a finding, as the rule's header states it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Whether a finding needs a value below the limit and not one above it.
    pub is_below: bool,
    /// Unit of the value: one of [`VALUE_UNITS`].
    pub unit: String,
    /// The limit beyond which there is a finding.
    pub limit: Limit,
    /// The limit beyond which the finding has another severity.
    pub second: Option<Limit>,
    /// A description of the value, for the description of the setting. Empty if the header has
    /// none.
    pub about: String,
}

/// A setting that a rule defines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// Name: `rule_…`.
    pub name: String,
    /// Default value: a number.
    pub default: String,
    /// Unit of the value.
    pub unit: String,
    /// A description of what the setting controls.
    pub description: String,
}

/// The units that a value of a finding may have.
const VALUE_UNITS: &[&str] = &["pct", "count", "ns", "bytes", "ratio"];

const SEVERITIES: &[&str] = &["high", "medium", "low", "info"];

/// The severity of findings if the header names none.
const USUAL_SEVERITY: &str = "medium";

const FORM: &str = "write it as `@finding above 10 pct, high above 30: WHAT THE VALUE IS`";

impl Finding {
    /// Parses the text of `@finding` in a file `rule_NAME.sql`. `rule` is `rule_NAME`.
    pub fn parse(rule: &str, text: &str) -> Result<Self, String> {
        let (limits, about) = text.split_once(':').unwrap_or((text, ""));
        let (first, second) = match limits.split_once(',') {
            Some((first, second)) => (first, Some(second)),
            None => (limits, None),
        };
        let first = Words::read(first)?;
        let unit = first.unit.ok_or_else(|| {
            format!("the limit needs a unit, one of {}; {FORM}", VALUE_UNITS.join(", "))
        })?;
        if !VALUE_UNITS.contains(&unit) {
            return Err(format!("{unit:?} is no unit here; use one of {}", VALUE_UNITS.join(", ")));
        }
        let suffix = first.suffix.unwrap_or(unit);
        let limit = first.limit(format!("{rule}_{suffix}"));
        let second = match second.map(Words::read).transpose()? {
            None => None,
            Some(words) => {
                if words.is_below != first.is_below {
                    return Err("both limits must be above, or both below".to_owned());
                }
                if words.severity.is_none() {
                    return Err(format!(
                        "the second limit needs a severity, one of {}; {FORM}",
                        SEVERITIES.join(", ")
                    ));
                }
                if words.suffix.is_some() || words.unit.is_some_and(|u| u != unit) {
                    return Err(format!("the second limit has the unit of the first; {FORM}"));
                }
                Some(words.limit(format!("{rule}_high_{suffix}")))
            }
        };
        Ok(Self {
            is_below: first.is_below,
            unit: unit.to_owned(),
            limit,
            second,
            about: about.trim().to_owned(),
        })
    }

    /// `above` or `below`.
    pub fn direction(&self) -> &'static str {
        if self.is_below { "below" } else { "above" }
    }

    /// The settings that the header defines.
    pub fn settings(&self, rule: &str) -> Vec<Setting> {
        let noun = match self.unit.as_str() {
            "pct" => "Share",
            "count" => "Number",
            _ => "Value",
        };
        let about = capitalised(if self.about.is_empty() { noun } else { &self.about });
        let direction = self.direction();
        let description = |limit: &Limit, is_second: bool| match limit.severity.as_str() {
            severity if is_second => {
                let other = &self.limit.severity;
                let instead =
                    if severity == "high" { String::new() } else { format!(" instead of {other}") };
                format!("{noun} {direction} which that is {severity}{instead}.")
            }
            _ => format!("{about} {direction} which {rule} has a finding."),
        };
        let setting = |limit: &Limit, is_second: bool| {
            Some(Setting {
                name: limit.setting.clone(),
                default: limit.default.clone()?,
                unit: self.unit.clone(),
                description: description(limit, is_second),
            })
        };
        let second = self.second.as_ref().and_then(|limit| setting(limit, true));
        setting(&self.limit, false).into_iter().chain(second).collect()
    }

    /// The settings that contain limits and are defined elsewhere.
    pub fn settings_of_others(&self) -> impl Iterator<Item = &str> {
        let limits = [Some(&self.limit), self.second.as_ref()].into_iter().flatten();
        limits.filter(|l| l.default.is_none()).map(|l| l.setting.as_str())
    }

    /// A sentence about the limits for the documentation of the rule, in lines of up to 100
    /// characters.
    pub fn sentence(&self) -> String {
        let percent = if self.unit == "pct" { "percent" } else { &self.unit };
        let limit = |l: &Limit| match &l.default {
            Some(default) => format!("{} {} ({default})", self.direction(), l.setting),
            None => format!("{} {}", self.direction(), l.setting),
        };
        let second = self.second.as_ref();
        let second = second.map(|s| format!(",\n{} {}", s.severity, limit(s))).unwrap_or_default();
        format!(
            "It is a finding ({}) {} {percent}{second}.",
            self.limit.severity,
            limit(&self.limit)
        )
    }
}

/// The words of a limit: `[SEVERITY] above|below NUMBER|SETTING [UNIT [as SUFFIX]]`.
struct Words<'a> {
    severity: Option<&'a str>,
    is_below: bool,
    limit: &'a str,
    unit: Option<&'a str>,
    suffix: Option<&'a str>,
}

impl<'a> Words<'a> {
    fn read(text: &'a str) -> Result<Self, String> {
        let mut words = text.split_whitespace().peekable();
        let severity = words.next_if(|w| *w != "above" && *w != "below");
        if let Some(unknown) = severity.filter(|s| !SEVERITIES.contains(s)) {
            return Err(format!(
                "{unknown:?} is no severity; use one of {}; {FORM}",
                SEVERITIES.join(", ")
            ));
        }
        let is_below = match words.next() {
            Some("above") => false,
            Some("below") => true,
            _ => return Err(FORM.to_owned()),
        };
        let limit = words.next().ok_or(FORM)?;
        if !is_number(limit) && !is_name(limit) {
            return Err(format!("{limit:?} is neither a number nor the name of a setting; {FORM}"));
        }
        let unit = words.next();
        let suffix = match (words.next(), words.next(), words.next()) {
            (None, _, _) => None,
            (Some("as"), Some(suffix), None) if is_name(suffix) => Some(suffix),
            _ => return Err(FORM.to_owned()),
        };
        Ok(Self { severity, is_below, limit, unit, suffix })
    }

    /// The limit. It is in the setting with this name unless the words name another setting.
    fn limit(&self, setting: String) -> Limit {
        let severity = self.severity.unwrap_or(USUAL_SEVERITY).to_owned();
        if is_number(self.limit) {
            Limit { severity, setting, default: Some(self.limit.to_owned()) }
        } else {
            Limit { severity, setting: self.limit.to_owned(), default: None }
        }
    }
}

impl Setting {
    /// Parses `NAME DEFAULT UNIT TEXT`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut words = text.splitn(4, char::is_whitespace).map(str::trim);
        let (Some(name), Some(default), Some(unit), Some(description)) =
            (words.next(), words.next(), words.next(), words.next())
        else {
            return Err("write it as `@setting rule_NAME DEFAULT UNIT TEXT`".to_owned());
        };
        if !name.starts_with("rule_") || !is_name(name) {
            return Err(format!(
                "setting {name:?}: names of rules' settings begin with rule_ and have lower-case \
                 letters, digits and _"
            ));
        }
        if !is_number(default) {
            return Err(format!("setting {name}: the default {default:?} is not a number"));
        }
        if !UNITS.contains(&unit) {
            return Err(format!(
                "setting {name}: {unit:?} is not a unit; use one of {}",
                UNITS.join(", ")
            ));
        }
        if !description.ends_with('.') {
            return Err(format!(
                "setting {name}: its text must be a sentence that ends with a full stop"
            ));
        }
        let own = str::to_owned;
        Ok(Self {
            name: own(name),
            default: own(default),
            unit: own(unit),
            description: own(description),
        })
    }
}

fn is_number(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '.')
        && text.parse().is_ok_and(|v: f64| v.is_finite())
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
}

fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |c| c.to_uppercase().collect::<String>() + chars.as_str())
}
