//! What `/proc` says of processes.

use std::{fmt::Write as _, fs, io, path::PathBuf};

use model::ProcessIdentity;
use rustix::{
    fs::{CWD, Mode, OFlags, openat},
    process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal},
};

/// One line of `/proc/PID/stat`, as far as it is needed here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Process {
    pub(crate) pid: i32,
    pub(crate) command: String,
    pub(crate) zombie: bool,
    pub(crate) parent: i32,
    pub(crate) group: i32,
    pub(crate) session: i32,
    /// Clock ticks since boot; with the number it names one process of this boot.
    pub(crate) start_ticks: u64,
}

impl Process {
    /// Reads the content of `/proc/PID/stat`. A command name may hold spaces and parentheses: only what follows the last `)` counts.
    pub(crate) fn parse(text: &[u8]) -> Option<Process> {
        let opens = text.iter().position(|byte| *byte == b'(')?;
        let closes = text.iter().rposition(|byte| *byte == b')')?;
        let number = |bytes: &[u8]| std::str::from_utf8(bytes).ok()?.trim().parse::<i32>().ok();
        let pid = number(text.get(..opens)?)?;
        let command = String::from_utf8_lossy(text.get(opens + 1..closes)?).into_owned();
        let rest = std::str::from_utf8(text.get(closes + 1..)?).ok()?;
        let mut fields = rest.split_ascii_whitespace();
        let state = fields.next()?;
        let parent = fields.next()?.parse().ok()?;
        let group = fields.next()?.parse().ok()?;
        let session = fields.next()?.parse().ok()?;
        // `session` is field 6 and the start time field 22.
        let start_ticks = fields.nth(15)?.parse().ok()?;
        Some(Process { pid, command, zombie: state == "Z" || state == "X", parent, group, session, start_ticks })
    }

    /// The process with number `pid`, where there is one now.
    pub(crate) fn read(pid: i32) -> Option<Process> {
        let mut path = String::with_capacity(24);
        write!(path, "/proc/{pid}/stat").expect("a string grows");
        let file = openat(CWD, path.as_str(), OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok()?;
        let mut buffer = [0_u8; 1024];
        let length = rustix::io::read(&file, &mut buffer).ok()?;
        Process::parse(&buffer[..length])
    }

    /// Every process that can be seen.
    pub(crate) fn all() -> io::Result<Vec<Process>> {
        let numbers = fs::read_dir("/proc")?.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
        Ok(numbers.filter_map(Process::read).collect())
    }

    /// Sends `signal` to this very process: never to a later one with the same number.
    pub(crate) fn signal(&self, signal: Signal) -> io::Result<()> {
        let gone = || io::Error::from_raw_os_error(rustix::io::Errno::SRCH.raw_os_error());
        let number = Pid::from_raw(self.pid).ok_or_else(gone)?;
        let handle = pidfd_open(number, PidfdFlags::empty())?;
        match Process::read(self.pid) {
            Some(now) if now.start_ticks == self.start_ticks => Ok(pidfd_send_signal(handle, signal)?),
            Some(_) | None => Err(gone()),
        }
    }
}

/// The value of `variable` in the environment that process `pid` was started with; none where it may not be read.
pub(crate) fn environment_value(pid: i32, variable: &str) -> Option<String> {
    let content = fs::read(format!("/proc/{pid}/environ")).ok()?;
    let value = content.split(|byte| *byte == 0).find_map(|entry| entry.strip_prefix(variable.as_bytes())?.strip_prefix(b"="))?;
    String::from_utf8(value.to_vec()).ok()
}

/// The working folder of process `pid`.
pub(crate) fn working_folder(pid: i32) -> Option<PathBuf> {
    fs::read_link(format!("/proc/{pid}/cwd")).ok()
}

/// Names this boot of the machine.
pub(crate) fn boot_id() -> io::Result<String> {
    Ok(fs::read_to_string("/proc/sys/kernel/random/boot_id")?.trim().to_owned())
}

/// Whether the process of `identity` is there now and not only waits to be reaped.
pub(crate) fn is_alive(identity: &ProcessIdentity, boot: &str) -> bool {
    let found = Process::read(identity.pid).filter(|process| process.start_ticks == identity.start_ticks && !process.zombie);
    identity.boot == boot && found.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hostile_command_name_moves_no_field() {
        let line = b"4321 (a) S 1 (x) ) Z 77 88 99 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 123456 0 0\n";
        let process = Process::parse(line).expect("it is a line of stat");
        assert_eq!((process.pid, process.command.as_str()), (4321, "a) S 1 (x) "));
        assert_eq!((process.parent, process.group, process.session, process.start_ticks), (77, 88, 99, 123_456));
        assert!(process.zombie);
    }

    #[test]
    fn what_is_no_line_of_stat_is_nothing() {
        for text in [&b""[..], b"12", b"12 (sh", b"12 (sh) S", b"x (sh) S 1 2 3 4", b")("] {
            assert_eq!(Process::parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn this_process_is_seen_alive_and_not_mistaken_for_another_start() {
        let me = Process::read(std::process::id().cast_signed()).expect("we are here");
        let boot = boot_id().unwrap();
        let identity = ProcessIdentity { boot: boot.clone(), pid: me.pid, start_ticks: me.start_ticks };
        assert!(is_alive(&identity, &boot));
        assert!(!is_alive(&ProcessIdentity { start_ticks: me.start_ticks + 1, ..identity.clone() }, &boot));
        assert!(!is_alive(&identity, "another boot"));
        assert!(Process::all().unwrap().contains(&me));
    }
}
