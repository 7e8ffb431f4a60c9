//! When a state fails: `Retry`, `Catch`, or the end of its thread.

use std::sync::Arc;

use crate::core::Purpose;
use crate::definition::{Catcher, Language, Next, Retrier};
use crate::fault::{Fault, names};
use crate::flow::combine;
use crate::frame::{Doing, FrameId};
use crate::random::Random;
use crate::step::{Given, Step};
use crate::time::after;
use crate::{Failure, Value};

impl Step<'_> {
    /// A state cannot go on for a reason of its own.
    pub(crate) fn fault(&mut self, id: FrameId, fault: Fault) {
        let failure = self.failure_of(id, fault);
        self.fail(id, failure);
    }

    pub(crate) fn failure_of(&self, id: FrameId, fault: Fault) -> Failure {
        if !fault.located {
            return Failure::new(fault.error, fault.detail);
        }
        let frame = self.frame(id);
        let cause = format!(
            "An error occurred while executing the state '{}' (entered at the event id #{}). {}",
            self.machine.state(frame.state).name,
            frame.entered_event,
            fault.detail
        );
        Failure::new(fault.error, cause)
    }

    /// A state failed: it is tried again, or its failure is caught, or its thread ends.
    pub(crate) fn fail(&mut self, id: FrameId, failure: Failure) {
        self.frame_mut(id).doing = Doing::Working;
        if let Some(observed) = &mut self.core.observed {
            observed.failure = Some(failure.clone());
        }
        let state = self.state_of(id);
        let matched = state.retry.iter().enumerate().find(|(_, retrier)| catches(&retrier.errors, &failure));
        if let Some((at, retrier)) = matched
            && self.retry(id, at, retrier)
        {
            return;
        }
        match state.catch.iter().find(|catcher| catches(&catcher.errors, &failure)) {
            Some(catcher) => {
                if let Err(fault) = self.catch(id, catcher, &failure) {
                    let failure = self.failure_of(id, fault);
                    self.end(id, Err(failure));
                }
            }
            None => self.end(id, Err(failure)),
        }
    }

    /// Arms the timer for the next try, if there is one left.
    fn retry(&mut self, id: FrameId, at: usize, retrier: &Retrier) -> bool {
        let frame = self.frame_mut(id);
        if frame.retries.len() <= at {
            frame.retries.resize(at + 1, 0);
        }
        let used = frame.retries[at];
        if used >= retrier.max_attempts {
            return false;
        }
        frame.retries[at] += 1;
        let mut random = self.core.draw();
        let when = after(self.now, delay(retrier, used, &mut random));
        let timer = self.arm(when, Purpose::Retry(id));
        self.frame_mut(id).doing = Doing::Retrying { timer };
        true
    }

    fn catch(&mut self, id: FrameId, catcher: &Catcher, failure: &Failure) -> Result<(), Fault> {
        let state = self.state_of(id);
        let raw = self.frame(id).input.clone();
        let error_output = failure.output();
        let given = match state.language {
            Language::JsonPath => Given::input(&error_output),
            Language::Jsonata => Given { error_output: Some(&error_output), ..Given::input(&raw) },
        };
        let variables = match &catcher.assign {
            Some(assign) => Some(self.assigned(id, assign, given)?),
            None => None,
        };
        let output = match (state.language, &catcher.output) {
            (Language::Jsonata, Some(output)) => self.fill(id, output, given)?,
            (Language::Jsonata, None) => error_output,
            (Language::JsonPath, _) => combine(&catcher.result_path, raw.clone(), error_output)?,
        };
        self.leave(id, Next::State(catcher.next), output, variables)
    }
}

/// Whether one of the names matches a failure.
pub(crate) fn catches(errors: &[Arc<str>], failure: &Failure) -> bool {
    let name = failure.error.as_deref().unwrap_or_default();
    if name == names::RUNTIME {
        return false;
    }
    errors.iter().any(|error| match &**error {
        names::ALL => true,
        names::TASK_FAILED => name != names::TIMEOUT && name != names::HEARTBEAT_TIMEOUT,
        names::TIMEOUT => name == names::TIMEOUT || name == names::HEARTBEAT_TIMEOUT,
        exact => exact == name,
    })
}

/// How many seconds pass before the next try, after `used` ones.
fn delay(retrier: &Retrier, used: u32, random: &mut Random) -> f64 {
    let exponent = i32::try_from(used).unwrap_or(i32::MAX);
    let full = retrier.interval * retrier.backoff.powi(exponent);
    let capped = retrier.max_delay.map_or(full, |most| full.min(most));
    if retrier.jitter { capped * random.fraction() } else { capped }
}

/// The failure of a payload that is larger than the limit.
pub(crate) fn too_large(what: &str) -> Failure {
    Failure::new(names::DATA_LIMIT_EXCEEDED, crate::flow::too_large(what))
}

/// A positive number of seconds.
pub(crate) fn seconds(field: &str, value: &Value) -> Result<f64, Fault> {
    value
        .as_f64()
        .filter(|seconds| *seconds > 0.0)
        .ok_or_else(|| Fault::runtime(format!("The field '{field}' must be a positive number of seconds but was: {value}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn retrier(jitter: bool) -> Retrier {
        Retrier { errors: Vec::new(), interval: 3.0, max_attempts: 9, backoff: 2.0, max_delay: Some(20.0), jitter }
    }

    #[test]
    fn delays_grow_by_the_rate_up_to_the_limit() {
        let mut random = Random::new(1);
        let delays: Vec<f64> = (0..5).map(|used| delay(&retrier(false), used, &mut random)).collect();
        assert_eq!(delays, [3.0, 6.0, 12.0, 20.0, 20.0]);
        assert_eq!(delay(&retrier(false), u32::MAX, &mut random), 20.0);
    }

    #[test]
    fn jitter_draws_from_zero_to_the_delay() {
        let mut random = Random::new(7);
        let delays: Vec<f64> = (0..1_000).map(|_| delay(&retrier(true), 2, &mut random)).collect();
        assert!(delays.iter().all(|delay| (0.0..12.0).contains(delay)));
        let mean = delays.iter().sum::<f64>() / 1_000.0;
        assert!((5.0..7.0).contains(&mean), "{mean}");
    }

    #[test]
    fn names_match_what_the_language_says() {
        let list = |name: &str| vec![Arc::<str>::from(name)];
        let matches = |name: &str, error: &str| catches(&list(name), &Failure::named(error));
        assert!(matches("States.ALL", "Anything") && matches("States.ALL", "States.DataLimitExceeded"));
        assert!(matches("States.TaskFailed", "Anything") && !matches("States.TaskFailed", "States.Timeout"));
        assert!(matches("States.Timeout", "States.HeartbeatTimeout"));
        assert!(!matches("States.ALL", "States.Runtime") && !matches("States.Runtime", "States.Runtime"));
        assert!(!matches("State.ALL", "Anything"), "a slip of the pen is a name of its own");
        assert!(catches(&list("States.ALL"), &Failure::default()), "a failure without a name");
    }
}
