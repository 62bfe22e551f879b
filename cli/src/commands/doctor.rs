//! `tracesql doctor`: reads a whole store and reports whether it is sound.

use std::path::{Path, PathBuf};

use clap::Args;
use indicatif::{HumanBytes, HumanCount};
use serde_json::json;
use tracesql::open::{not_a_store, open_store};
use tracesql::output::units::{many, plural};
use tracesql::output::{Target, safe, write_document};
use tracesql::store::is_remote;
use tracesql::{Error, Result};
use tracesql_ingest::{Examined, Gravity, IngestError, Store, examine};

use crate::values::DoctorFormat;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tracesql doctor runs/base
  tracesql doctor runs/base --format json

Every file is read whole: sizes, checksums, footers, each page, and numbers of
rows. Nothing is changed.

Exit codes:
  0  the store is sound
  3  something is damaged")]
pub struct DoctorArgs {
    /// The store
    #[arg(value_name = "STORE")]
    pub store: PathBuf,
    /// Form of the answer
    #[arg(long, value_enum, default_value = "text")]
    pub format: DoctorFormat,
}

pub fn run(args: &DoctorArgs) -> Result<()> {
    let found = look(&args.store)?;
    let store = args.store.display().to_string();
    let text = match args.format {
        DoctorFormat::Text => lines(&store, &found),
        DoctorFormat::Json => object(&store, &found),
    };
    write_document(text.as_bytes(), &Target::Stdout)?;
    if found.is_sound() {
        return Ok(());
    }
    let damaged = found.problems.iter().filter(|p| p.gravity == Gravity::Damage).count();
    Err(Error::Damaged(store, format!("{damaged} {}", plural(damaged, "problem"))))
}

fn look(store: &Path) -> Result<Examined> {
    if store.to_str().is_some_and(is_remote) {
        return open_store(store)?.examine();
    }
    examine(store).map_err(|e| match e {
        // A damaged store may lack the file by which stores are recognized.
        IngestError::Store { .. } | IngestError::Io { .. } if !Store::is_store(store) => {
            not_a_store(store)
        }
        other => other.into(),
    })
}

fn lines(store: &str, found: &Examined) -> String {
    let mut text = String::new();
    for problem in &found.problems {
        let gravity = if problem.gravity == Gravity::Damage { "damaged" } else { "note" };
        text += &safe(&format!(
            "{gravity}: {}: {} ({}); to do: {}",
            problem.place, problem.what, problem.code, problem.advice
        ));
        text.push('\n');
    }
    let verdict = if found.is_sound() { "sound" } else { "damaged" };
    let (rows, bytes) = (HumanCount(found.rows), HumanBytes(found.bytes));
    text + &safe(&format!(
        "{store}: {verdict}; {}, {}, {bytes}, {rows} rows were read",
        many(found.traces as i64, "trace"),
        many(found.files as i64, "file")
    )) + "\n"
}

fn object(store: &str, found: &Examined) -> String {
    let problems: Vec<_> = found
        .problems
        .iter()
        .map(|p| {
            let gravity = if p.gravity == Gravity::Damage { "damage" } else { "note" };
            json!({
                "place": p.place, "gravity": gravity, "code": p.code, "what": p.what,
                "advice": p.advice,
            })
        })
        .collect();
    let all = json!({
        "store": store, "sound": found.is_sound(), "traces": found.traces, "files": found.files,
        "bytes": found.bytes, "rows": found.rows, "problems": problems,
    });
    format!("{all}\n")
}
