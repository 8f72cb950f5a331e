//! SHOW BINARY LOGS, SHOW MASTER STATUS and SHOW BINLOG EVENTS.

use crate::errors::of_log;
use crate::session::protocol::Output;
use crate::session::services::SessionServices;
use crate::session::user_variable_event::user_variable;
use paceline_binlog::event::{Event, EventFlags, GtidFlags, IntvarKind, UserVarEvent};
use paceline_expression::session::Privilege;
use paceline_syntax::{Error, Result, ShowLimit};
use paceline_types::error_code::ER_ERROR_WHEN_EXECUTING_COMMAND;
use paceline_types::{Collation, TimeZone, Value};

/// Returns a result set without rows, with the columns of SHOW BINLOG EVENTS and SHOW RELAYLOG EVENTS.
pub fn event_columns() -> Output {
    let mut output = Output::new();
    output
        .text("Log_name", 20)
        .number("Pos")
        .text("Event_type", 20)
        .number("Server_id")
        .number("End_log_pos")
        .text("Info", 65_535);
    output
}

fn may_see_log(services: &SessionServices) -> Result<()> {
    services.require_any(&[Privilege::Super, Privilege::BinlogMonitor])
}

/// Executes SHOW BINARY LOGS.
///
/// # Errors
/// 1227.
pub fn binary_logs(services: &SessionServices) -> Result<Output> {
    may_see_log(services)?;
    let mut output = Output::new();
    output.text("Log_name", 255).number("File_size");
    for file in services.server.transactions.log().files() {
        output.row(vec![Value::Text(file.name), Value::UInt(file.length)]);
    }
    Ok(output)
}

/// Executes SHOW MASTER STATUS.
///
/// # Errors
/// 1227; the errors of the log.
pub fn master_status(services: &SessionServices) -> Result<Output> {
    may_see_log(services)?;
    let transactions = &services.server.transactions;
    let (file, offset) = transactions
        .log()
        .coordinates(transactions.log().written())
        .map_err(of_log)?;
    let mut output = Output::new();
    output
        .text("File", 255)
        .number("Position")
        .text("Binlog_Do_DB", 255)
        .text("Binlog_Ignore_DB", 255);
    let empty = || Value::Text(String::new());
    output.row(vec![Value::Text(file), Value::UInt(offset), empty(), empty()]);
    Ok(output)
}

/// Executes SHOW BINLOG EVENTS.
///
/// # Errors
/// 1227; 1220 for an unknown file or position.
pub fn binlog_events(
    file: Option<&str>,
    position: Option<u64>,
    limit: ShowLimit,
    services: &SessionServices,
) -> Result<Output> {
    services.require_any(&[Privilege::BinlogMonitor])?;
    let log = services.server.transactions.log();
    let files = log.files();
    let wrong = |what: &str| Error::new(ER_ERROR_WHEN_EXECUTING_COMMAND, &[&"SHOW BINLOG EVENTS", &what]);
    let name = match file {
        Some(name) => name.to_owned(),
        None => files
            .first()
            .map(|file| file.name.clone())
            .ok_or_else(|| wrong("Could not find target log"))?,
    };
    if !files.iter().any(|file| file.name == name) {
        return Err(wrong("Could not find target log"));
    }
    let from = log
        .position_of(&name, position.unwrap_or(4))
        .map_err(|_| wrong("Wrong offset or I/O error"))?;
    let mut reader = log
        .reader(from, log.written())
        .map_err(|_| wrong("Wrong offset or I/O error"))?;
    let mut output = event_columns();
    let mut skip = limit.offset;
    let mut left = limit.count;
    while left > 0 {
        let format = reader.format().clone();
        // A position within an event reads as a damaged one.
        let next = reader.next_event();
        let Some(logged) = next.map_err(|_| wrong("Wrong offset or I/O error"))? else {
            break;
        };
        if logged.start.ordinal() != from.ordinal() {
            break;
        }
        if logged.event.is_part_of_group() {
            continue;
        }
        let decoded = logged.event.decode(&format);
        if skip > 0 {
            skip -= 1;
            continue;
        }
        left -= 1;
        let header = *logged.event.header();
        let info = match decoded {
            Ok(event) => describe(&event, header.flags),
            Err(error) => error.to_string(),
        };
        output.row(vec![
            Value::Text(name.clone()),
            Value::UInt(logged.start.offset()),
            Value::Text(header.event_type.name().to_owned()),
            Value::UInt(u64::from(header.server_id.0)),
            Value::UInt(logged.end.offset()),
            Value::Text(info),
        ]);
    }
    Ok(output)
}

/// Returns the description of an event in SHOW BINLOG EVENTS.
fn describe(event: &Event<'_>, flags: EventFlags) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    match event {
        Event::FormatDescription(format) => format!(
            "Server ver: {}, Binlog ver: {}",
            format.server_version, format.binlog_version
        ),
        Event::Rotate(rotate) => format!("{};pos={}", text(rotate.file_name), rotate.position),
        Event::GtidList(list) => {
            let gtids: Vec<String> = list.gtids.iter().map(ToString::to_string).collect();
            format!("[{}]", gtids.join(","))
        }
        Event::BinlogCheckpoint(checkpoint) => text(checkpoint.file_name),
        Event::Gtid(gtid) => {
            let begin = if gtid.flags.contains(GtidFlags::STANDALONE) {
                ""
            } else {
                "BEGIN "
            };
            let group = gtid
                .commit_id
                .map(|id| format!(" cid={}", id.0))
                .unwrap_or_default();
            format!("{begin}GTID {}{group}", gtid.gtid)
        }
        Event::AnnotateRows(annotation) => text(annotation.sql),
        Event::TableMap(map) => format!(
            "table_id: {} ({}.{})",
            map.table_id.0,
            text(map.database),
            text(map.table)
        ),
        Event::Rows(rows) => {
            let end = if rows.flags.ends_statement() {
                " flags: STMT_END_F"
            } else {
                ""
            };
            format!("table_id: {}{end}", rows.table_id.0)
        }
        Event::Query(query) => match query.database.is_empty() || flags.contains(EventFlags::SUPPRESS_USE) {
            true => text(&query.sql),
            false => format!("use `{}`; {}", text(query.database), text(&query.sql)),
        },
        Event::Xid(xid) => format!("COMMIT /* xid={} */", xid.xid),
        Event::Intvar(intvar) => match intvar.kind {
            IntvarKind::LastInsertId => format!("LAST_INSERT_ID={}", intvar.value),
            IntvarKind::InsertId => format!("INSERT_ID={}", intvar.value),
        },
        Event::Rand(rand) => format!("rand_seed1={},rand_seed2={}", rand.seed1, rand.seed2),
        Event::UserVar(variable) => describe_variable(variable),
        _ => String::new(),
    }
}

/// Returns the description of a User var event: `@`name`=value`.
fn describe_variable(variable: &UserVarEvent<'_>) -> String {
    let name = String::from_utf8_lossy(variable.name).into_owned();
    let value = match &variable.value {
        None => "NULL".to_owned(),
        // A string is shown as its bytes; the value of a number would be shown without its type.
        Some(value) if value.value_type == 0 => {
            let hex: String = value.bytes.iter().map(|byte| format!("{byte:02X}")).collect();
            let collation = u16::try_from(value.collation).ok().and_then(Collation::from_id);
            match collation {
                Some(collation) => {
                    let (charset, collation) = (collation.charset().name(), collation.name());
                    match hex.is_empty() {
                        true => format!("_{charset} \"\" COLLATE {collation}"),
                        false => format!("_{charset} X'{hex}' COLLATE {collation}"),
                    }
                }
                None => "???".to_owned(),
            }
        }
        Some(_) => {
            let value = user_variable(variable).value;
            paceline_types::text::to_string(&value.as_ref(), &TimeZone::UTC)
        }
    };
    format!("@`{name}`={value}")
}
