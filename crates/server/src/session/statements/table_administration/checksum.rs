//! CHECKSUM TABLE: MariaDB's numbers, so that a replica can be compared with its primary if either is MariaDB.

use crate::errors::of_transaction;
use crate::session::protocol::{Output, Reply};
use crate::session::state::SessionState;
use crate::virtual_tables::{virtual_columns, virtual_database};
use paceline_expression::ExprType;
use paceline_expression::session::{Level, Privilege, ServerFunctions};
use paceline_storage::{Direction, TableSchema};
use paceline_syntax::{ChecksumEffort, TableName};
use paceline_syntax::{Error, Result};
use paceline_txn::{MetadataMode, MetadataObject};
use paceline_types::Value;
use paceline_types::error_code::*;
use paceline_types::row_checksum::RowChecksum;
use paceline_types::sort_key::Nullability;

/// Number of rows read between two checks for KILL.
const ROWS_BETWEEN_LOOKS: u32 = 1024;

/// Executes CHECKSUM TABLE. A missing table has NULL, and a warning.
///
/// # Errors
/// 1142 without the SELECT privilege; the errors of reading the tables.
pub async fn execute(
    tables: &[TableName],
    effort: ChecksumEffort,
    state: &mut SessionState,
) -> Result<Reply> {
    let mut output = Output::new();
    let number = ExprType {
        nullable: true,
        ..ExprType::bigint(21)
    };
    output.text("Table", 384).column("Checksum", number);
    for table in tables {
        let (database, table) = state.qualified(table)?;
        if state.temporary.catalog().table(&database, &table).is_none() {
            let authority = state.services.authority(&state.context);
            authority.check_any_column(&[Privilege::Select], &database, &table)?;
        }
        let checksum = table_checksum(&database, &table, effort, state)?;
        let checksum = checksum.map_or(Value::Null, |sum| Value::Int(i64::from(sum)));
        output.row(vec![Value::Text(format!("{database}.{table}")), checksum]);
    }
    state.leave_statement().await?;
    Ok(Reply::Rows(output))
}

fn table_checksum(
    database: &str,
    table: &str,
    effort: ChecksumEffort,
    state: &mut SessionState,
) -> Result<Option<u32>> {
    state.enter_transaction();
    let transaction = state.transaction.running()?;
    let object = MetadataObject::Table { database, table };
    match transaction.lock_metadata(object, MetadataMode::Read) {
        Ok(()) => {}
        // This table has no checksum; the remaining tables are still computed.
        Err(paceline_txn::Error::LockWaitTimeout) => {
            let diagnostics = &mut state.context.diagnostics;
            diagnostics.push(
                Level::Error,
                ER_LOCK_WAIT_TIMEOUT,
                ER_LOCK_WAIT_TIMEOUT.message(&[]),
            );
            return Ok(None);
        }
        Err(error) => return Err(of_transaction(&error)),
    }
    let catalog = state.temporary.tables.over(state.server.catalog.load());
    let Some(definition) = catalog.table(database, table) else {
        if catalog.view(database, table).is_some() {
            let message = ER_WRONG_OBJECT.message(&[&database, &table, &"BASE TABLE"]);
            state
                .context
                .diagnostics
                .push(Level::Error, ER_WRONG_OBJECT, message);
            return Ok(None);
        }
        // Virtual tables store nothing.
        if virtual_columns(database, table).is_some() {
            return Ok(Some(0));
        }
        let (code, message) = match virtual_database(database) {
            Some(database) => (ER_UNKNOWN_TABLE, ER_UNKNOWN_TABLE.message(&[&table, &database])),
            None => (ER_NO_SUCH_TABLE, ER_NO_SUCH_TABLE.message(&[&database, &table])),
        };
        state.context.diagnostics.push(Level::Error, code, message);
        return Ok(None);
    };
    if effort == ChecksumEffort::Kept {
        return Ok(None);
    }
    // A transaction cannot read a table that was defined after its snapshot.
    if transaction
        .snapshot_version()
        .is_some_and(|snapshot| definition.version() > snapshot)
    {
        return Err(Error::new(ER_TABLE_DEF_CHANGED, &[]));
    }
    let schema: &TableSchema = definition.schema();
    let row_checksum = RowChecksum::new(
        schema
            .columns()
            .iter()
            .map(|column| (&column.data_type, column.nullability == Nullability::Nullable)),
    );
    let mut scan = transaction
        .scan(schema.rows_range(), Direction::Forward)
        .map_err(|error| of_transaction(&error))?;
    let (mut sum, mut rows) = (0u32, 0u32);
    while let Some(entry) = scan.next().map_err(|error| of_transaction(&error))? {
        let image = schema
            .row_image(entry.value)
            .map_err(|error| of_transaction(&error.into()))?;
        let row = row_checksum.of(&schema.image(&image))?;
        sum = sum.wrapping_add(row);
        rows = rows.wrapping_add(1);
        if rows.is_multiple_of(ROWS_BETWEEN_LOOKS) {
            state.services.check_interrupt(&state.context)?;
        }
    }
    Ok(Some(sum))
}
