//! The walk over a fleet folder.

use std::{
    collections::HashSet,
    fs::{self, File},
    io::{self, Read as _},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use model::Problem;

/// A file that may hold manifests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FleetFile {
    /// Relative to the fleet folder, `/` between parts.
    pub path: String,
    /// Absolute folder of the file: what a relative `location` is relative to.
    pub folder: PathBuf,
    /// Its text.
    pub text: String,
}

/// Folders that never hold manifests, beside the hidden ones.
const SKIPPED: [&str; 4] = ["data", "node_modules", "__pycache__", "target"];
/// A folder that holds this file is left out, with everything below it.
const IGNORE: &str = ".musterignore";
const ENDINGS: [&str; 3] = ["yaml", "yml", "json"];
/// The largest file that is read, in bytes. No manifest that a person wrote comes near.
const LARGEST: u64 = 1 << 20;

/// Reads every `*.yaml`, `*.yml` and `*.json` of the fleet folder, in the order of their paths.
///
/// Left out: hidden files and folders, `data`, `node_modules`, `__pycache__`, `target`, and folders that hold a
/// `.musterignore`. Symbolic links are followed; a folder that can be reached in several ways is read once.
///
/// # Errors
/// Every folder and file that could not be read, all at once.
pub fn read_fleet(folder: &Path) -> Result<Vec<FleetFile>, Vec<Problem>> {
    let mut walk = Walk::default();
    match fs::canonicalize(folder) {
        Ok(root) => walk.folder(&root, ""),
        Err(error) => walk.unreadable("", "folder", &folder.display().to_string(), &error),
    }
    if walk.problems.is_empty() { Ok(walk.files) } else { Err(walk.problems) }
}

/// What the walk has seen so far.
#[derive(Default)]
struct Walk {
    files: Vec<FleetFile>,
    problems: Vec<Problem>,
    /// Device and number of each folder read, so that a loop of links ends.
    seen: HashSet<(u64, u64)>,
}

impl Walk {
    /// Reads what lies in `folder`, whose path in the fleet is `prefix` (empty, or ending in `/`).
    fn folder(&mut self, folder: &Path, prefix: &str) {
        let names = match self.names(folder) {
            Ok(names) => names,
            Err(error) => return self.unreadable(prefix.trim_end_matches('/'), "folder", prefix, &error),
        };
        if names.iter().any(|name| name == IGNORE) {
            return;
        }
        for name in names.into_iter().filter(|name| !name.starts_with('.')) {
            let (place, path) = (folder.join(&name), format!("{prefix}{name}"));
            let is_manifest = Path::new(&name).extension().is_some_and(|ending| ENDINGS.iter().any(|known| ending == *known));
            match fs::metadata(&place) {
                Ok(found) if found.is_dir() && SKIPPED.contains(&name.as_str()) => {}
                Ok(found) if found.is_dir() => self.folder(&place, &format!("{path}/")),
                Ok(found) if found.is_file() && is_manifest => self.file(folder, &place, path, found.len()),
                // A link that leads nowhere matters only where its name promises a manifest.
                Err(error) if is_manifest => self.unreadable(&path, "file", &path, &error),
                Ok(_) | Err(_) => {}
            }
        }
    }

    /// The names in a folder, sorted; none where the folder has been read already. A name that is not text cannot be a manifest's.
    fn names(&mut self, folder: &Path) -> io::Result<Vec<String>> {
        let itself = fs::metadata(folder)?;
        if !self.seen.insert((itself.dev(), itself.ino())) {
            return Ok(Vec::new());
        }
        let mut names = Vec::new();
        for entry in fs::read_dir(folder)? {
            names.extend(entry?.file_name().into_string().ok());
        }
        names.sort_unstable();
        Ok(names)
    }

    fn file(&mut self, folder: &Path, place: &Path, path: String, size: u64) {
        if size > LARGEST {
            return self.problems.push(Problem {
                hint: Some(format!("Where it is data: move it to a folder `data`, or put an empty {IGNORE} beside it.")),
                ..problem(&path, "E-TOO-LARGE", format!("the file has {size} bytes; a manifest has at most {LARGEST}"))
            });
        }
        // One byte more than allowed shows that it has grown since.
        let mut bytes = Vec::new();
        match File::open(place).and_then(|file| file.take(LARGEST + 1).read_to_end(&mut bytes)) {
            Ok(_) => {}
            Err(error) => return self.unreadable(&path, "file", &path, &error),
        }
        match String::from_utf8(bytes) {
            Ok(text) => self.files.push(FleetFile { path, folder: folder.to_owned(), text }),
            Err(error) => {
                let good = error.utf8_error().valid_up_to();
                let before = &error.as_bytes()[..good];
                let line_start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
                let characters = String::from_utf8_lossy(&before[line_start..]).chars().count();
                self.problems.push(Problem {
                    line: count(before.iter().filter(|byte| **byte == b'\n').count()),
                    column: count(characters),
                    hint: Some("Save it as UTF-8.".to_owned()),
                    ..problem(&path, "E-NOT-UTF8", format!("byte {:#04x} is not UTF-8", error.as_bytes()[good]))
                });
            }
        }
    }

    fn unreadable(&mut self, path: &str, what: &str, shown: &str, error: &io::Error) {
        let shown = if shown.is_empty() { "." } else { shown };
        self.problems.push(problem(path, "E-UNREADABLE", format!("could not read {what} {shown}: {error}")));
    }
}

fn problem(path: &str, code: &str, message: String) -> Problem {
    Problem { file: path.to_owned(), line: 1, column: 1, code: code.to_owned(), message, hint: None }
}

/// A position counted from 1.
fn count(before: usize) -> u32 {
    u32::try_from(before + 1).expect("a file of one mebibyte has fewer lines and columns")
}
