//! The terminal: the only place that writes to stdout and stderr.

use std::{
    io::{self, IsTerminal as _, Write as _},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use indicatif::MultiProgress;
use jiff::tz::TimeZone;
use tracing_subscriber::fmt::MakeWriter;

use crate::{
    args::Global,
    failure::Failure,
    output::{Format, Reply},
    paint::Paint,
    table::Look,
};

/// Writes data to stdout and everything else to stderr. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Screen {
    inner: Arc<Inner>,
}

struct Inner {
    format: Format,
    quiet: bool,
    look: Look,
    /// Colours on stderr.
    color: bool,
    /// Somebody looks at stderr.
    watched: bool,
    zone: TimeZone,
    /// The first error of stdout; after it nothing more is written there.
    broken: Mutex<Option<io::Error>>,
    bars: Mutex<Option<MultiProgress>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Columns of a terminal that does not say how wide it is.
const USUAL_WIDTH: u16 = 80;

impl Screen {
    pub(crate) fn new(global: &Global) -> Screen {
        let (out, err) = (io::stdout(), io::stderr());
        let (stdout, stderr) = (out.is_terminal(), err.is_terminal());
        let width = || rustix::termios::tcgetwinsize(&out).map_or(0, |size| size.ws_col);
        let width = stdout.then(|| usize::from(Some(width()).filter(|width| *width > 0).unwrap_or(USUAL_WIDTH)));
        let look = Look { wide: false, headers: !global.no_headers, color: stdout && !global.no_color, width };
        let inner = Inner {
            format: if global.json { Format::Json } else { global.output },
            quiet: global.quiet,
            look,
            color: stderr && !global.no_color,
            watched: stderr,
            zone: global.tz.clone().unwrap_or_else(TimeZone::system),
            broken: Mutex::new(None),
            bars: Mutex::new(None),
        };
        Screen { inner: Arc::new(inner) }
    }

    pub(crate) fn format(&self) -> Format {
        self.inner.format
    }

    pub(crate) fn is_wide(&self) -> bool {
        self.inner.format != Format::Table
    }

    pub(crate) fn is_quiet(&self) -> bool {
        self.inner.quiet
    }

    /// The time zone in which times are shown.
    pub(crate) fn zone(&self) -> &TimeZone {
        &self.inner.zone
    }

    /// True where stdout is a terminal.
    pub(crate) fn is_terminal(&self) -> bool {
        self.inner.look.width.is_some()
    }

    /// True where progress is drawn, rather than told in lines.
    pub(crate) fn draws(&self) -> bool {
        self.inner.watched && !self.inner.quiet
    }

    /// True where nobody but a program reads stderr, for errors.
    pub(crate) fn is_silent(&self) -> bool {
        self.inner.quiet || (self.inner.format.is_data() && !self.inner.watched)
    }

    /// Writes an answer.
    pub(crate) fn reply(&self, reply: &Reply) {
        if self.inner.quiet {
            self.data(reply.ids.iter().map(|id| format!("{id}\n")).collect::<String>().as_bytes());
        } else {
            self.data(reply.write(self.inner.format, self.inner.look).as_bytes());
        }
    }

    /// Writes bytes to stdout as they are.
    pub(crate) fn data(&self, bytes: &[u8]) {
        let mut broken = lock(&self.inner.broken);
        if broken.is_some() {
            return;
        }
        let write = || {
            let mut out = io::stdout().lock();
            out.write_all(bytes)?;
            out.flush()
        };
        *broken = self.aside(write).err();
    }

    /// True once nobody reads stdout any more: a command that goes on for it should end.
    pub(crate) fn is_closed(&self) -> bool {
        lock(&self.inner.broken).is_some()
    }

    /// Why stdout could not be written to; that its reader has left is no fault.
    pub(crate) fn fault(&self) -> Option<Failure> {
        let error = lock(&self.inner.broken).take().filter(|error| error.kind() != io::ErrorKind::BrokenPipe)?;
        Some(Failure::new(model::Kind::Unavailable, "E-U02", format!("could not write to stdout: {error}")))
    }

    /// Writes a line for people to stderr.
    pub(crate) fn note(&self, text: &str) {
        if !self.is_silent() {
            self.error_text(&format!("{text}\n"));
        }
    }

    /// Writes what to do next.
    pub(crate) fn next(&self, command: &str) {
        self.note(&format!("{} {command}", self.paint(Paint::Faint, "next:")));
    }

    /// Writes why a command was not done.
    pub(crate) fn failure(&self, failure: &Failure) {
        self.error_text(&failure.write(self.inner.format, self.inner.color));
    }

    /// `text` for stderr in a colour.
    pub(crate) fn paint(&self, paint: Paint, text: &str) -> String {
        paint.on(text, self.inner.color)
    }

    /// `text` for stdout in a colour.
    pub(crate) fn paint_data(&self, paint: Paint, text: &str) -> String {
        paint.on(text, self.inner.look.color)
    }

    /// Lets bars be drawn; from now on what is written makes room for them.
    pub(crate) fn show_bars(&self, bars: &MultiProgress) {
        *lock(&self.inner.bars) = Some(bars.clone());
    }

    /// Writes as if there were no bars.
    pub(crate) fn hide_bars(&self) {
        *lock(&self.inner.bars) = None;
    }

    fn error_text(&self, text: &str) {
        // There is nowhere left to say that stderr is broken.
        let _ = self.aside(|| io::stderr().lock().write_all(text.as_bytes()));
    }

    /// Writes while the bars are out of the way.
    fn aside<T>(&self, write: impl FnOnce() -> T) -> T {
        let bars = lock(&self.inner.bars).clone();
        match bars {
            Some(bars) => bars.suspend(write),
            None => write(),
        }
    }
}

/// Log lines take the same way as everything else on stderr.
impl<'a> MakeWriter<'a> for Screen {
    type Writer = LogWriter;

    fn make_writer(&'a self) -> LogWriter {
        LogWriter(self.clone())
    }
}

/// Writes log lines to stderr.
pub(crate) struct LogWriter(Screen);

impl io::Write for LogWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.error_text(&String::from_utf8_lossy(bytes));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
