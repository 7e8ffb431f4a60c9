//! Evidence that the kernel killed a process for memory.

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;

use model::{MemoryEvidence, ProcessIdentity};
use rustix::{fs::OFlags, io::read};

/// The kernel's message that it killed this very process for memory, where it says so and its log can be read.
pub(crate) fn evidence(identity: &ProcessIdentity) -> Option<MemoryEvidence> {
    let flags = i32::try_from(OFlags::NONBLOCK.bits()).ok()?;
    let log = OpenOptions::new().read(true).custom_flags(flags).open("/dev/kmsg").ok()?;
    // One read is one record; an overwritten one is an error and the next read goes on after it.
    let mut record = [0_u8; 8192];
    let mut faults = 0;
    while faults < 16 {
        match read(&log, &mut record) {
            Ok(0) | Err(rustix::io::Errno::AGAIN) => return None,
            Ok(length) => {
                if let Some(source) = names_victim(&String::from_utf8_lossy(&record[..length]), identity) {
                    return Some(MemoryEvidence { limit: None, peak: None, source });
                }
            }
            Err(_) => faults += 1,
        }
    }
    None
}

/// The message of a record of `/dev/kmsg`, where it says that the kernel killed this process for memory after the process began.
fn names_victim(record: &str, identity: &ProcessIdentity) -> Option<String> {
    let (head, message) = record.split_once(';')?;
    let micros: u64 = head.split(',').nth(2)?.parse().ok()?;
    let message = message.lines().next()?;
    let words = "Killed process ";
    let number = &message[message.find(words)? + words.len()..];
    let pid: i32 = number.split(|byte: char| !byte.is_ascii_digit()).next()?.parse().ok()?;
    // Start times count in hundredths of a second.
    (pid == identity.pid && micros / 10_000 >= identity.start_ticks).then(|| format!("kernel log: {message}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_process_of_this_life_is_evidence() {
        let identity = ProcessIdentity { boot: String::new(), pid: 4242, start_ticks: 5_000 };
        let line = |micros: u64, pid: i32| {
            format!("3,881,{micros},-;Out of memory: Killed process {pid} (python3) total-vm:9kB, anon-rss:8kB\n SUBSYSTEM=x\n")
        };
        let found = names_victim(&line(51_000_000, 4242), &identity).expect("it is the victim");
        assert_eq!(found, "kernel log: Out of memory: Killed process 4242 (python3) total-vm:9kB, anon-rss:8kB");
        assert_eq!(names_victim(&line(49_000_000, 4242), &identity), None, "an earlier process with the same number");
        assert_eq!(names_victim(&line(51_000_000, 424), &identity), None);
        assert_eq!(names_victim("6,1,51000000,-;Killed nobody\n", &identity), None);
        assert_eq!(names_victim("rubbish", &identity), None);
    }
}
