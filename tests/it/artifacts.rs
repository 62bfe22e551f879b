//! What `scripts/artifacts` packs. The packages of these tests hold the program of the tests;
//! `scripts/try-artifacts` runs the static programs that are handed out, if they were made.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

use crate::support::needs;
use crate::support::{root, texts};

fn run(program: impl AsRef<std::ffi::OsStr>, arguments: &[&str]) -> Output {
    let program = program.as_ref();
    let mut command = Command::new(program);
    command.args(arguments).current_dir(root());
    command.output().unwrap_or_else(|e| panic!("{}: {e}", program.display()))
}

#[track_caller]
fn lines(output: &Output) -> Vec<String> {
    let (out, error) = texts(output);
    assert!(output.status.success(), "{out}{error}");
    out.lines().map(str::to_owned).collect()
}

/// An archive and a Debian package with the program of the tests.
fn packed() -> Option<(TempDir, PathBuf, PathBuf)> {
    needs::dpkg_deb()?;
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().display().to_string();
    let program = env!("CARGO_BIN_EXE_tracesql");
    let arguments =
        ["--fast", "--arch", "x86_64", "--program", program, "--folder", &path, "archive", "deb"];
    lines(&run("scripts/artifacts", &arguments));
    let version = env!("CARGO_PKG_VERSION");
    let archive = format!("tracesql-{version}-x86_64-unknown-linux-musl.tar.gz");
    let package = format!("tracesql_{version}-1_amd64.deb");
    let (archive, package) = (folder.path().join(archive), folder.path().join(package));
    Some((folder, archive, package))
}

/// The commands of the program, from its manual page.
fn commands() -> Vec<String> {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().display().to_string();
    lines(&run(env!("CARGO_BIN_EXE_tracesql"), &["man", "-o", &path]));
    names(folder.path())
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let name = |entry: std::io::Result<std::fs::DirEntry>| {
        entry.expect("an entry").file_name().to_string_lossy().into_owned()
    };
    let mut names: Vec<_> = entries.map(name).collect();
    names.sort();
    names
}

#[test]
fn an_archive_holds_a_program_that_runs_and_its_texts() {
    let Some((folder, archive, _)) = packed() else { return };
    let sums = ["-c", "cd \"$1\" && sha256sum --check SHA256SUMS", "sh"];
    let at = folder.path().display().to_string();
    let checked = lines(&run("sh", &[&sums[..], &[&at]].concat()));
    assert_eq!(checked.len(), 2, "{checked:?}");

    let archive = archive.display().to_string();
    lines(&run("tar", &["-xzf", &archive, "-C", &at, "--strip-components=1"]));
    let program = folder.path().join("tracesql");
    let version = lines(&run(&program, &["--version"]));
    assert_eq!(version, [format!("tracesql {}", env!("CARGO_PKG_VERSION"))]);
    assert_eq!(names(&folder.path().join("man")), commands());
    assert_eq!(
        names(&folder.path().join("completions")),
        ["_tracesql", "tracesql.bash", "tracesql.fish"]
    );
    for text in ["LICENSE", "README.md", "CHANGELOG.md"] {
        let packed = std::fs::read(folder.path().join(text)).expect("a text");
        assert_eq!(packed, std::fs::read(root().join(text)).expect("a text"), "{text}");
    }
    // The same commit gives the same archive.
    let (_again, second, _) = packed().expect("dpkg-deb was there");
    let bytes = |path: &Path| std::fs::read(path).expect("an archive");
    assert!(bytes(Path::new(&archive)) == bytes(&second));
}

#[test]
fn a_debian_package_names_itself_and_puts_files_where_debian_looks() {
    let Some((_folder, _, package)) = packed() else { return };
    let package = package.display().to_string();
    let field = |name: &str| lines(&run("dpkg-deb", &["--field", &package, name])).join("\n");
    assert_eq!(field("Package"), "tracesql");
    assert_eq!(field("Version"), format!("{}-1", env!("CARGO_PKG_VERSION")));
    assert_eq!(field("Architecture"), "amd64");
    let content = lines(&run("dpkg-deb", &["--contents", &package]));
    let modes = |path: &str| {
        let line = content.iter().find(|line| line.ends_with(&format!(" ./{path}")));
        line.map(|line| line.split_whitespace().take(2).collect::<Vec<_>>().join(" "))
    };
    assert_eq!(modes("usr/bin/tracesql").as_deref(), Some("-rwxr-xr-x root/root"));
    let mut files = vec![
        "usr/share/bash-completion/completions/tracesql".to_owned(),
        "usr/share/zsh/vendor-completions/_tracesql".to_owned(),
        "usr/share/fish/vendor_completions.d/tracesql.fish".to_owned(),
        "usr/share/doc/tracesql/copyright".to_owned(),
        "usr/share/doc/tracesql/changelog.gz".to_owned(),
        "usr/share/doc/tracesql/changelog.Debian.gz".to_owned(),
    ];
    files.extend(commands().iter().map(|page| format!("usr/share/man/man1/{page}.gz")));
    for file in files {
        assert_eq!(modes(&file).as_deref(), Some("-rw-r--r-- root/root"), "{file}");
    }
}

#[test]
fn the_artifacts_that_are_handed_out_answer_on_a_clean_system() {
    let Some(folder) = needs::artifacts() else { return };
    let output = run("scripts/try-artifacts", &[&folder.display().to_string()]);
    let (out, error) = texts(&output);
    // 3: some are for another machine.
    assert!(matches!(output.status.code(), Some(0 | 3)), "{out}{error}");
    print!("{out}");
}

#[test]
fn a_program_that_needs_a_c_library_is_not_taken_for_a_static_one() {
    let Some((folder, ..)) = packed() else { return };
    let output = run("scripts/try-artifacts", &[&folder.path().display().to_string()]);
    let (out, error) = texts(&output);
    assert_eq!(output.status.code(), Some(1), "{out}{error}");
    assert!(error.contains("FAILED: tracesql-"), "{out}{error}");
}
