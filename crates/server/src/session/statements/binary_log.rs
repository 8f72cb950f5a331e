//! Administration of the binary log: FLUSH, PURGE, RESET MASTER.

use super::replication::reset_slave;
use crate::errors::of_transaction;
use crate::registry::STREAM_COMMAND;
use crate::server::Server;
use crate::session::evaluate::evaluate;
use crate::session::protocol::Reply;
use crate::session::services::SessionServices;
use crate::session::state::SessionState;
use crate::variables::Variable;
use paceline_binlog::log::PurgeTarget;
use paceline_expression::session::{Diagnostics, Privilege, SessionContext};
use paceline_replication::connection_set::Forget;
use paceline_syntax::ast::Expr;
use paceline_syntax::{Error, Purge, ResetTarget, Result};
use paceline_txn::InterruptReason;
use paceline_types::error_code::*;
use paceline_types::{DomainId, Value};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Maximum time that RESET MASTER waits for the streams that it ends, and the interval of its checks.
const STREAM_END_MAX: Duration = Duration::from_secs(10);
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// Executes FLUSH BINARY LOGS.
pub fn flush_binary_logs(server: &Server) -> Result<()> {
    let transactions = &server.transactions;
    let expire_after = server.globals.number(Variable::BinlogExpireLogsSeconds);
    let done = tokio::task::block_in_place(|| {
        transactions.rotate()?;
        // Purging begins with a checkpoint, after which recovery does not need old files.
        if expire_after > 0 {
            let limit = SystemTime::now() - Duration::from_secs(expire_after);
            let outcome = transactions.purge(&PurgeTarget::Before(limit))?;
            for file in &outcome.removed {
                tracing::info!("purged the expired binary log {}", file.name);
            }
        }
        Ok(())
    });
    done.map_err(|error: paceline_txn::Error| of_transaction(&error))
}

/// Executes FLUSH BINARY LOGS DELETE_DOMAIN_ID=(…). As in MariaDB it rotates the log for an empty list, but not if none
/// of the domains is known.
pub fn delete_domains(domains: &[u32], server: &Server, diagnostics: &mut Diagnostics) -> Result<()> {
    if domains.is_empty() {
        return flush_binary_logs(server);
    }
    server.refuse_in_cluster()?;
    let domains: Vec<DomainId> = domains.iter().copied().map(DomainId).collect();
    let transactions = &server.transactions;
    let deletion = tokio::task::block_in_place(|| transactions.delete_domains(&domains))
        .map_err(|error| of_transaction(&error))?;
    for doubt in &deletion.doubts {
        let message = format!("The current gtid binlog state is incompatible with a former one {doubt}.");
        diagnostics.warn(ER_BINLOG_CANT_DELETE_GTID_DOMAIN, message);
    }
    for domain in &deletion.unknown {
        let message =
            format!("The gtid domain being deleted ('{domain}') is not in the current binlog state");
        diagnostics.warn(ER_BINLOG_CANT_DELETE_GTID_DOMAIN, message);
    }
    Ok(())
}

/// Executes PURGE BINARY LOGS.
///
/// # Errors
/// 1227; 1373 for an unknown file; the errors of the log.
pub fn purge(purge: &Purge, services: &SessionServices, context: &mut SessionContext) -> Result<Reply> {
    services.require_any(&[Privilege::Super, Privilege::BinlogAdmin])?;
    let target = match purge {
        Purge::To(file) => PurgeTarget::File(file.clone()),
        Purge::Before(Expr::Subquery(_)) => {
            return Err(Error::new(ER_SUBQUERIES_NOT_SUPPORTED, &[&"PURGE..BEFORE"]));
        }
        Purge::Before(expr) => {
            let seconds = seconds_since_1970(expr, context)?;
            PurgeTarget::Before(UNIX_EPOCH + Duration::from_secs(seconds))
        }
    };
    let transactions = &services.server.transactions;
    let outcome = tokio::task::block_in_place(|| transactions.purge(&target))
        .map_err(|error| of_transaction(&error))?;
    for file in &outcome.removed {
        tracing::info!("purged binary log {}", file.name);
    }
    if let Some(block) = &outcome.blocked {
        let message = format!(
            "file {} was not purged because it was being read by {}",
            block.file, block.needed_by
        );
        context.diagnostics.warn(ER_LOG_IN_USE, message);
    }
    Ok(Reply::ok())
}

/// Returns the time of an expression: `UNIX_TIMESTAMP(expr)`.
fn seconds_since_1970(expr: &Expr, context: &mut SessionContext) -> Result<u64> {
    let seconds = Expr::call("UNIX_TIMESTAMP", vec![expr.clone()]);
    match evaluate(&seconds, context)? {
        Value::Null => Err(Error::new(ER_WRONG_ARGUMENTS, &[&"PURGE LOGS BEFORE"])),
        value => {
            let text = paceline_types::text::to_string(&value.as_ref(), &context.settings.time_zone);
            let seconds = text.parse::<f64>().unwrap_or(0.0);
            Ok(seconds.max(0.0) as u64)
        }
    }
}

/// Executes RESET MASTER and related statements.
///
/// # Errors
/// 1227; the errors of the log; 1198 for a connection that is running.
pub async fn reset(targets: &[ResetTarget], state: &mut SessionState) -> Result<Reply> {
    state.services.require_any(&[Privilege::Reload])?;
    for target in targets {
        match target {
            ResetTarget::Master(number) => {
                state.server.refuse_in_cluster()?;
                state.commit().await?;
                end_streams(&state.services).await?;
                let number = number.map(|number| u32::try_from(number).unwrap_or(u32::MAX));
                let transactions = &state.server.transactions;
                tokio::task::block_in_place(|| transactions.reset(number))
                    .map_err(|error| of_transaction(&error))?;
                state.server.primary.semi_sync().restart_counters();
                tracing::info!("RESET MASTER by {}: a new binary log begins", state.context.user);
            }
            ResetTarget::QueryCache => {}
            ResetTarget::Slave { connection, all } => {
                let forget = match all {
                    true => Forget::Connection,
                    false => Forget::Place,
                };
                reset_slave(
                    connection.as_deref(),
                    forget,
                    &state.services,
                    &mut state.context.diagnostics,
                )
                .await?;
            }
        }
    }
    Ok(Reply::ok())
}

/// Ends the streams to replicas, which would otherwise continue in removed files. The replicas reconnect and receive
/// the new state of the log.
async fn end_streams(services: &SessionServices) -> Result<()> {
    let sessions = &services.server.sessions;
    let streams = || {
        let all = sessions.all().into_iter();
        all.filter(|session| session.activity().command == STREAM_COMMAND)
    };
    for session in streams() {
        session.kill(InterruptReason::Connection);
    }
    let deadline = Instant::now() + STREAM_END_MAX;
    while streams().next().is_some() && Instant::now() < deadline {
        services
            .shared
            .interrupt
            .check()
            .map_err(|error| of_transaction(&error))?;
        tokio::time::sleep(LOOK_EVERY).await;
    }
    Ok(())
}
