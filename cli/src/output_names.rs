//! The formats that the names of output files state, and names that a command cannot write.

use std::path::{Path, PathBuf};

use tracesql::open::without_secrets;
use tracesql::{Error, Result};

/// Endings that state no format. Files with them get the default.
const NEUTRAL: [&str; 2] = ["log", "out"];

/// Endings of formats that a user may expect of a command with a single format.
const FORMATS: [&str; 25] = [
    "arrow", "csv", "db", "duckdb", "folded", "gif", "gz", "htm", "html", "jpg", "json", "jsonl",
    "md", "ndjson", "parquet", "pb", "pdf", "png", "pprof", "svg", "tsv", "xls", "xlsx", "xml",
    "zip",
];

/// The format of an output: the one that the user gave, else the one that the name of the file
/// states, else the default.
///
/// Fails if the name states a format that the command cannot write. `endings` lists those it can.
pub fn format<F>(
    given: Option<F>,
    output: Option<&PathBuf>,
    of_file: impl Fn(&Path) -> Option<F>,
    endings: &str,
) -> Result<Option<F>> {
    let (None, Some(output)) = (&given, output) else { return Ok(given) };
    match (of_file(output), ending(output)) {
        (Some(format), _) => Ok(Some(format)),
        (None, Some(ending)) if !NEUTRAL.contains(&ending.as_str()) => Err(Error::Usage(format!(
            "{}: cannot write .{ending}; the file can end in {endings}, or have any name with \
             --format",
            output.display()
        ))),
        _ => Ok(None),
    }
}

/// Refuses a file whose name states another format than the only one of a command. `what` is that
/// format, and `endings` are those of its files.
pub fn refuse_other(output: Option<&PathBuf>, what: &str, endings: &[&str]) -> Result<()> {
    let Some(output) = output else { return Ok(()) };
    match ending(output) {
        Some(ending)
            if FORMATS.contains(&ending.as_str()) && !endings.contains(&ending.as_str()) =>
        {
            let better = output.with_extension(endings.first().copied().unwrap_or_default());
            Err(Error::Usage(format!(
                "{}: this command writes {what}, not .{ending}; name the file {}",
                output.display(),
                better.display()
            )))
        }
        _ => Ok(()),
    }
}

/// Refuses the name of a file where a command makes a folder.
pub fn refuse_file(folder: &Path, what: &str) -> Result<()> {
    match ending(folder) {
        Some(ending) if FORMATS.contains(&ending.as_str()) && !folder.exists() => {
            let name = folder.display().to_string();
            let shown = without_secrets(&name);
            Err(Error::Usage(format!(
                "{shown} looks like a file, and {what} is a folder; name it {}",
                Path::new(&*shown).with_extension("").display()
            )))
        }
        _ => Ok(()),
    }
}

/// The ending of a file's name in lower case.
fn ending(path: &Path) -> Option<String> {
    Some(path.extension()?.to_str()?.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(output: &str) -> Result<Option<u8>, String> {
        let of_file = |path: &Path| (path.extension()? == "csv").then_some(1);
        format(None, Some(&output.into()), of_file, ".csv").map_err(|e| e.to_string())
    }

    #[test]
    fn a_name_states_the_format_or_is_refused() {
        assert_eq!(named("x.csv"), Ok(Some(1)));
        for name in ["x", "-", "/dev/stdout", "x.log", "a.b/x"] {
            assert_eq!(named(name), Ok(None), "{name}");
        }
        let error = named("x.PDF").expect_err("another format");
        assert!(error.starts_with("x.PDF: cannot write .pdf; the file can end in .csv"), "{error}");
        assert_eq!(
            format(Some(2), Some(&"x.pdf".into()), |_| Some(1), "").map_err(|e| e.to_string()),
            Ok(Some(2))
        );
    }

    #[test]
    fn a_single_format_takes_any_name_but_those_of_others() {
        for (name, fits) in [("x.svg", true), ("x", true), ("x.v2", true), ("x.png", false)] {
            assert_eq!(refuse_other(Some(&name.into()), "SVG", &["svg"]).is_ok(), fits, "{name}");
        }
    }
}
