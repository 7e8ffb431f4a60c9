//! Whether to try again, and when.

use model::{Attempt, Digest, ExecutionId, Reason, ReasonName, RetryPolicy, Span, SpanRange};

use crate::judge::{Failure, Wish};

/// Attempts that infrastructure reasons may use up beyond the unit's own: endless free retries would have no end.
pub const FREE_ATTEMPTS: u32 = 20;

/// The pause after an infrastructure reason, growing by [`FREE_FACTOR`].
const FREE_BACKOFF: SpanRange = SpanRange { from: Span::from_secs(1), to: Span::from_secs(60) };
const FREE_FACTOR: u32 = 2;

/// What follows a failed attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// Another attempt after the pause.
    Again {
        /// The pause.
        after: Span,
    },
    /// That was the last one.
    Final {
        /// Which attempt it was, where the policy allows several; a half sentence.
        because: Option<String>,
    },
}

/// Decides on another attempt. `attempts` are all attempts so far, the failed one last, with its reason.
pub fn decide(policy: &RetryPolicy, execution: ExecutionId, attempts: &[Attempt], failure: &Failure) -> Next {
    if !deserves(policy, failure) {
        return Next::Final { because: None };
    }
    let is_free = |attempt: &&Attempt| attempt.reason.as_ref().is_some_and(Reason::is_infrastructure);
    let free = count(attempts.iter().filter(is_free));
    let own = count(attempts.iter()) - free;
    if failure.reason.is_infrastructure() {
        return match free {
            free if free > FREE_ATTEMPTS => Next::Final { because: Some(format!("after {FREE_ATTEMPTS} free retries")) },
            free => Next::Again { after: pause(FREE_BACKOFF, FREE_FACTOR, free, execution) },
        };
    }
    match own {
        own if own < policy.attempts => Next::Again { after: pause(policy.backoff, policy.factor, own, execution) },
        _ if policy.attempts > 1 => Next::Final { because: Some(format!("attempt {own} of {}", policy.attempts)) },
        _ => Next::Final { because: None },
    }
}

fn count<'a>(attempts: impl Iterator<Item = &'a Attempt>) -> u32 {
    u32::try_from(attempts.count()).unwrap_or(u32::MAX)
}

/// Whether the failure deserves another attempt at all. A policy that lists nothing means every failure of the program or the
/// platform; one that lists something means just that, and what never ran.
fn deserves(policy: &RetryPolicy, failure: &Failure) -> bool {
    match failure.wish {
        // A code that the unit calls final stays so, whatever is listed for exits in general.
        Wish::GiveUp => return failure.reason == Reason::Quality && policy.reasons.contains(&ReasonName::Quality),
        Wish::Retry => return true,
        Wish::Open => {}
    }
    let lists_nothing = policy.codes.is_empty() && policy.reasons.is_empty();
    let listed = policy.reasons.contains(&failure.reason.name());
    match &failure.reason {
        Reason::Capacity | Reason::Throttled | Reason::Interrupted => true,
        Reason::ExitNonzero { code } => lists_nothing || listed || policy.codes.contains(code),
        Reason::Signal { .. }
        | Reason::OutOfMemory
        | Reason::TimedOut { .. }
        | Reason::StartFailed
        | Reason::PublishFailed
        | Reason::Lost => lists_nothing || listed,
        Reason::Quality => listed,
        Reason::Cancelled | Reason::Refused => false,
    }
}

/// The pause before the next attempt: `range.from`, multiplied by `factor` for each earlier one, a quarter more or less so that many failures at
/// once do not come back at once (spread by the execution's id), and never outside the range.
fn pause(range: SpanRange, factor: u32, failures: u32, execution: ExecutionId) -> Span {
    let (from, to) = (range.from.as_millis(), range.to.as_millis());
    let doublings = failures.saturating_sub(1).min(63);
    let grown = from.saturating_mul(u64::from(factor).max(1).saturating_pow(doublings)).min(to);
    let spread = Digest::of(format!("{execution}/{failures}").as_bytes()).bits() % 1_000;
    let share = 750 + u64::try_from(spread).unwrap_or(0) / 2;
    let pause = u64::try_from(u128::from(grown) * u128::from(share) / 1_000).unwrap_or(grown);
    Span::from_millis(pause.clamp(from, to))
}

/// The reasons that a manifest may list under `on`.
pub fn listable() -> impl Iterator<Item = ReasonName> {
    ReasonName::ALL.into_iter().filter(|name| !matches!(name, ReasonName::Cancelled | ReasonName::Refused))
}

#[cfg(test)]
mod tests {
    use model::{AttemptPhase, RunId, Timestamp};

    use super::*;

    const EXECUTION: ExecutionId = ExecutionId { run: RunId::from_bits(1), item: 0 };

    fn after(policy: &RetryPolicy, reasons: &[Reason]) -> Next {
        let attempt = |(number, reason): (u32, &Reason)| Attempt {
            number,
            phase: AttemptPhase::Ended,
            granted_at: Timestamp::UNIX_EPOCH,
            started_at: None,
            ended_at: None,
            observed_at: Timestamp::UNIX_EPOCH,
            process: None,
            reason: Some(reason.clone()),
            message: None,
        };
        let attempts: Vec<Attempt> = (1..).zip(reasons).map(attempt).collect();
        let reason = reasons.last().unwrap().clone();
        decide(policy, EXECUTION, &attempts, &Failure { reason, message: String::new(), wish: Wish::Open })
    }

    fn three() -> RetryPolicy {
        RetryPolicy { attempts: 3, ..RetryPolicy::default() }
    }

    #[test]
    fn the_units_own_failures_use_up_its_attempts() {
        let exit = Reason::ExitNonzero { code: 1 };
        assert!(matches!(after(&three(), std::slice::from_ref(&exit)), Next::Again { .. }));
        assert!(matches!(after(&three(), &[exit.clone(), exit.clone()]), Next::Again { .. }));
        assert_eq!(
            after(&three(), &[exit.clone(), exit.clone(), exit]),
            Next::Final { because: Some("attempt 3 of 3".to_owned()) }
        );
    }

    #[test]
    fn what_the_platform_did_is_free_but_not_endless() {
        let lost = vec![Reason::Lost; FREE_ATTEMPTS as usize];
        assert!(matches!(after(&RetryPolicy::default(), &lost), Next::Again { .. }));
        let mut more = lost.clone();
        more.push(Reason::Lost);
        assert!(matches!(after(&RetryPolicy::default(), &more), Next::Final { because: Some(_) }));
        more.truncate(5);
        more.push(Reason::ExitNonzero { code: 1 });
        assert!(matches!(after(&three(), &more), Next::Again { .. }), "five losses cost the unit nothing");
    }

    #[test]
    fn a_policy_that_lists_reasons_means_just_these() {
        let policy = RetryPolicy { codes: vec![75], reasons: vec![ReasonName::Capacity], ..three() };
        assert_eq!(after(&policy, &[Reason::ExitNonzero { code: 1 }]), Next::Final { because: None });
        assert_eq!(after(&policy, &[Reason::Lost]), Next::Final { because: None });
        assert!(matches!(after(&policy, &[Reason::ExitNonzero { code: 75 }]), Next::Again { .. }));
        assert!(matches!(after(&policy, &[Reason::Interrupted]), Next::Again { .. }));
        assert_eq!(after(&three(), &[Reason::Cancelled]), Next::Final { because: None });
    }

    #[test]
    fn pauses_grow_to_their_bound_and_are_spread() {
        let policy = RetryPolicy { attempts: 100, ..RetryPolicy::default() };
        let mut reasons = Vec::new();
        for failures in 1..80_u32 {
            reasons.push(Reason::ExitNonzero { code: 1 });
            let Next::Again { after } = after(&policy, &reasons) else { panic!("attempt {failures} was the last") };
            let whole = 1_000_u64.saturating_mul(1_u64.checked_shl(failures - 1).unwrap_or(u64::MAX)).min(60_000);
            let allowed = (whole * 3 / 4).max(1_000)..=(whole * 5 / 4).min(60_000);
            assert!(allowed.contains(&after.as_millis()), "pause {failures}: {after}");
        }
    }
}
