//! What a caller is told when a use case could not be done.

use engine::select::Mistake;
use model::{Kind, Problem};
use ports::{EngineError, LaunchError, ObjectError, StepError, StoreError};
use serde::Serialize;

/// Why a use case was not done: what, why, and what to do.
#[derive(Debug, Clone, Serialize, thiserror::Error)]
#[error("{message}")]
pub struct Fault {
    /// Its kind: fixes exit code and HTTP status.
    pub kind: Kind,
    /// Stable code, `E-…`.
    pub code: String,
    /// What could not be done and why, a sentence each.
    pub message: String,
    /// What to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Every problem with its place, where the cause is text that a person wrote.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<Problem>,
}

impl Fault {
    /// A fault of a kind.
    pub fn new(kind: Kind, code: &str, message: impl Into<String>) -> Fault {
        Fault { kind, code: code.to_owned(), message: message.into(), hint: None, problems: Vec::new() }
    }

    /// With what to do.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Fault {
        self.hint = Some(hint.into());
        self
    }

    /// Wrong text, all of it at once.
    pub fn problems(what: &str, problems: Vec<Problem>) -> Fault {
        let count = problems.len();
        let noun = if count == 1 { "problem" } else { "problems" };
        Fault { problems, ..Fault::new(Kind::Invalid, "E-M00", format!("{what}: {count} {noun}; nothing was started")) }
    }

    /// A mistake of ours.
    pub fn internal(message: &str) -> Fault {
        Fault::new(Kind::Internal, "E-I01", message)
    }

    /// Nothing of that name in the caller's scope.
    pub fn not_found(what: impl std::fmt::Display) -> Fault {
        Fault::new(Kind::NotFound, "E-N01", format!("there is no {what}"))
    }

    /// A store's answer while doing `what`.
    pub fn store(what: &str, error: StoreError) -> Fault {
        match error {
            StoreError::NotFound => Fault::new(Kind::NotFound, "E-N01", format!("could not {what}: no such record")),
            StoreError::Conflict(record) => {
                Fault::new(Kind::Conflict, "E-S02", format!("could not {what}: {record} changed meanwhile"))
                    .with_hint("Run it again.")
            }
            StoreError::Unavailable(source) => Fault::new(
                Kind::Unavailable,
                "E-S03",
                format!("could not {what}: the store does not answer: {}", chain(&*source)),
            ),
            StoreError::Full(source) => Fault::new(Kind::Unavailable, "E-S04", format!("could not {what}: {}", chain(&*source)))
                .with_hint("Free some space, then run it again: nothing was lost."),
            StoreError::Corrupt(source) => Fault::new(
                Kind::Internal,
                "E-S05",
                format!("could not {what}: what is stored cannot be read: {}", chain(&*source)),
            ),
        }
    }

    /// The object store's answer while doing `what`.
    pub fn object(what: &str, error: &ObjectError) -> Fault {
        let kind = match error {
            ObjectError::NotFound(_) => Kind::NotFound,
            ObjectError::Exists(_) => Kind::Conflict,
            ObjectError::Full { .. } | ObjectError::Unavailable { .. } => Kind::Unavailable,
        };
        Fault::new(kind, "E-O01", format!("could not {what}: {}", chain(error)))
    }

    /// The engine's answer while doing `what`.
    pub fn engine(what: &str, error: &EngineError) -> Fault {
        let kind = match error {
            EngineError::NotFound => Kind::NotFound,
            EngineError::Invalid(_) => Kind::Invalid,
            EngineError::Unavailable(_) => Kind::Unavailable,
        };
        Fault::new(kind, "E-G01", format!("could not {what}: {}", chain(error)))
    }

    /// The launcher's answer while doing `what`.
    pub fn launch(what: &str, error: &LaunchError) -> Fault {
        Fault::new(Kind::Unavailable, "E-L01", format!("could not {what}: {}", chain(error)))
    }

    /// Everything wrong with a request to run. A single mistake speaks for itself.
    pub fn mistakes(mistakes: Vec<Mistake>) -> Fault {
        let worst = mistakes.first().map_or("E-R00", |mistake| mistake.code).to_owned();
        let all = |code: &str| mistakes.iter().all(|mistake| mistake.code == code);
        let kind = match (all("E-R01"), all("E-R04")) {
            (true, _) => Kind::NotFound,
            // A disabled unit: the request is right, the state of things forbids it.
            (false, true) => Kind::Conflict,
            (false, false) => Kind::Invalid,
        };
        let hint = mistakes.iter().find_map(suggestion);
        let message = mistakes.into_iter().map(|mistake| mistake.message).collect::<Vec<_>>().join("\n");
        Fault { hint, ..Fault::new(kind, &worst, message) }
    }
}

fn suggestion(mistake: &Mistake) -> Option<String> {
    let (word, known) = mistake.unknown.as_ref()?;
    let nearest = nearest(word, known.iter().map(String::as_str))?;
    Some(format!("Did you mean `{nearest}`?"))
}

/// The known word that `word` was probably meant to be.
pub(crate) fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    const NEAR: f64 = 0.75;
    let scored = known.map(|candidate| (strsim::jaro_winkler(word, candidate), candidate));
    let best = scored.filter(|(score, _)| *score >= NEAR).max_by(|one, other| one.0.total_cmp(&other.0));
    best.map(|(_, candidate)| candidate)
}

/// An error and its causes, joined by colons.
pub(crate) fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}

/// The name under which the state machine retries a step.
pub(crate) const RETRY_STEP: &str = "Muster.Unavailable";

impl From<Fault> for StepError {
    fn from(fault: Fault) -> StepError {
        let error = match fault.kind {
            Kind::Unavailable | Kind::Conflict | Kind::Quota | Kind::Timeout => RETRY_STEP,
            Kind::Invalid => "Muster.Invalid",
            Kind::NotFound => "Muster.NotFound",
            Kind::Forbidden => "Muster.Forbidden",
            Kind::Internal => "Muster.Internal",
        };
        StepError { error: error.to_owned(), cause: fault.message }
    }
}
