//! Finds the traces that a user names, for every option and argument that takes a trace.
//!
//! A name is one of these, and the first kind that fits any trace decides:
//!
//! 1. the trace's id (`rank0-0123456789ab`), or the whole path of its input;
//! 2. the end of that path, in whole parts (`rank0.json.gz`, `base/rank0.json.gz`), or the id
//!    without its hash (`rank0`);
//! 3. the beginning of the id (`rank0-01`).
//!
//! So `rank1` is the trace `rank1-…` even next to `rank10-…`, and no name stands for several
//! traces: a name that fits several is an error that lists them.

use tracesql_ingest::Manifest;

use crate::error::{Error, Result};
use crate::suggest;

/// The number of candidates that an error lists when a name is ambiguous.
const MAX_CANDIDATES: usize = 9;
/// The number of names that an error suggests when nothing fits.
const MAX_NEAREST: usize = 3;

/// The ids of the traces with these names, without repetitions, in the order of the names. Without
/// names there are none.
///
/// Fails if a name fits no trace or several.
pub fn named_traces(names: &[String], all: &[Manifest]) -> Result<Vec<String>> {
    let mut chosen: Vec<String> = Vec::new();
    for name in names {
        let id = &named_trace(name, all)?.trace_id;
        if !chosen.contains(id) {
            chosen.push(id.clone());
        }
    }
    Ok(chosen)
}

/// The trace with this name. Fails if the name fits no trace or several.
pub fn named_trace<'a>(name: &str, all: &'a [Manifest]) -> Result<&'a Manifest> {
    for fits in [is_whole_name, is_end_of_path_or_stem, is_beginning] {
        let found: Vec<&Manifest> = all.iter().filter(|t| fits(name, t)).collect();
        match found[..] {
            [] => {}
            [trace] => return Ok(trace),
            _ => return Err(Error::Usage(ambiguous(name, &found))),
        }
    }
    Err(Error::Usage(unknown(name, all)))
}

fn is_whole_name(name: &str, trace: &Manifest) -> bool {
    trace.trace_id == name || trace.path == name
}

fn is_end_of_path_or_stem(name: &str, trace: &Manifest) -> bool {
    let name = name.strip_prefix("./").unwrap_or(name);
    // The name of an archive's member follows a `!`.
    let is_end = trace
        .path
        .strip_suffix(name)
        .is_some_and(|rest| rest.is_empty() || rest.ends_with(['/', '!']));
    !name.is_empty() && (is_end || stem(&trace.trace_id) == name)
}

fn is_beginning(name: &str, trace: &Manifest) -> bool {
    !name.is_empty() && trace.trace_id.starts_with(name)
}

/// The id without the hash at its end.
fn stem(trace_id: &str) -> &str {
    trace_id.rsplit_once('-').map_or(trace_id, |(stem, _)| stem)
}

/// The last part of the path.
fn file_name(trace: &Manifest) -> &str {
    trace.path.rsplit(['/', '!']).next().unwrap_or(&trace.path)
}

fn ambiguous(name: &str, found: &[&Manifest]) -> String {
    let mut lines: Vec<String> = found
        .iter()
        .take(MAX_CANDIDATES)
        .map(|t| format!("  {} ({})", t.trace_id, t.path))
        .collect();
    if found.len() > MAX_CANDIDATES {
        lines.push(format!("  … and {} more", found.len() - MAX_CANDIDATES));
    }
    format!(
        "trace {name:?} is ambiguous: {} traces match; give one of these ids, or a longer end of \
         the path:\n{}",
        found.len(),
        lines.join("\n")
    )
}

fn unknown(name: &str, all: &[Manifest]) -> String {
    if all.is_empty() {
        return format!("there is no trace {name:?}: the store is empty");
    }
    let similarity = |trace: &Manifest| {
        let of = |known: &str| suggest::similarity(&known.to_lowercase(), &name.to_lowercase());
        of(stem(&trace.trace_id)).max(of(file_name(trace))).max(of(&trace.path))
    };
    let mut nearest: Vec<(f64, &str)> =
        all.iter().map(|t| (similarity(t), t.trace_id.as_str())).collect();
    nearest.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    let names: Vec<&str> = nearest.into_iter().map(|(_, id)| id).take(MAX_NEAREST).collect();
    let what = match (names.len(), all.len()) {
        (1, _) => "the only trace is".to_owned(),
        (few, all) if few == all => "the traces are".to_owned(),
        (_, all) => format!("the nearest of {all} are"),
    };
    format!("there is no trace {name:?}; {what} {}", names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(trace_id: &str, path: &str) -> Manifest {
        serde_json::from_value(serde_json::json!({
            "schema_version": 1, "tracesql_version": "0", "trace_id": trace_id,
            "content_hash": "", "path": path, "input_bytes": 0, "text_bytes": 0,
            "element_count": 0, "tables": {},
        }))
        .expect("a manifest")
    }

    fn traces() -> Vec<Manifest> {
        vec![
            trace("control-f598", "/data/hta/control.json.gz"),
            trace("rank1-0a0a", "runs/a/rank1.json.gz"),
            trace("rank10-0b0b", "runs/a/rank10.json.gz"),
            trace("step-12", "runs/a.zip!b/step.json"),
            trace("trace-0c0c", "runs/a/trace.json"),
            trace("trace-0d0d", "runs/b/trace.json"),
        ]
    }

    fn id(name: &str) -> Result<String, String> {
        named_trace(name, &traces()).map(|t| t.trace_id.clone()).map_err(|e| e.to_string())
    }

    #[test]
    fn a_name_is_an_id_its_beginning_or_the_end_of_a_path() {
        for (name, wanted) in [
            ("control-f598", "control-f598"),
            ("control", "control-f598"),
            ("cont", "control-f598"),
            ("control.json.gz", "control-f598"),
            ("hta/control.json.gz", "control-f598"),
            ("/data/hta/control.json.gz", "control-f598"),
            ("rank1", "rank1-0a0a"),
            ("./runs/a/rank1.json.gz", "rank1-0a0a"),
            ("step.json", "step-12"),
            ("b/step.json", "step-12"),
            ("trace-0d", "trace-0d0d"),
            ("b/trace.json", "trace-0d0d"),
        ] {
            assert_eq!(id(name).as_deref(), Ok(wanted), "{name}");
        }
    }

    #[test]
    fn parts_of_file_names_fit_nothing() {
        for name in ["", "ol.json.gz", "ta/control.json.gz", "f598", "nothing"] {
            assert!(id(name).is_err_and(|e| e.starts_with("there is no trace")), "{name}");
        }
    }

    #[test]
    fn only_the_traces_that_fit_are_listed() {
        let error = id("trace").expect_err("two traces");
        assert!(error.contains("is ambiguous: 2 traces match"), "{error}");
        assert!(error.contains("trace-0c0c (runs/a/trace.json)"), "{error}");
        assert!(!error.contains("control"), "{error}");
        assert!(id("rank").expect_err("two").contains("2 traces match"));
        let many: Vec<Manifest> =
            (0..40).map(|n| trace(&format!("t-{n}"), &format!("{n}/t.json"))).collect();
        let error = named_trace("t", &many).expect_err("many").to_string();
        assert!(error.ends_with("… and 31 more"), "{error}");
    }

    #[test]
    fn an_unknown_name_gets_the_three_nearest() {
        let error = id("contrl").expect_err("none");
        assert!(error.contains("the nearest of 6 are control-f598, "), "{error}");
        assert_eq!(error.matches(", ").count(), 2, "{error}");
        let error = named_trace("x", &[]).expect_err("none").to_string();
        assert!(error.contains("the store is empty"), "{error}");
    }
}
