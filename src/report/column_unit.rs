//! Units of columns, by their names.

/// The unit of a column. It follows from the suffixes that all views use.
pub fn unit(name: &str, kind: &str) -> &'static str {
    const SUFFIXES: [(&str, &str); 4] =
        [("_ns", "ns"), ("_bytes", "bytes"), ("_pct", "pct"), ("_gb_s", "GB/s")];
    const IDS: [&str; 9] =
        ["rank", "device", "step", "first_step", "last_step", "bucket", "lane", "node", "parent"];
    if let Some((_, unit)) = SUFFIXES.iter().find(|(suffix, _)| name.ends_with(suffix)) {
        return unit;
    }
    match kind {
        "integer" if IDS.contains(&name) || name.ends_with("_id") || name == "uuid" => "id",
        "integer" if name == "bytes" => "bytes",
        "integer" => "count",
        "number" => "number",
        "boolean" => "flag",
        _ => "text",
    }
}

#[cfg(test)]
mod tests {
    use super::unit;

    #[test]
    fn names_give_units() {
        assert_eq!(unit("host_self_ns", "integer"), "ns");
        assert_eq!(unit("busy_pct", "number"), "pct");
        assert_eq!(unit("rank", "integer"), "id");
        assert_eq!(unit("calls", "integer"), "count");
        assert_eq!(unit("name", "text"), "text");
    }
}
