//! Starts the program.

use std::{
    collections::BTreeMap,
    io,
    os::{fd::OwnedFd, unix::process::CommandExt},
    path::Path,
    process::{Child, Command, Stdio},
    sync::OnceLock,
};

use model::{ProcessIdentity, ResourceLimits};
use rustix::{
    io::{Errno, FdFlags, fcntl_setfd},
    process::{Pid, PidfdFlags, Resource, Rlimit, pidfd_open, prlimit},
};

use super::{limits, process::Process, workspace::Workspace};

/// The bound on open files that this process had before it raised its own.
static OPEN_FILES: OnceLock<Rlimit> = OnceLock::new();

/// Keeps the bound on open files that programs get.
pub(crate) fn remember_open_files(bound: Rlimit) {
    // The first one is the one this process was started with.
    OPEN_FILES.get_or_init(|| bound);
}

/// What to start.
pub(crate) struct Launch<'a> {
    pub(crate) program: &'a Path,
    pub(crate) run: &'a [String],
    pub(crate) environment: &'a BTreeMap<String, String>,
    pub(crate) resources: &'a ResourceLimits,
    pub(crate) boot: &'a str,
}

/// A program that was started.
pub(crate) struct Launched {
    pub(crate) identity: ProcessIdentity,
    /// What it takes to follow the program. Where that is missing, the program runs all the same.
    pub(crate) handles: io::Result<Handles>,
    /// What could not be limited, in sentences.
    pub(crate) problems: Vec<String>,
}

/// What it takes to follow a program.
pub(crate) struct Handles {
    /// Becomes readable when the program is gone.
    pub(crate) exit: OwnedFd,
    pub(crate) stdout: OwnedFd,
    pub(crate) stderr: OwnedFd,
}

/// How programs are started. Always on the worker's own thread: a start on another one was tried, and its copy of this process held the
/// fences of others for the moment until the program had replaced it, so that their folders looked taken.
pub(crate) type Start = fn(Command, OwnedFd) -> io::Result<Child>;

/// Starts the program, which inherits the fence. Another program must never inherit it: it is closed whether or not anything was started.
pub(crate) fn start(mut command: Command, fence: OwnedFd) -> io::Result<Child> {
    fcntl_setfd(&fence, FdFlags::empty())?;
    command.spawn()
}

/// Starts the program in its own process group, with nothing of ours but the fence. An error says that nothing was started.
///
/// The standard library takes the fast way here (one `posix_spawn`, no copy of this process), which needs an absolute path.
pub(crate) fn launch(launch: &Launch<'_>, start: Start, workspace: &mut Workspace) -> io::Result<Launched> {
    let mut command = Command::new(launch.program);
    command
        .arg0(&launch.run[0])
        .args(&launch.run[1..])
        .env_clear()
        .envs(launch.environment)
        .current_dir(workspace.cwd())
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let child = start(command, workspace.hand_over_fence()?)?;
    let number = Pid::from_child(&child);
    if let Some(bound) = OPEN_FILES.get() {
        // A program that ended already needs no bound.
        let _ = prlimit(Some(number), Resource::Nofile, *bound);
    }
    let problems = limits::apply(number, launch.resources);
    let pid = number.as_raw_nonzero().get();
    let start_ticks = Process::read(pid).map_or(0, |process| process.start_ticks);
    let identity = ProcessIdentity { boot: launch.boot.to_owned(), pid, start_ticks };
    Ok(Launched { identity, handles: handles(child, number), problems })
}

fn handles(child: Child, number: Pid) -> io::Result<Handles> {
    let exit = pidfd_open(number, PidfdFlags::empty())?;
    let (Some(stdout), Some(stderr)) = (child.stdout, child.stderr) else {
        return Err(io::Error::other("the pipes of the program are missing"));
    };
    Ok(Handles { exit, stdout: stdout.into(), stderr: stderr.into() })
}

/// Whether the system only lacks room now: not the program's fault.
pub(crate) fn is_lack_of_room(error: &io::Error) -> bool {
    let errno = error.raw_os_error().map(Errno::from_raw_os_error);
    matches!(errno, Some(Errno::AGAIN | Errno::NOMEM | Errno::MFILE | Errno::NFILE))
}
