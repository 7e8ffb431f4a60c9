//! The functions that the states language adds to JSONata, and those that must follow from the seed and the event.

use std::cell::RefCell;
use std::rc::Rc;

use jiff::Timestamp;
use jsonata_core::evaluator::{Context, Evaluator, EvaluatorError, HostFnResult};
use jsonata_core::parser;
use jsonata_core::value::JValue;

use super::convert::to_jsonata;
use crate::Value;
use crate::intrinsic::digest;
use crate::random::Random;
use crate::time::print_timestamp;

/// The most items that `$range` gives.
const LONGEST_RANGE: f64 = 1_000_000.0;

/// Adds those functions that the source names; most name none.
pub(super) fn register(evaluator: &mut Evaluator, source: &str, now: Timestamp, random: &Rc<RefCell<Random>>) {
    let named = |name: &str| source.contains(name);
    // A name of the language's own cannot be registered twice, and overriding is what it is there for: no call fails.
    if named("$partition") {
        let _ = evaluator.register_fn("partition", partition);
    }
    if named("$range") {
        let _ = evaluator.register_fn("range", range);
    }
    if named("$hash") {
        let _ = evaluator.register_fn("hash", hash);
    }
    if named("$parse") {
        let _ = evaluator.register_fn("parse", parse);
    }
    if named("$uuid") {
        let random = Rc::clone(random);
        let _ = evaluator.register_fn("uuid", move |_: &[JValue]| Ok(JValue::string(random.borrow_mut().uuid())));
    }
    if named("$random") {
        let random = Rc::clone(random);
        let _ = evaluator.register_fn_override("random", move |args: &[JValue]| draw(args, &random));
    }
    if named("$shuffle") {
        let random = Rc::clone(random);
        let _ = evaluator.register_fn_override("shuffle", move |args: &[JValue]| shuffle(args, &random));
    }
    if named("$now") {
        let _ = evaluator.register_fn_override("now", move |args: &[JValue]| tell_time(args, now));
    }
    if named("$millis") {
        #[expect(clippy::cast_precision_loss, reason = "milliseconds fit 53 bits for 285,000 years")]
        let millis = now.as_millisecond() as f64;
        let _ = evaluator.register_fn_override("millis", move |_: &[JValue]| Ok(JValue::Number(millis)));
    }
}

fn wrong(function: &str, what: &str) -> EvaluatorError {
    EvaluatorError::EvaluationError(format!("{function}: {what}"))
}

fn partition(args: &[JValue]) -> HostFnResult {
    let Some(list) = args.first().and_then(JValue::as_array) else { return Ok(JValue::Undefined) };
    let size = args.get(1).and_then(JValue::as_f64).map(f64::trunc).filter(|size| *size >= 1.0);
    let size = size.ok_or_else(|| wrong("$partition", "the size must be a positive number"))?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at least one, and capped by the list")]
    let size = size as usize;
    Ok(JValue::array(list.chunks(size).map(|chunk| JValue::array(chunk.to_vec())).collect()))
}

fn range(args: &[JValue]) -> HostFnResult {
    let number = |at: usize| args.get(at).and_then(JValue::as_f64);
    let (Some(from), Some(to), Some(by)) = (number(0), number(1), number(2)) else {
        return Err(wrong("$range", "the first and last value and the step must be numbers"));
    };
    let steps = ((to - from) / by).floor();
    if by == 0.0 || steps.is_nan() || steps >= LONGEST_RANGE {
        return Err(wrong("$range", "the step must not be zero, and the range not longer than a million"));
    }
    let mut list = Vec::new();
    let mut step = 0.0;
    while step <= steps {
        list.push(JValue::Number(from + step * by));
        step += 1.0;
    }
    Ok(JValue::array(list))
}

fn hash(args: &[JValue]) -> HostFnResult {
    let Some(content) = args.first().and_then(JValue::as_str) else {
        return Err(wrong("$hash", "the content must be a string"));
    };
    let algorithm = args.get(1).and_then(JValue::as_str).unwrap_or("SHA-256");
    let hash = digest(content.as_bytes(), algorithm);
    hash.map(JValue::string).ok_or_else(|| wrong("$hash", &format!("there is no hash algorithm `{algorithm}`")))
}

fn parse(args: &[JValue]) -> HostFnResult {
    let Some(text) = args.first().and_then(JValue::as_str) else { return Ok(JValue::Undefined) };
    let value = Value::parse(text).map_err(|error| wrong("$parse", &format!("the text is not JSON: {error}")))?;
    Ok(to_jsonata(&value))
}

fn draw(args: &[JValue], random: &RefCell<Random>) -> HostFnResult {
    let fraction = match args.first().and_then(JValue::as_f64) {
        Some(seed) => Random::new(seed.to_bits()).fraction(),
        None => random.borrow_mut().fraction(),
    };
    Ok(JValue::Number(fraction))
}

fn shuffle(args: &[JValue], random: &RefCell<Random>) -> HostFnResult {
    let Some(list) = args.first().and_then(JValue::as_array) else {
        return Ok(args.first().cloned().unwrap_or(JValue::Undefined));
    };
    let mut list = list.clone();
    for at in (1..list.len()).rev() {
        let other = random.borrow_mut().below(at as u64 + 1);
        list.swap(at, usize::try_from(other).unwrap_or(0));
    }
    Ok(JValue::array(list))
}

/// `$now(picture, timezone)`: as the library formats a moment, but of the event's time.
fn tell_time(args: &[JValue], now: Timestamp) -> HostFnResult {
    if args.is_empty() {
        return Ok(JValue::string(print_timestamp(now)));
    }
    let mut context = Context::new();
    #[expect(clippy::cast_precision_loss, reason = "milliseconds fit 53 bits for 285,000 years")]
    context.bind("moment".to_owned(), JValue::Number(now.as_millisecond() as f64));
    for (name, value) in ["picture", "zone"].into_iter().zip(args) {
        context.bind(name.to_owned(), value.clone());
    }
    let tree = parser::parse("$fromMillis($moment, $picture, $zone)").map_err(|error| wrong("$now", &error.to_string()))?;
    Evaluator::with_context(context).evaluate(&tree, &JValue::Undefined)
}
