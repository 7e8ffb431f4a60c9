//! `muster run --dry-run`: exactly what would run.

use app::{ItemPlan, RunRequest};
use local::worker::enforcement;
use manifest::Fleet;
use model::{ArtifactRule, Definition, Timeouts};
use serde_json::{Value, json};

use crate::{
    context::{Context, shell_word},
    exit::Exit,
    failure::Failure,
    output::{Block, Data, Reply, data_of},
    paint::Paint,
    table::{Cell, painted},
    times::counted,
    wire,
};

/// What the worker adds to the environment; the first five where they are set here.
const ADDED: [&str; 10] =
    ["PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "MUSTER_OUT", "MUSTER_LOCATION", "MUSTER_DEADLINE", "TRACEPARENT"];

pub(super) async fn run(context: &Context, fleet: Fleet, request: &RunRequest) -> Result<Exit, Failure> {
    let definitions = fleet.definitions.clone();
    let console = wire::preview(context, fleet)?;
    let plan = console.app.plan(&context.scope, request).await?;
    let mut reply = Reply { ids: Vec::new(), data: Data::List(Vec::new()), text: Vec::new() };
    let mut data = Vec::with_capacity(plan.items.len());
    for item in &plan.items {
        reply.ids.push(item.item.unit.to_string());
        data.push(item_data(item));
        if !reply.text.is_empty() {
            reply.text.push(Block::Line(String::new()));
        }
        reply.text.push(Block::Fields(fields(context, item, &definitions)));
    }
    reply.data = Data::List(data);
    context.screen.reply(&reply);
    context.screen.note(&format!(
        "dry run: {} would run; nothing was started and nothing was written",
        counted(plan.items.len() as u64, "unit")
    ));
    Ok(Exit::Ok)
}

/// The plan of an item. Values of the environment stay out: what a person passes on to a unit may be meant for it alone.
fn item_data(item: &ItemPlan) -> Value {
    let mut data = data_of(item);
    data["assignment"]["environment"] = json!(item.assignment.environment.keys().collect::<Vec<_>>());
    data["enforcement"] = json!(enforcement(&item.assignment.resources));
    data
}

fn fields(context: &Context, plan: &ItemPlan, definitions: &[Definition]) -> Vec<(&'static str, Cell)> {
    let ItemPlan { item, assignment, slots, needs, timeouts, attempts } = plan;
    let words: Vec<String> = assignment.run.iter().map(|word| shell_word(word)).collect();
    let mut names: Vec<&str> = assignment.environment.keys().map(String::as_str).collect();
    names.extend(ADDED.iter().filter(|name| **name != "MUSTER_DEADLINE" || assignment.running.is_some()));
    names.sort_unstable();
    let secrets: Vec<String> = assignment.secrets.iter().map(|(name, from)| format!("{name} from {from}")).collect();
    let slots: Vec<String> = slots.iter().map(|(key, limit)| format!("{key} (1 of {limit})")).collect();
    let parameters: Vec<String> = item.parameters.iter().map(|(name, value)| format!("{name}={}", plain(value))).collect();
    let artifacts: Vec<String> = assignment.artifacts.iter().map(artifact).collect();
    vec![
        ("unit", painted(format!("{} (revision {})", item.unit, item.revision), Paint::Name)),
        ("command", words.join(" ").into()),
        ("folder", format!("a new one with a link to each file of {}; results go into $MUSTER_OUT", assignment.location).into()),
        ("parameters", parameters.join(", ").into()),
        ("environment", names.join(", ").into()),
        ("passed on", assignment.pass_environment.join(", ").into()),
        ("secrets", secrets.join(", ").into()),
        ("slot", crate::times::absolute(item.slot, context.screen.zone()).into()),
        ("cap", assignment.limit.map(|limit| limit.to_string()).unwrap_or_default().into()),
        ("tier", tier(plan, definitions).into()),
        ("slots", slots.join(", ").into()),
        ("needs", needs.join(", ").into()),
        ("timeouts", times(timeouts).into()),
        ("attempts", format!("at most {attempts}").into()),
        ("artifacts", artifacts.join("\n").into()),
    ]
}

fn tier(plan: &ItemPlan, definitions: &[Definition]) -> String {
    let name = &plan.item.tier;
    let capacity = definitions.iter().find_map(|definition| match definition {
        Definition::Tier(tier) if tier.name == *name => Some(tier.capacity),
        Definition::Tier(_) | Definition::Job(_) | Definition::Limit(_) => None,
    });
    let room = capacity.map_or_else(String::new, |capacity| format!(", {capacity} at once"));
    let mut lines = vec![format!("{name}: {}{room}", plan.item.launch)];
    lines.extend(enforcement(&plan.assignment.resources));
    lines.join("\n")
}

/// How long each part may take.
pub(super) fn times(timeouts: &Timeouts) -> String {
    let or_none = |span: Option<model::Span>| span.map_or_else(|| "no limit".to_owned(), |span| span.to_string());
    format!(
        "waiting {}, starting {}, running {}, stopping {}",
        or_none(timeouts.waiting),
        timeouts.starting,
        or_none(timeouts.running),
        timeouts.stopping
    )
}

/// A value without the quotes of JSON.
pub(super) fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// A rule for what a unit publishes: its columns in one line, then a line a check.
pub(super) fn artifact(rule: &ArtifactRule) -> String {
    let data = data_of(rule);
    let list = |key: &str| -> Vec<String> { data.get(key).and_then(Value::as_array).into_iter().flatten().map(plain).collect() };
    let mut text = plain(&data["path"]);
    for key in ["key", "columns"] {
        let values = list(key);
        if !values.is_empty() {
            text.push_str(&format!("; {key} {}", values.join(", ")));
        }
    }
    for check in list("checks") {
        text.push_str(&format!("\n  {check}"));
    }
    text
}
