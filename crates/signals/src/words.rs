//! Numbers as a person writes them.

use std::time::Duration;

/// A whole number with a comma after every three digits.
pub(crate) fn count(value: impl Into<i128>) -> String {
    let value: i128 = value.into();
    let digits = value.unsigned_abs().to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3 + 1);
    if value < 0 {
        text.push('-');
    }
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number without noise: at most six digits after the point.
pub(crate) fn number(value: f64) -> String {
    if value != 0.0 && (value.abs() < 1e-4 || value.abs() >= 1e15) {
        return format!("{value:e}");
    }
    let text = format!("{value:.6}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// A share rounded to the six digits of the document.
pub(crate) fn rounded(share: f64) -> f64 {
    (share * 1e6).round() / 1e6
}

/// A share as a percentage. It never rounds to 0 % or 100 % what is neither.
pub(crate) fn percent(share: f64) -> String {
    let hundredths = share * 100.0;
    let text = format!("{hundredths:.1}");
    match text.trim_end_matches(".0") {
        "100" if hundredths < 100.0 => "over 99.9%".to_owned(),
        "0" | "-0" if hundredths > 0.0 => "under 0.1%".to_owned(),
        short => format!("{short}%"),
    }
}

/// `1 row`, `2,000 rows`.
pub(crate) fn counted(value: u64, one: &str) -> String {
    if value == 1 { format!("1 {one}") } else { format!("{} {one}s", count(value)) }
}

/// A size in the largest binary unit that is at least one.
pub(crate) fn bytes(value: u64) -> String {
    const UNITS: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];
    if value < 1024 {
        return counted(value, "byte");
    }
    let mut step = 0;
    let mut rest = value;
    while rest >= 1024 * 1024 && step + 1 < UNITS.len() {
        rest /= 1024;
        step += 1;
    }
    let shown = rest as f64 / 1024.0;
    format!("{shown:.1} {}", UNITS[step])
}

/// A span in its two largest units: `26h`, `3d 4h`, `90s` as `1m 30s`.
pub(crate) fn span(value: Duration) -> String {
    let seconds = value.as_secs();
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60);
    let parts: [(u64, &str); 4] = if days >= 2 {
        [(days, "d"), (hours, "h"), (0, "m"), (0, "s")]
    } else if seconds >= 3600 {
        [(0, "d"), (seconds / 3600, "h"), (minutes, "m"), (0, "s")]
    } else {
        [(0, "d"), (0, "h"), (minutes, "m"), (seconds % 60, "s")]
    };
    let words: Vec<String> = parts.iter().filter(|(n, _)| *n > 0).map(|(n, unit)| format!("{n}{unit}")).collect();
    if words.is_empty() { "0s".to_owned() } else { words.join(" ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_as_a_person_writes_them() {
        assert_eq!(count(0_u64), "0");
        assert_eq!(count(-1_234_567_i64), "-1,234,567");
        assert_eq!(count(999_u64), "999");
        assert_eq!(number(0.25), "0.25");
        assert_eq!(number(-0.0), "0");
        assert_eq!(number(100.0), "100");
        assert_eq!(counted(1, "row"), "1 row");
        assert_eq!(counted(1024, "row"), "1,024 rows");
        assert_eq!(bytes(1023), "1023 bytes".replace("1023", "1,023"));
        assert_eq!(bytes(1536), "1.5 KiB");
        assert_eq!(bytes(5 << 30), "5.0 GiB");
    }

    #[test]
    fn a_percentage_never_hides_that_something_is_missing() {
        assert_eq!(percent(1.0), "100%");
        assert_eq!(percent(0.99999), "over 99.9%");
        assert_eq!(percent(0.00001), "under 0.1%");
        assert_eq!(percent(0.0), "0%");
        assert_eq!(percent(0.988), "98.8%");
    }

    #[test]
    fn spans_show_two_units() {
        assert_eq!(span(Duration::from_secs(26 * 3600)), "26h");
        assert_eq!(span(Duration::from_secs(90)), "1m 30s");
        assert_eq!(span(Duration::from_secs(76 * 3600 + 59)), "3d 4h");
        assert_eq!(span(Duration::ZERO), "0s");
    }
}
