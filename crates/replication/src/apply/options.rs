//! Options and dependencies of an applier.

use super::statements::StatementRunners;
use paceline_apply::replicated::{RowOptions, StatementCounts, TableFilter};
use paceline_catalog::{CatalogHandle, IndexStatistics};
use paceline_txn::TransactionManager;
use parking_lot::RwLock;
use std::sync::Arc;

/// Maximum number of lanes of one connection.
pub const LANES_MAX: usize = 64;

/// `slave_parallel_mode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ParallelMode {
    /// One transaction is prepared at a time. Transactions still share syncs.
    None,
    /// Transactions of one commit group of the primary (by commit id) are prepared together.
    Conservative,
    /// Transactions that touch no common key are prepared together.
    #[default]
    Optimistic,
}

/// Position of a connection that is logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum KeptPosition {
    /// The GTIDs of the transactions: `MASTER_USE_GTID`.
    #[default]
    Gtid,
    /// Also the position in the primary's log, with every transaction: a connection without GTIDs continues there.
    FileAndGtid,
}

/// Options for applying rows. They may change while appliers run and take effect with the next table map, except
/// `skipped_errors`, which an applier reads when it starts.
#[derive(Debug, Default)]
pub struct SharedRowOptions(RwLock<Arc<RowOptions>>);

impl SharedRowOptions {
    /// Shares these options.
    pub fn new(options: RowOptions) -> Self {
        SharedRowOptions(RwLock::new(Arc::new(options)))
    }

    /// Returns the current options.
    pub fn get(&self) -> Arc<RowOptions> {
        self.0.read().clone()
    }

    /// Replaces the options.
    pub fn set(&self, options: RowOptions) {
        *self.0.write() = Arc::new(options);
    }
}

/// Options for applying a connection's transactions.
#[derive(Clone, Debug)]
pub struct ApplierOptions {
    /// `slave_parallel_threads`: number of threads that prepare transactions; 0: one thread applies everything, in the
    /// primary's order, whatever the domains.
    pub workers: usize,
    /// `slave_domain_parallel_threads`: maximum number of these threads for one domain at a time; 0: all.
    pub domain_workers: usize,
    /// `slave_parallel_mode`.
    pub mode: ParallelMode,
    /// Maximum number of bytes that are received and not planned yet.
    pub queued_bytes_max: usize,
    /// Position that is recorded.
    pub position: KeptPosition,
    /// Options for rows, from the variables' current values.
    pub rows: Arc<SharedRowOptions>,
}

impl Default for ApplierOptions {
    fn default() -> Self {
        ApplierOptions {
            workers: 0,
            domain_workers: 0,
            mode: ParallelMode::default(),
            queued_bytes_max: 16 << 20,
            position: KeptPosition::default(),
            rows: Arc::default(),
        }
    }
}

/// Dependencies of an applier.
pub struct ApplierParts {
    /// Name of the connection, for messages; empty for the default connection.
    pub connection: Arc<str>,
    /// Transactions, log and engines.
    pub manager: Arc<TransactionManager>,
    /// Databases and tables.
    pub catalog: Arc<CatalogHandle>,
    /// Estimates that choose an index for partial images.
    pub index_statistics: Arc<dyn IndexStatistics>,
    /// Filter for replicated tables.
    pub filter: Arc<dyn TableFilter>,
    /// Options.
    pub options: ApplierOptions,
    /// Creates sessions for statements.
    pub statements: Arc<dyn StatementRunners>,
    /// Counters of the statements that are applied as rows.
    pub statement_counts: Arc<StatementCounts>,
}
