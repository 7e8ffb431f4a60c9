//! A folder with a fleet, and the program run in it.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    time::{Duration, Instant},
};

use regex_lite::Regex;
use tempfile::TempDir;

/// How long anything may take that takes milliseconds.
const PATIENCE: Duration = Duration::from_secs(20);

/// A folder of its own for one story.
pub(crate) struct Place {
    folder: TempDir,
}

/// A unit that writes `<name>.begun` beside the fleet, then runs until `<name>.go` is there; after half a minute its story has failed.
pub(crate) fn waiting_unit(name: &str, more: &str) -> String {
    let script = format!(
        "touch ../{name}.begun; echo {name} begins; n=0; until [ -e ../{name}.go ] || [ $n = 3000 ]; do n=$((n+1)); sleep 0.01; done; echo {name} ends"
    );
    // The unit's working folder is a workspace; its own folder is known by a variable.
    format!("name: {name}\nrun: [sh, -c, 'cd \"$MUSTER_LOCATION\"; {script}']\n{more}---\n")
}

/// Two units and a tier; `second` needs `first`.
pub(crate) const SMALL: &str = r#"
name: first
description: Writes three rows.
tags: [daily, source]
run: [sh, -c, 'printf "id,price\n1,10\n2,20\n3,30\n" > "$MUSTER_OUT/prices.csv"; echo three rows']
tier: small
artifacts:
  - path: prices.csv
    key: [id]
    checks: ["rows >= 3", "unique(id)"]
---
name: second
description: Says what it got.
tags: [daily]
run: [echo, "{{ params.word }}", "{{ slot | date }}"]
tier: small
needs: [first]
parameters:
  word: { type: string, default: hello }
---
kind: tier
name: small
memory: 1GiB
capacity: 4
"#;

impl Place {
    /// With these files.
    pub(crate) fn with(files: &[(&str, &str)]) -> Place {
        let place = Place { folder: tempfile::tempdir().unwrap() };
        files.iter().for_each(|(path, text)| place.write(path, text));
        place
    }

    /// With one fleet of one manifest.
    pub(crate) fn fleet(manifest: &str) -> Place {
        Place::with(&[("fleet/units.yaml", manifest)])
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    /// The program with these arguments, ready to be started here.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_muster"));
        command.args(arguments).current_dir(self.folder.path()).stdin(Stdio::null()).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", self.folder.path()).env("TZ", "UTC").env("USER", "ada");
        command
    }

    pub(crate) fn output(&self, line: &str) -> Output {
        let words = words(line);
        self.command(&words.iter().map(String::as_str).collect::<Vec<_>>()).output().unwrap()
    }

    /// What a person at the keyboard would see, and the exit code.
    pub(crate) fn muster(&self, line: &str) -> String {
        let Output { status, stdout, stderr } = self.output(line);
        let mut text = format!("{}\n", format!("$ muster {line}").trim_end());
        text.push_str(&String::from_utf8_lossy(&stdout));
        for line in String::from_utf8_lossy(&stderr).lines() {
            text.push_str(&format!("{}\n", format!("! {line}").trim_end()));
        }
        if status.code() != Some(0) {
            text.push_str(&format!("exit {}\n", status.code().map_or("by a signal".to_owned(), |code| code.to_string())));
        }
        self.filtered(&text)
    }

    /// The id of the newest run.
    pub(crate) fn newest(&self) -> String {
        String::from_utf8(self.output("runs list -q --limit 1").stdout).unwrap().trim().to_owned()
    }

    /// Waits until a unit has made this file.
    pub(crate) fn until_there(&self, path: &str) {
        let begin = Instant::now();
        while !self.path(path).exists() {
            assert!(begin.elapsed() < PATIENCE, "{path} did not come");
            std::thread::park_timeout(Duration::from_millis(5));
        }
    }

    /// The text without what differs from run to run.
    pub(crate) fn filtered(&self, text: &str) -> String {
        let real = fs::canonicalize(self.folder.path()).unwrap();
        let mut text = text.replace(&real.display().to_string(), "<dir>");
        for (pattern, replacement) in [
            (r"run_[0-9a-z]{26}", "run_<id>"),
            (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)", "<instant>"),
            (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(Z|\+00:00)", "<date and time>"),
            (r"\b\d\d:\d\d:\d\d\b", "<time>"),
            (r"\b\d+\.\ds\b", "#.#s"),
            (r"\b\d+[smh] ago", "#s ago"),
            (r"process \d+", "process <pid>"),
            (r"\b\d+ MiB", "## MiB"),
        ] {
            text = Regex::new(pattern).unwrap().replace_all(&text, replacement).into_owned();
        }
        text
    }
}

/// Started, and its unit `slow` runs.
pub(crate) fn begun(place: &Place, arguments: &[&str]) -> Child {
    let child = place.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    place.until_there("slow.begun");
    child
}

/// What Ctrl-C does.
pub(crate) fn interrupt(child: &Child) {
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

/// Begins, and leaves once the unit runs.
pub(crate) fn left(place: &Place, arguments: &[&str]) {
    let child = begun(place, arguments);
    interrupt(&child);
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(130));
}

/// The path of the example fleet.
pub(crate) fn example_fleet() -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/fleet").canonicalize().unwrap().display().to_string()
}

/// Splits a line at blanks; single quotes keep a word together.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quoted) = (Vec::new(), None::<String>, false);
    for letter in line.chars() {
        match letter {
            '\'' => {
                quoted = !quoted;
                word.get_or_insert_default();
            }
            ' ' if !quoted => words.extend(word.take()),
            letter => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    words
}
