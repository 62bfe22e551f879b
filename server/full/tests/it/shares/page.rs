//! `docs/many-machines.md`: its blocks for `tracesql-full` run as shown and print what is shown.
//! The tests of the first workspace run the others.

#[path = "../../../../../tests/it/examples/markdown.rs"]
#[allow(dead_code, reason = "the lines of blocks are for the first workspace")]
mod markdown;

use std::process::{Command, Stdio};
use std::time::Duration;

pub use markdown::blocks;

use super::deploy::{path_with, program_on_path};
use crate::support::moto::bucket;
use crate::support::{Child, Finished, free_port, program, root};

/// The longest time that one block may take.
const LIMIT: Duration = Duration::from_secs(120);

#[test]
fn the_page_about_many_machines_shows_what_happens() {
    let Some(bucket) = bucket() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    program_on_path(at);
    for name in ["fixtures", "deploy"] {
        std::os::unix::fs::symlink(root().join(name), at.join(name)).expect("a link");
    }
    for rank in [0, 1] {
        let name = format!("synthetic_gpu_rank{rank}.json.gz");
        let bytes = std::fs::read(crate::support::fixture(&name)).expect("a fixture");
        bucket.put(&format!("raw/run7/{name}"), bytes);
    }
    let page = std::fs::read_to_string(root().join("docs/many-machines.md")).expect("the page");
    // Names on this machine; the first port is that of the scheduler.
    let places = [
        ("s3://traces/".to_owned(), bucket.url("traces/")),
        ("s3://raw/".to_owned(), bucket.url("raw/")),
        ("50050".to_owned(), free_port().to_string()),
        ("5432".to_owned(), free_port().to_string()),
    ];
    let here = |text: &str| places.iter().fold(text.to_owned(), |text, (a, b)| text.replace(a, b));
    let mut ran = 0;
    for block in blocks(&page) {
        let ours = block.not_run.as_deref().is_some_and(|why| why.contains("tracesql-full"));
        if block.language != "sh" || !(ours || block.not_run.is_none()) {
            continue;
        }
        // What a block leaves running ends with it.
        let code = format!(
            "trap 'kill $(jobs -p) 2>/dev/null || true; wait || true' EXIT\n{}",
            here(&block.code)
        );
        let mut command = Command::new("bash");
        command.args(["-euo", "pipefail", "-c", &code]).current_dir(at);
        let calls = program::Program::new(at).envs(bucket.environment()).command();
        for (name, value) in calls.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command.env("PATH", path_with(at)).env("NO_COLOR", "1").stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let finished = Finished::of(&mut Child::start(&mut command), LIMIT);
        let line = block.line;
        assert_eq!(finished.code, Some(0), "line {line}: {}{}", finished.stdout, finished.stderr);
        if let Some(expected) = &block.prints {
            let expected = here(expected);
            let is_same = markdown::matches(&expected, &finished.stdout);
            assert!(is_same, "line {line} prints\n{}\nand not\n{expected}", finished.stdout);
        }
        ran += 1;
    }
    assert!(ran >= 5, "{ran} blocks ran");
}
