//! What exactly a worker is told, and what an execution asks of the gate.

#[path = "fixture/unit.rs"]
mod fixture;

use std::collections::BTreeMap;

use engine::assign::{assignment, request, series};
use fixture::unit;
use model::{
    Baseline, ByteSize, Concurrency, Execution, ExecutionId, ExecutionState, ExitMeaning, LimitName, Need, NeedVerdict,
    ResourceLimits, Run, RunId, RunOptions, RunState, Selection, Span, Template, Tier, Timeouts, Timestamp, Totals, Unit,
};
use proptest::prelude::*;
use serde_json::json;

fn run() -> Run {
    Run {
        id: RunId::from_bits(1),
        scope: "acme/data/prices".parse().expect("a scope"),
        state: RunState::Started,
        selection: Selection::All,
        options: RunOptions {
            concurrency: None,
            priority: 0,
            parameters: BTreeMap::new(),
            arguments: Vec::new(),
            limit: None,
            tier: None,
            slot: "2013-02-08T06:30:00Z".parse().expect("a time"),
        },
        items: 1,
        created_at: Timestamp::UNIX_EPOCH,
        started_at: None,
        ended_at: None,
        cancel: None,
        totals: Totals::default(),
        verdict: None,
        message: None,
        correlation: "c-1".to_owned(),
    }
}

fn execution(run: &Run, unit: &Unit) -> Execution {
    Execution {
        id: ExecutionId { run: run.id, item: 4 },
        scope: run.scope.clone(),
        unit: unit.name.clone(),
        revision: 3,
        tier: unit.tier.clone(),
        parameters: BTreeMap::new(),
        slot: run.options.slot,
        state: ExecutionState::Started,
        created_at: Timestamp::UNIX_EPOCH,
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

fn template(text: &str) -> Template {
    Template::parse(text).expect("a template")
}

fn argv(unit: &Unit, arguments: &[&str]) -> Vec<String> {
    let mut run = run();
    run.options.arguments = arguments.iter().map(|argument| (*argument).to_owned()).collect();
    assignment(&run, &execution(&run, unit), 1, unit, &Tier::built_in(), Vec::new()).run
}

const HOSTILE: [&str; 16] = [
    "",
    " ",
    "two  words",
    "it's",
    "\"quoted\"",
    "$HOME `id` $(id)",
    "a\nb\n",
    "\t",
    "back\\slash",
    "--",
    "-rf",
    "*",
    "🦀 é",
    "{{ slot }}",
    "{{",
    "; rm -rf / #",
];

#[test]
fn arguments_arrive_byte_for_byte() {
    let literal = |argument: &&str| template(&argument.replace("{{", "{{ \"{{\" }}"));
    let hostile = Unit { run: HOSTILE.iter().map(literal).collect(), ..unit("hostile") };
    assert_eq!(
        argv(&hostile, &HOSTILE),
        [HOSTILE, HOSTILE].concat(),
        "its own, then those of the caller, none read as a template"
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_argument_arrives_byte_for_byte(arguments in prop::collection::vec(any::<String>(), 0..5)) {
        let given: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let argv = argv(&unit("plain"), &given);
        prop_assert_eq!(&argv[1..], &arguments[..]);
    }
}

#[test]
fn an_assignment_is_complete() {
    let mut run = run();
    run.options.limit = Some(100);
    run.options.arguments = vec!["--verbose".to_owned()];
    let prices = Unit {
        run: ["python3", "prices.py", "--since", "{{ slot | date }}", "--airport={{ params.airport }}"].map(template).to_vec(),
        environment: [("TABLE", "prices_{{ attempt }}"), ("MUSTER_UNIT", "an impostor")]
            .map(|(name, value)| (name.to_owned(), template(value)))
            .into(),
        pass_environment: vec!["LANG".to_owned()],
        secrets: BTreeMap::from([("API_KEY".to_owned(), "prices/api-key".to_owned())]),
        exit_codes: BTreeMap::from([(0, ExitMeaning::Fail), (3, ExitMeaning::Success), (9, ExitMeaning::Success)]),
        timeouts: Timeouts { running: Some(Span::from_secs(900)), ..Timeouts::default() },
        ..unit("daily-prices")
    };
    let parameters = [("airport", json!("JFK")), ("days", json!(3)), ("dry-run", json!(true)), ("share", json!(0.5))];
    let execution = Execution {
        parameters: parameters.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
        ..execution(&run, &prices)
    };
    let memory = Some(ByteSize::from_bytes(512 << 20));
    let tier = Tier { resources: ResourceLimits { cpu_millis: Some(500), memory, processes: None }, ..Tier::built_in() };
    let baseline = Baseline { path: "prices.csv".to_owned(), key: "acme/data/prices/signals".parse().unwrap() };
    insta::assert_json_snapshot!(assignment(&run, &execution, 2, &prices, &tier, vec![baseline]));
}

#[test]
fn without_a_cap_there_is_no_cap_in_the_environment() {
    let run = run();
    let plain = unit("plain");
    let assignment = assignment(&run, &execution(&run, &plain), 1, &plain, &Tier::built_in(), Vec::new());
    assert_eq!(assignment.limit, None);
    assert!(!assignment.environment.contains_key("MUSTER_LIMIT"));
    assert_eq!(assignment.success_codes, [0]);
}

#[test]
fn the_gate_is_asked_for_the_narrowest_key_first() {
    let mut run = run();
    run.options.concurrency = Some(8);
    run.options.priority = 100;
    let limits = ["api", "gone", "disk"].map(|name| name.parse::<LimitName>().unwrap());
    let mut prices = Unit {
        priority: 100,
        limits: limits.to_vec(),
        needs: vec![Need { unit: "load".parse().unwrap(), verdict: NeedVerdict::Warn }],
        concurrency: Some(Concurrency { limit: 2, per: None }),
        ..unit("prices")
    };
    let declared = |name: &LimitName| match name.as_str() {
        "api" => Some(4),
        "disk" => Some(1),
        _ => None,
    };
    let mut execution = execution(&run, &prices);
    let keys = |execution: &Execution, prices: &Unit| {
        let request = request(&run, execution, prices, &Tier::built_in(), declared);
        request.keys.iter().map(|(key, limit)| format!("{key} {limit}")).collect::<Vec<_>>().join(", ")
    };
    let shared = "limit:api 4, limit:disk 1, tier:default 16, run:run_00000000000000000000000001 8";
    assert_eq!(keys(&execution, &prices), format!("unit:prices 2, {shared}"), "a limit that is gone binds nobody");
    prices.concurrency = Some(Concurrency { limit: 1, per: Some("airport".to_owned()) });
    for (value, expected) in [(json!("JFK"), "JFK"), (json!(3), "3"), (json!(true), "true")] {
        execution.parameters.insert("airport".to_owned(), value);
        assert_eq!(keys(&execution, &prices), format!("unit:prices:{expected} 1, {shared}"));
    }
    let asked = request(&run, &execution, &prices, &Tier::built_in(), declared);
    assert_eq!(asked.priority, 200, "the run's priority is added, beyond what one of them could say");
    assert_eq!(asked.needs, [("load".parse().unwrap(), NeedVerdict::Warn)]);
}

#[test]
fn outputs_are_compared_with_those_of_the_same_work() {
    let base = run();
    let plain = unit("plain");
    let with = |change: &dyn Fn(&mut Run, &mut Execution)| {
        let (mut run, mut execution) = (base.clone(), execution(&base, &plain));
        change(&mut run, &mut execution);
        series(&run, &execution)
    };
    let same = with(&|_, _| {});
    assert!(same.is_some());
    assert_eq!(with(&|run, execution| (run.id, execution.id.item) = (RunId::from_bits(9), 7)), same, "another run of the same");
    assert_eq!(with(&|_, execution| execution.slot = Timestamp::UNIX_EPOCH), same, "of another day");
    assert_eq!(with(&|_, execution| execution.revision = 4), same, "of another revision");
    assert_ne!(with(&|_, execution| execution.unit = "other".parse().unwrap()), same);
    assert_ne!(with(&|run, _| run.options.arguments.push("--all".to_owned())), same);
    let airport = |name: &str| with(&|_, execution| drop(execution.parameters.insert("airport".to_owned(), json!(name))));
    assert_ne!(airport("JFK"), same);
    assert_ne!(airport("JFK"), airport("LGA"));
    assert_eq!(with(&|run, _| run.options.limit = Some(5)), None, "a capped run is compared with nothing");
}
