//! The track, the phase and the time of track events.

use super::{EventWriter, Target};
use crate::issues::Code;
use crate::perfetto::sequence::Sequence;
use crate::perfetto::track_event::{Legacy, TrackEvent};
use crate::perfetto::tracks::Resolved;
use crate::trace::*;
use crate::typed::TypedElements;
use crate::wire::text;

impl EventWriter {
    /// Determines the track and the phase of an event.
    #[allow(clippy::too_many_arguments, reason = "the parts of one event")]
    pub(super) fn target(
        &mut self,
        event: &TrackEvent<'_>,
        legacy: &Legacy<'_>,
        resolved: Resolved,
        pid: Option<i64>,
        (_, at): (i64, u64),
        name: &str,
        elements: &mut TypedElements<'_>,
    ) -> Target {
        let mut target = Target {
            ph: event.phase().unwrap_or(b'i'),
            dur: NO_TIME,
            track: resolved.track,
            pid: resolved.pid,
            tid: resolved.tid,
            stream: resolved.stream,
            link: NO_LINK,
            flags: 0,
        };
        if event.phase().is_none() && event.kind != 5 {
            elements.issue(Code::UnknownPhase, at, b"");
        }
        let process = pid.map_or(Id::None, Id::Int);
        match (target.ph, legacy.phase) {
            (b'X', _) => {
                target.dur = match legacy.duration_us.checked_mul(1000) {
                    Some(dur) => dur,
                    None => {
                        elements.issue(Code::EndOverflow, at, b"");
                        NO_TIME
                    }
                };
                if legacy.duration_us < 0 {
                    elements.issue(Code::NegativeDuration, at, b"");
                }
            }
            (b'b' | b'e' | b'n' | b'S' | b'T' | b'p' | b'F', phase) => {
                target.ph = match phase {
                    b'S' => b'b',
                    b'F' => b'e',
                    b'T' | b'p' => b'n',
                    other => other,
                };
                if target.ph != phase {
                    self.args.key("legacy_event.phase");
                    self.args.text(&char::from(phase).to_string());
                }
                let Some(id) = legacy.id() else {
                    elements.issue(Code::AsyncNoId, at, b"");
                    return target;
                };
                let is_local = legacy.unscoped_id.or(legacy.global_id).is_none();
                let is_old = matches!(phase, b'S' | b'T' | b'p' | b'F');
                let scope = match legacy.id_scope {
                    Some(scope) => format!("{}:{}", self.category, text(scope)),
                    None if is_old => name.to_owned(),
                    None => self.category.clone(),
                };
                let cat = elements.short_text(&scope);
                let id = elements.short_text(&id.to_string());
                let pid = if is_local { process } else { Id::None };
                target.track = elements.track(Track::Async { pid, cat, id });
                let facts = elements.facts.tracks.entry(target.track).or_default();
                if facts.name.is_none() && !name.is_empty() {
                    facts.name = Some(name.to_owned());
                }
                (target.pid, target.tid) = (None, None);
            }
            (b'i' | b'I', b'i' | b'I') if matches!(legacy.instant_scope, 1 | 2) => {
                let of_process = legacy.instant_scope == 2;
                let (pid, name) = match of_process {
                    true => (process, "process instants"),
                    false => (Id::None, "global instants"),
                };
                let id = elements.short_text(name);
                target.track = elements.track(Track::Async { pid, cat: NO_TEXT, id });
                let facts = elements.facts.tracks.entry(target.track).or_default();
                facts.name = Some(name.to_owned());
                (target.pid, target.tid) = (pid.number(), None);
            }
            (b's' | b't' | b'f', _) => {
                match legacy.id().map(i64::try_from) {
                    Some(Ok(id)) => target.link = id,
                    Some(Err(_)) => {
                        let id = legacy.id().unwrap_or(0).to_string();
                        target.link = elements.short_text(&id).into();
                        target.flags |= TEXT_LINK;
                    }
                    None => elements.issue(Code::FlowNoId, at, b""),
                }
                if legacy.binds_enclosing {
                    target.flags |= BINDS_ENCLOSING;
                }
            }
            (0x21..0x7f, _) => {}
            _ => {
                elements.issue(Code::UnknownPhase, at, b"");
                target.ph = b'i';
            }
        }
        target
    }
}

/// Returns the time of an event, which may state its own, ns; `None` beyond 64 bits.
pub(super) fn own_time(
    event: &TrackEvent<'_>,
    sequence: &mut Sequence,
    ts: Option<i64>,
    monotonic: &mut impl FnMut(i64) -> Option<i64>,
) -> Option<i64> {
    let own = match (event.time_delta_us, event.time_us) {
        (Some(delta), _) => {
            let last = sequence.event_time.unwrap_or(0);
            let now = last.checked_add(delta.checked_mul(1000)?)?;
            sequence.event_time = Some(now);
            now
        }
        (None, Some(us)) => us.checked_mul(1000)?,
        _ => return ts,
    };
    Some(monotonic(own).unwrap_or(own))
}

/// Returns the process and thread of an event that names no track, if its sequence or the event
/// itself names them.
pub(super) fn thread_of(
    event: &TrackEvent<'_>,
    uuid: Option<u64>,
    legacy: &Legacy<'_>,
    sequence: &Sequence,
) -> Option<(i64, Option<i64>)> {
    if uuid.unwrap_or(0) != 0 {
        return None;
    }
    let may_fall_back = event.track.is_none() || event.kind == 0;
    let falls_back = (may_fall_back && sequence.thread.is_some())
        || legacy.pid.is_some()
        || (legacy.tid.is_some() && sequence.thread.is_some());
    if !falls_back {
        return None;
    }
    let of_sequence = sequence.thread;
    let pid = legacy.pid.or(of_sequence.map(|(pid, _)| pid))?;
    let own = of_sequence.filter(|_| legacy.pid.is_none()).map(|(_, tid)| tid);
    Some((pid, legacy.tid.or(own)))
}
