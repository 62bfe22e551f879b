//! Names of frames in all formats: one frame for all steps, and short names of kernels.

use serde_json::Value;

use super::written;
use crate::support::{TestStore, elements, fixture, texts, tracesql};

fn folded(root: &str, args: &[&str]) -> String {
    let out = tracesql(&[&["folded", root, "-q"], args].concat());
    assert!(out.status.success(), "{}", texts(&out).1);
    texts(&out).0
}

/// Lines with their values, by stack.
fn sum(lines: &str) -> i64 {
    lines.lines().map(|l| l.rsplit(' ').next().expect("a value").parse::<i64>().expect("ns")).sum()
}

fn root_of(store: &TestStore) -> String {
    store.store.root().to_string_lossy().into_owned()
}

#[test]
fn steps_are_one_frame_and_every_sum_is_kept() {
    let store = TestStore::with(&fixture("synthetic_gpu_rank0.json.gz")).0;
    let root = root_of(&store);
    for measure in ["cpu", "gpu", "kernels", "alloc_space"] {
        let each = folded(&root, &["--measure", measure, "--no-merge-steps"]);
        let merged = folded(&root, &["--measure", measure]);
        assert!(each.contains("ProfilerStep#11;") && !each.contains("ProfilerStep*"), "{each}");
        assert!(merged.contains("ProfilerStep*;") && !merged.contains("ProfilerStep#"), "{merged}");
        assert_eq!(sum(&each), sum(&merged), "{measure}");
        assert!(each.lines().count() > merged.lines().count(), "{measure}");
        assert_eq!(merged, folded(&root, &["--measure", measure, "--merge-steps"]));
        // The value of a merged stack is the sum over its steps.
        let mut steps: Vec<(String, i64)> = Vec::new();
        for line in each.lines() {
            let (stack, value) = line.rsplit_once(' ').expect("a value");
            let step = |frame: &str| match frame.starts_with("ProfilerStep#") {
                true => "ProfilerStep*".to_owned(),
                false => frame.to_owned(),
            };
            let stack = stack.split(';').map(step).collect::<Vec<_>>().join(";");
            steps.push((stack, value.parse().expect("a number")));
        }
        for line in merged.lines() {
            let (stack, value) = line.rsplit_once(' ').expect("a value");
            let parts: i64 = steps.iter().filter(|(s, _)| s == stack).map(|(_, v)| v).sum();
            assert_eq!(parts.to_string(), value, "{stack}");
        }
    }
}

#[test]
fn the_rules_of_other_tools_keep_steps_unless_asked() {
    let store = TestStore::with(&fixture("synthetic_gpu_rank0.json.gz")).0;
    let root = root_of(&store);
    for rule in ["inclusive", "flat"] {
        let kept = folded(&root, &["--rule", rule]);
        assert!(kept.contains("ProfilerStep#11"), "{kept}");
        assert!(kept.contains("void at::native::"), "kernels keep their names: {kept}");
        let merged = folded(&root, &["--rule", rule, "--merge-steps"]);
        assert!(merged.contains("ProfilerStep*") && !merged.contains("ProfilerStep#"), "{merged}");
        assert_eq!(sum(&kept), sum(&merged));
    }
}

/// Two kernels whose names differ in a template argument, a third one, and an operator with the
/// short name of the third.
const KERNELS: &str = r#"{"ph":"X","cat":"cpu_op","name":"ns::gemm","pid":1,"tid":1,"ts":0,"dur":90},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":10,"dur":5,"args":{"correlation":1}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":20,"dur":5,"args":{"correlation":2}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":30,"dur":5,"args":{"correlation":3}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":40,"dur":5,"args":{"correlation":4}},
{"ph":"X","cat":"kernel","name":"void k<4, Add>(int)","pid":0,"tid":7,"ts":20,"dur":7,"args":{"device":0,"stream":7,"correlation":1}},
{"ph":"X","cat":"kernel","name":"void k<4, Mul>(int)","pid":0,"tid":7,"ts":30,"dur":11,"args":{"device":0,"stream":7,"correlation":2}},
{"ph":"X","cat":"kernel","name":"void ns::gemm<float>(float*)","pid":0,"tid":7,"ts":50,"dur":13,"args":{"device":0,"stream":7,"correlation":3}},
{"ph":"X","cat":"kernel","name":"void fill<int>(int*)","pid":0,"tid":7,"ts":70,"dur":17,"args":{"device":0,"stream":7,"correlation":4}}"#;

/// Names end with the CRC-32 of the full name where the short one is not enough.
#[test]
fn kernels_have_short_names_that_tell_them_apart() {
    let store = elements(KERNELS);
    let root = root_of(&store);
    let lines = folded(&root, &["--measure", "gpu"]);
    let expected = "ns::gemm;cudaLaunchKernel;fill 17000\n\
        ns::gemm;cudaLaunchKernel;k [96a6f584] 11000\n\
        ns::gemm;cudaLaunchKernel;k [f36c7942] 7000\n\
        ns::gemm;cudaLaunchKernel;ns::gemm [272a89e6] 13000\n";
    let mut found: Vec<&str> = lines.lines().collect();
    found.sort_unstable();
    assert_eq!(found.join("\n") + "\n", expected);
    let full = folded(&root, &["--measure", "gpu", "--full-names"]);
    assert!(full.contains("cudaLaunchKernel;void k<4, Add>(int) 7000\n"), "{full}");
    // A selection does not change the names.
    let one = folded(&root, &["--measure", "gpu", "--where", "name LIKE '%Add%'"]);
    assert_eq!(one, "ns::gemm;cudaLaunchKernel;k [f36c7942] 7000\n");
}

#[test]
fn full_names_are_kept_where_the_format_has_a_place_for_them() {
    let store = elements(KERNELS);
    let (root, folder) = (root_of(&store), store.folder.path());
    let bytes = written(&["speedscope", &root], &folder.join("x.json"));
    let document: Value = serde_json::from_slice(&bytes).expect("JSON");
    let frames = document["shared"]["frames"].as_array().expect("frames");
    let frame = |name: &str| frames.iter().find(|f| f["name"] == name);
    assert_eq!(frame("fill").expect("fill")["file"], "void fill<int>(int*)");
    assert!(frame("k [f36c7942]").is_some(), "{frames:?}");
    let bytes = written(&["speedscope", &root, "--full-names"], &folder.join("x.json"));
    let document: Value = serde_json::from_slice(&bytes).expect("JSON");
    let frames = document["shared"]["frames"].as_array().expect("frames");
    assert!(frames.iter().any(|f| f["name"] == "void fill<int>(int*)"), "{frames:?}");

    let profile = written(&["pprof", &root], &folder.join("x.pb.gz"));
    let mut text = Vec::new();
    std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(&profile[..]), &mut text)
        .expect("gzip");
    let text = String::from_utf8_lossy(&text).into_owned();
    for name in ["fill", "void fill<int>(int*)", "k [96a6f584]", "void k<4, Mul>(int)"] {
        assert!(text.contains(name), "{name}");
    }

    let svg = written(&["flamegraph", &root, "--measure", "gpu"], &folder.join("x.svg"));
    let svg = String::from_utf8(svg).expect("UTF-8");
    let title = "<title>fill\nvoid fill&lt;int&gt;(int*)\n17 µs, 35.42 % of all</title>";
    assert!(svg.contains(title), "{svg}");
}
