//! A queue in front of a thread.

use std::{
    collections::VecDeque,
    mem,
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

/// Jobs that wait for a thread, in the order of their arrival.
pub(super) struct Queue<T> {
    state: Mutex<State<T>>,
    arrived: Condvar,
}

struct State<T> {
    jobs: VecDeque<T>,
    /// Threads that wait for a first job.
    idle: usize,
    /// True once somebody waits for the answer of a queued job.
    awaited: bool,
    /// True when nothing more is taken in.
    closed: bool,
}

impl<T> Queue<T> {
    pub(super) fn new() -> Queue<T> {
        Queue {
            state: Mutex::new(State { jobs: VecDeque::new(), idle: 0, awaited: false, closed: false }),
            arrived: Condvar::new(),
        }
    }

    /// Queues a job; a closed queue drops it, which its owner sees as a broken reply.
    pub(super) fn push(&self, job: T) {
        self.admit(job, self.lock());
    }

    /// Queues a job whose answer somebody waits for.
    pub(super) fn push_awaited(&self, job: T) {
        let mut state = self.lock();
        let first = !mem::replace(&mut state.awaited, true);
        self.admit(job, state);
        if first {
            self.arrived.notify_one();
        }
    }

    fn admit(&self, job: T, mut state: MutexGuard<'_, State<T>>) {
        if state.closed {
            // The drop wakes the job's owner, who may come back here at once.
            drop(state);
            return drop(job);
        }
        state.jobs.push_back(job);
        let anybody_idle = state.idle > 0;
        drop(state);
        if anybody_idle {
            self.arrived.notify_one();
        }
    }

    /// Says that somebody waits now for what is queued.
    pub(super) fn hurry(&self) {
        let mut state = self.lock();
        if !state.jobs.is_empty() && !mem::replace(&mut state.awaited, true) {
            drop(state);
            self.arrived.notify_one();
        }
    }

    /// Takes nothing more in; what is queued is still handed out.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.arrived.notify_all();
    }

    /// Drops what is queued.
    pub(super) fn clear(&self) {
        let dropped = mem::take(&mut self.lock().jobs);
        drop(dropped);
    }

    /// Waits for a job. `None` once the queue is closed and empty.
    pub(super) fn next(&self) -> Option<T> {
        let mut state = self.lock();
        loop {
            if let Some(job) = state.jobs.pop_front() {
                return Some(job);
            }
            if state.closed {
                return None;
            }
            state = self.idle(state);
        }
    }

    /// Waits for jobs and moves at most `most` of them into `batch`; false once the queue is closed and empty.
    /// Jobs for which nobody waits are given `patience` to gather company, any are given `gathering`.
    pub(super) fn next_batch(&self, batch: &mut Vec<T>, most: usize, patience: Duration, gathering: Duration) -> bool {
        let mut state = self.lock();
        while state.jobs.is_empty() && !state.closed {
            state = self.idle(state);
        }
        let unhurried = |state: &mut State<T>| !state.awaited && !state.closed && state.jobs.len() < most;
        let waited = self.arrived.wait_timeout_while(state, patience, unhurried);
        state = waited.unwrap_or_else(PoisonError::into_inner).0;
        if !gathering.is_zero() {
            let open = |state: &mut State<T>| !state.closed && state.jobs.len() < most;
            state = self.arrived.wait_timeout_while(state, gathering, open).unwrap_or_else(PoisonError::into_inner).0;
        }
        let count = state.jobs.len().min(most);
        batch.extend(state.jobs.drain(..count));
        state.awaited &= !state.jobs.is_empty();
        !batch.is_empty()
    }

    /// Waits for an arrival.
    fn idle<'a>(&self, mut state: MutexGuard<'a, State<T>>) -> MutexGuard<'a, State<T>> {
        state.idle += 1;
        let mut state = self.arrived.wait(state).unwrap_or_else(PoisonError::into_inner);
        state.idle -= 1;
        state
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
