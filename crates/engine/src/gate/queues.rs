//! Requests that lack nothing but slots, in an order that finds who may start without looking at all who may not.
//!
//! Queues form a tree by key, widest first: the requests for (unit a, tier light) wait in a queue of unit a, whose best request
//! stands for it in the queue of tier light, whose best stands for it at the root. A queue whose key has no slot is parked at that
//! key, together with all below it, and its requests cost nothing until a slot of that key is free.

use std::collections::{BTreeMap, HashMap};

use model::PermitKey;

use super::{Rank, slots::Slots};

type QueueId = usize;

const ROOT: QueueId = 0;

#[derive(Debug, Default)]
struct Queue {
    /// What a request in it needs a slot of, and how many slots there are; the root needs nothing.
    key: Option<(PermitKey, u32)>,
    parent: QueueId,
    children: HashMap<(PermitKey, u32), QueueId>,
    /// Who is to be looked at, best first: its own requests (no queue) and the best of each queue below that is not parked.
    next: BTreeMap<Rank, Option<QueueId>>,
    place: Place,
}

/// Where a queue is, and under which rank.
#[derive(Debug, Clone, Copy, Default)]
enum Place {
    /// Nowhere: there is nobody in it to be looked at.
    #[default]
    Out,
    /// In its parent's `next`.
    Next(Rank),
    /// At its key, which has no slot.
    Parked(Rank),
}

/// What a look at the best request found.
#[derive(Debug, Clone, Copy)]
pub(super) enum Look {
    /// It can have all its slots, and is no longer in its queue.
    Free(Rank),
    /// A key of it is full; another request may be the best now.
    Full,
    /// There is nobody to be looked at.
    Nobody,
}

/// The tree of queues.
#[derive(Debug)]
pub(super) struct Queues {
    queues: Vec<Queue>,
    /// Places in `queues` to use again.
    unused: Vec<QueueId>,
    /// Queues whose key has no slot, by the limit they know: two revisions of a unit may state different ones.
    parked: HashMap<PermitKey, BTreeMap<u32, BTreeMap<Rank, QueueId>>>,
    looks: u64,
}

impl Default for Queues {
    fn default() -> Queues {
        Queues { queues: vec![Queue::default()], unused: Vec::new(), parked: HashMap::new(), looks: 0 }
    }
}

impl Queues {
    /// How many queues have been looked at so far.
    pub(super) fn looks(&self) -> u64 {
        self.looks
    }

    /// Adds a request for a slot of each key, narrowest first.
    pub(super) fn insert(&mut self, rank: Rank, keys: &[(PermitKey, u32)]) {
        let queue = keys.iter().rev().fold(ROOT, |parent, key| self.child(parent, key));
        self.queues[queue].next.insert(rank, None);
        self.rerank(queue);
    }

    /// Takes a request out, if it is there.
    pub(super) fn remove(&mut self, rank: Rank, keys: &[(PermitKey, u32)]) {
        let queue = keys.iter().rev().try_fold(ROOT, |parent, key| self.queues[parent].children.get(key).copied());
        if let Some(queue) = queue
            && self.queues[queue].next.remove(&rank).is_some()
        {
            self.rerank(queue);
            self.prune(queue);
        }
    }

    /// Looks at the best request: takes it out where each of its keys has room, else parks the widest of its queues that has none.
    pub(super) fn look(&mut self, slots: &Slots) -> Look {
        let mut queue = ROOT;
        while let Some((rank, below)) = self.queues[queue].next.first_key_value().map(|(rank, below)| (*rank, *below)) {
            let Some(below) = below else {
                self.queues[queue].next.remove(&rank);
                self.rerank(queue);
                self.prune(queue);
                return Look::Free(rank);
            };
            self.looks += 1;
            if !self.has_room(below, slots) {
                self.park(below, rank);
                return Look::Full;
            }
            queue = below;
        }
        Look::Nobody
    }

    /// Lets the best queue that is parked at the key be looked at, where the key has room. One below another that is parked elsewhere
    /// is not seen; then the next best follows. True where there was any.
    pub(super) fn wake_best(&mut self, key: &PermitKey, slots: &Slots) -> bool {
        let limits: Vec<u32> = self.parked.get(key).map(|limits| limits.keys().copied().collect()).unwrap_or_default();
        let mut woken = false;
        for limit in limits.into_iter().filter(|limit| slots.has_room(key, *limit)) {
            while let Some(queue) = self.unpark_best(key, limit) {
                woken = true;
                self.rerank(queue);
                if self.is_seen(queue) {
                    break;
                }
            }
        }
        woken
    }

    fn unpark_best(&mut self, key: &PermitKey, limit: u32) -> Option<QueueId> {
        let queue = *self.parked.get(key)?.get(&limit)?.first_key_value()?.1;
        let Place::Parked(rank) = self.queues[queue].place else { return None };
        self.remove_parked(key, limit, rank);
        self.queues[queue].place = Place::Out;
        Some(queue)
    }

    /// Whether no queue from here to the root is parked.
    fn is_seen(&self, mut queue: QueueId) -> bool {
        while queue != ROOT {
            match self.queues[queue].place {
                Place::Next(_) => queue = self.queues[queue].parent,
                Place::Out | Place::Parked(_) => return false,
            }
        }
        true
    }

    fn has_room(&self, queue: QueueId, slots: &Slots) -> bool {
        self.queues[queue].key.as_ref().is_none_or(|(key, limit)| slots.has_room(key, *limit))
    }

    fn child(&mut self, parent: QueueId, key: &(PermitKey, u32)) -> QueueId {
        if let Some(known) = self.queues[parent].children.get(key) {
            return *known;
        }
        let queue = Queue { key: Some(key.clone()), parent, ..Queue::default() };
        let id = match self.unused.pop() {
            Some(id) => {
                self.queues[id] = queue;
                id
            }
            None => {
                self.queues.push(queue);
                self.queues.len() - 1
            }
        };
        self.queues[parent].children.insert(key.clone(), id);
        id
    }

    /// Parks the queue that stands with `rank` in its parent's `next`.
    fn park(&mut self, queue: QueueId, rank: Rank) {
        let Queue { parent, key, .. } = &self.queues[queue];
        let (parent, (key, limit)) = (*parent, key.clone().expect("only the root has no key, and it is nobody's child"));
        self.parked.entry(key).or_default().entry(limit).or_default().insert(rank, queue);
        self.queues[queue].place = Place::Parked(rank);
        self.queues[parent].next.remove(&rank);
        self.rerank(parent);
    }

    /// Puts a queue, and those above, where its best request now belongs.
    fn rerank(&mut self, mut queue: QueueId) {
        while queue != ROOT {
            let Queue { parent, place, next, .. } = &self.queues[queue];
            let (parent, place, best) = (*parent, *place, next.first_key_value().map(|(rank, _)| *rank));
            match place {
                Place::Parked(rank) => {
                    self.rerank_parked(queue, rank, best);
                    return;
                }
                Place::Next(rank) if best == Some(rank) => return,
                Place::Next(rank) => {
                    self.queues[parent].next.remove(&rank);
                }
                Place::Out if best.is_none() => return,
                Place::Out => {}
            }
            self.queues[queue].place = best.map_or(Place::Out, Place::Next);
            if let Some(rank) = best {
                self.queues[parent].next.insert(rank, Some(queue));
            }
            queue = parent;
        }
    }

    fn rerank_parked(&mut self, queue: QueueId, rank: Rank, best: Option<Rank>) {
        if best == Some(rank) {
            return;
        }
        let (key, limit) = self.queues[queue].key.clone().expect("only the root has no key, and it is never parked");
        self.queues[queue].place = best.map_or(Place::Out, Place::Parked);
        self.remove_parked(&key, limit, rank);
        if let Some(best) = best {
            self.parked.entry(key).or_default().entry(limit).or_default().insert(best, queue);
        }
    }

    fn remove_parked(&mut self, key: &PermitKey, limit: u32, rank: Rank) {
        let Some(limits) = self.parked.get_mut(key) else { return };
        if let Some(queues) = limits.get_mut(&limit) {
            queues.remove(&rank);
            if queues.is_empty() {
                limits.remove(&limit);
            }
        }
        if limits.is_empty() {
            self.parked.remove(key);
        }
    }

    /// Forgets a queue that is empty, and those above that are empty then.
    fn prune(&mut self, mut queue: QueueId) {
        while queue != ROOT && self.queues[queue].next.is_empty() && self.queues[queue].children.is_empty() {
            let Queue { parent, key, .. } = std::mem::take(&mut self.queues[queue]);
            if let Some(key) = key {
                self.queues[parent].children.remove(&key);
            }
            self.unused.push(queue);
            queue = parent;
        }
    }
}
