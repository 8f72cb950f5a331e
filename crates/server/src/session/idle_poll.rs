//! How a session waits for its client's next command.
//!
//! To put a thread to sleep and to wake it takes longer than most statements take, and a client that has the server for itself waits for that with every command. So
//! its session looks for the next command for a moment before it sleeps: it asks the socket, lets other threads of the machine run, lets other tasks of the
//! runtime run, and begins again.
//!
//! | A session looks only | otherwise |
//! |---|---|
//! | while the server's last commands, [`ALONE`] of them, were all its own | it takes the time of those who have work; the clients of this machine are among them |
//! | if the last command came as soon as that | it looks in vain |
//! | for `paceline_idle_poll_usec` | |
//! | at a socket in clear | what has arrived is no packet yet |
//!
//! What came of it: `docs/decisions/0020-idle-poll.md`.

use super::connection::Connection;
use paceline_wire::WireResult;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::Poll;
use std::time::{Duration, Instant};

/// Who has sent so many commands with none of others in between is alone.
const ALONE: u32 = 100;

/// Whose command was the server's last.
#[derive(Debug, Default)]
pub struct LastCommand {
    /// The session's id; 0 before the first.
    session: AtomicU32,
}

/// How one session waits.
#[derive(Debug)]
pub struct IdlePoll {
    last: Arc<LastCommand>,
    session: u32,
    /// So many commands of its own came one after the other, with none of others.
    in_a_row: u32,
    /// The last one came while one could have looked for it.
    came_soon: bool,
}

impl IdlePoll {
    /// For the session with that id.
    pub fn new(last: Arc<LastCommand>, session: u32) -> Self {
        IdlePoll {
            last,
            session,
            in_a_row: 0,
            came_soon: false,
        }
    }

    /// Receives the next packet, looking for it before the session sleeps, for as long as `longest` says; a session that is not alone does not ask.
    ///
    /// # Errors
    /// As [`Connection::receive`].
    pub async fn receive(
        &mut self,
        connection: &mut Connection,
        longest: impl FnOnce() -> Duration,
    ) -> WireResult<()> {
        let is_alone = self.in_a_row >= ALONE && connection.tls.is_none();
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

    /// Looks for a packet. Whether it has come.
    async fn look(&self, connection: &mut Connection, longest: Duration) -> WireResult<bool> {
        let began = Instant::now();
        while self.is_last() && began.elapsed() < longest {
            if let Poll::Ready(received) = connection.receive_arrived() {
                return received.map(|()| true);
            }
            // The client may have been woken on this processor.
            std::thread::yield_now();
            tokio::task::yield_now().await;
        }
        Ok(false)
    }

    fn is_last(&self) -> bool {
        self.last.session.load(Ordering::Relaxed) == self.session
    }

    fn count(&mut self) {
        if self.is_last() {
            self.in_a_row = self.in_a_row.saturating_add(1);
        } else {
            self.last.session.store(self.session, Ordering::Relaxed);
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
    async fn looks_for_what_came_soon_the_last_time() {
        let last = Arc::new(LastCommand::default());
        let mut client = Client::new(&last, 1);
        for _ in 0..=ALONE {
            client.ping().await;
        }
        assert_eq!((client.poll.in_a_row, client.poll.came_soon), (ALONE, false));
        client.ping().await;
        assert!(client.poll.came_soon);
        // It looks, and lets others run meanwhile: also the one who sends.
        client.connection.reader.set_sequence(0);
        let (found, sent) = tokio::join!(
            client.poll.look(&mut client.connection, LONGEST),
            client.stream.write_all(&PING)
        );
        sent.unwrap();
        assert!(found.unwrap());
        // Nothing comes for a while: it is looked for in vain, and waited for, and the next one is not looked for.
        client.connection.reader.set_sequence(0);
        assert!(!client.poll.look(&mut client.connection, LONGEST).await.unwrap());
        let late = async {
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
    async fn nobody_looks_where_there_are_two() {
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
        // Its command ends the other's look.
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
