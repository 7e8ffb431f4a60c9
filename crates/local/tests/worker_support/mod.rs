//! A home with a real shim process, for stories about real programs.
#![expect(dead_code, reason = "each file of stories uses its part")]

use std::{
    collections::BTreeMap,
    ffi::OsString,
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
    time::{Duration, Instant},
};

use local::{
    home::SystemClock,
    objects::FolderObjects,
    secrets::FileSecrets,
    shim::{Client, Ports, ShimCommand, serve},
};
use model::{
    Assignment, CURRENT_CONTRACT, Ended, ExecutionId, ObjectKey, Outcome, ProcessIdentity, ResourceLimits, RunId, Scope, Span,
    Timestamp,
};
use ports::{Launcher, Observation, Report};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use tokio::sync::mpsc;

/// Longer than anything here takes on a busy machine.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);
const HOME: &str = "MUSTER_TEST_HOME";
const FULL: &str = "MUSTER_TEST_FULL_AFTER";

/// Not a story: what the client starts as its shim.
#[test]
#[ignore = "it is the shim process of the other tests"]
fn the_shim_process() {
    let Some(home) = std::env::var_os(HOME).map(PathBuf::from) else { return };
    let folder = FolderObjects::open(&home.join("objects")).unwrap();
    let objects: Arc<dyn ports::Objects> = match std::env::var_os(FULL) {
        None => Arc::new(folder),
        Some(after) => Arc::new(FullAfter { inner: folder, left: after.to_str().unwrap().parse::<i64>().unwrap().into() }),
    };
    let secrets = Arc::new(FileSecrets::new(&home.join("secrets.json"), Scope::local(), Box::new(|_| None)));
    serve(&home, Ports { objects, secrets, clock: Arc::new(SystemClock) }).unwrap();
}

/// Objects on a disk that is full after so many writes.
struct FullAfter {
    inner: FolderObjects,
    left: std::sync::atomic::AtomicI64,
}

#[async_trait::async_trait]
impl ports::Objects for FullAfter {
    async fn put(&self, key: &ObjectKey, source: ports::Source) -> Result<(), ports::ObjectError> {
        if self.left.fetch_sub(1, std::sync::atomic::Ordering::SeqCst) <= 0 {
            let source = Box::new(std::io::Error::from_raw_os_error(28));
            return Err(ports::ObjectError::Full { key: key.clone(), source });
        }
        self.inner.put(key, source).await
    }
    async fn get(&self, key: &ObjectKey) -> Result<Vec<u8>, ports::ObjectError> {
        self.inner.get(key).await
    }
    async fn range(&self, key: &ObjectKey, offset: u64, length: usize) -> Result<Vec<u8>, ports::ObjectError> {
        self.inner.range(key, offset, length).await
    }
    async fn list(
        &self,
        folder: &ObjectKey,
        after: Option<&ObjectKey>,
        limit: usize,
    ) -> Result<Vec<ObjectKey>, ports::ObjectError> {
        self.inner.list(folder, after, limit).await
    }
}

pub(crate) struct World {
    pub(crate) folder: TempDir,
    pub(crate) home: PathBuf,
    pub(crate) unit: PathBuf,
    pub(crate) client: Client,
    pub(crate) reports: mpsc::UnboundedReceiver<Report>,
    next: u32,
}

impl Drop for World {
    fn drop(&mut self) {
        self.signal_shim(Signal::TERM);
    }
}

/// The command that starts this test binary as the shim of `home`.
pub(crate) fn shim_command(home: &Path, full_after: Option<u32>) -> ShimCommand {
    let mut arguments: Vec<OsString> = vec![[OsString::from(HOME), home.into()].join(&OsString::from("="))];
    arguments.extend(full_after.map(|after| format!("{FULL}={after}").into()));
    arguments.push(std::env::current_exe().unwrap().into());
    arguments.extend(["worker_support::the_shim_process", "--exact", "--ignored", "--nocapture"].map(OsString::from));
    ShimCommand { program: "/usr/bin/env".into(), arguments }
}

/// The environment of the caller in these stories.
pub(crate) fn caller() -> BTreeMap<String, String> {
    let pairs = [
        ("PATH", std::env::vars().find_map(|(name, value)| (name == "PATH").then_some(value)).unwrap()),
        ("HOME", "/home/somebody".to_owned()),
        ("LANG", "C.UTF-8".to_owned()),
        ("TOKEN_OF_THE_CALLER", "not for units".to_owned()),
        ("REGION", "eu".to_owned()),
    ];
    pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

impl World {
    pub(crate) async fn new() -> World {
        World::with(None).await
    }

    /// A world whose disk is full after so many objects.
    pub(crate) async fn with(full_after: Option<u32>) -> World {
        World::prepared(full_after, |_| {}).await
    }

    /// A world whose home was changed by `prepare` before any shim saw it.
    pub(crate) async fn prepared(full_after: Option<u32>, prepare: impl FnOnce(&Path)) -> World {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().join(".muster");
        let unit = folder.path().join("unit");
        fs::create_dir(&home).unwrap();
        fs::create_dir(&unit).unwrap();
        prepare(&home);
        let (client, reports) = Client::connect(&home, shim_command(&home, full_after), caller()).await.unwrap();
        World { folder, home, unit, client, reports, next: 0 }
    }

    pub(crate) fn signal_shim(&self, signal: Signal) {
        let pid = Pid::from_raw(self.client.shim_process().cast_signed()).unwrap();
        let _ = kill_process(pid, signal);
    }

    /// An assignment of the next item.
    pub(crate) fn assignment(&mut self, run: &[&str]) -> Assignment {
        self.next += 1;
        assignment(&self.unit, self.next, run)
    }

    /// An assignment of a shell script.
    pub(crate) fn script(&mut self, script: &str) -> Assignment {
        self.assignment(&["sh", "-c", script])
    }

    /// Starts an attempt and waits for its end.
    pub(crate) async fn run(&mut self, assignment: &Assignment) -> Outcome {
        self.client.start(assignment).await.unwrap();
        self.ended(assignment).await
    }

    pub(crate) async fn run_script(&mut self, script: &str) -> Outcome {
        let assignment = self.script(script);
        self.run(&assignment).await
    }

    pub(crate) async fn ended(&mut self, assignment: &Assignment) -> Outcome {
        loop {
            match self.next_of(assignment).await {
                Observation::Ended(outcome) => return *outcome,
                Observation::Lost | Observation::Unknown => panic!("{} was lost", assignment.execution),
                Observation::Starting | Observation::Running { .. } | Observation::Publishing => {}
            }
        }
    }

    pub(crate) async fn running(&mut self, assignment: &Assignment) -> ProcessIdentity {
        loop {
            match self.next_of(assignment).await {
                Observation::Running { process, .. } => return process,
                Observation::Starting | Observation::Publishing => {}
                other => panic!("it does not run: {other:?}"),
            }
        }
    }

    /// The next thing that is told of an attempt.
    pub(crate) async fn next_of(&mut self, assignment: &Assignment) -> Observation {
        loop {
            let report = tokio::time::timeout(LIMIT, self.reports.recv())
                .await
                .expect("nothing was reported")
                .expect("the client is there");
            if (report.execution, report.attempt) == (assignment.execution, assignment.attempt) {
                return report.observation;
            }
        }
    }

    /// Starts an attempt and waits until its program runs.
    pub(crate) async fn start(&mut self, assignment: &Assignment) -> ProcessIdentity {
        self.client.start(assignment).await.unwrap();
        self.running(assignment).await
    }

    pub(crate) fn objects(&self, assignment: &Assignment) -> PathBuf {
        let key = ObjectKey::attempt(&assignment.scope, assignment.execution, assignment.attempt);
        self.home.join("objects").join(key.as_str())
    }

    /// The log, raw.
    pub(crate) fn log(&self, assignment: &Assignment) -> Vec<u8> {
        fs::read(self.objects(assignment).with_extension("log")).unwrap_or_default()
    }

    /// What the program wrote to one stream, from the log.
    pub(crate) fn stream(&self, assignment: &Assignment, stream: &str) -> Vec<u8> {
        texts(&self.log(assignment), stream)
    }

    pub(crate) fn stdout(&self, assignment: &Assignment) -> String {
        String::from_utf8(self.stream(assignment, "stdout")).unwrap()
    }

    /// A file of the unit with permissions.
    pub(crate) fn unit_file(&self, name: &str, content: &str, mode: u32) {
        let path = self.unit.join(name);
        fs::write(&path, content).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    }
}

/// An assignment of item `item`.
pub(crate) fn assignment(unit: &Path, item: u32, run: &[&str]) -> Assignment {
    let execution = ExecutionId { run: RunId::from_bits(7), item };
    Assignment {
        contract: CURRENT_CONTRACT,
        scope: Scope::local(),
        execution,
        attempt: 1,
        unit: "prices".parse().unwrap(),
        run: run.iter().map(|word| (*word).to_owned()).collect(),
        location: unit.to_str().unwrap().to_owned(),
        environment: BTreeMap::from([("MUSTER_EXECUTION".to_owned(), execution.to_string())]),
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
    }
}

/// The program's bytes on one stream, from a log.
pub(crate) fn texts(log: &[u8], stream: &str) -> Vec<u8> {
    let mut out = Vec::new();
    for line in log.split_inclusive(|byte| *byte == b'\n') {
        let mut parts = line.splitn(4, |byte| *byte == b' ');
        let (_time, name, tag, text) = (parts.next(), parts.next().unwrap(), parts.next().unwrap(), parts.next().unwrap());
        if name == stream.as_bytes() {
            out.extend_from_slice(if tag == b"F" { text } else { &text[..text.len() - 1] });
        }
    }
    out
}

pub(crate) fn exited(code: u8) -> Ended {
    Ended::Exited { code }
}

/// Waits for a condition.
pub(crate) async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < LIMIT, "still not: {what}");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// The number of living processes whose command line holds `words`.
pub(crate) fn living(words: &str) -> usize {
    let lines = Command::new("ps").args(["-eo", "stat=,args="]).output().unwrap().stdout;
    String::from_utf8_lossy(&lines).lines().filter(|line| !line.starts_with('Z') && line.contains(words)).count()
}

/// Whether a process lives.
pub(crate) fn lives(pid: i32) -> bool {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    text.rsplit(')').next().is_some_and(|rest| !rest.is_empty() && !rest.trim_start().starts_with('Z'))
}

/// Field `VmRSS` or `VmHWM` of a process, in KiB.
pub(crate) fn memory(pid: u32, field: &str) -> u64 {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':')).unwrap();
    line.split_whitespace().next().unwrap().parse().unwrap()
}

impl World {
    /// Cancels an attempt.
    pub(crate) async fn client_stop(&self, assignment: &Assignment) {
        let stop = self.client.stop(&assignment.scope, assignment.execution, assignment.attempt, model::StopCause::Cancelled);
        stop.await.unwrap();
    }
}
