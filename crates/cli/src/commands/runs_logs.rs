//! `muster runs logs`

use std::{collections::VecDeque, time::Duration};

use app::App;
use jiff::tz::TimeZone;
use model::{Execution, ExecutionId, Kind, ObjectKey, Timestamp};
use ports::Found;
use serde_json::{Value, json};
use tokio::time::interval;

use super::which;
use crate::{
    args::{Logs, Since, Stream},
    context::Context,
    exit::Exit,
    failure::Failure,
    interrupt::Interrupt,
    log_lines::{Line, Reader, harmless},
    output::Format,
    paint::Paint,
    result, wire,
};

/// How often a followed log is looked at.
const LOOK: Duration = Duration::from_millis(100);

pub(super) async fn run(context: &Context, arguments: Logs) -> Result<Exit, Failure> {
    let console = wire::visit(context)?;
    let found = which::find(context, &console, &arguments.which).await?;
    let view = which::view(context, &console, found.clone()).await?;
    let printer = Printer::new(context, &arguments, &view.executions);
    let mut tails: Vec<Tail> =
        view.executions.iter().map(|execution| Tail::new(execution, &arguments)).collect::<Result<_, _>>()?;
    for tail in &mut tails {
        tail.begin(&console.app, &printer, arguments.tail).await?;
    }
    if !arguments.follow {
        printer.end();
        return Ok(Exit::Ok);
    }
    // Not before: what is there already can be cut off by an ordinary Ctrl-C.
    let mut interrupt = Interrupt::listen()?;
    let mut looks = interval(LOOK);
    loop {
        let view = which::view(context, &console, found.clone()).await?;
        for (number, execution) in view.executions.iter().enumerate() {
            if number == tails.len() {
                tails.push(Tail::new(execution, &arguments)?);
            }
            tails[number].go_on(&console.app, execution, &printer, arguments.attempt.is_none()).await?;
        }
        let exit = match found {
            Found::Run(_) => view.run.state.is_terminal().then(|| result::exit(&view.run, None)),
            Found::Execution(_) => {
                let state = view.executions.first().map(|execution| execution.state);
                state.filter(|state| state.is_terminal()).map(result::exit_of_execution)
            }
        };
        if let Some(exit) = exit {
            printer.end();
            return Ok(exit);
        }
        if context.screen.is_closed() {
            return Ok(Exit::Ok);
        }
        tokio::select! {
            _ = looks.tick() => {}
            () = interrupt.wait() => return Ok(Exit::Interrupted),
        }
    }
}

/// The log of one execution: that of one attempt, or of its newest.
struct Tail {
    id: ExecutionId,
    unit: String,
    attempt: u32,
    reader: Option<Reader>,
}

impl Tail {
    fn new(execution: &Execution, arguments: &Logs) -> Result<Tail, Failure> {
        let newest = execution.attempt().map_or(0, |attempt| attempt.number);
        let attempt = arguments.attempt.unwrap_or(newest);
        if attempt > newest && arguments.attempt.is_some() && arguments.which.id.is_some() && !arguments.follow {
            let message = format!("there is no attempt {attempt} of {}: it has made {newest}", execution.id);
            return Err(Failure::new(Kind::NotFound, "E-N05", message));
        }
        let mut tail = Tail { id: execution.id, unit: execution.unit.to_string(), attempt, reader: None };
        tail.turn_to(execution, attempt);
        Ok(tail)
    }

    fn turn_to(&mut self, execution: &Execution, attempt: u32) {
        self.attempt = attempt;
        let key = || ObjectKey::attempt(&execution.scope, execution.id, attempt).log();
        self.reader = (attempt > 0).then(|| Reader::new(key()));
    }

    /// What is there already; of it the last lines only, where so many are asked for.
    async fn begin(&mut self, app: &App, printer: &Printer<'_>, last: Option<usize>) -> Result<(), Failure> {
        let Some(last) = last else { return self.drain(app, printer).await };
        let Some(reader) = &mut self.reader else { return Ok(()) };
        let mut kept = Newest::new(last);
        loop {
            let lines = reader.read(app).await?;
            if lines.is_empty() {
                break;
            }
            lines.into_iter().filter(|line| printer.wants(line)).for_each(|line| kept.push(line));
        }
        kept.lines.iter().for_each(|(line, _)| printer.line(self, line));
        Ok(())
    }

    async fn go_on(&mut self, app: &App, execution: &Execution, printer: &Printer<'_>, newest: bool) -> Result<(), Failure> {
        self.drain(app, printer).await?;
        let attempt = execution.attempt().map_or(0, |attempt| attempt.number);
        while newest && self.attempt < attempt {
            self.turn_to(execution, self.attempt + 1);
            self.drain(app, printer).await?;
        }
        Ok(())
    }

    async fn drain(&mut self, app: &App, printer: &Printer<'_>) -> Result<(), Failure> {
        let Some(mut reader) = self.reader.take() else { return Ok(()) };
        loop {
            let lines = reader.read(app).await?;
            if lines.is_empty() || printer.context.screen.is_closed() {
                self.reader = Some(reader);
                return Ok(());
            }
            lines.iter().filter(|line| printer.wants(line)).for_each(|line| printer.line(self, line));
        }
    }
}

/// The last lines of a log. A line in parts counts once.
struct Newest {
    most: usize,
    /// With whether a line begins here.
    lines: VecDeque<(Line, bool)>,
    begun: usize,
    /// Whether the next part of stdout and of stderr begins a line.
    begins: [bool; 2],
}

impl Newest {
    fn new(most: usize) -> Newest {
        Newest { most, lines: VecDeque::new(), begun: 0, begins: [true; 2] }
    }

    fn push(&mut self, line: Line) {
        let begins = &mut self.begins[usize::from(line.stream == Stream::Stderr)];
        let begin = std::mem::replace(begins, line.whole);
        self.begun += usize::from(begin);
        self.lines.push_back((line, begin));
        while self.begun > self.most || self.lines.front().is_some_and(|(_, begin)| !begin) {
            match self.lines.pop_front() {
                Some((_, begin)) => self.begun -= usize::from(begin),
                None => return,
            }
        }
    }
}

/// Writes lines in the format that was asked for.
struct Printer<'c> {
    context: &'c Context,
    raw: bool,
    stream: Option<Stream>,
    since: Option<Timestamp>,
    /// The widest name of a unit, where several are shown.
    names: Option<usize>,
    collected: std::cell::RefCell<Vec<Value>>,
    follows: bool,
}

impl<'c> Printer<'c> {
    fn new(context: &'c Context, arguments: &Logs, executions: &[Execution]) -> Printer<'c> {
        let since = arguments.since.map(|since| match since {
            Since::At(time) => time,
            Since::Ago(span) => context.now().saturating_sub(span.duration()).unwrap_or(Timestamp::MIN),
        });
        let widest = executions.iter().map(|execution| execution.unit.as_str().len()).max().unwrap_or(0);
        Printer {
            context,
            raw: arguments.raw,
            stream: arguments.stream,
            since,
            names: (executions.len() != 1).then_some(widest),
            collected: std::cell::RefCell::default(),
            follows: arguments.follow,
        }
    }

    fn wants(&self, line: &Line) -> bool {
        self.stream.is_none_or(|stream| stream == line.stream) && self.since.is_none_or(|since| line.time >= since)
    }

    fn line(&self, tail: &Tail, line: &Line) {
        let screen = &self.context.screen;
        if self.raw {
            let mut bytes = line.text.clone();
            bytes.extend(line.whole.then_some(b'\n'));
            return screen.data(&bytes);
        }
        match screen.format() {
            Format::Table | Format::Wide => screen.data(self.text(tail, line).as_bytes()),
            // A list that never ends has no closing bracket.
            Format::Jsonl => screen.data(format!("{}\n", data(tail, line)).as_bytes()),
            Format::Json | Format::Yaml if self.follows => screen.data(format!("{}\n", data(tail, line)).as_bytes()),
            Format::Json | Format::Yaml => self.collected.borrow_mut().push(data(tail, line)),
        }
    }

    fn text(&self, tail: &Tail, line: &Line) -> String {
        let screen = &self.context.screen;
        let mut text = String::new();
        if screen.format() == Format::Wide {
            let stream = stream_word(line.stream);
            text.push_str(&format!("{} {stream} ", stamp(line.time, screen.zone())));
        }
        if let Some(width) = self.names {
            text.push_str(&screen.paint_data(Paint::Faint, &format!("{:width$} | ", tail.unit)));
        }
        let content = String::from_utf8_lossy(&line.text);
        text.push_str(&if screen.is_terminal() { harmless(&content) } else { content.into_owned() });
        text.push('\n');
        text
    }

    fn end(&self) {
        let collected = std::mem::take(&mut *self.collected.borrow_mut());
        let screen = &self.context.screen;
        if !self.raw && !self.follows && matches!(screen.format(), Format::Json | Format::Yaml) {
            screen.reply(&crate::output::Reply::list(Vec::new(), collected, crate::table::Table::default()));
        }
    }
}

fn stream_word(stream: Stream) -> &'static str {
    match stream {
        Stream::Stdout => "stdout",
        Stream::Stderr => "stderr",
    }
}

fn stamp(time: Timestamp, zone: &TimeZone) -> String {
    time.to_zoned_datetime(zone.clone()).strftime("%Y-%m-%dT%H:%M:%S%.3f%:z").to_string()
}

fn data(tail: &Tail, line: &Line) -> Value {
    json!({
        "time": line.time, "execution": tail.id, "unit": tail.unit, "attempt": tail.attempt,
        "stream": stream_word(line.stream), "text": String::from_utf8_lossy(&line.text), "continues": !line.whole,
    })
}
