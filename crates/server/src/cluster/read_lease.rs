//! Whether reads on this server are new.
//!
//! A primary that is cut off from the others may have been replaced without knowing it. Holders that answer its pulses
//! promise nobody else anything for a while ([`paceline_cluster`], *Reads*), so until then its reads are new. Later
//! ones could miss what was committed elsewhere: `paceline_cluster_stale_reads` says whether they are refused.
//!
//! A read is checked when it begins. Everything that was acknowledged to anybody before this moment was published here
//! by then, if the lease held: a primary reports commits when they are published, and a new one lets clients in when
//! its tables have what the ones before have reported. A snapshot that is taken later has at least as much.
//!
//! On a server that is not the primary reads are those of a replica; `read_only` shows the difference. A session that
//! began while the server was the primary has not seen it: when the server ceases to be the primary, the first read of
//! each such session needs a decision, too. Each time has a number, and a session remembers the one that it has
//! accepted.
//!
//! ```text
//!   limit    0 ………… 2⁶³ − 1    primary: reads before this time need no decision
//!            2⁶³ + number      replica for the time with this number
//! ```
//!
//! # Cost
//! One load for a replica. For a primary also a look at the clock: 21 ns, no system call. It must be looked at: a bit
//! that a timer clears would still be set when the whole process has been suspended. The coarse clock, 3 ns, stands
//! still while the machine sleeps.

use paceline_cluster::Millis;
use paceline_cluster_host::clock;
use parking_lot::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// Least limit that is no time.
const REPLICA: u64 = 1 << 63;

/// Part of this server, as far as reads are concerned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReadPart {
    /// Reads may be old, as on any replica.
    Replica,
    /// Reads are new, or need a decision.
    Primary,
}

/// Time as a replica whose reads a session has accepted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReplicaTime(u64);

impl ReplicaTime {
    /// No time: the session has begun on a primary.
    pub const NONE: ReplicaTime = ReplicaTime(u64::MAX);

    /// Returns it as a number.
    pub fn number(self) -> u64 {
        self.0
    }

    /// Converts back from [`ReplicaTime::number`].
    pub fn from_number(number: u64) -> Self {
        ReplicaTime(number)
    }
}

#[derive(Debug)]
struct State {
    part: ReadPart,
    /// Number of the time as a replica.
    number: u64,
    until: Millis,
}

/// The lease.
#[derive(Debug)]
pub struct ReadLease {
    state: Mutex<State>,
    limit: AtomicU64,
}

impl Default for ReadLease {
    fn default() -> Self {
        ReadLease {
            state: Mutex::new(State {
                part: ReadPart::Replica,
                number: 0,
                until: Millis(0),
            }),
            limit: AtomicU64::new(REPLICA),
        }
    }
}

impl ReadLease {
    /// Sets the part.
    pub fn set_part(&self, part: ReadPart) {
        self.change(|state| {
            if (state.part, part) == (ReadPart::Primary, ReadPart::Replica) {
                state.number += 1;
            }
            state.part = part;
        });
    }

    /// Sets the time until which no other member can become the primary. It may be earlier than before.
    pub fn set_until(&self, until: Millis) {
        self.change(|state| state.until = until);
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        let mut state = self.state.lock();
        change(&mut state);
        let limit = match state.part {
            ReadPart::Replica => REPLICA + state.number,
            ReadPart::Primary => state.until.0.min(REPLICA - 1),
        };
        self.limit.store(limit, Ordering::Release);
    }

    /// Returns whether a read that begins now needs no decision, in a session that has accepted this.
    #[inline]
    pub fn holds(&self, accepted: ReplicaTime) -> bool {
        let limit = self.limit.load(Ordering::Acquire);
        limit == accepted.0 || (limit < REPLICA && clock::now().0 < limit)
    }

    /// Returns the present time as a replica; [`ReplicaTime::NONE`] on a primary.
    pub fn replica_time(&self) -> ReplicaTime {
        match self.limit.load(Ordering::Acquire) {
            limit if limit >= REPLICA => ReplicaTime(limit),
            _ => ReplicaTime::NONE,
        }
    }

    /// Returns the rest of the lease in milliseconds; 0 on a server that is not the primary.
    pub fn remaining_ms(&self) -> u64 {
        let state = self.state.lock();
        match state.part {
            ReadPart::Primary => state.until.0.saturating_sub(clock::now().0),
            ReadPart::Replica => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_primary_needs_the_lease() {
        let lease = ReadLease::default();
        let accepted = lease.replica_time();
        assert!(lease.holds(accepted), "a replica");
        lease.set_part(ReadPart::Primary);
        assert_eq!(lease.replica_time(), ReplicaTime::NONE);
        assert!(!lease.holds(accepted));
        lease.set_until(clock::now().after(60_000));
        assert!(lease.holds(accepted));
        assert!(lease.remaining_ms() > 50_000);
        lease.set_until(clock::now());
        assert!(!lease.holds(accepted), "it is over");
        lease.set_until(Millis(u64::MAX));
        assert!(lease.holds(ReplicaTime::NONE), "a primary alone");
        lease.set_until(Millis(0));
        assert!(!lease.holds(ReplicaTime::NONE), "it was revoked");
    }

    #[test]
    fn a_session_learns_that_the_server_is_no_primary_any_more() {
        let lease = ReadLease::default();
        let early = lease.replica_time();
        lease.set_part(ReadPart::Primary);
        lease.set_until(clock::now().after(60_000));
        let begun_on_primary = lease.replica_time();
        assert!(lease.holds(begun_on_primary) && lease.holds(early));
        lease.set_part(ReadPart::Replica);
        assert_eq!(lease.remaining_ms(), 0);
        assert!(!lease.holds(begun_on_primary) && !lease.holds(early));
        assert!(lease.holds(lease.replica_time()));
        lease.set_part(ReadPart::Replica);
        assert!(lease.holds(lease.replica_time()), "told twice");
    }
}
