//! `tracesql doctor`: whether a store is sound.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use indicatif::{HumanBytes, HumanCount};
use serde_json::json;
use tracesql_ingest::{Examined, Gravity, examine};

use crate::error::{Error, Result};
use crate::output::{Target, safe, write_document};

/// Form of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Form {
    /// Lines for people.
    Text,
    /// One JSON object.
    Json,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tracesql doctor runs/base
  tracesql doctor runs/base --format json

Every file is read whole: sizes, checksums, footers, each page, numbers of rows. Nothing is changed.
Exit codes: 0 the store is sound, 3 something is damaged.")]
pub struct DoctorArgs {
    /// The store
    #[arg(value_name = "STORE")]
    pub store: PathBuf,
    /// Form of the answer
    #[arg(long, value_enum, default_value = "text")]
    pub format: Form,
}

pub fn run(args: &DoctorArgs) -> Result<()> {
    let found = examine(&args.store)?;
    let store = args.store.display().to_string();
    let text = match args.format {
        Form::Text => lines(&store, &found),
        Form::Json => object(&store, &found),
    };
    write_document(text.as_bytes(), &Target::Stdout)?;
    if found.is_sound() {
        return Ok(());
    }
    let damaged = found.problems.iter().filter(|p| p.gravity == Gravity::Damage).count();
    Err(Error::Damaged(store, format!("{damaged} problem{}", if damaged == 1 { "" } else { "s" })))
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
        "{store}: {verdict}; {} traces, {} files, {bytes}, {rows} rows were read",
        found.traces, found.files
    )) + "\n"
}

fn object(store: &str, found: &Examined) -> String {
    let problems: Vec<_> = found
        .problems
        .iter()
        .map(|p| {
            let gravity = if p.gravity == Gravity::Damage { "damage" } else { "note" };
            json!({"place": p.place, "gravity": gravity, "code": p.code, "what": p.what, "advice": p.advice})
        })
        .collect();
    let all = json!({
        "store": store, "sound": found.is_sound(), "traces": found.traces, "files": found.files, "bytes": found.bytes,
        "rows": found.rows, "problems": problems,
    });
    format!("{all}\n")
}
