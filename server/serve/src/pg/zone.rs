//! Names of time zones.

use datafusion::arrow::array::timezone::Tz;

/// The most hours that a zone given as a number is away from UTC.
const MAX_HOURS: f64 = 24.0;

/// A time zone as it is written; `None` if there is no such zone. It is a name such as
/// `Europe/Berlin` in any case, a number of hours, an offset such as `+05:30`, or the form `CET-1`.
pub fn written(name: &str) -> Option<String> {
    let name = name.trim();
    if let Ok(hours) = name.parse::<f64>() {
        return (hours.abs() <= MAX_HOURS).then(|| name.to_owned());
    }
    let spellings = [name.to_owned(), name.to_uppercase(), capitalised(name)];
    let known = spellings.into_iter().find(|spelling| spelling.parse::<Tz>().is_ok());
    known.or_else(|| has_offset(name).then(|| name.to_owned()))
}

/// The name with a capital letter at the start of each word.
fn capitalised(name: &str) -> String {
    let mut starts = true;
    let letter = |c: char| {
        let shown = if starts { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() };
        starts = matches!(c, '/' | '_' | '-');
        shown
    };
    name.chars().map(letter).collect()
}

/// Whether a name has the form of POSIX: letters, or signs in angle brackets, and an offset. The
/// name of summer time may follow.
fn has_offset(name: &str) -> bool {
    let rest = match name.strip_prefix('<').and_then(|rest| rest.split_once('>')) {
        Some((inner, rest)) if inner.len() >= 3 => rest,
        Some(_) => return false,
        None => {
            let rest = name.trim_start_matches(|c: char| c.is_ascii_alphabetic());
            if name.len() - rest.len() < 3 {
                return false;
            }
            rest
        }
    };
    let rest = rest.strip_prefix(['+', '-']).unwrap_or(rest);
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != ':').unwrap_or(rest.len());
    let (offset, summer) = rest.split_at(end);
    let mut parts = offset.split(':').map(|part| (part.len(), part.parse::<u32>().ok()));
    let hours = matches!(parts.next(), Some((1 | 2, Some(0..=24))));
    hours
        && parts.all(|part| matches!(part, (2, Some(0..=59))))
        && (summer.is_empty() || summer.starts_with(|c: char| c.is_ascii_alphabetic() || c == '<'))
}

#[cfg(test)]
mod tests {
    use super::written;

    #[test]
    fn zones_are_known_by_name_and_offset() {
        for (name, expected) in [
            ("Europe/Berlin", Some("Europe/Berlin")),
            ("europe/berlin", Some("Europe/Berlin")),
            ("utc", Some("UTC")),
            ("Etc/UTC", Some("Etc/UTC")),
            ("America/New_York", Some("America/New_York")),
            ("-5", Some("-5")),
            ("5.5", Some("5.5")),
            ("+05:30", Some("+05:30")),
            ("GMT+01:00", Some("GMT+01:00")),
            ("CET-1CEST", Some("CET-1CEST")),
            ("<+03>-3", Some("<+03>-3")),
            ("nonsense", None),
            ("Europe/Nowhere", None),
            ("99", None),
            ("GMT+", None),
            ("GMT+99", None),
            ("", None),
        ] {
            assert_eq!(written(name).as_deref(), expected, "{name}");
        }
    }
}
