//! `BINLOG '…'`: events of a binary log in the text of `mariadb-binlog` and `paceline binlog`.
//!
//! The first of these statements contains a Format_description, which applies to the rest of the session. Each of the
//! others contains the table maps and rows of one statement. The rows are applied like a replica's
//! ([`paceline_apply::replicated`]), in the session's own transaction. `paceline binlog … | mariadb` therefore restores
//! rows with the GTIDs that the text sets before each transaction.
//!
//! As in MariaDB, the events' checksums are ignored: `mariadb-binlog` changes events (`--flashback`, `--rewrite-db`)
//! without updating their checksums. Unlike in MariaDB, the statement's text is not logged as an annotation: it would
//! contain each row a second time, as Base64.

use crate::errors::of_transaction;
use crate::row_options::row_options;
use crate::session::protocol::Reply;
use crate::session::state::SessionState;
use paceline_apply::replicated::{
    EventOutcome, Failure, MappedTable, MappedTables, RowApplier, RowMapping, RowOptions,
};
use paceline_binlog::event::{
    ChecksumAlgorithm, Event, EventHeader, EventType, FormatDescription, HEADER_LENGTH, RawEvent,
    TableMapEvent,
};
use paceline_expression::session::{BinlogFormat, Privilege, UserVariable, UserVariables};
use paceline_syntax::BinlogEvents;
use paceline_syntax::{Error, Result};
use paceline_txn::{MetadataMode, MetadataObject};
use paceline_types::Value;
use paceline_types::base64::decode_base64_texts;
use paceline_types::error_code::*;
use std::sync::Arc;

/// Returns 1149, MariaDB's error for invalid events.
fn malformed() -> Error {
    Error::new(ER_SYNTAX_ERROR, &[])
}

fn of_failure(failure: Failure) -> Error {
    Error::with_message(failure.code, failure.message)
}

/// Executes BINLOG.
///
/// # Errors
/// 1227, 1149, 1575, 1609, 1730 for the statement itself; 1146, 1032, 1062, 1677 and any other error that a replica
/// could have, as the error of this statement.
pub async fn execute(events: &BinlogEvents, state: &mut SessionState) -> Result<Reply> {
    state
        .services
        .require_any(&[Privilege::Super, Privilege::BinlogReplay])?;
    let bytes = decode_events(events, &mut state.context.user_variables)?;
    let applied = apply_events(&bytes, state);
    if let Some(transaction) = state.transaction.get_mut() {
        match &applied {
            // The last event of a statement may have been filtered out when the text was generated.
            Ok(()) => transaction
                .end_statement()
                .map_err(|error| of_transaction(&error))?,
            Err(_) => transaction.rollback_statement(),
        }
    }
    applied?;
    state.leave_statement().await?;
    Ok(Reply::ok())
}

/// Decodes the events. Variables that contained them are cleared, because their values are large.
fn decode_events(events: &BinlogEvents, variables: &mut UserVariables) -> Result<Vec<u8>> {
    let decode = |text: &[u8]| match text.is_empty() {
        true => Err(malformed()),
        false => decode_base64_texts(text).ok_or_else(|| Error::new(ER_BASE64_DECODE_ERROR, &[])),
    };
    let names = match events {
        BinlogEvents::Text(text) => return decode(text.as_bytes()),
        BinlogEvents::Variables(names) => names,
    };
    let mut text = Vec::new();
    for name in names {
        let variable = variables.get(&name.to_lowercase());
        match variable.map(|variable| &variable.value) {
            Some(Value::Text(part)) => text.extend_from_slice(part.as_bytes()),
            Some(Value::Bytes(part)) => text.extend_from_slice(part),
            _ => return Err(Error::new(ER_WRONG_TYPE_FOR_VAR, &[name])),
        }
    }
    for name in names {
        let name = name.to_lowercase();
        if let Some(UserVariable { ty, .. }) = variables.get(&name).cloned() {
            let value = Value::Null;
            variables.set(&name, UserVariable { value, ty })?;
        }
    }
    decode(&text)
}

fn apply_events(bytes: &[u8], state: &mut SessionState) -> Result<()> {
    let options = row_options(&state.server.globals);
    let mut applier = RowApplier::new(
        &options,
        state.server.statistics.clone(),
        state.server.sessions.replicated_statements(),
    );
    applier.begin();
    let mut tables = MappedTables::new();
    let mut rest = bytes;
    while !rest.is_empty() {
        let header = EventHeader::decode(rest).ok_or_else(malformed)?;
        let length = header.length as usize;
        if length < HEADER_LENGTH || length > rest.len() {
            return Err(malformed());
        }
        let (event, behind) = rest.split_at(length);
        rest = behind;
        let event_type = header.event_type;
        if event_type == EventType::FORMAT_DESCRIPTION {
            let event = RawEvent::trusted(event).ok_or_else(malformed)?;
            let format = FormatDescription::decode(event.body()).map_err(|_| malformed())?;
            state.binlog_format = Some(format);
            continue;
        }
        if event_type != EventType::TABLE_MAP && !event_type.is_rows() {
            let code = ER_ONLY_FD_AND_RBR_EVENTS_ALLOWED_IN_BINLOG_STATEMENT;
            return Err(Error::new(code, &[&event_type.name()]));
        }
        if state.context.settings.binlog_format == BinlogFormat::Statement {
            return Err(Error::new(ER_BINLOG_ROW_INJECTION_AND_STMT_MODE, &[]));
        }
        let Some(format) = state.binlog_format.clone() else {
            let code = ER_NO_FORMAT_DESCRIPTION_EVENT_BEFORE_BINLOG_STATEMENT;
            return Err(Error::new(code, &[&event_type.name()]));
        };
        let event = match format.checksum {
            ChecksumAlgorithm::Crc32 => RawEvent::trusted(event),
            ChecksumAlgorithm::None => RawEvent::new(event, format.checksum).ok(),
        };
        let event = event.ok_or_else(malformed)?;
        enter_rows(state)?;
        let mut ends_statement = false;
        match event.decode(&format).map_err(|_| malformed())? {
            Event::TableMap(map) => {
                let table = mapped_table(&map, &options, state)?;
                tables.retain(|(id, _)| *id != map.table_id);
                tables.push((map.table_id, Some(table)));
            }
            Event::Rows(rows) => ends_statement = rows.flags.ends_statement(),
            _ => {}
        }
        let mapping = RowMapping {
            format: &format,
            tables: &tables,
        };
        let transaction = state.transaction.running()?;
        let done = applier.event(&event, mapping, transaction);
        done.and_then(EventOutcome::changed).map_err(of_failure)?;
        if ends_statement {
            tables.clear();
        }
    }
    Ok(())
}

/// Begins a transaction for the statement, and checks that it may write.
fn enter_rows(state: &mut SessionState) -> Result<()> {
    state.check_writable()?;
    if state.table_locks.is_globally_locked() {
        return Err(Error::new(ER_CANT_UPDATE_WITH_READLOCK, &[]));
    }
    state.services.await_gtid()?;
    state.enter_transaction();
    let transaction = state.transaction.running()?;
    transaction
        .begin_writing()
        .map_err(|error| of_transaction(&error))
}

/// Locks the table of a table map, and compares it with the map.
fn mapped_table(
    map: &TableMapEvent<'_>,
    options: &RowOptions,
    state: &mut SessionState,
) -> Result<Arc<MappedTable>> {
    let (database, name) = (
        String::from_utf8_lossy(map.database),
        String::from_utf8_lossy(map.table),
    );
    let object = MetadataObject::Table {
        database: &database,
        table: &name,
    };
    let transaction = state.transaction.running()?;
    transaction
        .lock_metadata(object, MetadataMode::Write)
        .map_err(|error| of_transaction(&error))?;
    let catalog = state.server.catalog.load();
    let definition = catalog
        .table(&database, &name)
        .ok_or_else(|| Error::new(ER_NO_SUCH_TABLE, &[&database, &name]))?;
    // A transaction whose snapshot is older than the table cannot change it.
    if transaction
        .snapshot_version()
        .is_some_and(|snapshot| definition.version() > snapshot)
    {
        return Err(Error::new(ER_TABLE_DEF_CHANGED, &[]));
    }
    let table = MappedTable::new(map, definition.clone(), options).map_err(of_failure)?;
    let table = table.with_foreign_keys(&catalog);
    for related in table.foreign_keys().into_iter().flat_map(|keys| keys.related()) {
        let object = MetadataObject::Table {
            database: related.definition.database(),
            table: related.definition.name(),
        };
        transaction
            .lock_metadata(object, MetadataMode::Write)
            .map_err(|error| of_transaction(&error))?;
    }
    match table.has_current_keys(&state.server.catalog.load()) {
        true => Ok(Arc::new(table)),
        // Another table got a foreign key to this one during the wait for a lock.
        false => Err(Error::new(ER_TABLE_DEF_CHANGED, &[])),
    }
}
