//! Name rules that users add. The rules that views propose for unclassified kernels work as
//! proposed, and rules without an effect are rejected.

use std::path::Path;

use tempfile::TempDir;
use tracesql::engine::{Engine, EngineOptions};

use crate::support::{TestStore, elements, fixture, root, rows_of, texts, tracesql_in};

const HEADER: &str = "ruleset,priority,pattern,value,source,description";

/// A folder with rules, which are given without the header line.
fn folder(rules: &str) -> TempDir {
    let folder = TempDir::new().expect("a folder");
    std::fs::create_dir(folder.path().join("core")).expect("a folder");
    std::fs::write(folder.path().join("core/name_rules.csv"), format!("{HEADER}\n{rules}"))
        .expect("the rules");
    folder
}

fn options(folder: &Path) -> EngineOptions {
    EngineOptions { sql: vec![folder.to_owned()], ..EngineOptions::default() }
}

fn problems(rules: &str) -> Vec<String> {
    let folder = folder(rules);
    let engine = Engine::without_store(&options(folder.path())).expect("a session");
    let prefix = format!("{}/", folder.path().display());
    engine.library().problems().iter().map(|p| p.to_string().replace(&prefix, "")).collect()
}

/// The output of the program for a trace.
fn printed(trace: &Path, sql: &str, folder: Option<&Path>) -> String {
    let trace = trace.display().to_string();
    let cache = TempDir::new().expect("a folder");
    let folder = folder.map(|f| f.display().to_string());
    let mut args = vec![trace.as_str(), "--quiet", "--format", "csv", "-c", sql];
    if let Some(folder) = &folder {
        args.extend(["--sql", folder.as_str()]);
    }
    let output = tracesql_in(root(), &args, &[("TRACESQL_CACHE", cache.path())]);
    let (stdout, stderr) = texts(&output);
    assert!(output.status.success() && stderr.is_empty(), "{stderr}");
    stdout
}

const PROPOSED: &str = "SELECT ruleset, priority, pattern, value, source, description FROM \
                        unclassified_kernels ORDER BY total_ns DESC";

/// The proposed rules with a class in place of the question marks.
fn filled(trace: &Path, class: &str) -> String {
    let proposed = printed(trace, PROPOSED, None);
    assert!(proposed.starts_with(HEADER), "{proposed}");
    proposed.replace(",?,own,", &format!(",{class},own,"))
}

/// Names with all characters that have a special meaning in regular expressions, in CSV or in JSON.
/// No rule matches any of them.
const NAMES: [&str; 10] = [
    "qx::op[1]{2}|a.b*c+?^$\\\\d",
    "qx_1",
    "qx_12",
    "qx \\\"quoted\\\", and, commas",
    "qx line\\nbreak\\tand tab",
    "<qx>(int)",
    "(qx) behind",
    "qx-é-ü&&~~#",
    "qx::f<qx::g(int), 4>(float*)",
    "?",
];

#[test]
fn proposed_rules_find_their_names_whatever_these_are() {
    let long = "qz".repeat(3000);
    let kernels: Vec<String> = NAMES
        .iter()
        .copied()
        .chain([long.as_str()])
        .enumerate()
        .map(|(i, name)| {
            let more = format!("\"ts\":{},\"dur\":{},\"pid\":0,\"tid\":7", 100 * i, 10 + i);
            format!("{{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"{name}\",{more},\"args\":{{\"device\":0,\"stream\":7}}}}")
        })
        .collect();
    let place = TempDir::new().expect("a folder");
    let trace = place.path().join("trace.json");
    std::fs::write(&trace, format!("{{\"traceEvents\":[{}]}}", kernels.join(",")))
        .expect("the trace");
    let classes =
        "SELECT class, class_evidence, count(*) AS kernels FROM kernel_classes GROUP BY ALL";
    assert_eq!(printed(&trace, classes, None), "class,class_evidence,kernels\nunclassified,,11\n");
    let rules = filled(&trace, "fft");
    assert!(!rules.contains(",?,own"), "{rules}");
    let own = folder(rules.strip_prefix(HEADER).expect("the header").trim_start());
    assert_eq!(
        printed(&trace, classes, Some(own.path())),
        "class,class_evidence,kernels\nfft,name,11\n"
    );
    assert_eq!(printed(&trace, PROPOSED, Some(own.path())), format!("{HEADER}\n"));
    // Each name has its own rule, which is identified by ruleset and priority. The rule for qx_12
    // does not match qx_1, and vice versa.
    let joined = "SELECT count(*) AS n, count(DISTINCT n.class_rule) AS rules FROM kernel_names n
        JOIN name_rules r ON r.ruleset = 'kernel_class' AND r.priority = n.class_rule AND r.source = 'own'";
    assert_eq!(printed(&trace, joined, Some(own.path())), "n,rules\n11,11\n");
}

#[test]
fn times_of_what_is_not_known_are_those_of_the_fixture() {
    let store = TestStore::with(&fixture("kernels/own_kernels.json.gz")).0;
    // By construction of the trace: 400 us and 250 us in each of 2 steps of 1 ms.
    let sql = "SELECT plain_name, operator, activities, total_ns, kernel_ns, share_pct, priority \
               FROM unclassified_kernels ORDER BY total_ns DESC";
    assert_eq!(
        store.lines(sql),
        [
            "acme::warp_mixer<float, 4>(float*, int) acme::mlp 2 800000 2000000 40.0 -1",
            "acme_ring_hop(void*) acme::exchange 4 500000 2000000 25.0 -2"
        ]
    );
    let sql = "SELECT plain_name, class, class_evidence, activities, total_ns, share_pct, \
               ruleset, pattern, value FROM unclear_matrix_units ORDER BY total_ns DESC";
    assert_eq!(
        store.lines(sql),
        [
            "acme::gemm<float, 128>(float*) gemm name 2 300000 15.0 kernel_matrix_unit ^gemm \
             acme::gemm(<|\\(|$) ?",
            "acme::tile_engine<float>(float const*) gemm operator 2 120000 6.0 kernel_class \
             ^acme::tile_engine(<|\\(|$) gemm"
        ]
    );
    // Device work that is in neither view is certain, and the classes add up to the busy time.
    let sum = |sql: &str| store.value(sql);
    assert_eq!(sum("SELECT sum(time_ns) FROM gpu_time_by_class"), "2000000");
    assert_eq!(
        sum("SELECT sum(total_ns) FROM unclassified_kernels"),
        sum("SELECT total_ns FROM gpu_time_by_class WHERE class = 'unclassified'")
    );
    assert_eq!(
        sum("SELECT sum(total_ns) FROM unclear_matrix_units"),
        sum("SELECT matrix_unit_unclear_ns FROM gpu_time_by_class WHERE class = 'gemm'")
    );
    let known = elements(
        r#"{"ph":"X","cat":"kernel","name":"ncclDevKernel_AllReduce","ts":1,"dur":5,"pid":0,"tid":7,"args":{"device":0,"stream":7}}"#,
    );
    assert_eq!(
        known.lines(
            "SELECT count(*) FROM unclassified_kernels UNION ALL SELECT count(*) \
                            FROM unclear_matrix_units"
        ),
        ["0", "0"]
    );
}

#[test]
fn rules_of_rulesets_that_nothing_asks_any_more_are_refused_with_their_successor() {
    for (retired, successor) in [
        ("kernel_type", "kernel_class"),
        ("comm_library", "kernel_library"),
        ("matrix_unit", "kernel_matrix_unit"),
        ("matrix_work", "kernel_class"),
    ] {
        let found = problems(&format!(
            "collective,1,^x,all_reduce,own,A rule that is \
             good.\n{retired},1,^x,communication,own,Old.\n"
        ));
        assert_eq!(found.len(), 1, "{retired}: {found:?}");
        let begin = format!(
            "core/name_rules.csv:3: the ruleset {retired} is no longer asked; use {successor}"
        );
        assert!(
            found[0].starts_with(&begin)
                && found[0].contains("tracesql docs kernel_classification"),
            "{found:?}"
        );
    }
    assert_eq!(
        problems("kernel_library,1,^x,mine,own,Fine.\nmy_own_set,1,^x,anything,own,Fine.\n"),
        [""; 0]
    );
}

#[test]
fn values_that_views_do_not_know_are_refused() {
    let found = problems(
        "kernel_class,1,^a,?,own,A.\nkernel_class,2,^b,fft,own,B.\noperator_class,1,^c,matmul,own,C.\nkernel_matrix_unit,1,^d,maybe,own,D.\n",
    );
    assert_eq!(found.len(), 3, "{found:?}");
    for (found, begin, known) in [
        (
            &found[0],
            "core/name_rules.csv:2: kernel_class: \"?\" is no value of it",
            "communication",
        ),
        (&found[1], "core/name_rules.csv:4: operator_class: \"matmul\" is no value of it", "gemm"),
        (
            &found[2],
            "core/name_rules.csv:5: kernel_matrix_unit: \"maybe\" is no value of it",
            "no, yes",
        ),
    ] {
        assert!(found.starts_with(begin) && found.contains(known), "{found}");
    }
    assert_eq!(
        problems(
            "kernel_class,1,^a,,own,Nothing is known.\nkernel_matrix_unit,1,^gemm d,,own,Nothing \
             either.\n"
        ),
        [""; 0]
    );
}

/// Every class that a rule can assign is one of those that divide device time. Waits do not count
/// as work.
#[test]
fn views_know_every_class_of_the_rules() {
    let store = TestStore::with(&fixture("kernels/own_kernels.json.gz")).0;
    let missing = store.lines(
        "SELECT DISTINCT value FROM name_rules WHERE ruleset IN ('kernel_class', \
         'operator_class') AND value IS NOT NULL
         AND value NOT IN (SELECT class FROM _kernel_class_order) ORDER BY 1",
    );
    assert_eq!(missing, ["sync"]);
}

#[test]
fn topics_are_printed_listed_and_near() {
    let docs = |args: &[&str]| texts(&tracesql_in(root(), &[&["docs"][..], args].concat(), &[]));
    let page = std::fs::read_to_string(root().join("docs/kernels.md")).expect("the page");
    assert_eq!(docs(&["kernel_classification"]).0, page);
    assert_eq!(docs(&["kernel_classification", "--format", "markdown"]).0, page);
    let (overview, _) = docs(&[]);
    assert!(
        overview
            .split_once("\nTopics\n")
            .is_some_and(|(_, topics)| topics.contains("  kernel_classification ")),
        "{overview}"
    );
    assert!(docs(&["kernel_clasification"]).1.contains("did you mean kernel_classification?"));
    let json: serde_json::Value =
        serde_json::from_str(&docs(&["--format", "json"]).0).expect("JSON");
    assert_eq!(json["topics"][0]["name"], "kernel_classification");
    let shell = printed(&fixture("kernels/own_kernels.json.gz"), "\\d kernel_classification", None);
    assert_eq!(shell.trim_end(), page.trim_end());
    // A topic must not be hidden by a table, view or function with the same name.
    let engine = Engine::without_store(&EngineOptions::default()).expect("a session");
    assert_eq!(
        rows_of(
            &engine,
            "SELECT relation FROM tracesql_columns WHERE relation = 'kernel_classification'"
        )
        .expect("rows")
        .len(),
        0
    );
}
