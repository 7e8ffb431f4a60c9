use std::time::Duration;

use jiff::Timestamp;
use model::{EmptyPolicy, Freshness, Span, Verdict};

use crate::check::Check;
use crate::document::{CheckResult, Document, Origin};
use crate::options::Options;
use crate::profile::profile;
use crate::rules::Rules;

fn now() -> Timestamp {
    "2026-03-02T12:00:00Z".parse().unwrap()
}

fn rules(checks: &[&str]) -> Rules {
    Rules { checks: checks.iter().map(|text| Check::parse(text).unwrap()).collect(), ..Rules::default() }
}

/// A document of a CSV in a run.
fn read(run: &str, csv: &str, rules: &Rules) -> Document {
    let profile = profile(csv.as_bytes(), "prices.csv", &Options::for_rules(rules), now());
    Document::new(profile, Origin { run: Some(run.to_owned()), ..Origin::default() })
}

fn judged(csv: &str, rules: &Rules) -> Document {
    read("r-2", csv, rules).judge(rules, None, now())
}

/// After a run `r-1` that was accepted.
fn after(before: &str, csv: &str, rules: &Rules) -> Document {
    let previous = read("r-1", before, rules).judge(rules, None, now());
    read("r-2", csv, rules).judge(rules, Some(&previous), now())
}

fn find<'a>(document: &'a Document, id: &str) -> &'a CheckResult {
    let found = document.checks.iter().find(|check| check.id == id);
    found.unwrap_or_else(|| panic!("no {id} among {:?}", document.checks.iter().map(|check| &check.id).collect::<Vec<_>>()))
}

fn told(document: &Document, id: &str) -> (Verdict, String) {
    let check = find(document, id);
    (check.verdict, check.message.clone())
}

fn numbered(rows: usize) -> String {
    let rows: Vec<String> = (0..rows).map(|n| format!("{n},{}\n", n % 7)).collect();
    format!("id,day\n{}", rows.concat())
}

const PRICES: &str = "date,symbol,price\n2026-03-01,A,10\n2026-03-01,B,\n2026-03-02,A,30.5\n2026-03-02,A,30.5\n";

#[test]
fn every_declared_check_says_what_it_saw() {
    let rules = rules(&[
        "rows >= 100",
        "rows >= 4",
        "columns == 3",
        "bytes <= 1KiB",
        "completeness(price) >= 0.99",
        "completeness > 90%",
        "nulls(price) <= 30%",
        "nulls(price) == 0",
        "distinct(symbol) >= 2",
        "distinct(price) <= 50%",
        "duplicate_rows == 0",
        "duplicate_rows <= 25%",
        "unique(date, symbol)",
        "has(date, volume)",
        "min(price) >= 0",
        "max(price) < 30",
        "mean(price) between 20 and 25",
        "p50(price) > 0",
        "freshness(date) <= 10h",
        "warn: freshness <= 1d",
        "rows change > -50%",
    ]);
    let document = judged(PRICES, &rules);
    let lines: Vec<String> = document.checks[1..=rules.checks.len()]
        .iter()
        .map(|check| format!("{:8} {:32} {}", check.verdict.as_str(), check.id, check.message))
        .collect();
    insta::assert_snapshot!(lines.join("\n"));
    assert_eq!(document.verdict, Verdict::Fail);
}

#[test]
fn a_failing_check_warns_where_it_only_should() {
    let document = judged(PRICES, &rules(&["warn: rows >= 100"]));
    assert_eq!(told(&document, "warn: rows >= 100"), (Verdict::Warn, "4 rows, at least 100 wanted".into()));
    assert_eq!(document.verdict, Verdict::Warn);
}

#[test]
fn an_absent_column_fails_only_where_it_is_required() {
    let mut promised = rules(&["nulls(volume) == 0", "unique(volume)"]);
    let document = judged(PRICES, &promised);
    for id in ["nulls(volume) == 0", "unique(volume)"] {
        assert_eq!(told(&document, id), (Verdict::Skipped, "there is no column `volume`, and none is required".into()));
    }
    assert_eq!(document.verdict, Verdict::Pass);

    promised.required = vec!["date".into(), "volume".into()];
    let document = judged(PRICES, &promised);
    for id in ["nulls(volume) == 0", "unique(volume)", "columns"] {
        assert_eq!(told(&document, id), (Verdict::Fail, "column `volume` is missing".into()));
    }
}

#[test]
fn a_share_of_no_rows_is_neither_good_nor_bad() {
    let rules =
        Rules { key: vec!["a".into()], ..rules(&["completeness(a) >= 99%", "nulls(a) <= 1%", "nulls(a) == 0", "min(a) > 0"]) };
    let document = judged("a,b\n", &rules);
    for id in ["completeness(a) >= 99%", "nulls(a) <= 1%", "key"] {
        assert_eq!(told(&document, id), (Verdict::Skipped, "there are no rows".into()), "{id}");
    }
    assert_eq!(told(&document, "nulls(a) == 0").0, Verdict::Pass);
    assert_eq!(told(&document, "min(a) > 0"), (Verdict::Skipped, "`a` has no value".into()));
    assert_eq!(told(&document, "rows"), (Verdict::Warn, "there are no rows".into()));
}

#[test]
fn what_an_empty_artifact_means_is_for_the_manifest_to_say() {
    let verdict = |csv: &str, empty| judged(csv, &Rules { empty, ..Rules::default() }).verdict;
    assert_eq!(verdict("a,b\n", EmptyPolicy::Ok), Verdict::Pass);
    assert_eq!(verdict("", EmptyPolicy::Ok), Verdict::Pass);
    assert_eq!(verdict("a,b\n", EmptyPolicy::Warn), Verdict::Warn);
    assert_eq!(verdict("", EmptyPolicy::Warn), Verdict::Fail);
    assert_eq!(verdict("a,b\n", EmptyPolicy::Fail), Verdict::Fail);
    assert_eq!(judged("", &Rules::default()).summary(), "0 rows, 0 columns; fail: the file is empty, without even a header");
}

#[test]
fn a_key_names_each_row_once() {
    let keyed = |csv: &str| judged(csv, &Rules { key: vec!["date".into(), "symbol".into()], ..Rules::default() });
    assert_eq!(told(&keyed(PRICES), "key"), (Verdict::Fail, "1 row repeats the key of an earlier one".into()));
    let nulls = "date,symbol\n2026-03-01,\n2026-03-01,\n2026-03-01,A\n";
    assert_eq!(told(&keyed(nulls), "key"), (Verdict::Fail, "2 rows have a null in the key".into()));
    assert_eq!(told(&keyed("date,symbol\n1,2\n2,1\n"), "key"), (Verdict::Pass, "`date`, `symbol` names every row".into()));
    assert_eq!(told(&keyed("date\n1\n"), "key"), (Verdict::Fail, "column `symbol` of the key is missing".into()));
}

#[test]
fn data_is_as_old_as_its_newest_row() {
    let fresh = |column: &str, csv: &str| {
        let freshness = Some(Freshness { column: column.into(), max_age: Span::from_secs(26 * 3600) });
        told(&judged(csv, &Rules { freshness, ..Rules::default() }), "freshness")
    };
    assert_eq!(fresh("at", "at\n2026-03-01T11:00:00Z\n"), (Verdict::Pass, "the newest `at` is 25h old".into()));
    let late = (Verdict::Fail, "the newest `at` is 2d 12h old, at most 26h wanted".to_owned());
    assert_eq!(fresh("at", "at\n2026-02-28\n2026-02-27\n"), late);
    assert_eq!(fresh("at", "at\n2026-03-02T15:00:00+01:00\n").1, "the newest `at` lies 2h in the future");
    assert_eq!(fresh("at", "at\n1772449200\n").1, "the newest `at` is 1h old");
    assert_eq!(fresh("at", "at\nyesterday\n"), (Verdict::Fail, "`at` does not hold times".into()));
    assert_eq!(fresh("at", "when\n1\n"), (Verdict::Fail, "column `at` is missing".into()));
    assert_eq!(fresh("at", "at\n"), (Verdict::Skipped, "there are no rows".into()));
}

#[test]
fn rows_that_fall_or_rise_a_lot_are_told() {
    let moved = |before: usize, now: usize| told(&after(&numbered(before), &numbered(now), &Rules::default()), "change.rows");
    assert_eq!(moved(1024, 12), (Verdict::Warn, "rows fell to 12 from 1,024 in run r-1: 98.8% fewer".into()));
    assert_eq!(moved(100, 301), (Verdict::Warn, "rows rose to 301 from 100 in run r-1: 201% more".into()));
    assert_eq!(moved(100, 0), (Verdict::Warn, "no rows at all, where run r-1 had 100".into()));
    assert_eq!(moved(100, 50), (Verdict::Pass, "50 rows, 100 in run r-1".into()));
    assert_eq!(moved(100, 300).0, Verdict::Pass);
    assert_eq!(moved(0, 5000).0, Verdict::Pass);
}

#[test]
fn a_declared_change_takes_the_place_of_the_default() {
    let rules = rules(&["rows change > -10%", "mean(id) change between -50% and 50%", "completeness(day) change > -5%"]);
    let document = after(&numbered(100), &numbered(80), &rules);
    let rows = (Verdict::Fail, "80 rows; 100 in run r-1: -20%, more than -10% wanted".to_owned());
    assert_eq!(told(&document, "rows change > -10%"), rows);
    assert_eq!(told(&document, "completeness(day) change > -5%").0, Verdict::Pass);
    assert!(document.checks.iter().all(|check| check.id != "change.rows"));
    let first = judged(&numbered(5), &rules);
    let learning = (Verdict::Learning, "there is no accepted run to compare with yet".to_owned());
    assert_eq!(told(&first, "rows change > -10%"), learning);
    assert_eq!(first.verdict, Verdict::Pass);
}

#[test]
fn a_structure_that_changed_is_told() {
    let change = |before: &str, now: &str| told(&after(before, now, &Rules::default()), "change.structure");
    assert_eq!(change("a,b\n1,2\n", "b,c\n2,3\n"), (Verdict::Warn, "column `a` is gone since run r-1".into()));
    assert_eq!(change("a\n1\n", "a\nx\n"), (Verdict::Warn, "`a` changed from int to string since run r-1".into()));
    assert_eq!(change("a\n1\n", "a\n1.5\n"), (Verdict::Pass, "the columns are the same".into()));
    assert_eq!(change("a\n1.5\n", "a\n1\n"), (Verdict::Pass, "the columns are the same".into()));
    assert_eq!(change("a\n1\n", "a,b\n1,2\n"), (Verdict::Pass, "new since run r-1: `b`".into()));
    assert_eq!(change("a,b\n1,2\n", "b,a\n2,1\n"), (Verdict::Pass, "the columns are in another order since run r-1".into()));
    assert_eq!(change("a\n1\n", "a\n").0, Verdict::Pass);
}

#[test]
fn a_column_that_lost_all_its_values_is_told_once() {
    let document = after("a,b\n1,2\n", "a,b\n1,\n", &Rules::default());
    let emptied = (Verdict::Warn, "`b` has no value any more; it had some in run r-1".to_owned());
    assert_eq!(told(&document, "change.nulls"), emptied);
    assert_eq!(told(&document, "change.structure").0, Verdict::Pass);
    let still = after("a,b\n1,\n", "a,b\n1,\n", &Rules::default());
    assert_eq!(still.verdict, Verdict::Pass);
}

#[test]
fn the_document_says_what_it_was_compared_with() {
    let document = after(&numbered(4), &numbered(3), &Rules::default());
    let json = serde_json::to_value(&document).unwrap();
    assert_eq!(json["changes"]["rows"], serde_json::json!({"previous": 4, "delta": -1, "ratio": 0.75}));
    assert_eq!((&json["baseline"]["state"], &json["baseline"]["runs"]), (&"learning".into(), &1.into()));
    assert_eq!(json["baseline"]["previous_run"], "r-1");

    let mut previous = document;
    for _ in 0..3 {
        previous = read("r-n", &numbered(3), &Rules::default()).judge(&Rules::default(), Some(&previous), now());
    }
    let sixth = read("r-6", &numbered(3), &Rules::default()).judge(&Rules::default(), Some(&previous), now());
    assert_eq!(serde_json::to_value(&sixth).unwrap()["baseline"]["state"], "ready");
}

#[test]
fn what_cannot_be_known_is_an_error_and_never_a_pass() {
    let rules = rules(&["rows >= 1", "unique(a)", "bytes > 0", "has(a)"]);
    let judge = |bytes: &[u8], name: &str| {
        let profile = profile(bytes, name, &Options::for_rules(&rules), now());
        Document::new(profile, Origin::default()).judge(&rules, None, now())
    };
    let text = judge(b"hello\n", "notes.txt");
    for id in ["rows >= 1", "unique(a)", "has(a)"] {
        assert_eq!(told(&text, id), (Verdict::Error, "the artifact was not read as a table".into()), "{id}");
    }
    assert_eq!(told(&text, "bytes > 0").0, Verdict::Pass);
    assert_eq!(text.summary(), "6 bytes, 1 line; error: the artifact was not read as a table; and 2 more");
}

#[test]
fn an_artifact_that_breaks_off_while_it_is_read_is_an_error() {
    struct Broken(&'static [u8]);
    impl std::io::Read for Broken {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            match std::io::Read::read(&mut self.0, buffer)? {
                0 => Err(std::io::Error::other("the disk is gone")),
                length => Ok(length),
            }
        }
    }
    let rules = rules(&["rows >= 1"]);
    let profile = profile(Broken(b"a,b\n1,2\n3,"), "x.csv", &Options::for_rules(&rules), now());
    let document = Document::new(profile, Origin::default()).judge(&rules, None, now());
    assert_eq!(told(&document, "rows >= 1"), (Verdict::Error, "the artifact could not be read to its end".into()));
    let broken = "the artifact could not be read to its end: the disk is gone";
    assert_eq!(told(&document, "readable"), (Verdict::Error, broken.into()));
    assert_eq!(document.verdict, Verdict::Error);
}

#[test]
fn a_line_for_a_person() {
    let summary = |document: &Document| document.summary();
    assert_eq!(summary(&judged(PRICES, &Rules::default())), "4 rows, 3 columns, 91.7% complete");
    let fewer = after(&numbered(2610), &numbered(1024), &Rules::default());
    let line = "1,024 rows, 2 columns, 100% complete; warn: rows fell to 1,024 from 2,610 in run r-1: 60.8% fewer";
    assert_eq!(summary(&fewer), line);
    let broken = judged("a,b\n1\n1,2,3\n", &rules(&["rows > 5"]));
    let line = "2 rows, 2 columns, 75% complete; fail: 2 rows, more than 5 wanted; and 1 more";
    assert_eq!(summary(&broken), line);
}

#[test]
fn the_age_of_the_file_itself_is_known_when_its_writing_was_seen() {
    let written_at = now().checked_sub(Duration::from_secs(90)).ok();
    let profile = profile(b"a\n1\n".as_slice(), "a.csv", &Options::default(), now());
    let document = Document::new(profile, Origin { written_at, ..Origin::default() }).judge(&Rules::default(), None, now());
    assert_eq!(document.freshness.artifact_age_s, Some(90));
}
