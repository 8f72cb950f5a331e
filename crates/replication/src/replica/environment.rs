//! What stands around a connection.

use super::apply::{Applier, KeptPosition};
use super::options::ReplicaOptions;
use paceline_txn::TransactionManager;
use std::sync::Arc;

/// What connections need of the server around them.
pub trait Environment: Send + Sync + 'static {
    /// Transactions, and the log that says where every connection stands.
    fn transactions(&self) -> &Arc<TransactionManager>;

    /// What the variables say now.
    fn options(&self, connection: &str) -> ReplicaOptions;

    /// A number for the process list.
    fn new_thread_id(&self) -> u32;

    /// A new applier for a connection.
    fn start_applier(&self, connection: &Arc<str>, position: KeptPosition) -> Applier;
}
