//! The modes of a lock and which of them go together.

/// How a row, an index key or a key range is locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockMode {
    /// `LOCK IN SHARE MODE`, SERIALIZABLE reads: others may read under lock, none may write.
    Shared,
    /// `FOR UPDATE` and every write: nobody else has it.
    Exclusive,
}

/// What to do when a lock is not to be had at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum LockWait {
    /// Wait as long as the transaction's options say (`innodb_lock_wait_timeout`).
    #[default]
    Default,
    /// `NOWAIT`: error 1205 at once.
    NoWait,
    /// `SKIP LOCKED`: [`Granted::Skipped`].
    SkipLocked,
    /// `WAIT n`.
    Timeout(std::time::Duration),
}

/// What became of a lock request that did not fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Granted {
    /// The lock is held, newly or already.
    Granted,
    /// Another transaction has it and the request was `SKIP LOCKED`.
    Skipped,
}

/// The four modes of the lock table. Rows use the first and the last; metadata locks all of them.
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

/// For each mode, a bit for every mode that it tolerates beside it.
const COMPATIBLE: [u8; 4] = [0b0111, 0b0011, 0b0101, 0b0000];

impl Mode {
    /// Whether two owners may hold these at the same time.
    pub(crate) fn goes_with(self, other: Mode) -> bool {
        COMPATIBLE[self as usize] & (1 << other as u8) != 0
    }

    /// Whether holding `self` is enough for who wants `wanted`.
    pub(crate) fn covers(self, wanted: Mode) -> bool {
        self == wanted || self == Mode::Exclusive || wanted == Mode::Read
    }

    /// The weakest mode that covers both.
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
                assert_eq!(a.goes_with(b), b.goes_with(a), "{a:?} {b:?}");
                let joined = a.join(b);
                assert!(joined.covers(a) && joined.covers(b), "{a:?} {b:?} {joined:?}");
                // What tolerates the stronger tolerates the weaker.
                for c in all {
                    if a.covers(b) && a.goes_with(c) {
                        assert!(b.goes_with(c), "{a:?} covers {b:?}, {c:?}");
                    }
                }
            }
        }
        assert_eq!(Write.join(ReadOnly), Exclusive);
    }
}
