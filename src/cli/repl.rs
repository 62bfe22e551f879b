//! The shell: statements end with `;` and may span lines.

use rustyline::DefaultEditor;
use rustyline::error::ReadlineError;

use super::args::Global;
use super::{block_on, say_error};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::output::{self, Format, Target};

const HELP: &str = "Statements end with ;  \\d lists tables, \\d NAME shows columns, \\q leaves.";

/// Reads and runs statements until the end of input.
pub fn run(engine: Engine, global: &Global) -> Result<()> {
    let mut editor = DefaultEditor::new().map_err(|e| Error::Usage(format!("the terminal cannot be used: {e}")))?;
    let history = super::cache::folder().map(|d| d.join("history"));
    if let Some(path) = &history {
        let _ = editor.load_history(path);
    }
    eprintln!("tracesql {}  {HELP}", env!("CARGO_PKG_VERSION"));
    let mut pending = String::new();
    loop {
        let prompt = if pending.is_empty() { "tracesql> " } else { "      ... " };
        match editor.readline(prompt) {
            Ok(line) => {
                if pending.is_empty() && line.trim().starts_with('\\') {
                    let _ = editor.add_history_entry(&line);
                    match command(line.trim()) {
                        Some(sql) => report(execute(&engine, &sql, global)),
                        None if line.trim() == "\\q" => break,
                        None => eprintln!("{HELP}"),
                    }
                    continue;
                }
                pending.push_str(&line);
                pending.push('\n');
                if line.trim_end().ends_with(';') {
                    let _ = editor.add_history_entry(pending.trim());
                    report(execute(&engine, &std::mem::take(&mut pending), global));
                } else if pending.trim().is_empty() {
                    pending.clear();
                }
            }
            Err(ReadlineError::Interrupted) => pending.clear(),
            Err(ReadlineError::Eof) => break,
            Err(e) => return Err(Error::Usage(format!("the terminal cannot be read: {e}"))),
        }
    }
    if let Some(path) = &history {
        let _ = path.parent().map(std::fs::create_dir_all);
        let _ = editor.save_history(path);
    }
    Ok(())
}

/// The SQL that a backslash command stands for.
fn command(line: &str) -> Option<String> {
    let mut words = line.split_whitespace();
    match (words.next(), words.next()) {
        (Some("\\d"), None) => Some("SELECT table_name FROM information_schema.tables WHERE table_schema = 'main' ORDER BY 1;".to_owned()),
        (Some("\\d"), Some(name)) => Some(format!(
            "SELECT column_name, data_type FROM information_schema.columns WHERE table_name = '{}' ORDER BY ordinal_position;",
            name.replace('\'', "''")
        )),
        _ => None,
    }
}

fn execute(engine: &Engine, sql: &str, global: &Global) -> Result<()> {
    block_on(global, async {
        for statement in engine.parse(sql)? {
            let result = engine.run(statement, &[]).await?;
            output::write(result, Format::Table, &Target::Stdout).await?;
        }
        Ok(())
    })
}

fn report(result: Result<()>) {
    if let Err(e) = result {
        say_error(&e.to_string());
    }
}
