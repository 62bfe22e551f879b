//! Finds the latest row at or before a time.

/// Calls `each` with every left row and the last right row that is not later. Both lists must be in
/// the order of time. Among right rows with the same time, the last one is used.
pub fn asof(left: &[(i64, u32)], right: &[(i64, u32)], mut each: impl FnMut(u32, Option<u32>)) {
    let mut next = 0;
    for (time, row) in left {
        while right.get(next).is_some_and(|(t, _)| t <= time) {
            next += 1;
        }
        each(*row, next.checked_sub(1).map(|last| right[last].1));
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn each_left_row_gets_the_latest_row_that_is_not_later(left in vec(GRID, 0..10), right in vec(GRID, 0..10)) {
            let numbered = |times: &[i64]| {
                let mut rows: Vec<(i64, u32)> =
                    times.iter().enumerate().map(|(i, t)| (*t, i as u32)).collect();
                rows.sort();
                rows
            };
            let mut found = Vec::new();
            asof(&numbered(&left), &numbered(&right), |l, r| found.push((l, r)));
            found.sort();
            let latest = |t: i64| {
                right
                    .iter()
                    .enumerate()
                    .filter(|(_, r)| **r <= t)
                    .max_by_key(|(i, r)| (**r, *i))
                    .map(|(i, _)| i as u32)
            };
            let wanted: Vec<(u32, Option<u32>)> =
                left.iter().enumerate().map(|(i, t)| (i as u32, latest(*t))).collect();
            prop_assert_eq!(found, wanted);
        }
    }
}
