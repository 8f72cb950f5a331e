//! A command that is interrupted cleans up. Interrupted once more, it ends at once.

use crate::backup::error::{Error, Result};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// The exit status of who is interrupted twice: as shells tell SIGINT.
const STATUS: i32 = 130;

/// Notices that the user wants it to stop, from the moment that it is made.
pub struct StopSignals {
    signals: Option<(Signal, Signal)>,
}

impl StopSignals {
    /// Takes SIGINT and SIGTERM over.
    ///
    /// # Errors
    /// If the system has none.
    pub fn take() -> Result<Self> {
        let watch =
            |kind| signal(kind).map_err(|error| Error::Usage(format!("cannot watch signals: {error}")));
        Ok(StopSignals {
            signals: Some((watch(SignalKind::interrupt())?, watch(SignalKind::terminate())?)),
        })
    }

    /// Ready when one has come, once. From then on the next one ends the process, whatever it is doing: cleaning up may wait for a place
    /// that does not answer.
    pub async fn wait(&mut self) {
        let Some(signals) = &mut self.signals else {
            return std::future::pending().await;
        };
        any(signals).await;
        if let Some(mut signals) = self.signals.take() {
            tokio::spawn(async move {
                any(&mut signals).await;
                std::process::exit(STATUS);
            });
        }
    }

    /// Whether one has come by now.
    pub async fn has_come(&mut self) -> bool {
        tokio::select! {
            biased;
            () = self.wait() => true,
            () = std::future::ready(()) => false,
        }
    }
}

async fn any((interrupt, terminate): &mut (Signal, Signal)) {
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
}
