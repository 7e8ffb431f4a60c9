//! A launcher that plays a script: what each attempt of a unit does.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use async_trait::async_trait;
use model::{Assignment, CURRENT_CONTRACT, Ended, ExecutionId, LogSummary, Outcome, Scope, StopCause, Timestamp};
use ports::{Clock, LaunchError, Launcher, Observation, Report};
use tokio::sync::mpsc;

/// What an attempt does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Play {
    /// Exits at once with this code.
    Exit(u8),
    /// Runs until it is stopped.
    Hang,
    /// Vanishes without evidence.
    Vanish,
}

/// Plays a script; an attempt without a line in it exits well.
#[derive(Clone)]
pub struct ScriptedLauncher {
    inner: Arc<Inner>,
}

struct Inner {
    clock: Arc<dyn Clock>,
    reports: mpsc::UnboundedSender<Report>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    script: HashMap<(String, u32), Play>,
    seen: HashMap<(ExecutionId, u32), Observation>,
    starts: Vec<(String, u32)>,
}

impl ScriptedLauncher {
    /// A launcher that reports to the receiver.
    pub fn new(clock: Arc<dyn Clock>) -> (ScriptedLauncher, mpsc::UnboundedReceiver<Report>) {
        let (reports, receiver) = mpsc::unbounded_channel();
        (ScriptedLauncher { inner: Arc::new(Inner { clock, reports, state: Mutex::default() }) }, receiver)
    }

    /// What `attempt` of `unit` is to do.
    pub fn play(&self, unit: &str, attempt: u32, play: Play) {
        self.state(|state| state.script.insert((unit.to_owned(), attempt), play));
    }

    /// Every start so far: (unit, attempt).
    pub fn starts(&self) -> Vec<(String, u32)> {
        self.state(|state| state.starts.clone())
    }

    fn state<T>(&self, look: impl FnOnce(&mut State) -> T) -> T {
        look(&mut self.inner.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner))
    }

    fn report(&self, scope: &Scope, execution: ExecutionId, attempt: u32, observation: Observation) {
        self.state(|state| state.seen.insert((execution, attempt), observation.clone()));
        let report = Report { scope: scope.clone(), execution, attempt, at: self.inner.clock.now(), observation };
        // A story that is over needs no reports.
        let _ = self.inner.reports.send(report);
    }
}

fn outcome(execution: ExecutionId, attempt: u32, ended: Ended, stopped: Option<StopCause>, now: Timestamp) -> Observation {
    Observation::Ended(Box::new(Outcome {
        contract: CURRENT_CONTRACT,
        execution,
        attempt,
        ended,
        stopped,
        out_of_memory: None,
        process: None,
        started_at: Some(now),
        ended_at: now,
        usage: None,
        log: LogSummary::default(),
        artifacts: Vec::new(),
        verdict: None,
        findings: Vec::new(),
        quality_fails: false,
        strays: Vec::new(),
        problems: Vec::new(),
        publish_failed: false,
    }))
}

#[async_trait]
impl Launcher for ScriptedLauncher {
    async fn start(&self, assignment: &Assignment) -> Result<(), LaunchError> {
        let (execution, attempt) = (assignment.execution, assignment.attempt);
        let unit = assignment.unit.to_string();
        if let Some(known) = self.state(|state| state.seen.get(&(execution, attempt)).cloned()) {
            self.report(&assignment.scope, execution, attempt, known);
            return Ok(());
        }
        let play = self.state(|state| {
            state.starts.push((unit.clone(), attempt));
            state.script.get(&(unit, attempt)).copied().unwrap_or(Play::Exit(0))
        });
        let now = self.inner.clock.now();
        let observation = match play {
            Play::Exit(code) => outcome(execution, attempt, Ended::Exited { code }, None, now),
            Play::Hang => Observation::Starting,
            Play::Vanish => Observation::Lost,
        };
        self.report(&assignment.scope, execution, attempt, observation);
        Ok(())
    }

    async fn stop(&self, scope: &Scope, execution: ExecutionId, attempt: u32, cause: StopCause) -> Result<(), LaunchError> {
        let is_alive = self.state(|state| state.seen.get(&(execution, attempt)) == Some(&Observation::Starting));
        if is_alive {
            let ended = Ended::Killed { signal: 15, core: false };
            self.report(scope, execution, attempt, outcome(execution, attempt, ended, Some(cause), self.inner.clock.now()));
        }
        Ok(())
    }

    async fn observe(&self, _: &Scope, execution: ExecutionId, attempt: u32) -> Result<Observation, LaunchError> {
        Ok(self.state(|state| state.seen.get(&(execution, attempt)).cloned()).unwrap_or(Observation::Unknown))
    }
}
