//! `muster signals`

use app::Fault;
use model::{ArtifactRecord, Execution, Outcome, Verdict};
use serde_json::{Value, json};
use signals::Document;

use super::which;
use crate::{
    args::Signals,
    context::Context,
    evidence,
    exit::Exit,
    failure::Failure,
    output::{Block, Data, Reply},
    paint::Paint,
    table::{Cell, Table, column, painted, status},
    times::count,
    wire::{self, Console},
};

pub(super) async fn run(context: &Context, arguments: Signals) -> Result<Exit, Failure> {
    let console = wire::visit(context)?;
    let found = which::find(context, &console, &arguments.which).await?;
    let view = which::view(context, &console, found).await?;
    let mut reply = Reply { ids: Vec::new(), data: Data::List(Vec::new()), text: Vec::new() };
    let mut data = Vec::new();
    for execution in &view.executions {
        let attempt = execution.output.or_else(|| execution.attempt().map(|attempt| attempt.number));
        let Some(attempt) = attempt else { continue };
        let Some(outcome) = evidence::outcome(&console.app, execution, attempt).await else { continue };
        add(&console, execution, &outcome, arguments.artifact.as_deref(), &mut reply, &mut data).await?;
    }
    if let Some(path) = arguments.artifact.filter(|_| data.is_empty()) {
        return Err(Fault::not_found(format!("artifact `{path}`")).with_hint("`muster artifacts` lists what there is.").into());
    }
    reply.data = Data::List(data);
    context.screen.reply(&reply);
    Ok(Exit::Ok)
}

async fn add(
    console: &Console,
    execution: &Execution,
    outcome: &Outcome,
    only: Option<&str>,
    reply: &mut Reply,
    data: &mut Vec<Value>,
) -> Result<(), Failure> {
    for artifact in outcome.artifacts.iter().filter(|artifact| only.is_none_or(|only| only == artifact.path)) {
        let content = console.app.object(&artifact.signals).await?;
        let raw: Value = serde_json::from_slice(&content).unwrap_or(Value::Null);
        if !reply.text.is_empty() {
            reply.text.push(Block::Line(String::new()));
        }
        match serde_json::from_slice::<Document>(&content) {
            Ok(document) => text(execution, artifact, &document, &mut reply.text),
            Err(error) => reply.text.push(Block::Line(format!("{}: its signals cannot be read: {error}", artifact.path))),
        }
        reply.ids.push(format!("{}/{}", execution.unit, artifact.path));
        data.push(json!({
            "execution": execution.id, "unit": execution.unit, "artifact": artifact.path, "verdict": artifact.verdict,
            "summary": artifact.summary, "document": raw,
        }));
    }
    // What no file stands for: a rule that matched nothing.
    if outcome.artifacts.is_empty() && only.is_none() && !outcome.findings.is_empty() {
        reply.text.extend(outcome.findings.iter().map(|finding| Block::Line(format!("{}: {finding}", execution.unit))));
        data.push(json!({ "execution": execution.id, "unit": execution.unit, "verdict": outcome.verdict, "findings": outcome.findings }));
    }
    Ok(())
}

fn text(execution: &Execution, artifact: &ArtifactRecord, document: &Document, text: &mut Vec<Block>) {
    let table = document.table.as_ref();
    let percent = |share: f64| format!("{:.1}%", share * 100.0);
    let repeats = table.and_then(|table| table.duplicate_rows.value).filter(|repeats| *repeats > 0);
    text.push(Block::Fields(vec![
        ("artifact", painted(format!("{}/{}", execution.unit, artifact.path), Paint::Name)),
        ("verdict", painted(artifact.verdict.as_str(), artifact.verdict.into())),
        ("summary", (&artifact.summary).into()),
        ("rows", table.map(|table| count(table.rows)).unwrap_or_default().into()),
        ("columns", table.map(|table| count(table.columns)).unwrap_or_default().into()),
        ("completeness", table.and_then(|table| table.completeness).map(percent).unwrap_or_default().into()),
        ("repeated rows", repeats.map(count).unwrap_or_default().into()),
        ("newest", document.freshness.newest.map(|newest| newest.to_string()).unwrap_or_default().into()),
        ("bytes", count(artifact.bytes).into()),
        ("sha256", artifact.sha256.into()),
    ]));
    let mut checks = Table::new(&[column("verdict"), column("check"), column("observed").right(), column("message").long()]);
    let mut sorted: Vec<_> = document.checks.iter().collect();
    sorted.sort_by_key(|check| std::cmp::Reverse(check.verdict));
    for check in sorted {
        let observed = check.observed.as_ref().and_then(|observed| serde_json::to_value(observed).ok());
        let observed = observed.map_or_else(String::new, |observed| super::dry_run::plain(&observed));
        let message = if check.verdict > Verdict::Pass { check.message.as_str() } else { "" };
        checks.rows.push(vec![status(check.verdict.as_str()), (&check.id).into(), observed.into(), message.into()]);
    }
    text.extend((!checks.rows.is_empty()).then(|| Block::Line(String::new())));
    text.push(Block::Table(checks));
    let mut findings = Table::new(&[column("finding"), column("column"), column("count").right(), column("line").right()]);
    for finding in &document.findings {
        let number = |number: Option<u64>| Cell::from(number.map(count).unwrap_or_default());
        findings.rows.push(vec![
            finding.code.into(),
            finding.column.clone().unwrap_or_default().into(),
            number(finding.count),
            number(finding.first_line),
        ]);
    }
    text.extend((!findings.rows.is_empty()).then(|| Block::Line(String::new())));
    text.push(Block::Table(findings));
}
