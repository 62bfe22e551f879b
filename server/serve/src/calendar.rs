//! Days of the calendar. PostgreSQL has dates of millions of years, and `chrono`, which Arrow uses,
//! ends at the year 262,142.

/// Days from 0000-03-01 to 1970-01-01.
const TO_1970: i64 = 719_468;
/// Days in 400 years, after which the calendar repeats.
const ERA: i64 = 146_097;

/// Year, month and day of a day since 1970-01-01. Years begin in March in the computation, so that
/// the leap day is the last of its year.
pub fn date(days: i64) -> (i64, i64, i64) {
    let shifted = days + TO_1970;
    let (era, of_era) = (shifted.div_euclid(ERA), shifted.rem_euclid(ERA));
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_index = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month_index + 2) / 5 + 1;
    let month = if month_index < 10 { month_index + 3 } else { month_index - 9 };
    (era * 400 + year_of_era + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::date;

    #[test]
    fn days_have_dates() {
        for (days, expected) in [
            (0, (1970, 1, 1)),
            (11_016, (2000, 2, 29)),
            (-1, (1969, 12, 31)),
            (20_780, (2026, 11, 23)),
            (-719_468, (0, 3, 1)),
        ] {
            assert_eq!(date(days), expected);
        }
    }
}
