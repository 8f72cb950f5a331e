//! Interface between connections and the server.

use super::apply::{Applier, KeptPosition};
use paceline_log_stream::source::options::ReplicaOptions;
use paceline_log_stream::source::password::PasswordKey;
use paceline_txn::TransactionManager;
use std::sync::Arc;

/// Parts of the server that connections need.
pub trait Environment: Send + Sync + 'static {
    /// Returns the transaction manager. Its log records the position of every connection.
    fn transactions(&self) -> &Arc<TransactionManager>;

    /// Returns the key for sealing passwords in the log.
    fn password_key(&self) -> &PasswordKey;

    /// Returns the current values of the variables.
    fn options(&self, connection: &str) -> ReplicaOptions;

    /// Returns a new id for the process list.
    fn new_thread_id(&self) -> u32;

    /// Starts an applier for a connection.
    fn start_applier(&self, connection: &Arc<str>, position: KeptPosition) -> Applier;
}
