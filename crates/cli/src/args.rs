//! Every argument of every command.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use jiff::tz::TimeZone;
use model::{Scope, Span, TierName, Timestamp, UnitName};

use crate::output::Format;

/// Runs the programs that a folder of manifests declares, and says what became of them and of what they made.
#[derive(Debug, Parser)]
#[command(name = "muster", version, max_term_width = 100)]
#[command(after_long_help = "Examples:
  muster init fleet && muster run --all
  muster runs show

Exit codes: 0 ok, 1 the run failed, 2 wrong usage or manifests, 3 not found, 4 conflict or denied, 5 timed out or cancelled,
6 bad output (with --fail-on-quality), 7 a part that is needed does not answer, 130 interrupted.")]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub command: Command,
}

/// What every command takes.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Everywhere")]
pub(crate) struct Global {
    /// The folder of the manifests [default: ./fleet where it exists, else .]
    #[arg(long, global = true, env = "MUSTER_FLEET", value_name = "DIR", hide_env_values = true)]
    pub fleet: Option<PathBuf>,
    /// The folder that keeps all state [default: .muster in the fleet folder]
    #[arg(long, global = true, env = "MUSTER_HOME", value_name = "DIR", hide_env_values = true)]
    pub home: Option<PathBuf>,
    /// Whose work it is: tenant/organisation/project
    #[arg(
        long,
        global = true,
        env = "MUSTER_SCOPE",
        value_name = "SCOPE",
        hide_short_help = true,
        default_value = "local/local/default"
    )]
    #[arg(hide_env_values = true)]
    pub scope: Scope,
    /// How to write the data
    #[arg(short, long, global = true, value_enum, value_name = "FORMAT", default_value_t = Format::Table)]
    pub output: Format,
    /// The same as --output json
    #[arg(long, global = true, conflicts_with = "output")]
    pub json: bool,
    /// Leave out the headers of tables
    #[arg(long, global = true, hide_short_help = true)]
    pub no_headers: bool,
    /// Write ids or names only, one a line, and no progress
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// No colours; NO_COLOR does the same
    #[arg(long, global = true, hide_short_help = true, env = "NO_COLOR", value_parser = clap::builder::FalseyValueParser::new(), hide_env = true)]
    pub no_color: bool,
    /// Time zone in which times are shown, such as Europe/Paris [default: the machine's]
    #[arg(long, global = true, hide_short_help = true, value_name = "ZONE", value_parser = time_zone)]
    pub tz: Option<TimeZone>,
    /// What to log on stderr: error, warn, info, debug, trace, or a filter such as app=debug
    #[arg(long, global = true, hide_short_help = true, value_name = "LEVEL", default_value = "warn", hide_default_value = true)]
    pub log: String,
    /// Who asks; written beside cancellations and switches
    #[arg(long = "as", global = true, env = "USER", value_name = "NAME", default_value = "operator", hide = true)]
    pub by: String,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Run(Run),
    /// What can run
    #[command(subcommand)]
    Units(Units),
    /// Where it can run
    #[command(subcommand)]
    Tiers(Tiers),
    /// What ran, what runs, and what becomes of it
    #[command(subcommand)]
    Runs(Runs),
    Why(Why),
    Artifacts(Artifacts),
    Signals(Signals),
    Events(Events),
    Init(Init),
    /// Print the JSON Schema of manifests, for editors
    #[command(after_long_help = "Examples:
  muster schema > muster.schema.json
  muster schema -o yaml | less")]
    Schema,
    Completions(Completions),
    /// Print the version
    #[command(after_long_help = "Examples:
  muster version
  muster version --json")]
    Version,
    /// The process that owns the running units; started by the commands that need it
    #[command(hide = true)]
    Shim,
}

/// Run units and wait for them
///
/// Reads all manifests of the fleet folder, and starts nothing where one of them is wrong. The same command again takes an
/// interrupted run up where it was left. Ctrl-C leaves: what runs goes on, nothing further starts until somebody comes back.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  muster run departures --param airport=JFK --limit 200
  muster run --all --dry-run")]
pub(crate) struct Run {
    #[command(flatten)]
    pub what: What,
    /// Set a parameter of the units that declare it; may be repeated
    #[arg(long = "param", short = 'p', value_name = "NAME=VALUE", value_parser = parameter)]
    pub parameters: Vec<(String, String)>,
    #[command(flatten)]
    pub how: How,
    /// Use this tier instead of each unit's own
    #[arg(long, value_name = "TIER")]
    pub tier: Option<TierName>,
    /// Hand the units a cap on their scope (MUSTER_LIMIT); such a run never enters the baseline
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub limit: Option<u64>,
    /// The nominal time: a day, or a time with offset [default: now]
    #[arg(long, value_name = "TIME", value_parser = instant)]
    pub slot: Option<Timestamp>,
    /// Make the request once: the same key again is the same run
    #[arg(long, value_name = "KEY")]
    pub idempotency_key: Option<String>,
    /// Print exactly what would run, and run nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Start another run even where one of the same request was interrupted
    #[arg(long)]
    pub new: bool,
    /// Arguments appended to the unit's own, byte for byte
    #[arg(last = true, value_name = "ARGUMENT")]
    pub arguments: Vec<String>,
}

#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct What {
    /// The units to run
    #[arg(value_name = "UNIT")]
    pub units: Vec<UnitName>,
    /// Run every enabled unit
    #[arg(long)]
    pub all: bool,
    /// Run every enabled unit with this tag; may be repeated
    #[arg(long = "tag", value_name = "TAG")]
    pub tags: Vec<String>,
}

/// How a run goes about its items, and how long this command follows it.
#[derive(Debug, Args)]
pub(crate) struct How {
    /// Run at most so many items at once
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub concurrency: Option<u32>,
    /// Added to each unit's priority, from -100 to 100; higher starts first
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(i8).range(-100..=100))]
    pub priority: Option<i8>,
    #[command(flatten)]
    pub follow: Follow,
}

#[derive(Debug, Args)]
pub(crate) struct Follow {
    /// Exit with 6 where the run succeeds and its output is bad: verdict `fail`, or from `warn` on
    #[arg(long, value_name = "VERDICT", value_enum, num_args = 0..=1, require_equals = true, default_missing_value = "fail")]
    pub fail_on_quality: Option<FailOn>,
    /// Leave after this time, as Ctrl-C does, with exit code 5
    #[arg(long, value_name = "DURATION")]
    pub timeout: Option<Span>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    Warn,
    Fail,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Units {
    /// List the units of the fleet
    #[command(after_long_help = "Examples:
  muster units list
  muster units list --tag daily -o wide")]
    List {
        /// Only units with this tag
        #[arg(long, value_name = "TAG")]
        tag: Option<String>,
    },
    /// Show a unit, all of it
    #[command(after_long_help = "Examples:
  muster units show departures
  muster units show departures -o yaml")]
    Show {
        /// The unit
        unit: String,
    },
    /// Show how the manifests differ from what ran last
    #[command(after_long_help = "Examples:
  muster units diff
  muster units diff --json")]
    Diff,
    /// Let a unit start again
    #[command(after_long_help = "Examples:
  muster units enable quakes
  muster units enable quakes --json")]
    Enable {
        /// The unit
        unit: String,
    },
    /// Hold every new start of a unit, whatever its manifest says; what runs goes on
    #[command(after_long_help = "Examples:
  muster units disable quakes --note 'the feed is down'
  muster units disable quakes")]
    Disable {
        /// The unit
        unit: String,
        /// Why
        #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
        note: String,
    },
    /// Check all manifests and start nothing
    #[command(after_long_help = "Examples:
  muster units validate
  muster units validate --fleet examples/fleet --json")]
    Validate,
    /// List the revisions of a unit, newest first
    #[command(after_long_help = "Examples:
  muster units revisions departures
  muster units revisions departures --limit 3 --json")]
    Revisions {
        /// The unit
        unit: String,
        /// At most so many
        #[arg(long, value_name = "N", default_value_t = 20)]
        limit: usize,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Tiers {
    /// List the tiers of the fleet, and how this machine holds a unit to their bounds
    #[command(after_long_help = "Examples:
  muster tiers list
  muster tiers list -o yaml")]
    List,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Runs {
    List(ListRuns),
    Show(ShowRun),
    Watch(Watch),
    Logs(Logs),
    Cancel(Cancel),
    Retry(Retry),
}

/// List runs, newest first
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  muster runs list
  muster runs list --state failed --unit quakes --json")]
pub(crate) struct ListRuns {
    /// Only runs in this state; may be repeated
    #[arg(long = "state", value_enum, value_name = "STATE")]
    pub states: Vec<State>,
    /// Only runs that hold this unit
    #[arg(long, value_name = "UNIT")]
    pub unit: Option<UnitName>,
    /// At most so many
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub limit: usize,
    /// Only runs older than this one
    #[arg(long, value_name = "RUN")]
    pub before: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum State {
    Created,
    Started,
    Succeeded,
    Failed,
    Cancelled,
}

/// A run, or one of its executions.
#[derive(Debug, Clone, Args)]
pub(crate) struct Which {
    /// A run, or an execution (RUN.NUMBER); a beginning of the id is enough [default: the newest run]
    #[arg(value_name = "RUN|EXECUTION")]
    pub id: Option<String>,
    /// The execution of this unit
    #[arg(value_name = "UNIT")]
    pub unit: Option<String>,
}

/// Show a run or an execution: state, attempts, reasons, times
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  muster runs show
  muster runs show run_01k9 departures -o wide")]
pub(crate) struct ShowRun {
    #[command(flatten)]
    pub which: Which,
}

/// Say why something waits: everything that holds it, who holds the slots, and its place
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  muster why
  muster why run_01k9.3 --json")]
pub(crate) struct Why {
    #[command(flatten)]
    pub which: Which,
}

/// Follow a run to its end, and carry it on where nobody does
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  muster runs watch
  muster runs watch run_01k9 --timeout 10m")]
pub(crate) struct Watch {
    #[command(flatten)]
    pub which: Which,
    #[command(flatten)]
    pub follow: Follow,
}

/// Print what units wrote to stdout and stderr
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  muster runs logs run_01k9 departures --tail 100
  muster runs logs -f --since 10m")]
pub(crate) struct Logs {
    #[command(flatten)]
    pub which: Which,
    /// Go on until it ends, then exit as the run did
    #[arg(short, long)]
    pub follow: bool,
    /// Only the last lines of each execution
    #[arg(long, value_name = "N")]
    pub tail: Option<usize>,
    /// Only lines since then: a duration (10m) or a time
    #[arg(long, value_name = "DURATION|TIME", value_parser = since)]
    pub since: Option<Since>,
    /// This attempt instead of the last one
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub attempt: Option<u32>,
    /// Only this stream
    #[arg(long, value_enum, value_name = "STREAM")]
    pub stream: Option<Stream>,
    /// The bytes that the units wrote, and nothing else
    #[arg(long)]
    pub raw: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Stream {
    Stdout,
    Stderr,
}

/// From when on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Since {
    Ago(Span),
    At(Timestamp),
}

/// Stop a run or an execution, and wait until nothing of it is alive
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  muster runs cancel run_01k9
  muster runs cancel run_01k9.3 --no-wait")]
pub(crate) struct Cancel {
    /// A run, or an execution (RUN.NUMBER); a beginning of the id is enough
    #[arg(value_name = "RUN|EXECUTION")]
    pub id: String,
    /// The execution of this unit
    #[arg(value_name = "UNIT")]
    pub unit: Option<String>,
    /// Wait for the proof; the default
    #[arg(long, hide = true, conflicts_with = "no_wait")]
    pub wait: bool,
    /// Return once the request is written
    #[arg(long)]
    pub no_wait: bool,
    /// Wait at most so long; exit code 5 afterwards
    #[arg(long, value_name = "DURATION")]
    pub timeout: Option<Span>,
}

/// Run again what did not succeed in a run, with the same revisions and parameters
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  muster runs retry run_01k9 --failed
  muster runs retry run_01k9 --failed --concurrency 2")]
pub(crate) struct Retry {
    /// The run; a beginning of the id is enough
    #[arg(value_name = "RUN")]
    pub run: String,
    /// Only the items that did not succeed
    #[arg(long, required = true)]
    pub failed: bool,
    #[command(flatten)]
    pub how: How,
}

/// List what units published, or get one file
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  muster artifacts
  muster artifacts run_01k9 departures --get departures.csv --to departures.csv")]
pub(crate) struct Artifacts {
    #[command(flatten)]
    pub which: Which,
    /// Get this artifact
    #[arg(long, value_name = "PATH")]
    pub get: Option<String>,
    /// Where to: a file that is not there yet, or - for stdout [default: -]
    #[arg(long, value_name = "FILE", requires = "get")]
    pub to: Option<PathBuf>,
}

/// Show what is known of the content of artifacts: counts, checks, findings, verdicts
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  muster signals
  muster signals run_01k9 departures --artifact departures.csv --json")]
pub(crate) struct Signals {
    #[command(flatten)]
    pub which: Which,
    /// Only this artifact
    #[arg(long, value_name = "PATH")]
    pub artifact: Option<String>,
}

/// List events in the order they were written
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  muster events --after 120
  muster events -f -o jsonl")]
pub(crate) struct Events {
    /// Only events behind this position
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub after: u64,
    /// At most so many
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
    /// Go on as events come
    #[arg(short, long)]
    pub follow: bool,
}

/// Make a small fleet that runs
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  muster init
  muster init trial && muster run --fleet trial --all")]
pub(crate) struct Init {
    /// The folder to make
    #[arg(value_name = "DIR", default_value = "fleet")]
    pub folder: PathBuf,
}

/// Print a script that completes muster's arguments
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  source <(muster completions bash)
  muster completions zsh > ~/.zfunc/_muster")]
pub(crate) struct Completions {
    /// The shell
    pub shell: Shell,
}

fn parameter(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        Some(_) | None => Err("write NAME=VALUE".to_owned()),
    }
}

fn time_zone(text: &str) -> Result<TimeZone, String> {
    TimeZone::get(text).map_err(|_| "write a name such as UTC or America/New_York".to_owned())
}

/// A time with offset, or a day or a time without, which are UTC.
fn instant(text: &str) -> Result<Timestamp, String> {
    let utc = |time: jiff::civil::DateTime| TimeZone::UTC.to_timestamp(time);
    text.parse::<Timestamp>()
        .or_else(|_| text.parse::<jiff::civil::DateTime>().and_then(utc))
        .map_err(|_| "write a day such as 2013-02-08, or a time such as 2013-02-08T06:00:00Z".to_owned())
}

fn since(text: &str) -> Result<Since, String> {
    let span = text.parse().map(Since::Ago);
    span.or_else(|_| instant(text).map(Since::At)).map_err(|_| "write a duration such as 10m, a day, or a time".to_owned())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_arguments_are_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn a_time_without_offset_is_utc() {
        for text in ["2013-02-08", "2013-02-08T00:00:00", "2013-02-08T01:00:00+01:00"] {
            assert_eq!(instant(text).unwrap().to_string(), "2013-02-08T00:00:00Z", "{text}");
        }
        assert!(instant("yesterday").is_err());
        assert_eq!(since("10m"), Ok(Since::Ago(Span::from_secs(600))));
    }
}
