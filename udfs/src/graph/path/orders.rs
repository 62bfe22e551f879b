//! What was queued after what: waits of queues and calls for recorded events, in the order in which
//! the host asked for them.

use std::collections::{BTreeMap, BTreeSet};

use datafusion_common::HashMap;

use super::model::{Model, NONE, Role};

/// A request of the host.
#[derive(Debug, Clone, Copy)]
pub struct Order {
    /// Time of the request.
    pub at: i64,
    /// Number of the action, see [`Action`].
    pub action: i64,
    /// The call of the request.
    pub call: Option<i64>,
    /// The queue.
    pub lane: Option<i64>,
    /// The event.
    pub key: Option<i64>,
    /// The domain.
    pub domain: i64,
}

/// The actions in the order in which they take place at equal times in one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Action {
    /// Device work is put into its queue.
    Start(u32),
    /// An event is recorded in a queue.
    Record { lane: i64, key: i64 },
    /// A queue waits for an event.
    Wait { lane: i64, key: i64 },
    /// A call waits for an event.
    JoinEvent { call: u32, key: i64 },
    /// A call waits for a queue.
    JoinQueue { call: u32, lane: i64 },
    /// A call waits for all queues.
    JoinAll { call: u32 },
}

/// Sources of waits: device work that had to end first.
#[derive(Debug, Default)]
pub struct Orders {
    /// By device work that waited for other queues.
    pub of_work: HashMap<u32, Vec<u32>>,
    /// By calls that waited.
    pub of_calls: HashMap<u32, Vec<u32>>,
    /// Domains whose waits between queues are known. In others they are inferred.
    known: BTreeSet<u32>,
}

impl Orders {
    /// Follows all requests in the order of their times.
    pub fn new(model: &Model, given: Vec<Order>) -> Self {
        let known: BTreeSet<u32> = given
            .iter()
            .filter(|order| (0..=4).contains(&order.action))
            .filter_map(|order| model.domain(order.domain))
            .collect();
        // At equal times, which whole microseconds often are, the order of the calls decides.
        let mut actions: Vec<(i64, i64, Action)> = given
            .iter()
            .filter_map(|o| Some((o.at, o.call.unwrap_or(i64::MIN), action(o, model)?)))
            .collect();
        if actions.is_empty() {
            return Self { known, ..Self::default() };
        }
        for at in model.positions() {
            let activity = model.activity(at);
            if activity.role == Role::Device {
                let from = match activity.above {
                    NONE => activity,
                    call => model.activity(call),
                };
                actions.push((from.start, from.id, Action::Start(at)));
            }
        }
        actions.sort_unstable();
        let mut queues = Queues::default();
        let mut found = Self { known, ..Self::default() };
        for (_, _, action) in actions {
            match action {
                Action::Start(at) => {
                    let lane = &model.lanes[model.activity(at).lane as usize];
                    let queue = queues.of(lane.id);
                    queue.domain = lane.domain;
                    let waits = std::mem::take(&mut queue.waits);
                    queue.last = Some(at);
                    if !waits.is_empty() {
                        found.of_work.insert(at, waits);
                    }
                }
                Action::Record { lane, key } => {
                    let sources = queues.of(lane).sources();
                    queues.events.insert(key, sources);
                }
                Action::Wait { lane, key } => {
                    let sources = queues.events.get(&key).cloned().unwrap_or_default();
                    let waits = &mut queues.of(lane).waits;
                    for source in sources {
                        add(waits, source, model);
                    }
                }
                Action::JoinEvent { call, key } => {
                    let sources = queues.events.get(&key).cloned().unwrap_or_default();
                    found.of_calls.insert(call, sources);
                }
                Action::JoinQueue { call, lane } => {
                    found.of_calls.insert(call, queues.of(lane).sources());
                }
                Action::JoinAll { call } => {
                    let domain = model.domain_of(call);
                    let own = queues.by_lane.values().filter(|queue| queue.domain == domain);
                    let sources = own.flat_map(Queue::sources).collect();
                    found.of_calls.insert(call, sources);
                }
            }
        }
        found
    }

    /// Whether waits between the queues of a domain are known.
    pub fn are_known(&self, domain: u32) -> bool {
        self.known.contains(&domain)
    }
}

fn action(order: &Order, model: &Model) -> Option<Action> {
    let call = || model.find(order.call?);
    Some(match order.action {
        0 => Action::Record { lane: order.lane?, key: order.key? },
        1 => Action::Wait { lane: order.lane?, key: order.key? },
        2 => Action::JoinEvent { call: call()?, key: order.key? },
        3 => Action::JoinQueue { call: call()?, lane: order.lane? },
        4 => Action::JoinAll { call: call()? },
        _ => return None,
    })
}

/// Adds a source. Of each queue only the latest counts.
fn add(sources: &mut Vec<u32>, source: u32, model: &Model) {
    let lane = model.activity(source).lane;
    match sources.iter_mut().find(|known| model.activity(**known).lane == lane) {
        Some(known) => *known = (*known).max(source),
        None => sources.push(source),
    }
}

#[derive(Default)]
struct Queues {
    by_lane: BTreeMap<i64, Queue>,
    events: HashMap<i64, Vec<u32>>,
}

impl Queues {
    fn of(&mut self, lane: i64) -> &mut Queue {
        self.by_lane.entry(lane).or_default()
    }
}

#[derive(Default)]
struct Queue {
    last: Option<u32>,
    /// The domain of its work.
    domain: u32,
    /// What the next work of the queue has to wait for.
    waits: Vec<u32>,
}

impl Queue {
    /// What must end before an event that is recorded now.
    fn sources(&self) -> Vec<u32> {
        self.last.into_iter().chain(self.waits.iter().copied()).collect()
    }
}
