//! What an execution still waits for.

use std::sync::Arc;

use crate::command::Command;
use crate::core::Core;
use crate::definition::{Kind, Machine, MapState, State};
use crate::frame::{Doing, Frame, MapRun, Part, Reading, Results, Source, TaskRun, Writing};
use crate::iteration::items_wanted;
use crate::{ReadId, WriteId};

/// Every awaited command, in the order of their ids.
pub(crate) fn commands(core: &Core, machine: &Machine) -> Vec<Command> {
    let mut found: Vec<(u64, Command)> =
        core.timers.iter().map(|(timer, armed)| (timer.0, Command::StartTimer { timer: *timer, at: armed.at })).collect();
    for frame in core.frames.iter() {
        let state = machine.state(frame.state);
        match &frame.doing {
            Doing::Task(task) => found.extend(start_task(state, frame, task).map(|start| (task.task.0, start))),
            Doing::Map(run) => {
                if let Kind::Map(map) = &state.kind {
                    of_map(core, state, map, run, &mut found);
                }
            }
            Doing::Working | Doing::Waiting { .. } | Doing::Retrying { .. } | Doing::Parallel(_) => {}
        }
    }
    found.sort_unstable_by_key(|(id, _)| *id);
    found.into_iter().map(|(_, command)| command).collect()
}

/// The command by which a task is started, or seen to again.
pub(crate) fn start_task(state: &State, frame: &Frame, run: &TaskRun) -> Option<Command> {
    let Kind::Task(task) = &state.kind else { return None };
    Some(Command::StartTask {
        task: run.task,
        state: Arc::clone(&state.name),
        resource: task.resource.clone(),
        arguments: run.arguments.clone(),
        credentials: run.credentials.clone(),
        token: run.token.clone(),
        attempt: frame.retry_count(),
        timeout: run.timeout.map(|(_, seconds)| seconds),
        heartbeat: run.heartbeat.map(|(_, seconds)| seconds),
        submitted: run.submitted.clone(),
    })
}

fn of_map(core: &Core, state: &State, map: &MapState, run: &MapRun, found: &mut Vec<(u64, Command)>) {
    if let Source::Reader(reading) = &run.source
        && let Some(read) = reading.asked
    {
        let at_most = items_wanted(&core.start.limits, run, reading);
        found.extend(read_items(state, map, run, reading, read, at_most).map(|command| (read.0, command)));
    }
    if let Results::Written(writing) = &run.results {
        for (write, part) in &writing.pending {
            found.extend(write_results(state, map, run, writing, *write, part).map(|command| (write.0, command)));
        }
    }
}

/// The command that asks for the next items.
pub(crate) fn read_items(
    state: &State,
    map: &MapState,
    run: &MapRun,
    reading: &Reading,
    read: ReadId,
    at_most: u64,
) -> Option<Command> {
    let reader = map.reader.as_ref()?;
    Some(Command::ReadItems {
        read,
        run: run.id,
        state: Arc::clone(&state.name),
        resource: reader.resource.clone(),
        arguments: reading.arguments.clone(),
        config: reader.config.clone(),
        from: reading.delivered,
        at_most,
    })
}

/// The command that hands over a part of the results.
pub(crate) fn write_results(
    state: &State,
    map: &MapState,
    run: &MapRun,
    writing: &Writing,
    write: WriteId,
    part: &Part,
) -> Option<Command> {
    let writer = map.writer.as_ref()?;
    Some(Command::WriteResults {
        write,
        run: run.id,
        state: Arc::clone(&state.name),
        resource: writer.resource.clone(),
        arguments: writing.arguments.clone(),
        config: writer.config.clone(),
        part: part.number,
        results: Arc::clone(&part.results),
        last: part.last,
    })
}
