//! Prepared statements of the protocol: COM_STMT_….
//!
//! A statement keeps its syntax tree and its plan. The plan is used for every execution until one of its tables
//! changes. The statement is then planned again, and the client receives the new columns if they differ.
//!
//! A statement belongs to the database that was current when it was prepared. This database becomes the current one
//! again for planning and execution: for names, for DATABASE(), and in the log.

use super::columns::{KnownColumns, definition};
use super::cursor::{Cursor, CursorSink};
use super::reply::More;
use super::result::RowFormat;
use crate::server::Server;
use crate::session::Session;
use crate::session::execution::{Execution, QueryOrigin};
use crate::session::planning::is_to_be_planned_again;
use crate::session::preparation::{Preparation, parse_to_prepare, plan_to_prepare};
use crate::session::services::on_text;
use crate::session::statements::query::{collect, run_plan};
use paceline_expression::ExprType;
use paceline_expression::session::MemoryCharge;
use paceline_query::plan::{Plan, ResultColumn};
use paceline_syntax::{Error, Result, Statement};
use paceline_types::data_type::FieldType;
use paceline_types::error_code::*;
use paceline_types::{Sign, Value, binary_protocol};
use paceline_wire::command::LAST_PREPARED;
use paceline_wire::prepared::{ParameterType, Parameters, cursor_type, write_prepared};
use paceline_wire::response::write_end_of_columns;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A prepared statement.
struct PreparedStatement {
    text: Vec<u8>,
    statement: Arc<Statement>,
    parameters: usize,
    /// Current database when it was prepared.
    database: Option<String>,
    /// The plan; `None` for statements that are not planned.
    plan: Option<Arc<Plan>>,
    /// Number of rows read by the last execution.
    rows_read: u64,
    /// Columns that were sent to the client.
    columns: Option<KnownColumns>,
    /// Parameter types of the last execution.
    types: Vec<ParameterType>,
    /// Data of COM_STMT_SEND_LONG_DATA, by parameter. Too much data is reported as an error by the execution.
    long_data: Vec<Option<Vec<u8>>>,
    /// Error that stopped the collection of long data.
    long_data_error: Option<Error>,
    /// Rows of an open cursor that have not been fetched.
    cursor: Option<Cursor>,
    /// Memory of the statement and its long data.
    memory: MemoryCharge,
    _counted: CountedStatement,
}

/// Counts a statement for `max_prepared_stmt_count`. It is dropped with the statement, even if a running statement
/// panics.
struct CountedStatement(Arc<Server>);

impl CountedStatement {
    fn new(server: &Arc<Server>) -> Result<Self> {
        server.prepared_statement_opened()?;
        Ok(CountedStatement(server.clone()))
    }
}

impl Drop for CountedStatement {
    fn drop(&mut self) {
        self.0.prepared_statement_closed();
    }
}

/// Prepared statements of a client.
#[derive(Default)]
pub struct ClientStatements {
    /// Boxed, because a running statement is removed from the map.
    by_id: BTreeMap<u32, Box<PreparedStatement>>,
    last_id: u32,
}

impl ClientStatements {
    /// Removes all statements.
    pub fn clear(&mut self) {
        self.by_id.clear();
    }

    fn id(&self, id: u32) -> u32 {
        if id == LAST_PREPARED { self.last_id } else { id }
    }

    /// Returns the id of a new statement.
    fn next_id(&mut self) -> u32 {
        loop {
            self.last_id = self.last_id.wrapping_add(1);
            let id = self.last_id;
            if id != 0 && id != LAST_PREPARED && !self.by_id.contains_key(&id) {
                return id;
            }
        }
    }

    /// Removes and returns a statement's cursor, to read from it.
    ///
    /// # Errors
    /// 1243 for an unknown statement; 1421 without a cursor.
    pub(super) fn take_cursor(&mut self, id: u32) -> Result<Cursor> {
        let id = self.id(id);
        match self.by_id.get_mut(&id) {
            Some(prepared) => prepared
                .cursor
                .take()
                .ok_or_else(|| Error::new(ER_STMT_HAS_NO_OPEN_CURSOR, &[&id])),
            None => Err(unknown_statement(id, "mysqld_stmt_fetch")),
        }
    }

    /// Stores a statement's cursor again.
    pub(super) fn keep_cursor(&mut self, id: u32, cursor: Cursor) {
        let id = self.id(id);
        if let Some(prepared) = self.by_id.get_mut(&id) {
            prepared.cursor = Some(cursor);
        }
    }

    /// Removes a statement, if it exists.
    pub fn close(&mut self, id: u32) {
        self.by_id.remove(&self.id(id));
    }

    /// Clears a statement's long data and cursor. Returns false if it does not exist.
    pub fn reset(&mut self, id: u32) -> bool {
        let id = self.id(id);
        let Some(prepared) = self.by_id.get_mut(&id) else {
            return false;
        };
        prepared.forget_long_data();
        prepared.cursor = None;
        true
    }

    /// Appends data to a long parameter, up to `limit` bytes in total. Unknown statements and parameters are ignored,
    /// because the command has no reply.
    pub fn append_long_data(&mut self, id: u32, parameter: u16, data: &[u8], limit: usize) {
        let id = self.id(id);
        let Some(prepared) = self.by_id.get_mut(&id) else {
            return;
        };
        let Some(slot) = prepared.long_data.get_mut(usize::from(parameter)) else {
            return;
        };
        let value = slot.get_or_insert_default();
        let error = match value.len() + data.len() > limit {
            true => Some(Error::new(ER_NET_PACKET_TOO_LARGE, &[])),
            false => prepared.memory.grow(data.len()).err(),
        };
        match error {
            None => value.extend_from_slice(data),
            Some(error) => {
                prepared.memory.shrink(value.len());
                *slot = None;
                prepared.long_data_error = Some(error);
            }
        }
    }
}

impl PreparedStatement {
    fn forget_long_data(&mut self) {
        for slot in &mut self.long_data {
            let bytes = slot.take().map_or(0, |data| data.len());
            self.memory.shrink(bytes);
        }
        self.long_data_error = None;
    }
}

impl Session {
    /// Executes COM_STMT_PREPARE.
    pub(in crate::session) fn prepare(&mut self, text: Vec<u8>) {
        self.state.shared.counters.com_stmt_prepare.add(1);
        self.state.begin_statement(None);
        if let Err(error) = self.prepare_statement(text) {
            self.replies().error(&error);
        }
    }

    fn prepare_statement(&mut self, text: Vec<u8>) -> Result<()> {
        let Preparation {
            statement,
            text,
            parameters,
            memory,
        } = parse_to_prepare(text, &self.state)?;
        let plan = on_text(text.len(), || plan_to_prepare(&statement, &mut self.state))?;
        let counted = CountedStatement::new(&self.state.server)?;
        let charset = self.state.context.settings.character_set_results;
        let capabilities = self.connection.capabilities;
        let columns = plan
            .as_ref()
            .filter(|plan| plan.has_result_set())
            .map_or(&[][..], |plan| plan.columns());
        let known = plan
            .as_ref()
            .filter(|plan| plan.has_result_set())
            .map(|plan| KnownColumns::new(plan.clone(), charset, capabilities));
        let column_count = columns.len();
        let id = self.statements.next_id();
        let warnings = self.state.context.diagnostics.warning_count_u16();
        let status = self.state.status();
        let writer = &mut self.connection.writer;
        write_prepared(writer, id, column_count as u16, parameters as u16, warnings);
        if parameters > 0 {
            let parameter = ResultColumn::of_expression("?", &ExprType::parameter());
            for _ in 0..parameters {
                definition(&parameter, charset).write(writer, capabilities);
            }
            write_end_of_columns(writer, status, capabilities);
        }
        if let Some(known) = &known {
            known.encoded().write(writer);
            write_end_of_columns(writer, status, capabilities);
        }
        let prepared = PreparedStatement {
            text,
            statement,
            parameters,
            database: self.state.context.database.clone(),
            plan,
            rows_read: 0,
            columns: known,
            types: vec![],
            long_data: vec![None; parameters],
            long_data_error: None,
            cursor: None,
            memory,
            _counted: counted,
        };
        self.statements.by_id.insert(id, Box::new(prepared));
        Ok(())
    }

    /// Executes COM_STMT_EXECUTE. The parameters are in the last payload that was read.
    pub(super) async fn execute_prepared(&mut self, id: u32, cursor: u8) {
        let id = self.statements.id(id);
        // The statement is removed from the map while it runs, so nothing else in the session can access it.
        let Some(mut prepared) = self.statements.by_id.remove(&id) else {
            self.begin_command("Execute", b"");
            self.state.begin_statement(None);
            self.replies()
                .error(&unknown_statement(id, "mysqld_stmt_execute"));
            return;
        };
        self.begin_command("Execute", &prepared.text);
        self.state.shared.counters.com_stmt_execute.add(1);
        self.state.begin_statement(Some(&prepared.statement));
        prepared.cursor = None;
        let done = match self.take_parameters(&mut prepared) {
            Ok(parameters) => {
                let left = self.state.enter_database(prepared.database.as_deref());
                let done = self.execute_statement(&mut prepared, &parameters, cursor).await;
                self.state.return_to_database(left);
                done
            }
            Err(error) => Err(error),
        };
        prepared.forget_long_data();
        self.end_statement(&done);
        self.statements.by_id.insert(id, prepared);
    }

    fn take_parameters(&self, prepared: &mut PreparedStatement) -> Result<Vec<Value>> {
        if prepared.parameters == 0 {
            return Ok(vec![]);
        }
        if let Some(error) = &prepared.long_data_error {
            return Err(error.clone());
        }
        let malformed = || Error::new(ER_WRONG_ARGUMENTS, &[&"mysqld_stmt_execute"]);
        // Skips the command, the statement, the cursor type and the iterations.
        let payload = self.connection.reader.payload().get(10..).unwrap_or_default();
        let parameters =
            Parameters::parse(payload, prepared.parameters, &mut prepared.types).map_err(|_| malformed())?;
        let mut types = smallvec::SmallVec::<[binary_protocol::ParameterType; 16]>::new();
        for wire in &prepared.types {
            types.push(binary_protocol::ParameterType {
                field_type: FieldType::from_code(wire.field_type).ok_or_else(malformed)?,
                sign: if wire.unsigned {
                    Sign::Unsigned
                } else {
                    Sign::Signed
                },
            });
        }
        let values = binary_protocol::decode_parameters(
            &types,
            parameters.null_bitmap(),
            parameters.values,
            &prepared.long_data,
            self.state.context.settings.character_set_client,
        );
        values.map_err(|_| malformed())
    }

    async fn execute_statement(
        &mut self,
        prepared: &mut PreparedStatement,
        parameters: &[Value],
        cursor: u8,
    ) -> Result<()> {
        let statement = prepared.statement.clone();
        let execution = Execution {
            text: &prepared.text,
            parameters,
            format: RowFormat::Binary,
            more: More::No,
            asked_by: QueryOrigin::Client,
        };
        let Some(mut plan) = prepared.plan.clone() else {
            return self.run_statement(&statement, execution).await;
        };
        self.state.check_restrictions(&statement)?;
        if is_to_be_planned_again(&plan, prepared.rows_read) {
            plan = Arc::new(self.state.plan_for(&statement, parameters)?);
            let same = |known: &KnownColumns| known.describes(plan.columns());
            if prepared.columns.as_ref().is_some_and(same) {
                let charset = self.state.context.settings.character_set_results;
                let capabilities = self.connection.capabilities;
                prepared.columns = Some(KnownColumns::new(plan.clone(), charset, capabilities));
            }
            prepared.plan = Some(plan.clone());
        }
        let wants_cursor = cursor & cursor_type::READ_ONLY != 0 && plan.has_result_set();
        for _ in 0..100 {
            if wants_cursor {
                if let Some((rows, _)) = collect::<CursorSink>(&plan, &mut self.state, execution).await? {
                    prepared.rows_read = self.state.context.rows_read;
                    prepared.cursor = Some(self.open_cursor(rows)?);
                    return Ok(());
                }
            } else {
                let (state, connection) = (&mut self.state, &mut self.connection);
                let known = prepared.columns.as_ref();
                if let Some(reply) = run_plan(&plan, state, connection, execution, known).await? {
                    self.replies().reply(reply, execution)?;
                    prepared.rows_read = self.state.context.rows_read;
                    return Ok(());
                }
            }
            self.state.shared.counters.com_stmt_reprepare.add(1);
            plan = Arc::new(on_text(prepared.text.len(), || {
                self.state.plan_for(&statement, parameters)
            })?);
            prepared.plan = Some(plan.clone());
            // The columns that the client has cached are no longer valid. They are sent with each execution.
            prepared.columns = None;
        }
        Err(Error::new(ER_NEED_REPREPARE, &[]))
    }
}

/// Returns error 1243.
pub(super) fn unknown_statement(id: u32, command: &str) -> Error {
    Error::new(ER_UNKNOWN_STMT_HANDLER, &[&id, &command])
}
