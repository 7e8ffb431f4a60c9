//! Which failures deserve another attempt, and how long it waits.

use std::collections::BTreeSet;

use engine::{
    judge::{Failure, Wish},
    retry::{FREE_ATTEMPTS, Next, decide, listable},
};
use model::{Attempt, AttemptPhase, ExecutionId, Reason, ReasonName, RetryPolicy, RunId, Span, SpanRange, Timestamp};
use proptest::prelude::*;

const EXECUTION: ExecutionId = ExecutionId { run: RunId::from_bits(1), item: 0 };

fn ended(reasons: &[Reason]) -> Vec<Attempt> {
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
    (1..).zip(reasons).map(attempt).collect()
}

fn after(policy: &RetryPolicy, execution: ExecutionId, reasons: &[Reason], wish: Wish) -> Next {
    let reason = reasons.last().expect("something failed").clone();
    decide(policy, execution, &ended(reasons), &Failure { reason, message: String::new(), wish })
}

fn failures() -> Vec<(&'static str, Reason, Wish)> {
    let exit = |code| Reason::ExitNonzero { code };
    vec![
        ("exit 1", exit(1), Wish::Open),
        ("exit 7", exit(7), Wish::Open),
        ("exit 75, asks for a retry", exit(75), Wish::Retry),
        ("exit 5, is final", exit(5), Wish::GiveUp),
        ("signal", Reason::Signal { number: 9 }, Wish::Open),
        ("out_of_memory", Reason::OutOfMemory, Wish::Open),
        ("timed_out", Reason::TimedOut { phase: "running".to_owned(), limit: Span::from_secs(1) }, Wish::Open),
        ("start_failed", Reason::StartFailed, Wish::Open),
        ("capacity", Reason::Capacity, Wish::Open),
        ("throttled", Reason::Throttled, Wish::Open),
        ("interrupted", Reason::Interrupted, Wish::Open),
        ("lost", Reason::Lost, Wish::Open),
        ("cancelled", Reason::Cancelled, Wish::Open),
        ("publish_failed", Reason::PublishFailed, Wish::Open),
        ("quality", Reason::Quality, Wish::GiveUp),
        ("refused", Reason::Refused, Wish::Open),
    ]
}

#[test]
fn every_policy_has_an_answer_to_every_failure() {
    let three = RetryPolicy { attempts: 3, ..RetryPolicy::default() };
    let policies = [
        ("one attempt", RetryPolicy::default()),
        ("three attempts", three.clone()),
        ("three attempts, on exit 7", RetryPolicy { codes: vec![7], ..three.clone() }),
        ("three attempts, on lost", RetryPolicy { reasons: vec![ReasonName::Lost], ..three.clone() }),
        (
            "three attempts, on quality and exit_nonzero",
            RetryPolicy { reasons: vec![ReasonName::Quality, ReasonName::ExitNonzero], ..three },
        ),
    ];
    let mut table = String::new();
    for (name, policy) in &policies {
        table.push_str(&format!("{name}\n"));
        for (failure, reason, wish) in failures() {
            let tries = |count: usize| match after(policy, EXECUTION, &vec![reason.clone(); count], wish) {
                Next::Again { .. } => None,
                Next::Final { because } => Some((count, because)),
            };
            let (attempts, because) = (1..100).find_map(tries).expect("nothing is tried for ever");
            let because = because.map(|because| format!(", {because}")).unwrap_or_default();
            table.push_str(&format!("  {failure:<26} {attempts}{because}\n"));
        }
    }
    insta::assert_snapshot!(table);
}

#[test]
fn what_a_manifest_may_list_is_what_can_be_tried_again() {
    let listed: BTreeSet<ReasonName> = listable().collect();
    for reason in failures().into_iter().map(|(_, reason, _)| reason) {
        let policy = RetryPolicy { attempts: 2, reasons: vec![reason.name()], ..RetryPolicy::default() };
        let again = matches!(after(&policy, EXECUTION, std::slice::from_ref(&reason), Wish::Open), Next::Again { .. });
        assert_eq!(again, listed.contains(&reason.name()), "{reason}");
    }
}

#[test]
fn many_that_fail_at_once_do_not_come_back_at_once() {
    let policy = RetryPolicy { attempts: 3, ..RetryPolicy::default() };
    let failures = [Reason::StartFailed, Reason::StartFailed];
    let pause = |item| match after(&policy, ExecutionId { item, ..EXECUTION }, &failures, Wish::Open) {
        Next::Again { after } => after.as_millis(),
        Next::Final { because } => panic!("final: {because:?}"),
    };
    let pauses: Vec<u64> = (0..1_000).map(pause).collect();
    for tenth in 0..10 {
        let share = pauses.iter().filter(|pause| (**pause - 1_500) / 100 == tenth).count();
        assert!((50..=160).contains(&share), "{share} of 1,000 come back in one tenth of the spread");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever a manifest says: the pause stays between the shortest and the longest, and attempts come to an end.
    #[test]
    fn pauses_stay_in_their_range_and_attempts_come_to_an_end(
        attempts in 1..200_u32,
        from in 0..u64::from(u32::MAX),
        more in 0..u64::from(u32::MAX),
        factor in prop_oneof![0..5_u32, Just(u32::MAX)],
        lost in prop::collection::vec(any::<bool>(), 1..250),
    ) {
        let backoff = SpanRange { from: Span::from_millis(from), to: Span::from_millis(from + more) };
        let policy = RetryPolicy { attempts, backoff, factor, ..RetryPolicy::default() };
        let reason = |lost: &bool| if *lost { Reason::Lost } else { Reason::ExitNonzero { code: 1 } };
        let reasons: Vec<Reason> = lost.iter().map(reason).collect();
        let free = lost.iter().filter(|lost| **lost).count();
        let own = reasons.len() - free;
        let last_is_lost = lost.last() == Some(&true);
        match after(&policy, EXECUTION, &reasons, Wish::Open) {
            Next::Again { after } if last_is_lost => {
                prop_assert!(free <= FREE_ATTEMPTS as usize);
                prop_assert!((1_000..=60_000).contains(&after.as_millis()));
            }
            Next::Again { after } => {
                prop_assert!(own < attempts as usize);
                prop_assert!(after >= Span::from_millis(from) && after <= policy.backoff.to);
            }
            Next::Final { .. } if last_is_lost => prop_assert!(free > FREE_ATTEMPTS as usize),
            Next::Final { .. } => prop_assert!(own >= attempts as usize),
        }
    }
}
