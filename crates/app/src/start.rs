//! Start a run.

use model::{Digest, Event, EventKind, Run, RunId, RunOptions, RunState, Scope, Selection, Totals};
use ports::{Change, IdempotencyRecord, RunFilter, StoreError};
use serde_json::json;

use crate::{App, Fault};

/// The name of the state machine that carries a run out.
pub(crate) const MACHINE: &str = "run";

/// The longest idempotency key, in bytes.
const LONGEST_KEY: usize = 255;

/// What a caller asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct RunRequest {
    /// Which units.
    pub selection: Selection,
    /// How.
    pub options: RunOptions,
    /// The same key again is the same run; unique in the scope, kept as long as the run.
    pub idempotency_key: Option<String>,
    /// True: an unfinished run with the same selection and options is taken up again instead of a second one being started.
    pub take_up: bool,
}

/// The run that a request led to.
#[derive(Debug, Clone, PartialEq)]
pub struct Started {
    /// The run.
    pub run: Run,
    /// How the request led to it.
    pub how: How,
}

/// How a request led to a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// A new run.
    New,
    /// The idempotency key had made it before.
    SameKey,
    /// It was unfinished, asked for the same, and goes on.
    TakenUp,
}

impl App {
    /// Accepts a run and starts its state machine. Everything wrong with the request is told at once, before anything is written.
    ///
    /// # Errors
    /// [`model::Kind::Invalid`] or `NotFound` for the request's mistakes, `Conflict` where the idempotency key was used for another request.
    pub async fn start(&self, scope: &Scope, request: RunRequest) -> Result<Started, Fault> {
        let digest = digest(&request);
        if let Some(key) = &request.idempotency_key
            && let Some(run) = self.made_by(scope, key, digest).await?
        {
            return self.begin(scope, run, How::SameKey).await;
        }
        if request.take_up
            && let Some(run) = self.unfinished_like(scope, &request).await?
        {
            return self.begin(scope, run, How::TakenUp).await;
        }
        let run = self.draft(scope, &request);
        if self.items(scope, &run).await?.is_empty() {
            return Err(Fault::new(model::Kind::Conflict, "E-R10", "nothing to run: every item of that run succeeded"));
        }
        match self.accept(scope, &run, &request, digest).await {
            Ok(()) => self.begin(scope, run, How::New).await,
            // Somebody used the key at the same moment: theirs is the run.
            Err(StoreError::Conflict(_)) if request.idempotency_key.is_some() => {
                let key = request.idempotency_key.as_deref().unwrap_or_default();
                let run = self.made_by(scope, key, digest).await?;
                let run = run.ok_or_else(|| Fault::store("accept the run", StoreError::Conflict(format!("key {key}"))))?;
                self.begin(scope, run, How::SameKey).await
            }
            Err(error) => Err(Fault::store("accept the run", error)),
        }
    }

    /// The run as it would be accepted now.
    pub(crate) fn draft(&self, scope: &Scope, request: &RunRequest) -> Run {
        let now = self.ports().clock.now();
        let id = self.ports().ids.run(now);
        Run {
            id,
            scope: scope.clone(),
            state: RunState::Created,
            selection: request.selection.clone(),
            options: request.options.clone(),
            items: 0,
            created_at: now,
            started_at: None,
            ended_at: None,
            cancel: None,
            totals: Totals::default(),
            verdict: None,
            message: None,
            correlation: id.to_string(),
        }
    }

    async fn accept(&self, scope: &Scope, run: &Run, request: &RunRequest, digest: Digest) -> Result<(), StoreError> {
        let data = json!({ "run": run.id, "selection": run.selection, "options": run.options });
        let event = Event::of_change(
            EventKind::RunCreated,
            &run.id.to_string(),
            "created",
            run.created_at,
            scope,
            &run.correlation,
            data,
        );
        let mut changes = vec![Change::CreateRun(Box::new(run.clone())), Change::Emit(Box::new(event.clone()))];
        if let Some(key) = &request.idempotency_key {
            let record = IdempotencyRecord { key: key.clone(), request: digest, run: run.id, at: run.created_at };
            changes.push(Change::Remember(record));
        }
        self.ports().runs.write(scope, changes).await?;
        self.tell(event);
        Ok(())
    }

    /// Starts the state machine; its name is the run's id, so that a second start is the same one.
    async fn begin(&self, scope: &Scope, run: Run, how: How) -> Result<Started, Fault> {
        if !run.state.is_terminal() {
            self.start_machine(scope, run.id).await?;
        }
        Ok(Started { run, how })
    }

    pub(crate) async fn start_machine(&self, scope: &Scope, run: RunId) -> Result<(), Fault> {
        let input = json!({ "scope": scope, "run": run });
        let started = self.engine()?.start(scope, MACHINE, &run.to_string(), input).await;
        started.map_err(|error| Fault::engine("start the run's state machine", &error))
    }

    async fn made_by(&self, scope: &Scope, key: &str, digest: Digest) -> Result<Option<Run>, Fault> {
        if key.is_empty() || key.len() > LONGEST_KEY || key.chars().any(char::is_control) {
            let message = format!("an idempotency key has 1 to {LONGEST_KEY} bytes and no control characters");
            return Err(Fault::new(model::Kind::Invalid, "E-R11", message));
        }
        let remembered = self.ports().runs.remembered(scope, key).await;
        match remembered.map_err(|error| Fault::store("look up the idempotency key", error))? {
            None => Ok(None),
            Some(record) if record.request == digest => Ok(Some(self.load_run(scope, record.run).await?.value)),
            Some(record) => {
                let message = format!("idempotency key `{key}` was used for another request, which made {}", record.run);
                Err(Fault::new(model::Kind::Conflict, "E-R12", message).with_hint("Use a new key for a new request."))
            }
        }
    }

    async fn unfinished_like(&self, scope: &Scope, request: &RunRequest) -> Result<Option<Run>, Fault> {
        let wanted = likeness(&request.selection, &request.options);
        let unfinished = self.unfinished_runs(scope).await?;
        Ok(unfinished.into_iter().find(|run| run.cancel.is_none() && likeness(&run.selection, &run.options) == wanted))
    }

    /// Runs that have not ended, newest first.
    pub(crate) async fn unfinished_runs(&self, scope: &Scope) -> Result<Vec<Run>, Fault> {
        const PAGE: usize = 200;
        let states = vec![RunState::Created, RunState::Started];
        let mut filter = RunFilter { states, limit: PAGE, ..RunFilter::default() };
        let mut unfinished = Vec::new();
        loop {
            let page = self.ports().runs.runs(scope, &filter).await;
            let page = page.map_err(|error| Fault::store("list the unfinished runs", error))?;
            unfinished.extend(page.items.into_iter().map(|stored| stored.value));
            filter.before = unfinished.last().map(|run: &Run| run.id);
            if !page.more {
                return Ok(unfinished);
            }
        }
    }
}

/// The digest of a request: what an idempotency key stands for.
fn digest(request: &RunRequest) -> Digest {
    Digest::of(likeness(&request.selection, &request.options).as_bytes())
}

/// What two requests must share to ask for the same. The nominal time is left out: without a schedule it is the moment of asking.
fn likeness(selection: &Selection, options: &RunOptions) -> String {
    let options = RunOptions { slot: model::Timestamp::UNIX_EPOCH, ..options.clone() };
    serde_json::to_string(&(selection, &options)).expect("a request is JSON: its maps have text keys")
}
