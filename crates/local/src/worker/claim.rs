//! The claim on an attempt: one file that is made before anything runs and becomes the outcome, last of all.

use std::{
    fs::{self, DirBuilder, File, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
};

use model::{ObjectKey, Outcome};

/// The right to carry an attempt out. There is one for each attempt, ever.
pub(crate) struct OutcomeFile {
    /// The attempt.
    pub(crate) key: ObjectKey,
    file: File,
    claim: PathBuf,
    outcome: PathBuf,
}

/// Whether the attempt was claimed and has no outcome yet.
pub(crate) fn is_claimed(objects: &Path, key: &ObjectKey) -> bool {
    claim_of(objects, key).exists()
}

fn claim_of(objects: &Path, key: &ObjectKey) -> PathBuf {
    objects.join(format!("{key}.claim"))
}

impl OutcomeFile {
    /// Claims the attempt. `None` where it was claimed before, whatever became of it.
    pub(crate) fn claim(objects: &Path, key: &ObjectKey) -> io::Result<Option<OutcomeFile>> {
        let (claim, outcome) = (claim_of(objects, key), objects.join(key.outcome().as_str()));
        if outcome.exists() {
            return Ok(None);
        }
        match make(&claim) {
            Ok(file) => Ok(Some(OutcomeFile { key: key.clone(), file, claim, outcome })),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Writes the outcome; from here on it is what can be seen of the attempt.
    pub(crate) fn conclude(mut self, outcome: &Outcome) -> io::Result<()> {
        self.file.write_all(&serde_json::to_vec(outcome).map_err(io::Error::from)?)?;
        fs::rename(&self.claim, &self.outcome)
    }

    /// Takes the claim back: nothing ran, and the attempt may be claimed again.
    pub(crate) fn take_back(self) -> io::Result<()> {
        fs::remove_file(&self.claim)
    }
}

/// Makes the file and, where it is the first of its run, the folder.
fn make(claim: &Path) -> io::Result<File> {
    let create = || OpenOptions::new().write(true).create_new(true).mode(0o600).open(claim);
    match (create(), claim.parent()) {
        (Err(error), Some(folder)) if error.kind() == io::ErrorKind::NotFound => {
            DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
            create()
        }
        (made, _) => made,
    }
}
