//! Records for the suites.

use std::collections::BTreeMap;

use model::{
    Attempt, AttemptPhase, CancelRequest, Definition, Event, EventKind, Execution, ExecutionId, ExecutionState, Limit, PermitKey,
    ProcessIdentity, Reason, RetryPolicy, Run, RunId, RunOptions, RunState, Scope, Selection, Span, Tier, Timeouts, Timestamp,
    Totals, Unit, Verdict,
};
use serde_json::json;

/// A scope that only the case of that name uses.
pub(super) fn scope(case: &str) -> Scope {
    format!("conformance/suite/{case}").parse().unwrap()
}

/// An instant, in seconds after the suite's own zero.
pub(super) fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_767_225_600 + second).unwrap()
}

/// A run id; a greater number is a newer run.
pub(super) fn run_id(number: u32) -> RunId {
    RunId::from_bits((0x019b_0000_0000_u128 + u128::from(number)) << 80 | 7 << 76 | 0b10 << 62 | 0x1234_5678)
}

pub(super) fn run(scope: &Scope, number: u32, state: RunState) -> Run {
    let options = RunOptions {
        concurrency: Some(4),
        priority: -3,
        parameters: BTreeMap::from([("day".to_owned(), json!("2026-01-01"))]),
        arguments: vec!["--loud".to_owned(), String::new(), "ü \"$\"\n".to_owned()],
        limit: None,
        tier: None,
        slot: at(0),
    };
    Run {
        id: run_id(number),
        scope: scope.clone(),
        state,
        selection: Selection::All,
        options,
        items: 3,
        created_at: at(number.into()),
        started_at: None,
        ended_at: None,
        cancel: None,
        totals: Totals::default(),
        verdict: None,
        message: None,
        correlation: format!("request-{number}"),
    }
}

pub(super) fn execution(scope: &Scope, run: u32, item: u32, unit: &str, state: ExecutionState) -> Execution {
    Execution {
        id: ExecutionId { run: run_id(run), item },
        scope: scope.clone(),
        unit: unit.parse().unwrap(),
        revision: 7,
        tier: Tier::DEFAULT.parse().unwrap(),
        parameters: BTreeMap::new(),
        slot: at(0),
        state,
        created_at: at(1),
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

/// An execution with every field set.
pub(super) fn full_execution(scope: &Scope, run: u32, item: u32) -> Execution {
    let attempt = Attempt {
        number: 1,
        phase: AttemptPhase::Publishing,
        granted_at: at(2),
        started_at: Some(at(3)),
        ended_at: Some(at(4)),
        observed_at: at(5),
        process: Some(ProcessIdentity { boot: "b00t".to_owned(), pid: 42, start_ticks: u64::MAX }),
        reason: Some(Reason::TimedOut { phase: "running".to_owned(), limit: Span::from_secs(90) }),
        message: Some("a sentence with 'quotes', \"these\", a\ttab and an emoji 🦀".to_owned()),
    };
    Execution {
        started_at: Some(at(2)),
        ended_at: Some(at(9)),
        resume_at: Some("2026-01-01T00:00:07.123456789Z".parse().unwrap()),
        attempts: vec![attempt],
        permits: vec![(permit("full"), 3), (PermitKey::Run(run_id(run)), 0)],
        cancel: Some(CancelRequest { at: at(6), by: "operator".to_owned() }),
        reason: Some(Reason::ExitNonzero { code: 137 }),
        message: Some("exited with code 137".to_owned()),
        verdict: Some(Verdict::Warn),
        rows: Some(u64::from(u32::MAX) + 1),
        output: Some(1),
        parameters: BTreeMap::from([("n".to_owned(), json!(1.5)), ("deep".to_owned(), json!({ "list": [null, true] }))]),
        ..execution(scope, run, item, "full", ExecutionState::Failed)
    }
}

pub(super) fn permit(unit: &str) -> PermitKey {
    PermitKey::Unit(unit.parse().unwrap())
}

pub(super) fn event(scope: &Scope, subject: &str, step: &str) -> Event {
    Event::of_change(EventKind::AttemptGranted, subject, step, at(1), scope, "request", json!({ "step": step }))
}

pub(super) fn unit(name: &str, priority: i8) -> Definition {
    Definition::Job(Box::new(Unit {
        name: name.parse().unwrap(),
        description: Some("counts".to_owned()),
        owner: None,
        enabled: true,
        tags: vec!["daily".to_owned()],
        run: Vec::new(),
        location: "/fleet".to_owned(),
        tier: Tier::DEFAULT.parse().unwrap(),
        parameters: BTreeMap::new(),
        environment: BTreeMap::new(),
        pass_environment: Vec::new(),
        secrets: BTreeMap::new(),
        needs: Vec::new(),
        priority,
        concurrency: None,
        limits: Vec::new(),
        retry: RetryPolicy::default(),
        timeouts: Timeouts::default(),
        exit_codes: BTreeMap::new(),
        artifacts: Vec::new(),
        schedule: None,
    }))
}

pub(super) fn tier(name: &str) -> Definition {
    Definition::Tier(Tier { name: name.parse().unwrap(), ..Tier::built_in() })
}

pub(super) fn limit(name: &str) -> Definition {
    Definition::Limit(Limit { name: name.parse().unwrap(), description: None, limit: 2 })
}
