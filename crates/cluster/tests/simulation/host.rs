//! A host: a member with a disk, a log, and a clock.

use paceline_cluster::{
    DurableState, Epoch, EpochSpan, LogIndex, LogOrigin, LogTail, Member, MemberId, Millis, Promise,
    StoredPromise, Timing,
};

/// Record of a log. The start of an epoch has number 0; a transaction has a number of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Entry {
    pub epoch: Epoch,
    pub primary: MemberId,
    pub number: u64,
}

/// Source of a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StreamKind {
    /// The log of the epoch's primary.
    Follow,
    /// The log of a holder that has promised the epoch to this member.
    Fetch,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stream {
    pub kind: StreamKind,
    pub source: MemberId,
    pub epoch: Epoch,
    pub end: u64,
}

pub struct Host {
    pub id: MemberId,
    /// `None`: it is down.
    pub member: Option<Member>,
    /// Its disk is lost: it never comes back.
    pub is_destroyed: bool,
    pub incarnation: u32,

    pub log: Vec<Entry>,
    pub durable: usize,
    pub promise: StoredPromise,
    /// Durable lower bound of what is published.
    pub applied: usize,
    /// Promise that is being written, and when that is done.
    pub writing: Option<(u64, Promise)>,

    pub published: usize,
    pub stream: Option<Stream>,
    /// Epoch that it serves as the primary.
    pub serves: Option<Epoch>,
    /// Epoch in which clients write.
    pub accepts: Option<Epoch>,
    /// Until when its reads are new, and the epoch for which that was said.
    pub reads: (u64, Epoch),

    pub clock_offset: u64,
    pub clock_permille: u64,
    /// It executes nothing before.
    pub frozen_until: u64,
    pub etcd_asked: u64,
    pub etcd_heard: u64,
}

impl Host {
    pub fn new(id: MemberId) -> Self {
        Host {
            id,
            member: None,
            is_destroyed: false,
            incarnation: 0,
            log: Vec::new(),
            durable: 0,
            promise: StoredPromise::Whole(Promise::NONE),
            applied: 0,
            writing: None,
            published: 0,
            stream: None,
            serves: None,
            accepts: None,
            reads: (0, Epoch(0)),
            clock_offset: 0,
            clock_permille: 1000,
            frozen_until: 0,
            etcd_asked: 0,
            etcd_heard: 0,
        }
    }

    /// Returns what its clock shows.
    pub fn clock(&self, now: u64) -> Millis {
        Millis(self.clock_offset + now * self.clock_permille / 1000)
    }

    /// Returns the tail of the first `length` records.
    pub fn tail(&self, length: usize) -> LogTail {
        let starts = self.log[..length]
            .iter()
            .zip(0..)
            .filter(|(entry, _)| entry.number == 0);
        let spans = starts.map(|(entry, at)| EpochSpan {
            epoch: entry.epoch,
            primary: entry.primary,
            start: LogIndex(at),
        });
        LogTail::new(spans.collect(), LogIndex(length as u64))
    }

    pub fn start(&mut self, timing: Timing, created: Millis) {
        self.incarnation += 1;
        let durable = DurableState {
            promise: self.promise,
            tail: self.tail(self.durable),
            applied: LogIndex(self.applied as u64),
            origin: LogOrigin::Unknown,
        };
        self.published = self.applied;
        self.member = Some(Member::new(self.id, timing, durable, created));
    }

    /// Forgets everything that is not on disk.
    pub fn stop(&mut self) {
        self.member = None;
        self.published = self.applied;
        self.stream = None;
        self.serves = None;
        self.accepts = None;
        self.reads = (0, Epoch(0));
        self.frozen_until = 0;
    }

    pub fn cut(&mut self, at: usize) {
        self.log.truncate(at);
        self.durable = self.durable.min(at);
    }
}
