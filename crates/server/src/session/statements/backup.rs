//! BACKUP SERVER and BACKUP BINARY LOGS: stream the server's files to a client ([`crate::backup`]).
//!
//! While the stream runs, the session holds hard links of the table files and a lease on the log. Both are released at
//! its end, whatever the reason. Nothing else in the server waits for it. It reads one piece at a time, and reads the
//! next one when the client has accepted it.

use crate::backup::{
    Continuation, EndRow, NoContinuation, PIECE_BYTES_MAX, PROTOCOL, RowKind, ServerRow, TablesRow,
};
use crate::backup_history::{BackupEnd, BackupKind, BackupRecord};
use crate::errors::{of_log, of_transaction};
use crate::registry::now_micros;
use crate::server::Server;
use crate::session::execution::Execution;
use crate::session::protocol::{Connection, Reply, ResultWriter, Streaming};
use crate::session::replies::result_style;
use crate::session::state::SessionState;
use crate::variables::Variable;
use paceline_binlog::Log;
use paceline_binlog::event::MAGIC;
use paceline_expression::ExprType;
use paceline_expression::session::{Privilege, ServerFunctions, SessionContext, StatementProgress};
use paceline_query::execute::RowSink;
use paceline_query::plan::ResultColumn;
use paceline_storage::HeldFiles;
use paceline_syntax::Backup;
use paceline_syntax::{Error, Result};
use paceline_txn::TransactionManager;
use paceline_types::error_code::*;
use paceline_types::{BlobSize, Collation, DataType, LogPosition, Value};
use std::fs::File;
use std::io::Read;
use std::time::Duration;

/// Minimum write timeout for the client of a backup, if `net_write_timeout` is shorter: the client's target may be
/// slow.
const PATIENCE: Duration = Duration::from_secs(600);

/// States of a backup in the process list.
mod stage {
    pub const TABLES: &str = "Sending table files";
    pub const LOG: &str = "Sending binary log";
}

fn unreadable(name: &str, error: &std::io::Error) -> Error {
    Error::with_message(ER_ERROR_ON_READ, format!("Error reading file '{name}': {error}"))
}

/// Sends the stream.
///
/// # Errors
/// 1227 without the privileges RELOAD, REPLICATION SLAVE and SELECT on everything; 1236 if the increment is
/// unavailable; the errors of reading. After an error the data sent so far is not a backup.
pub fn execute(
    backup: &Backup,
    state: &mut SessionState,
    connection: &mut Connection,
    execution: Execution<'_>,
) -> Result<Reply> {
    // The stream reveals everything: tables, accounts, and all changes.
    for privilege in [Privilege::Reload, Privilege::ReplicationSlave, Privilege::Select] {
        state.services.require_any(&[privilege])?;
    }
    let write_timeout = connection.write_timeout;
    connection.write_timeout = write_timeout.max(PATIENCE);
    let kind = match backup {
        Backup::Server => BackupKind::Server,
        Backup::BinaryLogs { .. } => BackupKind::Log,
    };
    let user = &state.context.user;
    let account = format!("{}@{}", user.user, user.host);
    let record = state.server.backups.begin(kind, account, now_micros());
    let streamed = match backup {
        Backup::Server => stream_server(state, connection, execution, &record),
        Backup::BinaryLogs { from } => stream_log(from, state, connection, execution, &record),
    };
    record.finish(BackupEnd {
        micros: now_micros(),
        result: match &streamed {
            Ok(position) => Ok(position.clone()),
            Err(error) => Err(error.to_string()),
        },
    });
    connection.write_timeout = write_timeout;
    streamed?;
    Ok(Reply::EndOfRows)
}

/// Sends tables and log. Returns the GTID position that they contain.
fn stream_server(
    state: &SessionState,
    connection: &mut Connection,
    execution: Execution<'_>,
    record: &BackupRecord,
) -> Result<String> {
    let server = state.server.clone();
    let transactions = &server.transactions;
    let holder = format!("the backup of connection {}", state.shared.id);
    let source = tokio::task::block_in_place(|| transactions.begin_backup(holder))
        .map_err(|error| of_transaction(&error))?;
    let position = source.tables().position();
    let log_from = LogPosition::new(position.ordinal(), 0);
    let gtids = transactions
        .gtid_state_at(position)
        .map_err(|error| of_transaction(&error))?;
    let files = source.tables().files();
    let mut row = server_row(log_from, &state.server);
    row.tables = Some(TablesRow {
        position,
        gtid_position: gtids.position().to_string(),
        files: files.len() as u64,
        bytes: files.iter().map(|file| file.length).sum(),
    });
    let mut stream = begin_stream(&row, state, connection, execution, record)?;
    stream.begin_stage(
        stage::TABLES,
        (1, 2),
        row.tables.as_ref().map_or(0, |tables| tables.bytes),
    );
    stream.send_tables(source.tables())?;
    stream.begin_stage(stage::LOG, (2, 2), row.log_bytes);
    let (lease, end) =
        tokio::task::block_in_place(|| source.into_log()).map_err(|error| of_transaction(&error))?;
    let contained = stream.send_log(transactions, log_from, end)?;
    drop(lease);
    Ok(contained)
}

fn stream_log(
    from: &str,
    state: &SessionState,
    connection: &mut Connection,
    execution: Execution<'_>,
    record: &BackupRecord,
) -> Result<String> {
    let refused =
        |error: NoContinuation| Error::with_message(ER_MASTER_FATAL_ERROR_READING_BINLOG, error.to_string());
    let continuation: Continuation = from.parse().map_err(refused)?;
    let server = state.server.clone();
    let transactions = &server.transactions;
    let holder = format!("the backup of connection {}", state.shared.id);
    // Take the lease before the log is examined, so that the files still exist when they are read.
    let lease = transactions.lease(continuation.position, holder);
    let end =
        tokio::task::block_in_place(|| transactions.backup_end()).map_err(|error| of_transaction(&error))?;
    continuation.check(transactions.log()).map_err(refused)?;
    if continuation.position > end {
        return Err(refused(NoContinuation::Other));
    }
    let row = server_row(continuation.position, &state.server);
    let mut stream = begin_stream(&row, state, connection, execution, record)?;
    stream.begin_stage(stage::LOG, (1, 1), row.log_bytes);
    let contained = stream.send_log(transactions, continuation.position, end)?;
    drop(lease);
    Ok(contained)
}

fn server_row(log_from: LogPosition, server: &Server) -> ServerRow {
    let globals = &server.globals;
    let log = server.transactions.log();
    let basename = globals.get(Variable::LogBinBasename);
    let log_bin = basename.as_str().rsplit('/').next().unwrap_or_default();
    let in_files: u64 = log
        .files()
        .iter()
        .filter(|file| file.ordinal >= log_from.ordinal())
        .map(|file| file.length)
        .sum();
    ServerRow {
        protocol: PROTOCOL,
        version: globals.get(Variable::Version).as_str().to_owned(),
        server_id: globals.number(Variable::ServerId) as u32,
        hostname: globals.get(Variable::Hostname).as_str().to_owned(),
        log_bin: log_bin.to_owned(),
        tables: None,
        log_from,
        log_bytes: in_files.saturating_sub(log_from.offset()),
    }
}

/// Sends the columns and the first row.
fn begin_stream<'a>(
    row: &ServerRow,
    state: &'a SessionState,
    connection: &'a mut Connection,
    execution: Execution<'_>,
    record: &'a BackupRecord,
) -> Result<Stream<'a>> {
    let style = result_style(state, execution);
    let writer = ResultWriter::new(connection, style, Streaming::Early, None);
    let mut stream = Stream {
        writer,
        functions: &*state.services,
        context: &state.context,
        progress: StatementProgress {
            state: "",
            stage: 0,
            stages: 0,
            part: 0.0,
        },
        stage_bytes: 0,
        sent_bytes: 0,
        record,
    };
    stream.writer.columns(&columns())?;
    stream.row(RowKind::Server, None, json(row)?)?;
    Ok(stream)
}

fn columns() -> [ResultColumn; 5] {
    let column = |name: &str, data_type: DataType| {
        let ty = ExprType {
            nullable: true,
            ..ExprType::new(data_type)
        };
        ResultColumn::of_expression(name, &ty)
    };
    let text = |length| DataType::VarChar {
        length,
        collation: Collation::Utf8mb3GeneralCi,
    };
    let number = ExprType::bigint_unsigned(20).data_type;
    [
        column("Kind", text(16)),
        column("Name", text(255)),
        column("Offset", number.clone()),
        column("Checksum", number),
        column("Content", DataType::Blob { size: BlobSize::Long }),
    ]
}

fn json(row: &impl serde::Serialize) -> Result<Vec<u8>> {
    serde_json::to_vec(row).map_err(|error| Error::with_message(ER_UNKNOWN_ERROR, error.to_string()))
}

/// A result set that is being sent.
struct Stream<'a> {
    writer: ResultWriter<'a>,
    functions: &'a dyn ServerFunctions,
    context: &'a SessionContext,
    /// Stage for the process list, its bytes, and those of them that are sent.
    progress: StatementProgress,
    stage_bytes: u64,
    sent_bytes: u64,
    record: &'a BackupRecord,
}

impl Stream<'_> {
    /// Begins a stage, which will send about so many bytes.
    fn begin_stage(&mut self, state: &'static str, (stage, stages): (u8, u8), bytes: u64) {
        (self.stage_bytes, self.sent_bytes) = (bytes, 0);
        self.progress = StatementProgress {
            state,
            stage,
            stages,
            part: 0.0,
        };
        self.functions.note_progress(&self.progress);
    }

    fn row(&mut self, kind: RowKind, place: Option<(&str, u64)>, content: Vec<u8>) -> Result<()> {
        self.functions.check_interrupt(self.context)?;
        let (name, offset, checksum) = match place {
            Some((name, offset)) => (
                Value::Text(name.to_owned()),
                Value::UInt(offset),
                Value::UInt(u64::from(crc32fast::hash(&content))),
            ),
            None => (Value::Null, Value::Null, Value::Null),
        };
        let kind = Value::Text(kind.name().to_owned());
        if self.progress.stages > 0 {
            self.functions.note_progress(&self.progress);
        }
        self.sent_bytes += content.len() as u64;
        self.record.add_bytes(content.len() as u64);
        self.progress.part = self.sent_bytes as f64 / self.stage_bytes.max(1) as f64;
        self.writer
            .row(&[kind, name, offset, checksum, Value::Bytes(content)])
    }

    fn send_tables(&mut self, tables: &HeldFiles) -> Result<()> {
        for held in tables.files() {
            let path = tables.path(held);
            let mut file = File::open(&path).map_err(|error| unreadable(&held.name, &error))?;
            let mut offset = 0;
            // An empty file also needs a row.
            while offset < held.length || (held.length == 0 && offset == 0) {
                let wanted = (held.length - offset).min(PIECE_BYTES_MAX as u64);
                let mut piece = vec![0; wanted as usize];
                tokio::task::block_in_place(|| file.read_exact(&mut piece))
                    .map_err(|error| unreadable(&held.name, &error))?;
                self.row(RowKind::Table, Some((&held.name, offset)), piece)?;
                offset += wanted;
                if held.length == 0 {
                    break;
                }
            }
        }
        Ok(())
    }

    fn send_log(
        &mut self,
        transactions: &TransactionManager,
        from: LogPosition,
        end: LogPosition,
    ) -> Result<String> {
        let log = transactions.log();
        let mut reader = log.reader(from, end).map_err(of_log)?;
        let mut piece = LogPiece::at(log, from)?;
        loop {
            let next = tokio::task::block_in_place(|| reader.next_event()).map_err(of_log)?;
            let Some(logged) = next else { break };
            if logged.start.ordinal() != piece.ordinal {
                piece.send_to(self)?;
                piece = LogPiece::at(log, LogPosition::new(logged.start.ordinal(), 0))?;
            }
            for part in logged.event.bytes().chunks(PIECE_BYTES_MAX) {
                if piece.bytes.len() + part.len() > PIECE_BYTES_MAX {
                    piece.send_to(self)?;
                }
                piece.bytes.extend_from_slice(part);
            }
        }
        piece.send_to(self)?;
        let gtids = transactions
            .gtid_state_at(end)
            .map_err(|error| of_transaction(&error))?;
        let row = EndRow {
            log_end: end,
            gtid_position: gtids.position().to_string(),
            next: Continuation::of(log, end).map_err(of_log)?.to_string(),
        };
        self.row(RowKind::End, None, json(&row)?)?;
        Ok(row.gtid_position)
    }
}

/// Part of a log file that has been collected for a row.
struct LogPiece {
    ordinal: u32,
    name: String,
    offset: u64,
    bytes: Vec<u8>,
}

impl LogPiece {
    fn at(log: &Log, position: LogPosition) -> Result<Self> {
        let name = log.coordinates(position).map_err(of_log)?.0;
        let (offset, bytes) = match position.offset() {
            offset if offset <= MAGIC.len() as u64 => (0, MAGIC.to_vec()),
            offset => (offset, Vec::new()),
        };
        Ok(LogPiece {
            ordinal: position.ordinal(),
            name,
            offset,
            bytes,
        })
    }

    fn send_to(&mut self, stream: &mut Stream<'_>) -> Result<()> {
        if self.bytes.is_empty() {
            return Ok(());
        }
        let bytes = std::mem::take(&mut self.bytes);
        let length = bytes.len() as u64;
        stream.row(RowKind::Log, Some((&self.name, self.offset)), bytes)?;
        self.offset += length;
        Ok(())
    }
}
