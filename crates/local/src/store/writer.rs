//! The one thread that writes. It commits whatever waits as one transaction (group commit): under load a commit, the
//! expensive part, is shared by everybody who waited for it.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    path::PathBuf,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll},
    thread::{self, JoinHandle},
    time::Duration,
};

use ports::{BoxError, StoreError};
use rusqlite::Connection;
use tokio::sync::oneshot;

use super::{Durability, Mode, fault, queue::Queue, schema};

/// The most requests in one transaction: bounds how long the first of them waits.
const MOST: usize = 1_024;
/// How long writes wait for more of them while many come.
const GATHERING: Duration = Duration::from_micros(1_000);
/// How long requests that nobody waits for gather company.
const PATIENCE: Duration = Duration::from_millis(5);

/// The thread that writes, and its queue.
pub(super) struct Writer {
    queue: Arc<Queue<Job>>,
    commits: Arc<AtomicU64>,
    thread: Option<JoinHandle<()>>,
}

/// What the thread can be asked for.
enum Job {
    Write(Box<dyn Request>),
    /// The count of other connections' commits, as only this connection can see it.
    Look(oneshot::Sender<Result<u64, StoreError>>),
}

/// A write with its answer.
trait Request: Send {
    /// Does the work inside the transaction and keeps its result. An error undoes this request alone.
    fn perform(&mut self, connection: &Connection) -> Result<(), StoreError>;

    /// Sends the result, which is durable now.
    fn answer(self: Box<Self>);

    /// Sends that nothing was written.
    fn refuse(self: Box<Self>, error: StoreError);
}

/// What a write does inside the transaction.
pub(super) trait Work<T>: FnMut(&Connection) -> Result<T, StoreError> + Send + 'static {}

impl<T, F: FnMut(&Connection) -> Result<T, StoreError> + Send + 'static> Work<T> for F {}

struct Task<T, F> {
    work: F,
    result: Option<T>,
    reply: oneshot::Sender<Result<T, StoreError>>,
}

impl<T: Send, F: Work<T>> Request for Task<T, F> {
    fn perform(&mut self, connection: &Connection) -> Result<(), StoreError> {
        self.result = Some((self.work)(connection)?);
        Ok(())
    }

    fn answer(self: Box<Self>) {
        let result = self.result.expect("a request is answered after it was performed");
        // Whoever asked may not wait any more.
        let _ = self.reply.send(Ok(result));
    }

    fn refuse(self: Box<Self>, error: StoreError) {
        if let Err(unread) = self.reply.send(Err(error))
            && let Err(error) = unread
        {
            tracing::warn!(error = &error as &dyn std::error::Error, "a write that nobody waits for was refused");
        }
    }
}

/// The answer to a write, once it is durable. Dropping it does not take the write back.
pub struct Receipt<T> {
    answer: oneshot::Receiver<Result<T, StoreError>>,
    queue: Arc<Queue<Job>>,
    hurried: bool,
}

impl<T> Future for Receipt<T> {
    type Output = Result<T, StoreError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if !self.hurried {
            self.hurried = true;
            self.queue.hurry();
        }
        Pin::new(&mut self.answer).poll(context).map(|answer| answer.unwrap_or_else(|_| Err(fault::stopped())))
    }
}

impl Writer {
    pub(super) fn start(connection: Connection, path: PathBuf, durability: Durability) -> Writer {
        let queue = Arc::new(Queue::new());
        let commits = Arc::new(AtomicU64::new(0));
        let (shared, counter) = (Arc::clone(&queue), Arc::clone(&commits));
        let mut desk = Desk { queue: shared, commits: counter, connection: Some(connection), path, durability };
        let thread = thread::Builder::new().name("store-writer".to_owned()).spawn(move || desk.serve());
        Writer { queue, commits, thread: Some(thread.expect("the system has room for one more thread at start")) }
    }

    /// Queues a write that is committed with the next ones; soon, even when nobody waits for its receipt.
    pub(super) fn submit<T: Send + 'static>(&self, work: impl Work<T>) -> Receipt<T> {
        let (reply, answer) = oneshot::channel();
        self.queue.push(Job::Write(Box::new(Task { work, result: None, reply })));
        Receipt { answer, queue: Arc::clone(&self.queue), hurried: false }
    }

    /// Queues a write and waits for its commit.
    pub(super) async fn run<T: Send + 'static>(&self, work: impl Work<T>) -> Result<T, StoreError> {
        let (reply, answer) = oneshot::channel();
        self.queue.push_awaited(Job::Write(Box::new(Task { work, result: None, reply })));
        answer.await.unwrap_or_else(|_| Err(fault::stopped()))
    }

    /// How many transactions were committed.
    pub(super) fn commits(&self) -> u64 {
        self.commits.load(Ordering::Relaxed)
    }

    /// Changes whenever another connection has committed.
    pub(super) async fn foreign_changes(&self) -> Result<u64, StoreError> {
        let (reply, answer) = oneshot::channel();
        self.queue.push_awaited(Job::Look(reply));
        answer.await.unwrap_or_else(|_| Err(fault::stopped()))
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.queue.close();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// The thread's side.
struct Desk {
    queue: Arc<Queue<Job>>,
    commits: Arc<AtomicU64>,
    /// Absent after a fault that leaves its state unknown; opened again for the next batch.
    connection: Option<Connection>,
    path: PathBuf,
    durability: Durability,
}

impl Drop for Desk {
    /// Whatever ends the thread, nobody waits for it in vain.
    fn drop(&mut self) {
        self.queue.close();
        self.queue.clear();
    }
}

impl Desk {
    fn serve(&mut self) {
        let (mut batch, mut gathering) = (Vec::new(), Duration::ZERO);
        while self.queue.next_batch(&mut batch, MOST, PATIENCE, gathering) {
            // Company is likely while there was company: a short wait then saves more commits than it costs.
            gathering = if batch.len() > 2 { GATHERING } else { Duration::ZERO };
            let mut writes = Vec::with_capacity(batch.len());
            for job in batch.drain(..) {
                match job {
                    Job::Write(request) => writes.push(request),
                    Job::Look(reply) => drop(reply.send(self.look())),
                }
            }
            if !writes.is_empty() {
                self.write(writes);
            }
        }
    }

    fn look(&mut self) -> Result<u64, StoreError> {
        let version = self.connection()?.pragma_query_value(None, "data_version", |row| row.get::<_, i64>(0));
        version.map(i64::cast_unsigned).map_err(|error| fault::at(&self.path, fault::of(error)))
    }

    fn connection(&mut self) -> Result<&Connection, StoreError> {
        if self.connection.is_none() {
            let opened = schema::open(&self.path, Mode::Visit, self.durability);
            self.connection = Some(opened.map_err(|error| StoreError::Unavailable(Box::new(error)))?);
        }
        Ok(self.connection.as_ref().expect("it was opened above"))
    }

    /// Writes all requests in one transaction and answers each.
    fn write(&mut self, mut requests: Vec<Box<dyn Request>>) {
        let connection = match self.connection() {
            Ok(connection) => connection,
            Err(error) => return self.refuse_all(requests, error),
        };
        let committed = catch_unwind(AssertUnwindSafe(|| commit(connection, &mut requests)));
        match committed {
            Ok(Ok(refused)) => {
                self.commits.fetch_add(1, Ordering::Relaxed);
                for (request, refused) in requests.into_iter().zip(refused) {
                    match refused {
                        None => request.answer(),
                        Some(error) => request.refuse(fault::at(&self.path, error)),
                    }
                }
            }
            Ok(Err(error)) => self.refuse_all(requests, error),
            Err(_) => self.refuse_all(requests, StoreError::Unavailable("a write panicked".into())),
        }
    }

    /// Nothing of the batch was written. The connection goes on where it can prove that it holds no transaction.
    fn refuse_all(&mut self, requests: Vec<Box<dyn Request>>, error: StoreError) {
        if let Some(connection) = &self.connection
            && !connection.is_autocommit()
            && connection.execute_batch("ROLLBACK").is_err()
        {
            self.connection = None;
        }
        let error = Arc::new(error);
        for request in requests {
            request.refuse(fault::at(&self.path, copy(&error)));
        }
    }
}

/// One transaction. The answer tells for each request why it alone was undone.
fn commit(connection: &Connection, requests: &mut [Box<dyn Request>]) -> Result<Vec<Option<StoreError>>, StoreError> {
    // Refusals are rare, and a savepoint for every request costs as much as a third of the work itself.
    if commit_all(connection, requests)? {
        return Ok(requests.iter().map(|_| None).collect());
    }
    commit_apart(connection, requests)
}

/// All requests as one; false, and nothing written, where one of them must be refused.
fn commit_all(connection: &Connection, requests: &mut [Box<dyn Request>]) -> Result<bool, StoreError> {
    control(connection, "BEGIN IMMEDIATE")?;
    for request in requests {
        match request.perform(connection) {
            Ok(()) => {}
            Err(StoreError::NotFound | StoreError::Conflict(_)) => return control(connection, "ROLLBACK").map(|()| false),
            Err(error) => return Err(error),
        }
    }
    control(connection, "COMMIT").map(|()| true)
}

/// Each request behind a savepoint of its own, so that a refusal undoes only itself.
fn commit_apart(connection: &Connection, requests: &mut [Box<dyn Request>]) -> Result<Vec<Option<StoreError>>, StoreError> {
    control(connection, "BEGIN IMMEDIATE")?;
    let mut refused = Vec::with_capacity(requests.len());
    for request in requests {
        control(connection, "SAVEPOINT request")?;
        refused.push(match request.perform(connection) {
            Ok(()) => None,
            Err(error @ (StoreError::NotFound | StoreError::Conflict(_))) => {
                control(connection, "ROLLBACK TO request")?;
                Some(error)
            }
            // The transaction as a whole may be gone.
            Err(error) => return Err(error),
        });
        control(connection, "RELEASE request")?;
    }
    control(connection, "COMMIT").map(|()| refused)
}

fn control(connection: &Connection, statement: &str) -> Result<(), StoreError> {
    connection.prepare_cached(statement).and_then(|mut ready| ready.execute([])).map(drop).map_err(fault::of)
}

/// One error for many.
fn copy(error: &Arc<StoreError>) -> StoreError {
    let source = || -> BoxError { Box::new(Arc::clone(error)) };
    match **error {
        StoreError::NotFound => StoreError::NotFound,
        StoreError::Conflict(ref what) => StoreError::Conflict(what.clone()),
        StoreError::Unavailable(_) => StoreError::Unavailable(source()),
        StoreError::Full(_) => StoreError::Full(source()),
        StoreError::Corrupt(_) => StoreError::Corrupt(source()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn writer() -> (tempfile::TempDir, Writer) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.sqlite");
        let connection = schema::open(&path, Mode::Own, Durability::Normal).unwrap();
        connection.execute_batch("CREATE TABLE marks (mark INTEGER PRIMARY KEY) STRICT").unwrap();
        (folder, Writer::start(connection, path, Durability::Normal))
    }

    fn mark(number: i64) -> impl Work<usize> {
        move |connection: &Connection| {
            connection.execute("INSERT INTO marks VALUES (?1)", [number]).map_err(|_| StoreError::Conflict(number.to_string()))
        }
    }

    fn count(connection: &Connection) -> Result<i64, StoreError> {
        connection.query_row("SELECT count(*) FROM marks", [], |row| row.get(0)).map_err(fault::of)
    }

    #[tokio::test]
    async fn a_refusal_undoes_its_own_request_only() {
        let (_folder, writer) = writer();
        let receipts: Vec<_> = [1, 2, 2, 3, 1, 4].map(|number| writer.submit(mark(number))).into();
        let mut refused = Vec::new();
        for receipt in receipts {
            refused.extend(receipt.await.err().map(|error| error.to_string()));
        }
        assert_eq!(refused.len(), 2, "{refused:?}");
        assert_eq!(writer.run(count).await.unwrap(), 4);
        assert!(writer.commits() <= 3, "they shared a transaction");
    }

    #[tokio::test]
    async fn a_panic_is_an_answer_and_not_the_end() {
        let (_folder, writer) = writer();
        let receipts =
            [writer.submit(mark(1)), writer.submit(|_: &Connection| panic!("a mistake of ours")), writer.submit(mark(2))];
        for receipt in receipts {
            let error = receipt.await.unwrap_err();
            assert!(matches!(error, StoreError::Unavailable(_)), "got {error:?}");
        }
        assert_eq!(writer.run(count).await.unwrap(), 0, "nothing of the transaction was written");
        assert_eq!(writer.run(mark(3)).await.unwrap(), 1);
    }

    #[tokio::test]
    async fn who_asks_a_closed_store_is_told_so() {
        let (_folder, writer) = writer();
        writer.queue.close();
        let error = writer.run(mark(1)).await.unwrap_err();
        assert!(matches!(error, StoreError::Unavailable(_)), "got {error:?}");
        let error = writer.submit(mark(1)).await.unwrap_err();
        assert!(matches!(error, StoreError::Unavailable(_)), "got {error:?}");
    }

    #[tokio::test]
    async fn a_transaction_that_ended_by_itself_is_refused_and_the_next_one_works() {
        let (_folder, writer) = writer();
        // As SQLite does after some failures of the disk.
        let lost = writer.submit(mark(1));
        let ended = writer.submit(|connection: &Connection| -> Result<(), StoreError> {
            connection.execute_batch("ROLLBACK").map_err(fault::of)?;
            Err(StoreError::Full("the disk is full".into()))
        });
        assert!(matches!(lost.await, Err(StoreError::Full(_))));
        assert!(matches!(ended.await, Err(StoreError::Full(_))));
        assert_eq!(writer.run(mark(1)).await.unwrap(), 1);
        assert_eq!(writer.run(count).await.unwrap(), 1);
    }

    #[test]
    fn a_connection_of_unknown_state_is_opened_again() {
        let (folder, writer) = writer();
        drop(writer);
        let path = folder.path().join("store.sqlite");
        let (queue, commits) = (Arc::new(Queue::new()), Arc::default());
        let mut desk = Desk { queue, commits, connection: None, path: path.clone(), durability: Durability::Normal };
        assert_eq!(count(desk.connection().unwrap()).unwrap(), 0);
        desk.connection = None;
        std::fs::remove_file(&path).unwrap();
        assert!(matches!(desk.connection(), Err(StoreError::Unavailable(_))), "no empty file takes the place of the lost one");
    }
}
