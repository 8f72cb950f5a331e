//! Lock modes and their compatibility.

/// Mode of a lock on a row, an index key or a key range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockMode {
    /// `LOCK IN SHARE MODE`, SERIALIZABLE reads: others may hold it shared, none may write.
    Shared,
    /// `FOR UPDATE` and every write: no other owner may hold the lock.
    Exclusive,
}

/// Behaviour of a request for a lock that is not free.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum LockWait {
    /// Wait as long as the transaction's options allow (`innodb_lock_wait_timeout`).
    #[default]
    Default,
    /// `NOWAIT`: error 1205 at once.
    NoWait,
    /// `SKIP LOCKED`: [`LockOutcome::Skipped`].
    SkipLocked,
    /// `WAIT n`: wait at most this long.
    Timeout(std::time::Duration),
}

/// Outcome of a lock request that did not fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockOutcome {
    /// The lock is held, newly or from before.
    Granted,
    /// Another transaction holds the lock and the request was `SKIP LOCKED`.
    Skipped,
}

/// Modes of the lock table. Rows use the first and the last, metadata locks all four.
///
/// | held \ wanted | Read | Write | ReadOnly | Exclusive |
/// |---|---|---|---|---|
/// | Read | + | + | + | − |
/// | Write | + | + | − | − |
/// | ReadOnly | + | − | + | − |
/// | Exclusive | − | − | − | − |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Mode {
    Read = 0,
    Write = 1,
    ReadOnly = 2,
    Exclusive = 3,
}

/// For each mode, a bit for every mode that is compatible with it.
const COMPATIBLE: [u8; 4] = [0b0111, 0b0011, 0b0101, 0b0000];

impl Mode {
    /// Returns whether two owners may hold these modes at the same time.
    pub(crate) fn is_compatible_with(self, other: Mode) -> bool {
        COMPATIBLE[self as usize] & (1 << other as u8) != 0
    }

    /// Returns whether holding `self` satisfies a request for `wanted`.
    pub(crate) fn covers(self, wanted: Mode) -> bool {
        self == wanted || self == Mode::Exclusive || wanted == Mode::Read
    }

    /// Returns the weakest mode that covers both.
    pub(crate) fn join(self, other: Mode) -> Mode {
        if self.covers(other) {
            self
        } else if other.covers(self) {
            other
        } else {
            Mode::Exclusive
        }
    }
}

impl From<LockMode> for Mode {
    fn from(mode: LockMode) -> Self {
        match mode {
            LockMode::Shared => Mode::Read,
            LockMode::Exclusive => Mode::Exclusive,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Mode::{self, *};

    #[test]
    fn compatibility_is_symmetric_and_joins_cover() {
        let all: [Mode; 4] = [Read, Write, ReadOnly, Exclusive];
        for a in all {
            for b in all {
                assert_eq!(a.is_compatible_with(b), b.is_compatible_with(a), "{a:?} {b:?}");
                let joined = a.join(b);
                assert!(joined.covers(a) && joined.covers(b), "{a:?} {b:?} {joined:?}");
                // A mode that is compatible with the stronger one is compatible with the weaker.
                for c in all {
                    if a.covers(b) && a.is_compatible_with(c) {
                        assert!(b.is_compatible_with(c), "{a:?} covers {b:?}, {c:?}");
                    }
                }
            }
        }
        assert_eq!(Write.join(ReadOnly), Exclusive);
    }
}
