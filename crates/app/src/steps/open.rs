//! Open: freezes the selection into the item list.

use std::collections::{BTreeMap, HashMap};

use engine::{
    assign,
    run::{Answer, Command, decide},
    select::{self, Again, Candidate},
};
use model::{
    Definition, Digest, Event, EventKind, Execution, ExecutionId, ExecutionState, Item, ObjectKey, Run, RunId, RunState, Scope,
    Selection, Tier, TierName, UnitName,
};
use ports::{Change, Entry, ExecutionFilter, ObjectError, Snapshot, Source, StoreError, Stored};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{App, Fault, board::OpenRun};

#[derive(Debug, Deserialize)]
pub(super) struct Payload {
    scope: Scope,
    run: RunId,
}

impl App {
    pub(super) async fn open(&self, payload: Payload) -> Result<Value, Fault> {
        let Payload { scope, run } = payload;
        let stored = self.load_run(&scope, run).await?;
        let key = ObjectKey::items(&scope, run);
        if stored.value.state == RunState::Created {
            self.freeze(&scope, stored, &key).await?;
        }
        self.open_run(&scope, run).await?;
        Ok(json!({ "bucket": "objects", "key": key, "prefix": format!("{scope}/runs/{run}/map") }))
    }

    async fn freeze(&self, scope: &Scope, stored: Stored<Run>, key: &ObjectKey) -> Result<(), Fault> {
        let items = match self.read_items(key).await? {
            Some(items) => items,
            None => {
                let items = self.items(scope, &stored.value).await?;
                self.write_items(key, &items).await?;
                items
            }
        };
        let now = self.ports().clock.now();
        let count = u32::try_from(items.len()).unwrap_or(u32::MAX);
        let run = match decide(&stored.value, &Command::Freeze { items: count }, now) {
            Answer::Applied(run) => run,
            Answer::AlreadySo => return Ok(()),
            Answer::Refused(why) => return Err(Fault::new(model::Kind::Invalid, "E-R14", format!("nothing was started: {why}"))),
        };
        let data = json!({ "run": run.id, "items": count });
        let event = Event::of_change(EventKind::RunStarted, &run.id.to_string(), "started", now, scope, &run.correlation, data);
        let mut changes = Vec::with_capacity(items.len() + 2);
        changes.extend(items.into_iter().map(|item| {
            let execution = execution_of(&run, item, now);
            let series = assign::series(&run, &execution);
            Change::CreateExecution(Box::new(execution), series)
        }));
        changes.push(Change::UpdateRun(run, stored.version));
        changes.push(Change::Emit(Box::new(event.clone())));
        match self.ports().runs.write(scope, changes).await {
            Ok(()) => self.tell(event),
            // The same call came through before, or somebody cancelled meanwhile: the state machine asks again.
            Err(error) => return Err(Fault::store("freeze the items of the run", error)),
        }
        Ok(())
    }

    async fn read_items(&self, key: &ObjectKey) -> Result<Option<Vec<Item>>, Fault> {
        let content = match self.ports().objects.get(key).await {
            Ok(content) => content,
            Err(ObjectError::NotFound(_)) => return Ok(None),
            Err(error) => return Err(Fault::object("read the item list", &error)),
        };
        let lines = content.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        let items: Result<Vec<Item>, _> = lines.map(serde_json::from_slice).collect();
        items.map(Some).map_err(|error| Fault::internal(&format!("the item list {key} cannot be read: {error}")))
    }

    async fn write_items(&self, key: &ObjectKey, items: &[Item]) -> Result<(), Fault> {
        let mut content = Vec::with_capacity(items.len() * 200);
        for item in items {
            serde_json::to_writer(&mut content, item).map_err(|error| Fault::internal(&error.to_string()))?;
            content.push(b'\n');
        }
        match self.ports().objects.put(key, Source::Bytes(content)).await {
            Ok(()) | Err(ObjectError::Exists(_)) => Ok(()),
            Err(error) => Err(Fault::object("write the item list", &error)),
        }
    }

    /// The items that a run would hold now: what `--dry-run` prints is what runs.
    pub(crate) async fn items(&self, scope: &Scope, run: &Run) -> Result<Vec<Item>, Fault> {
        let snapshot = self.snapshot(scope).await?;
        let tiers = tiers(&snapshot);
        if let Selection::Retry { run: earlier } = &run.selection {
            self.retryable(scope, *earlier).await?;
            return self.launchable(select::again(&tiers, self.not_succeeded(scope, *earlier).await?));
        }
        let switched: Vec<Option<String>> = snapshot.entries.iter().map(switch_words).collect();
        let candidates: Vec<Candidate<'_>> = snapshot
            .entries
            .iter()
            .zip(&switched)
            .filter_map(|(entry, disabled)| match &entry.definition.content {
                Definition::Job(unit) => {
                    Some(Candidate { revision: entry.definition.revision, unit, disabled: disabled.as_deref() })
                }
                Definition::Tier(_) | Definition::Limit(_) => None,
            })
            .collect();
        let items = select::select(&candidates, &tiers, &run.selection, &run.options).map_err(Fault::mistakes)?;
        self.launchable(items)
    }

    /// Refuses items that this home has no way to launch.
    fn launchable(&self, items: Vec<Item>) -> Result<Vec<Item>, Fault> {
        let launches: Vec<&str> = self.ports().launches.iter().map(|kind| kind.as_str()).collect();
        match items.iter().find(|item| !launches.contains(&item.launch.as_str())) {
            None => Ok(items),
            Some(item) => {
                let message = format!(
                    "unit `{}` wants tier `{}`, which launches by {}; this home launches by {}",
                    item.unit,
                    item.tier,
                    item.launch,
                    launches.join(", ")
                );
                Err(Fault::new(model::Kind::Invalid, "E-R15", message)
                    .with_hint("Choose another tier with `--tier`, or run it where the tier is."))
            }
        }
    }

    /// What an earlier run left undone, with the revisions, parameters and nominal times it had.
    pub(crate) async fn not_succeeded(&self, scope: &Scope, run: RunId) -> Result<Vec<Again>, Fault> {
        let states = vec![ExecutionState::Created, ExecutionState::Started, ExecutionState::Failed, ExecutionState::Cancelled];
        let filter = ExecutionFilter { states, ..ExecutionFilter::default() };
        let left = self.ports().runs.executions(scope, run, &filter).await;
        let left = left.map_err(|error| Fault::store("read the items of the run", error))?;
        Ok(left
            .into_iter()
            .map(|Stored { value, .. }| Again {
                unit: value.unit,
                revision: value.revision,
                tier: value.tier,
                parameters: value.parameters,
                slot: value.slot,
            })
            .collect())
    }

    pub(crate) async fn snapshot(&self, scope: &Scope) -> Result<Snapshot, Fault> {
        let snapshot = self.ports().registry.current(scope).await;
        snapshot.map_err(|error| Fault::store("read the registry", error))
    }

    /// The run on the board, put there from the store where it is not: its executions, their slots, and how its needs stand.
    pub(crate) async fn open_run(&self, scope: &Scope, run: RunId) -> Result<std::sync::Arc<OpenRun>, Fault> {
        if let Some(open) = self.board().run(run) {
            return Ok(open);
        }
        let stored = self.load_run(scope, run).await?;
        let executions = self.ports().runs.executions(scope, run, &ExecutionFilter::default()).await;
        let executions = executions.map_err(|error| Fault::store("read the items of the run", error))?;
        self.learn_registry(scope).await?;
        let baselines = self.accepted_outputs(scope, &stored.value, &executions).await?;
        let open = self.board().open(OpenRun { scope: scope.clone(), run: stored.value, baselines });
        let mut gate = self.board().gate();
        gate.open_run(run, executions.iter().map(|stored| (stored.value.id, &stored.value.unit)));
        for Stored { value, .. } in &executions {
            gate.occupy(value.id, &value.permits);
            if value.state.is_terminal() {
                let end = engine::gate::ItemEnd { state: value.state, verdict: value.verdict };
                let rulings = gate.release(value.id, Some(end));
                debug_assert!(rulings.is_empty(), "nobody has asked for this run yet");
            }
        }
        drop(gate);
        for stored in executions.into_iter().filter(|stored| !stored.value.state.is_terminal()) {
            self.board().put_record(stored);
        }
        Ok(open)
    }

    /// For each unfinished item the accepted output to compare with: the execution and its attempt.
    async fn accepted_outputs(
        &self,
        scope: &Scope,
        run: &Run,
        executions: &[Stored<Execution>],
    ) -> Result<HashMap<u32, (ExecutionId, u32)>, Fault> {
        let unfinished = executions.iter().map(|stored| &stored.value).filter(|execution| !execution.state.is_terminal());
        let (items, wanted): (Vec<u32>, Vec<(UnitName, Digest)>) = unfinished
            .filter_map(|execution| Some((execution.id.item, (execution.unit.clone(), assign::series(run, execution)?))))
            .unzip();
        let accepted = self.ports().runs.last_accepted(scope, &wanted, run.id).await;
        let accepted = accepted.map_err(|error| Fault::store("read the last accepted runs", error))?;
        let outputs = items.into_iter().zip(accepted).filter_map(|(item, accepted)| {
            let accepted = accepted?;
            Some((item, (accepted.id, accepted.output?)))
        });
        Ok(outputs.collect())
    }

    /// Reads tiers, shared limits and operators' switches onto the board.
    pub(crate) async fn learn_registry(&self, scope: &Scope) -> Result<(), Fault> {
        let snapshot = self.snapshot(scope).await?;
        let (mut rulings, mut tiers, mut limits) = (Vec::new(), Vec::new(), Vec::new());
        for entry in snapshot.entries {
            let disabled = switch_words(&entry);
            match entry.definition.content {
                Definition::Job(unit) => {
                    rulings.extend(self.board().gate().switch(&unit.name, disabled));
                    self.board().put_unit(scope, entry.definition.revision, *unit);
                }
                Definition::Tier(tier) => tiers.push(tier),
                Definition::Limit(limit) => limits.push(limit),
            }
        }
        self.board().put_compute(scope, tiers, limits);
        self.follow(rulings);
        Ok(())
    }

    pub(crate) async fn load_run(&self, scope: &Scope, run: RunId) -> Result<Stored<Run>, Fault> {
        self.ports().runs.run(scope, run).await.map_err(|error| match error {
            StoreError::NotFound => Fault::not_found(format!("run {run}")),
            other => Fault::store("read the run", other),
        })
    }
}

pub(crate) fn switch_words(entry: &Entry) -> Option<String> {
    entry.disabled.as_ref().map(|switch| {
        let note = switch.note.as_ref().map(|note| format!(" ({note})")).unwrap_or_default();
        format!("disabled by {} since {}{note}", switch.by, switch.at.strftime("%Y-%m-%d %H:%M:%SZ"))
    })
}

pub(crate) fn tiers(snapshot: &Snapshot) -> BTreeMap<TierName, Tier> {
    let tier = |entry: &Entry| match &entry.definition.content {
        Definition::Tier(tier) => Some((tier.name.clone(), tier.clone())),
        Definition::Job(_) | Definition::Limit(_) => None,
    };
    snapshot.entries.iter().filter_map(tier).collect()
}

pub(crate) fn execution_of(run: &Run, item: Item, now: model::Timestamp) -> Execution {
    Execution {
        id: ExecutionId { run: run.id, item: item.item },
        scope: run.scope.clone(),
        unit: item.unit,
        revision: item.revision,
        tier: item.tier,
        parameters: item.parameters,
        slot: item.slot,
        state: ExecutionState::Created,
        created_at: now,
        started_at: None,
        ended_at: None,
        resume_at: None,
        attempts: Vec::new(),
        permits: Vec::new(),
        cancel: None,
        reason: None,
        message: None,
        verdict: None,
        rows: None,
        output: None,
    }
}
