//! Reads on a server of a cluster that may have been replaced as the primary (`paceline_cluster_stale_reads`).
//!
//! | value | a read that could be old |
//! |---|---|
//! | `REFUSE` | waits for a short time, then is refused with 1047, SQLSTATE 08S01 |
//! | `WARN` | has this as a warning |
//! | `ALLOW` | is a read like any other |
//!
//! `REFUSE` is the default: an old answer cannot be told from a new one, and a client that has been told goes to
//! another member. The error is that of Galera's nodes outside the primary component; its SQLSTATE makes drivers with a
//! list of hosts try the next one. The wait spans what passes by itself: a delayed pulse.
//!
//! A query is checked when it begins. A statement that changes rows or definitions needs no check as long as it has
//! changes: their commit waits for the quorum, which vouches for what was read. One that fails, and a transaction that
//! ends without a change, answers from what is read here, too ("there is no such table", "no row was found"): it is
//! checked at its end. If the lease holds then, nobody else has been the primary before. Checking them when they begin
//! would refuse what is allowed to wait.
//!
//! When the server has become a replica, each session that saw it as the primary is told once. Then its reads are those
//! of a replica.

use super::SessionServices;
use crate::cluster::{Cluster, ReplicaTime};
use crate::errors::of_transaction;
use crate::variables::Variable;
use paceline_expression::session::Diagnostics;
use paceline_syntax::{Error, Result};
use paceline_types::error_code::*;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Longest wait before a read is refused.
const WAIT_MAX: Duration = Duration::from_secs(1);
/// Time between two looks.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// Choice of the session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum StaleReads {
    Refuse,
    Warn,
    Allow,
}

/// Decides on a read while the lease does not hold.
///
/// # Errors
/// 1047 if it is refused; the errors of KILL.
#[cold]
pub fn decide(services: &SessionServices, cluster: &Cluster, diagnostics: &mut Diagnostics) -> Result<()> {
    let value = services
        .values
        .lock()
        .get(Variable::PacelineClusterStaleReads)
        .as_u64();
    let choice = match value {
        0 => StaleReads::Refuse,
        1 => StaleReads::Warn,
        _ => StaleReads::Allow,
    };
    if choice == StaleReads::Refuse && cluster.reads.replica_time() == ReplicaTime::NONE {
        wait(services, cluster)?;
        if cluster.reads.holds(services.accepted_reads()) {
            return Ok(());
        }
    }
    let replica = cluster.reads.replica_time();
    let text = match replica {
        ReplicaTime::NONE => "This server has lost the quorum of its cluster: what is read here may be old",
        _ => "This server is not the primary of its cluster any more: what is read here may be old",
    };
    // It has been told, whatever it makes of that.
    services.accepted_reads.store(replica.number(), Ordering::Relaxed);
    match choice {
        StaleReads::Refuse => return Err(Error::with_message(ER_UNKNOWN_COM_ERROR, text)),
        StaleReads::Warn => diagnostics.warn(ER_UNKNOWN_COM_ERROR, text.to_owned()),
        StaleReads::Allow => {}
    }
    Ok(())
}

/// Returns whether an error can be due to what was read. The others say that the statement is malformed, that it was
/// interrupted, or that this server takes no writes.
pub fn tells_of_reads(error: &Error) -> bool {
    ![
        ER_PARSE_ERROR,
        ER_UNKNOWN_COM_ERROR,
        ER_OPTION_PREVENTS_STATEMENT,
        ER_QUERY_INTERRUPTED,
        ER_CONNECTION_KILLED,
        ER_STATEMENT_TIMEOUT,
        ER_SERVER_SHUTDOWN,
        ER_LOCK_WAIT_TIMEOUT,
        ER_LOCK_DEADLOCK,
    ]
    .contains(&error.code())
}

/// Waits for a short time until the lease holds again, or this server is not the primary any more.
///
/// # Errors
/// Those of KILL.
fn wait(services: &SessionServices, cluster: &Cluster) -> Result<()> {
    let shared = &services.shared;
    let ends = Instant::now() + WAIT_MAX;
    shared.update(|activity| activity.state = "Waiting for the cluster's quorum");
    let goes_on = || {
        let is_primary = cluster.reads.replica_time() == ReplicaTime::NONE;
        is_primary && !cluster.reads.holds(ReplicaTime::NONE) && Instant::now() < ends
    };
    let waited = tokio::task::block_in_place(|| {
        while goes_on() {
            let slept = shared.interrupt.sleep(LOOK_EVERY);
            slept.map_err(|error| of_transaction(&error))?;
        }
        Ok(())
    });
    shared.update(|activity| activity.state = "executing");
    waited
}
