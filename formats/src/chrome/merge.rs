//! Keeps the processes and ids of several traces apart in one file.

use std::collections::HashMap;

use super::text::{members, push_int, push_string};

/// Keys of args whose values link events of the same trace.
const LINKS: &[&str] = &[
    "correlation",
    "External id",
    "external id",
    "Sequence number",
    "Python id",
    "Python parent id",
    "wait_on_cuda_event_record_corr_id",
];

/// Offsets that make the ids of one trace different from those of all others in the file.
#[derive(Debug, Clone, Default)]
pub struct Merge {
    /// The position of the trace in the file, counted from 0.
    pub trace: usize,
    /// Maps each old process id, as JSON text, to the new one. The empty text stands for events
    /// without a process.
    pub pids: HashMap<Vec<u8>, i64>,
    /// The offset for ids of flows and async events. If there is no offset, or the sum overflows,
    /// the id becomes a string that names the trace.
    pub ids: Option<i64>,
    /// The offset for the ids in args.
    pub links: i64,
}

impl Merge {
    /// Replaces a process id.
    pub fn pid(&self, json: &mut Vec<u8>) {
        if let Some(&pid) = self.pids.get(json) {
            json.clear();
            push_int(pid, json);
        } else {
            // An unknown process becomes a string that no other trace uses.
            let text = format!(
                "{}:{}",
                self.trace,
                String::from_utf8_lossy(json).trim_matches('"').replace(['"', '\\'], "_")
            );
            json.clear();
            push_string(&text, json);
        }
    }

    /// Appends an id, given as JSON.
    pub fn id(&self, json: &str, out: &mut Vec<u8>) {
        let text = json.strip_prefix('"').and_then(|t| t.strip_suffix('"'));
        let number = id_number(text.unwrap_or(json)).and_then(|n| n.checked_add(self.ids?));
        match (number, text) {
            (Some(n), None) => push_int(n, out),
            (Some(n), Some(text)) if text.starts_with("0x") => {
                out.extend_from_slice(format!("\"{n:#x}\"").as_bytes())
            }
            (Some(n), Some(_)) => out.extend_from_slice(format!("\"{n}\"").as_bytes()),
            (None, Some(text)) => {
                // The text is already escaped.
                out.extend_from_slice(format!("\"{}:", self.trace).as_bytes());
                out.extend_from_slice(text.as_bytes());
                out.push(b'"');
            }
            (None, None) => push_string(&format!("{}:{json}", self.trace), out),
        }
    }

    /// Appends an `id2`. Its local ids are scoped to one process, so they are already unique.
    pub fn id2(&self, json: &str, out: &mut Vec<u8>) {
        if !json.starts_with('{') {
            return out.extend_from_slice(json.as_bytes());
        }
        out.push(b'{');
        for (at, (key, value)) in members(json).enumerate() {
            out.extend_from_slice(if at == 0 { b"\"" } else { b",\"" });
            out.extend_from_slice(key.as_bytes());
            out.extend_from_slice(b"\":");
            if key == "global" {
                self.id(value, out)
            } else {
                out.extend_from_slice(value.as_bytes())
            }
        }
        out.push(b'}');
    }

    /// Appends args after adding this trace's offset to the ids that link its events.
    pub fn args(&self, args: &str, out: &mut Vec<u8>) {
        if self.links == 0 || !args.starts_with('{') || !LINKS.iter().any(|key| args.contains(key))
        {
            return out.extend_from_slice(args.as_bytes());
        }
        out.push(b'{');
        for (at, (key, value)) in members(args).enumerate() {
            out.extend_from_slice(if at == 0 { b"\"" } else { b",\"" });
            out.extend_from_slice(key.as_bytes());
            out.extend_from_slice(b"\":");
            let bare = value.strip_prefix('"').and_then(|t| t.strip_suffix('"')).unwrap_or(value);
            // The values 0, negative numbers and 0xffffffff mean "no id".
            let number = bare
                .parse::<i64>()
                .ok()
                .filter(|n| *n > 0 && *n != 0xffff_ffff && LINKS.contains(&key));
            match number.and_then(|n| n.checked_add(self.links)) {
                Some(n) => push_int(n, out),
                None => out.extend_from_slice(value.as_bytes()),
            }
        }
        out.push(b'}');
    }
}

/// Parses a numeric id: decimal, or hexadecimal after 0x.
pub fn id_number(text: &str) -> Option<i64> {
    let n = match text.strip_prefix("0x") {
        Some(hex) if !hex.is_empty() && !hex.starts_with('+') => {
            i64::from_str_radix(hex, 16).ok()?
        }
        Some(_) => return None,
        None if text.starts_with('+') => return None,
        None => text.parse().ok()?,
    };
    // Adding the offset to a negative id could give an id of another trace.
    (n >= 0).then_some(n)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(f: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        f(&mut out);
        String::from_utf8(out).expect("UTF-8")
    }

    #[test]
    fn an_id_keeps_its_form() {
        let merge = Merge { trace: 1, ids: Some(100), links: 1000, ..Merge::default() };
        for (id, want) in [
            ("7", "107"),
            ("\"7\"", "\"107\""),
            ("\"0x1f\"", "\"0x83\""),
            ("\"a\\\"b\"", "\"1:a\\\"b\""),
            ("-3", "\"1:-3\""),
            ("1.5", "\"1:1.5\""),
        ] {
            assert_eq!(made(|out| merge.id(id, out)), want);
        }
        assert_eq!(made(|out| merge.id("9223372036854775807", out)), "\"1:9223372036854775807\"");
        assert_eq!(
            made(|out| merge.id2(r#"{"global":"0x1","local":5}"#, out)),
            r#"{"global":"0x65","local":5}"#
        );
        assert_eq!(made(|out| merge.id2("null", out)), "null");
        let far = Merge { trace: 2, ids: None, ..Merge::default() };
        assert_eq!(made(|out| far.id("7", out)), "\"2:7\"");
    }

    #[test]
    fn links_in_args_get_the_offset() {
        let merge = Merge { links: 1000, ..Merge::default() };
        let rest =
            r#""stream":7,"x":{"correlation":5},"Sequence number":-1,"Python id":4294967295"#;
        let args = format!(r#"{{"correlation":5,"External id":"7",{rest}}}"#);
        let want = format!(r#"{{"correlation":1005,"External id":1007,{rest}}}"#);
        assert_eq!(made(|out| merge.args(&args, out)), want);
        assert_eq!(made(|out| merge.args("[\"correlation\"]", out)), "[\"correlation\"]");
    }

    #[test]
    fn a_process_gets_its_new_number_or_a_name_of_its_own() {
        let merge = Merge {
            trace: 3,
            pids: HashMap::from([(b"\"Spans\"".to_vec(), 12), (Vec::new(), 13)]),
            ..Merge::default()
        };
        let new = |old: &str| {
            let mut json = old.as_bytes().to_vec();
            merge.pid(&mut json);
            String::from_utf8(json).expect("UTF-8")
        };
        assert_eq!(
            (new("\"Spans\""), new(""), new("8")),
            ("12".into(), "13".into(), "\"3:8\"".into())
        );
    }
}
