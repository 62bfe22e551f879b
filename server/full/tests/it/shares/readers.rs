//! Readers while traces are published.

use std::time::Duration;

use super::{done, program, rounds, text};
use crate::support::moto::bucket;
use crate::support::{Finished, small_trace};

const EVENTS: usize = 40;
const TRACES: usize = 20;
/// The number of stores after which a reader must have seen one that was partly written.
const MAX_ROUNDS: usize = 20;

/// `server/scripts/read-while-writing` reads 1,000 times.
#[test]
fn readers_see_whole_traces_only() {
    let Some(bucket) = bucket() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    for number in 0..TRACES {
        let trace = small_trace(number, EVENTS);
        std::fs::write(at.join(format!("rank{number}.json")), trace).expect("a trace");
    }
    let inputs: Vec<String> =
        (0..TRACES).map(|n| text(&at.join(format!("rank{n}.json"))).to_owned()).collect();
    let sql = "SELECT count(*), (SELECT count(*) FROM traces) FROM events";
    let (mut reads, mut sizes) = (0, std::collections::BTreeSet::new());
    for round in 0.. {
        let url = bucket.url(&format!("run{round}"));
        done(at, &bucket, &["ingest", "-q", &inputs[0], "-o", &url]);
        let mut writers: Vec<_> = (0..2)
            .map(|share| {
                let share = format!("{share}/2");
                let call = ["ingest", "-q", "-o", &url, "--share", &share, "--threads", "1"];
                program(at, &bucket, &call).args(&inputs).start()
            })
            .collect();
        while writers.iter_mut().any(|writer| writer.is_running()) {
            let csv = done(at, &bucket, &["query", &url, "--format", "csv", "-c", sql]);
            let row = csv.lines().nth(1).expect("a row");
            let (events, traces) = row.split_once(',').expect("two numbers");
            let number = |text: &str| text.parse::<usize>().expect("a number");
            assert_eq!(number(events), number(traces) * EVENTS, "{csv}");
            sizes.insert(number(traces));
            reads += 1;
        }
        for writer in &mut writers {
            Finished::of(writer, Duration::from_secs(60)).success();
        }
        // One trace is there before the writers begin.
        let saw_part = sizes.range(2..TRACES).next().is_some();
        if reads >= rounds(4) && saw_part {
            break;
        }
        assert!(round < MAX_ROUNDS, "no store was seen while it was written: {sizes:?}");
    }
    println!("{reads} reads, of stores with {sizes:?} traces");
}
