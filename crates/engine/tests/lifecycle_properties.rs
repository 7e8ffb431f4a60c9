//! Whatever comes in whatever order: an execution keeps the promises of its lifecycle.

#[path = "fixture/execution.rs"]
mod fixture;

use engine::{
    execution::{Answer, Command, Effect, decide},
    retry::Next,
};
use fixture::{after, again, at, cancel, confirm_cancel, created, fail, grant, permits, queue_time_over, refuse, start, succeed};
use model::{Execution, Permits, Reason};
use proptest::{prelude::*, test_runner::FileFailurePersistence};

/// Attempt numbers that are over, under way and never given; slots that repeat and that do not.
fn command() -> impl Strategy<Value = Command> {
    let attempt = 0..5_u32;
    prop_oneof![
        6 => (0..4_u32).prop_map(grant),
        4 => attempt.clone().prop_map(start),
        2 => attempt.clone().prop_map(|attempt| Command::Publish { attempt }),
        1 => attempt.clone().prop_map(succeed),
        5 => attempt.clone().prop_map(|attempt| fail(attempt, again())),
        1 => attempt.clone().prop_map(|attempt| fail(attempt, Next::Final { because: None })),
        1 => attempt.prop_map(confirm_cancel),
        1 => Just(cancel()),
        1 => Just(refuse(Reason::Refused)),
        1 => Just(refuse(queue_time_over())),
    ]
}

fn commands() -> impl Strategy<Value = Vec<Command>> {
    prop::collection::vec(command(), 0..40)
}

/// The execution after each command, with what it answered.
fn play(commands: &[Command]) -> Vec<(Execution, Answer)> {
    let mut execution = created();
    let mut steps = Vec::with_capacity(commands.len());
    for (second, command) in (10..).zip(commands) {
        let answer = decide(&execution, command, at(second));
        if let Answer::Applied(next, _) = &answer {
            execution = (**next).clone();
        }
        steps.push((execution.clone(), answer));
    }
    steps
}

fn freed(answer: &Answer) -> Vec<&Permits> {
    let Answer::Applied(_, effects) = answer else { return Vec::new() };
    let freed = effects.iter().filter_map(|effect| match effect {
        Effect::FreeSlots(permits) => Some(permits),
        Effect::Stop { .. } | Effect::Ended | Effect::Resume { .. } => None,
    });
    freed.filter(|permits| !permits.is_empty()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 64,
        failure_persistence: Some(Box::new(FileFailurePersistence::WithSource("regressions"))),
        ..ProptestConfig::default()
    })]

    #[test]
    fn an_ended_execution_stays_ended(commands in commands()) {
        let steps = play(&commands);
        let Some(end) = steps.iter().position(|(execution, _)| execution.state.is_terminal()) else { return Ok(()) };
        for ((execution, answer), command) in steps.iter().zip(&commands).skip(end + 1) {
            prop_assert_eq!(execution, &steps[end].0, "changed by {:?}", command);
            prop_assert!(!matches!(answer, Answer::Applied(..)), "{:?} was applied", command);
        }
        let announced = steps.iter().filter(|(_, answer)| matches!(answer, Answer::Applied(_, effects) if effects.contains(&Effect::Ended)));
        prop_assert_eq!(announced.count(), 1, "the end is announced once");
    }

    #[test]
    fn slots_are_held_exactly_while_an_attempt_is_under_way(commands in commands()) {
        for (execution, _) in play(&commands) {
            prop_assert_eq!(execution.permits.is_empty(), execution.running().is_none());
            let earlier = execution.attempts.len().saturating_sub(1);
            prop_assert!(execution.attempts[..earlier].iter().all(|attempt| attempt.ended_at.is_some()));
        }
    }

    #[test]
    fn every_grant_gives_its_slots_back_once(commands in commands()) {
        let mut held: Option<Permits> = None;
        for ((_, answer), command) in play(&commands).iter().zip(&commands) {
            if let (Command::Grant { permits }, Answer::Applied(..)) = (command, answer) {
                prop_assert_eq!(held.replace(permits.clone()), None, "granted twice");
            }
            for permits in freed(answer) {
                let given = held.take();
                prop_assert_eq!(given.as_ref(), Some(permits), "freed what was not held");
            }
        }
    }

    #[test]
    fn attempts_are_numbered_one_by_one(commands in commands()) {
        for (execution, _) in play(&commands) {
            let numbers: Vec<u32> = execution.attempts.iter().map(|attempt| attempt.number).collect();
            let expected: Vec<u32> = (1..).take(numbers.len()).collect();
            prop_assert_eq!(numbers, expected);
        }
    }

    #[test]
    fn no_attempt_begins_after_a_request_to_cancel(commands in commands()) {
        let steps = play(&commands);
        let Some(asked) = steps.iter().position(|(execution, _)| execution.cancel.is_some()) else { return Ok(()) };
        for (execution, _) in &steps[asked..] {
            prop_assert_eq!(execution.attempts.len(), steps[asked].0.attempts.len());
            prop_assert!(execution.resume_at.is_none(), "a retry is planned");
        }
    }

    #[test]
    fn the_same_commands_give_the_same_state(commands in commands()) {
        prop_assert_eq!(play(&commands), play(&commands));
    }

    /// Every message may be delivered twice. Only a grant repeated later, after the pause of a retry, is a new one.
    #[test]
    fn a_command_applies_once_and_changes_something(commands in commands()) {
        let mut execution = created();
        for command in &commands {
            let Answer::Applied(next, _) = decide(&execution, command, at(10)) else { continue };
            prop_assert_ne!(&*next, &execution, "{:?} was applied and changed nothing", command);
            let twice = decide(&next, command, at(11));
            prop_assert!(!matches!(twice, Answer::Applied(..)), "{:?} was applied twice: {:?}", command, twice);
            execution = *next;
        }
    }

    /// A command that is not applied leaves nothing that could make a later one end otherwise.
    #[test]
    fn what_was_not_applied_might_never_have_come(commands in commands()) {
        let steps = play(&commands);
        let applied = steps.iter().zip(&commands).filter(|((_, answer), _)| matches!(answer, Answer::Applied(..)));
        let execution = applied.fold(created(), |execution, (_, command)| after(&execution, command));
        let last = steps.last().map_or_else(created, |(execution, _)| execution.clone());
        prop_assert_eq!(execution.state, last.state);
        prop_assert_eq!(execution.attempts.len(), last.attempts.len());
        prop_assert_eq!(execution.permits, last.permits);
    }
}

#[test]
fn an_attempt_that_was_granted_other_slots_holds_the_first() {
    let launching = after(&created(), &grant(0));
    assert_eq!(decide(&launching, &grant(0), at(11)), Answer::AlreadySo);
    assert!(matches!(decide(&launching, &grant(1), at(11)), Answer::Refused(_)), "its caller keeps slots that nobody holds");
    assert_eq!(launching.permits, permits(0));
}
