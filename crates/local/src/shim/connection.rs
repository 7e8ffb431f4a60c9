//! One client, as the shim sees it.

use std::{
    cell::{Cell, RefCell},
    io,
    rc::Rc,
};

use tokio::{net::UnixStream, sync::Notify};
use tracing::warn;

use super::{
    server::Shim,
    wire::{self, LineBuffer, Reply},
};

/// The most that is kept for a client that does not read. Beyond it the connection ends; the client asks again when it is back.
const MOST_UNREAD: usize = 64 << 20;
const PIECE: usize = 64 << 10;

/// What waits to be written to a client. Nobody ever waits for the client.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    waiting: RefCell<Vec<u8>>,
    wake: Notify,
    closed: Cell<bool>,
}

impl Outbox {
    /// Adds a message.
    pub(crate) fn say(&self, reply: &Reply) {
        self.add(|waiting| wire::write(waiting, reply));
    }

    /// Adds a line that was written before.
    pub(crate) fn say_line(&self, line: &[u8]) {
        self.add(|waiting| waiting.extend_from_slice(line));
    }

    fn add(&self, write: impl FnOnce(&mut Vec<u8>)) {
        let mut waiting = self.waiting.borrow_mut();
        if self.closed.get() {
            return;
        }
        write(&mut waiting);
        if waiting.len() > MOST_UNREAD {
            warn!("a client does not read: its connection was ended");
            waiting.clear();
            self.closed.set(true);
        }
        self.wake.notify_one();
    }

    /// Writes until the connection ends.
    async fn deliver(&self, stream: &UnixStream) -> io::Result<()> {
        let mut taken = Vec::new();
        loop {
            // One wake-up serves all that was said since the last.
            self.wake.notified().await;
            if self.closed.get() {
                return Ok(());
            }
            std::mem::swap(&mut taken, &mut *self.waiting.borrow_mut());
            let mut written = 0;
            while written < taken.len() {
                stream.writable().await?;
                match stream.try_write(&taken[written..]) {
                    Ok(length) => written += length,
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                    Err(error) => return Err(error),
                }
            }
            taken.clear();
        }
    }
}

/// Serves one client to its end.
pub(crate) async fn serve(shim: &Rc<Shim>, stream: UnixStream) {
    let outbox = Rc::new(Outbox::default());
    let ended = tokio::select! {
        ended = listen(shim, &stream, &outbox) => ended,
        ended = outbox.deliver(&stream) => ended,
    };
    outbox.closed.set(true);
    shim.leave(&outbox);
    if let Err(error) = ended {
        tracing::debug!(%error, "a client went away");
    }
}

async fn listen(shim: &Rc<Shim>, stream: &UnixStream, outbox: &Rc<Outbox>) -> io::Result<()> {
    let mut piece = vec![0; PIECE];
    let mut lines = LineBuffer::default();
    loop {
        stream.readable().await?;
        let length = match stream.try_read(&mut piece) {
            Ok(0) => return Ok(()),
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => continue,
            Err(error) => return Err(error),
        };
        let mut fault = None;
        let taken = lines.push(&piece[..length], |line| match serde_json::from_slice(line) {
            Ok(request) => shim.hear(request, outbox),
            Err(error) => fault = Some(error),
        });
        if let Some(error) = fault {
            warn!(%error, "a client said what cannot be understood: its connection was ended");
            return Ok(());
        }
        if taken.is_err() {
            warn!("a client sent a line without end: its connection was ended");
            return Ok(());
        }
    }
}
