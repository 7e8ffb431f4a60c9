//! What an outcome means, case by case. Success needs positive proof.

#[path = "fixture/unit.rs"]
mod fixture;

use std::collections::BTreeMap;

use engine::judge::{Judgement, judge};
use fixture::unit;
use model::{
    ByteSize, CURRENT_CONTRACT, Ended, ExecutionId, ExitMeaning, LogSummary, MemoryEvidence, Outcome, RunId, Span, StopCause,
    Timestamp, Unit, Verdict,
};

fn outcome(ended: Ended) -> Outcome {
    Outcome {
        contract: CURRENT_CONTRACT,
        execution: ExecutionId { run: RunId::from_bits(1), item: 0 },
        attempt: 1,
        ended,
        stopped: None,
        out_of_memory: None,
        process: None,
        started_at: Some(Timestamp::UNIX_EPOCH),
        ended_at: Timestamp::UNIX_EPOCH,
        usage: None,
        log: LogSummary::default(),
        artifacts: Vec::new(),
        verdict: None,
        findings: Vec::new(),
        quality_fails: false,
        strays: Vec::new(),
        problems: Vec::new(),
        publish_failed: false,
    }
}

fn exited(code: u8) -> Outcome {
    outcome(Ended::Exited { code })
}

fn killed(signal: i32) -> Outcome {
    outcome(Ended::Killed { signal, core: false })
}

fn stopped(by: StopCause, ended: Ended) -> Outcome {
    Outcome { stopped: Some(by), ..outcome(ended) }
}

fn evidence(limit: Option<u64>, peak: Option<u64>) -> Option<MemoryEvidence> {
    let source = "the kernel counted 1 kill for memory".to_owned();
    Some(MemoryEvidence { limit: limit.map(ByteSize::from_bytes), peak: peak.map(ByteSize::from_bytes), source })
}

/// A unit of which 3 means success, 4 a retry, 5 a failure for good, and which even calls 0 and 75 something else.
fn particular() -> Unit {
    let meanings = [
        (0, ExitMeaning::Fail),
        (3, ExitMeaning::Success),
        (4, ExitMeaning::Retry),
        (5, ExitMeaning::Fail),
        (75, ExitMeaning::Success),
    ];
    Unit { exit_codes: BTreeMap::from(meanings), ..unit("particular") }
}

fn cases() -> Vec<(&'static str, Unit, Outcome)> {
    const TERM: Ended = Ended::Killed { signal: 15, core: false };
    const DONE: Ended = Ended::Exited { code: 0 };
    let plain = || unit("plain");
    let bad =
        || Outcome { quality_fails: true, findings: vec!["12 rows, wanted 100".to_owned(), "stale".to_owned()], ..exited(0) };
    let full = || Outcome { publish_failed: true, problems: vec!["no space left on device".to_owned()], ..exited(0) };
    let limit = Span::from_secs(90);
    vec![
        ("exit 0", plain(), exited(0)),
        ("exit 0, verdict fail that is only reported", plain(), Outcome { verdict: Some(Verdict::Fail), ..exited(0) }),
        ("exit 1", plain(), exited(1)),
        ("exit 75 asks for a retry", plain(), exited(75)),
        ("exit 137 is an exit", plain(), exited(137)),
        ("signal 9 is a signal", plain(), killed(9)),
        ("signal 11 with a core", plain(), outcome(Ended::Killed { signal: 11, core: true })),
        ("signal 9 with evidence", plain(), Outcome { out_of_memory: evidence(Some(64 << 20), Some(63 << 20)), ..killed(9) }),
        ("signal 9 with bare evidence", plain(), Outcome { out_of_memory: evidence(None, None), ..killed(9) }),
        ("exit 1 beside evidence", plain(), Outcome { out_of_memory: evidence(None, None), ..exited(1) }),
        ("exit 0 beside evidence", plain(), Outcome { out_of_memory: evidence(None, None), ..exited(0) }),
        ("never ran", plain(), outcome(Ended::NotStarted { message: "`./run` does not exist".to_owned() })),
        ("nobody saw its end", plain(), outcome(Ended::Unseen)),
        ("output not published", plain(), full()),
        ("output bad", plain(), bad()),
        ("output bad and not published", plain(), Outcome { publish_failed: true, problems: full().problems, ..bad() }),
        ("exit 1, output bad", plain(), Outcome { ended: Ended::Exited { code: 1 }, ..bad() }),
        ("cancelled", plain(), stopped(StopCause::Cancelled, TERM)),
        ("cancelled, and it exits 0", plain(), stopped(StopCause::Cancelled, DONE)),
        ("interrupted", plain(), stopped(StopCause::Interrupted, TERM)),
        ("timed out", plain(), stopped(StopCause::TimedOut { limit }, Ended::Killed { signal: 9, core: false })),
        ("timed out, and it exits 0", plain(), stopped(StopCause::TimedOut { limit }, DONE)),
        ("timed out, and nobody saw its end", plain(), stopped(StopCause::TimedOut { limit }, Ended::Unseen)),
        ("stopped before it ran", plain(), Outcome { started_at: None, ..stopped(StopCause::TimedOut { limit }, Ended::Unseen) }),
        ("its own success", particular(), exited(3)),
        ("its own success, output bad", particular(), Outcome { ended: Ended::Exited { code: 3 }, ..bad() }),
        ("its own retry", particular(), exited(4)),
        ("its own failure", particular(), exited(5)),
        ("its exit 0 is a failure", particular(), exited(0)),
        ("its exit 75 is a success", particular(), exited(75)),
        ("a code it says nothing of", particular(), exited(6)),
    ]
}

#[test]
fn every_outcome_has_a_reason_and_a_sentence() {
    let line = |(case, unit, outcome): &(&str, Unit, Outcome)| match judge(unit, outcome) {
        Judgement::Success => format!("{case}\n  success\n"),
        Judgement::Failure(failure) => format!("{case}\n  {} ({:?}): {}\n", failure.reason.name(), failure.wish, failure.message),
    };
    insta::assert_snapshot!(cases().iter().map(line).collect::<String>());
}

#[test]
fn success_needs_an_exit_that_was_seen_and_nothing_against_it() {
    for (case, unit, outcome) in cases() {
        if judge(&unit, &outcome) == Judgement::Success {
            assert!(matches!(outcome.ended, Ended::Exited { .. }), "{case}");
            assert!(outcome.stopped.is_none() && !outcome.publish_failed && !outcome.quality_fails, "{case}");
        }
    }
}
