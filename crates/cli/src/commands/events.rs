//! `muster events`

use std::time::Duration;

use app::Fault;
use model::Event;
use serde_json::Value;
use tokio::time::interval;

use super::dry_run::plain;
use crate::{
    args::Events,
    context::Context,
    exit::Exit,
    failure::Failure,
    interrupt::Interrupt,
    output::{Reply, data_of},
    table::{Table, column},
    times::{absolute, clock},
    wire,
};

/// How many are read at once.
const PAGE: usize = 1_000;
const LOOK: Duration = Duration::from_millis(200);

pub(super) async fn run(context: &Context, arguments: Events) -> Result<Exit, Failure> {
    // A list that ends can be cut off by an ordinary Ctrl-C.
    let mut interrupt = if arguments.follow { Some(Interrupt::listen()?) } else { None };
    let console = wire::visit(context)?;
    let (mut after, mut left) = (arguments.after, arguments.limit.unwrap_or(usize::MAX));
    let mut all: Vec<(u64, Event)> = Vec::new();
    let mut looks = interval(LOOK);
    loop {
        let page = console.runs.events(&context.scope, after, PAGE.min(left)).await;
        let page = page.map_err(|error| Fault::store("read the events", error))?;
        after = page.last().map_or(after, |(position, _)| *position);
        left -= page.len();
        let is_end = page.len() < PAGE || left == 0;
        if arguments.follow {
            write_each(context, &page);
        } else {
            all.extend(page);
        }
        if is_end && (!arguments.follow || left == 0) || context.screen.is_closed() {
            break;
        }
        if let Some(interrupt) = interrupt.as_mut().filter(|_| is_end) {
            tokio::select! {
                _ = looks.tick() => {}
                () = interrupt.wait() => return Ok(Exit::Interrupted),
            }
        }
    }
    if !arguments.follow {
        write(context, &all);
    }
    Ok(Exit::Ok)
}

fn write(context: &Context, events: &[(u64, Event)]) {
    let mut table = Table::new(&[
        column("position").right(),
        column("time"),
        column("type"),
        column("subject"),
        column("event").wide(),
        column("what").long(),
    ]);
    let zone = context.screen.zone();
    for (position, event) in events {
        let time = if context.screen.is_wide() { absolute(event.time, zone) } else { clock(event.time, zone) };
        table.rows.push(vec![
            (*position).into(),
            time.into(),
            event.kind.as_str().into(),
            (&event.causation_id).into(),
            event.id.into(),
            words(event).into(),
        ]);
    }
    let ids = events.iter().map(|(_, event)| event.id.to_string()).collect();
    context.screen.reply(&Reply::list(ids, events.iter().map(data).collect(), table));
}

/// One by one, as they come: a list that never ends has no width and no closing bracket.
fn write_each(context: &Context, events: &[(u64, Event)]) {
    let zone = context.screen.zone();
    for at @ (position, event) in events {
        if context.screen.format().is_data() {
            context.screen.data(format!("{}\n", data(at)).as_bytes());
        } else if context.screen.is_quiet() {
            context.screen.data(format!("{}\n", event.id).as_bytes());
        } else {
            let line =
                format!("{position} {} {} {} {}", clock(event.time, zone), event.kind.as_str(), event.causation_id, words(event));
            context.screen.data(format!("{}\n", line.trim_end()).as_bytes());
        }
    }
}

fn data((position, event): &(u64, Event)) -> Value {
    let mut data = data_of(event);
    data["position"] = (*position).into();
    data
}

/// The facts that say most.
fn words(event: &Event) -> String {
    let mut parts = Vec::new();
    for key in ["unit", "state", "attempt", "verdict", "rows", "items", "name", "revision", "by", "message"] {
        match event.data.get(key) {
            None | Some(Value::Null) => {}
            Some(value) => parts.push(if key == "message" || key == "unit" || key == "state" {
                plain(value)
            } else {
                format!("{key} {}", plain(value))
            }),
        }
    }
    parts.join(", ")
}
