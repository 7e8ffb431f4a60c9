//! An order to stop an attempt.

use std::cell::RefCell;

use model::StopCause;
use tokio::sync::Notify;

/// Tells an attempt to stop, and why. The first order counts.
#[derive(Debug, Default)]
pub struct StopOrder {
    cause: RefCell<Option<StopCause>>,
    given: Notify,
}

impl StopOrder {
    /// Gives the order.
    pub fn give(&self, cause: StopCause) {
        self.cause.borrow_mut().get_or_insert(cause);
        self.given.notify_one();
    }

    /// The order, where one was given.
    pub fn cause(&self) -> Option<StopCause> {
        self.cause.borrow().clone()
    }

    /// Waits for the order.
    pub async fn wait(&self) -> StopCause {
        loop {
            if let Some(cause) = self.cause() {
                return cause;
            }
            self.given.notified().await;
        }
    }
}
