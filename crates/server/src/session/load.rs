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
//! A client that was asked for its file sends all of it. After an error the rest is read and discarded.
//!
//! A primary that logs statements logs the file before its LOAD DATA: a replica reads the blocks of that
//! ([`super::replicated`]).

use super::Session;
use super::connection::Connection;
use super::files::FileProblem;
use super::plans::{ATTEMPTS_MAX, Run};
use super::query::Execution;
use super::result::RowCollector;
use crate::variables::Variable;
use paceline_expression::ExprType;
use paceline_expression::session::{Privilege, UserVariable};
use paceline_query::execute::{AffectedRows, ExecutionContext, LoadInput, execute};
use paceline_query::plan::Plan;
use paceline_syntax::ast::Expr;
use paceline_syntax::{Error, Result};
use paceline_syntax::{LoadData, Statement};
use paceline_types::Value;
use paceline_types::error_code::*;
use paceline_wire::Capabilities;
use std::fs::File;
use std::io::Read;
use std::path::PathBuf;
use std::time::Duration;

/// Number of bytes read from a file at once.
const PIECE: usize = 128 * 1024;
/// Length of a LONGTEXT in characters, the declared type of the variables.
const LONG_TEXT_CHARACTERS: u64 = u32::MAX as u64 / 4;

impl Session {
    /// Executes LOAD DATA.
    pub async fn load_data(
        &mut self,
        statement: &Statement,
        load: &LoadData,
        execution: Execution<'_>,
    ) -> Result<()> {
        if load.local {
            let offered = self.connection.capabilities.has(Capabilities::LOCAL_FILES);
            if !offered || !self.server.globals.is_on(Variable::LocalInfile) {
                return Err(Error::new(ER_LOAD_INFILE_CAPABILITY_DISABLED, &[]));
            }
        } else {
            self.services.require_any(&[Privilege::File])?;
        }
        let origin = match load.local {
            true => Origin::Client,
            false => Origin::Server,
        };
        self.load_from(origin, statement, load, execution).await
    }

    /// Executes LOAD DATA of a primary, which has logged the file in these blocks.
    pub async fn load_logged(
        &mut self,
        blocks: &[&[u8]],
        statement: &Statement,
        load: &LoadData,
        execution: Execution<'_>,
    ) -> Result<()> {
        self.load_from(Origin::Log(blocks), statement, load, execution)
            .await
    }

    async fn load_from(
        &mut self,
        origin: Origin<'_>,
        statement: &Statement,
        load: &LoadData,
        execution: Execution<'_>,
    ) -> Result<()> {
        self.declare_variables(load)?;
        for _ in 0..ATTEMPTS_MAX {
            let plan = self.plan(statement)?;
            if self.run_load(&plan, origin, load, execution).await? == Run::Done {
                return Ok(());
            }
        }
        Err(Error::new(ER_TABLE_DEF_CHANGED, &[]))
    }

    /// Declares the variables that receive fields as strings, for the expressions of SET.
    fn declare_variables(&mut self, load: &LoadData) -> Result<()> {
        let collation = self.context.settings.collation_database;
        for column in &load.columns {
            if let Expr::UserVariable(name) = column {
                let variable = UserVariable {
                    value: Value::Null,
                    ty: ExprType::text(LONG_TEXT_CHARACTERS, collation),
                };
                self.context.user_variables.set(&name.to_lowercase(), variable)?;
            }
        }
        Ok(())
    }

    async fn run_load(
        &mut self,
        plan: &Plan,
        origin: Origin<'_>,
        load: &LoadData,
        execution: Execution<'_>,
    ) -> Result<Run> {
        let Some(catalog) = self.prepare_run(plan, execution.asked_by)? else {
            return Ok(Run::Stale);
        };
        let text = if self.annotates() { execution.text } else { b"" };
        let mut server_file = match origin {
            Origin::Server => Some(self.open_file(load)?),
            Origin::Client | Origin::Log(_) => None,
        };
        let mut logged_file = match origin {
            Origin::Log(blocks) => Some(LoggedFile { rest: blocks }),
            Origin::Client | Origin::Server => None,
        };
        let timeout = self.services.values.lock().get(Variable::NetReadTimeout).as_u64();
        let is_client_s = matches!(origin, Origin::Client);
        if is_client_s {
            let asked = self.connection.request_file(load.path.as_bytes()).await;
            asked.map_err(|_| Error::new(ER_NET_ERROR_ON_WRITE, &[]))?;
        }
        let mut client_file = ClientFile {
            connection: &mut self.connection,
            timeout: Duration::from_secs(timeout),
            state: match is_client_s {
                true => Transfer::Running,
                false => Transfer::Ended,
            },
        };
        let transaction = self.transaction.running()?;
        let mut context = ExecutionContext {
            transaction,
            session: &mut self.context,
            catalog: &catalog,
            parameters: execution.parameters,
            text,
            affected: AffectedRows::Changed,
            rows_max: u64::MAX,
            input: Some(match (&mut server_file, &mut logged_file) {
                (Some(file), _) => file,
                (None, Some(file)) => file,
                (None, None) => &mut client_file,
            }),
        };
        let done = execute(plan, &mut context, &mut RowCollector::default());
        if client_file.drain() == Transfer::Broken {
            self.phase = super::Phase::Closing;
        }
        let outcome = done?;
        self.leave_statement().await?;
        self.reply(&outcome, execution.more);
        Ok(Run::Done)
    }

    fn open_file(&self, load: &LoadData) -> Result<ServerFile> {
        let path = self.named_file(&load.path, load.table.database.as_deref())?;
        let metadata = std::fs::metadata(&path).map_err(|error| FileProblem::Stat.error(&path, &error))?;
        if metadata.is_dir() {
            return Err(Error::new(ER_TEXTFILE_NOT_READABLE, &[&path.display()]));
        }
        let file = File::open(&path).map_err(|error| FileProblem::Open.error(&path, &error))?;
        Ok(ServerFile { file, path })
    }
}

/// Source of the file.
#[derive(Clone, Copy)]
enum Origin<'b> {
    Server,
    Client,
    Log(&'b [&'b [u8]]),
}

/// A file in a primary's log: the blocks that have not been read yet.
struct LoggedFile<'b> {
    rest: &'b [&'b [u8]],
}

impl LoadInput for LoggedFile<'_> {
    fn read(&mut self, buffer: &mut Vec<u8>) -> Result<()> {
        while let Some((block, rest)) = self.rest.split_first() {
            self.rest = rest;
            buffer.extend_from_slice(block);
            // For the reader an empty read is the end of the file, but a block in the log may be empty.
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
}

impl LoadInput for ServerFile {
    fn read(&mut self, buffer: &mut Vec<u8>) -> Result<()> {
        let piece = Read::by_ref(&mut self.file)
            .take(PIECE as u64)
            .read_to_end(buffer);
        piece.map_err(|error| FileProblem::Read.error(&self.path, &error))?;
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
    /// The connection is not usable any more.
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
            // An error has changed the state.
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
