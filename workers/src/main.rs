//! Carries out one assignment in a home of its own and prints the outcome.
//!
//! `worker HOME ASSIGNMENT.json`. Exits with 0 when there is an outcome, however the program ended: the outcome tells.

use std::{
    collections::BTreeMap,
    fs,
    io::{Write, stdout},
    path::{Path, PathBuf},
    rc::Rc,
    sync::Arc,
};

use anyhow::{Context, bail};
use local::{
    home::SystemClock,
    objects::FolderObjects,
    secrets::FileSecrets,
    worker::{Carried, Charge, Order, Ports, Remains, StopOrder, Worker, passed},
};
use model::{Assignment, Outcome, StopCause};
use tokio::{
    runtime::{Builder, LocalOptions},
    signal::unix::{SignalKind, signal},
};

fn main() -> anyhow::Result<()> {
    let arguments: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [home, assignment] = arguments.as_slice() else { bail!("usage: worker HOME ASSIGNMENT.json") };
    let environment: BTreeMap<String, String> =
        std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?))).collect();
    let text = fs::read(assignment).with_context(|| format!("could not read {}", assignment.display()))?;
    let assignment = serde_json::from_slice(&text).with_context(|| format!("{} is no assignment", assignment.display()))?;
    let runtime = Builder::new_current_thread().enable_all().build_local(LocalOptions::default())?;
    let outcome = runtime.block_on(carry_out(home, assignment, environment))?;
    writeln!(stdout(), "{}", serde_json::to_string(&outcome)?)?;
    Ok(())
}

async fn carry_out(home: &Path, assignment: Assignment, environment: BTreeMap<String, String>) -> anyhow::Result<Outcome> {
    let Some(charge) = Charge::take(home).context("could not take charge of the home")? else {
        bail!("another process is in charge of {}", home.display());
    };
    let variables = environment.clone();
    let ports = Ports {
        objects: Arc::new(FolderObjects::open(&home.join("objects")).context("could not open the objects")?),
        secrets: Arc::new(FileSecrets::new(
            &home.join("secrets.json"),
            assignment.scope.clone(),
            Box::new(move |name| variables.get(name).cloned()),
        )),
        clock: Arc::new(SystemClock),
    };
    let worker = Worker::new(charge, ports).context("could not work in the home")?;
    worker.recover().await.context("could not end what was left in the home")?;
    let stop = Rc::new(StopOrder::default());
    stop_on_a_signal(&stop)?;
    let order = Order { passed: passed(&assignment, &environment), assignment };
    let carried = worker.carry_out(&order, &stop, &|_| {}).await;
    worker.sweep().context("could not look for processes left behind")?;
    match carried {
        Carried::Ended(outcome) => Ok(*outcome),
        Carried::Known => {
            let assignment = &order.assignment;
            let remains = worker.remains(&assignment.scope, assignment.execution, assignment.attempt);
            match remains.context("could not look up what became of the attempt")? {
                Remains::Outcome(outcome) => Ok(*outcome),
                Remains::Nothing | Remains::Alive(_) | Remains::Lost => {
                    bail!("the attempt was started before and left no outcome")
                }
            }
        }
        Carried::NoRoom => bail!("the machine has no room for another process"),
        Carried::Unavailable(error) => Err(error).context("could not use the home"),
    }
}

/// SIGTERM and SIGINT interrupt the unit: it has its grace, and the outcome says so.
fn stop_on_a_signal(stop: &Rc<StopOrder>) -> anyhow::Result<()> {
    for kind in [SignalKind::terminate(), SignalKind::interrupt()] {
        let mut received = signal(kind)?;
        let stop = Rc::clone(stop);
        tokio::task::spawn_local(async move {
            received.recv().await;
            stop.give(StopCause::Interrupted);
        });
    }
    Ok(())
}
