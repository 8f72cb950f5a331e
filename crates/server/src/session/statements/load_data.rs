//! LOAD DATA: reading the file from this machine, the client, or a primary's log.
//!
//! ```text
//!   client                         server
//!     ── LOAD DATA LOCAL … ──▶       plan, locks
//!     ◀── 0xFB file name ───
//!     ── pieces of the file ──▶      rows
//!     ── an empty packet ──▶
//!     ◀── OK or error ──────
//! ```
//!
//! A client that was asked for its file sends the whole file. After an error the rest is read and discarded.
//!
//! A primary that logs statements logs the file before its LOAD DATA. A replica reads the logged blocks
//! ([`crate::session::replicated`]).

use super::query::{note_plan, reply_of};
use crate::session::execution::Execution;
use crate::session::files::{FileProblem, named_file};
use crate::session::planning::ATTEMPTS_MAX;
use crate::session::protocol::{Connection, Reply, RowCollector};
use crate::session::services::SessionServices;
use crate::session::state::SessionState;
use crate::variables::Variable;
use paceline_expression::ExprType;
use paceline_expression::session::{
    Privilege, ServerFunctions, SessionContext, StatementProgress, UserVariable,
};
use paceline_query::execute::{ExecutionContext, LoadInput, execute as execute_plan};
use paceline_query::plan::Plan;
use paceline_syntax::ast::Expr;
use paceline_syntax::{Error, Result};
use paceline_syntax::{LoadData, Statement};
use paceline_types::Value;
use paceline_types::error_code::*;
use paceline_wire::Capabilities;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::FileTypeExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Number of bytes read from a file at once.
const PIECE: usize = 128 * 1024;
/// Length of a LONGTEXT in characters, the declared type of the variables.
const LONG_TEXT_CHARACTERS: u64 = u32::MAX as u64 / 4;

/// Executes LOAD DATA.
///
/// # Errors
/// 4166 if LOCAL is disabled; 1227 without FILE; the errors of the file and of the plan.
pub async fn execute(
    statement: &Statement,
    load: &LoadData,
    state: &mut SessionState,
    connection: &mut Connection,
    execution: Execution<'_>,
) -> Result<Reply> {
    if !load.local {
        state.services.require_any(&[Privilege::File])?;
        state.services.progress_reports.lend(connection);
        let done = load_from(Origin::Server, statement, load, state, execution).await;
        state.services.progress_reports.give_back(connection);
        return done;
    }
    let offered = connection.capabilities.has(Capabilities::LOCAL_FILES);
    if !offered || !state.server.globals.is_on(Variable::LocalInfile) {
        return Err(Error::new(ER_LOAD_INFILE_CAPABILITY_DISABLED, &[]));
    }
    load_from(Origin::Client(connection), statement, load, state, execution).await
}

/// Executes a primary's LOAD DATA, with the logged blocks of its file.
///
/// # Errors
/// The errors of the plan.
pub async fn execute_logged(
    blocks: &[&[u8]],
    statement: &Statement,
    load: &LoadData,
    state: &mut SessionState,
    execution: Execution<'_>,
) -> Result<Reply> {
    load_from(Origin::Log(blocks), statement, load, state, execution).await
}

async fn load_from(
    mut origin: Origin<'_>,
    statement: &Statement,
    load: &LoadData,
    state: &mut SessionState,
    execution: Execution<'_>,
) -> Result<Reply> {
    declare_variables(load, &mut state.context)?;
    for _ in 0..ATTEMPTS_MAX {
        let plan = state.plan(statement)?;
        if let Some(reply) = run_load(&plan, &mut origin, load, state, execution).await? {
            return Ok(reply);
        }
    }
    Err(Error::new(ER_TABLE_DEF_CHANGED, &[]))
}

/// Declares the variables that receive fields as strings, because the expressions of SET may read them.
fn declare_variables(load: &LoadData, context: &mut SessionContext) -> Result<()> {
    let collation = context.settings.collation_database;
    for column in &load.columns {
        if let Expr::UserVariable(name) = column {
            let variable = UserVariable {
                value: Value::Null,
                ty: ExprType::text(LONG_TEXT_CHARACTERS, collation),
            };
            context.user_variables.set(&name.to_lowercase(), variable)?;
        }
    }
    Ok(())
}

/// Executes a plan with a file's content. Returns `None` if its tables have changed since.
async fn run_load(
    plan: &Plan,
    origin: &mut Origin<'_>,
    load: &LoadData,
    state: &mut SessionState,
    execution: Execution<'_>,
) -> Result<Option<Reply>> {
    let Some(catalog) = state.prepare_run(plan)? else {
        return Ok(None);
    };
    let mut source = match origin {
        Origin::Server => Source::Server(open_file(load, state)?),
        Origin::Log(blocks) => Source::Log(LoggedFile { rest: blocks }),
        Origin::Client(connection) => {
            let timeout = state
                .services
                .values
                .lock()
                .get(Variable::NetReadTimeout)
                .as_u64();
            let asked = connection.request_file(load.path.as_bytes()).await;
            asked.map_err(|_| Error::new(ER_NET_ERROR_ON_WRITE, &[]))?;
            Source::Client(ClientFile {
                connection,
                timeout: Duration::from_secs(timeout),
                state: Transfer::Running,
            })
        }
    };
    let mut context = ExecutionContext {
        rows_max: u64::MAX,
        input: Some(match &mut source {
            Source::Server(file) => file,
            Source::Client(file) => file,
            Source::Log(file) => file,
        }),
        ..state.execution_context(&catalog, plan, execution)?
    };
    let done = execute_plan(plan, &mut context, &mut RowCollector::default());
    drop(context);
    note_plan(plan, state, execution);
    if let Source::Client(file) = source
        && file.drain() == Transfer::Broken
    {
        state.ends_with_reply = true;
    }
    let outcome = done?;
    state.leave_statement().await?;
    Ok(Some(reply_of(outcome, state)))
}

fn open_file(load: &LoadData, state: &SessionState) -> Result<ServerFile> {
    let current = state.context.database.as_deref();
    let database = current.or(load.table.database.as_deref());
    let path = named_file(&load.path, database, &state.server.globals)?;
    let metadata = std::fs::metadata(&path).map_err(|error| FileProblem::Stat.error(&path, &error))?;
    let is_readable = metadata.is_file() || metadata.file_type().is_fifo();
    if !is_readable {
        return Err(Error::new(ER_TEXTFILE_NOT_READABLE, &[&path.display()]));
    }
    let file = File::open(&path).map_err(|error| FileProblem::Open.error(&path, &error))?;
    Ok(ServerFile {
        file,
        path,
        length: metadata.len(),
        read: 0,
        functions: state.services.clone(),
    })
}

/// Location of the file.
enum Origin<'b> {
    Server,
    Client(&'b mut Connection),
    Log(&'b [&'b [u8]]),
}

/// An open file.
enum Source<'b> {
    Server(ServerFile),
    Client(ClientFile<'b>),
    Log(LoggedFile<'b>),
}

/// A file in a primary's log: the blocks that have not been read.
struct LoggedFile<'b> {
    rest: &'b [&'b [u8]],
}

impl LoadInput for LoggedFile<'_> {
    fn read(&mut self, buffer: &mut Vec<u8>) -> Result<()> {
        while let Some((block, rest)) = self.rest.split_first() {
            self.rest = rest;
            buffer.extend_from_slice(block);
            // An empty read means the end of the file, but a block in the log may be empty.
            if !block.is_empty() {
                break;
            }
        }
        Ok(())
    }
}

/// A file of this machine.
struct ServerFile {
    file: File,
    path: PathBuf,
    /// Length in bytes; 0 for a pipe.
    length: u64,
    /// Bytes read.
    read: u64,
    /// Where the progress is told.
    functions: Arc<SessionServices>,
}

impl LoadInput for ServerFile {
    fn read(&mut self, buffer: &mut Vec<u8>) -> Result<()> {
        let piece = Read::by_ref(&mut self.file)
            .take(PIECE as u64)
            .read_to_end(buffer);
        let bytes = piece.map_err(|error| FileProblem::Read.error(&self.path, &error))?;
        self.functions.note_progress(&StatementProgress {
            state: "Reading file",
            stage: 1,
            stages: 2,
            part: self.read as f64 / self.length.max(1) as f64,
        });
        self.read += bytes as u64;
        Ok(())
    }
}

/// A file that the client sends.
struct ClientFile<'c> {
    connection: &'c mut Connection,
    /// `net_read_timeout`.
    timeout: Duration,
    state: Transfer,
}

/// State of the transfer of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Transfer {
    Running,
    Ended,
    /// The connection can no longer be used.
    Broken,
}

impl ClientFile<'_> {
    /// Returns the next piece. The last one is empty.
    fn piece(&mut self) -> Result<&[u8]> {
        if self.state != Transfer::Running {
            return Ok(&[]);
        }
        let timeout = self.timeout;
        let connection = &mut *self.connection;
        let received = tokio::task::block_in_place(|| {
            tokio::runtime::Handle::current()
                .block_on(async { tokio::time::timeout(timeout, connection.receive_piece()).await })
        });
        let code = match received {
            Ok(Ok(())) => {
                if self.connection.reader.payload().is_empty() {
                    self.state = Transfer::Ended;
                }
                return Ok(self.connection.reader.payload());
            }
            Ok(Err(_)) => ER_NET_READ_ERROR,
            Err(_) => ER_NET_READ_INTERRUPTED,
        };
        self.state = Transfer::Broken;
        Err(Error::new(code, &[]))
    }

    /// Reads the part of the file that the statement did not need.
    fn drain(mut self) -> Transfer {
        while self.state == Transfer::Running {
            // An error has changed the transfer's state, so the loop ends.
            let _ = self.piece();
        }
        self.state
    }
}

impl LoadInput for ClientFile<'_> {
    fn read(&mut self, buffer: &mut Vec<u8>) -> Result<()> {
        let piece = self.piece()?;
        buffer.extend_from_slice(piece);
        Ok(())
    }
}
