use proptest::prelude::*;

use super::*;

struct Nothing;

impl Surroundings for Nothing {
    fn context_member(&self, _: &str) -> Option<Value> {
        None
    }

    fn context(&self) -> Value {
        Value::Null
    }

    fn variable(&self, _: &str) -> Option<Value> {
        None
    }
}

const INPUT: &str = r#"{"a": [1, 2, 2, 1.0, "x"], "o": {"Arg1": 1, "Arg2": [true, null]}, "s": "Hello", "n": 2.5}"#;

fn call(text: &str) -> String {
    let call = Call::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let input = Value::parse(INPUT).unwrap();
    match call.evaluate("f.$", &input, &Nothing, &mut Random::new(1)) {
        Ok(value) => value.to_string(),
        Err(fault) => format!("{}: {}", fault.error, fault.detail),
    }
}

#[test]
fn each_function_gives_what_the_language_says() {
    for (text, result) in [
        ("States.Array()", "[]"),
        ("States.Array('a', 1, null, true, $.n)", r#"["a",1,null,true,2.5]"#),
        ("States.ArrayContains($.a, 1)", "true"),
        ("States.ArrayContains($.a, '1')", "false"),
        ("States.ArrayGetItem($.a, 4)", r#""x""#),
        ("States.ArrayLength($.a)", "5"),
        ("States.ArrayPartition($.a, 2)", r#"[[1,2],[2,1.0],["x"]]"#),
        ("States.ArrayRange(1, 9, 2)", "[1,3,5,7,9]"),
        ("States.ArrayRange(5, 1, -2)", "[5,3,1]"),
        ("States.ArrayRange(5, 1, 2)", "[]"),
        ("States.ArrayUnique($.a)", r#"[1,2,"x"]"#),
        ("States.Base64Encode('Data to encode')", r#""RGF0YSB0byBlbmNvZGU=""#),
        ("States.Base64Decode('RGF0YSB0byBlbmNvZGU=')", r#""Data to encode""#),
        ("States.Format('{} is {}', $.s, $.o)", r#""Hello is {Arg1=1, Arg2=[true, null]}""#),
        (r"States.Format('it\'s \{{}\}', 1)", r#""it's {1}""#),
        ("States.Hash('input data', 'SHA-1')", r#""aaff4a450a104cd177d28d18d74485e8cae074b7""#),
        ("States.JsonMerge($.o, States.StringToJson('{\"Arg1\": 2}'), false)", r#"{"Arg1":2,"Arg2":[true,null]}"#),
        ("States.JsonToString($.o)", r#""{\"Arg1\":1,\"Arg2\":[true,null]}""#),
        ("States.MathAdd(-1.5, 0)", "-1"),
        ("States.MathAdd(-1.5, -1.51)", "-3"),
        ("States.MathAdd($.n, 1)", "4"),
        ("States.StringSplit('1.2-3,,4', '.-,')", r#"["1","2","3","4"]"#),
        ("States.StringToJson('')", "null"),
        ("States.ArrayGetItem(States.StringSplit('a-b', '-'), States.MathAdd(0, 1))", r#""b""#),
    ] {
        assert_eq!(call(text), result, "{text}");
    }
}

#[test]
fn a_call_that_cannot_be_answered_says_why() {
    for text in [
        "States.ArrayGetItem($.a, 9)",
        "States.ArrayPartition($.a, 0)",
        "States.ArrayRange(1, 2000, 1)",
        "States.ArrayRange(1, 2, 0)",
        "States.ArrayLength($.s)",
        "States.Base64Decode('?')",
        "States.Format('{}')",
        "States.Format('', 1)",
        "States.Hash('a', 'CRC')",
        "States.JsonMerge($.o, $.o, true)",
        "States.MathAdd('a', 1)",
        "States.MathRandom(3, 3)",
        "States.StringToJson('{')",
    ] {
        assert!(call(text).starts_with("States.IntrinsicFailure: The function 'States."), "{text}: {}", call(text));
    }
    assert!(call("States.Format('{}', $.no)").starts_with("States.Runtime: The JSONPath '$.no' specified for the field 'f.$'"));
}

#[test]
fn what_is_no_call_is_refused() {
    for bad in [
        "States.",
        "States.No()",
        "States.Array",
        "States.Array(",
        "States.Array(1",
        "States.Array(1,)",
        "States.Array(a)",
        "States.UUID(1)",
        "States.MathAdd(1)",
        "States.Array() x",
        "States.Format('a",
        "States.Array(\"a\")",
    ] {
        assert!(Call::parse(bad).is_err(), "{bad}");
    }
}

#[test]
fn what_is_random_follows_from_the_seed() {
    assert_eq!(call("States.UUID()"), call("States.UUID()"));
    assert_eq!(call("States.UUID()").len(), 38);
    let drawn: i64 = call("States.MathRandom(10, 20)").parse().unwrap();
    assert!((10..20).contains(&drawn));
    assert_eq!(call("States.MathRandom(1, 1000000, 7)"), call("States.MathRandom(1, 1000000, 7)"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn no_text_makes_the_reader_or_the_call_panic(
        name in prop::sample::select(FUNCTIONS.iter().map(|(name, ..)| *name).collect::<Vec<_>>()),
        arguments in r#"[$.,'()\\{} a-dsno0-9SHA-]{0,30}"#,
    ) {
        let text = format!("States.{name}({arguments})");
        if let Ok(call) = Call::parse(&text) {
            let input = Value::parse(INPUT).unwrap();
            let _ = call.evaluate("f.$", &input, &Nothing, &mut Random::new(1));
        }
    }

    #[test]
    fn numbers_add_up_or_are_out_of_range(one in any::<f64>(), two in any::<i64>()) {
        let _ = functions::call(Function::MathAdd, &[Value::from(one), Value::from(two)], &mut Random::new(1));
        let _ = functions::call(Function::ArrayRange, &[Value::from(one), Value::from(two), Value::from(one)], &mut Random::new(1));
        let _ = functions::call(Function::MathRandom, &[Value::from(one), Value::from(two)], &mut Random::new(1));
    }
}
