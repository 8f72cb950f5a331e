//! Waiting for a client's next command.
//!
//! Putting a thread to sleep and waking it takes longer than most statements, and a client that is alone on the server
//! waits for it with every command. Its session therefore polls for the next command for a moment before it sleeps: it
//! checks the socket, yields to other threads of the machine and other tasks of the runtime, and repeats.
//!
//! | A session polls only | otherwise |
//! |---|---|
//! | while it sent the server's last [`ALONE`] commands | it takes processor time from sessions with work, and from clients on this machine |
//! | if the last command arrived within such a time | it polls in vain |
//! | for `paceline_idle_poll_usec` | |
//! | on an unencrypted socket | data that has arrived is not yet a packet |
//!
//! Results: `docs/decisions/0020-idle-poll.md`.

use super::Connection;
use crate::last_command::LastCommand;
use paceline_wire::WireResult;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

/// Number of consecutive commands after which a session counts as alone.
const ALONE: u32 = 100;

/// Polling state of a session.
#[derive(Debug)]
pub struct IdlePoll {
    last: Arc<LastCommand>,
    session: u32,
    /// Number of consecutive commands of this session, without a command of any other session.
    in_a_row: u32,
    /// Whether polling would have found the last command.
    came_soon: bool,
}

impl IdlePoll {
    /// Creates the state for the session with this id.
    pub fn new(last: Arc<LastCommand>, session: u32) -> Self {
        IdlePoll {
            last,
            session,
            in_a_row: 0,
            came_soon: false,
        }
    }

    /// Receives the next packet. A session that is alone polls before it sleeps, for at most the time that `longest`
    /// returns. `longest` is not called for other sessions.
    ///
    /// # Errors
    /// The errors of [`Connection::receive`].
    pub async fn receive(
        &mut self,
        connection: &mut Connection,
        longest: impl FnOnce() -> Duration,
    ) -> WireResult<()> {
        let is_alone = self.in_a_row >= ALONE && connection.socket.delivers_at_once();
        let longest = if is_alone { longest() } else { Duration::ZERO };
        if longest.is_zero() {
            connection.receive().await?;
        } else if !(self.came_soon && self.look(connection, longest).await?) {
            let began = Instant::now();
            connection.receive().await?;
            self.came_soon = began.elapsed() <= longest;
        }
        self.count();
        Ok(())
    }

    /// Polls for a packet. Returns whether one has arrived.
    async fn look(&self, connection: &mut Connection, longest: Duration) -> WireResult<bool> {
        let began = Instant::now();
        while self.is_last() && began.elapsed() < longest {
            if let Poll::Ready(received) = connection.receive_arrived() {
                return received.map(|()| true);
            }
            // The client may be ready to run on this processor.
            std::thread::yield_now();
            tokio::task::yield_now().await;
        }
        Ok(false)
    }

    fn is_last(&self) -> bool {
        self.last.is_of(self.session)
    }

    fn count(&mut self) {
        if self.is_last() {
            self.in_a_row = self.in_a_row.saturating_add(1);
        } else {
            self.last.set(self.session);
            self.in_a_row = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use paceline_wire::socket::Socket;
    use tokio::io::AsyncWriteExt;
    use tokio::net::UnixStream;

    const PING: [u8; 5] = [1, 0, 0, 0, 14];
    const LONGEST: Duration = Duration::from_millis(300);

    struct Client {
        stream: UnixStream,
        connection: Connection,
        poll: IdlePoll,
    }

    impl Client {
        fn new(last: &Arc<LastCommand>, session: u32) -> Client {
            let (stream, server) = UnixStream::pair().unwrap();
            Client {
                stream,
                connection: Connection::new(Socket::unix(server), 1024, Arc::default()),
                poll: IdlePoll::new(last.clone(), session),
            }
        }

        async fn receive(&mut self) {
            self.connection.reader.set_sequence(0);
            self.poll.receive(&mut self.connection, || LONGEST).await.unwrap();
            assert_eq!(self.connection.reader.payload(), [14]);
        }

        async fn ping(&mut self) {
            self.stream.write_all(&PING).await.unwrap();
            self.receive().await;
        }
    }

    #[tokio::test]
    async fn polls_after_a_command_that_arrived_soon() {
        let last = Arc::new(LastCommand::default());
        let mut client = Client::new(&last, 1);
        for _ in 0..=ALONE {
            client.ping().await;
        }
        assert_eq!((client.poll.in_a_row, client.poll.came_soon), (ALONE, false));
        client.ping().await;
        assert!(client.poll.came_soon);
        // It polls and yields to other tasks meanwhile, including the sender.
        client.connection.reader.set_sequence(0);
        let (found, sent) = tokio::join!(
            client.poll.look(&mut client.connection, LONGEST),
            client.stream.write_all(&PING)
        );
        sent.unwrap();
        assert!(found.unwrap());
        // Nothing arrives for a while: polling is in vain, the session waits, and does not poll for the next command.
        client.connection.reader.set_sequence(0);
        assert!(!client.poll.look(&mut client.connection, LONGEST).await.unwrap());
        let late = async {
            // Longer than it polls.
            tokio::time::sleep(3 * LONGEST).await;
            client.stream.write_all(&PING).await
        };
        let (received, sent) = tokio::join!(client.poll.receive(&mut client.connection, || LONGEST), late);
        received.unwrap();
        sent.unwrap();
        assert!(!client.poll.came_soon);
        client.ping().await;
        assert!(client.poll.came_soon);
    }

    #[tokio::test]
    async fn two_active_sessions_do_not_poll() {
        let last = Arc::new(LastCommand::default());
        let (mut one, mut two) = (Client::new(&last, 1), Client::new(&last, 2));
        for _ in 0..=2 * ALONE {
            one.ping().await;
            two.ping().await;
        }
        assert_eq!((one.poll.in_a_row, two.poll.in_a_row), (0, 0));
        for _ in 0..=ALONE + 1 {
            two.ping().await;
        }
        assert!(two.poll.came_soon);
        one.ping().await;
        // Its command ends the other session's polling.
        let began = Instant::now();
        assert!(
            !two.poll
                .look(&mut two.connection, Duration::from_secs(60))
                .await
                .unwrap()
        );
        assert!(began.elapsed() < Duration::from_secs(10));
        two.ping().await;
        assert_eq!(two.poll.in_a_row, 0);
    }
}
