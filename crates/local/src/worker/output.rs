//! What is in an output folder: files to publish, and what cannot be published.

use std::{
    fs::{self, FileType},
    io::{self, Read},
    os::unix::fs::FileTypeExt,
    path::{Path, PathBuf},
};

use model::ObjectKey;
use serde_json::Value;

/// The folder for what the unit tells of itself; never published as such.
const OWN: &str = ".muster";
/// The most of the unit's own metrics.
const MOST_METRICS: u64 = 64 << 10;
/// The longest name in a folder is 255 bytes, and a signals document is named after its artifact.
const LONGEST_NAME: usize = 255 - ".quality.json".len();

/// A file to publish.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct OutputFile {
    /// Below the output folder, `/` between parts.
    pub(crate) path: String,
    pub(crate) key: ObjectKey,
    pub(crate) signals: ObjectKey,
}

/// All of an output folder.
#[derive(Debug, Default)]
pub(crate) struct Output {
    /// Sorted by path.
    pub(crate) files: Vec<OutputFile>,
    /// What cannot be published, in sentences.
    pub(crate) findings: Vec<String>,
    /// The unit's own metrics.
    pub(crate) metrics: Option<Value>,
}

/// Looks through the output folder `out` of the attempt whose folder of objects is `key`. Links are not followed.
pub(crate) fn walk(out: &Path, key: &ObjectKey) -> io::Result<Output> {
    let mut output = Output::default();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(out.join(&folder))? {
            let entry = entry?;
            let below = folder.join(entry.file_name());
            let kind = entry.file_type()?;
            if below == Path::new(OWN) && kind.is_dir() {
                continue;
            }
            if kind.is_dir() {
                folders.push(below);
            } else if kind.is_file() {
                match named(&below, key) {
                    Ok(file) => output.files.push(file),
                    Err(why) => output.findings.push(unpublished(&below, why)),
                }
            } else {
                output.findings.push(unpublished(&below, what(kind)));
            }
        }
    }
    output.files.sort_by(|one, other| one.path.cmp(&other.path));
    output.findings.sort();
    match metrics(&out.join(OWN).join("metrics.json")) {
        Ok(metrics) => output.metrics = metrics,
        Err(why) => output.findings.push(format!("{OWN}/metrics.json was ignored: {why}")),
    }
    Ok(output)
}

fn named(below: &Path, key: &ObjectKey) -> Result<OutputFile, &'static str> {
    let path = below.to_str().ok_or("its name is not UTF-8")?;
    if path.chars().any(char::is_control) {
        return Err("its name holds a control character");
    }
    if path.split('/').any(|part| part.len() > LONGEST_NAME) {
        return Err("its name is longer than 242 bytes");
    }
    let too_long = "its path is too long: with the attempt's folder it takes more than 1,024 bytes";
    let signals = key.signals(path).map_err(|_| too_long)?;
    Ok(OutputFile { key: key.artifact(path).map_err(|_| too_long)?, signals, path: path.to_owned() })
}

fn what(kind: FileType) -> &'static str {
    if kind.is_symlink() {
        "it is a symbolic link"
    } else if kind.is_fifo() {
        "it is a named pipe"
    } else if kind.is_socket() {
        "it is a socket"
    } else {
        "it is a device"
    }
}

fn unpublished(below: &Path, why: &str) -> String {
    // Debug form: a name may hold anything, and a finding is one line.
    let shown = format!("{:?}", below.as_os_str());
    let shown: String =
        if shown.chars().count() > 200 { shown.chars().take(200).chain("…\"".chars()).collect() } else { shown };
    format!("{shown} was not published: {why}")
}

fn metrics(path: &Path) -> Result<Option<Value>, String> {
    let found = match fs::symlink_metadata(path) {
        Err(_) => return Ok(None),
        Ok(found) => found,
    };
    if !found.is_file() {
        return Err("it is not a file".to_owned());
    }
    let mut content = Vec::new();
    let file = fs::File::open(path).map_err(|error| error.to_string())?;
    file.take(MOST_METRICS + 1).read_to_end(&mut content).map_err(|error| error.to_string())?;
    if content.len() as u64 > MOST_METRICS {
        return Err("it is larger than 64 KiB".to_owned());
    }
    match serde_json::from_slice(&content) {
        Ok(Value::Object(metrics)) => Ok(Some(Value::Object(metrics))),
        Ok(_) => Err("it is not a JSON object".to_owned()),
        Err(error) => Err(format!("it is not JSON: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt};

    use super::*;

    fn key() -> ObjectKey {
        "local/local/default/runs/run_x/3-1".parse().unwrap()
    }

    #[test]
    fn files_are_found_and_everything_else_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path();
        fs::create_dir_all(out.join("by day/deep")).unwrap();
        let names = ["prices.csv", "by day/é.csv", "by day/deep/x", "-rf", ".hidden", "a\\b", "\"quoted\""];
        for name in names {
            fs::write(out.join(name), "x").unwrap();
        }
        std::os::unix::fs::symlink("/etc/passwd", out.join("link")).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, out.join("pipe"), rustix::fs::Mode::RWXU).unwrap();
        fs::write(out.join(OsStr::from_bytes(b"bad\xff")), "x").unwrap();
        fs::write(out.join("new\nline"), "x").unwrap();
        fs::write(out.join("n".repeat(250)), "x").unwrap();
        let long: PathBuf = std::iter::repeat_n("d".repeat(200), 5).collect();
        fs::create_dir_all(out.join(&long)).unwrap();
        fs::write(out.join(&long).join("far"), "x").unwrap();

        let output = walk(out, &key()).unwrap();
        let mut wanted = names.to_vec();
        wanted.sort_unstable();
        assert_eq!(output.files.iter().map(|file| file.path.as_str()).collect::<Vec<_>>(), wanted);
        assert_eq!(output.files[0].signals.as_str(), format!("{}/signals/\"quoted\".quality.json", key()));
        let all = output.findings.join("\n");
        for words in [
            "\"link\" was not published: it is a symbolic link",
            "\"pipe\" was not published: it is a named pipe",
            "\"bad\\xFF\" was not published: its name is not UTF-8",
            "\"new\\nline\" was not published: its name holds a control character",
            "was not published: its name is longer than 242 bytes",
            "was not published: its path is too long",
        ] {
            assert!(all.contains(words), "{words:?} is not in\n{all}");
        }
        assert_eq!(output.findings.len(), 6);
    }

    #[test]
    fn metrics_are_an_object_of_bounded_size() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join(OWN)).unwrap();
        let file = folder.path().join(OWN).join("metrics.json");
        let large = format!("{{\"k\":\"{}\"}}", "x".repeat(64 << 10));
        for (content, words) in [("[1]", "not a JSON object"), ("{", "not JSON"), (large.as_str(), "larger than 64 KiB")] {
            fs::write(&file, content).unwrap();
            let output = walk(folder.path(), &key()).unwrap();
            assert!(output.metrics.is_none() && output.findings[0].contains(words), "{:?}", output.findings);
        }
        fs::write(&file, "{\"rows\": 5}").unwrap();
        let output = walk(folder.path(), &key()).unwrap();
        assert_eq!(output.metrics, Some(serde_json::json!({"rows": 5})));
        assert!(output.findings.is_empty() && output.files.is_empty());
    }
}
