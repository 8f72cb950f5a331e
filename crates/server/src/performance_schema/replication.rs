//! `replication_…`: connections to primaries, and what they apply. Workers have no rows: a transaction is executed by
//! whichever thread is free.

use crate::cells::{Row, moment, text, yes_no};
use crate::information_schema::{PrimaryConnection, Sources};
use paceline_types::Value;
use std::time::UNIX_EPOCH;

fn on_off(is_on: bool) -> Value {
    text(if is_on { "ON" } else { "OFF" })
}

fn list(ids: &[u32]) -> Value {
    let ids: Vec<String> = ids.iter().map(u32::to_string).collect();
    text(ids.join(", "))
}

fn int(value: impl TryInto<i64>) -> Value {
    Value::Int(value.try_into().unwrap_or(i64::MAX))
}

/// Returns the rows of `replication_connection_configuration`.
pub(super) fn connection_configuration(sources: &dyn Sources) -> Vec<Row> {
    let row = |connection: PrimaryConnection| {
        let definition = &connection.status.definition;
        let tls = &definition.tls;
        vec![
            text(&*connection.status.name),
            text(&definition.host),
            int(definition.port),
            text(&definition.user),
            text(definition.use_gtid.name().to_uppercase()),
            yes_no(tls.enabled),
            text(&tls.parameters.ca),
            text(&tls.parameters.ca_path),
            text(&tls.parameters.certificate),
            text(&tls.parameters.cipher),
            text(&tls.parameters.key),
            yes_no(tls.verify_server_certificate),
            text(&tls.parameters.crl),
            text(&tls.parameters.crl_path),
            int(definition.connect_retry_seconds),
            Value::UInt(connection.retry_count),
            Value::Double(connection.heartbeat_seconds),
            list(&definition.ignore_server_ids),
            list(&definition.do_domain_ids),
            list(&definition.ignore_domain_ids),
        ]
    };
    sources.primaries().into_iter().map(row).collect()
}

/// Returns the rows of `replication_applier_configuration`.
pub(super) fn applier_configuration(sources: &dyn Sources) -> Vec<Row> {
    let row = |connection: PrimaryConnection| {
        vec![
            text(&*connection.status.name),
            int(connection.status.definition.delay_seconds),
        ]
    };
    sources.primaries().into_iter().map(row).collect()
}

/// Returns the rows of `replication_applier_status`.
pub(super) fn applier_status(sources: &dyn Sources) -> Vec<Row> {
    let row = |connection: PrimaryConnection| {
        let status = &connection.status;
        vec![
            text(&*status.name),
            on_off(status.applier_runs),
            connection.remaining_delay.map_or(Value::Null, Value::UInt),
            Value::UInt(status.applier.retried_transactions),
        ]
    };
    sources.primaries().into_iter().map(row).collect()
}

/// Returns the rows of `replication_applier_status_by_coordinator`.
pub(super) fn coordinators(sources: &dyn Sources) -> Vec<Row> {
    let row = |connection: PrimaryConnection| {
        let status = &connection.status;
        let error = status.shown_apply_error();
        let at = error.at.and_then(|at| at.duration_since(UNIX_EPOCH).ok());
        let micros = at.and_then(|at| i64::try_from(at.as_micros()).ok()).unwrap_or(0);
        let thread = status.threads[1].as_ref();
        vec![
            text(&*status.name),
            thread.map_or(Value::Null, |thread| Value::UInt(u64::from(thread.id))),
            on_off(status.applier_runs),
            int(error.number),
            text(error.message),
            moment(micros),
            text(
                status
                    .applier
                    .last_gtid
                    .map_or(String::new(), |gtid| gtid.to_string()),
            ),
            int(status.applier.retried_transactions),
        ]
    };
    sources.primaries().into_iter().map(row).collect()
}
