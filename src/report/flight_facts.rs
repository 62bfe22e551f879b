//! Facts about a dump of the flight recorder, for texts: what its job hangs on.

use super::answer::Row;
use super::{Report, Trace};

/// The maximum number of lines.
const MAX_LINES: usize = 3;

/// Facts, one line each. Other traces have none.
pub fn facts(report: &Report, trace: &Trace) -> Vec<(&'static str, String)> {
    let rows = report.answer("flight_hangs").into_iter().flat_map(|a| a.of(&trace.trace_id));
    rows.filter(|row| row.get("is_root").as_bool() == Some(true))
        .take(MAX_LINES)
        .map(|row| ("Hang", hang(row)))
        .collect()
}

fn hang(row: Row) -> String {
    let text = |name: &str| row.text(name).unwrap_or("unknown").to_owned();
    let culprits = row.text("culprits");
    let why = match (row.text("verdict"), culprits) {
        (Some("mismatch"), Some(ranks)) => format!("ranks {ranks} call another collective"),
        (Some("mismatch"), None) => "ranks call different collectives".to_owned(),
        (Some("not_scheduled"), Some(ranks)) => format!("ranks {ranks} have not called it"),
        (Some("not_started"), Some(ranks)) => {
            format!("the devices of ranks {ranks} have not come to it")
        }
        (Some("not_started"), None) => "no device has come to it".to_owned(),
        (Some("not_completed"), _) => {
            "all ranks have called it: the network, a device, or a slow collective".to_owned()
        }
        _ => format!("it is unclear why, because of {}", text("reason")),
    };
    let circle =
        if row.get("is_cycle").as_bool() == Some(true) { ", in a circle of groups" } else { "" };
    let seq = row.int("seq").map_or_else(|| "unknown".to_owned(), |seq| seq.to_string());
    format!(
        "ranks {} wait in {} (number {seq} of group {}){circle}: {why}",
        text("waiting_ranks"),
        text("name"),
        text("group_name")
    )
}
