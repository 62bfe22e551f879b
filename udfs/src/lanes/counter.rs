//! Values over time, and what a picture of them shows.

/// A series of values in the order of time. A value holds until the next one.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Counter {
    /// Times in nanoseconds.
    pub times: Vec<i64>,
    /// Values.
    pub values: Vec<f64>,
}

/// The values of one column of a picture.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Range {
    /// The time of the first value of the column, in nanoseconds.
    pub at: i64,
    /// The least value.
    pub min: f64,
    /// The largest value.
    pub max: f64,
    /// The last value.
    pub last: f64,
}

impl Counter {
    /// The ranges of the columns from `start` to `end` that have values. Columns have `step`
    /// nanoseconds, and column 0 begins at time 0. The value before `start` comes first, because it
    /// holds there.
    pub fn ranges(&self, start: i64, end: i64, step: i64) -> Vec<Range> {
        let step = step.max(1);
        let first = self.times.partition_point(|t| *t < start).saturating_sub(1);
        let last = self.times.partition_point(|t| *t < end);
        let mut ranges: Vec<Range> = Vec::new();
        let mut column = None;
        for at in first..last {
            let (time, value) = (self.times[at], self.values[at]);
            let of_this = Some((time < start, time.div_euclid(step)));
            match ranges.last_mut().filter(|_| column == of_this) {
                Some(range) => {
                    range.min = range.min.min(value);
                    range.max = range.max.max(value);
                    range.last = value;
                }
                None => ranges.push(Range { at: time, min: value, max: value, last: value }),
            }
            column = of_this;
        }
        ranges
    }
}
