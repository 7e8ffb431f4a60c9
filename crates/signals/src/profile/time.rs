//! ISO 8601 dates and times, as data files write them.

use super::cell::Value;

const MICROS: i64 = 1_000_000;
const DAY: i64 = 86_400 * MICROS;

/// Reads `YYYY-MM-DD`, or that with `T` or a blank and `hh:mm[:ss[.fraction]]` and maybe `Z` or `±hh[[:]mm]`. Digits beyond
/// microseconds are dropped.
pub(super) fn parse(text: &[u8]) -> Option<Value> {
    let (date, rest) = text.split_first_chunk::<10>()?;
    if date[4] != b'-' || date[7] != b'-' {
        return None;
    }
    let year = two(&date[0..2])? * 100 + two(&date[2..4])?;
    let midnight = days(year, two(&date[5..7])?, two(&date[8..10])?)? * DAY;
    match rest {
        [] => Some(Value::Date(midnight)),
        [b'T' | b't' | b' ', clock @ ..] => {
            let (micros, zone) = clock_time(clock)?;
            let offset = offset(zone)?;
            Some(Value::Timestamp { micros: midnight + micros - offset.unwrap_or(0), zoned: offset.is_some() })
        }
        _ => None,
    }
}

/// Unix time in a declared column: seconds, milliseconds, microseconds or nanoseconds, told apart by size.
pub(super) fn from_epoch(number: f64) -> Option<i64> {
    let micros = match number.abs() {
        size if size < 1e11 => number * 1e6,
        size if size < 1e14 => number * 1e3,
        size if size < 1e17 => number,
        size if size < 1e20 => number / 1e3,
        _ => return None,
    };
    Some(micros.round() as i64)
}

/// Microseconds since midnight, and what follows the clock time.
fn clock_time(text: &[u8]) -> Option<(i64, &[u8])> {
    let [h1, h2, b':', m1, m2, rest @ ..] = text else { return None };
    let (hours, minutes) = (two(&[*h1, *h2])?, two(&[*m1, *m2])?);
    if hours > 23 || minutes > 59 {
        return None;
    }
    let whole = (hours * 3600 + minutes * 60) * MICROS;
    let [b':', s1, s2, rest @ ..] = rest else { return Some((whole, rest)) };
    let seconds = two(&[*s1, *s2])?;
    // 60 is a leap second.
    if seconds > 60 {
        return None;
    }
    let whole = whole + seconds * MICROS;
    let [b'.' | b',', rest @ ..] = rest else { return Some((whole, rest)) };
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if digits == 0 {
        return None;
    }
    let padded = rest[..digits].iter().map(|byte| i64::from(byte - b'0')).chain(std::iter::repeat(0)).take(6);
    Some((whole + padded.fold(0, |sum, digit| sum * 10 + digit), &rest[digits..]))
}

/// Microseconds east of UTC; `Some(None)` when no zone is given, `None` when the text is not a zone.
fn offset(text: &[u8]) -> Option<Option<i64>> {
    let (sign, hours, minutes) = match text {
        [] => return Some(None),
        [b'Z' | b'z'] => return Some(Some(0)),
        [sign, h1, h2] => (sign, two(&[*h1, *h2])?, 0),
        [sign, h1, h2, b':', m1, m2] | [sign, h1, h2, m1, m2] => (sign, two(&[*h1, *h2])?, two(&[*m1, *m2])?),
        _ => return None,
    };
    if hours > 18 || minutes > 59 {
        return None;
    }
    let east = (hours * 60 + minutes) * 60 * MICROS;
    match sign {
        b'+' => Some(Some(east)),
        b'-' => Some(Some(-east)),
        _ => None,
    }
}

fn two(text: &[u8]) -> Option<i64> {
    let [tens, ones] = text else { return None };
    let (tens, ones) = (tens.wrapping_sub(b'0'), ones.wrapping_sub(b'0'));
    (tens < 10 && ones < 10).then(|| i64::from(tens * 10 + ones))
}

/// Days from 1970-01-01 in the Gregorian calendar; `None` for a day that does not exist.
fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let length = match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        _ => return None,
    };
    if !(1..=length).contains(&day) {
        return None;
    }
    // The year begins in March here, so that a leap day is its last.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * month + 2) / 5 + day - 1;
    Some(era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + day_of_year - 719_468)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn instant(text: &str) -> Option<i64> {
        match parse(text.as_bytes())? {
            Value::Date(micros) | Value::Timestamp { micros, .. } => Some(micros),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn every_day_of_four_centuries_agrees_with_the_calendar() {
        let mut date = jiff::civil::date(1799, 12, 30);
        while date.year() < 2201 {
            let midnight: jiff::Timestamp = format!("{date}T00:00:00Z").parse().unwrap();
            let expected = midnight.as_microsecond();
            assert_eq!(instant(&date.to_string()), Some(expected), "{date}");
            date = date.tomorrow().unwrap();
        }
    }

    #[test]
    fn one_instant_in_many_spellings() {
        for text in [
            "2026-03-29T01:00:00Z",
            "2026-03-29 01:00",
            "2026-03-29T01:00:00.000000000z",
            "2026-03-29T03:00:00+02:00",
            "2026-03-28T20:00:00-0500",
            "2026-03-29T06:30:00,0+05:30",
            "2026-03-29T02:00:00+01",
        ] {
            assert_eq!(instant(text), Some(1_774_746_000_000_000), "{text}");
        }
        assert_eq!(parse(b"2026-03-29 01:00"), Some(Value::Timestamp { micros: 1_774_746_000_000_000, zoned: false }));
        assert_eq!(instant("1970-01-01T00:00:00.123456789Z"), Some(123_456));
    }

    #[test]
    fn what_is_no_time_is_not_taken_for_one() {
        for text in [
            "2026-02-30",
            "2026-13-01",
            "2026-00-10",
            "2026-1-1",
            "20260101",
            "2026-01-01T",
            "2026-01-01T24:00",
            "2026-01-01T1:00",
            "2026-01-01T10:61",
            "2026-01-01T10:00:00.Z",
            "2026-01-01T10:00 Z",
            "2026-01-01T10:00+2",
            "2026-01-01x",
            "1900-02-29",
        ] {
            assert_eq!(instant(text), None, "{text}");
        }
    }

    #[test]
    fn unix_time_is_told_apart_by_its_size() {
        for number in [1_774_746_000.0, 1_774_746_000_000.0, 1_774_746_000_000_000.0, 1.774_746e18] {
            assert_eq!(from_epoch(number), Some(1_774_746_000_000_000));
        }
        assert_eq!(from_epoch(1e21), None);
    }
}
