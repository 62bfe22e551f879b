//! Process groups of a dump, and the rank that wrote it.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::Record;
use crate::json;

/// Maximum number of ranks of a group that are read.
const MAX_RANKS: usize = 1 << 20;

/// A process group.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Group {
    /// Number of the group on this rank.
    pub id: Option<i64>,
    /// Name.
    pub name: Option<String>,
    /// Description.
    pub description: Option<String>,
    /// Ranks in ascending order.
    pub ranks: Option<Vec<i64>>,
    /// Last collectives that were scheduled, had started, and had completed.
    pub last: [Option<i64>; 3],
}

const STATUS: [&str; 3] =
    ["last_enqueued_collective", "last_started_collective", "last_completed_collective"];

/// Returns the configured groups, followed by groups that appear only in records or a status.
pub fn groups(metadata: &str, records: &[Record]) -> Vec<Group> {
    let top: Map<String, Value> = serde_json::from_str(metadata).unwrap_or_default();
    let object = |key: &str| top.get(key).and_then(Value::as_object);
    let used: BTreeSet<(Option<i64>, &Option<String>, &Option<String>)> =
        records.iter().map(|r| (r.group_id, &r.group_name, &r.group_description)).collect();
    let mut groups: Vec<Group> = Vec::new();
    for (key, value) in object("pg_config").into_iter().flatten() {
        let text = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
        let name = text("name").unwrap_or_else(|| key.clone());
        let id = used.iter().find(|u| u.1.as_deref() == Some(&name[..])).and_then(|u| u.0);
        // Version 1.4 writes the ranks alone.
        let ranks = value.get("ranks").or(value.is_array().then_some(value)).and_then(ranks);
        groups.push(Group {
            id,
            name: Some(name),
            description: text("desc"),
            ranks,
            ..Group::default()
        });
    }
    for (id, name, description) in used {
        let known = |group: &Group| group.name == *name && (group.id == id || group.id.is_none());
        if !groups.iter().any(known) {
            let (name, description) = (name.clone(), description.clone());
            groups.push(Group { id, name, description, ..Group::default() });
        }
    }
    for (key, value) in object("pg_status").into_iter().flatten() {
        let id: Option<i64> = key.parse().ok();
        let at = match groups.iter().position(|g| g.id.is_some() && g.id == id) {
            Some(at) => at,
            None => {
                groups.push(Group { id, ..Group::default() });
                groups.len() - 1
            }
        };
        groups[at].last = STATUS.map(|key| value.get(key).and_then(int));
    }
    groups
}

/// Returns an integer, also one that is written as text.
fn int(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| json::int(value.as_str()?.as_bytes()))
}

/// Reads the ranks of a group: a list, or the text of one.
fn ranks(value: &Value) -> Option<Vec<i64>> {
    let mut ranks: Vec<i64> = match value {
        Value::Array(items) => items.iter().map(int).collect::<Option<_>>()?,
        Value::String(text) => {
            let inner = text.trim().strip_prefix('[')?.strip_suffix(']')?.trim();
            let items = inner.split(',').filter(|_| !inner.is_empty());
            items.map(|item| item.trim().parse().ok()).collect::<Option<_>>()?
        }
        _ => return None,
    };
    ranks.sort_unstable();
    ranks.dedup();
    (ranks.len() <= MAX_RANKS && ranks.first().is_none_or(|rank| *rank >= 0)).then_some(ranks)
}

/// Returns the number of ranks of the job: those of the default group.
pub fn world_size(groups: &[Group]) -> Option<i64> {
    let is_default = |group: &&Group| group.description.as_deref() == Some("default_pg");
    groups.iter().find(is_default).and_then(|g| g.ranks.as_ref()).map(|ranks| ranks.len() as i64)
}

/// Returns the rank in a file's name: the number after the last `rank`, else the number at the end
/// of the name without its endings.
pub fn rank_of_name(path: &str) -> Option<i64> {
    let name = path.rsplit(['/', '\\', '!']).next().unwrap_or(path).to_lowercase();
    let digits = |text: &str| {
        let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        (1..=6).contains(&end).then(|| text[..end].parse().ok()).flatten()
    };
    if let Some(at) = name.rfind("rank") {
        let rest = name[at + 4..].trim_start_matches(['_', '-', '.', ' ', '=']);
        if let Some(rank) = digits(rest) {
            return Some(rank);
        }
    }
    let mut stem = &name[..];
    for ending in [".gz", ".zst", ".json", ".pickle", ".pkl", ".bin", ".txt"] {
        stem = stem.strip_suffix(ending).unwrap_or(stem);
    }
    let start = stem.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    digits(&stem[start..])
}

/// Returns the rank that a file's name states after the word rank.
pub fn rank_after_word(path: &str) -> Option<i64> {
    let name = path.rsplit(['/', '\\', '!']).next().unwrap_or(path);
    name.to_lowercase().contains("rank").then(|| rank_of_name(name)).flatten()
}

#[cfg(test)]
mod tests {
    use super::{Group, groups, rank_of_name, world_size};
    use crate::issues::Issues;
    use crate::side::flight::Record;

    #[test]
    fn the_rank_is_in_the_name() {
        for (name, want) in [
            ("/tmp/nccl_trace_rank_12", Some(12)),
            ("dumps!nccl_trace_rank_0", Some(0)),
            ("fr/comm_lib_trace_rank_3.json.gz", Some(3)),
            ("rank7.pickle", Some(7)),
            ("Rank-2_dump.pkl", Some(2)),
            ("dump_4", Some(4)),
            ("frank/trace.json", None),
            ("trace_20260101123", None),
            ("-", None),
        ] {
            assert_eq!(rank_of_name(name), want, "{name}");
        }
    }

    #[test]
    fn groups_come_from_configuration_records_and_status() {
        let entry = |id: i64, name: &str| {
            let args = format!("{{\"pg_id\":{id},\"process_group\":[\"{name}\",\"d\"]}}");
            Record::read(0, args, None, &mut Issues::default())
        };
        let records = [entry(0, "0"), entry(5, "x")];
        let found = groups(
            r#"{"pg_config":{"0":{"name":"0","desc":"default_pg","ranks":"[1, 0]"},
                "1":{"name":"1","desc":"dp","ranks":"1"}},
                "pg_status":{"0":{"last_enqueued_collective":4,"last_started_collective":"3",
                "last_completed_collective":-1},"9":{}}}"#,
            &records,
        );
        let name = |name: &str| Some(name.to_owned());
        assert_eq!(
            found[0],
            Group {
                id: Some(0),
                name: name("0"),
                description: name("default_pg"),
                ranks: Some(vec![0, 1]),
                last: [Some(4), Some(3), Some(-1)],
            }
        );
        assert_eq!((found[1].id, &found[1].ranks), (None, &None));
        assert_eq!((found[2].id, &found[2].name), (Some(5), &name("x")));
        assert_eq!((found[3].id, &found[3].name), (Some(9), &None));
        assert_eq!((found.len(), world_size(&found)), (4, Some(2)));
        assert!(groups("[", &[]).is_empty());
        // Version 1.4.
        let found = groups(r#"{"pg_config":{"0":[0,1]}}"#, &[entry(0, "0")]);
        assert_eq!((found.len(), &found[0].ranks), (1, &Some(vec![0, 1])));
    }
}
