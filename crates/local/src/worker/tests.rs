//! What a worker does when the system fails it: nothing runs unwatched, and nothing runs twice.

use std::{
    fs::File,
    os::fd::OwnedFd,
    process::{Child, ChildStdout, Command},
};

use model::{Ended, ProcessIdentity, ResourceLimits, RunId, Span, Timestamp};
use tempfile::TempDir;
use tokio::runtime::{Builder, LocalOptions};

use super::*;
use crate::{home::SystemClock, objects::FolderObjects, secrets::FileSecrets};

struct World {
    folder: TempDir,
    worker: Worker,
}

impl World {
    fn new() -> World {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().join(".muster");
        std::fs::create_dir_all(folder.path().join("unit")).unwrap();
        let objects = Arc::new(FolderObjects::open(&home.join("objects")).unwrap());
        let secrets = Arc::new(FileSecrets::new(&home.join("secrets.json"), Scope::local(), Box::new(|_| None)));
        let charge = Charge::take(&home).unwrap().unwrap();
        let worker = Worker::new(charge, Ports { objects, secrets, clock: Arc::new(SystemClock) }).unwrap();
        World { folder, worker }
    }

    fn remains(&self) -> io::Result<Remains> {
        self.worker.remains(&Scope::local(), EXECUTION, 1)
    }

    /// A file of the home.
    fn write(&self, path: &str, content: &str) {
        let path = self.folder.path().join(".muster").join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    fn order(&self, script: &str) -> Order {
        let path = std::env::vars().find(|(name, _)| name == "PATH").unwrap();
        let assignment = Assignment {
            contract: model::CURRENT_CONTRACT,
            scope: Scope::local(),
            execution: EXECUTION,
            attempt: 1,
            unit: "prices".parse().unwrap(),
            run: ["sh", "-c", script].map(str::to_owned).to_vec(),
            location: self.folder.path().join("unit").to_str().unwrap().to_owned(),
            environment: BTreeMap::new(),
            pass_environment: Vec::new(),
            secrets: BTreeMap::new(),
            resources: ResourceLimits::default(),
            running: None,
            stopping: Span::from_secs(10),
            success_codes: vec![0],
            artifacts: Vec::new(),
            baselines: Vec::new(),
            slot: Timestamp::UNIX_EPOCH,
            limit: None,
            correlation: "c-1".to_owned(),
        };
        Order { assignment, passed: BTreeMap::from([path]) }
    }
}

const EXECUTION: ExecutionId = ExecutionId { run: RunId::from_bits(7), item: 1 };

fn run<T>(story: impl Future<Output = T>) -> T {
    Builder::new_current_thread().enable_all().build_local(LocalOptions::default()).unwrap().block_on(story)
}

/// As [`launch::start`], and the program has no pipe.
fn without_a_pipe(command: Command, fence: OwnedFd) -> io::Result<Child> {
    let mut child = launch::start(command, fence)?;
    drop(child.stdout.take());
    Ok(child)
}

/// As [`launch::start`], and the pipe cannot be waited for.
fn with_a_deaf_pipe(command: Command, fence: OwnedFd) -> io::Result<Child> {
    let mut child = launch::start(command, fence)?;
    child.stdout = Some(ChildStdout::from(OwnedFd::from(File::open("/proc/self/exe")?)));
    Ok(child)
}

#[test]
fn a_program_that_cannot_be_watched_is_ended_and_its_attempt_is_spent() {
    let broken: [fn(Command, OwnedFd) -> io::Result<Child>; 2] = [without_a_pipe, with_a_deaf_pipe];
    for broken in broken {
        run(async {
            let mut world = World::new();
            world.worker.start = broken;
            let order = world.order("sleep 600 & exec sleep 600");
            let stop = StopOrder::default();
            let Carried::Ended(outcome) = world.worker.carry_out(&order, &stop, &|_| {}).await else { panic!("no outcome") };
            assert_eq!(outcome.ended, Ended::Unseen);
            assert!(outcome.problems[0].contains("could not be watched and was killed"), "{:?}", outcome.problems);
            assert_eq!(process::Process::read(outcome.process.as_ref().unwrap().pid), None, "it was killed and reaped");
            assert!(world.worker.is_childless() || world.worker.sweep().unwrap() == 0, "nothing of it is left");
            assert!(matches!(world.worker.carry_out(&order, &stop, &|_| {}).await, Carried::Known), "it never runs again");
            assert_eq!(world.remains().unwrap(), Remains::Outcome(outcome));
        });
    }
}

#[test]
fn what_cannot_be_looked_up_is_not_lost() {
    run(async {
        let world = World::new();
        let run = format!("objects/local/local/default/runs/{}", EXECUTION.run);
        // A folder where the file of the outcomes belongs: the system refuses to read it, for every user.
        world.write(&format!("{run}/outcomes.jsonl/x"), "");
        world.remains().unwrap_err();
    });
}

#[test]
fn a_program_of_a_former_worker_is_shown_as_it_was_recorded() {
    run(async {
        let world = World::new();
        let me = process::Process::read(std::process::id().cast_signed()).unwrap();
        let identity = ProcessIdentity { boot: process::boot_id().unwrap(), pid: me.pid, start_ticks: me.start_ticks };
        let record = format!("{EXECUTION}-1 {} {} {} 2013-02-05T06:00:00.5Z", identity.boot, me.pid, me.start_ticks);
        world.write(&format!("work/{EXECUTION}-1/process"), &record);
        let claim = "{\"event\":\"claimed\",\"attempt\":\"1-1\"}\n";
        world.write(&format!("objects/local/local/default/runs/{}/outcomes.jsonl", EXECUTION.run), claim);
        let started_at = "2013-02-05T06:00:00.5Z".parse().unwrap();
        assert_eq!(world.remains().unwrap(), Remains::Alive(Some(Recorded { identity, started_at })));
    });
}

#[test]
fn control_groups_that_a_former_worker_left_are_removed() {
    run(async {
        let world = World::new();
        let delegated = cgroup::Delegated::at(&world.folder.path().join("group"));
        let (ours, other) = (format!("{}x-1", world.worker.group_prefix), "muster-of-another-home");
        for name in [&ours, other] {
            std::fs::create_dir_all(world.folder.path().join("group").join(name)).unwrap();
        }
        world.worker.remove_groups(&delegated).await;
        assert!(!world.folder.path().join("group").join(&ours).exists());
        assert!(world.folder.path().join("group").join(other).exists());
    });
}
