//! Following a run to its end: in the process that carries it out, or beside it.

use std::{collections::HashMap, time::Duration};

use app::{App, RunView};
use model::{Event, EventKind, Execution, ExecutionId, ObjectKey, RunId, Span};
use tokio::{
    sync::broadcast::{Receiver, error::RecvError},
    time::{Instant, MissedTickBehavior, interval},
};

use crate::{
    context::Context,
    failure::Failure,
    interrupt::Interrupt,
    log_lines::{self, Reader},
    paint::Paint,
    progress::{Progress, TICK},
    screen::Screen,
    wire::{self, Console},
};

/// How following ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// The run has ended.
    Ended,
    /// Somebody interrupted this command.
    Interrupted,
    /// This command's time is over.
    TimedOut,
    /// The process that carried the run out is gone.
    Abandoned,
}

/// Until when a command follows.
pub(crate) fn deadline(timeout: Option<Span>) -> Option<Instant> {
    timeout.map(|timeout| Instant::now() + timeout.duration())
}

/// Returns once the deadline has passed.
pub(crate) async fn passed(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

/// Follows a run that this process carries out. `events` must have been subscribed to before the run was started.
pub(crate) async fn here(
    context: &Context,
    console: &Console,
    run: RunId,
    mut events: Receiver<Event>,
    interrupt: &mut Interrupt,
    deadline: Option<Instant>,
) -> Result<End, Failure> {
    let mut following = Following::new(context, &console.app, run);
    if following.catch_up().await? {
        return Ok(End::Ended);
    }
    let mut ticks = interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let text = run.to_string();
    loop {
        tokio::select! {
            event = events.recv() => match event {
                Ok(event) if event.correlation_id != text => {}
                Ok(event) if event.kind == EventKind::RunEnded => {
                    following.live_log().await?;
                    return Ok(End::Ended);
                }
                Ok(event) if event.kind == EventKind::RunStarted => drop(following.catch_up().await?),
                Ok(event) => following.event(&event).await?,
                // The run made more events than this loop could tell: the store knows how it stands.
                Err(RecvError::Lagged(_)) if following.catch_up().await? => return Ok(End::Ended),
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return Ok(End::Abandoned),
            },
            _ = ticks.tick() => {
                following.progress.tick();
                following.live_log().await?;
            }
            () = interrupt.wait() => return Ok(End::Interrupted),
            () = passed(deadline) => return Ok(End::TimedOut),
        }
    }
}

/// How often the store is looked at beside another process.
const LOOK: Duration = Duration::from_millis(250);

/// Follows a run that another process carries out.
pub(crate) async fn beside(
    context: &Context,
    console: &Console,
    run: RunId,
    interrupt: &mut Interrupt,
    deadline: Option<Instant>,
) -> Result<End, Failure> {
    let mut following = Following { beside: true, ..Following::new(context, &console.app, run) };
    if following.catch_up().await? {
        return Ok(End::Ended);
    }
    let mut looks = interval(LOOK);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut version = None;
    loop {
        tokio::select! {
            _ = looks.tick() => {
                following.progress.tick();
                let held = wire::holder(context)?.is_some();
                let now = console.runs.foreign_changes().await.ok();
                if now.is_none() || now != version || !held {
                    version = now;
                    if following.look().await? {
                        return Ok(End::Ended);
                    }
                }
                following.live_log().await?;
                if !held {
                    return Ok(End::Abandoned);
                }
            }
            () = interrupt.wait() => return Ok(End::Interrupted),
            () = passed(deadline) => return Ok(End::TimedOut),
        }
    }
}

struct Following<'c> {
    context: &'c Context,
    app: &'c App,
    run: RunId,
    progress: Progress,
    live: Option<LiveLog>,
    /// Another process carries the run out: what happens is seen by comparing.
    beside: bool,
    /// The executions as last seen, beside another process.
    seen: HashMap<u32, Execution>,
}

impl<'c> Following<'c> {
    fn new(context: &'c Context, app: &'c App, run: RunId) -> Following<'c> {
        let progress = Progress::new(context.screen.clone());
        Following { context, app, run, progress, live: None, beside: false, seen: HashMap::new() }
    }

    /// Reads how the run stands; true where it has ended.
    async fn catch_up(&mut self) -> Result<bool, Failure> {
        let RunView { run, executions } = self.app.run_view(&self.context.scope, self.run).await?;
        self.progress.know(&executions);
        if let [only] = executions.as_slice() {
            self.live.get_or_insert_with(|| LiveLog::of(only));
        }
        if self.beside {
            self.seen = executions.into_iter().map(|execution| (execution.id.item, execution)).collect();
        }
        Ok(run.state.is_terminal())
    }

    /// Reads how the run stands and tells what has changed; true where it has ended.
    async fn look(&mut self) -> Result<bool, Failure> {
        let RunView { run, executions } = self.app.run_view(&self.context.scope, self.run).await?;
        if self.seen.is_empty() && !executions.is_empty() {
            return self.catch_up().await;
        }
        // What it wrote before it ended is told before its end.
        self.live_log().await?;
        for execution in executions {
            let before = self.seen.get(&execution.id.item);
            if before != Some(&execution) {
                if let (Some(live), Some(attempt)) = (&mut self.live, execution.attempt()) {
                    live.turn_to(self.context, self.app, attempt.number).await?;
                }
                self.progress.saw(before, &execution);
                self.seen.insert(execution.id.item, execution);
            }
        }
        Ok(run.state.is_terminal())
    }

    async fn event(&mut self, event: &Event) -> Result<(), Failure> {
        match event.kind {
            EventKind::AttemptGranted => {
                let attempt = event.data["attempt"].as_u64().and_then(|number| u32::try_from(number).ok());
                if let (Some(live), Some(attempt)) = (&mut self.live, attempt) {
                    live.turn_to(self.context, self.app, attempt).await?;
                }
            }
            EventKind::AttemptEnded | EventKind::ExecutionEnded => self.live_log().await?,
            EventKind::DefinitionApplied
            | EventKind::UnitSwitched
            | EventKind::RunCreated
            | EventKind::RunStarted
            | EventKind::RunEnded
            | EventKind::CancelRequested => {}
        }
        self.progress.event(event);
        Ok(())
    }

    async fn live_log(&mut self) -> Result<(), Failure> {
        match &mut self.live {
            Some(live) => live.drain(self.context, self.app).await,
            None => Ok(()),
        }
    }
}

/// The log of the only unit of a run, on the terminal while it is written.
struct LiveLog {
    execution: ExecutionId,
    unit: String,
    attempt: u32,
    reader: Option<Reader>,
}

impl LiveLog {
    fn of(execution: &Execution) -> LiveLog {
        let attempt = execution.attempt().map_or(0, |attempt| attempt.number);
        let key = ObjectKey::attempt(&execution.scope, execution.id, attempt).log();
        let reader = (attempt > 0).then(|| Reader::new(key));
        LiveLog { execution: execution.id, unit: execution.unit.to_string(), attempt, reader }
    }

    /// Tells the rest of the attempt before, then begins with this one.
    async fn turn_to(&mut self, context: &Context, app: &App, attempt: u32) -> Result<(), Failure> {
        if attempt != self.attempt || self.reader.is_none() {
            self.drain(context, app).await?;
            self.attempt = attempt;
            self.reader = Some(Reader::new(ObjectKey::attempt(&context.scope, self.execution, attempt).log()));
        }
        Ok(())
    }

    async fn drain(&mut self, context: &Context, app: &App) -> Result<(), Failure> {
        let Some(reader) = self.reader.as_mut().filter(|_| !context.screen.is_silent()) else { return Ok(()) };
        loop {
            let lines = reader.read(app).await?;
            if lines.is_empty() {
                return Ok(());
            }
            for line in lines {
                tell(&context.screen, &self.unit, &line.text);
            }
        }
    }
}

fn tell(screen: &Screen, unit: &str, text: &[u8]) {
    let prefix = screen.paint(Paint::Faint, &format!("{unit} |"));
    screen.note(&format!("{prefix} {}", log_lines::harmless(&String::from_utf8_lossy(text))));
}
