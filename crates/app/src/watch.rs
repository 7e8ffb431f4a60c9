//! The watchdog's tick: what no event brings. The gate is level-triggered, so that a lost wake-up costs one tick, never the item.

use engine::execution::Command;
use model::{CancelRequest, ExecutionId, ExecutionState, Reason, Scope, StopCause};
use ports::{ExecutionFilter, Stored};
use tracing::warn;

use crate::{
    App, Fault,
    board::{Limit, OpenRun},
    fault::chain,
};

impl App {
    /// Looks after everything in hand: programs seen running, time limits that passed, requests that the store did not take, and what
    /// other processes wrote. Call it every fraction of a second; it reads the store only when somebody else wrote.
    pub async fn tick(&self) {
        self.write_seen().await;
        self.keep_limits().await;
        self.ask_again().await;
        if let Err(fault) = self.follow_others().await {
            warn!(error = %fault, "changes of other processes not read; next tick tries again");
        }
    }

    async fn write_seen(&self) {
        for (execution, (attempt, process, started_at)) in self.board().take_seen() {
            let Some(open) = self.board().run(execution.run) else { continue };
            let command = Command::Start { attempt, process, started_at };
            if let Err(fault) = self.change(&open, execution, command).await {
                warn!(%execution, error = %fault, "start not written");
            }
        }
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

    async fn limit_passed(&self, open: &OpenRun, id: ExecutionId, limit: Limit) -> Result<(), Fault> {
        let execution = self.current(open, id).await?;
        let unit = self.unit(&open.scope, &execution.unit, execution.revision).await?;
        match limit {
            Limit::Waiting if execution.running().is_none() && !execution.state.is_terminal() => {
                let Some(limit) = unit.timeouts.waiting else { return Ok(()) };
                let reason = Reason::TimedOut { phase: "waiting".to_owned(), limit };
                let message = format!("timed out: it waited in the queue for longer than {limit}");
                self.change(open, id, Command::Refuse { reason, message }).await?;
            }
            Limit::Starting(attempt) => {
                let launching = execution.running().filter(|running| running.number == attempt && running.started_at.is_none());
                if launching.is_some() {
                    self.stop_attempt(open.scope.clone(), id, attempt, StopCause::TimedOut { limit: unit.timeouts.starting });
                }
            }
            Limit::Waiting => {}
        }
        Ok(())
    }

    async fn ask_again(&self) {
        for id in self.board().take_ask_again() {
            let Some(open) = self.board().run(id.run) else { continue };
            let asked = match self.current(&open, id).await {
                Ok(execution) if execution.running().is_none() && !execution.state.is_terminal() => {
                    self.ask(&open, &execution).await
                }
                Ok(_) => Ok(()),
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
        self.answer_token(execution.id, &crate::change::not_launched());
    }

    /// Asks the launcher to stop the attempt under way of a cancelled execution; repeated until the proof is there.
    pub(crate) async fn stop_cancelled(&self, open: &OpenRun, execution: &model::Execution) {
        let Some(attempt) = execution.running().map(|attempt| attempt.number) else { return };
        let stopped = self.ports().launcher.stop(&open.scope, execution.id, attempt, StopCause::Cancelled).await;
        if let Err(error) = stopped {
            warn!(execution = %execution.id, error = %chain(&error), "stop not delivered");
        }
    }
}
