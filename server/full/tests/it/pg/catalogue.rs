//! What psql and programs with a window ask about tables, columns and types.

use super::{Served, script_path};

/// The backslash commands of psql that list something.
const COMMANDS: [&str; 30] = [
    "\\d", "\\dt", "\\dv", "\\d kernels", "\\d+ findings", "\\d+", "\\du", "\\l", "\\l+", "\\dn",
    "\\dn+", "\\df", "\\dT", "\\dp", "\\db", "\\dx", "\\di", "\\ds", "\\dS", "\\dt+", "\\dv+",
    "\\dC", "\\da", "\\dO", "\\do", "\\ddp", "\\drds", "\\dew", "\\dy", "\\dRp",
];

#[test]
fn commands_of_psql_list_all_views_with_their_comments() {
    let served = Served::start(&[]);
    let mut arguments = vec!["-At"];
    for command in COMMANDS {
        arguments.extend(["-c", command]);
    }
    let Some(all) = served.psql(&arguments) else { return };
    all.success();
    let views =
        served.values("SELECT name FROM tracesql_views WHERE kind = 'view'").unwrap_or_default();
    let listed = served.psql(&["-At", "-c", "\\d+"]).map(|f| f.success()).unwrap_or_default();
    let mut number = 0;
    for view in views.lines().filter(|name| !name.starts_with('_')) {
        let line = listed.lines().find(|line| line.split('|').nth(1) == Some(view));
        let line = line.unwrap_or_else(|| panic!("{view} is not listed"));
        assert!(!line.ends_with('|'), "{view} has no comment: {line}");
        number += 1;
    }
    assert!(number > 100, "{number} views");
}

#[test]
fn columns_have_the_types_that_their_values_are_sent_in() {
    let served = Served::start(&[]);
    let sql = "SELECT column_name, data_type FROM information_schema.columns \
               WHERE table_name = 'kernels' AND column_name IN ('dur_ns', 'name') ORDER BY 1";
    let Some(values) = served.values(sql) else { return };
    assert_eq!(values, "dur_ns|bigint\nname|text\n");
    let script = served.folder.path().join("describe.sql");
    std::fs::write(&script, "SELECT dur_ns, name FROM kernels \\gdesc\n").expect("a script");
    let described = served.psql(&["-f", &script.display().to_string()]);
    let described = described.map(|f| f.success()).unwrap_or_default();
    assert!(described.contains("bigint") && described.contains("text"), "{described}");
}

#[test]
fn questions_of_programs_with_a_window_have_answers() {
    let served = Served::start(&[]);
    let text = std::fs::read_to_string(script_path("questions.sql")).expect("a file");
    let mut problems = Vec::new();
    let mut number = 0;
    for block in text.split("\n\n") {
        let Some((_, question)) = block.split_once("-- rows: ") else { continue };
        let (rows, sql) = question.split_once('\n').expect("a question");
        // `-q` leaves out the tags of statements without rows.
        let Some(done) = served.psql(&["-Atq", "-c", sql]) else { return };
        let found = done.stdout.lines().count();
        let is_right = match rows {
            "some" => found > 1,
            rows => found == rows.parse::<usize>().expect("a number"),
        };
        if done.code != Some(0) || !is_right {
            problems.push(format!("{sql}: {rows} rows, found {found}: {}", done.stderr));
        }
        number += 1;
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert!(number > 30, "{number} questions");
}

#[test]
fn psql_repeats_times_and_writes_files_of_the_client() {
    let served = Served::start(&[]);
    let file = served.folder.path().join("steps.csv");
    let copy = format!("\\copy (SELECT trace_id, step FROM steps) TO '{}' CSV", file.display());
    let timed = ["-c", "\\timing on", "-c", "SELECT 1", "-c", &copy];
    let Some(done) = served.psql(&timed) else { return };
    assert!(done.success().contains("Time: "));
    assert!(std::fs::metadata(&file).expect("a file").len() > 0);
    let fetch = ["-At", "-v", "FETCH_COUNT=100", "-c", "SELECT event_id FROM events"];
    let fetched = served.psql(&fetch).map(|f| f.success()).unwrap_or_default();
    let count = served.values("SELECT count(*) FROM events").unwrap_or_default();
    assert_eq!(fetched.lines().count().to_string(), count.trim());
}
