use proptest::prelude::*;

use crate::Machine;

/// Every problem of a definition, a line each.
fn problems(text: &str) -> String {
    match Machine::parse(text) {
        Ok(_) => "none".to_owned(),
        Err(problems) => problems.iter().map(|problem| format!("{} {problem}\n", problem.code.name())).collect(),
    }
}

#[test]
fn all_problems_are_told_at_once_with_their_places() {
    let text = r#"{
  "StartAt": "Nowhere",
  "States": {
    "A": {"Type": "Task", "Resource": "lambda", "Parameters": {"x.$": "$."}, "Next": "B", "Colour": "red",
          "Retry": [{"ErrorEquals": [], "MaxAttempts": -1, "JitterStrategy": "SOME"}],
          "Catch": [{"ErrorEquals": ["E"], "Next": "C", "ResultPath": "$.a[*]"}]},
    "B": {"Type": "Choice", "Choices": [{"Variable": "$.x", "NumericEquals": "1", "Next": "A"}, {"Next": "A"}]},
    "D": {"Type": "Wait", "Seconds": 1, "Timestamp": "tomorrow", "End": true},
    "E": {"Type": "Map", "End": true, "ItemProcessor": {"StartAt": "A", "States": {"A": {"Type": "Pass"}}}},
    "F": {"Type": "Dance"}
  }
}"#;
    insta::assert_snapshot!(problems(text));
}

#[test]
fn a_text_that_is_no_json_or_no_machine_is_one_problem() {
    insta::assert_snapshot!([problems("{\n  \"StartAt\": ,"), problems("[]"), problems("{}")].join("--\n"));
}

#[test]
fn what_is_right_has_no_problem() {
    let text = r#"{"Comment": "c", "Version": "1.0", "TimeoutSeconds": 9, "QueryLanguage": "JSONata", "StartAt": "A", "States": {
        "A": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Arguments": {"x": "{% $states.input.y %}"},
            "TimeoutSeconds": "{% 1 + 1 %}", "Next": "B"},
        "B": {"Type": "Choice", "QueryLanguage": "JSONata", "Choices": [{"Condition": "{% $states.input %}", "Next": "C"}]},
        "C": {"Type": "Succeed", "Output": "{% 1 %}"}}}"#;
    assert_eq!(problems(text), "none");
}

/// A definition by chance: fields and values that occur in definitions, put together in any way.
fn any_json() -> impl Strategy<Value = serde_json::Value> {
    let text = prop::sample::select(vec![
        "A",
        "B",
        "Task",
        "Map",
        "Choice",
        "Pass",
        "Wait",
        "Parallel",
        "Fail",
        "Succeed",
        "$",
        "$.a",
        "$$.Map",
        "$.a[",
        "{% $states.input %}",
        "{% ( %}",
        "States.Format('{}', $)",
        "arn:aws:states:::lambda:invoke",
        "DISTRIBUTED",
        "JSONata",
        "States.ALL",
        "",
    ]);
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(serde_json::Value::from),
        (-2_i64..3).prop_map(serde_json::Value::from),
        text.prop_map(serde_json::Value::from),
    ];
    let name = prop::sample::select(vec![
        "StartAt",
        "States",
        "A",
        "B",
        "Type",
        "Next",
        "End",
        "Choices",
        "Default",
        "Variable",
        "And",
        "Not",
        "IsNull",
        "NumericEquals",
        "Parameters",
        "x.$",
        "ResultPath",
        "ItemProcessor",
        "Branches",
        "Retry",
        "Catch",
        "ErrorEquals",
        "Seconds",
        "Resource",
        "ItemReader",
        "ReaderConfig",
        "Assign",
        "QueryLanguage",
        "Output",
        "Arguments",
        "InputPath",
        "MaxConcurrencyPath",
    ]);
    leaf.prop_recursive(5, 64, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(serde_json::Value::from),
            prop::collection::btree_map(name.clone(), inner, 0..6)
                .prop_map(|members| members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn no_definition_makes_the_reader_panic(states in any_json(), more in any_json()) {
        let text = serde_json::json!({"StartAt": "A", "States": {"A": states, "B": more}}).to_string();
        if let Err(problems) = Machine::parse(&text) {
            prop_assert!(problems.iter().all(|problem| problem.line >= 1 && problem.column >= 1));
        }
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in r#"[{}\[\]":,a-zA-Z0-9$.\\ ]{0,60}"#) {
        let _ = Machine::parse(&text);
    }
}
