//! What the registry holds: units, tiers and shared limits, each an immutable revision.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{ByteSize, Digest, LimitName, ReasonName, Span, SpanRange, Template, TierName, Timestamp, UnitName};

/// One registry entry: a program that runs to completion (`kind: job`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Unit {
    /// Unique in the project.
    pub name: UnitName,
    /// One sentence for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Who answers for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// False: nothing starts. An operator's switch (kept beside the definition) can disable it too.
    pub enabled: bool,
    /// Words to select by.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Program and arguments; never joined into a shell line.
    pub run: Vec<Template>,
    /// Absolute folder of the unit's files.
    pub location: String,
    /// The class of compute.
    pub tier: TierName,
    /// What a caller may set.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: BTreeMap<String, Parameter>,
    /// Variables set for the unit.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub environment: BTreeMap<String, Template>,
    /// Variables copied from the control process's environment, when set there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pass_environment: Vec<String>,
    /// Variable → reference of a secret; the value is never stored.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub secrets: BTreeMap<String, String>,
    /// Units of the same run that must succeed first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<Need>,
    /// From -100 to 100; higher starts first.
    pub priority: i8,
    /// How many executions of this unit may run at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub concurrency: Option<Concurrency>,
    /// Shared limits of which each execution holds one slot.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<LimitName>,
    /// When a failed attempt is tried again.
    pub retry: RetryPolicy,
    /// How long each part of an execution may take.
    pub timeouts: Timeouts,
    /// What an exit code means where it differs from the default (0 success, 75 retry, others fail).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty", with = "by_code")]
    pub exit_codes: BTreeMap<u8, ExitMeaning>,
    /// Rules for what the unit publishes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<ArtifactRule>,
    /// The schedule as written: kept, not yet acted on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule: Option<Value>,
}

/// Codes are text as keys of JSON, and stay text while a tagged definition is read.
mod by_code {
    use std::collections::BTreeMap;

    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

    use super::ExitMeaning;

    pub(super) fn serialize<S: Serializer>(codes: &BTreeMap<u8, ExitMeaning>, serializer: S) -> Result<S::Ok, S::Error> {
        codes.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<u8, ExitMeaning>, D::Error> {
        let codes = BTreeMap::<String, ExitMeaning>::deserialize(deserializer)?;
        codes.into_iter().map(|(code, meaning)| Ok((code.parse().map_err(D::Error::custom)?, meaning))).collect()
    }
}

/// A named class of compute.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tier {
    /// Unique in the project.
    pub name: TierName,
    /// One sentence for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What carries an execution out.
    pub launch: LaunchKind,
    /// Bounds of one execution.
    pub resources: ResourceLimits,
    /// How many executions at once.
    pub capacity: u32,
    /// True: interruptible compute in the cloud; means nothing for processes.
    pub spot: bool,
}

impl Tier {
    /// The name of the tier that a unit without one gets.
    pub const DEFAULT: &str = "default";
    /// The capacity of a tier that states none.
    pub const DEFAULT_CAPACITY: u32 = 16;

    /// The tier `default` of a fleet that declares none: processes, 16 at once, no bounds.
    pub fn built_in() -> Tier {
        Tier {
            name: Self::DEFAULT.parse().expect("the literal is a name"),
            description: Some("Built in: local processes without bounds.".to_owned()),
            launch: LaunchKind::Process,
            resources: ResourceLimits::default(),
            capacity: Self::DEFAULT_CAPACITY,
            spot: false,
        }
    }
}

/// Bounds of one execution; an absent bound is no bound.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct ResourceLimits {
    /// Processor cores, in thousandths.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_millis: Option<u32>,
    /// Memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<ByteSize>,
    /// Processes and threads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processes: Option<u32>,
}

/// What carries an execution out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LaunchKind {
    /// A local process.
    Process,
    /// A Fargate task.
    Fargate,
    /// A Lambda function.
    Lambda,
}

impl LaunchKind {
    /// The word in manifests and in the state machine's Choice.
    pub fn as_str(self) -> &'static str {
        match self {
            LaunchKind::Process => "process",
            LaunchKind::Fargate => "fargate",
            LaunchKind::Lambda => "lambda",
        }
    }
}

/// A limit that several units share, such as calls to one upstream.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Limit {
    /// Unique in the project.
    pub name: LimitName,
    /// One sentence for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// How many executions at once.
    pub limit: u32,
}

/// A parameter that a caller may set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Parameter {
    /// Its type.
    #[serde(rename = "type")]
    pub kind: ParameterKind,
    /// Used when the caller sets none; a parameter without default is required.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
    /// The only values allowed, when not empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<Value>,
    /// The least number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
    /// The greatest number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
    /// One sentence for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// The type of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ParameterKind {
    /// Any text.
    String,
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// `true` or `false`.
    Boolean,
    /// A day, `YYYY-MM-DD`.
    Date,
}

impl Parameter {
    /// The value that `text` (from a command line) stands for, checked against type, list and bounds.
    ///
    /// # Errors
    /// A sentence that says what the parameter takes.
    pub fn read(&self, text: &str) -> Result<Value, String> {
        let value = match self.kind {
            ParameterKind::String | ParameterKind::Date => Value::from(text),
            ParameterKind::Integer => {
                text.parse::<i64>().map(Value::from).map_err(|_| format!("`{text}` is not a whole number"))?
            }
            // A whole number stays one, so that `3` prints as it was written.
            ParameterKind::Number => match text.parse::<i64>() {
                Ok(whole) => Value::from(whole),
                Err(_) => {
                    let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
                    number.map(Value::from).ok_or_else(|| format!("`{text}` is not a number"))?
                }
            },
            ParameterKind::Boolean => {
                text.parse::<bool>().map(Value::from).map_err(|_| format!("`{text}` is not true or false"))?
            }
        };
        self.check(&value).map(|()| value)
    }

    /// Whether `value` is allowed.
    ///
    /// # Errors
    /// A sentence that says what the parameter takes.
    pub fn check(&self, value: &Value) -> Result<(), String> {
        let (fits, wanted) = match self.kind {
            ParameterKind::String => (value.is_string(), "text"),
            ParameterKind::Integer => (value.is_i64() || value.is_u64(), "a whole number"),
            ParameterKind::Number => (value.is_number(), "a number"),
            ParameterKind::Boolean => (value.is_boolean(), "true or false"),
            ParameterKind::Date => {
                let day = value.as_str().is_some_and(|text| text.len() == 10 && text.parse::<jiff::civil::Date>().is_ok());
                (day, "a day such as 2013-02-05")
            }
        };
        if !fits {
            return Err(format!("{value} is not {wanted}"));
        }
        let same = |known: &Value| known == value || known.as_f64().is_some_and(|known| Some(known) == value.as_f64());
        if !self.values.is_empty() && !self.values.iter().any(same) {
            let known: Vec<String> = self.values.iter().map(Value::to_string).collect();
            return Err(format!("{value} is not one of {}", known.join(", ")));
        }
        let number = value.as_f64();
        if let (Some(number), Some(min)) = (number, self.min)
            && number < min
        {
            return Err(format!("{value} is below {min}"));
        }
        if let (Some(number), Some(max)) = (number, self.max)
            && number > max
        {
            return Err(format!("{value} is above {max}"));
        }
        Ok(())
    }
}

/// A unit of the same run that must succeed first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Need {
    /// The unit needed. Where the run does not hold it, the need is void.
    pub unit: UnitName,
    /// How good its output must be.
    pub verdict: NeedVerdict,
}

/// How good the output of a needed unit must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NeedVerdict {
    /// Success is enough.
    Any,
    /// No verdict, `pass` or `warn`.
    Warn,
    /// No verdict or `pass`.
    Pass,
}

/// How many executions of one unit may run at once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Concurrency {
    /// How many.
    pub limit: u32,
    /// The parameter whose every value has slots of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per: Option<String>,
}

/// When a failed attempt is tried again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RetryPolicy {
    /// Attempts in all that the unit's own failures may use; infrastructure reasons are free of charge.
    pub attempts: u32,
    /// The shortest and the longest pause before an attempt.
    pub backoff: SpanRange,
    /// What each further pause is multiplied by.
    pub factor: u32,
    /// Exit codes that deserve a retry. Empty together with `reasons`: every failure does.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub codes: Vec<u8>,
    /// Reasons that deserve a retry.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<ReasonName>,
}

impl Default for RetryPolicy {
    fn default() -> RetryPolicy {
        let backoff = SpanRange { from: Span::from_secs(1), to: Span::from_secs(60) };
        RetryPolicy { attempts: 1, backoff, factor: 2, codes: Vec::new(), reasons: Vec::new() }
    }
}

/// How long each part of an execution may take; an absent bound is no bound.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timeouts {
    /// Time in the queue, from the first permit asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting: Option<Span>,
    /// From permit to the program's first instruction.
    pub starting: Span,
    /// From the first instruction to the exit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub running: Option<Span>,
    /// From SIGTERM to SIGKILL.
    pub stopping: Span,
}

impl Default for Timeouts {
    fn default() -> Timeouts {
        Timeouts { waiting: None, starting: Span::from_secs(60), running: None, stopping: Span::from_secs(10) }
    }
}

/// What an exit code means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExitMeaning {
    /// The work is done.
    Success,
    /// Try again, within the attempts.
    Retry,
    /// The work failed and another attempt would too.
    Fail,
}

/// A rule for artifacts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ArtifactRule {
    /// Glob relative to the output folder (`*`, `?`, `**`).
    pub path: String,
    /// How to read it.
    pub format: ArtifactFormat,
    /// Columns that name a row.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub key: Vec<String>,
    /// Columns that must be there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<String>,
    /// How new its newest row must be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub freshness: Option<Freshness>,
    /// What no rows mean.
    pub empty: EmptyPolicy,
    /// True: no file matching is fine.
    pub optional: bool,
    /// Checks as written, each parsed when the manifest was loaded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<String>,
    /// What verdict `fail` does to the execution.
    pub on_fail: OnFail,
}

/// How to read an artifact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ArtifactFormat {
    /// By name, then by content.
    Auto,
    /// Comma-separated values.
    Csv,
    /// Tab-separated values.
    Tsv,
    /// One JSON value a line.
    Jsonl,
}

/// How new the newest row of an artifact must be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Freshness {
    /// The column with the row's time.
    pub column: String,
    /// The oldest that the newest row may be.
    pub max_age: Span,
}

/// What no rows mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EmptyPolicy {
    /// Expected.
    Ok,
    /// Suspicious.
    Warn,
    /// Wrong.
    Fail,
}

/// What verdict `fail` does to the execution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnFail {
    /// The verdict stands beside the state.
    Report,
    /// The execution fails with reason `quality`.
    Fail,
}

/// Any registry entry.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Definition {
    /// A unit.
    Job(Box<Unit>),
    /// A tier.
    Tier(Tier),
    /// A shared limit.
    Limit(Limit),
}

/// The kind of a registry entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DefinitionKind {
    /// A unit that runs to completion.
    Job,
    /// A class of compute.
    Tier,
    /// A shared limit.
    Limit,
}

impl DefinitionKind {
    /// The word in manifests and keys.
    pub fn as_str(self) -> &'static str {
        match self {
            DefinitionKind::Job => "job",
            DefinitionKind::Tier => "tier",
            DefinitionKind::Limit => "limit",
        }
    }
}

impl Definition {
    /// Its kind.
    pub fn kind(&self) -> DefinitionKind {
        match self {
            Definition::Job(_) => DefinitionKind::Job,
            Definition::Tier(_) => DefinitionKind::Tier,
            Definition::Limit(_) => DefinitionKind::Limit,
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        match self {
            Definition::Job(unit) => unit.name.as_str(),
            Definition::Tier(tier) => tier.name.as_str(),
            Definition::Limit(limit) => limit.name.as_str(),
        }
    }

    /// The digest of its content: equal content is the same revision.
    pub fn digest(&self) -> Digest {
        Digest::of(&serde_json::to_vec(self).expect("a definition is JSON: its maps have text keys"))
    }
}

/// An immutable revision of a registry entry.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Revised<T> {
    /// Counts from 1 for each entry.
    pub revision: u64,
    /// When it was applied.
    pub applied_at: Timestamp,
    /// The content.
    pub content: T,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameter(kind: ParameterKind, values: Vec<Value>) -> Parameter {
        Parameter { kind, default: None, values, min: Some(0.0), max: None, description: None }
    }

    #[test]
    fn a_parameter_reads_text_as_its_type() {
        let number = parameter(ParameterKind::Number, vec![Value::from(3), Value::from(0.5)]);
        assert_eq!(number.read("3"), Ok(Value::from(3)));
        assert_eq!(number.read("3.0"), Ok(Value::from(3.0)), "3.0 is the 3 of the list");
        assert!(number.read("4").is_err() && number.read("nan").is_err() && number.read("x").is_err());
        let integer = parameter(ParameterKind::Integer, Vec::new());
        assert_eq!(integer.read("7"), Ok(Value::from(7)));
        assert!(integer.read("-1").is_err_and(|why| why.contains("below 0")));
        let date = parameter(ParameterKind::Date, Vec::new());
        assert!(date.read("2013-02-08").is_ok() && date.read("2013-02-30").is_err() && date.read("2013-2-8").is_err());
    }

    #[test]
    fn a_definition_comes_back_from_json() {
        let text = r#"{"kind":"job","name":"a","enabled":true,"run":["a"],"location":"/a","tier":"default","priority":0,
            "retry":{"attempts":1,"backoff":"1s","factor":2},"timeouts":{"starting":"1m","stopping":"10s"},
            "exit_codes":{"3":"success","137":"fail"}}"#;
        let definition: Definition = serde_json::from_str(text).unwrap();
        let Definition::Job(unit) = &definition else { panic!("{definition:?}") };
        assert_eq!(unit.exit_codes, BTreeMap::from([(3, ExitMeaning::Success), (137, ExitMeaning::Fail)]));
        let again = serde_json::to_string(&definition).unwrap();
        assert_eq!(serde_json::from_str::<Definition>(&again).unwrap(), definition);
        assert!(serde_json::from_str::<Definition>(&text.replace("137", "300")).is_err());
    }
}
