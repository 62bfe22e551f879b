//! The version that all processes of a cluster must share.

use std::sync::LazyLock;

/// Another version, for tests.
const VARIABLE: &str = "TRACESQL_TEST_CLUSTER_VERSION";

static PROGRAM: LazyLock<String> = LazyLock::new(|| {
    std::env::var(VARIABLE).unwrap_or_else(|_| env!("CARGO_PKG_VERSION").to_owned())
});

/// The version of this program.
pub fn program() -> &'static str {
    &PROGRAM
}

/// How a process introduces itself to the scheduler.
pub fn user_agent() -> String {
    format!("tracesql-full/{}", program())
}

/// Why a process may not join the cluster; `None` if it may.
pub fn refusal(user_agent: Option<&str>) -> Option<String> {
    let own = program();
    let other = user_agent
        .and_then(|agent| agent.split(' ').find_map(|word| word.strip_prefix("tracesql-full/")));
    match other {
        Some(other) if other == own => None,
        Some(other) => Some(format!(
            "this process is tracesql-full {other}, the scheduler is {own}; all processes of a \
             cluster need the same version"
        )),
        None => Some(format!("this scheduler serves processes of tracesql-full {own} only")),
    }
}

#[cfg(test)]
mod tests {
    use super::{refusal, user_agent};

    #[test]
    fn only_the_same_version_may_join() {
        assert_eq!(refusal(Some(&format!("{} tonic/0.14", user_agent()))), None);
        let other = refusal(Some("tracesql-full/0.0.1 tonic/0.14")).expect("a refusal");
        assert!(other.contains("0.0.1") && other.contains(env!("CARGO_PKG_VERSION")), "{other}");
        assert!(refusal(Some("curl/8")).is_some());
        assert!(refusal(None).is_some());
    }
}
