//! Twenty artifacts that trip profilers, each with what is true of it.

#![expect(clippy::unwrap_used, reason = "a test may stop at what it did not expect")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;
use signals::{Code, Document, Finding, Options, Origin, Profile, Rules, Verdict, profile};

/// Cases whose form is not read yet; they get a document with a finding that says so.
const UNREAD: [(&str, &str); 3] = [("o14-json-array", "json"), ("o16-gz-truncated", "gzip"), ("o17-parquet-nested", "parquet")];

fn cases() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let mut cases: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    cases.sort();
    cases
}

fn name(case: &Path) -> &str {
    case.file_name().unwrap().to_str().unwrap()
}

fn read(case: &Path) -> (Profile, Value) {
    let expected: Value = serde_json::from_slice(&std::fs::read(case.join("expected.json")).unwrap()).unwrap();
    let file = expected["file"].as_str().unwrap();
    let key: Vec<String> = serde_json::from_value(expected["hints"]["key"].clone()).unwrap_or_default();
    let options = Options { key, ..Options::default() };
    let bytes = std::fs::read(case.join(file)).unwrap();
    (profile(bytes.as_slice(), file, &options, now()), expected)
}

fn now() -> jiff::Timestamp {
    "2026-06-01T00:00:00Z".parse().unwrap()
}

/// What the corpus says about a profile, in the corpus's own form.
fn said(profile: &Profile, expected: &Value) -> BTreeMap<String, Value> {
    let by_key = |value: &dyn Fn(&signals::Column) -> Value| {
        let all = profile.columns.iter().map(|column| (column.key.clone(), value(column)));
        Value::Object(all.collect())
    };
    let table = profile.table.as_ref().unwrap();
    let mut said = BTreeMap::from([
        ("rows".to_owned(), table.rows.into()),
        ("types".to_owned(), by_key(&|column| serde_json::to_value(column.column_type).unwrap())),
        ("nulls".to_owned(), by_key(&|column| column.nulls.into())),
        ("duplicate_rows".to_owned(), table.duplicate_rows.value.into()),
    ]);
    let names: Vec<&str> = profile.columns.iter().map(|column| column.name.as_str()).collect();
    said.insert("columns".to_owned(), names.into());
    // Distinct values of objects are counted too, and not part of the corpus.
    let distinct = by_key(&|column| column.distinct.value.into());
    let listed = expected["distinct"].as_object();
    let distinct = distinct.as_object().unwrap().iter().filter(|(key, _)| listed.is_none_or(|listed| listed.contains_key(*key)));
    said.insert("distinct".to_owned(), Value::Object(distinct.map(|(key, value)| (key.clone(), value.clone())).collect()));
    said
}

#[test]
fn every_table_has_the_counts_that_are_true_of_it() {
    for case in cases().iter().filter(|case| UNREAD.iter().all(|(unread, _)| *unread != name(case))) {
        let (profile, expected) = read(case);
        for (field, value) in said(&profile, &expected) {
            if let Some(wanted) = expected.get(&field) {
                assert_eq!(&value, wanted, "{} {field}", name(case));
            }
        }
    }
}

#[test]
fn every_finding_is_found_and_nothing_else() {
    for case in cases().iter().filter(|case| UNREAD.iter().all(|(unread, _)| *unread != name(case))) {
        let (profile, expected) = read(case);
        let mut wanted: Vec<&str> = expected["findings"].as_array().into_iter().flatten().filter_map(code).collect();
        wanted.extend(code(&expected["error"]));
        wanted.sort_unstable();
        let mut found: Vec<&str> = profile.findings.iter().map(|finding| finding.code.name()).collect();
        found.sort_unstable();
        assert_eq!(found, wanted, "{}", name(case));
        for wanted in expected["findings"].as_array().into_iter().flatten() {
            let of_code = |finding: &&Finding| finding.code.name() == wanted["code"];
            let found = profile.findings.iter().find(of_code).unwrap();
            assert_details(name(case), found, wanted);
        }
    }
}

fn code(finding: &Value) -> Option<&str> {
    finding.get("code")?.as_str()
}

fn assert_details(case: &str, found: &Finding, wanted: &Value) {
    for (field, value) in wanted.as_object().unwrap() {
        let seen = match field.as_str() {
            "code" | "lines" => continue,
            "count" => found.count.into(),
            "column" => found.column.clone().into(),
            "first_line" | "line" => found.first_line.into(),
            detail => serde_json::to_value(found.details.get(detail)).unwrap(),
        };
        assert_eq!(&seen, value, "{case} {} {field}", found.code);
    }
}

#[test]
fn what_only_some_cases_say() {
    let by_name = |wanted: &str| read(cases().iter().find(|case| name(case) == wanted).unwrap()).0;
    let document = |wanted| Document::new(by_name(wanted), Origin::default());

    let numbers = document("o11-big-integers");
    let n = serde_json::to_value(numbers.column("n").unwrap()).unwrap();
    assert_eq!((&n["min"], &n["max"]), (&"-9223372036854775809".into(), &"340282366920938463463374607431768211456".into()));
    assert_eq!(n["type_counts"], serde_json::json!({"int": 6}));

    let floats = document("o10-float-extremes");
    let x = serde_json::to_value(floats.column("x").unwrap()).unwrap();
    assert_eq!((&x["min"], &x["max"], &x["mean"]), (&0.0.into(), &1.5.into(), &0.375.into()));

    let mixed = serde_json::to_value(document("o12-jsonl-mixed-types").column("v").unwrap()).unwrap();
    let counts = serde_json::json!(
        {"int": 2, "float": 1, "bool": 1, "string": 1, "list": 1, "struct": 1, "null": 1, "missing": 1}
    );
    assert_eq!(mixed["type_counts"], counts);

    let repeated = document("o09-duplicate-headers");
    let keys: Vec<&str> = repeated.columns.iter().map(|column| column.key.as_str()).collect();
    assert_eq!(keys, ["id", "name", "name#2", "#3", "name#3"]);

    let keyed = by_name("o20-duplicate-keys").table.unwrap().key.unwrap();
    assert_eq!((keyed.duplicate_rows, keyed.null_rows), (Some(2), Some(2)));

    for (case, newest) in [("o19-timestamp-zones", "2026-03-29T01:00:00.123456Z"), ("o01-bom", "2026-01-03T00:00:00Z")] {
        assert_eq!(by_name(case).freshness.newest, Some(newest.parse().unwrap()), "{case}");
    }
    let empty = document("o05-header-only");
    assert!(empty.columns.iter().all(|column| column.null_share.is_none() && column.distinct_ratio.is_none()));
    assert_eq!(empty.table.as_ref().unwrap().completeness, None);
}

#[test]
fn what_is_not_read_yet_is_said_and_still_measured_by_bytes() {
    for (unread, form) in UNREAD {
        let case = cases().into_iter().find(|case| name(case) == unread).unwrap();
        let (profile, expected) = read(&case);
        let size = std::fs::metadata(case.join(expected["file"].as_str().unwrap())).unwrap().len();
        assert_eq!((profile.artifact.bytes, profile.artifact.sha256.len()), (size, 64));
        assert_eq!(
            profile.findings,
            [Finding { details: [("form".into(), form.into())].into(), ..Finding::new(Code::NotProfiled) }]
        );
    }
}
#[test]
fn broken_artifacts_fail_and_odd_ones_do_not() {
    let verdict = |case: &Path| Document::new(read(case).0, Origin::default()).judge(&Rules::default(), None, now()).verdict;
    for case in cases() {
        let wanted = match name(&case) {
            "o04-ragged" | "o06-empty-file" | "o15-jsonl-bad-lines" => Verdict::Fail,
            "o05-header-only" => Verdict::Warn,
            _ => Verdict::Pass,
        };
        assert_eq!(verdict(&case), wanted, "{}", name(&case));
    }
}
