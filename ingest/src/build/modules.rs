//! The rows of `modules`.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::arrange::{ModuleCall, text_of};
use crate::encode::TableRows;
use crate::issues::{Code, Issues};
use crate::rows::ModuleRow;

/// Maximum length of a path in bytes; longer paths are cut.
const MAX_PATH: usize = 4 << 10;
/// Maximum number of levels of a `Module Hierarchy` text that are read.
const MAX_LEVELS: usize = 512;

/// Appends the modules that occur as Python calls, or those of `Module Hierarchy` texts if there
/// are no such calls.
pub fn push(
    rows: &mut TableRows<ModuleRow<'static>>,
    trace_id: &str,
    calls: &[ModuleCall],
    hierarchies: FxHashMap<String, (i64, u64)>,
    texts: &[Arc<str>],
    issues: &mut Issues,
) {
    let cut = if calls.is_empty() {
        push_hierarchies(rows, trace_id, hierarchies)
    } else {
        push_calls(rows, trace_id, calls, texts)
    };
    if cut > 0 {
        issues.add_many(Code::StringCut, cut, None, None, b"");
    }
}

/// The names from the root, up to [`MAX_PATH`] bytes. Modules below a path that was cut share that
/// path.
#[derive(Clone)]
struct ModulePath {
    text: Arc<str>,
    is_cut: bool,
}

impl ModulePath {
    fn of(parent: Option<&Self>, name: &str) -> Self {
        let text = match parent {
            Some(parent) if parent.is_cut => return parent.clone(),
            Some(parent) => format!("{}.{name}", parent.text),
            None => name.to_owned(),
        };
        match text.len() <= MAX_PATH {
            true => Self { text: text.into(), is_cut: false },
            false => Self {
                text: format!("{}…", &text[..text.floor_char_boundary(MAX_PATH)]).into(),
                is_cut: true,
            },
        }
    }
}

/// Appends the modules of Python calls; returns the number of paths that were cut.
fn push_calls(
    rows: &mut TableRows<ModuleRow<'static>>,
    trace_id: &str,
    calls: &[ModuleCall],
    texts: &[Arc<str>],
) -> u64 {
    let mut paths: Vec<(ModulePath, i64)> = Vec::with_capacity(calls.len());
    for (id, call) in calls.iter().enumerate() {
        let name = text_of(call.name, texts)
            .and_then(|n| n.strip_prefix("nn.Module: "))
            .unwrap_or_default();
        let parent = call.parent.and_then(|p| paths.get(p as usize));
        let (path, depth) =
            (ModulePath::of(parent.map(|p| &p.0), name), parent.map_or(0, |p| p.1 + 1));
        rows.push(ModuleRow {
            trace_id,
            module_id: id as i64,
            name,
            class: Some(class_of(name)),
            parent_module_id: call.parent.map(i64::from),
            path: &path.text,
            depth,
            first_ts_ns: call.first_ts,
            call_count: call.calls as i64,
            source: "python",
        });
        paths.push((path, depth));
    }
    paths.iter().filter(|(path, _)| path.is_cut).count() as u64
}

/// Returns the class of a module name: `Conv2d` for `Conv2d_0`. A name without a number is the
/// class itself.
fn class_of(name: &str) -> &str {
    match name.rsplit_once('_') {
        Some((class, number))
            if !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()) =>
        {
            class
        }
        _ => name,
    }
}

/// A module from `Module Hierarchy` texts.
struct Module {
    class: Option<String>,
    first_ts: i64,
    operators: u64,
}

/// The tree built from all `Module Hierarchy` texts.
#[derive(Default)]
struct Tree {
    modules: Vec<Module>,
    /// Modules by parent and name.
    children: BTreeMap<(Option<usize>, String), usize>,
}

impl Tree {
    /// Adds a text such as `TOP(Net)::forward.layer1(Sequential)::forward.conv1(Conv2d)::forward`,
    /// which consists of names, classes in parentheses, and functions. Returns whether the text was
    /// cut.
    fn add(&mut self, text: &str, first_ts: i64, operators: u64) -> bool {
        let mut parts = text.split('.').filter(|part| !part.is_empty());
        let mut at = None;
        for part in parts.by_ref().take(MAX_LEVELS) {
            let part = part.split("::").next().unwrap_or(part);
            let (name, class) = match part.split_once('(') {
                Some((name, class)) => (name, Some(class.trim_end_matches(')').to_owned())),
                None => (part, None),
            };
            let next = self.modules.len();
            let module = *self.children.entry((at, name.to_owned())).or_insert(next);
            if module == next {
                self.modules.push(Module { class, first_ts, operators: 0 });
            }
            self.modules[module].first_ts = self.modules[module].first_ts.min(first_ts);
            at = Some(module);
        }
        if let Some(module) = at {
            self.modules[module].operators += operators;
        }
        parts.next().is_some()
    }

    /// Returns the children by name, the last one first.
    fn children(&self, of: Option<usize>) -> impl Iterator<Item = (&str, usize)> {
        let children = self
            .children
            .range((of, String::new())..)
            .take_while(move |((parent, _), _)| *parent == of);
        let children: Vec<_> = children.map(|((_, name), &module)| (&name[..], module)).collect();
        children.into_iter().rev()
    }
}

/// Appends the modules of `Module Hierarchy` texts; returns the number of texts and paths that were
/// cut.
fn push_hierarchies(
    rows: &mut TableRows<ModuleRow<'static>>,
    trace_id: &str,
    hierarchies: FxHashMap<String, (i64, u64)>,
) -> u64 {
    let mut tree = Tree::default();
    let mut cut = 0;
    for (text, (ts, operators)) in hierarchies {
        cut += u64::from(tree.add(&text, ts, operators));
    }
    let mut left: Vec<_> = tree.children(None).map(|(name, module)| (name, module, None)).collect();
    let mut id = 0;
    while let Some((name, at, parent)) = left.pop() {
        let parent: Option<(i64, ModulePath, i64)> = parent;
        let path = ModulePath::of(parent.as_ref().map(|p| &p.1), name);
        let depth = parent.as_ref().map_or(0, |p| p.2 + 1);
        let module = &tree.modules[at];
        rows.push(ModuleRow {
            trace_id,
            module_id: id,
            name,
            class: module.class.as_deref(),
            parent_module_id: parent.map(|p| p.0),
            path: &path.text,
            depth,
            first_ts_ns: module.first_ts,
            call_count: module.operators as i64,
            source: "hierarchy",
        });
        cut += u64::from(path.is_cut);
        left.extend(
            tree.children(Some(at))
                .map(|(name, module)| (name, module, Some((id, path.clone(), depth)))),
        );
        id += 1;
    }
    cut
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
