//! The outcomes of a run in one file: a line each for the claim and for the end of an attempt, appended.
//!
//! A fan-out of thousands of small units must not cost a file each. An attempt that published artifacts has an outcome file of its own beside
//! them; every other outcome is a line of `outcomes.jsonl` in the run's folder, and [`FolderObjects`] reads it as if it were a file.

use std::{
    collections::HashMap,
    fs::{self, DirBuilder, File, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
};

use model::{ObjectKey, Outcome};
use ports::{ObjectError, Source};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::{objects::FolderObjects, store::Durability};

/// The file's name.
const FILE: &str = "outcomes.jsonl";

/// How many runs' files are kept open.
const OPEN: usize = 16;

#[derive(Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
enum Line<'a> {
    /// The attempt is being carried out; there is one claim for each attempt, ever.
    Claimed { attempt: &'a str },
    /// Nothing ran: the attempt may be claimed again.
    Released { attempt: &'a str },
    /// The attempt is over.
    Ended { attempt: &'a str, outcome: &'a Outcome },
    /// The attempt is over; its outcome is a file of its own.
    EndedWithArtifacts { attempt: &'a str },
}

/// A line as it is read: lines of a kind that is not known, and torn ones, are none.
#[derive(Deserialize)]
struct Read<'a> {
    event: Event,
    attempt: &'a str,
    #[serde(borrow)]
    outcome: Option<&'a RawValue>,
}

#[derive(Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum Event {
    Claimed,
    Released,
    Ended,
    EndedWithArtifacts,
}

/// What the file says of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// Never claimed.
    Unknown,
    /// Claimed, and not over as far as anybody wrote.
    Claimed,
    /// Over.
    Ended,
}

/// The files of the runs in hand. For the one process that carries attempts out.
pub(crate) struct Outcomes {
    root: PathBuf,
    objects: FolderObjects,
    runs: HashMap<PathBuf, RunFile>,
}

struct RunFile {
    file: File,
    standings: HashMap<String, Standing>,
    /// The last write may have left half a line.
    torn: bool,
}

impl Outcomes {
    /// The outcomes in the folder of objects `root`. None is forced to the disk: one lost with the machine's power is an attempt that is
    /// lost and retried, never a false success.
    pub(crate) fn open(root: &Path) -> io::Result<Outcomes> {
        let objects = FolderObjects::open_with(root, Durability::Normal)?;
        Ok(Outcomes { root: root.to_owned(), objects, runs: HashMap::new() })
    }

    /// Claims the attempt. False where it was claimed before, whatever became of it.
    pub(crate) fn claim(&mut self, key: &ObjectKey) -> io::Result<bool> {
        let (run, attempt) = self.run(key)?;
        if run.standings.contains_key(&attempt) {
            return Ok(false);
        }
        run.append(&Line::Claimed { attempt: &attempt })?;
        run.standings.insert(attempt, Standing::Claimed);
        Ok(true)
    }

    /// Takes the claim back: nothing ran.
    pub(crate) fn release(&mut self, key: &ObjectKey) -> io::Result<()> {
        let (run, attempt) = self.run(key)?;
        run.append(&Line::Released { attempt: &attempt })?;
        run.standings.remove(&attempt);
        Ok(())
    }

    /// Writes the outcome; from here on it is what can be seen of the attempt.
    pub(crate) fn conclude(&mut self, key: &ObjectKey, outcome: &Outcome) -> io::Result<()> {
        let published = !outcome.artifacts.is_empty();
        if published {
            let content = serde_json::to_vec(outcome).map_err(io::Error::from)?;
            self.objects.publish(&key.outcome(), &Source::Bytes(content)).map_err(io::Error::other)?;
        }
        let (run, attempt) = self.run(key)?;
        let line =
            if published { Line::EndedWithArtifacts { attempt: &attempt } } else { Line::Ended { attempt: &attempt, outcome } };
        run.append(&line)?;
        run.standings.insert(attempt, Standing::Ended);
        Ok(())
    }

    /// How the attempt stands, and its outcome where it is over and can be read.
    pub(crate) fn find(&mut self, key: &ObjectKey) -> io::Result<(Standing, Option<Outcome>)> {
        let standing = {
            let (run, attempt) = self.run(key)?;
            run.standings.get(&attempt).copied().unwrap_or(Standing::Unknown)
        };
        let content = match standing {
            Standing::Unknown | Standing::Claimed => None,
            Standing::Ended => match self.objects.read(&key.outcome()) {
                Ok(content) => Some(content),
                Err(ObjectError::NotFound(_)) => None,
                Err(error) => return Err(io::Error::other(error)),
            },
        };
        Ok((standing, content.and_then(|content| serde_json::from_slice(&content).ok())))
    }

    /// The file of the attempt's run, and the attempt's name in it.
    fn run(&mut self, key: &ObjectKey) -> io::Result<(&mut RunFile, String)> {
        let path = self.root.join(key.as_str());
        let (Some(folder), Some(attempt)) = (path.parent(), path.file_name().and_then(|name| name.to_str())) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        if !self.runs.contains_key(folder) {
            if self.runs.len() >= OPEN {
                self.runs.clear();
            }
            self.runs.insert(folder.to_owned(), RunFile::open(folder)?);
        }
        let run = self.runs.get_mut(folder).ok_or(io::ErrorKind::NotFound)?;
        Ok((run, attempt.to_owned()))
    }
}

impl RunFile {
    fn open(folder: &Path) -> io::Result<RunFile> {
        let path = folder.join(FILE);
        let open = || OpenOptions::new().append(true).create(true).mode(0o600).open(&path);
        let file = match open() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
                open()?
            }
            opened => opened?,
        };
        let content = fs::read(&path)?;
        let mut standings = HashMap::new();
        for line in lines(&content) {
            match line.event {
                Event::Claimed => drop(standings.insert(line.attempt.to_owned(), Standing::Claimed)),
                Event::Released => drop(standings.remove(line.attempt)),
                Event::Ended | Event::EndedWithArtifacts => drop(standings.insert(line.attempt.to_owned(), Standing::Ended)),
            }
        }
        Ok(RunFile { file, standings, torn: content.last().is_some_and(|last| *last != b'\n') })
    }

    /// One write for a line, so that a process that dies leaves a whole one or none.
    fn append(&mut self, line: &Line<'_>) -> io::Result<()> {
        let mut text = if self.torn { vec![b'\n'] } else { Vec::new() };
        serde_json::to_writer(&mut text, line).map_err(io::Error::from)?;
        text.push(b'\n');
        self.torn = true;
        self.file.write_all(&text)?;
        self.torn = false;
        Ok(())
    }
}

fn lines(content: &[u8]) -> impl Iterator<Item = Read<'_>> {
    content.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok())
}

/// The file that may hold the outcome `key` as a line, and the name of its attempt there. `None` where the key is of no outcome.
pub(crate) fn packed_as(key: &ObjectKey) -> Option<(ObjectKey, &str)> {
    let (folder, name) = key.as_str().rsplit_once('/')?;
    let attempt = name.strip_suffix(".outcome.json")?;
    Some((format!("{folder}/{FILE}").parse().ok()?, attempt))
}

/// The outcome of `attempt` among the lines of a run's file.
pub(crate) fn unpack(content: &[u8], attempt: &str) -> Option<Vec<u8>> {
    // Most lines are of other attempts: only those that begin like the one looked for are parsed.
    let begins = format!("{{\"event\":\"ended\",\"attempt\":\"{attempt}\",");
    let line = content.split(|byte| *byte == b'\n').rfind(|line| line.starts_with(begins.as_bytes()))?;
    let outcome = serde_json::from_slice::<Read<'_>>(line).ok()?.outcome?;
    Some(outcome.get().as_bytes().to_vec())
}

#[cfg(test)]
mod tests {
    use std::str::FromStr as _;

    use model::{Ended, ExecutionId, LogSummary, RunId, Scope, Timestamp};

    use super::*;

    fn key(item: u32) -> ObjectKey {
        ObjectKey::attempt(&Scope::local(), ExecutionId { run: RunId::from_bits(1), item }, 1)
    }

    fn outcome(item: u32, code: u8) -> Outcome {
        Outcome {
            contract: model::CURRENT_CONTRACT,
            execution: ExecutionId { run: RunId::from_bits(1), item },
            attempt: 1,
            ended: Ended::Exited { code },
            stopped: None,
            out_of_memory: None,
            process: None,
            started_at: None,
            ended_at: Timestamp::from_str("2013-02-05T06:00:00Z").unwrap(),
            usage: None,
            log: LogSummary::default(),
            artifacts: Vec::new(),
            verdict: None,
            findings: Vec::new(),
            quality_fails: false,
            strays: Vec::new(),
            problems: vec!["a line\nof two".to_owned()],
            publish_failed: false,
        }
    }

    #[test]
    fn an_attempt_is_claimed_once_also_by_a_later_process() {
        let folder = tempfile::tempdir().unwrap();
        let mut first = Outcomes::open(folder.path()).unwrap();
        assert!(first.claim(&key(1)).unwrap() && first.claim(&key(2)).unwrap() && first.claim(&key(3)).unwrap());
        assert!(!first.claim(&key(1)).unwrap());
        first.conclude(&key(1), &outcome(1, 7)).unwrap();
        first.release(&key(3)).unwrap();
        let mut second = Outcomes::open(folder.path()).unwrap();
        assert_eq!(second.find(&key(1)).unwrap(), (Standing::Ended, Some(outcome(1, 7))));
        assert_eq!(second.find(&key(2)).unwrap(), (Standing::Claimed, None));
        assert_eq!(second.find(&key(3)).unwrap(), (Standing::Unknown, None));
        assert!(!second.claim(&key(1)).unwrap() && !second.claim(&key(2)).unwrap() && second.claim(&key(3)).unwrap());
    }

    #[test]
    fn a_torn_line_is_no_outcome_and_spoils_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let mut outcomes = Outcomes::open(folder.path()).unwrap();
        for item in [1, 11] {
            outcomes.claim(&key(item)).unwrap();
        }
        outcomes.conclude(&key(11), &outcome(11, 0)).unwrap();
        drop(outcomes);
        let file = folder.path().join(key(1).as_str()).with_file_name(FILE);
        let whole = fs::read_to_string(&file).unwrap();
        fs::write(&file, format!("{whole}{{\"event\":\"ended\",\"attempt\":\"1-1\",\"outc")).unwrap();
        let mut outcomes = Outcomes::open(folder.path()).unwrap();
        assert_eq!(outcomes.find(&key(1)).unwrap(), (Standing::Claimed, None));
        outcomes.conclude(&key(1), &outcome(1, 3)).unwrap();
        let objects = FolderObjects::open(folder.path()).unwrap();
        let content = objects.read(&key(1).outcome()).unwrap();
        assert_eq!(serde_json::from_slice::<Outcome>(&content).unwrap(), outcome(1, 3));
        assert_eq!(objects.read_range(&key(1).outcome(), 2, 8).unwrap(), content[2..10]);
        assert_eq!(objects.read_range(&key(1).outcome(), 1 << 20, 8).unwrap(), b"");
        assert_eq!(Outcomes::open(folder.path()).unwrap().find(&key(11)).unwrap().1, Some(outcome(11, 0)));
    }

    #[test]
    fn an_outcome_beside_artifacts_is_private_and_nothing_stands_in_its_way() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let mut outcomes = Outcomes::open(folder.path()).unwrap();
        outcomes.claim(&key(1)).unwrap();
        let file = folder.path().join(key(1).outcome().as_str());
        // What a former process left under any name but the outcome's own is in nobody's way.
        fs::create_dir(file.with_extension("json.part")).unwrap();
        let summary = "1 byte".to_owned();
        let artifact = model::ArtifactRecord {
            path: "x".to_owned(),
            key: key(1).artifact("x").unwrap(),
            bytes: 1,
            sha256: model::Digest::of(b"x"),
            rows: None,
            verdict: model::Verdict::Pass,
            signals: key(1).signals("x").unwrap(),
            summary,
        };
        let outcome = Outcome { artifacts: vec![artifact], ..outcome(1, 0) };
        outcomes.conclude(&key(1), &outcome).unwrap();
        assert_eq!(outcomes.find(&key(1)).unwrap(), (Standing::Ended, Some(outcome)));
        for name in [file.clone(), file.with_file_name(FILE)] {
            let mode = fs::metadata(&name).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "{}", name.display());
        }
    }
}
