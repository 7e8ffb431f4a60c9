//! Reads what the program writes, for as long as anything can write.

use std::{cell::RefCell, io, os::fd::OwnedFd, rc::Rc, sync::Arc};

use model::{LogSummary, Timestamp};
use ports::Clock;
use rustix::io::Errno;
use tokio::io::{Interest, unix::AsyncFd};

use super::{
    lines::{Batch, Lines, Stream},
    log::Log,
    mask::Masks,
};

/// How much is read at once.
const PIECE: usize = 64 << 10;
/// How often one program is read before others get their turn.
const PIECES_A_TURN: usize = 8;

/// Memory that all captures of a thread share: what one read needs, whoever reads.
pub(crate) struct Scratch {
    piece: Box<[u8]>,
    clear: Vec<u8>,
    batch: Batch,
}

impl Scratch {
    pub(crate) fn new() -> Rc<RefCell<Scratch>> {
        Rc::new(RefCell::new(Scratch { piece: vec![0; PIECE].into(), clear: Vec::new(), batch: Batch::default() }))
    }
}

/// Both streams of one program and the log they go to.
pub(crate) struct Capture {
    stdout: Option<Source>,
    stderr: Option<Source>,
    log: Log,
    masks: Option<Arc<Masks>>,
    clock: Arc<dyn Clock>,
    scratch: Rc<RefCell<Scratch>>,
}

struct Source {
    pipe: AsyncFd<OwnedFd>,
    lines: Lines,
    /// What may be the beginning of a secret.
    held: Vec<u8>,
}

/// What a turn of reading came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turn {
    /// Nothing to read now.
    Empty,
    /// There is more.
    More,
    /// Nobody can write any more.
    Ended,
}

impl Capture {
    /// Captures two pipes into `log`.
    pub(crate) fn new(
        pipes: [OwnedFd; 2],
        log: Log,
        masks: Option<Arc<Masks>>,
        clock: Arc<dyn Clock>,
        scratch: Rc<RefCell<Scratch>>,
    ) -> io::Result<Capture> {
        let [stdout, stderr] = pipes;
        let stdout = Some(Source::new(stdout, Stream::Stdout)?);
        let stderr = Some(Source::new(stderr, Stream::Stderr)?);
        Ok(Capture { stdout, stderr, log, masks, clock, scratch })
    }

    /// Waits until there is something to read and reads it; never returns once both streams have ended. May be dropped at any time.
    pub(crate) async fn pump(&mut self) {
        let (out, err) = (self.stdout.as_ref(), self.stderr.as_ref());
        let is_stdout = tokio::select! {
            () = readable(out) => true,
            () = readable(err) => false,
        };
        let stream = if is_stdout { Stream::Stdout } else { Stream::Stderr };
        if self.read(stream) == Turn::More {
            tokio::task::yield_now().await;
        }
    }

    /// Reads all that is there now. True where nobody can write any more.
    pub(crate) fn drain(&mut self) -> bool {
        for stream in [Stream::Stdout, Stream::Stderr] {
            // Bounded: a stray that writes without end must not hold the attempt.
            for _ in 0..1024 {
                if self.read(stream) != Turn::More {
                    break;
                }
            }
        }
        self.has_ended()
    }

    /// Whether nobody can write any more.
    pub(crate) fn has_ended(&self) -> bool {
        self.stdout.is_none() && self.stderr.is_none()
    }

    /// Closes both streams and gives what was logged and what went wrong with it.
    pub(crate) fn finish(mut self) -> (LogSummary, Option<String>) {
        self.end(Stream::Stdout);
        self.end(Stream::Stderr);
        (self.log.summary(), self.log.fault().map(str::to_owned))
    }

    fn read(&mut self, stream: Stream) -> Turn {
        let scratch = Rc::clone(&self.scratch);
        let mut scratch = scratch.borrow_mut();
        for _ in 0..PIECES_A_TURN {
            let Some(source) = self.source(stream) else { return Turn::Ended };
            match rustix::io::read(&source.pipe, &mut *scratch.piece) {
                Ok(0) => {
                    drop(scratch);
                    self.end(stream);
                    return Turn::Ended;
                }
                Ok(length) => self.take(stream, length, &mut scratch),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => {
                    // The next wait must ask the system again.
                    drop(source.pipe.try_io(Interest::READABLE, |_| Err::<(), _>(io::ErrorKind::WouldBlock.into())));
                    return Turn::Empty;
                }
                Err(_) => {
                    drop(scratch);
                    self.end(stream);
                    return Turn::Ended;
                }
            }
        }
        Turn::More
    }

    fn take(&mut self, stream: Stream, length: usize, scratch: &mut Scratch) {
        let time = stamp(self.clock.now());
        let masks = self.masks.clone();
        let Scratch { piece, clear, batch } = scratch;
        let Some(source) = self.source(stream) else { return };
        let bytes = match &masks {
            None => &piece[..length],
            Some(masks) => {
                clear.clear();
                masks.push(&mut source.held, &piece[..length], clear);
                clear.as_slice()
            }
        };
        // Small steps: a stream of empty lines grows forty-fold in the log.
        for part in bytes.chunks(PIECE / 8) {
            batch.clear();
            let Some(source) = self.source(stream) else { return };
            source.lines.push(part, &time, batch);
            self.log.append(batch, &time);
        }
    }

    fn end(&mut self, stream: Stream) {
        let source = match stream {
            Stream::Stdout => self.stdout.take(),
            Stream::Stderr => self.stderr.take(),
        };
        let Some(mut source) = source else { return };
        if source.held.is_empty() && source.lines.is_empty() {
            return;
        }
        let time = stamp(self.clock.now());
        let rest = self.masks.as_ref().map(|masks| masks.rest(&mut source.held)).unwrap_or_default();
        let mut batch = Batch::default();
        source.lines.push(&rest, &time, &mut batch);
        source.lines.end(&time, &mut batch);
        self.log.append(&batch, &time);
    }

    fn source(&mut self, stream: Stream) -> Option<&mut Source> {
        match stream {
            Stream::Stdout => self.stdout.as_mut(),
            Stream::Stderr => self.stderr.as_mut(),
        }
    }
}

impl Source {
    fn new(pipe: OwnedFd, stream: Stream) -> io::Result<Source> {
        rustix::io::ioctl_fionbio(&pipe, true)?;
        let pipe = watch(pipe)?;
        Ok(Source { pipe, lines: Lines::new(stream), held: Vec::new() })
    }
}

/// Registers a descriptor with the runtime, to wait until it can be read.
#[expect(deprecated, reason = "its successor is unsafe, for the sake of types that do not own their descriptor; this one does")]
pub(crate) fn watch(descriptor: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    AsyncFd::with_interest(descriptor, Interest::READABLE)
}

async fn readable(source: Option<&Source>) {
    match source {
        // An error here means that the runtime ends; then nothing is read any more.
        Some(source) => drop(source.pipe.readable().await),
        None => std::future::pending().await,
    }
}

fn stamp(now: Timestamp) -> String {
    format!("{now:.9}")
}
