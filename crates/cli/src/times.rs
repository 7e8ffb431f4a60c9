//! Times and spans as people read them.

use jiff::tz::TimeZone;
use model::{Span, Timestamp};

use crate::{screen::Screen, table::Cell};

/// The time of day.
pub(crate) fn clock(time: Timestamp, zone: &TimeZone) -> String {
    time.to_zoned_datetime(zone.clone()).strftime("%H:%M:%S").to_string()
}

/// Date, time of day and offset.
pub(crate) fn absolute(time: Timestamp, zone: &TimeZone) -> String {
    time.to_zoned_datetime(zone.clone()).strftime("%Y-%m-%d %H:%M:%S%:z").to_string()
}

/// How long ago, in one unit.
pub(crate) fn ago(time: Timestamp, now: Timestamp) -> String {
    let seconds = Span::between(time, now).as_millis() / 1_000;
    match seconds {
        0..60 => format!("{seconds}s ago"),
        60..3_600 => format!("{}m ago", seconds / 60),
        3_600..86_400 => format!("{}h ago", seconds / 3_600),
        86_400.. => format!("{}d ago", seconds / 86_400),
    }
}

/// How long, in at most two units.
pub(crate) fn length(span: Span) -> String {
    let millis = span.as_millis();
    match millis {
        0..10_000 => format!("{:.1}s", millis as f64 / 1_000.0),
        10_000..60_000 => format!("{}s", millis / 1_000),
        60_000..3_600_000 => format!("{}m {:02}s", millis / 60_000, millis / 1_000 % 60),
        3_600_000.. => format!("{}h {:02}m", millis / 3_600_000, millis / 60_000 % 60),
    }
}

/// How long between two instants, where both are known.
pub(crate) fn between(start: Option<Timestamp>, end: Option<Timestamp>) -> String {
    match (start, end) {
        (Some(start), Some(end)) => length(Span::between(start, end)),
        (_, None) | (None, _) => String::new(),
    }
}

/// Relative and absolute, for a field.
pub(crate) fn both(time: Option<Timestamp>, now: Timestamp, screen: &Screen) -> Cell {
    time.map_or_else(Cell::default, |time| format!("{} ({})", absolute(time, screen.zone()), ago(time, now)).into())
}

/// A count with a comma after every three digits.
pub(crate) fn count(number: impl Into<u64>) -> String {
    let digits = number.into().to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 unit`, `2,000 units`.
pub(crate) fn counted(number: impl Into<u64>, one: &str) -> String {
    let number = number.into();
    format!("{} {one}{}", count(number), if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_read_well_from_milliseconds_to_days() {
        let at = |second| Timestamp::from_second(second).unwrap();
        assert_eq!(ago(at(100), at(90)), "0s ago");
        assert_eq!(ago(at(0), at(7_300)), "2h ago");
        assert_eq!(absolute(at(0), &TimeZone::get("Asia/Kolkata").unwrap()), "1970-01-01 05:30:00+05:30");
        let lengths = [0, 940, 61_000, 3_725_000].map(|millis| length(Span::from_millis(millis)));
        assert_eq!(lengths, ["0.0s", "0.9s", "1m 01s", "1h 02m"]);
        assert_eq!(counted(1_234_567_u64, "row"), "1,234,567 rows");
    }
}
