//! The binary as a whole.

#![expect(clippy::unwrap_used, reason = "a story that cannot go on ends where it is")]

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

use model::{Ended, Outcome};

fn worker(folder: &Path, script: &str, attempt: u32) -> Output {
    fs::create_dir_all(folder.join("home")).unwrap();
    let assignment = serde_json::json!({
        "contract": 1,
        "scope": "local/local/default",
        "execution": "run_00000000000000000000000007.3",
        "attempt": attempt,
        "unit": "prices",
        "run": ["sh", "-c", script],
        "location": folder,
        "environment": {},
        "resources": {},
        "stopping": "10s",
        "slot": "2013-02-05T06:00:00Z",
        "correlation": "c-1",
    });
    fs::write(folder.join("assignment.json"), assignment.to_string()).unwrap();
    Command::new(env!("CARGO_BIN_EXE_worker")).arg(folder.join("home")).arg(folder.join("assignment.json")).output().unwrap()
}

#[test]
fn an_assignment_leaves_an_outcome_however_it_ends_and_runs_once() {
    let folder = tempfile::tempdir().unwrap();
    let script = "echo ran >> $MUSTER_LOCATION/effects; exit 3";
    let first = worker(folder.path(), script, 1);
    assert!(first.status.success(), "{}", String::from_utf8_lossy(&first.stderr));
    let outcome: Outcome = serde_json::from_slice(&first.stdout).unwrap();
    assert_eq!(outcome.ended, Ended::Exited { code: 3 });
    assert_eq!(worker(folder.path(), script, 1).stdout, first.stdout, "the second start answers with the first outcome");
    assert_eq!(fs::read_to_string(folder.path().join("effects")).unwrap(), "ran\n");
    worker(folder.path(), script, 2);
    assert_eq!(fs::read_to_string(folder.path().join("effects")).unwrap(), "ran\nran\n");
}

#[test]
fn what_is_no_assignment_is_told() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("assignment.json"), "{}").unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_worker"))
        .arg(folder.path())
        .arg(folder.path().join("assignment.json"))
        .output()
        .unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(
        !output.status.success() && told.contains("assignment.json is no assignment") && told.contains("missing field"),
        "{told}"
    );
}
