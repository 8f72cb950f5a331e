//! Signals: an interrupted command cleans up. If it is interrupted again, it ends at once.

use std::io;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Exit status after a second signal, as shells report SIGINT.
pub const SECOND_SIGNAL_STATUS: i32 = 130;

/// Watches for SIGINT and SIGTERM from its creation on.
pub struct StopSignals {
    signals: Option<(Signal, Signal)>,
}

impl StopSignals {
    /// Starts to watch SIGINT and SIGTERM.
    ///
    /// # Errors
    /// Fails if the system cannot watch signals.
    pub fn take() -> io::Result<Self> {
        let failed =
            |error: io::Error| io::Error::new(error.kind(), format!("cannot watch signals: {error}"));
        let watch = |kind| signal(kind).map_err(failed);
        Ok(StopSignals {
            signals: Some((watch(SignalKind::interrupt())?, watch(SignalKind::terminate())?)),
        })
    }

    /// Waits for the first signal. From then on, the next signal ends the process, whatever it is doing: cleaning up
    /// may wait for a place that does not answer. Later calls never return.
    pub async fn wait(&mut self) {
        let Some(signals) = &mut self.signals else {
            return std::future::pending().await;
        };
        any(signals).await;
        if let Some(mut signals) = self.signals.take() {
            tokio::spawn(async move {
                any(&mut signals).await;
                std::process::exit(SECOND_SIGNAL_STATUS);
            });
        }
    }

    /// Returns whether a signal has arrived.
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
