//! Commit of a prepared DDL statement.

use crate::errors::of_transaction;
use crate::registry::CLUSTER_COMMIT;
use crate::session::logged_statement::LoggedStatement;
use crate::session::services::SessionServices;
use crate::session::state::SessionState;
use crate::session::transaction::replication;
use paceline_binlog::event::EventFlags;
use paceline_catalog::CatalogChange;
use paceline_catalog::ddl::{LoggedStatement as Logged, PreparedDdl};
use paceline_syntax::Result;
use paceline_txn::{CommitOutcome, DdlCommit, GtidChoice};

/// Commits a prepared statement.
pub async fn commit_ddl(prepared: PreparedDdl, text: &[u8], state: &mut SessionState) -> Result<()> {
    let mut logged = LoggedStatement::of(state, text);
    // A generated text contains only the changes of the statement.
    if prepared.plan.logged == Logged::AsWritten {
        logged = logged.with_failure(prepared.plan.failure.as_ref());
    }
    // The record of a trigger has hundredths of its second.
    let has_trigger = |change: &CatalogChange| matches!(change, CatalogChange::PutTrigger(_));
    let has_new_values = prepared.plan.fills_columns || prepared.built.is_some_and(|built| built.rows > 0);
    if has_new_values || prepared.changes().iter().any(has_trigger) {
        logged = logged.with_fraction(&state.context);
    }
    let outcome = commit_prepared(prepared, &logged, state).await?;
    state.committed(outcome);
    Ok(())
}

/// Commits the definition of a table that will be filled, or its removal. A primary's GTID belongs to the whole
/// statement, which ends with the rows. The definition is therefore a group of this server alone.
pub async fn commit_unfilled(prepared: PreparedDdl, text: &[u8], state: &mut SessionState) -> Result<()> {
    let Some(gtid) = primarys_gtid(&state.services) else {
        return commit_ddl(prepared, text, state).await;
    };
    state.services.transaction.lock().replicated = None;
    let log_bin = std::mem::replace(&mut state.context.settings.log_bin, false);
    let done = commit_ddl(prepared, text, state).await;
    state.context.settings.log_bin = log_bin;
    state.services.transaction.lock().replicated = Some(gtid);
    done
}

/// Returns the GTID of the primary's statement that is being replicated.
pub fn primarys_gtid(services: &SessionServices) -> Option<GtidChoice> {
    services.transaction.lock().replicated.clone()
}

/// Commits a prepared statement: the Query event, the changes and the built data. Replaces the catalog in the order of
/// the log.
///
/// # Errors
/// The reason why it was not committed. The built data is then deleted.
async fn commit_prepared(
    prepared: PreparedDdl,
    logged: &LoggedStatement,
    state: &mut SessionState,
) -> Result<CommitOutcome> {
    let server = state.server.clone();
    let storage = server.transactions.storage().clone();
    if !prepared.builds.is_empty() {
        // The activation must not wait for a flush of the tables within the commit.
        tokio::task::block_in_place(|| storage.prepare_activate())
            .map_err(|error| of_transaction(&paceline_txn::Error::from(error)))?;
    }
    let changes = prepared.plan.changes;
    let on_publish = {
        let server = server.clone();
        Box::new(move |version| {
            server
                .catalog
                .publish(&changes, version)
                .expect("a planned description does not contradict itself");
            if changes
                .iter()
                .any(|change| matches!(change, CatalogChange::PutAccount { .. }))
            {
                server.accounts.reload(&server.catalog.load());
            }
        })
    };
    let builds = prepared.builds.clone();
    let query = logged.query_event(prepared.xid);
    let ddl = DdlCommit {
        query: &query,
        event_flags: EventFlags::NONE,
        timestamp_seconds: logged.timestamp_seconds,
        writes: prepared.writes,
        builds: prepared.builds,
        on_publish: Some(on_publish),
        gtid: state.services.gtid_choice(),
        replication: replication(&state.context, &state.services),
        metadata_lock_timeout: state.context.settings.metadata_lock_wait_timeout,
    };
    if server.cluster.is_some() {
        state.shared.update(|activity| activity.state = CLUSTER_COMMIT);
    }
    state.services.wait_while_held().await;
    let locks = &state.services.locks;
    let committing = server
        .transactions
        .commit_ddl_where(locks, ddl, || state.check_writable().is_ok());
    match committing.await {
        Ok(outcome) => Ok(outcome),
        Err(error) => {
            for build in builds {
                if let Err(error) = storage.abandon(build) {
                    tracing::warn!("build {build} could not be deleted: {error}");
                }
            }
            Err(of_transaction(&error))
        }
    }
}
