//! The threads that read, each with its own connection: never behind the writer.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
    sync::Arc,
    thread::{self, JoinHandle},
};

use ports::StoreError;
use rusqlite::Connection;
use tokio::sync::oneshot;

use super::{OpenError, fault, queue::Queue, schema};

/// A long list does not hold up a short question.
const THREADS: usize = 2;

type Job = Box<dyn FnOnce(&Connection) + Send>;

/// The threads that read, and their queue.
pub(super) struct Readers {
    queue: Arc<Queue<Job>>,
    threads: Vec<JoinHandle<()>>,
}

impl Readers {
    pub(super) fn start(path: &Path) -> Result<Readers, OpenError> {
        let queue = Arc::new(Queue::new());
        let mut readers = Readers { queue, threads: Vec::with_capacity(THREADS) };
        for _ in 0..THREADS {
            let (queue, connection) = (Arc::clone(&readers.queue), schema::open_reader(path)?);
            let thread = thread::Builder::new().name("store-reader".to_owned()).spawn(move || serve(&queue, &connection));
            readers.threads.push(thread.expect("the system has room for one more thread at start"));
        }
        Ok(readers)
    }

    pub(super) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (reply, answer) = oneshot::channel();
        // Whoever asked may not wait any more.
        self.queue.push(Box::new(move |connection| drop(reply.send(work(connection)))));
        answer.await.unwrap_or_else(|_| Err(fault::stopped()))
    }
}

impl Drop for Readers {
    fn drop(&mut self) {
        self.queue.close();
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

fn serve(queue: &Queue<Job>, connection: &Connection) {
    while let Some(job) = queue.next() {
        // A job that panics drops its reply: its owner gets an error, the next job its answer.
        let _ = catch_unwind(AssertUnwindSafe(|| job(connection)));
    }
}
