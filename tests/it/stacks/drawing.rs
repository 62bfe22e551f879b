//! Flame graphs: colours, legends, and the drawing in a browser.

use std::process::Command;

use super::written;
use crate::support::{TestStore, fixture, needs, root, spans, texts};

fn draw(store: &TestStore, args: &[&str]) -> String {
    let from = store.store.root().to_string_lossy().into_owned();
    let file = store.folder.path().join("flame.svg");
    String::from_utf8(written(&[&["flamegraph", &from], args].concat(), &file)).expect("UTF-8")
}

/// The legend as (text, colour); a heading has no colour.
fn legend(svg: &str) -> Vec<(String, String)> {
    let (_, rest) = svg.split_once("<g id=\"legend\">").expect("a legend");
    let (legend, _) = rest.split_once("</g>").expect("the end of the legend");
    let attribute = |line: &str, name: &str| {
        let (_, rest) = line.split_once(&format!("{name}=\""))?;
        Some(rest.split_once('"')?.0.to_owned())
    };
    let entry = |line: &str| {
        let text = line.rsplit_once("</text>")?.0.rsplit_once('>')?.1.to_owned();
        Some((text, attribute(line, "fill").unwrap_or_default()))
    };
    legend.lines().filter_map(entry).collect()
}

#[test]
fn frames_have_the_colours_of_the_report_page() {
    let store = TestStore::with(&fixture("synthetic_gpu_rank0.json.gz")).0;
    let svg = draw(&store, &["--measure", "gpu", "--by-thread"]);
    let legend = legend(&svg);
    let file = |path: &str| std::fs::read_to_string(root().join(path)).expect(path);
    let frames = file("src/report/assets/css/figures.css");
    let page = file("web/styles/colours.css");
    let after = |text: &str, start: &str| {
        let (_, rest) = text.split_once(start).unwrap_or_else(|| panic!("no {start}"));
        let at = rest.find('#').expect("a colour");
        rest[at..at + 7].to_owned()
    };
    for (name, kind) in [
        ("thread", "thread"),
        ("annotation", "note"),
        ("Python", "python"),
        ("module", "module"),
        ("operator", "op"),
        ("runtime call", "call"),
        ("other", "other"),
    ] {
        let colour = after(&frames, &format!(".k-{kind} {{"));
        assert!(legend.contains(&(name.to_owned(), colour)), "{name}: {legend:?}");
    }
    // Classes are mixed with 45 % white.
    let part = |colour: &str, at: usize| {
        let value = u8::from_str_radix(&colour[at..at + 2], 16).expect("hex");
        (f64::from(value) * 0.55 + 255.0 * 0.45).round() as u8
    };
    let classes = ["gemm", "conv", "normalization", "softmax", "elementwise", "reduction"];
    for class in classes {
        let base = after(&page, &format!("--class-{class}:"));
        let mixed = format!("#{:02x}{:02x}{:02x}", part(&base, 1), part(&base, 3), part(&base, 5));
        assert!(legend.contains(&(class.to_owned(), mixed)), "{class}: {legend:?}");
    }
    assert!(legend.contains(&("Work of devices:".to_owned(), String::new())), "{legend:?}");
    // Every colour of a frame is in the legend, except that of the root.
    let frames = svg.split_once("<g id=\"frames\">").expect("frames").1;
    for frame in frames.split("<g class=\"f\"").skip(2) {
        let (_, rest) = frame.split_once("fill=\"").expect("a colour");
        let colour = &rest[..7];
        assert!(legend.iter().any(|(_, c)| c == colour), "{colour} is not explained: {frame}");
    }
}

#[test]
fn a_difference_says_which_colour_is_more() {
    let base = spans(&[("step", 0, 100), ("less", 10, 30), ("more", 50, 20), ("gone", 80, 5)]);
    let other = spans(&[("step", 0, 100), ("less", 10, 15), ("more", 50, 25), ("new", 80, 5)]);
    let from = base.store.root().to_string_lossy().into_owned();
    let svg = draw(&other, &["--base", &from]);
    let legend = legend(&svg);
    assert_eq!(legend[0].0, "red = more time than in the base, blue = less; width = this run:");
    let colour = |name: &str| {
        let frames = svg.split_once("<g id=\"frames\">").expect("frames").1;
        let line = frames
            .split("<g class")
            .find(|g| g.contains(&format!("<title>{name}\n")))
            .unwrap_or_else(|| panic!("{name} is not drawn: {svg}"));
        let (_, rest) = line.split_once("fill=\"").expect("a colour");
        let name = legend.iter().find(|(_, c)| *c == rest[..7]).expect("a legend").0.clone();
        (name, line.to_owned())
    };
    assert_eq!(colour("less").0, "less than -30 %");
    assert_eq!(colour("more").0, "to +30 %");
    assert_eq!(colour("new").0, "not in the base");
    assert_eq!(colour("step").0, "to +2 %", "a frame counts with everything below it");
    assert!(colour("more").1.contains("\n25 µs, 25.00 % of all\nbase 20 µs: +25.0 %</title>"));
    assert!(!svg.contains("<title>gone"), "what only the base has is not drawn");
    // A difference of counts speaks of counts.
    let kernels = draw(&other, &["--base", &from, "--measure", "samples"]);
    assert!(kernels.contains("red = more samples than in the base"), "{kernels}");
}

#[test]
fn no_frame_has_a_stump_of_a_name() {
    let store = TestStore::with(&fixture("synthetic_gpu_rank0.json.gz")).0;
    for measure in ["cpu", "gpu", "alloc_space"] {
        let svg = draw(&store, &["--measure", measure]);
        let frames = svg.split_once("<g id=\"frames\">").expect("frames").1;
        let mut texts = 0;
        for frame in frames.split("<g class=\"f\"").skip(1) {
            let name = frame.split_once("<title>").expect("a title").1;
            let name = name.split('\n').next().expect("a name");
            let Some((_, rest)) = frame.split_once("<text") else { continue };
            let text = rest.split_once('>').expect("a text").1.split('<').next().expect("its end");
            texts += 1;
            let kept = text.trim_end_matches('…');
            assert!(name.contains(kept), "{text} is not in {name}");
            assert!(kept.len() == text.len() || text.chars().count() >= 8, "{text} of {name}");
        }
        assert!(texts > 10, "{measure}: {texts} texts");
    }
}

#[test]
fn a_flame_graph_works_in_a_browser() {
    let (Some(python), Some(chromium)) = (needs::python(), needs::chromium()) else { return };
    if needs::package(&python, "playwright").is_none() {
        return;
    }
    let store = TestStore::with(&fixture("synthetic_gpu_rank0.json.gz")).0;
    draw(&store, &["--measure", "gpu"]);
    let out = Command::new(&python)
        .arg(root().join("tests/browser/flamegraph.py"))
        .arg(store.folder.path().join("flame.svg"))
        .arg("--chromium")
        .arg(&chromium)
        .output()
        .expect("python runs");
    let (stdout, stderr) = texts(&out);
    assert!(out.status.success() && stdout.starts_with("ok: "), "{stdout}\n{stderr}");
}
