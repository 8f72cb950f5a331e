//! SHOW statements on connections to primaries and on replicas.

use super::binary_log::event_columns;
use crate::errors::of_replica;
use crate::server::Server;
use crate::session::protocol::Output;
use crate::session::services::SessionServices;
use crate::session::statements::replication::connection_name;
use paceline_expression::session::Privilege;
use paceline_log_stream::source::definition::UseGtid;
use paceline_log_stream::source::filter::FilterKind;
use paceline_replication::connection::ConnectionStatus;
use paceline_replication::received::SourcePosition;
use paceline_replication::status::ShownError;
use paceline_replication::until::Until;
use paceline_syntax::Result;
use paceline_types::Value;
use std::time::{SystemTime, UNIX_EPOCH};

/// Connections of a SHOW SLAVE STATUS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShownConnections {
    /// SHOW SLAVE STATUS.
    One,
    /// SHOW ALL SLAVES STATUS, which has more columns.
    All,
}

/// Executes SHOW SLAVE STATUS and SHOW ALL SLAVES STATUS.
///
/// # Errors
/// 1227; 1617 for an unknown connection.
pub fn slave_status(
    connection: Option<&str>,
    shown: ShownConnections,
    services: &SessionServices,
) -> Result<Output> {
    services.require_any(&[Privilege::Super, Privilege::SlaveMonitor])?;
    let server = &services.server;
    let connections = match shown {
        ShownConnections::All => server.replicas().all(),
        ShownConnections::One => {
            let name = connection_name(connection, services)?;
            match server.replicas().get(&name) {
                Ok(connection) => vec![connection],
                Err(_) if name.is_empty() => vec![],
                Err(error) => return Err(of_replica(error)),
            }
        }
    };
    let mut output = Output::new();
    status_columns(&mut output, shown);
    for connection in connections {
        let status = connection.status();
        // A connection without a primary is not shown.
        if status.definition.host.is_empty() {
            continue;
        }
        let row = status_row(&status, server, shown);
        output.row(row);
    }
    Ok(output)
}

/// Executes SHOW RELAYLOG EVENTS: there is no relay log.
///
/// # Errors
/// 1227; 1617 for an unknown connection.
pub fn relaylog_events(connection: Option<&str>, services: &SessionServices) -> Result<Output> {
    services.require_any(&[Privilege::SlaveMonitor])?;
    let name = connection_name(connection, services)?;
    if !name.is_empty() {
        services.server.replicas().get(&name).map_err(of_replica)?;
    }
    Ok(event_columns())
}

/// Executes SHOW SLAVE HOSTS.
///
/// # Errors
/// 1227.
pub fn slave_hosts(services: &SessionServices) -> Result<Output> {
    services.require_any(&[Privilege::ReplicationMasterAdmin])?;
    let mut output = Output::new();
    output
        .number("Server_id")
        .text("Host", 20)
        .number("Port")
        .number("Master_id");
    for replica in services.server.primary.replicas().list() {
        output.row(vec![
            Value::UInt(u64::from(replica.server_id.0)),
            Value::Text(replica.host),
            Value::UInt(u64::from(replica.port)),
            Value::UInt(u64::from(replica.source_id.0)),
        ]);
    }
    Ok(output)
}

/// Adds the columns of SHOW SLAVE STATUS, in MariaDB's order.
fn status_columns(output: &mut Output, shown: ShownConnections) {
    let all = shown == ShownConnections::All;
    if all {
        output.text("Connection_name", 64).text("Slave_SQL_State", 60);
    }
    output
        .text("Slave_IO_State", 60)
        .text("Master_Host", 255)
        .text("Master_User", 128)
        .number("Master_Port")
        .number("Connect_Retry")
        .text("Master_Log_File", 512)
        .number("Read_Master_Log_Pos")
        .text("Relay_Log_File", 512)
        .number("Relay_Log_Pos")
        .text("Relay_Master_Log_File", 512)
        .text("Slave_IO_Running", 10)
        .text("Slave_SQL_Running", 3);
    for name in [
        "Replicate_Do_DB",
        "Replicate_Ignore_DB",
        "Replicate_Do_Table",
        "Replicate_Ignore_Table",
        "Replicate_Wild_Do_Table",
        "Replicate_Wild_Ignore_Table",
    ] {
        output.text(name, 65_535);
    }
    output
        .number("Last_Errno")
        .text("Last_Error", 65_535)
        .number("Skip_Counter")
        .number("Exec_Master_Log_Pos")
        .number("Relay_Log_Space")
        .text("Until_Condition", 6)
        .text("Until_Log_File", 512)
        .number("Until_Log_Pos")
        .text("Master_SSL_Allowed", 7)
        .text("Master_SSL_CA_File", 512)
        .text("Master_SSL_CA_Path", 512)
        .text("Master_SSL_Cert", 512)
        .text("Master_SSL_Cipher", 512)
        .text("Master_SSL_Key", 512)
        .number("Seconds_Behind_Master")
        .text("Master_SSL_Verify_Server_Cert", 3)
        .number("Last_IO_Errno")
        .text("Last_IO_Error", 65_535)
        .number("Last_SQL_Errno")
        .text("Last_SQL_Error", 65_535)
        .text("Replicate_Ignore_Server_Ids", 65_535)
        .number("Master_Server_Id")
        .text("Master_SSL_Crl", 512)
        .text("Master_SSL_Crlpath", 512)
        .text("Using_Gtid", 11)
        .text("Gtid_IO_Pos", 65_535)
        .text("Replicate_Do_Domain_Ids", 65_535)
        .text("Replicate_Ignore_Domain_Ids", 65_535)
        .text("Parallel_Mode", 15)
        .number("SQL_Delay")
        .number("SQL_Remaining_Delay")
        .text("Slave_SQL_Running_State", 60)
        .number("Slave_DDL_Groups")
        .number("Slave_Non_Transactional_Groups")
        .number("Slave_Transactional_Groups")
        .text("Replicate_Rewrite_DB", 65_535);
    if all {
        output
            .number("Retried_transactions")
            .number("Max_relay_log_size")
            .number("Executed_log_entries")
            .number("Slave_received_heartbeats")
            .text("Slave_heartbeat_period", 20)
            .text("Gtid_Slave_Pos", 65_535);
    }
}

fn text(value: impl Into<String>) -> Value {
    Value::Text(value.into())
}

fn yes_no(on: bool) -> Value {
    text(if on { "Yes" } else { "No" })
}

fn list(ids: &[u32]) -> Value {
    let ids: Vec<String> = ids.iter().map(u32::to_string).collect();
    text(ids.join(", "))
}

fn status_row(status: &ConnectionStatus, server: &Server, shown: ShownConnections) -> Vec<Value> {
    let all = shown == ShownConnections::All;
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
        .as_secs();
    let definition = &status.definition;
    let options = crate::replication_options::options(server, &status.name);
    let filters = &options.filters;
    let filter = |kind: FilterKind| text(filters.show(kind));
    let recorded = status.recorded.clone();
    let read = match status.receiver.read.file.is_empty() {
        false => status.receiver.read.clone(),
        true => recorded.clone().unwrap_or(SourcePosition {
            file: "".into(),
            offset: 4,
        }),
    };
    let applied = status.applier.position.clone().or(recorded).unwrap_or_default();
    let apply_error = status.shown_apply_error();
    let sql_state = match (status.applier_runs, status.receiver.delayed) {
        (true, Some(_)) => "Waiting until MASTER_DELAY seconds after master executed event",
        (true, None) => status.applier.state.as_str(),
        (false, _) => "",
    };
    let (until, until_file, until_offset) = match &status.until {
        None => ("None", String::new(), 0),
        Some(Until::Gtids(_)) => ("Gtid", String::new(), 0),
        Some(Until::Place(place)) => ("Master", place.file.to_string(), place.offset),
    };
    let tls = &definition.tls;
    let error = |error: &ShownError| [Value::UInt(u64::from(error.number)), text(&error.message)];
    let optional = |value: Option<u64>| value.map_or(Value::Null, Value::UInt);
    let mut row = vec![];
    if all {
        row.extend([text(&*status.name), text(sql_state)]);
    }
    row.extend([
        text(status.receiver.doing),
        text(&definition.host),
        text(&definition.user),
        Value::UInt(u64::from(definition.port)),
        Value::UInt(u64::from(definition.connect_retry_seconds)),
        text(&*read.file),
        Value::UInt(read.offset),
        // There is no relay log: events that were read and not applied are in memory.
        text(""),
        Value::UInt(0),
        text(&*applied.file),
        text(status.receiver.state.name()),
        yes_no(status.applier_runs),
        filter(FilterKind::DoDb),
        filter(FilterKind::IgnoreDb),
        filter(FilterKind::DoTable),
        filter(FilterKind::IgnoreTable),
        filter(FilterKind::WildDoTable),
        filter(FilterKind::WildIgnoreTable),
    ]);
    row.extend(error(&apply_error));
    row.extend([
        Value::UInt(status.skip_events),
        Value::UInt(applied.offset),
        Value::UInt(status.applier.queued_bytes),
        text(until),
        text(until_file),
        Value::UInt(until_offset),
        yes_no(tls.enabled),
        text(&tls.parameters.ca),
        text(&tls.parameters.ca_path),
        text(&tls.parameters.certificate),
        text(&tls.parameters.cipher),
        text(&tls.parameters.key),
        optional(status.seconds_behind(now)),
        yes_no(tls.verify_server_certificate),
    ]);
    row.extend(error(&status.receiver.error));
    row.extend(error(&apply_error));
    row.extend([
        list(&definition.ignore_server_ids),
        Value::UInt(u64::from(status.receiver.master_server_id)),
        text(&tls.parameters.crl),
        text(&tls.parameters.crl_path),
        text(definition.use_gtid.name()),
        text(match definition.use_gtid {
            UseGtid::No => String::new(),
            _ => match &status.receiver.executed {
                Some(executed) => executed.to_string(),
                None => status.receiver.gtid_position.to_string(),
            },
        }),
        list(&definition.do_domain_ids),
        list(&definition.ignore_domain_ids),
        text(crate::replication_options::parallel_mode(server)),
        Value::UInt(u64::from(definition.delay_seconds)),
        optional(status.remaining_delay(now)),
        text(sql_state),
        Value::UInt(status.groups.ddl),
        Value::UInt(status.groups.non_transactional),
        Value::UInt(status.groups.transactional),
        filter(FilterKind::RewriteDb),
    ]);
    if all {
        row.extend([
            Value::UInt(status.applier.retried_transactions),
            Value::UInt(0),
            Value::UInt(status.applier.applied_transactions),
            Value::UInt(status.receiver.heartbeats),
            text(format!(
                "{:.3}",
                definition.heartbeat_period(options.net_timeout).as_secs_f64()
            )),
            // As in MariaDB it is `gtid_current_pos`, which includes local transactions.
            text(
                server
                    .transactions
                    .current_position(options.server_id)
                    .to_string(),
            ),
        ]);
    }
    row
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_columns_have_values() {
        for (shown, expected) in [(ShownConnections::One, 54), (ShownConnections::All, 62)] {
            let mut output = Output::new();
            status_columns(&mut output, shown);
            assert_eq!(output.columns().len(), expected);
        }
    }
}
