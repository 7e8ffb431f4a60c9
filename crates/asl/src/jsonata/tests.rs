use proptest::prelude::*;

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
    run(&Expression::parse(source, "Output").unwrap(), &Value::parse(input).unwrap()).map_err(|fault| fault.detail)
}

fn run(expression: &Expression, input: &Value) -> Result<Value, Fault> {
    expression.evaluate(&mut Scope {
        input,
        around: &Nothing,
        random: &mut Random::new(1),
        now: "2024-01-31T12:00:00.5Z".parse().unwrap(),
        result: None,
        error_output: None,
    })
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

/// Pieces of expressions, put together in any way.
fn any_source() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "$states.input",
        "$states",
        ".a",
        ".s",
        "[0]",
        "[-1]",
        "[$ > 1]",
        "*",
        "**",
        "%",
        "^(a)",
        "#$i",
        "@$v",
        "~>",
        "|a|{}|",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "'x'",
        "1",
        "2.5",
        "1e300",
        "+",
        "-",
        "/",
        "&",
        "=",
        "<",
        " and ",
        " in ",
        "?",
        ":",
        ";",
        ":=",
        "$x",
        "$map",
        "$sum",
        "$split",
        "$match",
        "/a(/",
        "/a+/i",
        "$formatNumber",
        "$substring",
        "$pad",
        "$range",
        "$partition",
        "$parse",
        "$hash",
        "$now",
        "$toMillis",
        "$fromMillis",
        "$sort",
        "$eval",
        "function($y){",
        "$y",
        "..",
        ",",
        "null",
        "true",
        "`q`",
        "$string",
        "$number",
        "$power",
        "$random",
        "$shuffle",
        "$formatInteger",
        "$parseInteger",
        "$merge",
        "$reduce",
        "$encodeUrl",
        "$base64decode",
        "\u{e9}",
        "'\\u12'",
        "\"",
    ]);
    prop::collection::vec(piece, 0..14).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn no_expression_makes_us_panic(source in any_source()) {
        let input = Value::parse(r#"{"a": [1, 2.5, {"b": "x"}], "s": "x"}"#).unwrap();
        if let Ok(expression) = Expression::parse(&source, "Output") {
            let _ = run(&expression, &input);
        }
    }
}

#[test]
fn long_sources_and_deep_results_do_not_exhaust_the_stack() {
    for (first, piece) in [
        ("1", "+1"),
        ("a", ".a"),
        ("", "-"),
        ("1", "?1:1"),
        ("a", "[0]"),
        ("1", "~>$f"),
        ("x", ":=x"),
        ("", "function($x){"),
        ("a", "^(a)"),
    ] {
        let source = format!("{first}{}", piece.repeat(4_000 / piece.len()));
        if let Ok(expression) = Expression::parse(&source, "Output") {
            let _ = run(&expression, &Value::Null);
        }
    }
    let nested = "($f := function($x, $n) { $n = 0 ? $x : $f({'k': $x}, $n - 1) }; $f(1, 1000))";
    assert!(text(nested).ends_with("returned an unsupported result type."), "{}", text(nested));
}
