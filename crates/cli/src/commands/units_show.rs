//! `muster units show`

use model::{Concurrency, Kind, Parameter, Unit};

use super::{
    dry_run::{artifact, plain, times},
    units_list::state,
};
use crate::{
    context::{Context, shell_word},
    exit::Exit,
    failure::Failure,
    fleet,
    output::{Block, Reply, data_of},
    paint::Paint,
    table::{Cell, painted, status},
    times::both,
    wire,
};

pub(super) async fn run(context: &Context, name: &str) -> Result<Exit, Failure> {
    let console = wire::preview(context, fleet::load(context)?)?;
    let unit = console.app.unit_view(&context.scope, name).await?;
    let content = &unit.revised.content;
    let applied = match wire::visit(context)?.app.unit_revisions(&context.scope, name, 1).await {
        Ok(latest) if latest.first().is_some_and(|latest| latest.revision == unit.revised.revision) => {
            both(Some(unit.revised.applied_at), context.now(), &context.screen)
        }
        Ok(_) => "not yet; the next run applies it".into(),
        Err(fault) if fault.kind == Kind::NotFound => "not yet; the next run applies it".into(),
        Err(fault) => return Err(fault.into()),
    };
    let stopped = match (&unit.disabled, content.enabled) {
        (Some(why), _) => why.clone(),
        (None, false) => "disabled in its manifest (enabled: false)".to_owned(),
        (None, true) => state(&unit).to_owned(),
    };
    let mut fields = vec![
        ("unit", painted(&content.name, Paint::Name)),
        ("description", content.description.clone().unwrap_or_default().into()),
        ("owner", content.owner.clone().unwrap_or_default().into()),
        ("state", Cell { paint: status(state(&unit)).paint, text: stopped }),
        ("revision", unit.revised.revision.into()),
        ("applied", applied),
    ];
    fields.extend(definition(content));
    context.screen.reply(&Reply::one(name, data_of(&unit), vec![Block::Fields(fields)]));
    Ok(Exit::Ok)
}

fn definition(unit: &Unit) -> Vec<(&'static str, Cell)> {
    let words: Vec<String> = unit.run.iter().map(|word| shell_word(word.as_str())).collect();
    let joined = |words: Vec<String>| Cell::from(words.join("\n"));
    let concurrency = unit.concurrency.as_ref().map_or_else(String::new, |Concurrency { limit, per }| match per {
        Some(parameter) => format!("{limit} for each value of {parameter}"),
        None => limit.to_string(),
    });
    let retry = &unit.retry;
    let attempts = match retry.attempts {
        1 => "1".to_owned(),
        attempts => format!("at most {attempts}, {} apart (factor {})", retry.backoff, retry.factor),
    };
    vec![
        ("tags", unit.tags.join(", ").into()),
        ("command", words.join(" ").into()),
        ("location", (&unit.location).into()),
        ("tier", (&unit.tier).into()),
        ("parameters", joined(unit.parameters.iter().map(parameter).collect())),
        ("environment", joined(unit.environment.iter().map(|(name, value)| format!("{name}={}", value.as_str())).collect())),
        ("passed on", unit.pass_environment.join(", ").into()),
        ("secrets", joined(unit.secrets.iter().map(|(name, from)| format!("{name} from {from}")).collect())),
        (
            "needs",
            joined(unit.needs.iter().map(|need| format!("{} (verdict {})", need.unit, plain(&data_of(&need.verdict)))).collect()),
        ),
        ("priority", unit.priority.into()),
        ("at once", concurrency.into()),
        ("limits", joined(unit.limits.iter().map(ToString::to_string).collect())),
        ("attempts", attempts.into()),
        ("timeouts", times(&unit.timeouts).into()),
        ("artifacts", joined(unit.artifacts.iter().map(artifact).collect())),
    ]
}

fn parameter((name, parameter): (&String, &Parameter)) -> String {
    let kind = plain(&data_of(&parameter.kind));
    let default = parameter.default.as_ref().map_or_else(|| "required".to_owned(), |value| format!("default {}", plain(value)));
    let description = parameter.description.as_ref().map_or_else(String::new, |text| format!(": {text}"));
    format!("{name} ({kind}, {default}){description}")
}
