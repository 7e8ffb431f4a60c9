//! Plan: exactly what would run, before anything does.

use engine::assign;
use model::{Assignment, Item, PermitKey, Scope, Timeouts};
use serde::Serialize;

use crate::{App, Fault, RunRequest, steps::execution_of};

/// What a request would run.
#[derive(Debug, Clone, Serialize)]
pub struct Plan {
    /// Each item in the order of the list.
    pub items: Vec<ItemPlan>,
}

/// What one item would run.
#[derive(Debug, Clone, Serialize)]
pub struct ItemPlan {
    /// The item.
    #[serde(flatten)]
    pub item: Item,
    /// The assignment that its first attempt would get: command, environment, limits. Secrets by reference.
    pub assignment: Assignment,
    /// What it would hold one slot of: (key, slots in all).
    pub slots: Vec<(String, u32)>,
    /// What must succeed first.
    pub needs: Vec<String>,
    /// How long each part may take.
    pub timeouts: Timeouts,
    /// Attempts that its own failures may use.
    pub attempts: u32,
}

impl App {
    /// What `request` would run, by the same functions that run it. Writes nothing.
    ///
    /// # Errors
    /// As [`App::start`].
    pub async fn plan(&self, scope: &Scope, request: &RunRequest) -> Result<Plan, Fault> {
        let run = self.draft(scope, request);
        self.learn_registry(scope).await?;
        let mut items = Vec::new();
        for item in self.items(scope, &run).await? {
            let unit = self.unit(scope, &item.unit, item.revision).await?;
            let tier = self.tier(scope, &item.tier).await?;
            let execution = execution_of(&run, item.clone(), run.created_at);
            let asked = assign::request(&run, &execution, &unit, &tier, |name| self.board().limit(scope, name));
            let slots = asked.keys.iter().filter(|(key, _)| !matches!(key, PermitKey::Run(_)));
            items.push(ItemPlan {
                slots: slots.map(|(key, limit)| (key.to_string(), *limit)).collect(),
                needs: asked.needs.iter().map(|(unit, _)| unit.to_string()).collect(),
                assignment: assign::assignment(&run, &execution, 1, &unit, &tier, Vec::new()),
                timeouts: unit.timeouts.clone(),
                attempts: unit.retry.attempts,
                item,
            });
        }
        Ok(Plan { items })
    }
}
