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
//! When the server has become a replica, each session that saw it as the primary is told once. Then its reads are those
//! of a replica.

use super::SessionServices;
use crate::cluster::{Cluster, ReplicaTime};
use crate::errors::of_transaction;
use crate::variables::Variable;
use paceline_expression::session::Diagnostics;
use paceline_syntax::{Error, Result};
use paceline_types::error_code::ER_UNKNOWN_COM_ERROR;
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
