//! The shim outlives the control process, its units outlive both, and nothing runs twice.

#![expect(clippy::unwrap_used, reason = "a story that cannot go on ends where it is")]

mod worker_support;

use std::{
    fs,
    path::PathBuf,
    process::{Child, Command, Stdio},
    time::Duration,
};

use local::shim::Client;
use model::ProcessIdentity;
use ports::{LaunchError, Launcher, Observation};
use rustix::process::Signal;
use worker_support::{World, assignment, caller, exited, lives, living, shim_command, until};

/// Not a story: a control process that starts a unit and then does nothing, until it is killed.
#[test]
#[ignore = "it is the control process of another test"]
fn the_control_process() {
    let Some(home) = std::env::var_os("MUSTER_TEST_CONTROL").map(PathBuf::from) else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (client, _reports) = Client::connect(&home, shim_command(&home, None), caller()).await.unwrap();
        let unit = home.parent().unwrap().join("unit");
        for item in 1..=3 {
            client.start(&assignment(&unit, item, &["sh", "-c", SLOW])).await.unwrap();
        }
        fs::write(home.join("started"), "").unwrap();
        std::future::pending::<()>().await;
    });
}

/// Tells that it ran, waits for the gate, writes an artifact.
const SLOW: &str = "echo ran >> $MUSTER_LOCATION/effects; read line < gate; echo $line; echo x > $MUSTER_OUT/x";

struct Orphaned {
    folder: tempfile::TempDir,
    home: PathBuf,
}

/// A home whose control process was killed while three units run.
async fn orphaned() -> Orphaned {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join(".muster");
    fs::create_dir(&home).unwrap();
    fs::create_dir(folder.path().join("unit")).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, folder.path().join("unit/gate"), rustix::fs::Mode::RWXU).unwrap();
    let mut control: Child = Command::new(std::env::current_exe().unwrap())
        .args(["the_control_process", "--exact", "--ignored"])
        .env("MUSTER_TEST_CONTROL", &home)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    until("the units run", || home.join("started").exists()).await;
    let effects = folder.path().join("unit/effects");
    until("each had its effect", || fs::read_to_string(&effects).unwrap_or_default().lines().count() == 3).await;
    control.kill().unwrap();
    control.wait().unwrap();
    Orphaned { folder, home }
}

fn recorded(orphaned: &Orphaned, item: u32) -> ProcessIdentity {
    let unit = orphaned.folder.path().join("unit");
    let execution = assignment(&unit, item, &["sh"]).execution;
    let text = fs::read_to_string(orphaned.home.join(format!("work/{execution}-1/process"))).unwrap();
    let words: Vec<&str> = text.split_whitespace().collect();
    ProcessIdentity { boot: words[1].to_owned(), pid: words[2].parse().unwrap(), start_ticks: words[3].parse().unwrap() }
}

#[tokio::test]
async fn units_survive_the_control_process_and_are_adopted() {
    let orphaned = orphaned().await;
    let before: Vec<ProcessIdentity> = (1..=3).map(|item| recorded(&orphaned, item)).collect();
    let (client, mut reports) = Client::connect(&orphaned.home, shim_command(&orphaned.home, None), caller()).await.unwrap();
    let unit = orphaned.folder.path().join("unit");
    for (item, identity) in (1..).zip(&before) {
        let again = assignment(&unit, item, &["sh", "-c", SLOW]);
        let seen = client.observe(&again.scope, again.execution, 1).await.unwrap();
        assert!(matches!(&seen, Observation::Running { process, .. } if process == identity), "{seen:?}");
        client.start(&again).await.unwrap();
    }
    let mut ended = 0;
    let mut gate = fs::OpenOptions::new().write(true).open(unit.join("gate")).unwrap();
    while ended < 3 {
        std::io::Write::write_all(&mut gate, b"go\n").unwrap();
        while let Ok(Some(report)) = tokio::time::timeout(Duration::from_millis(200), reports.recv()).await {
            if let Observation::Ended(outcome) = report.observation {
                assert_eq!((&outcome.ended, outcome.artifacts.len()), (&exited(0), 1));
                ended += 1;
            }
        }
    }
    assert_eq!(fs::read_to_string(unit.join("effects")).unwrap().lines().count(), 3, "none ran twice");
}

#[tokio::test]
async fn after_the_shim_is_killed_its_units_are_ended_and_lost() {
    let mut world = World::new().await;
    let mark = format!("muster-test-lost-{}", std::process::id());
    let stubborn =
        world.assignment(&["bash", "-c", "trap '' TERM HUP; (setsid sleep 600 $0 &) ; while :; do sleep 0.05; done", &mark]);
    let process = world.start(&stubborn).await;
    let first = world.client.shim_process();
    world.signal_shim(Signal::KILL);
    // The client finds another shim by itself and looks at what was under way.
    assert_eq!(world.next_of(&stubborn).await, Observation::Lost);
    assert_ne!(world.client.shim_process(), first);
    assert!(!lives(process.pid));
    assert_eq!(living(&mark), 0);
    assert_eq!(world.client.observe(&stubborn.scope, stubborn.execution, 1).await.unwrap(), Observation::Lost);
    // The number is spent: a start of it runs nothing, the next one does.
    world.client.start(&stubborn).await.unwrap();
    assert_eq!(world.next_of(&stubborn).await, Observation::Lost);
    let mut next = world.script("true");
    (next.execution, next.attempt) = (stubborn.execution, 2);
    assert_eq!(world.run(&next).await.ended, exited(0));
    until("the work folders are removed", || {
        fs::read_dir(world.home.join("work"))
            .unwrap()
            .flatten()
            .all(|entry| entry.file_name().to_str().unwrap().starts_with(".spare"))
    })
    .await;
}

#[tokio::test]
async fn an_adopted_program_runs_since_it_was_started() {
    let world = World::new().await;
    let adopted = assignment(&world.unit, 1, &["sh"]);
    let name = format!("{}-1", adopted.execution);
    let run = world.home.join("objects/local/local/default/runs").join(adopted.execution.run.to_string());
    fs::create_dir_all(&run).unwrap();
    fs::write(run.join("outcomes.jsonl"), "{\"event\":\"claimed\",\"attempt\":\"1-1\"}\n").unwrap();
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    let stat = fs::read_to_string("/proc/self/stat").unwrap();
    let start_ticks = stat.rsplit(')').next().unwrap().split_whitespace().nth(19).unwrap();
    fs::create_dir_all(world.home.join("work").join(&name)).unwrap();
    let record = format!("{name} {} {} {start_ticks} 2013-02-05T06:00:00Z\n", boot.trim(), std::process::id());
    fs::write(world.home.join("work").join(&name).join("process"), record).unwrap();
    let seen = world.client.observe(&adopted.scope, adopted.execution, 1).await.unwrap();
    let Observation::Running { process, started_at } = seen else { panic!("{seen:?}") };
    assert_eq!((process.pid, started_at), (std::process::id().cast_signed(), "2013-02-05T06:00:00Z".parse().unwrap()));
}

#[tokio::test]
async fn an_innocent_process_with_a_recorded_number_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join(".muster");
    let unit = folder.path().join("unit");
    let lost = assignment(&unit, 1, &["sh"]);
    let name = format!("{}-1", lost.execution);
    fs::create_dir_all(home.join("work").join(&name)).unwrap();
    let run = home.join("objects/local/local/default/runs").join(lost.execution.run.to_string());
    fs::create_dir_all(&run).unwrap();
    fs::write(run.join("outcomes.jsonl"), "{\"event\":\"claimed\",\"attempt\":\"1-1\"}\n").unwrap();
    let mut innocent = Command::new("sleep").arg("600").spawn().unwrap();
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    let record = format!("{name} {} {} 12345 2013-02-05T06:00:00Z\n", boot.trim(), innocent.id());
    fs::write(home.join("work").join(&name).join("process"), record).unwrap();
    let (client, _reports) = Client::connect(&home, shim_command(&home, None), caller()).await.unwrap();
    assert_eq!(client.observe(&lost.scope, lost.execution, 1).await.unwrap(), Observation::Lost);
    assert!(lives(innocent.id().cast_signed()));
    innocent.kill().unwrap();
    innocent.wait().unwrap();
}

#[tokio::test]
async fn an_attempt_whose_outcome_cannot_be_looked_up_is_unavailable_and_not_lost() {
    let world = World::new().await;
    let attempt = assignment(&world.unit, 1, &["sh"]);
    let file = world.objects(&attempt).with_file_name("outcomes.jsonl");
    // A folder in its place: no user can read it as a file.
    fs::create_dir_all(&file).unwrap();
    let seen = world.client.observe(&attempt.scope, attempt.execution, 1).await;
    assert!(matches!(seen, Err(LaunchError::Unavailable(_))), "{seen:?}");
    fs::remove_dir(&file).unwrap();
    assert_eq!(world.client.observe(&attempt.scope, attempt.execution, 1).await.unwrap(), Observation::Unknown);
}

#[tokio::test]
async fn what_could_not_be_looked_up_after_a_crash_is_asked_again() {
    let mut world = World::new().await;
    let attempt = world.script("sleep 600");
    world.start(&attempt).await;
    let file = world.objects(&attempt).with_file_name("outcomes.jsonl");
    let aside = file.with_extension("aside");
    fs::rename(&file, &aside).unwrap();
    fs::create_dir(&file).unwrap();
    let first = world.client.shim_process();
    world.signal_shim(Signal::KILL);
    until("there is another shim", || world.client.shim_process() != first).await;
    until("nothing can be seen", || !world.home.join("work").join(format!("{}-1", attempt.execution)).exists()).await;
    let seen = world.client.observe(&attempt.scope, attempt.execution, 1).await;
    assert!(matches!(seen, Err(LaunchError::Unavailable(_))), "{seen:?}");
    fs::remove_dir(&file).unwrap();
    fs::rename(&aside, &file).unwrap();
    assert_eq!(world.next_of(&attempt).await, Observation::Lost);
}

#[tokio::test]
async fn two_clients_share_one_shim_and_hear_the_same() {
    let mut world = World::new().await;
    let (second, mut heard) = Client::connect(&world.home, shim_command(&world.home, None), caller()).await.unwrap();
    assert_eq!(second.shim_process(), world.client.shim_process());
    let assignment = world.script("exit 3");
    let outcome = world.run(&assignment).await;
    loop {
        let report = tokio::time::timeout(worker_support::LIMIT, heard.recv()).await.unwrap().unwrap();
        if let Observation::Ended(told) = report.observation {
            assert_eq!(*told, outcome);
            break;
        }
    }
    drop(second);
    assert_eq!(world.run_script("true").await.ended, exited(0), "a client that went hinders nobody");
}

#[tokio::test]
async fn a_client_that_does_not_read_hinders_nobody() {
    use std::io::Write as _;
    let mut world = World::new().await;
    let folder = fs::File::open(&world.home).unwrap();
    let address = format!("/proc/self/fd/{}/shim.sock", std::os::fd::AsRawFd::as_raw_fd(&folder));
    let mut deaf = std::os::unix::net::UnixStream::connect(&address).unwrap();
    deaf.write_all(b"{\"hello\":{\"protocol\":1}}\n").unwrap();
    let mut rude = std::os::unix::net::UnixStream::connect(&address).unwrap();
    rude.write_all(b"{\"hello\":{\"protocol\":1}}\nnonsense\n").unwrap();
    for _ in 0..50 {
        assert_eq!(world.run_script("true").await.ended, exited(0));
    }
    drop((deaf, rude));
}

#[tokio::test]
async fn a_shim_with_nothing_to_do_ends_and_is_started_again_when_needed() {
    let mut world = World::new().await;
    assert_eq!(world.run_script("true").await.ended, exited(0));
    let first = world.client.shim_process().cast_signed();
    let (home, command) = (world.home.clone(), shim_command(&world.home, None));
    drop(std::mem::replace(&mut world.client, {
        let other = tempfile::tempdir().unwrap().keep();
        Client::connect(&other, shim_command(&other, None), caller()).await.unwrap().0
    }));
    until("the idle shim ends", || !lives(first)).await;
    let (client, _reports) = Client::connect(&home, command, caller()).await.unwrap();
    assert_ne!(client.shim_process().cast_signed(), first);
}

#[tokio::test]
async fn a_shim_leads_a_session_of_its_own_and_its_socket_is_private() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::new().await;
    let stat = fs::read_to_string(format!("/proc/{}/stat", world.client.shim_process())).unwrap();
    let session: u32 = stat.rsplit(')').next().unwrap().split_whitespace().nth(3).unwrap().parse().unwrap();
    assert_eq!(session, world.client.shim_process());
    let mode = fs::metadata(world.home.join("shim.sock")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    world.signal_shim(Signal::HUP);
    let gone = world.client.observe(&model::Scope::local(), assignment(&world.unit, 1, &["sh"]).execution, 1).await;
    assert!(matches!(gone, Ok(Observation::Unknown)), "a hang-up is no order: {gone:?}");
}

#[tokio::test]
async fn a_shim_that_cannot_be_started_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = shim_command(folder.path(), None);
    command.program = "/no/such/program".into();
    let error = Client::connect(folder.path(), command, caller()).await.unwrap_err();
    assert_eq!(error.to_string(), "could not start the shim `/no/such/program`");
}
