//! What a Task calls, and how Map reads items and writes results.

use std::sync::Arc;

/// The `Resource` of a Task, an item reader or a result writer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    /// The text as it stands in the definition.
    pub text: Arc<str>,
    /// What is called.
    pub target: Target,
    /// When the call counts as done.
    pub pattern: Pattern,
}

/// What a resource names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// `arn:aws:states:::<service>:<action>`, for example `ecs` and `runTask`; an SDK integration keeps its prefix:
    /// `aws-sdk:s3` and `getObject`.
    Integration {
        /// The service.
        service: Arc<str>,
        /// The action, without the suffix that tells the pattern.
        action: Arc<str>,
    },
    /// The ARN of a function; the arguments are its payload, the result is the task's output as it is.
    Function,
    /// The ARN of an activity, which workers ask for.
    Activity,
}

/// When a task's call counts as done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// When the service answers.
    RequestResponse,
    /// `.sync`: when the job that it started has ended.
    Sync,
    /// `.sync:2`: as `.sync`, and the answer's texts of JSON are read.
    SyncJson,
    /// `.waitForTaskToken`: when somebody hands back the token.
    WaitForTaskToken,
}

impl Resource {
    /// Reads the text of a `Resource` field. None if it is no ARN of a form that the language knows.
    #[must_use]
    pub fn parse(text: &str) -> Option<Resource> {
        let parts: Vec<&str> = text.splitn(6, ':').collect();
        let [arn, _partition, service, _region, _account, rest] = parts.as_slice() else { return None };
        if *arn != "arn" || rest.is_empty() {
            return None;
        }
        let (target, pattern) = match *service {
            "states" if rest.starts_with("activity:") => (Target::Activity, Pattern::RequestResponse),
            "states" => integration(rest)?,
            _ => (Target::Function, Pattern::RequestResponse),
        };
        Some(Resource { text: Arc::from(text), target, pattern })
    }
}

fn integration(rest: &str) -> Option<(Target, Pattern)> {
    let (call, pattern) = if let Some(call) = rest.strip_suffix(".sync:2") {
        (call, Pattern::SyncJson)
    } else if let Some(call) = rest.strip_suffix(".sync") {
        (call, Pattern::Sync)
    } else if let Some(call) = rest.strip_suffix(".waitForTaskToken") {
        (call, Pattern::WaitForTaskToken)
    } else {
        (rest, Pattern::RequestResponse)
    };
    let (service, action) = call.rsplit_once(':')?;
    if service.is_empty() || action.is_empty() {
        return None;
    }
    Some((Target::Integration { service: Arc::from(service), action: Arc::from(action) }, pattern))
}

/// How an `ItemReader` reads: its `ReaderConfig`, but for the number of items.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReaderConfig {
    /// `InputType`: `CSV`, `JSON`, `JSONL`, `PARQUET` or `MANIFEST`; absent for a listing.
    pub input_type: Option<Arc<str>>,
    /// `CSVHeaderLocation`: `FIRST_ROW` or `GIVEN`.
    pub csv_header_location: Option<Arc<str>>,
    /// `CSVHeaders`: the columns, where their names are given.
    pub csv_headers: Vec<Arc<str>>,
    /// `CSVDelimiter`: `COMMA`, `PIPE`, `SEMICOLON`, `SPACE` or `TAB`.
    pub csv_delimiter: Option<Arc<str>>,
    /// `ItemsPointer`: a JSON pointer to the list inside a JSON file.
    pub items_pointer: Option<Arc<str>>,
    /// `ManifestType`: `S3_INVENTORY` or `ATHENA_DATA`.
    pub manifest_type: Option<Arc<str>>,
    /// `Transformation` of a listing: `NONE` or `LOAD_AND_FLATTEN`.
    pub transformation: Option<Arc<str>>,
}

/// How a `ResultWriter` writes: its `WriterConfig`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WriterConfig {
    /// `OutputType`: `JSON` or `JSONL`.
    pub output_type: Option<Arc<str>>,
    /// `Transformation`: `NONE`, `COMPACT` or `FLATTEN`.
    pub transformation: Option<Arc<str>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn integration_of(text: &str) -> (String, String, Pattern) {
        let resource = Resource::parse(text).unwrap();
        let Target::Integration { service, action } = resource.target else { panic!("{text}") };
        (service.to_string(), action.to_string(), resource.pattern)
    }

    #[test]
    fn an_integration_is_service_action_and_pattern() {
        let sync = integration_of("arn:aws:states:::ecs:runTask.sync");
        assert_eq!(sync, ("ecs".into(), "runTask".into(), Pattern::Sync));
        let token = integration_of("arn:aws:states:::lambda:invoke.waitForTaskToken");
        assert_eq!(token, ("lambda".into(), "invoke".into(), Pattern::WaitForTaskToken));
        let nested = integration_of("arn:aws:states:::states:startExecution.sync:2");
        assert_eq!(nested, ("states".into(), "startExecution".into(), Pattern::SyncJson));
        let sdk = integration_of("arn:aws:states:::aws-sdk:s3:getObject");
        assert_eq!(sdk, ("aws-sdk:s3".into(), "getObject".into(), Pattern::RequestResponse));
    }

    #[test]
    fn other_arns_are_functions_and_activities() {
        let function = Resource::parse("arn:aws:lambda:us-east-1:111111111111:function:f").unwrap();
        assert_eq!(function.target, Target::Function);
        let activity = Resource::parse("arn:aws:states:us-east-1:111111111111:activity:a").unwrap();
        assert_eq!(activity.target, Target::Activity);
        for bad in ["", "f", "arn:aws:states:::", "arn:aws:states:::lambda", "arn:aws:lambda:us-east-1"] {
            assert_eq!(Resource::parse(bad), None, "{bad}");
        }
    }
}
