//! Judges and publishes what a program left in its output folder.

use std::{
    error::Error,
    fs::File,
    io::{self, Read},
    os::fd::{AsRawFd as _, OwnedFd},
    path::{Path, PathBuf},
    sync::Arc,
};

use model::{ArtifactRecord, ArtifactRule, Assignment, ObjectKey, OnFail, Timestamp, Verdict};
use ports::{Objects, Source};
use rustix::fs::{CWD, Mode, OFlags, openat};
use serde::Serialize;
use serde_json::Value;
use signals::{Document, Options, Origin, Rules};

use super::{
    glob,
    mask::{Masks, Search},
    output::{Output, walk},
};

/// What to publish, and how to judge it.
pub(crate) struct Job {
    pub(crate) assignment: Assignment,
    /// The output folder.
    pub(crate) out: Out,
    /// The folder of the attempt in the object store.
    pub(crate) key: ObjectKey,
    /// The same folder on disk, to take back what was published by halves.
    pub(crate) folder: PathBuf,
    pub(crate) masks: Option<Arc<Masks>>,
    pub(crate) now: Timestamp,
}

/// An output folder, held open: whatever a unit put in place of its path, this is the folder that was made for it.
pub(crate) struct Out {
    folder: OwnedFd,
}

impl Out {
    pub(crate) fn new(folder: OwnedFd) -> Out {
        Out { folder }
    }

    /// A path that leads to the open folder itself, not to what bears its name now.
    pub(crate) fn path(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.folder.as_raw_fd()))
    }
}

/// What became of the output.
#[derive(Debug, Default)]
pub(crate) struct Publication {
    pub(crate) artifacts: Vec<ArtifactRecord>,
    pub(crate) verdict: Option<Verdict>,
    pub(crate) findings: Vec<String>,
    pub(crate) quality_fails: bool,
    pub(crate) problems: Vec<String>,
    pub(crate) failed: bool,
}

impl Publication {
    /// Nothing was published, and why.
    pub(crate) fn failed(problem: String) -> Publication {
        Publication { failed: true, problems: vec![problem], ..Publication::default() }
    }
}

/// The list of artifacts, published last: an artifact without it is half an output.
#[derive(Serialize)]
struct Manifest<'a> {
    contract: u32,
    scope: &'a model::Scope,
    unit: &'a model::UnitName,
    execution: model::ExecutionId,
    attempt: u32,
    slot: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<u64>,
    published_at: Timestamp,
    artifacts: &'a [ArtifactRecord],
    /// The unit's own metrics.
    #[serde(skip_serializing_if = "Option::is_none")]
    metrics: Option<&'a Value>,
}

/// Judges every file of the output folder and publishes all of them, or none.
pub(crate) async fn publish(job: &Job, objects: &dyn Objects) -> Publication {
    let mut output = match walk(&job.out.path(), &job.key) {
        Ok(output) => output,
        Err(error) => return Publication::failed(format!("the output folder could not be read: {error}")),
    };
    let mut judged = Judged::default();
    judged.absent(job, &output);
    for finding in &output.findings {
        judged.note(Verdict::Warn, finding.clone());
    }
    if let (Some(masks), Some(metrics)) = (&job.masks, &mut output.metrics) {
        for name in masks.json(metrics) {
            judged.note(Verdict::Warn, format!("the unit's own metrics held the value of secret {name}: it was masked"));
        }
    }
    let mut artifacts = Vec::new();
    let mut sources = Vec::new();
    for file in &output.files {
        match judge(job, objects, file, &mut judged).await {
            Ok((record, document)) => {
                sources.push((record.signals.clone(), Source::Bytes(document)));
                sources.push((record.key.clone(), Source::File(job.out.path().join(&file.path))));
                artifacts.push(record);
            }
            Err(error) => return Publication::failed(format!("`{}` could not be judged: {error}", file.path.escape_debug())),
        }
    }
    if !artifacts.is_empty() || output.metrics.is_some() {
        let manifest = manifest(job, &artifacts, output.metrics.as_ref());
        sources.push((job.key.manifest(), Source::Bytes(manifest)));
    }
    for (key, source) in sources {
        if let Err(error) = objects.put(&key, source).await {
            take_back(&job.folder);
            return Publication::failed(format!("the output could not be published: {}", chain(&error)));
        }
    }
    judged.publication(artifacts, job.masks.as_deref())
}

/// A file to publish: its rule and what judging it needs.
async fn judge(
    job: &Job,
    objects: &dyn Objects,
    file: &super::output::OutputFile,
    judged: &mut Judged,
) -> Result<(ArtifactRecord, Vec<u8>), Box<dyn Error + Send + Sync>> {
    let assignment = &job.assignment;
    let rule = assignment.artifacts.iter().find(|rule| glob::matches(&rule.path, &file.path));
    let rules = rule
        .map_or_else(|| Ok(Rules::default()), Rules::try_from)
        .map_err(|bad| format!("its checks cannot be understood: {bad:?}"))?;
    let previous = previous(job, objects, &file.path, judged).await;
    let opened =
        openat(CWD, job.out.path().join(&file.path), OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?;
    let opened = File::from(opened);
    let written_at = opened.metadata()?.modified().ok().and_then(|time| Timestamp::try_from(time).ok());
    let mut reader = Watched { file: opened, search: job.masks.as_ref().map(|masks| masks.search()) };
    let profile = signals::profile(&mut reader, &file.path, &Options::for_rules(&rules), job.now);
    let origin = Origin {
        unit: Some(assignment.unit.to_string()),
        run: Some(assignment.execution.run.to_string()),
        attempt: Some(assignment.attempt),
        slot: Some(assignment.slot),
        written_at,
    };
    let mut document = Document::new(profile, origin).judge(&rules, previous.as_ref(), job.now);
    for check in document.checks.iter().filter(|check| check.verdict >= Verdict::Warn) {
        judged.note(check.verdict, format!("{}: {}", file.path, check.message));
    }
    let leaked: Vec<&str> = reader.search.iter().flat_map(Search::names).collect();
    for name in &leaked {
        judged.note(Verdict::Fail, format!("{}: artifact contains the value of secret {name}", file.path));
        document.verdict = document.verdict.max(Verdict::Fail);
    }
    judged.verdict(document.verdict, rule);
    let (summary, shown) = match &job.masks {
        None => (document.summary(), serde_json::to_vec(&document)?),
        Some(masks) => {
            let mut shown = serde_json::to_value(&document)?;
            // A value may stand in the file in a form that only reading it as a table undoes.
            for name in masks.json(&mut shown).into_iter().filter(|name| !leaked.contains(name)) {
                let sentence = format!("{}: its quality document held the value of secret {name}: it was masked", file.path);
                judged.note(Verdict::Warn, sentence);
            }
            (masks.text(&document.summary()), serde_json::to_vec(&shown)?)
        }
    };
    let record = ArtifactRecord {
        path: file.path.clone(),
        key: file.key.clone(),
        bytes: document.artifact.bytes,
        sha256: document.artifact.sha256.parse()?,
        rows: document.rows(),
        verdict: document.verdict,
        signals: file.signals.clone(),
        summary,
    };
    Ok((record, shown))
}

/// The document of the same artifact in the last accepted run. One that cannot be read is said and does not hinder.
async fn previous(job: &Job, objects: &dyn Objects, path: &str, judged: &mut Judged) -> Option<Document> {
    let baseline = job.assignment.baselines.iter().find(|baseline| baseline.path == path)?;
    let read = match objects.get(&baseline.key).await {
        Ok(content) => serde_json::from_slice(&content).map_err(|error| error.to_string()),
        Err(error) => Err(chain(&error)),
    };
    read.inspect_err(|error| judged.problems.push(format!("{path} was not compared with the last accepted run: {error}"))).ok()
}

fn manifest(job: &Job, artifacts: &[ArtifactRecord], metrics: Option<&Value>) -> Vec<u8> {
    let assignment = &job.assignment;
    let manifest = Manifest {
        contract: model::CURRENT_CONTRACT,
        scope: &assignment.scope,
        unit: &assignment.unit,
        execution: assignment.execution,
        attempt: assignment.attempt,
        slot: assignment.slot,
        limit: assignment.limit,
        published_at: job.now,
        artifacts,
        metrics,
    };
    serde_json::to_vec(&manifest).expect("a manifest is JSON: its maps have text keys")
}

/// Removes what was published of an output that is not whole. What cannot be removed has no manifest: nobody takes it for an output.
fn take_back(folder: &Path) {
    for part in ["manifest.json", "artifacts", "signals"] {
        drop(super::workspace::remove(&folder.join(part)));
    }
}

/// What was found on the way.
#[derive(Default)]
struct Judged {
    notes: Vec<(Verdict, String)>,
    worst: Option<Verdict>,
    quality_fails: bool,
    problems: Vec<String>,
}

impl Judged {
    fn note(&mut self, verdict: Verdict, sentence: String) {
        self.notes.push((verdict, sentence));
    }

    fn verdict(&mut self, verdict: Verdict, rule: Option<&ArtifactRule>) {
        self.worst = self.worst.max(Some(verdict));
        self.quality_fails |= verdict >= Verdict::Fail && rule.is_some_and(|rule| rule.on_fail == OnFail::Fail);
    }

    /// Rules whose file is not there.
    fn absent(&mut self, job: &Job, output: &Output) {
        for rule in job.assignment.artifacts.iter().filter(|rule| !rule.optional) {
            if !output.files.iter().any(|file| glob::matches(&rule.path, &file.path)) {
                self.note(Verdict::Fail, format!("{}: not present: the unit wrote no file of that name", rule.path));
                self.verdict(Verdict::Fail, Some(rule));
            }
        }
    }

    fn publication(mut self, artifacts: Vec<ArtifactRecord>, masks: Option<&Masks>) -> Publication {
        self.notes.sort_by_key(|(verdict, _)| std::cmp::Reverse(*verdict));
        // A file that was left out makes the whole suspicious even where every file in it is good.
        let noted = self.notes.iter().map(|(verdict, _)| *verdict).max();
        let mut findings: Vec<String> = self.notes.into_iter().map(|(_, sentence)| sentence).collect();
        if let Some(masks) = masks {
            findings.iter_mut().chain(&mut self.problems).for_each(|text| *text = masks.text(text));
        }
        Publication {
            artifacts,
            verdict: self.worst.max(noted),
            findings,
            quality_fails: self.quality_fails,
            problems: self.problems,
            failed: false,
        }
    }
}

/// A file that is searched for secrets while it is read.
struct Watched<'a> {
    file: File,
    search: Option<Search<'a>>,
}

impl Read for Watched<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.file.read(buffer)?;
        if let Some(search) = &mut self.search {
            search.push(&buffer[..length]);
        }
        Ok(length)
    }
}

/// An error and its causes in one line.
pub(crate) fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_told_with_its_causes() {
        let key: ObjectKey = "a/b".parse().unwrap();
        let error = ports::ObjectError::Full { key, source: Box::new(io::Error::from_raw_os_error(28)) };
        assert_eq!(
            chain(&error),
            "could not write object a/b: no space left on the device: No space left on device (os error 28)"
        );
    }
}
