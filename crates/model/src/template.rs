//! Templates in arguments and environment values: `{{ slot | date }}`.

use std::{collections::BTreeMap, fmt};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{ExecutionId, Scope, Timestamp, UnitName};

/// A text with holes. A hole is `{{ NAME }}` or `{{ NAME | FILTER }}`; `{{ "{{" }}` writes two braces.
///
/// Names: `slot`, `run`, `execution`, `attempt`, `unit`, `tenant`, `org`, `project`, `limit` (empty without a cap),
/// `params.NAME`. Filters, for `slot` and parameters of type date: `date` (2013-02-05), `datetime` (RFC 3339), `hour`, `compact` (20130205).
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Template {
    source: String,
    parts: Vec<Part>,
}

#[derive(Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    Hole(Name, Option<Filter>),
}

#[derive(Clone, PartialEq, Eq)]
enum Name {
    Slot,
    Run,
    Execution,
    Attempt,
    Unit,
    Tenant,
    Org,
    Project,
    Limit,
    Parameter(String),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Filter {
    Date,
    DateTime,
    Hour,
    Compact,
}

/// What fills the holes.
#[derive(Debug, Clone, Copy)]
pub struct TemplateValues<'a> {
    /// The nominal time.
    pub slot: Timestamp,
    /// The execution.
    pub execution: ExecutionId,
    /// The attempt, from 1.
    pub attempt: u32,
    /// The unit.
    pub unit: &'a UnitName,
    /// Whose it is.
    pub scope: &'a Scope,
    /// The scope cap.
    pub limit: Option<u64>,
    /// The parameters.
    pub parameters: &'a BTreeMap<String, Value>,
}

/// A text that is not a template.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct BadTemplate {
    /// Where in the text, in bytes from 0.
    pub offset: usize,
    /// What is wrong, with what is known instead.
    pub message: String,
    /// The word that is not known and the words that are, for a suggestion.
    pub unknown: Option<(String, &'static [&'static str])>,
}

const NAMES: &[&str] = &["slot", "run", "execution", "attempt", "unit", "tenant", "org", "project", "limit", "params.NAME"];
const FILTERS: &[&str] = &["date", "datetime", "hour", "compact"];

impl Template {
    /// The template that `source` writes.
    ///
    /// # Errors
    /// An open hole, an unknown name or filter, with its place.
    pub fn parse(source: &str) -> Result<Template, BadTemplate> {
        let (mut parts, mut at) = (Vec::new(), 0);
        while let Some(open) = source[at..].find("{{").map(|found| at + found) {
            push_text(&mut parts, &source[at..open]);
            let inside = open + 2;
            if let Some(rest) = source[inside..].trim_start().strip_prefix("\"{{\"") {
                let Some(after) = rest.trim_start().strip_prefix("}}") else { return Err(never_closed(open)) };
                push_text(&mut parts, "{{");
                at = source.len() - after.len();
                continue;
            }
            let close = source[inside..].find("}}").ok_or_else(|| never_closed(open))?;
            parts.push(hole(&source[inside..inside + close], inside)?);
            at = inside + close + 2;
        }
        push_text(&mut parts, &source[at..]);
        Ok(Template { source: source.to_owned(), parts })
    }

    /// The text as written.
    pub fn as_str(&self) -> &str {
        &self.source
    }

    /// The parameters it names.
    pub fn parameters(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::Hole(Name::Parameter(name), _) => Some(name.as_str()),
            Part::Hole(..) | Part::Text(_) => None,
        })
    }

    /// The text with its holes filled; a parameter that is not set leaves nothing.
    pub fn render(&self, values: &TemplateValues<'_>) -> String {
        let mut text = String::with_capacity(self.source.len());
        for part in &self.parts {
            match part {
                Part::Text(part) => text.push_str(part),
                Part::Hole(name, filter) => text.push_str(&fill(name, *filter, values)),
            }
        }
        text
    }
}

fn push_text(parts: &mut Vec<Part>, text: &str) {
    match parts.last_mut() {
        _ if text.is_empty() => {}
        Some(Part::Text(last)) => last.push_str(text),
        Some(Part::Hole(..)) | None => parts.push(Part::Text(text.to_owned())),
    }
}

fn never_closed(offset: usize) -> BadTemplate {
    let message = "`{{` is never closed; write `{{ \"{{\" }}` for two braces".to_owned();
    BadTemplate { offset, message, unknown: None }
}

fn hole(inner: &str, offset: usize) -> Result<Part, BadTemplate> {
    let (name, filter) = match inner.split_once('|') {
        Some((name, filter)) => (name.trim(), Some(filter.trim())),
        None => (inner.trim(), None),
    };
    let unknown = |what: &str, word: &str, known: &'static [&'static str]| BadTemplate {
        offset: offset + inner.find(word).unwrap_or(0),
        message: format!("`{word}` is not a template {what}; known: {}", known.join(", ")),
        unknown: Some((word.to_owned(), known)),
    };
    let parsed_name = match name {
        "slot" => Name::Slot,
        "run" => Name::Run,
        "execution" => Name::Execution,
        "attempt" => Name::Attempt,
        "unit" => Name::Unit,
        "tenant" => Name::Tenant,
        "org" => Name::Org,
        "project" => Name::Project,
        "limit" => Name::Limit,
        other => match other.strip_prefix("params.").filter(|name| !name.is_empty()) {
            Some(parameter) => Name::Parameter(parameter.to_owned()),
            None => return Err(unknown("name", other, NAMES)),
        },
    };
    let parsed_filter = match filter {
        None => None,
        Some("date") => Some(Filter::Date),
        Some("datetime") => Some(Filter::DateTime),
        Some("hour") => Some(Filter::Hour),
        Some("compact") => Some(Filter::Compact),
        Some(other) => return Err(unknown("filter", other, FILTERS)),
    };
    Ok(Part::Hole(parsed_name, parsed_filter))
}

fn fill(name: &Name, filter: Option<Filter>, values: &TemplateValues<'_>) -> String {
    match name {
        Name::Slot => format_time(values.slot, filter.unwrap_or(Filter::DateTime)),
        Name::Run => values.execution.run.to_string(),
        Name::Execution => values.execution.to_string(),
        Name::Attempt => values.attempt.to_string(),
        Name::Unit => values.unit.to_string(),
        Name::Tenant => values.scope.tenant().to_owned(),
        Name::Org => values.scope.org().to_owned(),
        Name::Project => values.scope.project().to_owned(),
        Name::Limit => values.limit.map(|limit| limit.to_string()).unwrap_or_default(),
        Name::Parameter(name) => {
            let text = match values.parameters.get(name) {
                None | Some(Value::Null) => String::new(),
                Some(Value::String(text)) => text.clone(),
                Some(other @ (Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_))) => other.to_string(),
            };
            let midnight = || format!("{text}T00:00:00Z").parse::<Timestamp>().ok();
            match filter.and_then(|filter| Some((filter, text.parse().ok().or_else(midnight)?))) {
                Some((filter, time)) => format_time(time, filter),
                None => text,
            }
        }
    }
}

fn format_time(time: Timestamp, filter: Filter) -> String {
    match filter {
        Filter::Date => time.strftime("%Y-%m-%d").to_string(),
        Filter::DateTime => time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        Filter::Hour => time.strftime("%H").to_string(),
        Filter::Compact => time.strftime("%Y%m%d").to_string(),
    }
}

impl fmt::Debug for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.source)
    }
}

impl TryFrom<String> for Template {
    type Error = BadTemplate;
    fn try_from(source: String) -> Result<Template, BadTemplate> {
        Template::parse(&source)
    }
}

impl From<Template> for String {
    fn from(template: Template) -> String {
        template.source
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RunId;

    fn render(source: &str) -> String {
        let unit: UnitName = "daily-prices".parse().unwrap();
        let scope = Scope::local();
        let parameters = BTreeMap::from([
            ("airport".to_owned(), Value::from("JFK")),
            ("day".to_owned(), Value::from("2013-02-08")),
            ("days".to_owned(), Value::from(3)),
        ]);
        let values = TemplateValues {
            slot: "2013-02-05T06:30:00Z".parse().unwrap(),
            execution: ExecutionId { run: RunId::from_bits(1), item: 4 },
            attempt: 2,
            unit: &unit,
            scope: &scope,
            limit: None,
            parameters: &parameters,
        };
        Template::parse(source).unwrap().render(&values)
    }

    #[test]
    fn holes_are_filled_and_the_rest_is_left_alone() {
        assert_eq!(render("no holes: $HOME 'x' } }} é"), "no holes: $HOME 'x' } }} é");
        assert_eq!(
            render("{{slot|date}} {{ slot | compact }} {{ slot | hour }} {{ slot }}"),
            "2013-02-05 20130205 06 2013-02-05T06:30:00Z"
        );
        assert_eq!(
            render("{{ unit }}-{{ attempt }}-{{ params.airport }}-{{ params.days }}[{{ limit }}]"),
            "daily-prices-2-JFK-3[]"
        );
        assert_eq!(render("{{ params.day | compact }}"), "20130208");
        assert_eq!(render("{{ \"{{\" }} slot }}"), "{{ slot }}");
    }

    #[test]
    fn a_mistake_is_named_with_its_place() {
        let mistake = Template::parse("--since {{ slott | date }}").unwrap_err();
        assert_eq!((mistake.offset, mistake.unknown.map(|(word, _)| word)), (11, Some("slott".to_owned())));
        assert_eq!(Template::parse("x {{ slot").unwrap_err().offset, 2);
        assert!(Template::parse("{{ slot | week }}").unwrap_err().message.contains("compact"));
        assert!(Template::parse("{{ \"{{\" ").is_err());
    }
}
