//! Bounds of one attempt: how this machine can hold a program to them.

use model::ResourceLimits;
use rustix::process::{Pid, Resource, Rlimit, prlimit};

use super::cgroup::{self, Controller};

/// Holds a process that was just started to what resource limits can enforce. Gives what could not be done, in sentences.
pub(crate) fn apply(process: Pid, limits: &ResourceLimits) -> Vec<String> {
    let mut problems = Vec::new();
    let Some(memory) = limits.memory else { return problems };
    if cgroup::delegated().is_some_and(|found| found.has(Controller::Memory)) {
        return problems;
    }
    let bound = Rlimit { current: Some(memory.as_bytes()), maximum: Some(memory.as_bytes()) };
    if let Err(error) = prlimit(Some(process), Resource::As, bound) {
        problems.push(format!("the memory limit is not in force: {error}"));
    }
    problems
}

/// How each bound of `limits` is enforced on this machine, in sentences; for the plan of a dry run.
pub fn enforcement(limits: &ResourceLimits) -> Vec<String> {
    let cgroups = cgroup::delegated();
    let has = |controller| cgroups.is_some_and(|found| found.has(controller));
    let mut sentences = Vec::new();
    if let Some(memory) = limits.memory {
        sentences.push(if has(Controller::Memory) {
            format!("memory {memory}: enforced by a cgroup over all processes of the unit (memory.max); beyond it the kernel kills the unit")
        } else {
            format!("memory {memory}: enforced for each process by itself (RLIMIT_AS, address space); beyond it an allocation fails")
        });
    }
    if let Some(millis) = limits.cpu_millis {
        let cores = f64::from(millis) / 1000.0;
        sentences.push(if has(Controller::Cpu) {
            format!("cpu {cores}: enforced by a cgroup (cpu.max)")
        } else {
            format!("cpu {cores}: not enforced on this machine, which delegates no cgroup v2 with the cpu controller")
        });
    }
    if let Some(processes) = limits.processes {
        sentences.push(if has(Controller::Pids) {
            format!("processes {processes}: enforced by a cgroup (pids.max)")
        } else {
            format!("processes {processes}: not enforced on this machine, which delegates no cgroup v2 with the pids controller (RLIMIT_NPROC would count all processes of the user)")
        });
    }
    sentences
}

#[cfg(test)]
mod tests {
    use model::ByteSize;

    use super::*;

    #[test]
    fn the_plan_says_how_each_bound_is_enforced_and_nothing_of_the_others() {
        assert!(enforcement(&ResourceLimits::default()).is_empty());
        let all = ResourceLimits { cpu_millis: Some(500), memory: Some(ByteSize::from_bytes(512 << 20)), processes: Some(64) };
        let sentences = enforcement(&all);
        assert_eq!(sentences.len(), 3);
        for (sentence, start) in sentences.iter().zip(["memory 512MiB: ", "cpu 0.5: ", "processes 64: "]) {
            assert!(sentence.starts_with(start) && sentence.contains("enforced"), "{sentence}");
        }
    }
}
