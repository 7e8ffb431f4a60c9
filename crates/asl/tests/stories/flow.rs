//! Data on its way through states: paths, templates, choices, waiting, and the errors of each.

use crate::host::{Answer, Host, json, no_tasks};
use asl::{Machine, Status};

fn one(state: &str, input: &str) -> Host {
    let definition = format!(r#"{{"StartAt": "S", "States": {{"S": {state}}}}}"#);
    Host::run(&definition, input, no_tasks)
}

#[test]
fn a_pass_state_shapes_its_data() {
    let host = one(
        r#"{"Type": "Pass", "InputPath": "$.in", "Parameters": {"sum.$": "States.MathAdd($.a, 2)", "fixed": [1]},
            "ResultPath": "$.out", "OutputPath": "$.out", "End": true}"#,
        r#"{"in": {"a": 40}}"#,
    );
    assert_eq!(host.output(), json(r#"{"sum": 42, "fixed": [1]}"#));
}

#[test]
fn result_path_keeps_the_input_and_makes_what_is_missing() {
    let host = one(r#"{"Type": "Pass", "Result": 1, "ResultPath": "$.a.b", "End": true}"#, r#"{"a": {"c": 2}, "d": 3}"#);
    assert_eq!(host.output(), json(r#"{"a": {"c": 2, "b": 1}, "d": 3}"#));
    let host = one(r#"{"Type": "Pass", "Result": 1, "ResultPath": null, "End": true}"#, "[5]");
    assert_eq!(host.output(), json("[5]"));
}

#[test]
fn a_path_that_leads_nowhere_names_state_event_field_and_input() {
    let host = one(r#"{"Type": "Pass", "Parameters": {"x.$": "$.no"}, "End": true}"#, r#"{"yes": 1}"#);
    let (error, cause) = host.failure();
    assert_eq!(error, "States.Runtime");
    assert_eq!(
        cause,
        "An error occurred while executing the state 'S' (entered at the event id #2). The JSONPath '$.no' specified \
         for the field 'x.$' could not be found in the input '{\"yes\":1}'"
    );
}

#[test]
fn the_context_object_tells_who_and_when() {
    let host = one(
        r#"{"Type": "Pass", "Parameters": {"id.$": "$$.Execution.Id", "in.$": "$$.Execution.Input",
            "started.$": "$$.Execution.StartTime", "state.$": "$$.State.Name", "machine.$": "$$.StateMachine.Name"},
            "End": true}"#,
        "7",
    );
    let expected = r#"{"id": "run:1", "in": 7, "started": "2024-01-31T12:00:00.000Z", "state": "S", "machine": "machine"}"#;
    assert_eq!(host.output(), json(expected));
}

#[test]
fn a_choice_takes_the_first_rule_that_holds_else_the_default_else_fails() {
    let definition = r#"{"StartAt": "C", "States": {
        "C": {"Type": "Choice", "Default": "Rest", "Choices": [
            {"And": [{"Variable": "$.n", "IsPresent": true}, {"Not": {"Variable": "$.n", "NumericLessThan": 5}}], "Next": "Big"},
            {"Or": [{"Variable": "$.s", "StringMatches": "a*"}, {"Variable": "$.s", "IsNull": true}], "Next": "Word"}]},
        "Big": {"Type": "Pass", "Result": "big", "End": true},
        "Word": {"Type": "Pass", "Result": "word", "End": true},
        "Rest": {"Type": "Pass", "Result": "rest", "End": true}}}"#;
    let run = |input: &str| Host::run(definition, input, no_tasks).output();
    assert_eq!(run(r#"{"n": 5}"#), json(r#""big""#));
    assert_eq!(run(r#"{"n": 4, "s": "abc"}"#), json(r#""word""#));
    assert_eq!(run(r#"{"s": null}"#), json(r#""word""#));
    assert_eq!(run(r#"{"s": 1}"#), json(r#""rest""#));
}

#[test]
fn no_rule_and_no_default_is_an_error() {
    let definition = r#"{"StartAt": "C", "States": {
        "C": {"Type": "Choice", "Choices": [{"Variable": "$", "BooleanEquals": true, "Next": "D"}]},
        "D": {"Type": "Succeed"}}}"#;
    assert_eq!(Host::run(definition, "true", no_tasks).output(), json("true"));
    assert_eq!(Host::run(definition, "1", no_tasks).failure().0, "States.NoChoiceMatched");
}

#[test]
fn waiting_takes_exactly_as_long_as_it_says() {
    let elapsed = |wait: &str, input: &str| one(&format!(r#"{{"Type": "Wait", {wait}, "End": true}}"#), input).elapsed();
    assert_eq!(elapsed(r#""Seconds": 90"#, "{}"), 90.0);
    assert_eq!(elapsed(r#""SecondsPath": "$.s""#, r#"{"s": 7}"#), 7.0);
    assert_eq!(elapsed(r#""Timestamp": "2024-01-31T12:01:00Z""#, "{}"), 60.0);
    assert_eq!(elapsed(r#""TimestampPath": "$.t""#, r#"{"t": "2024-01-31T12:00:00.250Z"}"#), 0.25);
    assert_eq!(elapsed(r#""TimestampPath": "$.t""#, r#"{"t": "2024-01-31T13:00:02+01:00"}"#), 2.0);
    assert_eq!(elapsed(r#""Timestamp": "2001-01-01T00:00:00Z""#, "{}"), 0.0);
}

#[test]
fn a_wait_that_makes_no_sense_is_a_runtime_error() {
    for (wait, input, words) in [
        (r#""SecondsPath": "$.s""#, r#"{"s": -1}"#, "references a negative value: $.s == -1"),
        (r#""SecondsPath": "$.s""#, "{}", "does not reference an input value: $.s"),
        (
            r#""TimestampPath": "$.t""#,
            r#"{"t": "2024-01-31"}"#,
            "ISO-8601 extended offset date-time format string: $.t == 2024-01-31",
        ),
    ] {
        let (error, cause) = one(&format!(r#"{{"Type": "Wait", {wait}, "End": true}}"#), input).failure();
        assert_eq!(error, "States.Runtime");
        assert!(cause.ends_with(words), "{cause}");
    }
}

#[test]
fn a_fail_state_says_what_it_is_told_or_nothing() {
    let fail = |fields: &str| one(&format!(r#"{{"Type": "Fail" {fields}}}"#), r#"{"e": "E", "c": "because"}"#);
    assert_eq!(fail(r#", "Error": "A", "Cause": "b""#).failure(), ("A".into(), "b".into()));
    let paths = r#", "ErrorPath": "$.e", "CausePath": "States.Format('It is {}', $.c)""#;
    assert_eq!(fail(paths).failure(), ("E".into(), "It is because".into()));
    assert_eq!(*fail("").execution.status(), Status::Failed(asl::Failure::default()));
    assert_eq!(fail(r#", "CausePath": "$.no""#).failure().0, "States.Runtime");
}

#[test]
fn parallel_branches_give_a_list_in_their_order() {
    let definition = r#"{"StartAt": "P", "States": {"P": {"Type": "Parallel", "End": true, "Branches": [
        {"StartAt": "A", "States": {"A": {"Type": "Wait", "Seconds": 9, "Next": "A2"}, "A2": {"Type": "Pass", "Result": "a", "End": true}}},
        {"StartAt": "B", "States": {"B": {"Type": "Wait", "Seconds": 1, "Next": "B2"}, "B2": {"Type": "Pass", "Result": "b", "End": true}}}]}}}"#;
    let host = Host::run(definition, "{}", no_tasks);
    assert_eq!(host.output(), json(r#"["a", "b"]"#));
    assert_eq!(host.elapsed(), 9.0, "side by side");
}

#[test]
fn a_failing_branch_stops_the_others_and_can_be_caught() {
    let definition = r#"{"StartAt": "P", "States": {
        "P": {"Type": "Parallel", "Next": "Never", "Catch": [{"ErrorEquals": ["Bad"], "ResultPath": "$.error", "Next": "Caught"}], "Branches": [
            {"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "TimeoutSeconds": 99, "End": true}}},
            {"StartAt": "B", "States": {"B": {"Type": "Wait", "Seconds": 1, "Next": "F"}, "F": {"Type": "Fail", "Error": "Bad", "Cause": "luck"}}}]},
        "Caught": {"Type": "Succeed"}, "Never": {"Type": "Fail"}}}"#;
    let host = Host::run(definition, r#"{"k": 1}"#, |_| Answer::Park);
    assert_eq!(host.output(), json(r#"{"k": 1, "error": {"Error": "Bad", "Cause": "luck"}}"#));
    assert_eq!(host.stopped, [host.calls[0].task]);
    assert_eq!(host.elapsed(), 1.0, "the limit of the stopped task is no longer waited for");
    assert_eq!(host.execution.outstanding().count(), 0);
}

#[test]
fn an_endless_loop_ends_at_the_limit_of_the_history() {
    let definition = r#"{"StartAt": "A", "States": {"A": {"Type": "Pass", "Next": "B"}, "B": {"Type": "Choice",
        "Choices": [{"Variable": "$.no", "IsPresent": true, "Next": "Out"}], "Default": "A"}, "Out": {"Type": "Succeed"}}}"#;
    let (error, cause) = Host::run(definition, "{}", no_tasks).failure();
    assert_eq!(error, "States.Runtime");
    assert!(cause.contains("maximum number of history events (25000)"), "{cause}");
}

#[test]
fn data_that_grows_without_end_hits_the_limit_of_a_payload() {
    let definition = r#"{"StartAt": "A", "States": {"A": {"Type": "Pass", "Parameters": {"l.$": "$", "r.$": "$"}, "Next": "A"}, "B": {"Type": "Succeed"}}}"#;
    let problems = Machine::parse(definition).unwrap_err();
    assert_eq!(problems[0].code.name(), "UNREACHABLE_STATE");
    let definition = definition.replace(r#", "B": {"Type": "Succeed"}"#, "");
    assert_eq!(Host::run(&definition, "{}", no_tasks).failure().0, "States.DataLimitExceeded");
}
