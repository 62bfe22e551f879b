//! Bounded answers: the first rows of each trace are kept, and the others become one remainder with
//! exact sums.

use std::collections::HashMap;

use serde_json::Value;

use super::answer::{Rest, trace_of};

/// Collects rows, which arrive in order of their weight within each trace.
pub struct BoundedRows {
    max_rows: usize,
    sums: Vec<usize>,
    rows: Vec<Vec<Value>>,
    counts: HashMap<String, usize>,
    rests: Vec<Rest>,
}

impl BoundedRows {
    /// Keeps `max_rows` rows of each trace. Over the other rows, the columns at `sums` are added
    /// up.
    pub fn new(max_rows: usize, sums: Vec<usize>) -> Self {
        Self { max_rows, sums, rows: Vec::new(), counts: HashMap::new(), rests: Vec::new() }
    }

    /// Starts from existing remainders.
    pub fn with(self, rests: Vec<Rest>) -> Self {
        Self { rests, ..self }
    }

    pub fn add(&mut self, row: Vec<Value>) {
        let trace = trace_of(&row).unwrap_or_default();
        if let Some(count) = self.counts.get_mut(trace) {
            *count += 1;
            if *count > self.max_rows {
                self.add_to_rest(&row);
                return;
            }
        } else {
            self.counts.insert(trace.to_owned(), 1);
        }
        self.rows.push(row);
    }

    fn add_to_rest(&mut self, row: &[Value]) {
        let trace = trace_of(row).unwrap_or_default();
        let at = match self.rests.iter().position(|r| r.trace_id == trace) {
            Some(at) => at,
            None => {
                let sums = self.sums.iter().map(|&at| (at, Value::Null)).collect();
                self.rests.push(Rest { trace_id: trace.to_owned(), rows: 0, sums });
                self.rests.len() - 1
            }
        };
        let rest = &mut self.rests[at];
        rest.rows += 1;
        for (at, sum) in &mut rest.sums {
            *sum = plus(sum, row.get(*at).unwrap_or(&Value::Null));
        }
    }

    pub fn finish(self) -> (Vec<Vec<Value>>, Vec<Rest>) {
        (self.rows, self.rests)
    }
}

/// The sum of two values. NULL counts as 0. Whole numbers stay exact and saturate at the limits of
/// 64 bits.
fn plus(a: &Value, b: &Value) -> Value {
    match (a, b) {
        (Value::Null, other) | (other, Value::Null) => other.clone(),
        _ => match (a.as_i64(), b.as_i64()) {
            (Some(a), Some(b)) => Value::from(a.saturating_add(b)),
            _ => Value::from(a.as_f64().unwrap_or(0.0) + b.as_f64().unwrap_or(0.0)),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn row(trace: &str, name: &str, ns: i64) -> Vec<Value> {
        vec![json!(trace), json!(name), json!(ns)]
    }

    #[test]
    fn the_rest_of_each_trace_is_exact() {
        let mut kept = BoundedRows::new(1, vec![2]);
        let rows = [
            row("a", "x", 1 << 60),
            row("b", "x", 5),
            row("a", "y", 3),
            row("a", "z", (1 << 60) + 1),
        ];
        rows.into_iter().for_each(|r| kept.add(r));
        let (rows, rests) = kept.finish();
        assert_eq!(rows.len(), 2);
        assert_eq!(
            rests,
            [Rest { trace_id: "a".into(), rows: 2, sums: vec![(2, json!((1i64 << 60) + 4))] }]
        );
    }

    #[test]
    fn a_rest_can_take_more_rows() {
        let mut kept = BoundedRows::new(1, vec![2]).with(vec![Rest {
            trace_id: "a".into(),
            rows: 2,
            sums: vec![(2, json!(10))],
        }]);
        kept.add(row("a", "x", 7));
        kept.add(row("a", "y", 3));
        assert_eq!(
            kept.finish().1,
            [Rest { trace_id: "a".into(), rows: 3, sums: vec![(2, json!(13))] }]
        );
    }

    #[test]
    fn null_adds_nothing() {
        assert_eq!(plus(&Value::Null, &json!(3)), json!(3));
        assert_eq!(plus(&json!(0.5), &json!(1)), json!(1.5));
    }
}
