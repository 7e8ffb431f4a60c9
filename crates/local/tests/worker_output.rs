//! The log: everything a unit says, never more than fits, never a secret.

#![expect(clippy::unwrap_used, reason = "a story that cannot go on ends where it is")]

mod worker_support;

use std::{collections::BTreeMap, fs, os::unix::fs::PermissionsExt, time::Instant};

use worker_support::{World, exited, memory, until};

fn with_secrets(world: &World, secrets: &serde_json::Value) {
    let file = world.home.join("secrets.json");
    fs::write(&file, secrets.to_string()).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
}

#[tokio::test]
async fn both_streams_are_kept_line_by_line_with_their_times() {
    let mut world = World::new().await;
    let assignment = world.script("echo one; echo two >&2; printf three");
    let outcome = world.run(&assignment).await;
    let log = String::from_utf8(world.log(&assignment)).unwrap();
    let mut lines: Vec<&str> = log.lines().map(|line| line.split_once(' ').unwrap().1).collect();
    lines.sort_unstable();
    assert_eq!(lines, ["stderr F two", "stdout F one", "stdout P three"]);
    for line in log.lines() {
        let (time, _) = line.split_once(' ').unwrap();
        assert!(time.len() == "2013-02-05T06:00:00.000000000Z".len() && time.parse::<model::Timestamp>().is_ok(), "{time}");
    }
    assert_eq!((outcome.log.lines, outcome.log.bytes, outcome.log.dropped), (3, 13, 0));
    let silent = world.script("true");
    world.run(&silent).await;
    assert!(!world.objects(&silent).with_extension("log").exists());
}

#[tokio::test]
async fn a_log_can_be_read_while_it_grows() {
    let mut world = World::new().await;
    let assignment = world.script("echo first; read line < gate; echo last");
    let gate = world.unit.join("gate");
    rustix::fs::mkfifoat(rustix::fs::CWD, &gate, rustix::fs::Mode::RWXU).unwrap();
    world.start(&assignment).await;
    until("the first line is in the log", || world.stdout(&assignment) == "first\n").await;
    fs::write(&gate, "go\n").unwrap();
    world.ended(&assignment).await;
    assert_eq!(world.stdout(&assignment), "first\nlast\n");
}

#[tokio::test]
async fn last_words_before_an_abrupt_end_are_kept() {
    let mut world = World::new().await;
    for end in ["kill -9 $$", "exit 1"] {
        let assignment = world
            .script(&format!("i=0; while [ $i -lt 1000 ]; do echo line $i; i=$((i+1)); done; printf 'last words' >&2; {end}"));
        world.run(&assignment).await;
        assert_eq!(world.stdout(&assignment).lines().count(), 1000);
        assert_eq!(world.stream(&assignment, "stderr"), b"last words");
    }
}

#[tokio::test]
async fn binary_output_and_a_line_of_fifty_megabytes_come_back_as_they_were() {
    let mut world = World::new().await;
    let binary = world.assignment(&["python3", "-c", "import os; os.write(1, bytes(range(256)) * 64)"]);
    world.run(&binary).await;
    let wanted: Vec<u8> = (0..=255).collect::<Vec<u8>>().repeat(64);
    assert_eq!(world.stream(&binary, "stdout"), wanted);

    let before = memory(world.client.shim_process(), "VmRSS");
    let long = world.script("head -c 50000000 /dev/zero | tr '\\0' x; echo");
    let outcome = world.run(&long).await;
    assert_eq!((outcome.log.bytes, outcome.log.dropped), (50_000_001, 0));
    let text = world.stream(&long, "stdout");
    assert!(text.len() == 50_000_001 && text[..50_000_000].iter().all(|byte| *byte == b'x'));
    let grown = memory(world.client.shim_process(), "VmHWM").saturating_sub(before);
    assert!(grown < 8 << 10, "the shim grew by {grown} KiB");
}

#[tokio::test]
async fn a_flood_never_blocks_the_unit_and_never_grows_memory() {
    let mut world = World::new().await;
    let before = memory(world.client.shim_process(), "VmRSS");
    let assignment = world.script("yes 'a line of a flood that nobody reads' | head -c 300000000; echo; echo the end");
    let began = Instant::now();
    let outcome = world.run(&assignment).await;
    let took = began.elapsed();
    assert_eq!(outcome.ended, exited(0));
    assert_eq!(outcome.log.bytes, 300_000_009);
    let size = fs::metadata(world.objects(&assignment).with_extension("log")).unwrap().len();
    assert!(size <= 64 << 20 && size > 56 << 20, "{size} bytes of log");
    let log = world.log(&assignment);
    let end = &log[log.len() - 100..];
    assert!(end.ends_with(b"stdout F the end\n"), "{}", String::from_utf8_lossy(end));
    let notice = format!("[muster: {} bytes of output were dropped here; the log was full]\n", outcome.log.dropped);
    assert_eq!(world.stream(&assignment, "stderr"), notice.as_bytes());
    let kept = world.stream(&assignment, "stdout").len() as u64;
    assert_eq!(kept + outcome.log.dropped, outcome.log.bytes);
    let grown = memory(world.client.shim_process(), "VmHWM").saturating_sub(before);
    assert!(grown < 8 << 10, "the shim grew by {grown} KiB");
    eprintln!("300 MB in {took:?}");
}

#[tokio::test]
async fn a_flood_does_not_hold_up_other_units() {
    let mut world = World::new().await;
    let flood = world.script("exec yes");
    world.start(&flood).await;
    for _ in 0..20 {
        assert_eq!(world.run_script("echo hello").await.ended, exited(0));
    }
    world.client_stop(&flood).await;
    world.ended(&flood).await;
}

#[tokio::test]
async fn secret_values_never_reach_the_log_in_any_form() {
    let mut world = World::new().await;
    with_secrets(
        &world,
        &serde_json::json!({"db": "p@ss w0rd/\"x", "key": "-----BEGIN KEY-----\nMIIabc123\n-----END KEY-----\n"}),
    );
    let program = r#"
import os, sys, base64, urllib.parse, time, json
s = os.environ["DB"]
out = sys.stdout.buffer
for form in [s, base64.b64encode(s.encode()).decode(), urllib.parse.quote(s, safe=""), json.dumps(s)]:
    for place in range(1, len(form)):
        out.write((form[:place]).encode()); out.flush(); time.sleep(0.0005)
        out.write((form[place:] + "|\n").encode()); out.flush()
print(os.environ["KEY"])
sys.stderr.write("cannot log in with " + s)
"#;
    let mut assignment = world.assignment(&["python3", "-c", program]);
    assignment.secrets = BTreeMap::from([("DB".to_owned(), "db".to_owned()), ("KEY".to_owned(), "key".to_owned())]);
    let outcome = world.run(&assignment).await;
    assert_eq!(outcome.ended, exited(0));
    let text = world.stdout(&assignment);
    let lines: Vec<&str> = text.lines().collect();
    let (forms, key) = lines.split_at(lines.iter().position(|line| !line.ends_with('|')).unwrap());
    assert!(forms.iter().all(|line| *line == "***|" || *line == "\"***\"|"), "{forms:?}");
    assert!(!text.contains("MII") && !text.contains("BEGIN"), "{key:?}");
    assert_eq!(world.stream(&assignment, "stderr"), b"cannot log in with ***");
}

#[tokio::test]
async fn secret_values_never_reach_the_outcome() {
    let mut world = World::new().await;
    with_secrets(&world, &serde_json::json!({"name": "very-secret-name"}));
    let mut assignment = world.assignment(&["./very-secret-name"]);
    assignment.secrets = BTreeMap::from([("NAME".to_owned(), "name".to_owned())]);
    world.run(&assignment).await;
    let text = fs::read_to_string(world.objects(&assignment).with_file_name("outcomes.jsonl")).unwrap();
    assert!(text.contains("***") && !text.contains("very-secret-name"), "{text}");
}
