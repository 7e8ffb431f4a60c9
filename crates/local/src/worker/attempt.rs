//! The story of one attempt, from the claim to the outcome.

use std::{collections::BTreeMap, io, path::Path, rc::Rc, sync::Arc};

use model::{Assignment, CURRENT_CONTRACT, Ended, ExecutionId, LogSummary, ObjectKey, Outcome};
use ports::{Observation, Secret};
use rustix::process::Pid;
use tokio::time::Instant;
use tracing::warn;

use super::{
    Worker,
    aftermath::Unwatched,
    capture::{Capture, watch},
    cgroup,
    environment::{self, Additions},
    launch::{self, Launch, Launched},
    log::{Log, LogCap},
    mask::Masks,
    program,
    publish::{self, Job, Out, Publication, chain},
    remove_later,
    running::Running,
    stop::StopOrder,
    strays::Tag,
    workspace::{Claim, Recorded, Workspace},
};

/// What to carry out.
#[derive(Debug, Clone)]
pub struct Order {
    /// The assignment.
    pub assignment: Assignment,
    /// The variables it takes from the environment of whoever starts it; see [`super::passed`].
    pub passed: BTreeMap<String, String>,
}

/// What became of an order.
#[derive(Debug)]
pub enum Carried {
    /// It was carried out to its end.
    Ended(Box<Outcome>),
    /// It was started before; nothing was run.
    Known,
    /// The machine has no room for another process now; nothing was run and the claim was taken back.
    NoRoom,
    /// The home could not be written to; nothing was run.
    Unavailable(io::Error),
}

/// Names an attempt and its work folder.
pub(crate) fn tag(execution: ExecutionId, attempt: u32) -> Tag {
    format!("{execution}-{attempt}").into()
}

/// Why there is no program to follow.
enum NotRunning {
    /// It was not started, in words for the unit's owner.
    Because(String),
    /// It was not started, and may be started again.
    NoRoom,
    /// It was started and cannot be followed: never a reason to start it again.
    Unwatched(Box<Unwatched>),
}

impl Worker {
    /// Carries out an attempt: claims it, runs the program, publishes its output, writes the outcome. `tell` hears when the program runs, when
    /// it is gone and its output is being published, and the outcome.
    pub async fn carry_out(&self, order: &Order, stop: &StopOrder, tell: &dyn Fn(Observation)) -> Carried {
        let assignment = &order.assignment;
        let key = ObjectKey::attempt(&assignment.scope, assignment.execution, assignment.attempt);
        let tag = tag(assignment.execution, assignment.attempt);
        let claimed = self.workspaces.borrow_mut().claim(&tag, Path::new(&assignment.location));
        let workspace = match claimed {
            Ok(Claim::Won(workspace)) => workspace,
            Ok(Claim::Taken) => return Carried::Known,
            Err(error) => return Carried::Unavailable(error),
        };
        let claimed = self.outcomes.borrow_mut().claim(&key);
        match claimed {
            Ok(true) => {}
            Ok(false) => {
                self.give_back(workspace, true);
                return Carried::Known;
            }
            Err(error) => {
                self.give_back(workspace, true);
                return Carried::Unavailable(error);
            }
        }
        self.in_hand.borrow_mut().insert(Rc::clone(&tag));
        let carried = self.carry_out_claimed(order, stop, tell, &key, &tag, workspace).await;
        self.in_hand.borrow_mut().remove(&tag);
        if let Carried::Ended(outcome) = &carried {
            tell(Observation::Ended(outcome.clone()));
        }
        carried
    }

    async fn carry_out_claimed(
        &self,
        order: &Order,
        stop: &StopOrder,
        tell: &dyn Fn(Observation),
        key: &ObjectKey,
        tag: &Tag,
        mut workspace: Workspace,
    ) -> Carried {
        let assignment = &order.assignment;
        // A store of secrets that does not answer must not outlast an order to stop.
        let secrets = tokio::select! {
            biased;
            secrets = self.secrets(assignment) => secrets,
            _ = stop.wait() => Ok(Vec::new()),
        };
        let (masks, started) = match secrets {
            Ok(secrets) => {
                let masks = Masks::new(secrets.iter().map(|(name, secret)| (name.as_str(), secret))).map(Arc::new);
                let started = self.start(order, stop, &secrets, masks.clone(), key, tag, &mut workspace);
                (masks, started)
            }
            Err(message) => (None, Err(NotRunning::Because(message))),
        };
        let (outcome, untouched) = match started {
            Ok(running) => {
                tell(Observation::Running { process: running.identity.clone(), started_at: running.started_at });
                self.attend(running, order, stop, tell, key, masks.clone(), &workspace).await
            }
            Err(NotRunning::Because(message)) => (self.bare_outcome(assignment, stop, Ended::NotStarted { message }), true),
            Err(NotRunning::Unwatched(unwatched)) => {
                let bare = self.bare_outcome(assignment, stop, Ended::Unseen);
                (self.end_unwatched(*unwatched, bare).await, false)
            }
            Err(NotRunning::NoRoom) => {
                // Nothing ran: the same attempt may be started again.
                if let Err(error) = self.outcomes.borrow_mut().release(key) {
                    warn!(attempt = %tag, %error, "could not take a claim back");
                }
                self.give_back(workspace, false);
                return Carried::NoRoom;
            }
        };
        let mut outcome = masked(outcome, masks.as_deref());
        if let Err(error) = self.outcomes.borrow_mut().conclude(key, &outcome) {
            let error = chain(&error);
            warn!(execution = %assignment.execution, attempt = assignment.attempt, %error, "could not write an outcome");
            outcome.problems.push(format!("the outcome could not be written: {error}"));
        }
        self.give_back(workspace, untouched);
        Carried::Ended(Box::new(outcome))
    }

    async fn secrets(&self, assignment: &Assignment) -> Result<Vec<(String, Secret)>, String> {
        let mut secrets = Vec::new();
        for (variable, reference) in &assignment.secrets {
            match self.ports.secrets.read(&assignment.scope, reference).await {
                Ok(secret) => secrets.push((variable.clone(), secret)),
                Err(error) => return Err(format!("the secret for {variable} could not be read: {}", chain(&error))),
            }
        }
        Ok(secrets)
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "each is another part of the attempt; a struct of them would live for this call only"
    )]
    fn start(
        &self,
        order: &Order,
        stop: &StopOrder,
        secrets: &[(String, Secret)],
        masks: Option<Arc<Masks>>,
        key: &ObjectKey,
        tag: &Tag,
        workspace: &mut Workspace,
    ) -> Result<Running, NotRunning> {
        let assignment = &order.assignment;
        if let Some(fault) = workspace.fault.clone() {
            return Err(NotRunning::Because(fault));
        }
        if stop.cause().is_some() {
            return Err(NotRunning::Because("it was stopped before it started".to_owned()));
        }
        let now = self.ports.clock.now();
        let (out, tmp) = (workspace.out(), workspace.tmp());
        let additions = Additions {
            out: &out.to_string_lossy(),
            tmp: &tmp.to_string_lossy(),
            deadline: assignment.running.map(|limit| limit.after(now)),
        };
        let environment = environment::compose(assignment, &order.passed, secrets, &additions);
        if let Some(fault) = environment::fault(&environment) {
            return Err(NotRunning::Because(fault));
        }
        let path = environment.get("PATH").map(String::as_str);
        let program = program::find(&assignment.run, &workspace.cwd(), path).map_err(NotRunning::Because)?;
        let resources = &assignment.resources;
        let launch = Launch { program: &program, run: &assignment.run, environment: &environment, resources, boot: &self.boot };
        let launched = launch::launch(&launch, self.start, workspace).map_err(|error| {
            if launch::is_lack_of_room(&error) {
                return NotRunning::NoRoom;
            }
            let bytes = environment.iter().map(|(name, value)| name.len() + value.len() + 2).sum();
            NotRunning::Because(program::explain(&error, &program, &assignment.run, bytes))
        })?;
        self.take_charge(launched, assignment, masks, key, tag, workspace)
    }

    /// From here on there is a process: whatever fails now must not lose it, nor start it again.
    fn take_charge(
        &self,
        launched: Launched,
        assignment: &Assignment,
        masks: Option<Arc<Masks>>,
        key: &ObjectKey,
        tag: &Tag,
        workspace: &Workspace,
    ) -> Result<Running, NotRunning> {
        let Launched { identity, handles, mut problems } = launched;
        let (started_at, since) = (self.ports.clock.now(), Instant::now());
        let group = Pid::from_raw(identity.pid).expect("a started process has a number");
        self.children.borrow_mut().add(identity.pid, identity.start_ticks, Rc::clone(tag));
        if let Err(error) = workspace.record(&Recorded { identity: identity.clone(), started_at }) {
            problems.push(format!("the process could not be recorded: {error}"));
        }
        let limited = assignment.resources != model::ResourceLimits::default();
        let cgroup = cgroup::delegated().filter(|_| limited).and_then(|delegated| {
            let entered = delegated.enter(&format!("{}{tag}", self.group_prefix), identity.pid, &assignment.resources);
            entered.inspect_err(|error| problems.push(format!("the limits of its cgroup are not in force: {error}"))).ok()
        });
        let log = Log::new(self.file(&key.log()), LogCap::default());
        let clock = Arc::clone(&self.ports.clock);
        let watched = handles.and_then(|handles| {
            let pipes = [handles.stdout, handles.stderr];
            Ok((Capture::new(pipes, log, masks, clock, Rc::clone(&self.scratch))?, watch(handles.exit)?))
        });
        match watched {
            Ok((capture, exit)) => {
                Ok(Running { tag: Rc::clone(tag), identity, group, started_at, since, exit, capture, cgroup, problems })
            }
            Err(error) => {
                warn!(attempt = %tag, %error, "could not watch a program that was just started");
                problems.insert(0, format!("the program was started, could not be watched and was killed: {error}"));
                let tag = Rc::clone(tag);
                Err(NotRunning::Unwatched(Box::new(Unwatched { tag, identity, group, started_at, cgroup, problems })))
            }
        }
    }

    /// Follows a program to its end and publishes what it left. True where its folder may serve again.
    #[expect(
        clippy::too_many_arguments,
        reason = "each is another part of the attempt; a struct of them would live for this call only"
    )]
    async fn attend(
        &self,
        mut running: Running,
        order: &Order,
        stop: &StopOrder,
        tell: &dyn Fn(Observation),
        key: &ObjectKey,
        masks: Option<Arc<Masks>>,
        workspace: &Workspace,
    ) -> (Outcome, bool) {
        let assignment = &order.assignment;
        let stopped = running.until_gone(assignment, stop, self).await;
        let gone = self.bury(&mut running, stopped, assignment.stopping, workspace).await;
        let ended_at = self.ports.clock.now();
        let out_of_memory = running.out_of_memory(&gone, assignment);
        let Running { identity, started_at, capture, mut problems, .. } = running;
        let (log, fault) = capture.finish();
        problems.extend(fault);
        let mut outcome = Outcome {
            contract: CURRENT_CONTRACT,
            execution: assignment.execution,
            attempt: assignment.attempt,
            ended: gone.ended,
            stopped: gone.stopped,
            out_of_memory,
            process: Some(identity),
            started_at: Some(started_at),
            ended_at,
            usage: Some(gone.usage),
            log,
            artifacts: Vec::new(),
            verdict: None,
            findings: Vec::new(),
            quality_fails: false,
            strays: gone.strays,
            problems,
            publish_failed: false,
        };
        let good = matches!(outcome.ended, Ended::Exited { code } if assignment.success_codes.contains(&code));
        let promised = assignment.artifacts.iter().any(|rule| !rule.optional);
        if good && outcome.stopped.is_none() && (promised || workspace.has_output()) {
            tell(Observation::Publishing);
            let publication = self.publish(assignment, key, masks, workspace).await;
            outcome.artifacts = publication.artifacts;
            outcome.verdict = publication.verdict;
            outcome.findings = publication.findings;
            outcome.quality_fails = publication.quality_fails;
            outcome.publish_failed = publication.failed;
            outcome.problems.extend(publication.problems);
        }
        (outcome, gone.nothing_left)
    }

    async fn publish(
        &self,
        assignment: &Assignment,
        key: &ObjectKey,
        masks: Option<Arc<Masks>>,
        workspace: &Workspace,
    ) -> Publication {
        let out = match workspace.open_out() {
            Ok(out) => Out::new(out),
            Err(error) => return Publication::failed(format!("the output folder is not the one that was made for it: {error}")),
        };
        let turn = self.publishers.acquire().await;
        let objects = Arc::clone(&self.ports.objects);
        let job = Job {
            assignment: assignment.clone(),
            out,
            key: key.clone(),
            folder: self.file(key),
            masks,
            now: self.ports.clock.now(),
        };
        let runtime = tokio::runtime::Handle::current();
        // Judging reads whole files and publishing waits for the disk: not on the thread that serves.
        let done = tokio::task::spawn_blocking(move || runtime.block_on(publish::publish(&job, &*objects))).await;
        drop(turn);
        done.unwrap_or_else(|error| Publication::failed(format!("the output could not be judged: {error}")))
    }

    /// An outcome that knows of nothing but how it ended.
    fn bare_outcome(&self, assignment: &Assignment, stop: &StopOrder, ended: Ended) -> Outcome {
        Outcome {
            contract: CURRENT_CONTRACT,
            execution: assignment.execution,
            attempt: assignment.attempt,
            ended,
            stopped: stop.cause(),
            out_of_memory: None,
            process: None,
            started_at: None,
            ended_at: self.ports.clock.now(),
            usage: None,
            log: LogSummary::default(),
            artifacts: Vec::new(),
            verdict: None,
            findings: Vec::new(),
            quality_fails: false,
            strays: Vec::new(),
            problems: Vec::new(),
            publish_failed: false,
        }
    }

    /// Gives the work folder back; `untouched` says that nothing of the attempt can be alive in it.
    fn give_back(&self, workspace: Workspace, untouched: bool) {
        let released = self.workspaces.borrow_mut().release(workspace, untouched);
        match released {
            Ok(gone) => gone.into_iter().for_each(remove_later),
            Err(error) => warn!(%error, "could not give a work folder back"),
        }
    }
}

/// The outcome without any secret value in its texts.
fn masked(mut outcome: Outcome, masks: Option<&Masks>) -> Outcome {
    let Some(masks) = masks else { return outcome };
    if let Ended::NotStarted { message } = &mut outcome.ended {
        *message = masks.text(message);
    }
    let texts = outcome.findings.iter_mut().chain(&mut outcome.problems);
    texts.chain(outcome.strays.iter_mut().map(|stray| &mut stray.command)).for_each(|text| *text = masks.text(text));
    outcome
}
