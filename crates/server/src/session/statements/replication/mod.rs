//! Replication statements: CHANGE MASTER, START, STOP and RESET SLAVE.

mod change_master;
mod until;

use crate::errors::of_replica;
use crate::server::Server;
use crate::session::protocol::Reply;
use crate::session::services::SessionServices;
use crate::session::state::SessionState;
use crate::variables::Variable;
use change_master::{change_master, use_gtid_changes};
use paceline_expression::session::{Diagnostics, Privilege};
use paceline_log_stream::source::definition::UseGtid;
use paceline_replication::connection::{PartChange, Threads};
use paceline_replication::connection_set::Forget;
use paceline_syntax::{Error, ReplicationStatement, ReplicationThreads, ReplicationValue, Result};
use paceline_types::error_code::*;
use until::until_of;

/// Maximum length of a connection's name in characters.
const CONNECTION_NAME_MAX: usize = 64;

/// Executes a replication statement.
///
/// # Errors
/// 1227; the errors of the connection to the primary.
pub async fn execute(statement: &ReplicationStatement, state: &mut SessionState) -> Result<Reply> {
    state
        .services
        .require_any(&[Privilege::Super, Privilege::ReplicationSlaveAdmin])?;
    // The members decide whom they follow.
    state.server.refuse_in_cluster()?;
    match statement {
        ReplicationStatement::ChangeMaster { connection, settings } => {
            let name = connection_name(connection.as_deref(), &state.services)?;
            change_master(&name, settings, &state.server, &mut state.context.diagnostics).await?;
        }
        ReplicationStatement::Start {
            connection,
            all: false,
            threads,
            until,
        } => {
            let name = connection_name(connection.as_deref(), &state.services)?;
            start_slave(
                &name,
                *threads,
                until,
                &state.server,
                &mut state.context.diagnostics,
            )
            .await?;
        }
        ReplicationStatement::Start { .. } => {
            start_all_slaves(&state.server, &mut state.context.diagnostics).await?
        }
        ReplicationStatement::Stop {
            connection,
            all: false,
            threads,
        } => {
            state.refuse_locks_and_transaction()?;
            let name = connection_name(connection.as_deref(), &state.services)?;
            let server = state.server.clone();
            let stopped = match server.replicas().stop(&name, threads_of(*threads)).await {
                // The default connection always exists, at least by name.
                Err(_) if name.is_empty() => PartChange::No,
                stopped => stopped.map_err(of_replica)?,
            };
            if stopped == PartChange::No {
                let message = ER_SLAVE_WAS_NOT_RUNNING.message(&[]);
                state.context.diagnostics.note(ER_SLAVE_WAS_NOT_RUNNING, message);
            }
        }
        ReplicationStatement::Stop { threads, .. } => {
            state.refuse_locks_and_transaction()?;
            let server = state.server.clone();
            for connection in server.replicas().all() {
                let name = connection.name().clone();
                let stopped = server.replicas().stop(&name, threads_of(*threads)).await;
                if stopped.map_err(of_replica)? == PartChange::Yes {
                    let message = format!("SLAVE '{name}' stopped");
                    state.context.diagnostics.note(ER_SLAVE_STOPPED, message);
                }
            }
        }
    }
    Ok(Reply::ok())
}

/// Executes RESET SLAVE.
///
/// # Errors
/// The errors of the connection to the primary: 1198 if it is running.
pub async fn reset_slave(
    connection: Option<&str>,
    forget: Forget,
    services: &SessionServices,
    diagnostics: &mut Diagnostics,
) -> Result<()> {
    services.server.refuse_in_cluster()?;
    let name = connection_name(connection, services)?;
    let server = &services.server;
    // The default connection need not exist.
    if name.is_empty() && server.replicas().get("").is_err() {
        return Ok(());
    }
    let before = server.replicas().reset(&name, forget).await.map_err(of_replica)?;
    if before != UseGtid::SlavePos {
        let (code, message) = use_gtid_changes("RESET SLAVE", before, UseGtid::SlavePos);
        diagnostics.note(code, message);
    }
    server.replicated_tables.forget(&name);
    Ok(())
}

/// Returns the connection of a statement: the named one, or `default_master_connection`.
///
/// # Errors
/// 1210 for an invalid name.
pub fn connection_name(named: Option<&str>, services: &SessionServices) -> Result<String> {
    let name = match named {
        Some(name) => name.to_owned(),
        None => services.default_connection(),
    };
    if name.chars().count() > CONNECTION_NAME_MAX || name.contains(['/', '\\', '\0']) {
        return Err(Error::new(ER_WRONG_ARGUMENTS, &[&"MASTER_CONNECTION_NAME"]));
    }
    Ok(name)
}

async fn start_slave(
    name: &str,
    threads: ReplicationThreads,
    until: &[(String, ReplicationValue)],
    server: &Server,
    diagnostics: &mut Diagnostics,
) -> Result<()> {
    let connection = match server.replicas().get(name) {
        Err(_) if name.is_empty() => {
            return Err(Error::with_message(
                ER_BAD_SLAVE,
                "Misconfigured slave: MASTER_HOST was not set; Fix in config file or with CHANGE MASTER TO",
            ));
        }
        found => found.map_err(of_replica)?,
    };
    let until = until_of(until, threads, &connection.definition())?;
    let has_until = until.is_some();
    let started = server.replicas().start(name, threads_of(threads), until).await;
    if started.map_err(of_replica)? == PartChange::No {
        let message = ER_SLAVE_WAS_RUNNING.message(&[]);
        diagnostics.note(ER_SLAVE_WAS_RUNNING, message);
    } else if has_until && !server.globals.is_on(Variable::SkipSlaveStart) {
        let message = ER_MISSING_SKIP_SLAVE.message(&[]);
        diagnostics.note(ER_MISSING_SKIP_SLAVE, message);
    }
    Ok(())
}

async fn start_all_slaves(server: &Server, diagnostics: &mut Diagnostics) -> Result<()> {
    for connection in server.replicas().all() {
        if connection.definition().host.is_empty() {
            continue;
        }
        let name = connection.name().clone();
        let started = server.replicas().start(&name, Threads::Both, None).await;
        if started.map_err(of_replica)? == PartChange::Yes {
            let message = format!("SLAVE '{name}' started");
            diagnostics.note(ER_SLAVE_STARTED, message);
        }
    }
    Ok(())
}

fn threads_of(threads: ReplicationThreads) -> Threads {
    match threads {
        ReplicationThreads::Both => Threads::Both,
        ReplicationThreads::Io => Threads::Receiver,
        ReplicationThreads::Sql => Threads::Applier,
    }
}
