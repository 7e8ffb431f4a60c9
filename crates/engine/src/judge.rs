//! What an outcome means. Success needs positive proof; everything else has a reason.

use model::{Ended, ExitMeaning, Outcome, Reason, StopCause, Unit};

/// The exit code by which a program asks for a retry (`EX_TEMPFAIL` of sysexits.h).
pub const RETRY_CODE: u8 = 75;

/// The judgement on an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Judgement {
    /// The program ended well and its output, if any, is published.
    Success,
    /// It did not.
    Failure(Failure),
}

/// Why an attempt did not succeed, and what follows for a retry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The reason.
    pub reason: Reason,
    /// The reason with the facts of this case, one sentence.
    pub message: String,
    /// What the exit code says about another attempt, where there is a code.
    pub wish: Wish,
}

/// What a program's exit code says about another attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wish {
    /// Nothing: the retry policy decides.
    Open,
    /// It asks for one.
    Retry,
    /// Another one would fail too.
    GiveUp,
}

/// What the exit code means for the unit.
pub fn meaning(unit: &Unit, code: u8) -> Option<ExitMeaning> {
    match (unit.exit_codes.get(&code), code) {
        (Some(meaning), _) => Some(*meaning),
        (None, 0) => Some(ExitMeaning::Success),
        (None, RETRY_CODE) => Some(ExitMeaning::Retry),
        (None, _) => None,
    }
}

/// Judges the evidence of an attempt.
pub fn judge(unit: &Unit, outcome: &Outcome) -> Judgement {
    match &outcome.stopped {
        Some(StopCause::Cancelled) => return fail(Reason::Cancelled, "cancelled on request; its processes are gone".to_owned()),
        Some(StopCause::Interrupted) => {
            return fail(Reason::Interrupted, "interrupted: the worker was told to make room".to_owned());
        }
        Some(StopCause::TimedOut { limit }) => {
            let (phase, fact) = if ever_ran(outcome) { ("running", "still running") } else { ("starting", "not started") };
            let reason = Reason::TimedOut { phase: phase.to_owned(), limit: *limit };
            return fail(reason, format!("timed out: {fact} after {limit}; its processes were stopped"));
        }
        None => {}
    }
    match &outcome.ended {
        Ended::NotStarted { message } => fail(Reason::StartFailed, format!("could not be started: {message}")),
        Ended::Unseen => fail(Reason::Lost, "lost: its process is gone and nobody saw how it ended".to_owned()),
        Ended::Killed { signal, .. } => judge_signal(*signal, outcome),
        Ended::Exited { code } => judge_code(unit, *code, outcome),
    }
}

fn ever_ran(outcome: &Outcome) -> bool {
    match outcome.ended {
        Ended::Exited { .. } | Ended::Killed { .. } => true,
        Ended::NotStarted { .. } => false,
        Ended::Unseen => outcome.started_at.is_some(),
    }
}

fn judge_signal(number: i32, outcome: &Outcome) -> Judgement {
    let Some(evidence) = &outcome.out_of_memory else {
        return fail(Reason::Signal { number }, format!("killed by signal {number} that nothing of Muster sent"));
    };
    let limit = evidence.limit.map(|limit| format!("limit {limit}, ")).unwrap_or_default();
    let peak = evidence.peak.map(|peak| format!("peak {peak}, ")).unwrap_or_default();
    fail(Reason::OutOfMemory, format!("ran out of memory ({limit}{peak}{})", evidence.source))
}

fn judge_code(unit: &Unit, code: u8, outcome: &Outcome) -> Judgement {
    let reason = Reason::ExitNonzero { code };
    match meaning(unit, code) {
        Some(ExitMeaning::Success) => judge_output(outcome),
        Some(ExitMeaning::Retry) => failure(reason, format!("exited with code {code}, which asks for a retry"), Wish::Retry),
        Some(ExitMeaning::Fail) => failure(reason, format!("exited with code {code}, which is final"), Wish::GiveUp),
        None => fail(reason, format!("exited with code {code}")),
    }
}

fn judge_output(outcome: &Outcome) -> Judgement {
    if outcome.publish_failed {
        let why = outcome.problems.join("; ");
        return fail(Reason::PublishFailed, format!("exited well, but its output could not be published: {why}"));
    }
    if outcome.quality_fails {
        let why = outcome.findings.first().map_or("a declared check failed", String::as_str);
        return failure(Reason::Quality, format!("exited well, but its output is bad: {why}"), Wish::GiveUp);
    }
    Judgement::Success
}

fn fail(reason: Reason, message: String) -> Judgement {
    failure(reason, message, Wish::Open)
}

fn failure(reason: Reason, message: String, wish: Wish) -> Judgement {
    Judgement::Failure(Failure { reason, message, wish })
}
