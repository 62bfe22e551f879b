//! Properties of the trace and its devices, from the values of planes.

use super::lines::PlaneKind;
use super::stats::{Stat, StatNames, StatValue};
use crate::typed::{DeviceFacts, JsonText, TypedFacts};
use crate::wire::UnknownFields;

/// Line stamps from this value on are Unix times; below it they count from the profile's start.
const EPOCH: i64 = 1_000_000_000_000_000;
/// Maximum number of program names that are kept.
const MAX_PROGRAMS: usize = 10_000;
/// Maximum number of errors, warnings and hosts each that are kept.
const MAX_TEXTS: usize = 1_000;

/// Properties that were found so far.
#[derive(Default)]
pub struct SpaceFacts {
    hosts: Vec<String>,
    errors: Vec<String>,
    warnings: Vec<String>,
    /// Unix time of the profile's start, ns.
    start: Option<i64>,
    /// The largest stamp of a line that has events, ns.
    max_stamp: i64,
    is_jax: bool,
    planes: Vec<String>,
    programs: Vec<String>,
    devices: Vec<DeviceFacts>,
    /// Fields that are not read.
    pub unknown: UnknownFields,
}

/// What is known of a plane.
pub struct PlaneFacts<'a> {
    /// Name.
    pub name: &'a str,
    /// Number in the file.
    pub id: i64,
    /// Kind.
    pub kind: PlaneKind,
    /// Number of lines.
    pub lines: usize,
    /// Number of events.
    pub events: u64,
    /// Number of entries of the table of events.
    pub event_names: usize,
    /// Number of entries of the table of values.
    pub stat_names: usize,
    /// Names of values.
    pub names: &'a StatNames,
    /// Values of the plane.
    pub stats: &'a [Stat<'a>],
}

impl SpaceFacts {
    /// Adds a text of the file: an error (2), a warning (3) or the name of a host (4).
    pub fn text(&mut self, number: u32, text: String) {
        let list = match number {
            2 => &mut self.errors,
            3 => &mut self.warnings,
            _ => &mut self.hosts,
        };
        if list.len() < MAX_TEXTS {
            list.push(text);
        }
    }

    /// Notes the stamp of a line that has events.
    pub fn stamp(&mut self, ns: i64) {
        self.max_stamp = self.max_stamp.max(ns);
    }

    /// Adds the name of a program.
    pub fn program(&mut self, name: &str) {
        if self.programs.len() < MAX_PROGRAMS {
            self.programs.push(name.to_owned());
        }
    }

    /// Whether a plane of this device was added.
    pub fn has_device(&self, device: i64) -> bool {
        self.devices.iter().any(|known| known.device == device)
    }

    /// Adds a plane.
    pub fn plane(&mut self, plane: &PlaneFacts<'_>) {
        let stat = |name: &str| {
            let is_named = |s: &&Stat<'_>| plane.names.get(s.id).is_some_and(|n| *n.name == *name);
            plane.stats.iter().find(is_named)
        };
        let int = |name: &str| stat(name).and_then(Stat::int);
        let text =
            |name: &str| stat(name).and_then(|s| plane.names.text_of(&s.value)).map(str::to_owned);
        let mut json = JsonText::default();
        json.open(b'{');
        let mut names = Vec::new();
        plane.names.resolve(plane.stats, &mut names);
        plane.names.members(plane.stats, &names, &mut json, |_, _| {});
        json.close(b'}');
        let stats = json.take();
        self.is_jax |= stat("jax_version").is_some() || stat("jaxlib_version").is_some();
        if plane.kind == PlaneKind::Environment {
            self.start = int("profile_start_time").filter(|ns| *ns > 0).or(self.start);
        }
        if let Some(device) = plane.kind.device() {
            let is_known = |value: &StatValue<'_>| !matches!(value, StatValue::None);
            self.devices.push(DeviceFacts {
                device,
                name: text("device_type_string").or_else(|| text("device_vendor")),
                total_memory_bytes: int("memory_size"),
                compute: (int("compute_cap_major"), int("compute_cap_minor")),
                core_count: int("core_count"),
                metadata: if plane.stats.iter().any(|s| is_known(&s.value)) {
                    stats.clone()
                } else {
                    "{}".to_owned()
                },
            });
        }
        json.open(b'{');
        json.key("name");
        json.text(plane.name);
        for (key, value) in [
            ("id", plane.id),
            ("lines", plane.lines as i64),
            ("events", plane.events as i64),
            ("event_metadata", plane.event_names as i64),
            ("stat_metadata", plane.stat_names as i64),
        ] {
            json.key(key);
            json.int(value);
        }
        json.key("stats");
        json.ready(stats.as_bytes());
        json.close(b'}');
        self.planes.push(json.take());
    }

    /// Sets the properties of the trace.
    pub fn finish(self, facts: &mut TypedFacts) {
        facts.format = "xplane";
        facts.framework = self.is_jax.then_some("jax");
        facts.host = self.hosts.iter().find(|host| !host.is_empty()).cloned();
        facts.base_time_ns = if self.max_stamp >= EPOCH { Some(0) } else { self.start };
        facts.devices = self.devices;
        facts.devices.sort_by_key(|d| d.device);
        let mut json = JsonText::default();
        json.open(b'{');
        for (key, list) in [
            ("hostnames", &self.hosts),
            ("errors", &self.errors),
            ("warnings", &self.warnings),
            ("programs", &self.programs),
        ] {
            json.key(key);
            json.open(b'[');
            list.iter().for_each(|text| json.text(text));
            json.close(b']');
        }
        json.key("planes");
        json.open(b'[');
        self.planes.iter().for_each(|plane| json.ready(plane.as_bytes()));
        json.close(b']');
        json.close(b'}');
        facts.metadata = json.take();
    }
}
