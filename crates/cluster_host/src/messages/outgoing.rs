//! The dialer's side: a link to each member, with a queue and a task.

use super::{IDLE_INTERVAL, LOGIN_MAX, LocalMember, START_STATEMENT, UNACKNOWLEDGED_MAX, USER};
use crate::driver::MessageSender;
use crate::message_codec::{Hello, Packet};
use crate::register::{MEMBERS_MAX, MemberEntry};
use paceline_cluster::{MemberId, Message};
use paceline_program_version as program_version;
use paceline_wire::WireError;
use paceline_wire::client::{Client, ConnectOptions};
use paceline_wire::tls::{ClientTls, ClusterKey};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::collections::VecDeque;
use std::fmt;
use std::mem::discriminant;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::sync::{Notify, watch};
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep, timeout};

/// Shortest and longest time between two attempts to connect.
const PAUSES: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(1));

/// Time that an attempt to connect still has when the other member has connected meanwhile. Its first packets may have
/// been lost while the other machine was away, and TCP repeats them later and later.
const OUTDATED_DIAL_MAX: Duration = Duration::from_millis(200);

/// Time after which a connection counts as accepted. A member with another number closes it at once.
const ACCEPTED_AFTER: Duration = Duration::from_secs(1);

/// Longest time that a message waits. One that says that a primary is missing must not reach a member that comes back
/// when there is another: it would be taken for new, and cause an election. Everything is said again with each pulse.
const WAIT_MAX: Duration = Duration::from_millis(200);

/// How members log in to each other.
#[derive(Clone)]
pub struct PeerLogin {
    /// The cluster's secret.
    pub secret: String,
    /// Key that is derived from it: all messages are encrypted.
    pub key: ClusterKey,
}

impl fmt::Debug for PeerLogin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PeerLogin").finish_non_exhaustive()
    }
}

/// Messages that wait for one member: of each kind the newest.
#[derive(Default)]
struct Queue {
    messages: Mutex<VecDeque<(Instant, Message)>>,
    filled: Notify,
}

impl Queue {
    fn push(&self, message: Message) {
        let mut messages = self.messages.lock();
        messages.retain(|(_, older)| discriminant(older) != discriminant(&message));
        messages.push_back((Instant::now(), message));
        drop(messages);
        self.filled.notify_one();
    }

    /// Takes the oldest message that has not waited for too long.
    fn pop(&self, now: Instant) -> Option<Message> {
        let mut messages = self.messages.lock();
        messages.retain(|(queued, _)| now.duration_since(*queued) <= WAIT_MAX);
        messages.pop_front().map(|(_, message)| message)
    }

    /// Waits until there is a message.
    async fn until_filled(&self) {
        while self.messages.lock().is_empty() {
            self.filled.notified().await;
        }
    }
}

struct Link {
    queue: Arc<Queue>,
    /// Tells the dialer that the member has connected.
    arrivals: watch::Sender<()>,
    task: AbortHandle,
}

/// Connections to the other members. Their tasks end when it is dropped.
pub struct MessageLinks {
    local: LocalMember,
    login: PeerLogin,
    directory: watch::Receiver<Arc<Vec<MemberEntry>>>,
    links: Mutex<HashMap<MemberId, Link>>,
}

impl MessageLinks {
    /// Creates the links of this member. Addresses come from the directory.
    pub fn new(
        local: LocalMember,
        login: PeerLogin,
        directory: watch::Receiver<Arc<Vec<MemberEntry>>>,
    ) -> Self {
        MessageLinks {
            local,
            login,
            directory,
            links: Mutex::default(),
        }
    }

    fn open(&self, to: MemberId) -> Link {
        let queue = Arc::new(Queue::default());
        let arrivals = watch::Sender::new(());
        let dialer = Dialer {
            to,
            arrivals: arrivals.subscribe(),
            local: self.local.clone(),
            login: self.login.clone(),
            directory: self.directory.clone(),
            queue: Arc::clone(&queue),
        };
        let task = tokio::spawn(dialer.run()).abort_handle();
        Link {
            queue,
            arrivals,
            task,
        }
    }

    /// Tells that a member has connected to this one. It is there, so it is dialed soon if it could not be reached.
    pub fn arrived(&self, from: MemberId) {
        if let Some(link) = self.links.lock().get(&from) {
            link.arrivals.send_replace(());
        }
    }
}

impl MessageSender for MessageLinks {
    /// Queues a message.
    ///
    /// # Panics
    /// Outside of a runtime.
    fn send(&self, to: MemberId, message: Message) {
        let mut links = self.links.lock();
        if !links.contains_key(&to) && links.len() >= MEMBERS_MAX {
            return;
        }
        let link = links.entry(to).or_insert_with(|| self.open(to));
        link.queue.push(message);
    }
}

impl Drop for MessageLinks {
    fn drop(&mut self) {
        for link in self.links.lock().values() {
            link.task.abort();
        }
    }
}

struct Dialer {
    to: MemberId,
    local: LocalMember,
    login: PeerLogin,
    directory: watch::Receiver<Arc<Vec<MemberEntry>>>,
    arrivals: watch::Receiver<()>,
    queue: Arc<Queue>,
}

impl Dialer {
    async fn run(mut self) {
        let (shortest, longest) = PAUSES;
        let mut pause = shortest;
        let mut last_reason = String::new();
        let mut was_refused = false;
        loop {
            // A member that has left the cluster gets none any more.
            self.queue.until_filled().await;
            let Some((host, port)) = self.address() else {
                let _ = timeout(longest, self.directory.changed()).await;
                continue;
            };
            self.arrivals.mark_unchanged();
            let reason = match self.dial_in_time(&host, port).await {
                Ok(mut client) => {
                    if !was_refused {
                        tracing::info!("{}: messages go to {host}:{port}", self.to);
                    }
                    let since = Instant::now();
                    let reason = self.serve(&mut client).await;
                    was_refused = since.elapsed() < ACCEPTED_AFTER;
                    if !was_refused {
                        pause = shortest;
                    }
                    // That it connected to this member before says nothing of what comes now.
                    self.arrivals.mark_unchanged();
                    reason
                }
                Err(error) => error,
            };
            // Once for each reason: it may last for days.
            let reason = reason.to_string();
            if reason != last_reason {
                tracing::warn!("{}: no messages can be sent to {host}:{port}: {reason}", self.to);
                last_reason = reason;
            }
            pause = match self.has_arrived(pause).await {
                true => shortest,
                false => (pause * 2).min(longest),
            };
        }
    }

    fn address(&mut self) -> Option<(String, u16)> {
        let directory = self.directory.borrow_and_update();
        let entry = directory.iter().find(|entry| entry.member() == self.to)?;
        Some((entry.cluster_host.clone(), entry.cluster_port))
    }

    /// Waits, or for the shortest pause only if the member connects to this one. Returns whether it did.
    async fn has_arrived(&mut self, pause: Duration) -> bool {
        let (shortest, _) = PAUSES;
        sleep(shortest).await;
        let rest = pause.saturating_sub(shortest);
        // The sender lives as long as this task.
        matches!(timeout(rest, self.arrivals.changed()).await, Ok(Ok(())))
    }

    /// Dials. Gives up early if the member connects to this one meanwhile.
    async fn dial_in_time(&self, host: &str, port: u16) -> Result<Client, WireError> {
        let mut arrivals = self.arrivals.clone();
        let mut dialing = pin!(self.dial(host, port));
        tokio::select! {
            dialed = &mut dialing => return dialed,
            Ok(()) = arrivals.changed() => {}
        }
        timeout(OUTDATED_DIAL_MAX, dialing)
            .await
            .unwrap_or(Err(WireError::ReadTimeout(OUTDATED_DIAL_MAX)))
    }

    async fn dial(&self, host: &str, port: u16) -> Result<Client, WireError> {
        let mut client = log_in(host, port, &self.login).await?;
        let format = program_version::present().message_format;
        client.query(&format!("{START_STATEMENT}{format}")).await?;
        let hello = Packet::Hello(Hello {
            cluster: self.local.cluster.clone(),
            from: self.local.id,
            to: self.to,
        });
        send(&mut client, &hello).await?;
        Ok(client)
    }

    /// Sends what is queued until the connection ends; returns why.
    async fn serve(&self, client: &mut Client) -> WireError {
        loop {
            while let Some(message) = self.queue.pop(Instant::now()) {
                if let Err(error) = send(client, &Packet::Message(message)).await {
                    return error;
                }
            }
            tokio::select! {
                () = self.queue.filled.notified() => {}
                () = sleep(IDLE_INTERVAL) => {
                    if let Err(error) = send(client, &Packet::Idle).await {
                        return error;
                    }
                }
                // Nothing ever comes back but the end.
                received = client.receive() => return match received {
                    Ok(_) => WireError::Malformed("an answer to messages"),
                    Err(error) => error,
                },
            }
        }
    }
}

/// Connects to a member and logs in.
pub(super) async fn log_in(host: &str, port: u16, login: &PeerLogin) -> Result<Client, WireError> {
    let options = ConnectOptions {
        user: USER.to_owned(),
        password: login.secret.clone(),
        attributes: vec![("program_name".to_owned(), "paceline".to_owned())],
        tls: Some(ClientTls::of_cluster(login.key.clone())?),
        idle_timeout: Some(LOGIN_MAX),
        ..ConnectOptions::default()
    };
    let connecting = TcpStream::connect((host.trim_matches(['[', ']']), port));
    let stream = timeout(LOGIN_MAX, connecting)
        .await
        .map_err(|_| WireError::ReadTimeout(LOGIN_MAX))??;
    let limit = u32::try_from(UNACKNOWLEDGED_MAX.as_millis()).expect("seconds");
    rustix::net::sockopt::set_tcp_user_timeout(&stream, limit).map_err(std::io::Error::from)?;
    Client::connect_stream(stream, host, &options).await
}

async fn send(client: &mut Client, packet: &Packet) -> Result<(), WireError> {
    let mut bytes = Vec::with_capacity(64);
    packet.encode(&mut bytes);
    client.send(&bytes).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::register::KindText;
    use paceline_cluster::{Epoch, LogIndex, Millis};
    use tokio::net::TcpListener;

    #[test]
    fn of_each_kind_only_the_newest_message_waits() {
        let copy = |end| Message::Copy {
            epoch: Epoch(1),
            end: LogIndex(end),
            sent: Millis(1),
        };
        let queue = Queue::default();
        queue.push(copy(1));
        queue.push(Message::Missing);
        (2..1000).for_each(|end| queue.push(copy(end)));
        let now = Instant::now();
        assert_eq!(queue.pop(now), Some(Message::Missing));
        assert_eq!(queue.pop(now), Some(copy(999)));
        assert_eq!(queue.pop(now), None);
    }

    #[test]
    fn a_message_that_has_waited_for_a_dead_member_is_not_sent() {
        let queue = Queue::default();
        queue.push(Message::Missing);
        let later = Instant::now() + WAIT_MAX + Duration::from_millis(1);
        assert_eq!(queue.pop(later), None);
        assert_eq!(queue.pop(Instant::now()), None, "it is gone");
    }

    fn login() -> PeerLogin {
        PeerLogin {
            secret: "geheim".to_owned(),
            key: ClusterKey::derive("test", "geheim").unwrap(),
        }
    }

    /// The other member is a listener that closes every connection, so the pauses grow to a second.
    #[tokio::test]
    async fn a_member_that_connects_is_dialed_before_the_end_of_a_pause() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let other = MemberEntry {
            id: 2,
            name: String::new(),
            host: "127.0.0.1".to_owned(),
            port: 1,
            cluster_host: "127.0.0.1".to_owned(),
            cluster_port: listener.local_addr().unwrap().port(),
            kind: KindText::Server,
            zone: 0,
            priority: 0,
            version: String::new(),
            log_format: 1,
        };
        let local = LocalMember {
            cluster: "test".to_owned(),
            id: MemberId(1),
        };
        let directory = watch::Sender::new(Arc::new(vec![other]));
        let links = MessageLinks::new(local, login(), directory.subscribe());
        links.send(MemberId(2), Message::Missing);
        let mut last = Instant::now();
        let mut after_arrival = Vec::new();
        // On a busy machine one of some attempts is enough. After a long pause the next one would be a whole second.
        for _ in 0..5 {
            loop {
                drop(listener.accept().await.unwrap());
                if last.elapsed() > Duration::from_millis(700) {
                    break;
                }
                last = Instant::now();
            }
            links.arrived(MemberId(2));
            last = Instant::now();
            drop(listener.accept().await.unwrap());
            after_arrival.push(last.elapsed());
            if last.elapsed() < Duration::from_millis(500) {
                return;
            }
        }
        panic!("the pauses went on: {after_arrival:?}");
    }

    #[test]
    fn the_secret_is_not_shown() {
        let login = login();
        assert!(!format!("{login:?}").contains("geheim"));
    }
}
