//! Ctrl-C and its kin: the first one leaves, a second one ends the process at once.

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::{exit::Exit, failure::Failure};

/// Waits for SIGINT, SIGTERM or SIGHUP; as long as it lives these do not end the process by themselves.
pub(crate) struct Interrupt {
    signals: [Signal; 3],
}

impl Interrupt {
    pub(crate) fn listen() -> Result<Interrupt, Failure> {
        let listen = || -> std::io::Result<Interrupt> {
            let signals = [signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?, signal(SignalKind::hangup())?];
            Ok(Interrupt { signals })
        };
        listen().map_err(|error| Failure::new(model::Kind::Unavailable, "E-I03", format!("could not listen to signals: {error}")))
    }

    /// Returns once somebody interrupts; from then on another interruption ends the process at once. Cancelling the wait loses nothing.
    pub(crate) async fn wait(&mut self) {
        self.received().await;
        if let Ok(mut again) = Interrupt::listen() {
            tokio::spawn(async move {
                again.received().await;
                std::process::exit(Exit::Interrupted.code().into());
            });
        }
    }

    async fn received(&mut self) {
        let [interrupt, terminate, hangup] = &mut self.signals;
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hangup.recv() => {}
        }
    }
}
