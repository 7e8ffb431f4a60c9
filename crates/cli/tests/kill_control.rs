//! `kill -9` of the control process while 200 units run, fifty times, each time at another moment of the run; then the same command again.
//! Every item ends, none starts or ends twice, and what ran across the kill keeps its process.

#![expect(clippy::unwrap_used, reason = "a story that cannot go on fails")]

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    time::{Duration, Instant},
};

use serde_json::Value;

const ROUNDS: usize = 50;
const UNITS: usize = 200;
const PATIENCE: Duration = Duration::from_secs(60);

/// Counts its first instruction and its last.
const SCRIPT: &str = "echo $$ >> \"$MARKS/starts/$MUSTER_UNIT\"\nsleep 0.02\necho $$ >> \"$MARKS/effects/$MUSTER_UNIT\"\n";

struct Round {
    folder: tempfile::TempDir,
}

impl Round {
    fn new() -> Round {
        let folder = tempfile::tempdir().unwrap();
        let marks = folder.path().join("marks");
        for kind in ["starts", "effects"] {
            fs::create_dir_all(marks.join(kind)).unwrap();
        }
        let fleet = folder.path().join("fleet");
        fs::create_dir(&fleet).unwrap();
        fs::write(fleet.join("unit.sh"), SCRIPT).unwrap();
        let unit = |number| {
            let marks = marks.display();
            format!("name: unit-{number}\nrun: [sh, unit.sh]\nenvironment: {{ MARKS: {marks} }}\n---\n")
        };
        fs::write(fleet.join("fleet.yaml"), (0..UNITS).map(unit).collect::<String>()).unwrap();
        Round { folder }
    }

    fn muster(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_muster"));
        command.args(arguments).arg("--fleet").arg(self.folder.path().join("fleet")).stdin(Stdio::null());
        command
    }

    fn start(&self) -> Child {
        self.muster(&["run", "--all"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    fn marks(&self, kind: &str) -> PathBuf {
        self.folder.path().join("marks").join(kind)
    }

    fn count(&self, kind: &str) -> usize {
        fs::read_dir(self.marks(kind)).unwrap().count()
    }

    /// The process numbers that a unit wrote down.
    fn pids(&self, kind: &str, unit: &str) -> Vec<i64> {
        let text = fs::read_to_string(self.marks(kind).join(unit)).unwrap_or_default();
        text.lines().map(|line| line.parse().unwrap()).collect()
    }

    /// Waits until so many units have ended, or the control process has.
    fn until_ended(&self, count: usize, control: &mut Child) {
        let begin = Instant::now();
        while self.count("effects") < count && control.try_wait().unwrap().is_none() {
            assert!(begin.elapsed() < PATIENCE, "{} of {count} units ended", self.count("effects"));
            std::thread::park_timeout(Duration::from_millis(1));
        }
    }

    fn json(&self, arguments: &[&str]) -> Value {
        let output = self.muster(arguments).args(["-o", "json"]).output().unwrap();
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{arguments:?}: {error}: {}", text(&output)))
    }
}

fn text(output: &Output) -> String {
    format!("{:?}\n{}\n{}", output.status, String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[test]
fn fifty_kills_lose_nothing_and_run_nothing_twice() {
    let (mut adopted, mut interrupted) = (0, 0);
    for round in 0..ROUNDS {
        let world = Round::new();
        let mut control = world.start();
        world.until_ended(round * UNITS / ROUNDS, &mut control);
        control.kill().unwrap();
        interrupted += usize::from(control.wait().unwrap().code().is_none());
        let in_flight = in_flight(&world);

        let again = world.muster(&["run", "--all"]).output().unwrap();
        assert!(again.status.success(), "round {round}: {}", text(&again));
        check(&world, round);
        adopted += in_flight.iter().filter(|unit| world.pids("effects", unit).len() == 1).count();
    }
    println!("{ROUNDS} kills, {interrupted} of them before the end of the run; {adopted} processes were running and went on");
    assert!(interrupted > ROUNDS / 2 && adopted > ROUNDS, "the kills came too late to mean anything");
}

/// Units that have started and not ended.
fn in_flight(world: &Round) -> Vec<String> {
    let started = fs::read_dir(world.marks("starts")).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    started.filter(|unit| !Path::new(&world.marks("effects")).join(unit).exists()).collect()
}

/// One run, every item succeeded in one attempt, each process that the record names is the one that wrote its marks.
fn check(world: &Round, round: usize) {
    let runs = world.json(&["runs", "list"]);
    assert_eq!(runs.as_array().unwrap().len(), 1, "round {round}: the same command takes the run up");
    let id = runs[0]["id"].as_str().unwrap();
    let run = world.json(&["runs", "show", id]);
    let executions = run["executions"].as_array().unwrap();
    assert_eq!(executions.len(), UNITS);
    for execution in executions {
        let unit = execution["unit"].as_str().unwrap();
        assert_eq!(execution["state"], "succeeded", "round {round}: {execution}");
        let attempts = execution["attempts"].as_array().unwrap();
        let recorded = attempts.last().unwrap()["process"]["pid"].as_i64().unwrap();
        assert_eq!(
            (world.pids("starts", unit), world.pids("effects", unit)),
            (vec![recorded], vec![recorded]),
            "round {round}: {unit}"
        );
        assert_eq!(attempts.len(), 1, "round {round}: {execution}");
    }
}
