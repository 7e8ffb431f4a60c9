//! Executions recorded on the service, run again on a virtual clock and compared.
//!
//! The recordings are no part of this project: the test runs over them where they lie beside it, in
//! `../shared/corpus/asl`, and says so loudly where they do not.

#![expect(clippy::unwrap_used, reason = "a recording that cannot be read is a failure of the test")]
#![expect(clippy::print_stdout, reason = "the counts are the report of the test")]

mod alone;
mod compare;
mod replayed;
mod validated;

use std::fs;
use std::path::Path;

use serde_json::Value as Json;

/// How many recorded executions agree; only ever raised.
const EXECUTIONS: usize = 748;
/// How many recorded tests of single states agree; only ever raised.
const STATES: usize = 85;
/// How many verdicts of the service on definitions agree; only ever raised.
const DEFINITIONS: usize = 290;
/// How many verdicts of linters on definitions agree; only ever raised.
const LINTED: usize = 103;

enum Verdict {
    Passed,
    Failed(String),
    Skipped(String),
}

#[test]
fn recorded_cases_end_as_they_were_recorded() {
    check("cases", EXECUTIONS, |case| case["kind"] == "execution", replayed::verdict);
}

#[test]
fn single_states_end_as_they_were_recorded() {
    check("cases", STATES, |case| case["kind"] == "test_state", alone::verdict);
}

#[test]
fn definitions_are_taken_and_refused_as_by_the_service() {
    check("validation/cases", DEFINITIONS, validated::is_of_the_service, validated::verdict);
}

#[test]
fn definitions_are_taken_and_refused_as_by_linters() {
    check("validation/cases", LINTED, |case| !validated::is_of_the_service(case), validated::verdict);
}

/// Gives a verdict on every chosen case of a folder, and fails if fewer agree than did before.
fn check(folder: &str, floor: usize, chosen: impl Fn(&Json) -> bool, verdict: impl Fn(&Json) -> Verdict) {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus/asl").join(folder);
    let Ok(entries) = fs::read_dir(&corpus) else {
        println!("SKIPPED recorded corpus: ../shared/corpus/asl/{folder} is not there");
        return;
    };
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let (mut passed, mut failed, mut skipped) = (0, 0, 0);
    for file in files {
        let case: Json = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
        if !chosen(&case) {
            continue;
        }
        let id = case["id"].as_str().unwrap();
        match verdict(&case) {
            Verdict::Passed => passed += 1,
            Verdict::Failed(why) => {
                failed += 1;
                println!("FAILED {id}: {why}");
            }
            Verdict::Skipped(why) => {
                skipped += 1;
                println!("skipped {id}: {why}");
            }
        }
    }
    println!("recorded {folder}: {passed} passed, {failed} failed, {skipped} skipped");
    assert!(passed >= floor, "{passed} recorded {folder} agree, {floor} did before");
}
