//! Reading one state.

use std::sync::Arc;

use super::fields::Fields;
use super::{Parser, Siblings, choice, handlers, iteration};
use crate::Value;
use crate::definition::{Kind, Language, Next, ResultPath, Select, State, StateId, Task, Text, WaitFor};
use crate::execution::Workflow;
use crate::path::{Path, ReferencePath};
use crate::resource::{Pattern, Resource, Target};

/// Longest span that a definition may give, in seconds.
pub(super) const LONGEST: f64 = 99_999_999.0;

/// What every state may have, and what it may have by query language.
const COMMON: &[&str] = &["Type", "Comment", "QueryLanguage"];
const PATHS: &[&str] = &["InputPath", "OutputPath"];
const TASK: &[&str] = &["Resource", "Credentials", "TimeoutSeconds", "HeartbeatSeconds", "Retry", "Catch"];
const MAP: &[&str] = &[
    "ItemProcessor",
    "Iterator",
    "ItemReader",
    "ItemSelector",
    "ItemBatcher",
    "ResultWriter",
    "MaxConcurrency",
    "ToleratedFailureCount",
    "ToleratedFailurePercentage",
    "Label",
    "Retry",
    "Catch",
];
const MAP_PATHS: &[&str] = &[
    "ItemsPath",
    "Parameters",
    "ResultSelector",
    "ResultPath",
    "MaxConcurrencyPath",
    "ToleratedFailureCountPath",
    "ToleratedFailurePercentagePath",
];

/// The fields that a state of a type may have in a query language.
fn known_fields(kind: &str, language: Language) -> Option<Vec<&'static str>> {
    use Language::{JsonPath, Jsonata};
    let own: [&[&str]; 2] = match (kind, language) {
        ("Pass", JsonPath) => [&["Next", "End", "Assign", "Result", "Parameters", "ResultPath"], PATHS],
        ("Pass", Jsonata) => [&["Next", "End", "Assign", "Output"], &[]],
        ("Task", JsonPath) => [
            &[
                "Next",
                "End",
                "Assign",
                "Parameters",
                "ResultSelector",
                "ResultPath",
                "TimeoutSecondsPath",
                "HeartbeatSecondsPath",
                "InputPath",
                "OutputPath",
            ],
            TASK,
        ],
        ("Task", Jsonata) => [&["Next", "End", "Assign", "Arguments", "Output"], TASK],
        ("Choice", JsonPath) => [&["Choices", "Default", "Assign"], PATHS],
        ("Choice", Jsonata) => [&["Choices", "Default", "Assign", "Output"], &[]],
        ("Wait", JsonPath) => [&["Next", "End", "Assign", "Seconds", "SecondsPath", "Timestamp", "TimestampPath"], PATHS],
        ("Wait", Jsonata) => [&["Next", "End", "Assign", "Seconds", "Timestamp", "Output"], &[]],
        ("Succeed", JsonPath) => [&[], PATHS],
        ("Succeed", Jsonata) => [&["Output"], &[]],
        ("Fail", JsonPath) => [&["Error", "ErrorPath", "Cause", "CausePath"], &[]],
        ("Fail", Jsonata) => [&["Error", "Cause"], &[]],
        ("Parallel", JsonPath) => {
            [&["Next", "End", "Assign", "Branches", "Parameters", "ResultSelector", "ResultPath", "Retry", "Catch"], PATHS]
        }
        ("Parallel", Jsonata) => [&["Next", "End", "Assign", "Branches", "Arguments", "Output", "Retry", "Catch"], &[]],
        ("Map", JsonPath) => {
            let own = [&["Next", "End", "Assign", "InputPath", "OutputPath"], MAP_PATHS].concat();
            return Some([COMMON, MAP, &own].concat());
        }
        ("Map", Jsonata) => [&["Next", "End", "Assign", "Items", "Output"], MAP],
        _ => return None,
    };
    Some([COMMON, own[0], own[1]].concat())
}

pub(super) fn read(parser: &mut Parser, name: &Arc<str>, value: &Value, at: &str, siblings: &mut Siblings) -> Option<State> {
    let Some(object) = value.as_object() else {
        parser.invalid(at, "a state is an object");
        return None;
    };
    let fields = Fields::new(object, at);
    let language = fields.language(parser, siblings.language);
    let type_name = fields.required_text(parser, "Type")?;
    let Some(known) = known_fields(&type_name, language) else {
        parser.invalid(fields.pointer("Type"), format!("there is no type of state `{type_name}`"));
        return None;
    };
    fields.only(parser, &known);
    let next = next(parser, &fields, &type_name, siblings);
    let kind = kind(parser, &type_name, &fields, language, siblings);
    let retry = handlers::retry(parser, &fields);
    let catch = handlers::catch(parser, &fields, language, siblings);
    Some(State {
        name: Arc::clone(name),
        language,
        kind: kind?,
        input_path: select(parser, &fields, "InputPath"),
        output_path: select(parser, &fields, "OutputPath"),
        result_selector: fields.template(parser, "ResultSelector", language),
        result_path: result_path(parser, &fields),
        output: if language == Language::Jsonata { fields.template(parser, "Output", language) } else { None },
        assign: assign(parser, &fields, language),
        next: next?,
        retry,
        catch,
    })
}

/// `Assign`: an object of variables.
pub(super) fn assign(parser: &mut Parser, fields: &Fields<'_>, language: Language) -> Option<crate::template::Template> {
    fields.object(parser, "Assign")?;
    fields.template(parser, "Assign", language)
}

fn next(parser: &mut Parser, fields: &Fields<'_>, type_name: &str, siblings: &mut Siblings) -> Option<Next> {
    if matches!(type_name, "Choice" | "Succeed" | "Fail") {
        return Some(Next::End);
    }
    fields.at_most_one(parser, &["Next", "End"]);
    if let Some(target) = fields.text(parser, "Next") {
        return parser.target(&target, fields.pointer("Next"), siblings).map(Next::State);
    }
    match fields.truth(parser, "End") {
        Some(true) => Some(Next::End),
        Some(false) => {
            parser.invalid(fields.pointer("End"), "`End` can only be true");
            None
        }
        None if !fields.has("Next") && !fields.has("End") => {
            parser.invalid(fields.at(), "the state needs `Next`, or `End`: true");
            None
        }
        None => None,
    }
}

fn kind(parser: &mut Parser, type_name: &str, fields: &Fields<'_>, language: Language, siblings: &mut Siblings) -> Option<Kind> {
    match type_name {
        "Pass" => Some(Kind::Pass {
            result: fields.get("Result").cloned(),
            parameters: fields.template(parser, "Parameters", language),
        }),
        "Task" => task(parser, fields, language),
        "Choice" => choice::read(parser, fields, language, siblings),
        "Wait" => wait(parser, fields, language),
        "Succeed" => Some(Kind::Succeed),
        "Fail" => {
            Some(Kind::Fail { error: fields.words(parser, "Error", language), cause: fields.words(parser, "Cause", language) })
        }
        "Parallel" => parallel(parser, fields, language),
        _ => iteration::read(parser, fields, language),
    }
}

/// The name of the field that holds the arguments.
pub(super) fn arguments_field(language: Language) -> &'static str {
    match language {
        Language::JsonPath => "Parameters",
        Language::Jsonata => "Arguments",
    }
}

fn task(parser: &mut Parser, fields: &Fields<'_>, language: Language) -> Option<Kind> {
    let resource = resource(parser, fields);
    let span = 1.0..=LONGEST;
    let _ = fields.object(parser, "Credentials");
    let task = Task {
        arguments: fields.template(parser, arguments_field(language), language),
        credentials: fields.template(parser, "Credentials", language),
        timeout: fields.amount(parser, "TimeoutSeconds", language, span.clone()),
        heartbeat: fields.amount(parser, "HeartbeatSeconds", language, span),
        resource: resource?,
    };
    Some(Kind::Task(Box::new(task)))
}

/// The required field `Resource`.
pub(super) fn resource(parser: &mut Parser, fields: &Fields<'_>) -> Option<Resource> {
    let text = fields.required_text(parser, "Resource")?;
    let at = fields.pointer("Resource");
    let resource = Resource::parse(&text);
    match &resource {
        None => parser.invalid(at, format!("`{text}` is not the ARN of something to call")),
        Some(resource) if !is_known(resource) => {
            parser.invalid(at, format!("The resource provided {text} is not recognized."));
        }
        Some(resource) => {
            if let (Workflow::Express, Some(what)) = (parser.workflow, only_in_standard(resource)) {
                parser.invalid(at, format!("Express state machine does not support {what}"));
            }
        }
    }
    resource
}

/// Services whose integration is known to offer these actions and no others.
const CLOSED: [(&str, &[&str]); 5] = [
    ("dynamodb", &["getItem", "putItem", "updateItem", "deleteItem"]),
    ("lambda", &["invoke"]),
    ("sqs", &["sendMessage"]),
    ("sns", &["publish"]),
    ("events", &["putEvents"]),
];

fn is_known(resource: &Resource) -> bool {
    let Target::Integration { service, action } = &resource.target else { return true };
    CLOSED.iter().all(|(closed, actions)| **closed != **service || actions.contains(&&**action))
}

/// What of a resource needs a standard machine.
fn only_in_standard(resource: &Resource) -> Option<&'static str> {
    match (&resource.target, resource.pattern) {
        (Target::Activity, _) => Some("Activity ARN"),
        (_, Pattern::WaitForTaskToken) => Some("'.waitForTaskToken' service integration"),
        (_, Pattern::Sync | Pattern::SyncJson) => Some("'.sync' service integration"),
        (_, Pattern::RequestResponse) => None,
    }
}

fn wait(parser: &mut Parser, fields: &Fields<'_>, language: Language) -> Option<Kind> {
    fields.at_most_one(parser, &["Seconds", "SecondsPath", "Timestamp", "TimestampPath"]);
    if fields.has("Seconds") || fields.has("SecondsPath") {
        return fields.amount(parser, "Seconds", language, 0.0..=LONGEST).map(WaitFor::Seconds).map(Kind::Wait);
    }
    if !fields.has("Timestamp") && !fields.has("TimestampPath") {
        parser.invalid(fields.at(), "a Wait state needs `Seconds` or `Timestamp`, as a value or by path");
        return None;
    }
    let text = fields.words(parser, "Timestamp", language)?;
    if let Text::Fixed(moment) = &text
        && crate::time::parse_timestamp(moment).is_none()
    {
        parser.invalid(fields.pointer("Timestamp"), format!("`{moment}` is not a timestamp such as 2024-01-31T12:00:00Z"));
    }
    Some(Kind::Wait(WaitFor::Timestamp(text)))
}

fn parallel(parser: &mut Parser, fields: &Fields<'_>, language: Language) -> Option<Kind> {
    let arguments = fields.template(parser, arguments_field(language), language);
    let list = fields.required_list(parser, "Branches")?;
    let mut branches = Vec::with_capacity(list.len());
    for (at, branch) in list.iter().enumerate() {
        let pointer = format!("{}/{at}", fields.pointer("Branches"));
        branches.push(nested(parser, branch, &pointer, language, &[]));
    }
    let branches: Option<Vec<StateId>> = branches.into_iter().collect();
    Some(Kind::Parallel { branches: branches?, arguments })
}

/// Reads a branch or an item processor; `more` are fields that it may have besides the usual ones.
pub(super) fn nested(parser: &mut Parser, value: &Value, at: &str, language: Language, more: &[&str]) -> Option<StateId> {
    let Some(object) = value.as_object() else {
        parser.invalid(at, "expected an object with `StartAt` and `States`");
        return None;
    };
    let fields = Fields::new(object, at);
    fields.only(parser, &[&["Comment", "StartAt", "States", "QueryLanguage"], more].concat());
    let language = fields.language(parser, language);
    parser.scope(&fields, language)
}

fn select(parser: &mut Parser, fields: &Fields<'_>, field: &str) -> Select {
    match fields.get(field) {
        None => Select::Whole,
        Some(Value::Null) => Select::Nothing,
        Some(_) => match fields.path(parser, field) {
            Some(path) if path.steps().is_empty() && *path.root() == crate::path::Root::Input => Select::Whole,
            Some(path) => Select::Path(path),
            None => Select::Whole,
        },
    }
}

/// `ResultPath` of a state or a catcher.
pub(super) fn result_path(parser: &mut Parser, fields: &Fields<'_>) -> ResultPath {
    match fields.get("ResultPath") {
        None => ResultPath::Whole,
        Some(Value::Null) => ResultPath::Discard,
        Some(_) => {
            let Some(text) = fields.text(parser, "ResultPath") else { return ResultPath::Whole };
            match ReferencePath::parse(&text) {
                Ok(path) if path.path().steps().is_empty() => ResultPath::Whole,
                Ok(path) => ResultPath::At(path),
                Err(error) => {
                    let context = Path::parse(&text).is_ok_and(|path| *path.root() == crate::path::Root::Context);
                    let hint = if context { " (the context object cannot be written)" } else { "" };
                    parser.invalid(fields.pointer("ResultPath"), format!("`{text}` is not a reference path: {error}{hint}"));
                    ResultPath::Whole
                }
            }
        }
    }
}
