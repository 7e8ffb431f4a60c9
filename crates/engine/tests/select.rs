//! Which items a request selects, in which order, and every mistake of a request at once.

#[path = "fixture/unit.rs"]
mod fixture;

use std::collections::BTreeMap;

use engine::select::{Again, Candidate, MOST_ITEMS, Mistake, again, select};
use fixture::unit;
use model::{
    Item, LaunchKind, Need, NeedVerdict, Parameter, ParameterKind, ResourceLimits, RunOptions, Selection, Tier, TierName,
    Timestamp, Unit,
};
use serde_json::{Value, json};

fn options() -> RunOptions {
    RunOptions {
        concurrency: None,
        priority: 0,
        parameters: BTreeMap::new(),
        arguments: Vec::new(),
        limit: None,
        tier: None,
        slot: Timestamp::UNIX_EPOCH,
    }
}

fn tiers() -> BTreeMap<TierName, Tier> {
    let heavy = Tier {
        name: "heavy".parse().expect("a name"),
        description: None,
        launch: LaunchKind::Fargate,
        resources: ResourceLimits::default(),
        capacity: 2,
        spot: true,
    };
    [Tier::built_in(), heavy].into_iter().map(|tier| (tier.name.clone(), tier)).collect()
}

fn needing(name: &str, needs: &[&str]) -> Unit {
    let need = |name: &&str| Need { unit: name.parse().expect("a name"), verdict: NeedVerdict::Any };
    Unit { needs: needs.iter().map(need).collect(), ..unit(name) }
}

fn parameter(kind: ParameterKind, default: Option<Value>) -> Parameter {
    Parameter { kind, default, values: Vec::new(), min: None, max: None, description: None }
}

fn candidates(units: &[Unit]) -> Vec<Candidate<'_>> {
    units.iter().map(|unit| Candidate { revision: 7, unit, disabled: None }).collect()
}

fn named(units: &[&str]) -> Selection {
    Selection::Units { units: units.iter().map(|name| name.parse().expect("a name")).collect() }
}

fn names(items: Result<Vec<Item>, Vec<Mistake>>) -> String {
    match items {
        Ok(items) => items.iter().map(|item| item.unit.as_str()).collect::<Vec<_>>().join(" "),
        Err(mistakes) => panic!("{mistakes:?}"),
    }
}

/// One line a mistake: code, sentence, and the word that a suggestion can be made for.
fn told(items: Result<Vec<Item>, Vec<Mistake>>) -> String {
    let Err(mistakes) = items else { return "no mistake".to_owned() };
    let line = |mistake: Mistake| match mistake.unknown {
        None => format!("{} {}", mistake.code, mistake.message),
        Some((word, known)) => format!("{} {} [{word}: {}]", mistake.code, mistake.message, known.join(" ")),
    };
    mistakes.into_iter().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn needs_come_first_then_priority_then_name() {
    let urgent = |unit: Unit| Unit { priority: 50, ..unit };
    let late = |unit: Unit| Unit { priority: -50, ..unit };
    let chain = [needing("c", &["b"]), needing("b", &["a"]), unit("a")];
    let free = [unit("zoo"), late(unit("ant")), urgent(unit("yak")), unit("bee")];
    let urgent_last = [urgent(needing("report", &["load"])), late(unit("load")), unit("other")];
    let diamond = [needing("end", &["left", "right"]), needing("right", &["start"]), needing("left", &["start"]), unit("start")];
    let twice = [needing("end", &["start", "start"]), unit("start")];
    let void = [needing("end", &["elsewhere"]), unit("start")];
    let table: [(&str, &[Unit], &str); 6] = [
        ("a chain", &chain, "a b c"),
        ("nothing needed", &free, "yak bee zoo ant"),
        ("priority does not overtake a need", &urgent_last, "other load report"),
        ("a diamond", &diamond, "start left right end"),
        ("the same need twice", &twice, "start end"),
        ("a need of a unit that is not selected", &void, "end start"),
    ];
    for (case, units, expected) in table {
        assert_eq!(names(select(&candidates(units), &tiers(), &Selection::All, &options())), expected, "{case}");
    }
}

#[test]
fn the_order_of_the_registry_does_not_matter() {
    let units = [needing("c", &["b"]), unit("b"), unit("a"), needing("d", &["a"])];
    let forwards = candidates(&units);
    let backwards: Vec<Candidate<'_>> = forwards.iter().rev().copied().collect();
    let of = |candidates: &[Candidate<'_>]| select(candidates, &tiers(), &Selection::All, &options());
    assert_eq!(of(&forwards), of(&backwards));
}

#[test]
fn an_item_pins_what_it_will_run() {
    let mut daily = unit("daily");
    daily.parameters.insert("days".to_owned(), parameter(ParameterKind::Integer, Some(json!(3))));
    let chosen = RunOptions { tier: Some("heavy".parse().unwrap()), ..options() };
    let items = select(&candidates(&[daily, unit("early")]), &tiers(), &Selection::All, &chosen).unwrap();
    insta::assert_json_snapshot!(items);
}

#[test]
fn who_is_selected() {
    let tagged = |name: &str, tags: &[&str]| Unit { tags: tags.iter().map(|tag| (*tag).to_owned()).collect(), ..unit(name) };
    let off = Unit { enabled: false, ..tagged("off", &["nightly"]) };
    let units = [tagged("air", &["nightly", "public"]), tagged("sea", &["public"]), unit("land"), off];
    let mut known = candidates(&units);
    known[1].disabled = Some("disabled by ada since Monday");
    let tags = |tags: &[&str]| Selection::Tags { tags: tags.iter().map(|tag| (*tag).to_owned()).collect() };
    let of = |selection: &Selection| select(&known, &tiers(), selection, &options());
    assert_eq!(names(of(&Selection::All)), "air land");
    assert_eq!(names(of(&tags(&["public"]))), "air", "sea is disabled by an operator");
    assert_eq!(names(of(&tags(&["nightly", "public"]))), "air", "each unit once");
    assert_eq!(names(of(&named(&["land", "air", "land"]))), "air land", "each unit once");
    let told: Vec<String> =
        [named(&["off", "sea", "land"]), named(&["laud", "air", "ari"]), tags(&["nightly", "pubic"]), named(&[])]
            .iter()
            .map(|selection| told(of(selection)))
            .collect();
    insta::assert_snapshot!(told.join("\n\n"));
}

#[test]
fn nothing_enabled_is_a_mistake_and_not_an_empty_run() {
    let off = [Unit { enabled: false, ..unit("off") }];
    let told = told(select(&candidates(&off), &tiers(), &Selection::All, &options()));
    assert_eq!(told, "E-R03 nothing to run: no enabled unit is selected");
}

#[test]
fn every_mistake_of_a_request_is_told_at_once() {
    let mut air = unit("air");
    air.parameters.insert("days".to_owned(), Parameter { min: Some(1.0), ..parameter(ParameterKind::Integer, Some(json!(1))) });
    air.parameters.insert("since".to_owned(), parameter(ParameterKind::Date, None));
    let mut sea = unit("sea");
    let colours = vec![json!("red"), json!("green")];
    sea.parameters.insert("flag".to_owned(), Parameter { values: colours, ..parameter(ParameterKind::String, None) });
    sea.parameters.insert("deep".to_owned(), parameter(ParameterKind::Boolean, None));
    let given = [("days", json!("0")), ("dyas", json!("3")), ("deep", json!("yes")), ("flag", json!(5))];
    let request = RunOptions {
        parameters: given.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
        arguments: vec!["--fast".to_owned()],
        tier: Some("haevy".parse().unwrap()),
        ..options()
    };
    insta::assert_snapshot!(told(select(&candidates(&[air, sea]), &tiers(), &named(&["air", "sea", "laud"]), &request)));
}

/// A command line gives text, an API gives values; both mean the same.
#[test]
fn a_parameter_is_read_from_text_and_taken_as_a_value() {
    use ParameterKind::{Boolean, Date, Integer, Number, String as Text};
    let table = [
        (Text, json!("5"), Some(json!("5"))),
        (Text, json!(""), Some(json!(""))),
        (Text, json!(5), None),
        (Integer, json!("5"), Some(json!(5))),
        (Integer, json!(5), Some(json!(5))),
        (Integer, json!("5.0"), None),
        (Integer, json!(5.5), None),
        (Integer, json!("99999999999999999999"), None),
        (Number, json!("1e3"), Some(json!(1000.0))),
        (Number, json!("NaN"), None),
        (Number, json!("inf"), None),
        (Boolean, json!("true"), Some(json!(true))),
        (Boolean, json!("True"), None),
        (Date, json!("2013-02-08"), Some(json!("2013-02-08"))),
        (Date, json!("2013-02-30"), None),
        (Date, json!("2013-2-8"), None),
        (Text, Value::Null, None),
    ];
    for (kind, given, expected) in table {
        let mut daily = unit("daily");
        daily.parameters.insert("value".to_owned(), parameter(kind, None));
        let request = RunOptions { parameters: BTreeMap::from([("value".to_owned(), given.clone())]), ..options() };
        let items = select(&candidates(&[daily]), &tiers(), &Selection::All, &request);
        assert_eq!(items.ok().map(|items| items[0].parameters["value"].clone()), expected, "{kind:?} from {given}");
    }
}

#[test]
fn a_run_holds_ten_thousand_items_and_no_more() {
    let units: Vec<Unit> = (0..=MOST_ITEMS).map(|number| unit(&format!("unit-{number}"))).collect();
    let known = candidates(&units);
    assert_eq!(select(&known[1..], &tiers(), &Selection::All, &options()).unwrap().len(), MOST_ITEMS);
    let told = told(select(&known, &tiers(), &Selection::All, &options()));
    assert_eq!(told, "E-R09 10001 items are more than the 10000 that one run may hold; select fewer units");
}

#[test]
fn what_is_run_again_keeps_what_it_had() {
    let earlier = |unit: &str, revision: u64| Again {
        unit: unit.parse().unwrap(),
        revision,
        tier: "heavy".parse().unwrap(),
        parameters: BTreeMap::from([("days".to_owned(), json!(9))]),
        slot: "2013-02-08T06:00:00Z".parse().unwrap(),
    };
    let items = again(&tiers(), vec![earlier("sea", 2), earlier("air", 5)]);
    let facts: Vec<_> = items.iter().map(|item| (item.item, item.unit.as_str(), item.revision, item.launch.as_str())).collect();
    assert_eq!(facts, [(0, "sea", 2, "fargate"), (1, "air", 5, "fargate")], "numbered anew, in their order");
    assert!(items.iter().all(|item| item.parameters["days"] == 9 && item.slot.to_string() == "2013-02-08T06:00:00Z"));
}
