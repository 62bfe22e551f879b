//! Modules: the tree of `nn.Module` calls, or of `Module Hierarchy` texts.

use crate::support::{TestStore, elements};

fn frames(frames: &[(&str, i64, i64)]) -> TestStore {
    let frame = |(name, ts, dur): &(&str, i64, i64)| {
        format!(
            r#"{{"ph":"X","cat":"python_function","name":"{name}","pid":1,"tid":1,"ts":{ts},"dur":{dur},"args":{{"Python id":{ts}}}}}"#
        )
    };
    elements(frames.iter().map(frame).collect::<Vec<_>>().join(","))
}

#[test]
fn calls_of_modules_make_a_tree() {
    let store = frames(&[
        ("nn.Module: Net_0", 0, 100),
        ("model.py(9): forward", 1, 98),
        ("nn.Module: Conv2d_0", 2, 10),
        ("nn.Module: Sequential_0", 20, 50),
        ("nn.Module: Conv2d_1", 21, 10),
    ]);
    assert_eq!(
        store.lines("SELECT module_id, name, class, parent_module_id, path, depth, first_ts_ns, call_count, source FROM modules"),
        [
            "0 Net_0 Net NULL Net_0 0 0 1 python",
            "1 Conv2d_0 Conv2d 0 Net_0.Conv2d_0 1 2000 1 python",
            "2 Sequential_0 Sequential 0 Net_0.Sequential_0 1 20000 1 python",
            "3 Conv2d_1 Conv2d 2 Net_0.Sequential_0.Conv2d_1 2 21000 1 python"
        ]
    );
}

#[test]
fn a_module_is_counted_at_each_place_it_is_called_from() {
    let store = frames(&[
        ("nn.Module: Net_0", 0, 30),
        ("nn.Module: Act_0", 1, 5),
        ("nn.Module: Act_0", 10, 5),
        ("nn.Module: Net_0", 100, 30),
        ("nn.Module: Act_0", 101, 5),
        ("nn.Module: Act_0", 200, 5),
    ]);
    assert_eq!(
        store.lines("SELECT path, call_count FROM modules ORDER BY 1"),
        ["Act_0 1", "Net_0 2", "Net_0.Act_0 3"]
    );
}

#[test]
fn a_name_without_a_number_is_the_class() {
    let store = frames(&[("nn.Module: Conv2d", 0, 30)]);
    assert_eq!(store.lines("SELECT name, class FROM modules"), ["Conv2d Conv2d"]);
}

#[test]
fn hierarchies_in_args_make_a_tree_where_there_are_no_calls() {
    let op = |ts: i64, hierarchy: &str| {
        format!(
            r#"{{"ph":"X","cat":"cpu_op","name":"op","pid":1,"tid":1,"ts":{ts},"dur":1,"args":{{"Module Hierarchy":"{hierarchy}"}}}}"#
        )
    };
    let store = elements(
        [
            op(1, ""),
            op(2, "TOP(Net)::forward.layer1(Sequential)::forward.conv1(Conv2d)::forward"),
            op(3, "TOP(Net)::forward.layer1(Sequential)::forward.conv1(Conv2d)::forward"),
            op(4, "TOP(Net)::forward"),
        ]
        .join(","),
    );
    assert_eq!(
        store
            .lines("SELECT name, class, path, depth, first_ts_ns, call_count, source FROM modules"),
        [
            "TOP Net TOP 0 2000 1 hierarchy",
            "layer1 Sequential TOP.layer1 1 2000 0 hierarchy",
            "conv1 Conv2d TOP.layer1.conv1 2 2000 2 hierarchy"
        ]
    );
    assert_eq!(
        store.lines("SELECT p.name, m.name FROM modules m JOIN modules p ON p.module_id = m.parent_module_id ORDER BY m.module_id"),
        ["TOP layer1", "layer1 conv1"]
    );
}
