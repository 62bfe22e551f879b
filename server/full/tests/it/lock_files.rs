//! Both workspaces are built from one source tree. Where both use the same series of a package,
//! they use the same version, so that what the tests of the first workspace found out is true for
//! the second one.

use std::collections::BTreeMap;

use crate::support::root;

/// The versions in a lock file, by package and series (`name 59`, or `name 0.13`).
fn versions(path: &str) -> BTreeMap<String, String> {
    let text = std::fs::read_to_string(root().join(path)).expect("a lock file");
    let packages = text.split("[[package]]").skip(1);
    packages
        .map(|package| {
            let value = |key: &str| {
                let line = package.lines().find_map(|l| l.strip_prefix(key)?.strip_prefix(" = \""));
                line.and_then(|l| l.strip_suffix('"')).expect("a name and a version")
            };
            let version = value("version");
            // Versions that begin with zeros are compatible up to their first other number.
            let zeros = version.split('.').take_while(|part| *part == "0").count();
            let series: Vec<&str> = version.split('.').take(zeros + 1).collect();
            (format!("{} {}", value("name"), series.join(".")), version.to_owned())
        })
        .collect()
}

#[test]
fn both_lock_files_have_the_same_versions() {
    let (ours, theirs) = (versions("server/Cargo.lock"), versions("Cargo.lock"));
    for name in ["arrow", "datafusion", "object_store", "parquet", "tokio", "url"] {
        let is_it = |package: &&String| package.split(' ').next() == Some(name);
        let package = theirs.keys().find(is_it);
        assert!(package.is_some_and(|package| ours.contains_key(package)), "{name} is in both");
    }
    let differences: Vec<String> = theirs
        .iter()
        .filter_map(|(package, version)| {
            let other = ours.get(package)?;
            (other != version).then(|| format!("{package}: {version}, and {other} in server/"))
        })
        .collect();
    assert!(
        differences.is_empty(),
        "`cargo update --precise` in server/ makes them equal:\n{}",
        differences.join("\n")
    );
}
