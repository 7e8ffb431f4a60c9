//! Questions: what there is and how it stands.

use model::{
    ArtifactRecord, Definition, DefinitionKind, Execution, ExecutionId, ObjectKey, Revised, Run, RunId, Scope, Tier, Unit,
    UnitName,
};
use ports::{ExecutionFilter, Found, RunFilter};
use serde::Serialize;

use crate::{
    App, Fault,
    steps::{switch_words, tiers},
};

/// A unit as the registry holds it.
#[derive(Debug, Clone, Serialize)]
pub struct UnitView {
    /// Its current revision.
    #[serde(flatten)]
    pub revised: Revised<Unit>,
    /// True where it may start.
    pub enabled: bool,
    /// Who disabled it, in a half sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disabled: Option<String>,
}

/// A tier as the registry holds it.
pub type TierView = Tier;

/// A run with its items.
#[derive(Debug, Clone, Serialize)]
pub struct RunView {
    /// The run.
    #[serde(flatten)]
    pub run: Run,
    /// Its items by number.
    pub executions: Vec<Execution>,
}

/// The artifacts of one execution.
#[derive(Debug, Clone, Serialize)]
pub struct ArtifactList {
    /// The execution.
    pub execution: ExecutionId,
    /// The unit.
    pub unit: UnitName,
    /// The attempt that published them.
    pub attempt: u32,
    /// The artifacts.
    pub artifacts: Vec<ArtifactRecord>,
}

/// What an id or its beginning names.
pub type Named = Found;

impl App {
    /// Every unit, by name.
    ///
    /// # Errors
    /// A store that does not answer.
    pub async fn units(&self, scope: &Scope) -> Result<Vec<UnitView>, Fault> {
        let snapshot = self.snapshot(scope).await?;
        let view = |entry: ports::Entry| {
            let disabled = switch_words(&entry);
            let Revised { revision, applied_at, content } = entry.definition;
            match content {
                Definition::Job(unit) => {
                    let enabled = unit.enabled && disabled.is_none();
                    Some(UnitView { revised: Revised { revision, applied_at, content: *unit }, enabled, disabled })
                }
                Definition::Tier(_) | Definition::Limit(_) => None,
            }
        };
        Ok(snapshot.entries.into_iter().filter_map(view).collect())
    }

    /// One unit.
    ///
    /// # Errors
    /// An unknown name, with the nearest known one.
    pub async fn unit_view(&self, scope: &Scope, name: &str) -> Result<UnitView, Fault> {
        let mut units = self.units(scope).await?;
        match units.iter().position(|unit| unit.revised.content.name.as_str() == name) {
            Some(place) => Ok(units.swap_remove(place)),
            None => {
                let fault = Fault::not_found(format!("unit `{name}`"));
                let known = units.iter().map(|unit| unit.revised.content.name.as_str());
                Err(match crate::fault::nearest(name, known) {
                    Some(nearest) => fault.with_hint(format!("Did you mean `{nearest}`?")),
                    None => fault.with_hint("`muster units list` shows what there is."),
                })
            }
        }
    }

    pub(crate) async fn named_unit(&self, scope: &Scope, name: &str) -> Result<Unit, Fault> {
        self.unit_view(scope, name).await.map(|view| view.revised.content)
    }

    /// The revisions of a unit, newest first.
    ///
    /// # Errors
    /// An unknown name.
    pub async fn unit_revisions(&self, scope: &Scope, name: &str, limit: usize) -> Result<Vec<Revised<Definition>>, Fault> {
        self.named_unit(scope, name).await?;
        let revisions = self.ports().registry.revisions(scope, DefinitionKind::Job, name, limit).await;
        revisions.map_err(|error| Fault::store("read the revisions", error))
    }

    /// Every tier, by name.
    ///
    /// # Errors
    /// A store that does not answer.
    pub async fn tier_views(&self, scope: &Scope) -> Result<Vec<TierView>, Fault> {
        Ok(tiers(&self.snapshot(scope).await?).into_values().collect())
    }

    /// Runs, newest first; true where there are more.
    ///
    /// # Errors
    /// A store that does not answer.
    pub async fn runs(&self, scope: &Scope, filter: &RunFilter) -> Result<(Vec<Run>, bool), Fault> {
        let page = self.ports().runs.runs(scope, filter).await.map_err(|error| Fault::store("list the runs", error))?;
        let mut runs = Vec::with_capacity(page.items.len());
        for stored in page.items {
            let mut run = stored.value;
            if !run.state.is_terminal() {
                (run.totals, run.verdict) = self.totals(scope, run.id).await?;
            }
            runs.push(run);
        }
        Ok((runs, page.more))
    }

    /// A run without its items; the totals of one under way are as of now.
    ///
    /// # Errors
    /// An unknown run.
    pub async fn run(&self, scope: &Scope, run: RunId) -> Result<Run, Fault> {
        let mut found = self.load_run(scope, run).await?.value;
        if !found.state.is_terminal() {
            (found.totals, found.verdict) = self.totals(scope, run).await?;
        }
        Ok(found)
    }

    /// A run with its items.
    ///
    /// # Errors
    /// An unknown run.
    pub async fn run_view(&self, scope: &Scope, run: RunId) -> Result<RunView, Fault> {
        let found = self.run(scope, run).await?;
        let executions = self.ports().runs.executions(scope, run, &ExecutionFilter::default()).await;
        let executions = executions.map_err(|error| Fault::store("read the items of the run", error))?;
        Ok(RunView { run: found, executions: executions.into_iter().map(|stored| stored.value).collect() })
    }

    /// One execution.
    ///
    /// # Errors
    /// An unknown execution.
    pub async fn execution(&self, scope: &Scope, id: ExecutionId) -> Result<Execution, Fault> {
        self.load(scope, id).await.map(|stored| stored.value)
    }

    /// What `text` names: a whole id, or a beginning that only one run has. `run_` may be left out.
    ///
    /// # Errors
    /// `NotFound`; `Conflict` with the candidates where several begin so.
    pub async fn find(&self, scope: &Scope, text: &str) -> Result<Named, Fault> {
        const CANDIDATES: usize = 6;
        if let Ok(id) = text.parse::<ExecutionId>() {
            return self.load(scope, id).await.map(|_| Found::Execution(id));
        }
        let (run, item) = match text.split_once('.') {
            Some((run, item)) => (run, Some(item)),
            None => (text, None),
        };
        let prefix = if run.starts_with(RunId::PREFIX) { run.to_owned() } else { format!("{}{run}", RunId::PREFIX) };
        let found = self.ports().runs.find(scope, &prefix, CANDIDATES).await;
        let run = match found.map_err(|error| Fault::store("look the id up", error))?[..] {
            [] => return Err(Fault::not_found(format!("run `{text}`")).with_hint("`muster runs list` shows what there is.")),
            [run] => run,
            ref several => {
                let candidates: Vec<String> = several.iter().take(CANDIDATES - 1).map(ToString::to_string).collect();
                let more = if several.len() == CANDIDATES { ", …" } else { "" };
                let message = format!("`{text}` begins several runs: {}{more}", candidates.join(", "));
                return Err(Fault::new(model::Kind::Conflict, "E-N02", message).with_hint("Write more of the id."));
            }
        };
        let Some(item) = item else { return Ok(Found::Run(run)) };
        let id: Result<ExecutionId, _> = format!("{run}.{item}").parse();
        let id = id.map_err(|error| Fault::new(model::Kind::Invalid, "E-N03", error.to_string()))?;
        self.load(scope, id).await.map(|_| Found::Execution(id))
    }

    /// What the items of a run, or one execution, published.
    ///
    /// # Errors
    /// An unknown id.
    pub async fn artifacts(&self, scope: &Scope, named: Named) -> Result<Vec<ArtifactList>, Fault> {
        let executions = match named {
            Found::Run(run) => self.run_view(scope, run).await?.executions,
            Found::Execution(id) => vec![self.execution(scope, id).await?],
        };
        let mut lists = Vec::new();
        for execution in executions {
            let Some(attempt) = execution.output else { continue };
            let folder = ObjectKey::attempt(scope, execution.id, attempt);
            let outcome = self.stored_outcome(&folder).await?;
            let artifacts = outcome.map(|outcome| outcome.artifacts).unwrap_or_default();
            lists.push(ArtifactList { execution: execution.id, unit: execution.unit, attempt, artifacts });
        }
        Ok(lists)
    }

    /// The content of an object.
    ///
    /// # Errors
    /// An unknown key.
    pub async fn object(&self, key: &ObjectKey) -> Result<Vec<u8>, Fault> {
        self.ports().objects.get(key).await.map_err(|error| Fault::object("read the object", &error))
    }

    /// A part of an object; nothing where it does not exist yet.
    ///
    /// # Errors
    /// An object store that does not answer.
    pub async fn object_range(&self, key: &ObjectKey, offset: u64, length: usize) -> Result<Vec<u8>, Fault> {
        match self.ports().objects.range(key, offset, length).await {
            Ok(content) => Ok(content),
            Err(ports::ObjectError::NotFound(_)) => Ok(Vec::new()),
            Err(error) => Err(Fault::object("read the object", &error)),
        }
    }

    /// How many items of a run a retry of what did not succeed would run.
    ///
    /// # Errors
    /// An unknown run, or one that has not ended.
    pub async fn retryable(&self, scope: &Scope, run: RunId) -> Result<usize, Fault> {
        let found = self.load_run(scope, run).await?.value;
        if !found.state.is_terminal() {
            let message = format!("{run} has not ended: its items are retried by their own policy");
            return Err(Fault::new(model::Kind::Conflict, "E-R13", message));
        }
        Ok(self.not_succeeded(scope, run).await?.len())
    }
}
