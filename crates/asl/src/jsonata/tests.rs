use super::*;
use crate::path::Surroundings;

struct Nothing;

impl Surroundings for Nothing {
    fn context_member(&self, name: &str) -> Option<Value> {
        (name == "State").then(|| Value::from("here"))
    }

    fn context(&self) -> Value {
        Map::from_iter([("State", "here")]).into()
    }

    fn variable(&self, name: &str) -> Option<Value> {
        (name == "known").then(|| Value::from(7_i64))
    }
}

fn evaluate(source: &str, input: &str) -> Result<Value, String> {
    let input = Value::parse(input).unwrap();
    let mut scope = Scope {
        input: &input,
        around: &Nothing,
        random: &mut Random::new(1),
        now: "2024-01-31T12:00:00.5Z".parse().unwrap(),
        result: None,
        error_output: None,
    };
    Expression::parse(source, "Output").unwrap().evaluate(&mut scope).map_err(|fault| fault.detail)
}

fn text(source: &str) -> String {
    evaluate(source, r#"{"a": [1, 2.5], "s": "x"}"#).map_or_else(|error| error, |value| value.to_string())
}

#[test]
fn an_expression_sees_states_and_variables() {
    assert_eq!(text("$states.input.a[1] + $known"), "9.5");
    assert_eq!(text("$states . context.State & $states.input.s"), r#""herex""#);
    assert_eq!(text("$keys($states)"), r#"["input","context"]"#);
    assert_eq!(text("null"), "null");
}

#[test]
fn nothing_is_an_error_that_names_expression_and_field() {
    let words = "The JSONata expression '$unknown' specified for the field 'Output' returned nothing (undefined).";
    assert_eq!(text("$unknown"), words);
    assert!(text("$sum").ends_with("returned an unsupported result type."));
    assert!(text("1 + 's'").contains("threw an error during evaluation. T2002"));
}

#[test]
fn the_added_functions_work_and_follow_from_the_seed() {
    assert_eq!(text("$partition([1,2,3], 2)"), "[[1,2],[3]]");
    assert_eq!(text("$range(1, 9, 4)"), "[1,5,9]");
    assert_eq!(text("$hash('input data', 'MD5')"), r#""812f45842bc6d66ee14572ce20db8e86""#);
    assert_eq!(text("$parse('{\"k\": [1]}')"), r#"{"k":[1]}"#);
    assert_eq!(text("$uuid()"), text("$uuid()"));
    assert_eq!(text("$random() < 1 and $random(3) = $random(3)"), "true");
    assert_eq!(text("$now()"), r#""2024-01-31T12:00:00.500Z""#);
    assert_eq!(text("$now('[Y0001]')"), r#""2024""#);
    assert_eq!(text("$millis()"), "1706702400500");
    assert_eq!(text("$count($shuffle([1..9]))"), "9");
}

#[test]
fn an_endless_recursion_is_stopped() {
    assert!(text("($f := function($x) { 1 + $f($x) }; $f(1))").contains("threw an error"));
    assert!(Expression::parse(&"(".repeat(1_000), "Output").is_err());
}

#[test]
fn only_a_text_that_is_wholly_delimited_is_an_expression() {
    assert_eq!(Expression::delimited("{% a %}"), Some("a"));
    for plain in [" {% a %}", "{% a %} ", "a", "{%", "{% a"] {
        assert_eq!(Expression::delimited(plain), None, "{plain}");
    }
}
