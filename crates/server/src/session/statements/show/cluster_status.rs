//! SHOW CLUSTER STATUS: the members of the cluster, as each of them tells its state.

use crate::session::protocol::Output;
use crate::session::services::SessionServices;
use paceline_cluster::HolderKind;
use paceline_cluster_host::commands::members_of;
use paceline_cluster_host::picture::{PicturedMember, picture};
use paceline_cluster_host::report::MemberReport;
use paceline_expression::ExprType;
use paceline_expression::session::Privilege;
use paceline_syntax::Result;
use paceline_types::Value;

/// Executes SHOW CLUSTER STATUS. A server that is no member of a cluster shows no rows.
///
/// # Errors
/// 1227.
pub async fn cluster_status(services: &SessionServices) -> Result<Output> {
    services.require_any(&[
        Privilege::Super,
        Privilege::SlaveMonitor,
        Privilege::BinlogMonitor,
    ])?;
    let mut output = Output::new();
    output
        .text("Member", 64)
        .number("Member_id")
        .text("Part", 16)
        .text("State", 512)
        .text("Address", 255)
        .text("Kind", 16)
        .number("Zone")
        .number("Priority")
        .text("Version", 64)
        .number("Epoch")
        .text("Gtid_position", 65_535)
        .number("Log_index")
        .number("Published_index")
        .number("Lag_transactions")
        .number("Lag_bytes")
        .column("Lag_seconds", seconds())
        .column("Heard_seconds_ago", seconds())
        .text("Waits", 1024);
    let Some(cluster) = &services.server.cluster else {
        return Ok(output);
    };
    let handle = &cluster.membership.handle;
    let directory = handle.directory().borrow().clone();
    let Some(known) = handle.etcd_state() else {
        // Only right after the start, while etcd is away.
        return Ok(output);
    };
    let members = members_of(&known, &directory);
    let own = handle.report();
    for member in picture(members, Some(own.clone()), &cluster.membership.login()).await {
        output.row(row(&member, &own));
    }
    Ok(output)
}

fn seconds() -> ExprType {
    ExprType {
        nullable: true,
        ..ExprType::double()
    }
}

fn row(member: &PicturedMember, own: &MemberReport) -> Vec<Value> {
    let text = |text: &str| Value::Text(text.to_owned());
    let optional = |number: Option<u64>| number.map_or(Value::Null, Value::UInt);
    let of_ms = |ms: Option<u64>| ms.map_or(Value::Null, |ms| Value::Double(ms as f64 / 1000.0));
    let entry = member.overview.entry.as_ref();
    let report = member.answer.as_ref().ok();
    let (lag, kind) = (member.lag, member.overview.kind);
    let heard = own.peer(member.overview.id);
    vec![
        entry.map_or(Value::Null, |entry| text(&entry.name)),
        Value::UInt(u64::from(member.overview.id.0)),
        text(member.overview.part_name()),
        Value::Text(member.state()),
        entry.map_or(Value::Null, |entry| {
            Value::Text(format!("{}:{}", entry.host, entry.port))
        }),
        text(match kind {
            HolderKind::Server => "server",
            HolderKind::Archive => "archive",
        }),
        optional(entry.map(|entry| u64::from(entry.zone))),
        optional(entry.map(|entry| u64::from(entry.priority))),
        entry.map_or(Value::Null, |entry| text(&entry.version)),
        optional(report.and_then(|report| report.epoch)),
        report.map_or(Value::Null, |report| text(&report.gtid_position)),
        optional(report.map(|report| report.log_index)),
        optional(report.map(|report| report.published_index)),
        optional(lag.transactions),
        optional(lag.bytes),
        of_ms(lag.ms),
        of_ms(heard.map(|peer| peer.silent_ms)),
        report
            .and_then(|report| report.waits.as_deref())
            .map_or(Value::Null, text),
    ]
}
