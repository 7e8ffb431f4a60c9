//! The lifecycle of a run.

use model::{CancelRequest, Run, RunState as S, Timestamp, Totals, Verdict};

/// What can be done to a run.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// Its items are frozen.
    Freeze {
        /// How many.
        items: u32,
    },
    /// Somebody asks to cancel.
    Cancel(CancelRequest),
    /// Its items have all ended, or the machine gave up.
    Close {
        /// The counts.
        totals: Totals,
        /// The worst verdict.
        verdict: Option<Verdict>,
        /// Set where the run itself broke.
        broken: Option<String>,
    },
}

/// What a command did.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// The run is now this.
    Applied(Box<Run>),
    /// It was so already.
    AlreadySo,
    /// It makes no sense here; a half sentence says why.
    Refused(&'static str),
}

const ENDED: &str = "it has ended";

/// Decides what `command` does.
pub fn decide(run: &Run, command: &Command, now: Timestamp) -> Answer {
    match (run.state, command) {
        // No item would know of the request, and all would run.
        (S::Created, Command::Freeze { .. }) if run.cancel.is_some() => Answer::Refused("it is being cancelled"),
        (S::Created, Command::Freeze { items }) => {
            Answer::Applied(Box::new(Run { state: S::Started, items: *items, started_at: Some(now), ..run.clone() }))
        }
        (S::Started | S::Succeeded | S::Failed | S::Cancelled, Command::Freeze { items })
            if run.started_at.is_some() && run.items == *items =>
        {
            Answer::AlreadySo
        }
        (S::Started, Command::Freeze { .. }) => Answer::Refused("its items are frozen already, and are others"),
        (S::Succeeded | S::Failed | S::Cancelled, Command::Freeze { .. }) => Answer::Refused(ENDED),
        (S::Created | S::Started, Command::Cancel(_)) if run.cancel.is_some() => Answer::AlreadySo,
        (S::Created | S::Started, Command::Cancel(request)) => {
            Answer::Applied(Box::new(Run { cancel: Some(request.clone()), ..run.clone() }))
        }
        (S::Created, Command::Close { broken: None, .. }) if run.cancel.is_none() => {
            Answer::Refused("its items were never frozen")
        }
        (S::Created | S::Started, Command::Close { totals, broken: None, .. }) if ended(totals) != run.items => {
            Answer::Refused("not all of its items have ended")
        }
        (S::Created | S::Started, Command::Close { totals, verdict, broken }) => {
            Answer::Applied(Box::new(close(run, *totals, *verdict, broken.clone(), now)))
        }
        (S::Cancelled, Command::Cancel(_)) => Answer::AlreadySo,
        (S::Succeeded | S::Failed, Command::Cancel(_)) => Answer::Refused(ENDED),
        (S::Succeeded | S::Failed | S::Cancelled, Command::Close { .. }) => Answer::AlreadySo,
    }
}

fn close(run: &Run, totals: Totals, verdict: Option<Verdict>, broken: Option<String>, now: Timestamp) -> Run {
    let state = match (&broken, &run.cancel) {
        (Some(_), None) => S::Failed,
        // Cancelled before anything was frozen, or before all had ended: the rest did not run, and that was the wish.
        (_, Some(_)) if run.started_at.is_none() || ended(&totals) < run.items => S::Cancelled,
        (Some(_), Some(_)) | (None, _) => totals.run_state(run.cancel.as_ref()),
    };
    Run { state, totals, verdict, message: broken, ended_at: Some(now), ..run.clone() }
}

fn ended(totals: &Totals) -> u32 {
    totals.succeeded + totals.failed + totals.cancelled
}
