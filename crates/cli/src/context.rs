//! What every command knows: whose work, which folders, the terminal.

use std::path::{Path, PathBuf};

use clap::{
    CommandFactory as _,
    error::{ContextKind, ErrorKind},
};
use local::home::SystemClock;
use model::{Kind, Scope, Timestamp};
use ports::Clock as _;

use crate::{
    args::{Arguments, Global},
    exit::Exit,
    failure::Failure,
    output::Format,
    screen::Screen,
};

/// What every command knows.
pub(crate) struct Context {
    pub screen: Screen,
    pub scope: Scope,
    /// The folder of the manifests.
    pub fleet: PathBuf,
    /// The folder of the state.
    pub home: PathBuf,
    /// Who asks.
    pub by: String,
    /// The arguments that a further command needs to mean the same place.
    place: String,
}

/// The fleet folder where none is named.
const USUAL_FLEET: &str = "fleet";
/// The home in a fleet folder.
const HOME: &str = ".muster";

impl Context {
    pub(crate) fn new(global: Global, screen: Screen) -> Context {
        let place = [("--fleet", &global.fleet), ("--home", &global.home)]
            .into_iter()
            .filter_map(|(flag, folder)| Some(format!(" {flag} {}", shell_word(&folder.as_ref()?.to_string_lossy()))))
            .collect();
        let usual = || if Path::new(USUAL_FLEET).is_dir() { USUAL_FLEET } else { "." }.into();
        let fleet: PathBuf = global.fleet.unwrap_or_else(usual);
        let home = global.home.unwrap_or_else(|| fleet.join(HOME));
        Context { screen, scope: global.scope, fleet, home, by: global.by, place }
    }

    pub(crate) fn now(&self) -> Timestamp {
        SystemClock.now()
    }

    /// A command line for this place.
    pub(crate) fn command(&self, words: &str) -> String {
        format!("muster {words}{}", self.place)
    }
}

/// `text` as a POSIX shell takes it for one word. For display: nothing of ours is ever given to a shell.
pub(crate) fn shell_word(text: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "_-./:=@%+,".contains(letter);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else if text.chars().any(char::is_control) {
        // $'…' is the one form in which a line break stays visible.
        let escaped = |letter: char| match letter {
            '\'' | '\\' => format!("\\{letter}"),
            '\n' => "\\n".to_owned(),
            '\t' => "\\t".to_owned(),
            letter if letter.is_control() => format!("\\u{:04x}", u32::from(letter)),
            letter => letter.to_string(),
        };
        format!("$'{}'", text.chars().map(escaped).collect::<String>())
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

/// Tells what is wrong with the arguments, or the help that was asked for.
pub(crate) fn usage(error: &clap::Error) -> Exit {
    let is_answer = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    match wanted_format(std::env::args()) {
        None if error.kind() == ErrorKind::MissingSubcommand => {
            write_error(&help_of(std::env::args()));
        }
        Some(format) if !is_answer => write_error(&as_failure(error).write(format, false)),
        Some(_) | None => drop(error.print()),
    }
    if is_answer { Exit::Ok } else { Exit::Invalid }
}

fn write_error(text: &str) {
    use std::io::Write as _;
    // There is nowhere left to say that stderr is broken.
    let _ = std::io::stderr().write_all(text.as_bytes());
}

/// The help of the command that the arguments name.
fn help_of(arguments: impl Iterator<Item = String>) -> String {
    let mut command = Arguments::command();
    command.build();
    for argument in arguments.skip(1) {
        if let Some(named) = command.find_subcommand(&argument) {
            command = named.clone();
        }
    }
    command.render_help().to_string()
}

/// The format that faulty arguments asked for, where a program reads it.
fn wanted_format(arguments: impl Iterator<Item = String>) -> Option<Format> {
    let mut before = String::new();
    for argument in arguments {
        let value = argument.strip_prefix("--output=").or_else(|| argument.strip_prefix("-o")).unwrap_or(&argument);
        let named = matches!(before.as_str(), "-o" | "--output") || value.len() < argument.len();
        match value {
            "--json" => return Some(Format::Json),
            "json" if named => return Some(Format::Json),
            "jsonl" if named => return Some(Format::Jsonl),
            "yaml" if named => return Some(Format::Yaml),
            _ => before = argument,
        }
    }
    None
}

fn as_failure(error: &clap::Error) -> Failure {
    let text = error.to_string();
    // Up to the first empty line it says what is wrong; what follows is usage.
    let lines: Vec<&str> = text.lines().map(str::trim).take_while(|line| !line.is_empty()).collect();
    let message = lines.join(" ").trim_start_matches("error: ").to_owned();
    let mut failure = Failure::new(Kind::Invalid, "E-U01", message);
    let suggestion = [ContextKind::SuggestedArg, ContextKind::SuggestedSubcommand, ContextKind::SuggestedValue]
        .into_iter()
        .find_map(|kind| error.get(kind));
    failure.fault.hint = suggestion.map(|suggestion| format!("Did you mean `{suggestion}`?"));
    failure
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_survives_the_shell() {
        assert_eq!(shell_word("--date=2013-02-08"), "--date=2013-02-08");
        assert_eq!(shell_word(""), "''");
        assert_eq!(shell_word("it's $HOME"), r"'it'\''s $HOME'");
        assert_eq!(shell_word("a\nb'é\\"), r"$'a\nb\'é\\'");
    }

    #[test]
    fn a_program_is_told_which_arguments_are_missing() {
        let error = <Arguments as clap::Parser>::try_parse_from(["muster", "runs", "cancel"]).unwrap_err();
        assert_eq!(as_failure(&error).fault.message, "the following required arguments were not provided: <RUN|EXECUTION>");
    }

    #[test]
    fn the_format_is_known_before_the_arguments_are() {
        let wanted = |line: &str| wanted_format(line.split(' ').map(str::to_owned));
        assert_eq!(wanted("muster runs lst -o json"), Some(Format::Json));
        assert_eq!(wanted("muster --output=yaml x"), Some(Format::Yaml));
        assert_eq!(wanted("muster -ojsonl x"), Some(Format::Jsonl));
        assert_eq!(wanted("muster run json -o table"), None);
    }
}
