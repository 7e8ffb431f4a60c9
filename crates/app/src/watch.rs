//! The watchdog's tick: what no event brings. The gate is level-triggered, so that a lost wake-up costs one tick, never the item.

use engine::execution::Command;
use model::{CancelRequest, ExecutionId, ExecutionState, Reason, Scope, StopCause};
use ports::{ExecutionFilter, Stored};
use tracing::{debug, warn};

use crate::{
    App, Fault,
    board::{OpenRun, Seen, TimeLimit},
};

impl App {
    /// Looks after everything in hand: programs seen running, time limits that passed, requests that the store did not take, and what
    /// other processes wrote. Call it every fraction of a second; it reads the store only when somebody else wrote.
    pub async fn tick(&self) {
        self.write_seen().await;
        self.deliver_owed();
        self.keep_limits().await;
        self.ask_again().await;
        self.close_cancelled().await;
        if let Err(fault) = self.follow_others().await {
            warn!(error = %fault, "changes of other processes not read; next tick tries again");
        }
    }

    async fn write_seen(&self) {
        for (execution, seen) in self.board().take(|live| live.seen.take()) {
            let Some(open) = self.board().run(execution.run) else { continue };
            let command = match seen {
                Seen::Running { attempt, process, started_at } => Command::Start { attempt, process, started_at },
                Seen::Publishing { attempt } => Command::Publish { attempt },
            };
            if let Err(fault) = self.change(&open, execution, command).await {
                warn!(%execution, error = %fault, "progress not written");
            }
        }
    }

    /// What the launcher or the engine did not take when it was told.
    fn deliver_owed(&self) {
        for (execution, (attempt, cause)) in self.board().take(|live| live.stop.take()) {
            if let Some(open) = self.board().run(execution.run) {
                self.stop_attempt(open.scope.clone(), execution, attempt, cause);
            }
        }
        for (execution, ()) in self.board().take(|live| (live.token.is_some() && live.answer.is_some()).then_some(())) {
            self.deliver(execution);
        }
    }

    /// Closes cancelled runs of which nothing is left to end: their state machine may be in a pause that nobody waits for any more.
    async fn close_cancelled(&self) {
        for run in self.board().cancelled() {
            let Some(open) = self.board().run(run) else { continue };
            if let Err(fault) = self.close_if_over(&open).await {
                debug!(run_id = %run, error = %fault, "cancelled run not closed yet");
            }
        }
    }

    async fn close_if_over(&self, open: &OpenRun) -> Result<(), Fault> {
        let states = vec![ExecutionState::Created, ExecutionState::Started];
        let filter = ExecutionFilter { states, limit: 1, ..ExecutionFilter::default() };
        let left = self.ports().runs.executions(&open.scope, open.run.id, &filter).await;
        if !left.map_err(|error| Fault::store("read the items of the run", error))?.is_empty() {
            return Ok(());
        }
        self.close_run(&open.scope, open.run.id, None).await?;
        let stopped = self.engine()?.stop(&open.scope, &open.run.id.to_string(), "the run was cancelled").await;
        stopped.map_err(|error| Fault::engine("stop the state machine of a cancelled run", &error))
    }

    async fn keep_limits(&self) {
        for (execution, limit) in self.board().due(self.ports().clock.now()) {
            let Some(open) = self.board().run(execution.run) else { continue };
            if let Err(fault) = self.limit_passed(&open, execution, limit).await {
                warn!(%execution, error = %fault, "time limit not carried out; next tick tries again");
                self.board().watch(self.ports().clock.now(), execution, limit);
            }
        }
    }

    async fn limit_passed(&self, open: &OpenRun, id: ExecutionId, limit: TimeLimit) -> Result<(), Fault> {
        let execution = self.current(open, id).await?;
        let unit = self.unit(&open.scope, &execution.unit, execution.revision).await?;
        match limit {
            TimeLimit::Waiting if execution.running().is_none() && !execution.state.is_terminal() => {
                let Some(limit) = unit.timeouts.waiting else { return Ok(()) };
                let reason = Reason::TimedOut { phase: "waiting".to_owned(), limit };
                let message = format!("timed out: it waited in the queue for longer than {limit}");
                self.change(open, id, Command::Refuse { reason, message }).await?;
            }
            TimeLimit::Starting(attempt) => {
                let launching = execution.running().filter(|running| running.number == attempt && running.started_at.is_none());
                if launching.is_some() {
                    self.stop_attempt(open.scope.clone(), id, attempt, StopCause::TimedOut { limit: unit.timeouts.starting });
                }
            }
            TimeLimit::Waiting => {}
        }
        Ok(())
    }

    async fn ask_again(&self) {
        for (id, ()) in self.board().take(|live| std::mem::take(&mut live.ask_again).then_some(())) {
            let Some(open) = self.board().run(id.run) else { continue };
            let asked = match self.current(&open, id).await {
                Ok(execution) if execution.state.is_terminal() => Ok(()),
                Ok(execution) if execution.running().is_none() => self.ask(&open, &execution).await,
                Ok(execution) => {
                    // The permits were written after all.
                    self.board().gate().occupy(id, &execution.permits);
                    self.granted(&open, &execution).await;
                    Ok(())
                }
                Err(fault) => Err(fault),
            };
            if let Err(fault) = asked {
                warn!(execution = %id, error = %fault, "gate not asked; next tick tries again");
                self.board().live(id, |live| live.ask_again = true);
            }
        }
    }

    /// Another process (a command line) may have cancelled, switched or applied something.
    async fn follow_others(&self) -> Result<(), Fault> {
        let version = self.ports().runs.foreign_changes().await.map_err(|error| Fault::store("look for changes", error))?;
        if !self.board().is_news(version) {
            return Ok(());
        }
        for open in self.board().runs() {
            self.learn_registry(&open.scope).await?;
            let stored = self.load_run(&open.scope, open.run.id).await?;
            self.reread(&open, stored.value.cancel.as_ref()).await?;
        }
        Ok(())
    }

    /// Reads the unfinished executions of a run again, carries out what others wrote, and cancels them all where the run is cancelled.
    async fn reread(&self, open: &OpenRun, cancel: Option<&CancelRequest>) -> Result<(), Fault> {
        let scope: &Scope = &open.scope;
        let read = self.ports().runs.executions(scope, open.run.id, &ExecutionFilter::default()).await;
        for Stored { value, version } in read.map_err(|error| Fault::store("read the items of the run", error))? {
            let id = value.id;
            if value.state == ExecutionState::Cancelled && self.board().live(id, |live| live.token.is_some()) {
                self.adopt_end(&value);
                continue;
            }
            if value.state.is_terminal() {
                continue;
            }
            let record = self.board().record(id);
            let mut held = record.lock().await;
            if held.as_ref().is_none_or(|held| held.version < version) {
                *held = Some(Stored { value: value.clone(), version });
            }
            drop(held);
            if cancel.is_some() {
                self.board().mark_cancelled(open.run.id);
            }
            if let Some(request) = cancel.or(value.cancel.as_ref()) {
                self.cancel_one(open, id, request.clone()).await?;
            }
        }
        Ok(())
    }

    /// Somebody else ended an execution that waits here.
    fn adopt_end(&self, execution: &model::Execution) {
        let end = engine::gate::ItemEnd { state: execution.state, verdict: execution.verdict };
        let mut gate = self.board().gate();
        let mut rulings = gate.withdraw(execution.id);
        rulings.extend(gate.release(execution.id, Some(end)));
        drop(gate);
        self.follow(rulings);
        self.answer(execution.id, crate::change::not_launched());
    }

    /// Asks the launcher to stop the attempt under way of a cancelled execution; repeated until the proof is there.
    pub(crate) fn stop_cancelled(&self, open: &OpenRun, execution: &model::Execution) {
        let Some(attempt) = execution.running().map(|attempt| attempt.number) else { return };
        self.stop_attempt(open.scope.clone(), execution.id, attempt, StopCause::Cancelled);
    }
}
