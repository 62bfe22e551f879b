//! "Did you mean": suggests the names that a misspelled name may stand for.
//!
//! There are two measures. [`nearest`] counts edits. It is for names among hundreds of others,
//! where most similar names are not the intended one. [`most_similar`] gives weight to common
//! beginnings. It is for a few names, such as options, where even a distant guess helps.

/// The minimum similarity, from 0 to 1, of a name that [`most_similar`] returns.
const MIN_SIMILARITY: f64 = 0.7;

/// The maximum number of names that [`nearest`] returns.
const MAX_NAMES: usize = 3;

/// The number of edits between two words. Exchanging two adjacent characters is one edit.
pub fn edits(a: &str, b: &str) -> usize {
    strsim::osa_distance(a, b)
}

/// How similar two words are, from 0 to 1. Common beginnings have more weight.
pub fn similarity(a: &str, b: &str) -> f64 {
    strsim::jaro_winkler(a, b)
}

/// The names nearest to a misspelled one, best first; empty if none is near.
pub fn nearest<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let wanted = wanted.to_lowercase();
    let most = (wanted.chars().count() / 3).clamp(1, 3);
    let mut near: Vec<(usize, &str)> = Vec::new();
    let mut longer = Vec::new();
    for name in names {
        let lower = name.to_lowercase();
        let edits = edits(&wanted, &lower);
        if edits <= most {
            near.push((edits, name));
        } else if wanted.len() >= 4
            && (lower.contains(&wanted) || (lower.len() >= 4 && wanted.contains(&lower)))
        {
            longer.push((lower.len().abs_diff(wanted.len()), name));
        }
    }
    // A name that only contains the word, such as `kernel_name` for `kernel`, is suggested only
    // if no name is a misspelling.
    let mut near = if near.is_empty() { longer } else { near };
    near.sort_unstable();
    near.dedup();
    near.into_iter().map(|(_, name)| name).take(MAX_NAMES).collect()
}

/// The name most similar to a misspelled one, if it is similar enough.
pub fn most_similar<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let (similarity, name) = closest(wanted, names)?;
    (similarity > MIN_SIMILARITY).then_some(name)
}

/// The name most similar to a misspelled one, however distant, and its similarity.
pub fn closest<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> Option<(f64, &'a str)> {
    let all = names.map(|name| (similarity(name, wanted), name));
    all.max_by(|a, b| a.0.total_cmp(&b.0))
}

/// A hint to append to a message: `; did you mean NAME?`, or an empty text.
pub fn hint(name: Option<&str>) -> String {
    name.map(|name| format!("; did you mean {name}?")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspelled_names_find_theirs() {
        let names = ["events", "kernels", "kernel_stats", "memory", "traces", "tracks"];
        assert_eq!(nearest("evnets", names.into_iter()), ["events"]);
        assert_eq!(nearest("kernel", names.into_iter()), ["kernels"]);
        assert_eq!(nearest("stats", names.into_iter()), ["kernel_stats"]);
        assert_eq!(nearest("EVENT", names.into_iter()), ["events"]);
        assert_eq!(nearest("trcks", names.into_iter()), ["tracks"]);
        assert!(nearest("whatever", names.into_iter()).is_empty());
    }

    #[test]
    fn the_most_similar_name_must_be_similar() {
        let names = ["data_loading", "gpu_idle"];
        assert_eq!(most_similar("data_loader", names.into_iter()), Some("data_loading"));
        assert_eq!(most_similar("xyz", names.into_iter()), None);
        assert_eq!(hint(Some("gpu_idle")), "; did you mean gpu_idle?");
        assert_eq!(hint(None), "");
    }
}
