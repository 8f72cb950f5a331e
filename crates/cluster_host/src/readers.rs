//! Members that may read this member's log.
//!
//! Members receive records that are not acknowledged yet, so they are served only by the primary of the epoch that
//! they follow, or, while a candidate fetches, by a holder whose promise is the candidate's. A promise of a later epoch
//! ends all of these streams before it is written. A stream is admitted and ended under one lock, so none can slip
//! through between.
//!
//! A stream is *accepted* when the log has the position from which it reads. A member whose log has something else
//! there is refused by the search for that position, so it is never accepted ([`LogHost::sends_to`]).
//!
//! [`LogHost::sends_to`]: crate::LogHost::sends_to

use paceline_cluster::{Epoch, MemberId, Promise};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::fmt;
use tokio::sync::watch;

/// Member that wants to read the log, as it says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reader {
    /// The member.
    pub member: MemberId,
    /// Epoch that it follows, or prepares.
    pub epoch: Epoch,
}

/// Registry of the members that read the log.
#[derive(Debug)]
pub struct Readers {
    state: Mutex<State>,
    /// Number of streams.
    count: watch::Sender<usize>,
}

struct State {
    /// Epoch in which this member is the primary and has written the start.
    leads: Option<Epoch>,
    /// The durable promise: that candidate may fetch.
    promise: Promise,
    /// Streams by connection id.
    streams: BTreeMap<u32, MemberStream>,
}

/// An admitted stream.
struct MemberStream {
    reader: Reader,
    end: EndStream,
    progress: StreamProgress,
}

/// How far a stream has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum StreamProgress {
    /// The position from which it reads is searched.
    Searching,
    /// The log has that position.
    Accepted,
}

/// Tells a stream to end.
type EndStream = Box<dyn Fn() + Send>;

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("State")
            .field("leads", &self.leads)
            .field("promise", &self.promise)
            .field("streams", &self.streams.keys())
            .finish()
    }
}

impl Default for Readers {
    fn default() -> Self {
        Readers {
            state: Mutex::new(State {
                leads: None,
                promise: Promise::NONE,
                streams: BTreeMap::new(),
            }),
            count: watch::Sender::new(0),
        }
    }
}

impl Readers {
    /// Serves the members that follow in this epoch.
    pub fn lead(&self, epoch: Epoch) {
        self.state.lock().leads = Some(epoch);
    }

    /// Serves the candidate of this promise.
    pub fn promised(&self, promise: Promise) {
        self.state.lock().promise = promise;
    }

    /// Admits a stream, or returns false. `end` tells it to end. An admitted stream must be [removed](Self::remove) at
    /// its end.
    pub fn admit(&self, reader: Reader, connection: u32, end: impl Fn() + Send + 'static) -> bool {
        let mut state = self.state.lock();
        let of_candidate = Promise {
            epoch: reader.epoch,
            primary: reader.member,
        };
        let is_served = state.leads == Some(reader.epoch) || state.promise == of_candidate;
        if is_served {
            let stream = MemberStream {
                reader,
                end: Box::new(end),
                progress: StreamProgress::Searching,
            };
            state.streams.insert(connection, stream);
            self.count.send_replace(state.streams.len());
        }
        is_served
    }

    /// The log has the position from which this admitted stream reads.
    pub fn accept(&self, connection: u32) {
        if let Some(stream) = self.state.lock().streams.get_mut(&connection) {
            stream.progress = StreamProgress::Accepted;
        }
    }

    /// Returns whether a stream of this member, in the epoch that this member leads, is accepted.
    pub fn sends_to(&self, member: MemberId) -> bool {
        let state = self.state.lock();
        let mut streams = state.streams.values();
        streams.any(|stream| {
            let is_of_epoch = state.leads == Some(stream.reader.epoch);
            is_of_epoch && stream.reader.member == member && stream.progress == StreamProgress::Accepted
        })
    }

    /// Removes a stream that has ended.
    pub fn remove(&self, connection: u32) {
        let mut state = self.state.lock();
        state.streams.remove(&connection);
        self.count.send_replace(state.streams.len());
    }

    /// Ends all streams and serves nobody, until [`lead`](Self::lead) or [`promised`](Self::promised). When this
    /// returns nothing more is sent.
    pub async fn end_all(&self) {
        {
            let mut state = self.state.lock();
            state.leads = None;
            state.promise = Promise::NONE;
            state.streams.values().for_each(|stream| (stream.end)());
        }
        let mut count = self.count.subscribe();
        // The sender lives as long as the registry.
        let _ = count.wait_for(|count| *count == 0).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    fn reader(member: u32, epoch: u64) -> Reader {
        Reader {
            member: MemberId(member),
            epoch: Epoch(epoch),
        }
    }

    #[tokio::test]
    async fn members_are_served_in_their_epoch_only() {
        let readers = Readers::default();
        assert!(!readers.admit(reader(2, 5), 1, || {}), "it is not the primary");
        readers.promised(Promise {
            epoch: Epoch(6),
            primary: MemberId(3),
        });
        assert!(!readers.admit(reader(2, 6), 1, || {}), "not the candidate");
        assert!(readers.admit(reader(3, 6), 1, || {}));
        readers.lead(Epoch(7));
        assert!(readers.admit(reader(2, 7), 2, || {}));
        assert!(!readers.admit(reader(2, 8), 3, || {}), "a later epoch");
    }

    #[test]
    fn members_are_sent_to_from_the_acceptance_of_a_stream_to_its_end() {
        let readers = Readers::default();
        readers.lead(Epoch(7));
        assert!(readers.admit(reader(2, 7), 1, || {}));
        assert!(!readers.sends_to(MemberId(2)), "its position is still searched");
        readers.accept(1);
        assert!(readers.sends_to(MemberId(2)));
        assert!(!readers.sends_to(MemberId(3)));
        readers.remove(1);
        assert!(!readers.sends_to(MemberId(2)));
        // A candidate that fetches.
        readers.promised(Promise {
            epoch: Epoch(8),
            primary: MemberId(3),
        });
        assert!(readers.admit(reader(3, 8), 2, || {}));
        readers.accept(2);
        assert!(
            !readers.sends_to(MemberId(3)),
            "not in the epoch that this one leads"
        );
    }

    #[tokio::test]
    async fn the_end_of_a_role_waits_for_its_streams() {
        let readers = Readers::default();
        let told = Arc::new(AtomicBool::new(false));
        let end = told.clone();
        readers.lead(Epoch(1));
        assert!(readers.admit(reader(2, 1), 9, move || end.store(true, Ordering::Relaxed)));
        let mut ending = std::pin::pin!(readers.end_all());
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        assert!(ending.as_mut().poll(&mut context).is_pending());
        assert!(told.load(Ordering::Relaxed));
        assert!(!readers.admit(reader(2, 1), 10, || {}));
        readers.remove(9);
        assert!(ending.as_mut().poll(&mut context).is_ready());
    }
}
