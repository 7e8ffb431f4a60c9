//! What is going on, while it is: one line a running unit and a line of totals on a terminal, plain lines elsewhere.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    time::Duration,
};

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use model::{Event, EventKind, Execution, ExecutionState, Span, TierName, Timestamp, Verdict};
use serde::Deserialize;

use crate::{
    paint::Paint,
    screen::Screen,
    times::{clock, count, counted, length},
};

/// The most running units that have a line of their own.
const MOST_BARS: usize = 12;
/// From so many items on, only what went wrong gets a line.
const MANY: u32 = 100;
/// How often totals are told in plain lines of a large run.
const TOTALS_EVERY: Span = Span::from_secs(2);

/// Tells what happens to the items of a run.
pub(crate) struct Progress {
    screen: Screen,
    total: u32,
    counts: Counts,
    counted: HashSet<u32>,
    /// When each item under way first started.
    since: HashMap<u32, Timestamp>,
    tiers: HashMap<u32, TierName>,
    told_at: Timestamp,
    bars: Option<Bars>,
}

#[derive(Default)]
struct Counts {
    succeeded: u32,
    warned: u32,
    failed: u32,
    cancelled: u32,
}

struct Bars {
    all: MultiProgress,
    totals: ProgressBar,
    running: BTreeMap<u32, ProgressBar>,
}

/// What an event says about an item.
#[derive(Debug, Deserialize)]
struct Said {
    item: u32,
    unit: String,
    state: ExecutionState,
    attempt: u32,
    #[serde(default)]
    message: Option<String>,
    #[serde(default)]
    verdict: Option<Verdict>,
    #[serde(default)]
    rows: Option<u64>,
    #[serde(default)]
    resume_at: Option<Timestamp>,
}

impl Progress {
    pub(crate) fn new(screen: Screen) -> Progress {
        let bars = screen.draws().then(|| Bars::new(&screen));
        Progress {
            screen,
            total: 0,
            counts: Counts::default(),
            counted: HashSet::new(),
            since: HashMap::new(),
            tiers: HashMap::new(),
            told_at: Timestamp::UNIX_EPOCH,
            bars,
        }
    }

    /// Learns the items and how far they are, without telling it.
    pub(crate) fn know(&mut self, executions: &[Execution]) {
        self.total = u32::try_from(executions.len()).unwrap_or(u32::MAX);
        for execution in executions {
            let item = execution.id.item;
            self.tiers.insert(item, execution.tier.clone());
            if let Some(started) = execution.started_at {
                self.since.insert(item, started);
            }
            match execution.running() {
                Some(attempt) => self.begin(item, execution.unit.as_str(), attempt.granted_at),
                None => self.finish(item),
            }
            if execution.state.is_terminal() {
                self.count(item, execution.state, execution.verdict);
            }
        }
        self.redraw();
    }

    /// Tells an event of the run.
    pub(crate) fn event(&mut self, event: &Event) {
        let Ok(said) = serde_json::from_value::<Said>(event.data.clone()) else { return };
        match event.kind {
            EventKind::AttemptGranted => self.started(&said, event.time),
            EventKind::AttemptEnded => self.paused(&said, event.time),
            EventKind::ExecutionEnded => self.ended(&said, event.time),
            EventKind::CancelRequested
            | EventKind::DefinitionApplied
            | EventKind::UnitSwitched
            | EventKind::RunCreated
            | EventKind::RunStarted
            | EventKind::RunEnded => {}
        }
        self.redraw();
    }

    /// Tells how an execution has changed since it was last seen.
    pub(crate) fn saw(&mut self, before: Option<&Execution>, now: &Execution) {
        let attempts = |execution: &Execution| execution.attempts.len();
        let said = Said {
            item: now.id.item,
            unit: now.unit.to_string(),
            state: now.state,
            attempt: now.attempt().map_or(0, |attempt| attempt.number),
            message: now.message.clone().or_else(|| now.attempt().and_then(|attempt| attempt.message.clone())),
            verdict: now.verdict,
            rows: now.rows,
            resume_at: now.resume_at,
        };
        if before.map_or(0, attempts) < attempts(now)
            && let Some(attempt) = now.attempt()
        {
            self.started(&said, attempt.granted_at);
        }
        let was_paused = before.is_some_and(|before| before.resume_at == now.resume_at);
        if let (Some(_), None, Some(attempt), false) = (now.resume_at, now.running(), now.attempt(), was_paused) {
            self.paused(&said, attempt.observed_at);
        }
        if now.state.is_terminal() && before.is_none_or(|before| !before.state.is_terminal()) {
            self.ended(&said, now.ended_at.unwrap_or(now.created_at));
        }
        self.redraw();
    }

    /// Moves the spinners.
    pub(crate) fn tick(&mut self) {
        if let Some(bars) = &self.bars {
            bars.running.values().for_each(ProgressBar::tick);
            bars.totals.tick();
        }
    }

    fn started(&mut self, said: &Said, at: Timestamp) {
        self.begin(said.item, &said.unit, at);
        if self.total < MANY && self.bars.is_none() {
            let tier = self.tiers.get(&said.item).map_or_else(String::new, |tier| format!(" (tier {tier})"));
            let again = if said.attempt > 1 { format!(", attempt {}", said.attempt) } else { String::new() };
            self.line(at, "started", &format!("{}{tier}{again}", said.unit));
        }
    }

    fn paused(&mut self, said: &Said, at: Timestamp) {
        self.finish(said.item);
        if self.total < MANY {
            let why = said.message.as_deref().unwrap_or("its attempt failed");
            let next = said.resume_at.map_or_else(String::new, |resume| {
                format!("; attempt {} in {}", said.attempt + 1, length(Span::between(at, resume)))
            });
            self.line(at, "retrying", &format!("{}: {why}{next}", said.unit));
        }
    }

    fn ended(&mut self, said: &Said, at: Timestamp) {
        let since = self.since.remove(&said.item);
        self.finish(said.item);
        self.count(said.item, said.state, said.verdict);
        let is_good = said.state == ExecutionState::Succeeded && said.verdict <= Some(Verdict::Pass);
        if self.total < MANY || !is_good {
            let mut facts: Vec<String> = Vec::new();
            facts.extend(said.rows.map(|rows| counted(rows, "row")));
            facts.extend(said.verdict.map(|verdict| format!("verdict {}", verdict.as_str())));
            facts.extend(since.map(|since| length(Span::between(since, at))));
            let facts = if facts.is_empty() { String::new() } else { format!(" ({})", facts.join(", ")) };
            let why = said.message.as_ref().map_or_else(String::new, |message| format!(": {message}"));
            self.line(at, said.state.as_str(), &format!("{}{facts}{why}", said.unit));
        }
        if self.total >= MANY && self.bars.is_none() && Span::between(self.told_at, at) >= TOTALS_EVERY {
            self.told_at = at;
            self.screen.note(&format!("{} {}", clock(at, self.screen.zone()), self.totals()));
        }
    }

    fn line(&self, at: Timestamp, word: &str, rest: &str) {
        let time = self.screen.paint(Paint::Faint, &clock(at, self.screen.zone()));
        let word = self.screen.paint(Paint::of_status(word), word);
        self.screen.note(&format!("{time} {word} {}", crate::table::one_line(rest)));
    }

    /// Counts an ended item, once: an event may tell what was read before.
    fn count(&mut self, item: u32, state: ExecutionState, verdict: Option<Verdict>) {
        if !self.counted.insert(item) {
            return;
        }
        match state {
            ExecutionState::Succeeded => self.counts.succeeded += 1,
            ExecutionState::Failed => self.counts.failed += 1,
            ExecutionState::Cancelled => self.counts.cancelled += 1,
            ExecutionState::Created | ExecutionState::Started => {}
        }
        if state == ExecutionState::Succeeded && verdict > Some(Verdict::Pass) {
            self.counts.warned += 1;
        }
    }

    fn begin(&mut self, item: u32, unit: &str, at: Timestamp) {
        self.since.entry(item).or_insert(at);
        if let Some(bars) = &mut self.bars {
            bars.begin(item, unit);
        }
    }

    fn finish(&mut self, item: u32) {
        if let Some(bars) = &mut self.bars
            && let Some(bar) = bars.running.remove(&item)
        {
            bar.finish_and_clear();
            bars.all.remove(&bar);
        }
    }

    fn totals(&self) -> String {
        let Counts { succeeded, warned, failed, cancelled } = self.counts;
        let ended = succeeded + failed + cancelled;
        let mut text = format!("{} of {} ended", count(ended), counted(self.total, "unit"));
        let mut parts: Vec<String> = Vec::new();
        for (number, word) in [(succeeded, "succeeded"), (failed, "failed"), (cancelled, "cancelled"), (warned, "suspicious")] {
            if number > 0 {
                parts.push(format!("{} {word}", count(number)));
            }
        }
        if !parts.is_empty() {
            text.push_str(&format!(": {}", parts.join(", ")));
        }
        text
    }

    fn redraw(&self) {
        if let Some(bars) = self.bars.as_ref().filter(|_| self.total > 0) {
            bars.totals.set_message(self.totals());
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bars) = &self.bars {
            // A terminal that is gone needs no clearing. Hidden afterwards, so that no bar draws itself once more.
            let _ = bars.all.clear();
            bars.all.set_draw_target(ProgressDrawTarget::hidden());
        }
        self.screen.hide_bars();
    }
}

impl Bars {
    fn new(screen: &Screen) -> Bars {
        let all = MultiProgress::with_draw_target(ProgressDrawTarget::stderr_with_hz(10));
        let totals = all.add(ProgressBar::new_spinner().with_style(style("{spinner} {msg} ({elapsed})")));
        screen.show_bars(&all);
        Bars { all, totals, running: BTreeMap::new() }
    }

    fn begin(&mut self, item: u32, unit: &str) {
        if self.running.len() < MOST_BARS && !self.running.contains_key(&item) {
            let bar = ProgressBar::new_spinner().with_style(style("  {spinner} {msg} {elapsed}"));
            let bar = self.all.insert_before(&self.totals, bar);
            bar.set_message(unit.to_owned());
            self.running.insert(item, bar);
        }
    }
}

fn style(template: &str) -> ProgressStyle {
    let style = ProgressStyle::with_template(template).expect("the literal is a template");
    style.tick_chars("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏ ")
}

/// How often the spinners move.
pub(crate) const TICK: Duration = Duration::from_millis(100);
