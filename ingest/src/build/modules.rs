//! The rows of `modules`.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::encode::TableRows;
use crate::order::{ModuleCall, text_of};

/// Appends the modules seen as Python calls; without any, those of `Module Hierarchy` texts.
pub fn push(rows: &mut TableRows, trace_id: &str, calls: &[ModuleCall], hierarchies: FxHashMap<String, (i64, u64)>, texts: &[Arc<str>]) {
    if calls.is_empty() {
        push_hierarchies(rows, trace_id, hierarchies);
    } else {
        push_calls(rows, trace_id, calls, texts);
    }
}

fn push_calls(rows: &mut TableRows, trace_id: &str, calls: &[ModuleCall], texts: &[Arc<str>]) {
    let mut paths: Vec<(String, i64)> = Vec::with_capacity(calls.len());
    for (id, call) in calls.iter().enumerate() {
        let name = text_of(call.name, texts).and_then(|n| n.strip_prefix("nn.Module: ")).unwrap_or_default();
        let (path, depth) = match call.parent.and_then(|p| paths.get(p as usize)) {
            Some((parent, depth)) => (format!("{parent}.{name}"), depth + 1),
            None => (name.to_owned(), 0),
        };
        rows.text(trace_id).int(id as i64).text(name).text(class_of(name));
        rows.int(call.parent.map(i64::from)).text(&*path).int(depth).int(call.first_ts).int(call.calls as i64).text("python");
        paths.push((path, depth));
    }
}

/// `Conv2d` of `Conv2d_0`; names without a number are classes themselves.
fn class_of(name: &str) -> &str {
    match name.rsplit_once('_') {
        Some((class, number)) if !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()) => class,
        _ => name,
    }
}

/// `TOP(Net)::forward.layer1(Sequential)::forward.conv1(Conv2d)::forward`: names, classes in parentheses, and functions.
fn push_hierarchies(rows: &mut TableRows, trace_id: &str, hierarchies: FxHashMap<String, (i64, u64)>) {
    struct Module {
        class: Option<String>,
        first_ts: i64,
        operators: u64,
    }
    let mut modules: BTreeMap<Vec<String>, Module> = BTreeMap::new();
    for (text, (ts, operators)) in hierarchies {
        let mut path = Vec::new();
        let parts: Vec<&str> = text.split('.').filter(|p| !p.is_empty()).collect();
        for (i, part) in parts.iter().enumerate() {
            let part = part.split("::").next().unwrap_or(part);
            let (name, class) = match part.split_once('(') {
                Some((name, class)) => (name, Some(class.trim_end_matches(')').to_owned())),
                None => (part, None),
            };
            path.push(name.to_owned());
            let module = modules.entry(path.clone()).or_insert(Module { class, first_ts: i64::MAX, operators: 0 });
            module.first_ts = module.first_ts.min(ts);
            if i + 1 == parts.len() {
                module.operators += operators;
            }
        }
    }
    // A path sorts after its parents.
    let ids: BTreeMap<&[String], i64> = modules.keys().enumerate().map(|(id, path)| (&path[..], id as i64)).collect();
    for (path, module) in &modules {
        let parent = ids.get(&path[..path.len() - 1]).copied();
        rows.text(trace_id).int(ids.get(&path[..]).copied()).text(path.last().map(String::as_str)).text(module.class.as_deref());
        rows.int(parent).text(&*path.join(".")).int(path.len() as i64 - 1).int(module.first_ts).int(module.operators as i64).text("hierarchy");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_of_instances() {
        assert_eq!(class_of("Conv2d_0"), "Conv2d");
        assert_eq!(class_of("My_Block_12"), "My_Block");
        assert_eq!(class_of("Conv2d"), "Conv2d");
    }
}
