//! The language as types: the source of the JSON Schema and of the reference.
//!
//! Nothing is decoded into them: the decoder reads trees by hand, since its messages name places and causes. A test compares
//! the keys of both. Doc comments here are the descriptions that editors show and the reference prints.

#![expect(dead_code, reason = "read by the derive, which makes the schema of them")]

use std::{borrow::Cow, collections::BTreeMap};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::json;

/// One document of a manifest.
#[derive(JsonSchema)]
#[schemars(untagged)]
pub(crate) enum Manifest {
    Job(Box<Job>),
    Tier(Tier),
    Limit(Limit),
}

/// A program that runs to completion. Without `kind`, a document is a job.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct Job {
    /// The kind of the document.
    #[schemars(extend("default" = "job"))]
    kind: Option<JobKind>,
    /// Unique among the jobs of the fleet.
    name: Name,
    /// One sentence for people.
    description: Option<Text>,
    /// Who answers for it.
    owner: Option<Text>,
    /// `false`: nothing starts it.
    #[schemars(extend("default" = true))]
    enabled: Option<bool>,
    /// Words to select units by.
    #[schemars(extend("uniqueItems" = true))]
    tags: Option<Vec<Text>>,
    /// Program and arguments. No shell reads them; numbers and words such as `true` stand in quotes.
    #[schemars(length(min = 1))]
    run: Vec<Template>,
    /// The folder of the unit's files, relative to the manifest's folder or absolute. Without it, the manifest's folder.
    #[schemars(extend("default" = "."))]
    location: Option<Text>,
    /// The tier that it runs on.
    #[schemars(extend("default" = "default"))]
    tier: Option<Name>,
    /// What a caller may set, by name (a-z, 0-9, `-`, `_`).
    #[schemars(extend("propertyNames" = {"pattern": "^[a-z][a-z0-9_-]{0,62}$"}))]
    parameters: Option<BTreeMap<String, Parameter>>,
    /// Variables to set, by name.
    #[schemars(extend("propertyNames" = {"pattern": "^[A-Za-z_][A-Za-z0-9_]*$"}))]
    environment: Option<BTreeMap<String, Template>>,
    /// Variables to copy from the environment of the control process. PATH, HOME, LANG, LC_ALL, TZ and TMPDIR are always set.
    #[schemars(extend("uniqueItems" = true))]
    pass_environment: Option<Vec<Variable>>,
    /// Variables to fill with secrets: each with the secret's reference, never its value.
    #[schemars(extend("propertyNames" = {"pattern": "^[A-Za-z_][A-Za-z0-9_]*$"}))]
    secrets: Option<BTreeMap<String, SecretReference>>,
    /// Units that must succeed first, where the same run holds them.
    needs: Option<Vec<NeedForm>>,
    /// Higher starts first.
    #[schemars(range(min = -100, max = 100), extend("default" = 0))]
    priority: Option<i8>,
    /// How many executions of the unit may run at once.
    concurrency: Option<ConcurrencyForm>,
    /// Shared limits of which each execution holds one slot.
    #[schemars(extend("uniqueItems" = true))]
    limits: Option<Vec<Name>>,
    /// When a failed attempt is tried again. Without it, only `lost`, `capacity`, `throttled` and `interrupted` ones are, for free.
    retry: Option<Retry>,
    /// How long it may take: one span for the running program, or one for each part.
    timeout: Option<TimeoutForm>,
    /// What an exit code means, where it differs from: 0 success, 75 retry, any other fail.
    #[schemars(extend("propertyNames" = {"pattern": "^([0-9]|[1-9][0-9]|1[0-9]{2}|2[0-4][0-9]|25[0-5])$"}))]
    exit_codes: Option<BTreeMap<String, ExitMeaning>>,
    /// Rules for what it publishes. Files that match none are published too, by default rules.
    artifacts: Option<Vec<Artifact>>,
    /// When it runs by itself. Kept, not yet acted on.
    schedule: Option<Schedule>,
}

/// A class of compute.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct Tier {
    /// The kind of the document.
    kind: TierKind,
    /// Unique among the tiers. A tier `default` replaces the built-in one.
    name: Name,
    /// One sentence for people.
    description: Option<Text>,
    /// What carries an execution out. A home on one machine launches processes only.
    #[schemars(extend("default" = "process"))]
    launch: Option<Launch>,
    /// Processor cores of one execution, such as 0.5. Without it, no bound.
    #[schemars(range(min = 0.001, max = 1024))]
    cpu: Option<f64>,
    /// Memory of one execution. Without it, no bound.
    memory: Option<Size>,
    /// How many executions at once.
    #[schemars(range(min = 1, max = 1_000_000), extend("default" = 16))]
    capacity: Option<u32>,
    /// `true`: interruptible compute. Means nothing for processes.
    #[schemars(extend("default" = false))]
    spot: Option<bool>,
    /// The most processes and threads of one execution. Without it, no bound.
    #[schemars(range(min = 1, max = 1_000_000))]
    pids: Option<u32>,
}

/// A limit that several units share, such as calls to one upstream.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct Limit {
    /// The kind of the document.
    kind: LimitKind,
    /// Unique among the limits.
    name: Name,
    /// One sentence for people.
    description: Option<Text>,
    /// How many executions at once, of all units that name it.
    #[schemars(range(min = 1, max = 1_000_000))]
    limit: u32,
}

/// What a caller may set, with `--param NAME=VALUE`. The unit finds it in `MUSTER_PARAM_NAME` and in `{{ params.NAME }}`.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct Parameter {
    /// What its values are.
    r#type: ParameterType,
    /// The value where a caller sets none. Without it, a caller must set one.
    default: Option<Scalar>,
    /// The only values allowed.
    #[schemars(length(min = 1), extend("uniqueItems" = true))]
    values: Option<Vec<Scalar>>,
    /// The least, for numbers.
    min: Option<f64>,
    /// The greatest, for numbers.
    max: Option<f64>,
    /// One sentence for people.
    description: Option<Text>,
}

/// A unit that must succeed first, and how good its output must be.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct Need {
    /// The unit.
    unit: Name,
    /// The verdict that is good enough.
    #[schemars(extend("default" = "any"))]
    verdict: Option<NeedVerdict>,
}

/// How many executions of one unit may run at once.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct Concurrency {
    /// How many.
    #[schemars(range(min = 1, max = 1_000_000))]
    limit: u32,
    /// The parameter of which each value has slots of its own.
    per: Option<Text>,
}

/// When a failed attempt is tried again.
///
/// `capacity`, `throttled`, `interrupted` and, unless `on` leaves it out, `lost` are tried again for free, 20 times at most.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct Retry {
    /// Attempts in all that the unit's own failures may use. Free retries cost none.
    #[schemars(range(min = 1, max = 100), extend("default" = 1))]
    attempts: Option<u32>,
    /// The shortest and the longest pause before another attempt; between them each varies by a quarter, so that failures spread.
    #[schemars(extend("default" = "1s..1m"))]
    backoff: Option<SpanRange>,
    /// What each further pause is multiplied by.
    #[schemars(range(min = 1, max = 100), extend("default" = 2))]
    factor: Option<u32>,
    /// Exit codes and reasons that deserve another attempt. Without it, all do but `quality`. Exit code 75 always asks for one.
    #[schemars(length(min = 1), extend("uniqueItems" = true))]
    on: Option<Vec<RetryOn>>,
}

/// How long each part of an execution may take.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct Timeout {
    /// In the queue. Without it, no bound.
    waiting: Option<Span>,
    /// From leaving the queue to the program's first instruction.
    #[schemars(extend("default" = "1m"))]
    starting: Option<Span>,
    /// From the first instruction to the exit. Without it, no bound.
    running: Option<Span>,
    /// From SIGTERM to SIGKILL.
    #[schemars(extend("default" = "10s"))]
    stopping: Option<Span>,
}

/// A rule for the files that match `path`.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct Artifact {
    /// A pattern relative to `$MUSTER_OUT`, with `*`, `?` and `**`.
    path: Text,
    /// How to read it.
    #[schemars(extend("default" = "auto"))]
    format: Option<Format>,
    /// Columns that together name a row.
    #[schemars(length(min = 1), extend("uniqueItems" = true))]
    key: Option<Vec<Text>>,
    /// Columns that must be there.
    #[schemars(length(min = 1), extend("uniqueItems" = true))]
    columns: Option<Vec<Text>>,
    /// How new the newest row must be.
    freshness: Option<Freshness>,
    /// What a file without rows means.
    #[schemars(extend("default" = "warn"))]
    empty: Option<Empty>,
    /// `true`: it is fine when no file matches.
    #[schemars(extend("default" = false))]
    optional: Option<bool>,
    /// What must hold, each in quotes, such as `"rows >= 100"` or `"unique(date, symbol)"`.
    checks: Option<Vec<Text>>,
    /// What a failed check does.
    #[schemars(extend("default" = "report"))]
    on_fail: Option<OnFail>,
}

/// How new the newest row of an artifact must be.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct Freshness {
    /// The column with the time of each row.
    column: Text,
    /// The oldest that the newest row may be.
    max_age: Span,
}

/// When a unit runs by itself. Kept, not yet acted on.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct Schedule {
    /// Minutes, hours, days, months and weekdays.
    cron: Option<serde_json::Value>,
    /// The time from one run to the next.
    every: Option<serde_json::Value>,
    /// One time.
    at: Option<serde_json::Value>,
    /// The zone of the times.
    timezone: Option<serde_json::Value>,
    /// What happens when the last run still runs.
    overlap: Option<serde_json::Value>,
    /// What happens to times that passed while nothing ran.
    catch_up: Option<serde_json::Value>,
}

/// `job`.
#[derive(JsonSchema)]
#[schemars(rename_all = "snake_case", inline)]
pub(crate) enum JobKind {
    Job,
}

/// `tier`.
#[derive(JsonSchema)]
#[schemars(rename_all = "snake_case", inline)]
pub(crate) enum TierKind {
    Tier,
}

/// `limit`.
#[derive(JsonSchema)]
#[schemars(rename_all = "snake_case", inline)]
pub(crate) enum LimitKind {
    Limit,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "snake_case", inline)]
pub(crate) enum Launch {
    /// A local process.
    Process,
    /// A Fargate task.
    Fargate,
    /// A Lambda function.
    Lambda,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "snake_case", inline)]
pub(crate) enum ParameterType {
    /// Any text.
    String,
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// `true` or `false`.
    Boolean,
    /// A day, such as 2013-02-05.
    Date,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "snake_case", inline)]
pub(crate) enum NeedVerdict {
    /// Success is enough.
    Any,
    /// `pass` or `warn`.
    Warn,
    /// Only `pass`.
    Pass,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "snake_case", inline)]
pub(crate) enum ExitMeaning {
    /// The work is done.
    Success,
    /// Another attempt, within `retry`.
    Retry,
    /// The work failed, and another attempt would too.
    Fail,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "snake_case", inline)]
pub(crate) enum Format {
    /// By name, then by content.
    Auto,
    /// Comma-separated values.
    Csv,
    /// Tab-separated values.
    Tsv,
    /// One JSON value a line.
    Jsonl,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "snake_case", inline)]
pub(crate) enum Empty {
    /// Expected.
    Ok,
    /// Suspicious.
    Warn,
    /// Wrong.
    Fail,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "snake_case", inline)]
pub(crate) enum OnFail {
    /// The verdict is reported; the execution succeeds all the same.
    Report,
    /// The execution fails with reason `quality`.
    Fail,
}

#[derive(JsonSchema)]
#[schemars(untagged, inline)]
pub(crate) enum NeedForm {
    Name(Name),
    Need(Need),
}

#[derive(JsonSchema)]
#[schemars(untagged, inline)]
pub(crate) enum ConcurrencyForm {
    Limit(#[schemars(range(min = 1, max = 1_000_000))] u32),
    Concurrency(Concurrency),
}

#[derive(JsonSchema)]
#[schemars(untagged, inline)]
pub(crate) enum TimeoutForm {
    Running(Span),
    Timeout(Timeout),
}

#[derive(JsonSchema)]
#[schemars(untagged, inline)]
pub(crate) enum RetryOn {
    Code(#[schemars(range(min = 1, max = 255))] u8),
    Reason(Reason),
}

/// Units from the largest down, of which one at least is there.
const SPAN: &str = "(0|[0-9]+d([0-9]+h)?([0-9]+m)?([0-9]+s)?([0-9]+ms)?|[0-9]+h([0-9]+m)?([0-9]+s)?([0-9]+ms)?\
    |[0-9]+m([0-9]+s)?([0-9]+ms)?|[0-9]+s([0-9]+ms)?|[0-9]+ms)";

/// Types that are one text or number each, with their schema.
macro_rules! leaf {
    ($($name:ident: $schema:expr;)*) => {$(
        pub(crate) struct $name;

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                $schema
            }
        }
    )*};
}

leaf! {
    Name: json_schema!({
        "title": "name", "description": "Lower-case words joined by hyphens, at most 63 letters: `daily-prices`.",
        "type": "string", "pattern": "^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$"
    });
    Text: json_schema!({ "title": "text", "description": "Any text but an empty one.", "type": "string", "pattern": "[^\\s]" });
    Template: json_schema!({
        "title": "template",
        "description": "Text with holes: `{{ slot | date }}`. Names: `slot`, `params.NAME`, `run`, `execution`, `attempt`, \
            `unit`, `tenant`, `org`, `project`, `limit`. Filters for times and days: `date` (2013-02-05), `datetime` \
            (2013-02-05T06:30:00Z), `hour` (06), `compact` (20130205). `{{ \"{{\" }}` writes two braces.",
        "type": "string"
    });
    Variable: json_schema!({
        "title": "variable", "description": "The name of a variable, which does not start with `MUSTER_`.",
        "type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]*$"
    });
    SecretReference: json_schema!({
        "title": "secret reference", "description": "The path of a secret: `prices/api-key`.",
        "type": "string", "pattern": "^[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+)*$", "maxLength": 512
    });
    Span: json_schema!({
        "title": "span", "description": "A span of time: `250ms`, `10s`, `5m`, `2h`, `1d`, joined from the largest unit \
            (`1h30m`); or `0`.",
        "anyOf": [{ "type": "string", "pattern": format!("^{SPAN}$") }, { "const": 0 }]
    });
    SpanRange: json_schema!({
        "title": "span range", "description": "From a shortest to a longest span: `10s..5m`. One span alone is both.",
        "anyOf": [
            { "type": "string", "pattern": format!("^{SPAN}([.][.]{SPAN})?$") },
            { "const": 0 }
        ]
    });
    Size: json_schema!({
        "title": "size", "description": "A size: `64KiB`, `512MiB`, `1GiB` (of 1024), `500KB`, `500MB`, `2GB` (of 1000).",
        "type": "string", "pattern": "^0*[1-9][0-9]* *(B|KB|KiB|MB|MiB|GB|GiB)$"
    });
    Scalar: json_schema!({
        "title": "value", "description": "A text, a number, `true` or `false`, as the parameter's type says.",
        "type": ["string", "number", "boolean"]
    });
    Reason: json_schema!({
        "title": "reason", "description": "Why an attempt failed.",
        "type": "string", "enum": retried_reasons()
    });
}

/// The reasons that an attempt may be retried for.
fn retried_reasons() -> serde_json::Value {
    let names = model::ReasonName::ALL.into_iter().filter(|reason| crate::timing::is_retried(*reason));
    json!(names.map(model::ReasonName::as_str).collect::<Vec<_>>())
}
