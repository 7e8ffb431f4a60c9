//! Moments and spans as the language writes them.

use jiff::{SignedDuration, Timestamp};

/// A moment in the ISO-8601 form that the language takes: date, `T`, time, optional fraction, and `Z` or an offset.
pub(crate) fn parse_timestamp(text: &str) -> Option<Timestamp> {
    let bytes = text.as_bytes();
    if bytes.get(10) != Some(&b'T') || bytes.len() < 20 {
        return None;
    }
    let zone_ok = text.ends_with('Z') || {
        let offset = text.get(text.len() - 6..)?.as_bytes();
        (offset[0] == b'+' || offset[0] == b'-') && offset[3] == b':'
    };
    if !zone_ok || bytes[19..].contains(&b'[') {
        return None;
    }
    text.parse().ok()
}

/// How the context object writes a moment: in UTC with milliseconds.
pub(crate) fn print_timestamp(moment: Timestamp) -> String {
    format!("{moment:.3}")
}

/// The moment `seconds` after `now`, as far as there is one.
pub(crate) fn after(now: Timestamp, seconds: f64) -> Timestamp {
    let span = SignedDuration::try_from_secs_f64(seconds).unwrap_or(SignedDuration::MAX);
    now.checked_add(span).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_extended_form_with_an_offset_is_a_timestamp() {
        for good in ["2016-12-05T21:29:29Z", "2016-12-05T21:29:29.123456789Z", "2016-12-05T21:29:29+01:00"] {
            assert!(parse_timestamp(good).is_some(), "{good}");
        }
        for bad in [
            "05-12-2016T21:29:29Z",
            "2016-12-05 21:29:29Z",
            "2016-13-05T21:29:29Z",
            "2016-12-05T25:29:29Z",
            "2016-12-05T21:29:29",
            "2016-12-05",
            "",
            "2016-12-05T21:29Z",
        ] {
            assert!(parse_timestamp(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn the_context_object_writes_milliseconds() {
        let moment = parse_timestamp("2016-12-05T21:29:29.123956789Z").unwrap();
        assert_eq!(print_timestamp(moment), "2016-12-05T21:29:29.123Z");
    }
}
