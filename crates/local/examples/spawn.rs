//! What a unit costs: N no-op units, C at a time, through a real shim, beside plain spawns and `xargs`.
//!
//! `cargo run --release -p local --example spawn -- [N] [C] [FOLDER]`; prints one JSON line. `FOLDER` decides the file system.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::Arc,
    time::{Duration, Instant},
};

use local::{
    home::SystemClock,
    objects::FolderObjects,
    secrets::FileSecrets,
    shim::{Client, Ports, ShimCommand, serve},
};
use model::{Assignment, CURRENT_CONTRACT, Ended, ExecutionId, ResourceLimits, RunId, Scope, Span, Timestamp};
use ports::{Launcher, Observation};

const PROGRAM: &str = "/bin/true";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [mode, home] = arguments.as_slice()
        && mode == "shim"
    {
        return Ok(serve(Path::new(home), ports(Path::new(home))?)?);
    }
    let number = |place: usize, default: u32| arguments.get(place).map_or(Ok(default), |text| text.parse());
    let (units, at_once) = (number(0, 1_000)?, number(1, 16)?);
    let folder = arguments.get(2).map_or_else(std::env::temp_dir, PathBuf::from).join(format!("spawn-{}", std::process::id()));
    fs::create_dir_all(folder.join("unit"))?;
    fs::write(folder.join("unit/prices.py"), "")?;
    let plain = plain(units, at_once)?;
    let xargs = xargs(units, at_once)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let shim = runtime.block_on(through_the_shim(&folder, units, at_once))?;
    let micros = |wall: Duration| wall.as_secs_f64() * 1e6 / f64::from(units);
    let line = serde_json::json!({
        "units": units,
        "at_once": at_once,
        "shim_wall_us": micros(shim.0).round(),
        "shim_cpu_us": micros(shim.1).round(),
        "client_cpu_us": micros(shim.2).round(),
        "plain_wall_us": micros(plain.0).round(),
        "plain_cpu_us": micros(plain.1).round(),
        "xargs_wall_us": micros(xargs).round(),
        "ratio_to_xargs": (shim.0.as_secs_f64() / xargs.as_secs_f64() * 100.0).round() / 100.0,
    });
    writeln!(std::io::stdout(), "{line}")?;
    fs::remove_dir_all(&folder)?;
    Ok(())
}

fn ports(home: &Path) -> std::io::Result<Ports> {
    Ok(Ports {
        objects: Arc::new(FolderObjects::open(&home.join("objects"))?),
        secrets: Arc::new(FileSecrets::new(&home.join("secrets.json"), Scope::local(), Box::new(|_| None))),
        clock: Arc::new(SystemClock),
    })
}

/// Wall time, processor time of the shim, processor time of this process.
async fn through_the_shim(
    folder: &Path,
    units: u32,
    at_once: u32,
) -> Result<(Duration, Duration, Duration), Box<dyn std::error::Error>> {
    let home = folder.join(".muster");
    fs::create_dir_all(&home)?;
    let arguments: Vec<OsString> = vec!["shim".into(), home.clone().into()];
    let command = ShimCommand { program: std::env::current_exe()?, arguments };
    let environment: BTreeMap<String, String> = std::env::vars().collect();
    let (client, mut reports) = Client::connect(&home, command, environment).await?;
    let client = Arc::new(client);
    // Attempts that make the folders and warm the caches do not count.
    run_all(&client, &mut reports, folder, 1, at_once, at_once).await?;
    let (shim_before, own_before) = (cpu(client.shim_process()), cpu(std::process::id()));
    let began = Instant::now();
    run_all(&client, &mut reports, folder, 2, units, at_once).await?;
    let wall = began.elapsed();
    Ok((wall, cpu(client.shim_process()) - shim_before, cpu(std::process::id()) - own_before))
}

async fn run_all(
    client: &Arc<Client>,
    reports: &mut tokio::sync::mpsc::UnboundedReceiver<ports::Report>,
    folder: &Path,
    run: u128,
    units: u32,
    at_once: u32,
) -> Result<(), Box<dyn std::error::Error>> {
    let start = |item: u32| {
        let (client, assignment) = (Arc::clone(client), assignment(folder, run, item));
        tokio::spawn(async move { client.start(&assignment).await.map_err(|error| error.to_string()) })
    };
    let mut next = 0;
    while next < at_once.min(units) {
        start(next);
        next += 1;
    }
    let mut ended = 0;
    while ended < units {
        let report = reports.recv().await.ok_or("the shim went away")?;
        if let Observation::Ended(outcome) = report.observation {
            assert_eq!(outcome.ended, Ended::Exited { code: 0 }, "{outcome:?}");
            ended += 1;
            if next < units {
                start(next);
                next += 1;
            }
        }
    }
    Ok(())
}

fn assignment(folder: &Path, run: u128, item: u32) -> Assignment {
    let execution = ExecutionId { run: RunId::from_bits(run), item };
    let environment = ["RUN", "EXECUTION", "ATTEMPT", "UNIT", "TENANT", "ORG", "PROJECT", "SLOT"];
    let environment = environment.into_iter().map(|name| (format!("MUSTER_{name}"), format!("the value of {name}"))).collect();
    Assignment {
        contract: CURRENT_CONTRACT,
        scope: Scope::local(),
        execution,
        attempt: 1,
        unit: "no-op".parse().expect("it is a name"),
        run: vec![PROGRAM.to_owned()],
        location: folder.join("unit").to_string_lossy().into_owned(),
        environment,
        pass_environment: Vec::new(),
        secrets: BTreeMap::new(),
        resources: ResourceLimits::default(),
        running: Some(Span::from_secs(60)),
        stopping: Span::from_secs(10),
        success_codes: vec![0],
        artifacts: Vec::new(),
        baselines: Vec::new(),
        slot: Timestamp::UNIX_EPOCH,
        limit: None,
        correlation: "bench".to_owned(),
    }
}

/// The same number of plain spawns, pipes and waits from one thread: what no launcher can save.
fn plain(units: u32, at_once: u32) -> std::io::Result<(Duration, Duration)> {
    let before = cpu(std::process::id());
    let began = Instant::now();
    let mut running = std::collections::VecDeque::new();
    for _ in 0..units {
        if running.len() as u32 == at_once {
            let mut oldest: std::process::Child = running.pop_front().expect("it is full");
            oldest.wait()?;
        }
        let mut command = Command::new(PROGRAM);
        running.push_back(command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?);
    }
    for mut child in running {
        child.wait()?;
    }
    Ok((began.elapsed(), cpu(std::process::id()) - before))
}

fn xargs(units: u32, at_once: u32) -> std::io::Result<Duration> {
    let began = Instant::now();
    let mut child = Command::new("xargs")
        .args(["-P", &at_once.to_string(), "-n", "1", PROGRAM])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()?;
    let numbers: String = (0..units).map(|number| format!("{number}\n")).collect();
    child.stdin.take().expect("it was piped").write_all(numbers.as_bytes())?;
    child.wait()?;
    Ok(began.elapsed())
}

/// Processor time of a process without its children, in steps of 10 ms.
fn cpu(pid: u32) -> Duration {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let fields: Vec<u64> =
        text.rsplit(')').next().unwrap_or("").split_whitespace().filter_map(|field| field.parse().ok()).collect();
    // Without the number, the name and the state, which is a letter: user time is field 14.
    Duration::from_millis(10 * fields.get(10..12).map_or(0, |times| times.iter().sum()))
}
