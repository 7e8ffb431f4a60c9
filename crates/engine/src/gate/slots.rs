//! Numbered slots of permit keys.

use std::collections::{BTreeMap, HashMap};

use model::{ExecutionId, PermitKey, Permits};

/// Who holds which slot.
#[derive(Debug, Default)]
pub(super) struct Slots {
    by_key: HashMap<PermitKey, BTreeMap<u32, ExecutionId>>,
    by_holder: HashMap<ExecutionId, Permits>,
}

impl Slots {
    pub(super) fn has_room(&self, key: &PermitKey, limit: u32) -> bool {
        self.by_key.get(key).map_or(0, BTreeMap::len) < limit as usize
    }

    /// Takes the lowest free slot of each key.
    pub(super) fn take(&mut self, execution: ExecutionId, keys: &[(PermitKey, u32)]) -> Permits {
        let mut permits = Permits::with_capacity(keys.len());
        for (key, _) in keys {
            let taken = self.by_key.entry(key.clone()).or_default();
            let slot = lowest_free(taken);
            taken.insert(slot, execution);
            permits.push((key.clone(), slot));
        }
        self.by_holder.insert(execution, permits.clone());
        permits
    }

    pub(super) fn occupy(&mut self, execution: ExecutionId, permits: &Permits) {
        for (key, slot) in permits {
            self.occupy_slot(execution, key.clone(), *slot);
        }
    }

    pub(super) fn occupy_slot(&mut self, execution: ExecutionId, key: PermitKey, slot: u32) {
        let before = self.by_key.entry(key.clone()).or_default().insert(slot, execution);
        if before == Some(execution) {
            return;
        }
        if let Some(permits) = before.and_then(|before| self.by_holder.get_mut(&before)) {
            permits.retain(|permit| *permit != (key.clone(), slot));
        }
        self.by_holder.entry(execution).or_default().push((key, slot));
    }

    /// Frees what the execution holds; says of which keys.
    pub(super) fn free(&mut self, execution: ExecutionId) -> Vec<PermitKey> {
        let permits = self.by_holder.remove(&execution).unwrap_or_default();
        for (key, slot) in &permits {
            if let Some(taken) = self.by_key.get_mut(key) {
                // After a conflict somebody else may be known to hold it.
                if taken.get(slot) == Some(&execution) {
                    taken.remove(slot);
                }
                if taken.is_empty() {
                    self.by_key.remove(key);
                }
            }
        }
        permits.into_iter().map(|(key, _)| key).collect()
    }

    pub(super) fn holds_any(&self, execution: ExecutionId) -> bool {
        self.by_holder.contains_key(&execution)
    }

    pub(super) fn holders(&self, key: &PermitKey) -> Vec<ExecutionId> {
        self.by_key.get(key).map(|taken| taken.values().copied().collect()).unwrap_or_default()
    }
}

/// The lowest number not taken. Slots fill from below, so the search ends after as many steps as slots are taken, which a limit bounds.
fn lowest_free(taken: &BTreeMap<u32, ExecutionId>) -> u32 {
    let count = u32::try_from(taken.len()).unwrap_or(u32::MAX);
    match taken.last_key_value() {
        Some((last, _)) if *last == count.saturating_sub(1) => count,
        Some(_) => (0..count).find(|slot| !taken.contains_key(slot)).unwrap_or(count),
        None => 0,
    }
}
