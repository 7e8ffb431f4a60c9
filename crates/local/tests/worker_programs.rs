//! A unit is any program, unchanged: what it gets, and how its end is told.

#![expect(clippy::unwrap_used, reason = "a story that cannot go on ends where it is")]

mod worker_support;

use std::{collections::BTreeMap, fs};

use model::{ByteSize, Ended, ResourceLimits, Span};
use ports::{Launcher, Observation};
use worker_support::{World, exited};

#[tokio::test]
async fn arguments_arrive_byte_for_byte() {
    let mut world = World::new().await;
    let nasty = [
        "",
        " ",
        "two words",
        "'single' \"double\"",
        "$HOME ${PATH} $(id) `id`",
        "back\\slash \\n",
        "line\nfeed\r\n",
        "tab\t\u{7}\u{1b}[31m",
        "emoji 🦀 é \u{301}",
        "-rf",
        "--",
        "*",
        "~",
        ";&|<>(){}[]!#%",
        "{{ slot }}",
        &"x".repeat(100_000),
    ];
    let show = "import sys, json; print(json.dumps(sys.argv[1:]))";
    let mut run = vec!["python3", "-c", show];
    run.extend(nasty);
    let assignment = world.assignment(&run);
    let outcome = world.run(&assignment).await;
    assert_eq!(outcome.ended, exited(0), "{outcome:?}");
    let seen: Vec<String> = serde_json::from_str(&world.stdout(&assignment)).unwrap();
    assert_eq!(seen, nasty);
}

#[tokio::test]
async fn the_first_argument_is_the_name_as_written() {
    let mut world = World::new().await;
    let assignment = world.assignment(&["sh", "-c", "tr '\\0' '\\n' < /proc/$$/cmdline | head -1"]);
    world.run(&assignment).await;
    assert_eq!(world.stdout(&assignment), "sh\n");
}

#[tokio::test]
async fn the_environment_is_an_allow_list() {
    let mut world = World::new().await;
    fs::write(world.home.join("secrets.json"), "{\"prices/api-key\": \"the-value\"}").unwrap();
    fs::set_permissions(world.home.join("secrets.json"), std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let mut assignment = world.assignment(&["env"]);
    assignment.environment.extend([("LANG".to_owned(), "fr".to_owned()), ("MUSTER_OUT".to_owned(), "/elsewhere".to_owned())]);
    assignment.pass_environment = vec!["REGION".to_owned(), "NOT_SET".to_owned()];
    assignment.secrets = BTreeMap::from([("API_KEY".to_owned(), "prices/api-key".to_owned())]);
    assignment.running = Some(Span::from_secs(600));
    let outcome = world.run(&assignment).await;
    assert_eq!(outcome.ended, exited(0));
    let printed = world.stdout(&assignment);
    let seen: BTreeMap<String, String> = printed
        .lines()
        .map(|line| line.split_once('=').unwrap())
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    let names: Vec<&str> = seen.keys().map(String::as_str).collect();
    let wanted = [
        "API_KEY",
        "HOME",
        "LANG",
        "MUSTER_DEADLINE",
        "MUSTER_EXECUTION",
        "MUSTER_LOCATION",
        "MUSTER_OUT",
        "PATH",
        "REGION",
        "TMPDIR",
        "TRACEPARENT",
    ];
    assert_eq!(names, wanted);
    let home = world.home.canonicalize().unwrap();
    let folder = home.join("work").join(format!("{}-1", assignment.execution));
    assert_eq!(seen["MUSTER_OUT"], folder.join("out").to_str().unwrap());
    assert_eq!(seen["TMPDIR"], folder.join("tmp").to_str().unwrap());
    assert_eq!(seen["MUSTER_LOCATION"], assignment.location);
    assert_eq!((seen["LANG"].as_str(), seen["REGION"].as_str(), seen["API_KEY"].as_str()), ("fr", "eu", "***"));
    let deadline: model::Timestamp = seen["MUSTER_DEADLINE"].parse().unwrap();
    let left = deadline.as_second() - outcome.started_at.unwrap().as_second();
    assert!((595..=600).contains(&left), "{left} s");
}

#[tokio::test]
async fn the_working_folder_is_clean_and_shows_the_location() {
    let mut world = World::new().await;
    world.unit_file("prices.sh", "#!/bin/sh\npwd\nls -A\ncat data.csv\ntouch made-here $TMPDIR/t\n", 0o755);
    world.unit_file("data.csv", "a,b\n", 0o644);
    fs::create_dir(world.unit.join(".git")).unwrap();
    let assignment = world.assignment(&["./prices.sh"]);
    let outcome = world.run(&assignment).await;
    assert_eq!(outcome.ended, exited(0), "{outcome:?}");
    let printed = world.stdout(&assignment);
    let lines: Vec<&str> = printed.lines().collect();
    assert!(lines[0].ends_with("-1/cwd"), "{printed}");
    assert_eq!(&lines[1..], ["data.csv", "prices.sh", "a,b"]);
    assert!(!world.unit.join("made-here").exists());
    let gone = world.home.join("work").join(format!("{}-1", assignment.execution));
    worker_support::until("the work folder is removed", || !gone.exists()).await;
}

#[tokio::test]
async fn the_end_is_told_exactly() {
    let mut world = World::new().await;
    let table = [
        ("exit 0", exited(0)),
        ("exit 75", exited(75)),
        ("exit 137", exited(137)),
        ("exit 255", exited(255)),
        ("kill -9 $$", Ended::Killed { signal: 9, core: false }),
        ("kill -15 $$", Ended::Killed { signal: 15, core: false }),
    ];
    for (script, ended) in table {
        let outcome = world.run_script(script).await;
        assert_eq!((outcome.ended, outcome.stopped, outcome.out_of_memory), (ended, None, None), "{script}");
        assert!(outcome.strays.is_empty() && outcome.problems.is_empty(), "{:?} {:?}", outcome.strays, outcome.problems);
    }
    let outcome = world.run_script("i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done").await;
    let usage = outcome.usage.unwrap();
    assert!(usage.user_micros > 1_000 && usage.peak_rss > 500_000, "{usage:?}");
}

#[tokio::test]
async fn what_cannot_start_says_why_and_what_to_do() {
    let mut world = World::new().await;
    world.unit_file("plain.py", "#!/usr/bin/env python3\n", 0o644);
    world.unit_file("lost.sh", "#!/opt/nowhere/interpreter -x\n", 0o755);
    world.unit_file("text", "just words\n", 0o755);
    world.unit_file("windows.sh", "#!/bin/sh\r\necho\r\n", 0o755);
    world.unit_file("empty", "", 0o755);
    fs::create_dir(world.unit.join("folder")).unwrap();
    let long = "x".repeat(200_000);
    let table: [(&[&str], &str); 10] = [
        (&["no-such-program"], "`no-such-program` was not found in PATH ("),
        (&["./no-such-file"], "`./no-such-file` is not there: no file "),
        (&["./plain.py"], "is not executable: run `chmod +x "),
        (&["./lost.sh"], "`./lost.sh` needs the interpreter `/opt/nowhere/interpreter`, which is not there"),
        (&["./windows.sh"], "needs the interpreter `/bin/sh\\r`, which is not there"),
        (&["./text"], "`./text` is neither a program nor a script that names its interpreter"),
        (&["./empty"], "`./empty` is an empty file"),
        (&["./folder"], "is a folder, not a program"),
        (&["sh", "a\0b"], "argument 1 of `sh` holds a NUL byte"),
        (&["sh", "-c", "true", &long], "the arguments of `sh` are too large for the system"),
    ];
    for (run, words) in table {
        let assignment = world.assignment(run);
        let outcome = world.run(&assignment).await;
        let Ended::NotStarted { message } = &outcome.ended else { panic!("{run:?} ended {:?}", outcome.ended) };
        assert!(message.contains(words), "{message}");
        assert_eq!((outcome.process, outcome.started_at, outcome.publish_failed), (None, None, false));
    }
    let mut assignment = world.assignment(&["true"]);
    assignment.location = world.unit.join("missing").to_str().unwrap().to_owned();
    let outcome = world.run(&assignment).await;
    assert!(
        matches!(&outcome.ended, Ended::NotStarted { message } if message.ends_with("missing is not there")),
        "{:?}",
        outcome.ended
    );

    let mut assignment = world.assignment(&["true"]);
    assignment.secrets = BTreeMap::from([("API_KEY".to_owned(), "prices/api-key".to_owned())]);
    let outcome = world.run(&assignment).await;
    let wanted = "the secret for API_KEY could not be read: no secret `prices/api-key`";
    assert_eq!(outcome.ended, Ended::NotStarted { message: wanted.to_owned() });
}

#[tokio::test]
async fn a_second_start_runs_nothing_and_is_no_error() {
    let mut world = World::new().await;
    let counter = world.folder.path().join("counter");
    let mut assignment = world.script("echo ran >> $COUNTER; cat $GATE");
    let gate = world.folder.path().join("gate");
    rustix::fs::mkfifoat(rustix::fs::CWD, &gate, rustix::fs::Mode::RWXU).unwrap();
    assignment.environment.insert("COUNTER".to_owned(), counter.to_str().unwrap().to_owned());
    assignment.environment.insert("GATE".to_owned(), gate.to_str().unwrap().to_owned());
    let process = world.start(&assignment).await;
    world.client.start(&assignment).await.unwrap();
    assert_eq!(world.running(&assignment).await, process, "the second start answers with the first");
    fs::write(&gate, "").unwrap();
    let first = world.ended(&assignment).await;
    world.client.start(&assignment).await.unwrap();
    assert_eq!(world.ended(&assignment).await, first, "a start after the end answers with the outcome");
    assert_eq!(fs::read_to_string(&counter).unwrap(), "ran\n");

    let foreign: model::Scope = "other/local/default".parse().unwrap();
    assert_eq!(world.client.observe(&foreign, assignment.execution, 1).await.unwrap(), Observation::Unknown);
    assert_eq!(world.client.observe(&assignment.scope, assignment.execution, 2).await.unwrap(), Observation::Unknown);
}

#[tokio::test]
async fn a_memory_limit_is_in_force_and_no_evidence_is_invented() {
    let mut world = World::new().await;
    let mut assignment =
        world.assignment(&["python3", "-c", "import time; time.sleep(0.2); x = bytearray(300 << 20); print(len(x))"]);
    assignment.resources = ResourceLimits { memory: Some(ByteSize::from_bytes(200 << 20)), ..ResourceLimits::default() };
    let outcome = world.run(&assignment).await;
    assert_eq!(outcome.ended, exited(1), "{:?}", outcome.problems);
    assert!(String::from_utf8_lossy(&world.stream(&assignment, "stderr")).contains("MemoryError"));
    assert_eq!(outcome.out_of_memory, None, "an allocation that fails is no kill by the kernel");
}
