//! What the text of one cell is.
//!
//! One rule for all formats: whole numbers of any width without leading zeros or plus, decimals, `true` and `false`, ISO
//! dates, ISO times; everything else is text. Blanks around a value do not count for its type.

use super::time;

/// The value of a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value {
    Int(i64),
    /// A whole number beyond 64 bits.
    BigInt,
    Float(f64),
    NonFinite(NonFinite),
    Bool,
    /// Microseconds of Unix time at its midnight in UTC.
    Date(i64),
    Timestamp {
        /// Microseconds of Unix time.
        micros: i64,
        /// Whether it had an offset; one without is read as UTC.
        zoned: bool,
    },
    Text(Look),
    List,
    Struct,
}

/// Numbers that are not finite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NonFinite {
    Nan,
    Infinite,
    /// Digits beyond the range of 64-bit floats.
    Overflow,
}

/// What a text resembles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    Plain,
    /// A number with leading zeros.
    LeadingZeros,
    /// Nothing, or nothing but blanks.
    Blank,
    /// A word for "no value".
    NullToken,
}

/// Most digits of a whole number; more are text.
const DIGITS: usize = 1000;
const TOKENS: [&[u8]; 9] = [b"na", b"n/a", b"#n/a", b"null", b"none", b"nil", b"\\n", b"-", b"--"];
const INFINITIES: [&[u8]; 2] = [b"inf", b"infinity"];
/// Powers of ten that a 64-bit float holds exactly.
const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21,
    1e22,
];

/// The value that the bytes of a cell stand for.
#[inline]
pub(super) fn classify(raw: &[u8]) -> Value {
    let text = trim(raw);
    let Some(first) = text.first() else { return Value::Text(Look::Blank) };
    match first {
        b'0'..=b'9' | b'.' => number_or_time(text),
        b'-' => negative(text),
        b't' | b'T' | b'f' | b'F' if is_bool(text) => Value::Bool,
        b'n' | b'N' | b'i' | b'I' | b'#' | b'\\' => word(text),
        _ => Value::Text(Look::Plain),
    }
}

/// The type of a text that came as a JSON string: a number in quotes stays text.
pub(super) fn classify_text(text: &[u8]) -> Value {
    match text.first() {
        None => Value::Text(Look::Blank),
        Some(b'0'..=b'9') => time::parse(text).unwrap_or(Value::Text(Look::Plain)),
        Some(b'n' | b'N' | b'#' | b'\\' | b'-') => match word(text) {
            Value::Text(look) => Value::Text(look),
            _ => Value::Text(Look::NullToken),
        },
        Some(b' ' | b'\t') if trim(text).is_empty() => Value::Text(Look::Blank),
        Some(_) => Value::Text(Look::Plain),
    }
}

#[inline]
fn trim(raw: &[u8]) -> &[u8] {
    let blank = |byte: Option<&u8>| matches!(byte, Some(b' ' | b'\t'));
    if !blank(raw.first()) && !blank(raw.last()) {
        return raw;
    }
    raw.trim_ascii()
}

fn is_bool(text: &[u8]) -> bool {
    text.eq_ignore_ascii_case(b"true") || text.eq_ignore_ascii_case(b"false")
}

fn word(text: &[u8]) -> Value {
    if text.len() > 8 {
        Value::Text(Look::Plain)
    } else if text.eq_ignore_ascii_case(b"nan") {
        Value::NonFinite(NonFinite::Nan)
    } else if INFINITIES.iter().any(|name| text.eq_ignore_ascii_case(name)) {
        Value::NonFinite(NonFinite::Infinite)
    } else if TOKENS.iter().any(|token| text.eq_ignore_ascii_case(token)) {
        Value::Text(Look::NullToken)
    } else {
        Value::Text(Look::Plain)
    }
}

fn negative(text: &[u8]) -> Value {
    match text.get(1) {
        Some(b'0'..=b'9' | b'.') => number_or_time(text),
        Some(b'i' | b'I') => match word(&text[1..]) {
            Value::NonFinite(kind) => Value::NonFinite(kind),
            _ => Value::Text(Look::Plain),
        },
        Some(_) | None => word(text),
    }
}

/// A text that starts with a digit, a point, or a minus before one of these.
fn number_or_time(text: &[u8]) -> Value {
    let negative = text[0] == b'-';
    let body = &text[usize::from(negative)..];
    let (whole, whole_digits) = digits(0, body);
    let rest = &body[whole_digits..];
    let padded = whole_digits > 1 && body[0] == b'0';
    let number = match rest.first() {
        None if padded => return Value::Text(Look::LeadingZeros),
        None => return integer(text, whole, whole_digits, negative),
        Some(b'-') if whole_digits == 4 && !negative => return time::parse(text).unwrap_or(Value::Text(Look::Plain)),
        Some(b'.' | b'e' | b'E') => decimal(text, rest, whole, whole_digits, negative),
        Some(_) => None,
    };
    match number {
        Some(_) if padded => Value::Text(Look::LeadingZeros),
        Some(value) if value.is_finite() => Value::Float(value),
        Some(_) => Value::NonFinite(NonFinite::Overflow),
        None => Value::Text(Look::Plain),
    }
}

/// Reads digits on top of a number; the number is only right up to 18 digits in all.
#[inline]
fn digits(start: u64, text: &[u8]) -> (u64, usize) {
    let mut number = start;
    for (index, byte) in text.iter().enumerate() {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return (number, index);
        }
        number = number.wrapping_mul(10).wrapping_add(u64::from(digit));
    }
    (number, text.len())
}

#[inline]
fn integer(text: &[u8], magnitude: u64, digits: usize, negative: bool) -> Value {
    if digits <= 18 {
        let magnitude = magnitude as i64;
        return Value::Int(if negative { -magnitude } else { magnitude });
    }
    match std::str::from_utf8(text).ok().and_then(|text| text.parse().ok()) {
        Some(number) => Value::Int(number),
        None if digits <= DIGITS => Value::BigInt,
        None => Value::Text(Look::Plain),
    }
}

/// A number with a point or an exponent: `rest` starts there. `None` when it is not a number.
fn decimal(text: &[u8], rest: &[u8], whole: u64, whole_digits: usize, negative: bool) -> Option<f64> {
    let (mut mantissa, mut places, mut exponent) = (whole, 0, rest);
    if let [b'.', fraction @ ..] = rest {
        (mantissa, places) = digits(whole, fraction);
        exponent = &fraction[places..];
    }
    if whole_digits + places == 0 {
        return None;
    }
    if exponent.is_empty() && whole_digits + places <= 18 && mantissa < (1 << 53) && places < POWERS.len() {
        // Both are exact in 64 bits, so that one division rounds once: the nearest float.
        let value = mantissa as f64 / POWERS[places];
        return Some(if negative { -value } else { value });
    }
    let signed = match exponent {
        [] => exponent,
        [b'e' | b'E', b'+' | b'-', tail @ ..] | [b'e' | b'E', tail @ ..] if !tail.is_empty() => tail,
        _ => return None,
    };
    let plain = signed.iter().all(u8::is_ascii_digit);
    plain.then(|| std::str::from_utf8(text).ok()?.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Value {
        classify(text.as_bytes())
    }

    #[test]
    fn whole_numbers_of_any_width() {
        assert_eq!(of("0"), Value::Int(0));
        assert_eq!(of("-17"), Value::Int(-17));
        assert_eq!(of(" 42 "), Value::Int(42));
        assert_eq!(of("9223372036854775807"), Value::Int(i64::MAX));
        assert_eq!(of("-9223372036854775808"), Value::Int(i64::MIN));
        assert_eq!(of("9223372036854775808"), Value::BigInt);
        assert_eq!(of(&"9".repeat(1001)), Value::Text(Look::Plain));
    }

    #[test]
    fn zeros_and_signs_that_are_data_keep_a_number_text() {
        for text in ["007", "00", "-01", "01.5", "00e1"] {
            assert_eq!(of(text), Value::Text(Look::LeadingZeros), "{text}");
        }
        for text in ["+49301234", "1,000", "1_000", "12 34", "1-2", "0x10", "5%", "1.2.3", "1e", "1e+", "e5", ".", "-.", "1f"] {
            assert_eq!(of(text), Value::Text(Look::Plain), "{text}");
        }
    }

    #[test]
    fn decimals_are_the_nearest_float() {
        for text in ["0.1", "-0.25", ".5", "1.", "2.675", "123456789.123456789", "1e5", "-1.5E-7", "9007199254740993.5", "1e-400"]
        {
            assert_eq!(of(text), Value::Float(text.parse().unwrap()), "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn a_decimal_is_read_as_the_standard_library_reads_it(text in "-?(0|[1-9][0-9]{0,18})?\\.[0-9]{0,24}(e-?[0-9]{1,3})?") {
            let expected = match text.parse::<f64>() {
                Ok(value) if value.is_finite() => Value::Float(value),
                Ok(_) => Value::NonFinite(NonFinite::Overflow),
                Err(_) => Value::Text(Look::Plain),
            };
            proptest::prop_assert_eq!(of(&text), expected, "{}", text);
        }
    }

    proptest::proptest! {
        #[test]
        fn digits_beyond_the_precision_of_a_float_are_rounded_once(digits in (1_u64 << 53)..10_u64.pow(18), places in 1_usize..15) {
            let digits = digits.to_string();
            let text = format!("{}.{}", &digits[..digits.len() - places], &digits[digits.len() - places..]);
            proptest::prop_assert_eq!(of(&text), Value::Float(text.parse().unwrap()), "{}", text);
        }
    }

    #[test]
    fn numbers_that_are_not_finite_are_told_apart() {
        assert_eq!(of("1e309"), Value::NonFinite(NonFinite::Overflow));
        for text in ["NaN", "nan"] {
            assert_eq!(of(text), Value::NonFinite(NonFinite::Nan), "{text}");
        }
        for text in ["inf", "-inf", "Infinity", "-INFINITY"] {
            assert_eq!(of(text), Value::NonFinite(NonFinite::Infinite), "{text}");
        }
        assert_eq!(of("-nan"), Value::Text(Look::Plain));
    }

    #[test]
    fn words_for_no_value_are_noticed_but_stay_text() {
        for text in ["NA", "n/a", "NULL", "None", "-", "--", "#N/A", "\\N", " na "] {
            assert_eq!(of(text), Value::Text(Look::NullToken), "{text}");
        }
        for text in ["  ", "\t"] {
            assert_eq!(of(text), Value::Text(Look::Blank), "{text:?}");
        }
        for text in ["name", "nullable", "-x", "#1"] {
            assert_eq!(of(text), Value::Text(Look::Plain), "{text}");
        }
    }

    #[test]
    fn a_json_string_is_text_or_a_time() {
        let of = |text: &str| classify_text(text.as_bytes());
        assert_eq!(of("12"), Value::Text(Look::Plain));
        assert_eq!(of("true"), Value::Text(Look::Plain));
        assert_eq!(of("NaN"), Value::Text(Look::NullToken));
        assert_eq!(of(""), Value::Text(Look::Blank));
        assert_eq!(of("2026-01-02"), Value::Date(1_767_312_000_000_000));
    }
}
