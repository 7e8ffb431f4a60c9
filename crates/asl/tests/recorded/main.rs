//! Executions recorded on the service, run again on a virtual clock and compared.
//!
//! The recordings are no part of this project: the test runs over them where they lie beside it, in
//! `../shared/corpus/asl`, and says so loudly where they do not.

#![expect(clippy::unwrap_used, reason = "a recording that cannot be read is a failure of the test")]

mod compare;
mod replayed;

use std::fs;
use std::path::Path;

use serde_json::Value as Json;

/// How many recorded cases agree; only ever raised.
const FLOOR: usize = 748;

enum Verdict {
    Passed,
    Failed(String),
    Skipped(String),
}

#[test]
fn recorded_cases_end_as_they_were_recorded() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus/asl/cases");
    let Ok(folder) = fs::read_dir(&corpus) else {
        println!("SKIPPED recorded corpus: ../shared/corpus/asl is not there");
        return;
    };
    let mut files: Vec<_> = folder.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let (mut passed, mut failed, mut skipped) = (0, 0, 0);
    for file in files {
        let case: Json = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
        let id = case["id"].as_str().unwrap();
        match replayed::verdict(&case) {
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
    println!("recorded corpus: {passed} passed, {failed} failed, {skipped} skipped");
    assert!(passed >= FLOOR, "{passed} recorded cases agree, {FLOOR} did before");
}
