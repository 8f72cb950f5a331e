//! A round: a run of a domain's transactions that touch no common key.

use super::progress::PushNumber;
use super::queue::{Item, Work};
use crate::received::ReceivedGroup;
use paceline_apply::replicated::{Failure, MappedTables};
use paceline_binlog::event::CommitId;
use paceline_catalog::TableDefinition;
use paceline_txn::{MetadataGuard, Session, Transaction};
use parking_lot::Mutex;
use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Maximum number of transactions in a round.
const TRANSACTIONS_MAX: usize = 512;
/// Size in bytes of events at which a round ends.
const BYTES_MAX: usize = 2 << 20;

/// Number of a lane's round, counted from 1.
pub(super) type RoundNumber = u64;

/// Hasher for keys that are already hashes.
#[derive(Default)]
pub(super) struct IdentityHasher(u64);

impl Hasher for IdentityHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }
}

/// Set of key hashes.
pub(super) type KeySet = HashSet<u64, BuildHasherDefault<IdentityHasher>>;

/// A transaction in a round.
pub(super) struct PlannedTransaction {
    pub(super) number: PushNumber,
    pub(super) received: ReceivedGroup,
    pub(super) tables: MappedTables,
    /// Round that must be placed before it is prepared; 0 for none.
    pub(super) after: RoundNumber,
}

impl PlannedTransaction {
    /// Converts it back to an item, to be planned again.
    pub(super) fn into_item(self) -> Item {
        Item {
            number: self.number,
            work: Work::Apply(self.received),
            bytes: 0,
        }
    }
}

/// Round that is being planned.
pub(super) struct RoundBuilder {
    /// Owner of the round's metadata locks.
    pub(super) session: Session,
    pub(super) guards: Vec<MetadataGuard>,
    pub(super) locked: Vec<Arc<TableDefinition>>,
    pub(super) planned: Vec<PlannedTransaction>,
    pub(super) keys: KeySet,
    /// Commit id of its transactions, in conservative mode.
    pub(super) commit_id: Option<CommitId>,
    /// It contains a transaction whose keys cannot be determined. No other transaction may join.
    pub(super) touches_everything: bool,
    bytes: usize,
}

impl RoundBuilder {
    pub(super) fn new(session: Session) -> Self {
        RoundBuilder {
            session,
            guards: Vec::new(),
            locked: Vec::new(),
            planned: Vec::new(),
            keys: KeySet::default(),
            commit_id: None,
            touches_everything: false,
            bytes: 0,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.planned.is_empty()
    }

    pub(super) fn add(&mut self, planned: PlannedTransaction, bytes: usize) {
        self.planned.push(planned);
        self.bytes += bytes;
    }

    pub(super) fn is_full(&self) -> bool {
        self.planned.len() >= TRANSACTIONS_MAX || self.bytes >= BYTES_MAX
    }
}

/// Transaction that has been through a worker.
pub(super) struct PreparedTransaction {
    /// Index in the round.
    pub(super) index: usize,
    pub(super) planned: PlannedTransaction,
    /// `None` if it was not tried, because an earlier one failed.
    pub(super) result: Option<Result<Box<Transaction>, Failure>>,
}

/// Round that is being prepared.
pub(super) struct Round {
    pub(super) number: RoundNumber,
    guards: Mutex<Vec<MetadataGuard>>,
    prepared: Mutex<Vec<PreparedTransaction>>,
    open_chunks: AtomicUsize,
}

/// Part of a round for one worker.
pub(super) struct Chunk {
    pub(super) round: Arc<Round>,
    pub(super) planned: Vec<(usize, PlannedTransaction)>,
}

impl Round {
    /// Splits a planned round into chunks. Transactions that can begin now, because the rounds up to `placed` are
    /// placed, come first.
    pub(super) fn cut(
        builder: RoundBuilder,
        number: RoundNumber,
        placed: RoundNumber,
        chunk_transactions: usize,
    ) -> Vec<Chunk> {
        let count = builder.planned.len();
        let (ready, waiting): (Vec<_>, Vec<_>) = builder
            .planned
            .into_iter()
            .enumerate()
            .partition(|(_, planned)| planned.after <= placed);
        let size = chunk_transactions.max(1);
        let chunks = ready.len().div_ceil(size) + waiting.len().div_ceil(size);
        let round = Arc::new(Round {
            number,
            guards: Mutex::new(builder.guards),
            prepared: Mutex::new(Vec::with_capacity(count)),
            open_chunks: AtomicUsize::new(chunks),
        });
        let mut cut = Vec::with_capacity(chunks);
        for part in [ready, waiting] {
            let mut part = part.into_iter().peekable();
            while part.peek().is_some() {
                cut.push(Chunk {
                    round: round.clone(),
                    planned: part.by_ref().take(size).collect(),
                });
            }
        }
        cut
    }

    /// Records that a worker has finished a chunk. Returns true for the last one: the round is complete.
    pub(super) fn chunk_done(&self, prepared: Vec<PreparedTransaction>) -> bool {
        self.prepared.lock().extend(prepared);
        self.open_chunks.fetch_sub(1, Ordering::AcqRel) == 1
    }

    /// Returns the prepared transactions, in order, and the metadata locks.
    pub(super) fn take(&self) -> (Vec<PreparedTransaction>, Vec<MetadataGuard>) {
        let mut prepared = std::mem::take(&mut *self.prepared.lock());
        // Chunks are sorted, so a stable sort merges them.
        prepared.sort_by_key(|prepared| prepared.index);
        (prepared, std::mem::take(&mut *self.guards.lock()))
    }
}
