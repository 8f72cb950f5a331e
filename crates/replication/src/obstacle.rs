//! Cause of a replica's delay (`Paceline_replica_held_back_by`).
//!
//! The oldest transaction that is not published decides, because it alone moves the replica's position. What it is
//! doing at one moment is known without any measurement on the way of a transaction: where its lane is
//! ([`Activity`]), which rounds are prepared and committed, whether a lock is awaited, how far the log is synced. One
//! look would often see an unimportant step of a fast sequence. So a task looks every [`LOOK_INTERVAL`] while a
//! connection runs, and the answer is what it has seen most often among the last [`LOOKS_MAX`] looks since the replica
//! was last up to date.
//!
//! | answer | the oldest transaction, or what keeps it away |
//! |---|---|
//! | the network | is being received, 2 s after the primary executed it or later |
//! | the disk | waits for a write or sync of the log; or a thread that applies rows waits for the disk |
//! | conflicts | commits in a small group, because the next transaction touches the same row |
//! | a definition | is DDL that is being executed |
//! | a lock | waits for a lock of a session of this server |
//! | a statement | is executed as a statement, alone |
//! | commit groups of the primary | commits in a small group, which `slave_parallel_mode=conservative` keeps |
//! | an acknowledgement | is durable and waits for this server's cluster |
//! | the work on rows | is applied by threads that wait for nothing |
//!
//! **Alternatives considered.** Clocks around each step of each transaction, added up by cause: exact, but two clock
//! reads per step on the way of every applied transaction, for a value that is read every few seconds. Only the state
//! at the moment of the question: no task, but the answer jumps between the steps of one and the same bottleneck.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

/// Time between two looks.
pub(crate) const LOOK_INTERVAL: Duration = Duration::from_millis(100);
/// Number of looks that count.
const LOOKS_MAX: usize = 50;
/// Maximum number of transactions of a round that is called small: it shares its sync with few others.
pub(crate) const SMALL_ROUND_MAX: usize = 32;

/// Cause of a replica's delay.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Obstacle {
    /// Everything that the primary has executed is applied, or is about to be.
    #[default]
    Nothing,
    /// The applier has not been started, or has ended.
    StoppedApplier,
    /// The receiver is not connected.
    LostPrimary,
    /// `MASTER_DELAY`.
    MasterDelay,
    /// Events arrive late.
    Network,
    /// The log is written or synced, or rows are read.
    Disk,
    /// Successive transactions touch the same rows.
    Conflicts,
    /// Successive transactions belong to small commit groups of the primary.
    CommitGroups,
    /// DDL.
    Definition,
    /// A transaction of statements.
    Statement,
    /// A lock of a session.
    Lock,
    /// The cluster of this server.
    Acknowledgement,
    /// The applier's own work.
    Rows,
}

impl Obstacle {
    /// Returns the text of `Paceline_replica_held_back_by`.
    pub const fn name(self) -> &'static str {
        match self {
            Obstacle::Nothing => "nothing",
            Obstacle::StoppedApplier => "the applier does not run",
            Obstacle::LostPrimary => "the primary cannot be reached",
            Obstacle::MasterDelay => "MASTER_DELAY",
            Obstacle::Network => "the network",
            Obstacle::Disk => "the disk",
            Obstacle::Conflicts => "conflicts",
            Obstacle::CommitGroups => "commit groups of the primary",
            Obstacle::Definition => "a definition",
            Obstacle::Statement => "a statement",
            Obstacle::Lock => "a lock",
            Obstacle::Acknowledgement => "an acknowledgement",
            Obstacle::Rows => "the work on rows",
        }
    }

    /// Returns whether it is known at once, without looking more often.
    const fn is_certain(self) -> bool {
        matches!(
            self,
            Obstacle::Nothing | Obstacle::StoppedApplier | Obstacle::LostPrimary | Obstacle::MasterDelay
        )
    }
}

/// Lane of an applier, for observers.
pub(crate) trait ObservedLane: Send + Sync {
    /// Returns the obstacle of its oldest unfinished transaction.
    fn obstacle(&self) -> Obstacle;
}

/// Latest looks at a connection that is held back.
#[derive(Debug, Default)]
pub(crate) struct Looks(VecDeque<Obstacle>);

impl Looks {
    /// Adds a look.
    pub(crate) fn add(&mut self, seen: Obstacle) {
        if seen.is_certain() {
            self.0.clear();
            return;
        }
        if self.0.len() == LOOKS_MAX {
            self.0.pop_front();
        }
        self.0.push_back(seen);
    }

    /// Returns the obstacle that was seen most often, with one more look; of equals, the latest.
    pub(crate) fn answer(&self, now: Obstacle) -> Obstacle {
        if now.is_certain() {
            return now;
        }
        let count =
            |one: Obstacle| self.0.iter().filter(|seen| **seen == one).count() + usize::from(one == now);
        let all = self.0.iter().copied().chain([now]);
        all.max_by_key(|one| count(*one)).unwrap_or(now)
    }
}

/// Activity of a lane's thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Activity {
    /// It waits for transactions, plans them, or waits until they are published.
    Rows = 0,
    /// It executes DDL.
    Definition = 1,
    /// It executes a statement that is not DDL.
    Statement = 2,
    /// It commits a transaction of statements.
    Commit = 3,
}

/// Activity of a lane's thread, for other threads.
#[derive(Debug, Default)]
pub(crate) struct SharedActivity(AtomicU8);

impl SharedActivity {
    pub(crate) fn set(&self, activity: Activity) {
        self.0.store(activity as u8, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> Activity {
        match self.0.load(Ordering::Relaxed) {
            1 => Activity::Definition,
            2 => Activity::Statement,
            3 => Activity::Commit,
            _ => Activity::Rows,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_frequent_of_the_latest_looks_is_the_answer() {
        let mut looks = Looks::default();
        assert_eq!(looks.answer(Obstacle::Rows), Obstacle::Rows);
        for seen in [Obstacle::Disk, Obstacle::Rows, Obstacle::Disk] {
            looks.add(seen);
        }
        assert_eq!(
            looks.answer(Obstacle::Rows),
            Obstacle::Rows,
            "of equals, the latest"
        );
        assert_eq!(looks.answer(Obstacle::Disk), Obstacle::Disk);
        assert_eq!(looks.answer(Obstacle::Nothing), Obstacle::Nothing);
        for _ in 0..LOOKS_MAX {
            looks.add(Obstacle::Lock);
        }
        assert_eq!(looks.0.len(), LOOKS_MAX);
        looks.add(Obstacle::Disk);
        assert_eq!(looks.answer(Obstacle::Disk), Obstacle::Lock);
    }

    #[test]
    fn looks_end_when_the_replica_is_up_to_date() {
        let mut looks = Looks::default();
        looks.add(Obstacle::Disk);
        looks.add(Obstacle::Nothing);
        looks.add(Obstacle::Lock);
        assert_eq!(looks.answer(Obstacle::Lock), Obstacle::Lock);
    }
}
