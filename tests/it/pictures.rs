//! The pictures of the documents: they exist, they are made by `scripts/pictures`, and they show
//! what the program prints now.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{needs, root, texts};

/// What `scripts/pictures` makes.
const PICTURES: [&str; 11] = [
    "report.png", "shell.svg", "flamegraph.svg", "plot.svg", "job_clocks.svg", "job_heat.svg",
    "job_path.svg", UI[0], UI[1], UI[2], UI[3],
];
const UI: [&str; 4] = ["ui-timeline.png", "ui-start.png", "ui-sql.png", "ui-stacks.png"];
const MAX_BYTES: u64 = 250_000;

fn images() -> PathBuf {
    root().join("docs/images")
}

/// The README, and the pages of `docs`.
fn documents() -> Vec<PathBuf> {
    let pages = std::fs::read_dir(root().join("docs")).expect("docs");
    let pages = pages.map(|entry| entry.expect("an entry").path());
    let is_page = |path: &PathBuf| path.extension().is_some_and(|e| e == "md");
    std::iter::once(root().join("README.md")).chain(pages.filter(is_page)).collect()
}

/// The pictures that a document shows, as `![text](path)` or `src="path"`.
fn shown(text: &str) -> Vec<String> {
    let between = |start: &str, end: char| {
        let parts: Vec<String> = text
            .split(start)
            .skip(1)
            .filter_map(|rest| rest.split_once(end))
            .map(|(path, _)| path.to_owned())
            .collect();
        parts
    };
    let markdown = text.split("![").skip(1).filter_map(|rest| {
        let (_, rest) = rest.split_once("](")?;
        rest.split_once(')').map(|(path, _)| path.split(' ').next().unwrap_or(path).to_owned())
    });
    let is_picture = |path: &String| {
        !path.contains("://") && [".png", ".svg", ".jpg"].iter().any(|e| path.ends_with(e))
    };
    markdown.chain(between("src=\"", '"')).filter(is_picture).collect()
}

#[test]
fn every_picture_of_a_document_is_made_by_the_script() {
    for document in documents() {
        let text = std::fs::read_to_string(&document).expect("a document");
        let folder = document.parent().expect("a folder");
        for picture in shown(&text) {
            let path = folder.join(&picture);
            assert!(path.is_file(), "{} shows {picture}, which is missing", document.display());
            let name = path.file_name().and_then(|n| n.to_str()).expect("a name");
            assert!(
                path.canonicalize().expect("a path").parent()
                    == images().canonicalize().ok().as_deref()
                    && PICTURES.contains(&name),
                "{}: scripts/pictures does not make {picture}",
                document.display()
            );
        }
    }
}

#[test]
fn the_folder_has_small_pictures_and_nothing_else() {
    let mut found: Vec<String> = Vec::new();
    for entry in std::fs::read_dir(images()).expect("docs/images") {
        let entry = entry.expect("an entry");
        let name = entry.file_name().to_string_lossy().into_owned();
        let bytes = entry.metadata().expect("a size").len();
        assert!(bytes < MAX_BYTES, "{name} has {bytes} bytes");
        found.push(name);
    }
    found.sort();
    let mut wanted = PICTURES.to_vec();
    wanted.sort_unstable();
    assert_eq!(found, wanted);
}

/// Makes pictures again and compares their texts with those of the files.
fn check(python: &Path, names: &[&str]) {
    let mut command = Command::new(python);
    command.arg(root().join("scripts/pictures")).arg("--check").args(names);
    command.arg("--program").arg(env!("CARGO_BIN_EXE_tracesql"));
    if let Some(chromium) = std::env::var_os("TRACESQL_TEST_CHROMIUM") {
        command.arg("--chromium").arg(chromium);
    }
    let out = command.env("TRACESQL_TEST_PYTHON", python).output().expect("python runs");
    let (stdout, stderr) = texts(&out);
    assert!(out.status.success() && stdout.starts_with("ok: "), "{stdout}\n{stderr}");
}

#[test]
fn the_flame_graph_is_the_one_that_the_program_draws() {
    let Some(python) = needs::python() else { return };
    check(&python, &["flamegraph.svg"]);
}

#[test]
fn the_shell_and_the_plot_show_what_the_program_answers() {
    let Some(python) = needs::python() else { return };
    if needs::package(&python, "pyte").is_some() {
        check(&python, &["shell.svg"]);
    }
    if needs::package(&python, "matplotlib").is_some() {
        check(&python, &["plot.svg"]);
    }
}

#[test]
fn the_pictures_of_jobs_show_what_the_program_answers() {
    let (Some(python), Some(_)) = (needs::python(), needs::in_corpus("../ranks/job64")) else {
        return;
    };
    if needs::package(&python, "matplotlib").is_some() {
        check(&python, &["job_clocks.svg", "job_heat.svg", "job_path.svg"]);
    }
}

#[test]
fn the_picture_of_the_report_has_the_texts_of_the_page() {
    let (Some(python), Some(_)) = (needs::python(), needs::chromium()) else { return };
    if needs::package(&python, "playwright").is_some() && needs::package(&python, "PIL").is_some() {
        check(&python, &["report.png"]);
    }
}

#[test]
fn the_pictures_of_the_pages_have_their_texts() {
    let (Some(python), Some(_)) = (needs::python(), needs::chromium()) else { return };
    if needs::package(&python, "playwright").is_some() && needs::package(&python, "PIL").is_some() {
        check(&python, &UI);
    }
}

#[test]
fn a_picture_that_is_out_of_date_is_found() {
    let Some(python) = needs::python() else { return };
    let program = "import sys\n\
        sys.path.insert(0, 'tests/pictures')\n\
        sys.dont_write_bytecode = True\n\
        import importlib.machinery as m, importlib.util as u\n\
        spec = u.spec_from_loader('pictures', m.SourceFileLoader('pictures', 'scripts/pictures'))\n\
        pictures = u.module_from_spec(spec); spec.loader.exec_module(pictures)\n\
        old = open('docs/images/flamegraph.svg', 'rb').read()\n\
        new = old.replace(b'train.py', b'other.py')\n\
        assert pictures.difference('flamegraph.svg', old, old) == []\n\
        assert len(pictures.difference('flamegraph.svg', old, new)) > 2\n\
        plot = open('docs/images/plot.svg', 'rb').read()\n\
        assert pictures.difference('plot.svg', plot, plot.replace(b'step 10', b'step 9')) != []\n";
    let out = Command::new(&python)
        .args(["-c", program])
        .current_dir(root())
        .output()
        .expect("python runs");
    assert!(out.status.success(), "{}", texts(&out).1);
}
