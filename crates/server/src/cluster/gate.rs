//! Whether transactions of clients are accepted.

use tokio::sync::watch;

/// State of the gate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GateState {
    /// Changes are refused: this server is not the primary.
    Closed,
    /// Commits wait: another server takes over, or this one goes on soon.
    Held,
    /// This server is the primary.
    Open,
}

/// Gate between the clients' transactions and the log.
///
/// It decides only what a client is told. That nothing of a client reaches the log of a server that is no primary any
/// more is decided in the log stage ([`paceline_txn::TransactionManager::stop_writing`]).
#[derive(Debug)]
pub struct ClientGate {
    state: watch::Sender<GateState>,
}

impl Default for ClientGate {
    fn default() -> Self {
        ClientGate {
            state: watch::Sender::new(GateState::Closed),
        }
    }
}

impl ClientGate {
    /// Returns the state.
    pub fn state(&self) -> GateState {
        *self.state.borrow()
    }

    /// Changes the state and wakes the commits that wait.
    pub fn set(&self, state: GateState) {
        self.state.send_replace(state);
    }

    /// Waits while commits are held.
    pub async fn pass(&self) {
        let mut state = self.state.subscribe();
        // The sender lives as long as the gate.
        let _ = state.wait_for(|state| *state != GateState::Held).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    #[test]
    fn commits_wait_only_while_they_are_held() {
        let gate = ClientGate::default();
        let mut context = Context::from_waker(Waker::noop());
        assert_eq!(pin!(gate.pass()).poll(&mut context), Poll::Ready(()));
        gate.set(GateState::Held);
        let mut passing = pin!(gate.pass());
        assert!(passing.as_mut().poll(&mut context).is_pending());
        gate.set(GateState::Closed);
        assert_eq!(passing.as_mut().poll(&mut context), Poll::Ready(()));
    }
}
