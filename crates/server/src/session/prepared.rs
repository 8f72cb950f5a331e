//! Prepared statements, of the protocol (COM_STMT_…) and of SQL (PREPARE, EXECUTE).
//!
//! A statement keeps its syntax tree and its plan. The plan is used for every execution until one of its tables
//! changes. Then the statement is planned again, and the client is told if the columns have changed.
//!
//! A statement belongs to the database that was current when it was prepared. This database becomes the current one
//! again for planning and execution: for names, for DATABASE(), and in the log.

use super::plans::Run;
use super::query::{ClientStatement, Execution, QueryOrigin};
use super::result::{EncodedColumns, KnownColumns, RowFormat, definition};
use super::time_slice::on_text;
use super::{More, Session};
use crate::server::Server;
use paceline_expression::session::MemoryCharge;
use paceline_expression::{EmptyScope, EvalContext, EvalState, ExprType};
use paceline_query::execute::{RowSink, RowStore, StoredRows};
use paceline_query::plan::{Plan, PlannedValues, ResultColumn};
use paceline_syntax::ast::Expr;
use paceline_syntax::{Error, Result};
use paceline_syntax::{QueryStatement, SelectInto, Statement};
use paceline_types::data_type::FieldType;
use paceline_types::error_code::*;
use paceline_types::{Sign, Value, binary_protocol};
use paceline_wire::command::LAST_PREPARED;
use paceline_wire::prepared::{ParameterType, Parameters, cursor_type, write_prepared};
use paceline_wire::response::{Status, write_end_of_columns};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

fn writes_file(query: &QueryStatement) -> bool {
    matches!(
        query.into,
        Some(SelectInto::Outfile { .. } | SelectInto::Dumpfile(_))
    )
}

/// Number of expected rows from which execution is much more expensive than planning.
const WORTH_PLANNING_ROWS: f64 = 1_000.0;

/// Returns whether a prepared statement should be planned again for the parameters of this execution: the plan depends
/// on parameters, and it was made without values, or is expensive, or has proved to be. A plan that reads few rows is
/// executed as it is.
fn is_to_be_planned_again(plan: &Plan, rows_read: u64) -> bool {
    let expected = plan.expected_rows();
    match plan.values() {
        PlannedValues::Any => false,
        PlannedValues::Unknown => true,
        PlannedValues::Given => {
            expected > WORTH_PLANNING_ROWS || rows_read as f64 > 4.0 * expected + WORTH_PLANNING_ROWS
        }
    }
}

/// A prepared statement.
struct Prepared {
    text: Vec<u8>,
    statement: Arc<Statement>,
    parameters: usize,
    /// Current database when it was prepared.
    database: Option<String>,
    /// The plan; `None` for statements that are not planned.
    plan: Option<Arc<Plan>>,
    /// Number of rows read by the last execution.
    rows_read: u64,
    /// Columns that the client has been told.
    columns: Option<KnownColumns>,
    /// Parameter types of the last execution.
    types: Vec<ParameterType>,
    /// Data of COM_STMT_SEND_LONG_DATA, by parameter. Data beyond the limit is an error of the execution.
    long_data: Vec<Option<Vec<u8>>>,
    /// Error that stopped the collection of long data.
    long_data_error: Option<Error>,
    /// Rows of an open cursor that have not been fetched.
    cursor: Option<Cursor>,
    /// Memory of the statement and its long data.
    memory: MemoryCharge,
    _counted: CountedStatement,
}

/// Counts a statement for `max_prepared_stmt_count`. It is dropped with the statement, also if a running one panics.
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

/// An open cursor. Its rows were read when it was opened; beyond a limit they are in a temporary file.
struct Cursor {
    columns: Vec<ResultColumn>,
    rows: StoredRows,
    _memory: MemoryCharge,
}

/// Sink for the rows of a cursor.
#[derive(Default)]
struct CursorSink {
    columns: Vec<ResultColumn>,
    rows: RowStore,
}

impl RowSink for CursorSink {
    fn columns(&mut self, columns: &[ResultColumn]) -> Result<()> {
        self.columns = columns.to_vec();
        Ok(())
    }

    fn row(&mut self, row: &[Value]) -> Result<()> {
        self.rows.push(row)
    }
}

/// A statement of PREPARE.
struct TextPrepared {
    text: Vec<u8>,
    statement: Arc<Statement>,
    parameters: usize,
    /// Current database when it was prepared.
    database: Option<String>,
    /// Memory of the statement.
    _memory: MemoryCharge,
}

/// A parsed statement that is being prepared.
struct PreparationState {
    statement: Arc<Statement>,
    text: Vec<u8>,
    parameters: usize,
    memory: MemoryCharge,
}

/// Memory of a prepared statement besides its text and tree, in bytes.
const PREPARED_BYTES: usize = 1024;

/// Database that was current before that of a prepared statement.
struct LeftDatabase(Option<String>);

/// A session's prepared statements.
#[derive(Default)]
pub struct PreparedStatements {
    /// Boxed, because a running statement is taken out of the map.
    by_id: BTreeMap<u32, Box<Prepared>>,
    by_name: HashMap<String, TextPrepared>,
    last_id: u32,
}

impl PreparedStatements {
    /// Removes all statements.
    pub fn clear(&mut self) {
        self.by_id.clear();
        self.by_name.clear();
    }

    fn id(&self, id: u32) -> u32 {
        if id == LAST_PREPARED { self.last_id } else { id }
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

    /// Appends a piece of a long parameter, up to `limit` bytes in total. Unknown statements and parameters are
    /// ignored, because the command has no reply.
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

impl Prepared {
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
    pub fn prepare(&mut self, text: Vec<u8>) {
        self.shared.counters.com_stmt_prepare.add(1);
        self.begin_statement(None);
        if let Err(error) = self.prepare_statement(text) {
            self.write_sql_error(&error);
        }
    }

    fn prepare_statement(&mut self, text: Vec<u8>) -> Result<()> {
        let PreparationState {
            statement,
            text,
            parameters,
            memory,
        } = self.parse_to_prepare(text)?;
        let plan = on_text(text.len(), || self.plan_to_prepare(&statement))?;
        let counted = CountedStatement::new(&self.server)?;
        let charset = self.context.settings.character_set_results;
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
        let id = self.next_statement_id();
        let warnings = self.context.diagnostics.warning_count_u16();
        let status = self.status();
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
        let prepared = Prepared {
            text,
            statement,
            parameters,
            database: self.context.database.clone(),
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
        self.prepared.by_id.insert(id, Box::new(prepared));
        Ok(())
    }

    fn next_statement_id(&mut self) -> u32 {
        loop {
            self.prepared.last_id = self.prepared.last_id.wrapping_add(1);
            let id = self.prepared.last_id;
            if id != 0 && id != LAST_PREPARED && !self.prepared.by_id.contains_key(&id) {
                return id;
            }
        }
    }

    /// Parses a text that must be a single statement of a kind that can be prepared.
    fn parse_to_prepare(&self, text: Vec<u8>) -> Result<PreparationState> {
        let ClientStatement { parsed, mut memory } = self.parse(&text)?;
        // It is kept, so it counts even if it is small.
        memory.set(parsed.memory_bytes + PREPARED_BYTES)?;
        if let Some(next) = parsed.next {
            return Err(super::query::syntax_error_near(&String::from_utf8_lossy(
                &text[next..],
            )));
        }
        if matches!(
            parsed.statement,
            Statement::Prepare { .. }
                | Statement::Execute { .. }
                | Statement::ExecuteImmediate { .. }
                | Statement::Deallocate(_)
        ) {
            return Err(Error::new(ER_UNSUPPORTED_PS, &[]));
        }
        if parsed.parameters > usize::from(u16::MAX) {
            return Err(Error::new(ER_PS_MANY_PARAM, &[]));
        }
        let text = parsed.text_to_show(&text, super::query::stored_hash).into_owned();
        Ok(PreparationState {
            statement: Arc::new(parsed.statement),
            text,
            parameters: parsed.parameters,
            memory,
        })
    }

    fn plan_to_prepare(&mut self, statement: &Statement) -> Result<Option<Arc<Plan>>> {
        if !matches!(
            statement,
            Statement::Query(_)
                | Statement::Insert(_)
                | Statement::Update(_)
                | Statement::Delete(_)
                | Statement::Do(_)
        ) {
            return Ok(None);
        }
        let plan = self.plan(statement)?;
        if !plan.tables().is_empty() {
            self.context.diagnostics.forget_earlier();
        }
        // The columns are sent before anything is executed.
        self.check_privileges(&plan)?;
        Ok(match statement {
            // Its rows are not sent to the client.
            Statement::Query(query) if writes_file(query) => None,
            _ => Some(Arc::new(plan)),
        })
    }

    /// Sends error 1243.
    pub fn unknown_statement(&mut self, id: u32, command: &str) {
        let error = Error::new(ER_UNKNOWN_STMT_HANDLER, &[&0, &id.to_string(), &command]);
        self.write_sql_error(&error);
    }

    /// Executes COM_STMT_EXECUTE. The parameters are in the last payload that was read.
    pub async fn execute_prepared(&mut self, id: u32, cursor: u8) {
        let id = self.prepared.id(id);
        // The statement is taken out while it is running, so nothing else in the session can access it.
        let Some(mut prepared) = self.prepared.by_id.remove(&id) else {
            self.begin_command("Execute", b"");
            self.begin_statement(None);
            self.unknown_statement(id, "mysqld_stmt_execute");
            return;
        };
        self.begin_command("Execute", &prepared.text);
        self.shared.counters.com_stmt_execute.add(1);
        self.begin_statement(Some(&prepared.statement));
        prepared.cursor = None;
        let done = match self.take_parameters(&mut prepared) {
            Ok(parameters) => {
                let left = self.enter_database(prepared.database.as_deref());
                let done = self.execute_statement(&mut prepared, &parameters, cursor).await;
                self.return_to_database(left);
                done
            }
            Err(error) => Err(error),
        };
        prepared.forget_long_data();
        self.end_statement(&done);
        self.prepared.by_id.insert(id, prepared);
    }

    /// Makes a prepared statement's database the current one. Returns `None` if it already is: then there is nothing to
    /// restore, and a USE in the statement stays in effect, as in MariaDB.
    fn enter_database(&mut self, database: Option<&str>) -> Option<LeftDatabase> {
        if self.context.database.as_deref() == database {
            return None;
        }
        let left = LeftDatabase(self.context.database.take());
        self.force_database(database);
        Some(left)
    }

    fn return_to_database(&mut self, left: Option<LeftDatabase>) {
        if let Some(LeftDatabase(database)) = left {
            self.force_database(database.as_deref());
        }
    }

    /// Changes the database like USE, but without a privilege check. If it does not exist any more, no database is
    /// current, with a note.
    fn force_database(&mut self, name: Option<&str>) {
        let found = name.and_then(|name| self.find_database(name));
        if let (Some(name), None) = (name, &found) {
            let message = ER_BAD_DB_ERROR.message(&[&name]);
            self.context.diagnostics.note(ER_BAD_DB_ERROR, message);
        }
        self.set_database(found);
    }

    fn take_parameters(&self, prepared: &mut Prepared) -> Result<Vec<Value>> {
        if prepared.parameters == 0 {
            return Ok(vec![]);
        }
        if let Some(error) = &prepared.long_data_error {
            return Err(error.clone());
        }
        let malformed = || Error::new(ER_WRONG_ARGUMENTS, &[&"mysqld_stmt_execute"]);
        // After command, statement, cursor type and iterations.
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
            self.context.settings.character_set_client,
        );
        values.map_err(|_| malformed())
    }

    async fn execute_statement(
        &mut self,
        prepared: &mut Prepared,
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
            return self.statement(&statement, execution).await;
        };
        if is_to_be_planned_again(&plan, prepared.rows_read) {
            plan = Arc::new(self.plan_for(&statement, parameters)?);
            let same = |known: &KnownColumns| known.describes(plan.columns());
            if prepared.columns.as_ref().is_some_and(same) {
                let charset = self.context.settings.character_set_results;
                let capabilities = self.connection.capabilities;
                prepared.columns = Some(KnownColumns::new(plan.clone(), charset, capabilities));
            }
            prepared.plan = Some(plan.clone());
        }
        let wants_cursor = cursor & cursor_type::READ_ONLY != 0 && plan.has_result_set();
        for _ in 0..100 {
            if wants_cursor {
                if let Some((rows, _)) = self.collect::<CursorSink>(&plan, execution).await? {
                    prepared.rows_read = self.context.rows_read;
                    prepared.cursor = Some(self.open_cursor(rows)?);
                    return Ok(());
                }
            } else if self.run_plan(&plan, execution, prepared.columns.as_ref()).await? == Run::Done {
                prepared.rows_read = self.context.rows_read;
                return Ok(());
            }
            self.shared.counters.com_stmt_reprepare.add(1);
            plan = Arc::new(on_text(prepared.text.len(), || {
                self.plan_for(&statement, parameters)
            })?);
            prepared.plan = Some(plan.clone());
            // The client's cached columns are not valid any more: send the columns with each execution.
            prepared.columns = None;
        }
        Err(Error::new(ER_NEED_REPREPARE, &[]))
    }

    /// Sends the reply of an execution that has opened a cursor: the columns, without rows.
    fn open_cursor(&mut self, collected: CursorSink) -> Result<Cursor> {
        use paceline_wire::column::{Metadata, write_column_count};
        let rows = collected.rows.finish()?;
        let mut memory = MemoryCharge::new(&self.context.memory);
        memory.grow(rows.memory_bytes())?;
        let capabilities = self.connection.capabilities;
        let status = self.status().with(Status::CURSOR_EXISTS);
        let charset = self.context.settings.character_set_results;
        let warnings = self.context.diagnostics.warning_count_u16();
        let writer = &mut self.connection.writer;
        write_column_count(writer, collected.columns.len(), Metadata::Follows, capabilities);
        EncodedColumns::new(&collected.columns, charset, capabilities).write(writer);
        // An EOF packet with the flag, also for clients that do not use EOF otherwise: it announces an open cursor.
        let ok = paceline_wire::response::OkPacket {
            status,
            warnings,
            ..Default::default()
        };
        paceline_wire::response::write_end_of_rows(writer, &ok, capabilities);
        Ok(Cursor {
            columns: collected.columns,
            rows,
            _memory: memory,
        })
    }

    /// Executes COM_STMT_FETCH.
    pub fn fetch(&mut self, id: u32, count: u32) {
        use super::result::{ResultStyle, ResultWriter, Streaming};
        let id = self.prepared.id(id);
        let Some(mut cursor) = self
            .prepared
            .by_id
            .get_mut(&id)
            .and_then(|prepared| prepared.cursor.take())
        else {
            let error = match self.prepared.by_id.contains_key(&id) {
                true => Error::new(ER_STMT_HAS_NO_OPEN_CURSOR, &[&id]),
                false => Error::new(
                    ER_UNKNOWN_STMT_HANDLER,
                    &[&0, &id.to_string(), &"mysqld_stmt_fetch"],
                ),
            };
            self.write_sql_error(&error);
            return;
        };
        let style = ResultStyle {
            format: RowFormat::Binary,
            time_zone: self.context.settings.time_zone.clone(),
            charset: self.context.settings.character_set_results,
            status: self.status(),
        };
        let mut writer =
            ResultWriter::rows_only(&mut self.connection, style, Streaming::Early, &cursor.columns);
        for _ in 0..count {
            let written = match cursor.rows.next_row() {
                Ok(Some(row)) => writer.row(&row),
                Ok(None) => break,
                Err(error) => Err(error),
            };
            if let Err(error) = written {
                self.write_sql_error(&error);
                return;
            }
        }
        let over = cursor.rows.left() == 0;
        let flag = if over {
            Status::LAST_ROW_SENT
        } else {
            Status::CURSOR_EXISTS
        };
        let ok = paceline_wire::response::OkPacket {
            status: self.status().with(flag),
            ..Default::default()
        };
        paceline_wire::response::write_end_of_rows(
            &mut self.connection.writer,
            &ok,
            self.connection.capabilities,
        );
        if !over && let Some(prepared) = self.prepared.by_id.get_mut(&id) {
            prepared.cursor = Some(cursor);
        }
    }

    /// Executes PREPARE name FROM text.
    pub fn prepare_text(&mut self, name: &str, source: &Expr, more: More) -> Result<()> {
        self.shared.counters.com_prepare_sql.add(1);
        let key = name.to_lowercase();
        // Even a failed PREPARE drops the statement with this name.
        self.prepared.by_name.remove(&key);
        let text = self.statement_text(source)?;
        let PreparationState {
            statement,
            text,
            parameters,
            memory,
        } = self.parse_to_prepare(text)?;
        on_text(text.len(), || self.plan_to_prepare(&statement))?;
        self.prepared.by_name.insert(
            key,
            TextPrepared {
                text,
                statement,
                parameters,
                database: self.context.database.clone(),
                _memory: memory,
            },
        );
        self.write_ok(0, 0, "Statement prepared", more);
        Ok(())
    }

    /// Returns the statement text of PREPARE and EXECUTE IMMEDIATE.
    fn statement_text(&mut self, source: &Expr) -> Result<Vec<u8>> {
        match self.evaluate(source)? {
            Value::Null => Ok(b"NULL".to_vec()),
            value => {
                let mut text = vec![];
                paceline_types::text::append_value(
                    &value.as_ref(),
                    &self.context.settings.time_zone,
                    &mut text,
                );
                // As of a query that a client sends, what ends it is no part of it.
                let end = text
                    .iter()
                    .rposition(|byte| !byte.is_ascii_whitespace() && *byte != b';');
                text.truncate(end.map_or(0, |end| end + 1));
                Ok(text)
            }
        }
    }

    /// Executes EXECUTE name USING ….
    pub async fn execute_text(&mut self, name: &str, using: &[Expr], execution: Execution<'_>) -> Result<()> {
        self.shared.counters.com_execute_sql.add(1);
        let unknown = || Error::new(ER_UNKNOWN_STMT_HANDLER, &[&name.len(), &name, &"EXECUTE"]);
        let prepared = self
            .prepared
            .by_name
            .get(&name.to_lowercase())
            .ok_or_else(unknown)?;
        let (statement, text, count, database) = (
            prepared.statement.clone(),
            prepared.text.clone(),
            prepared.parameters,
            prepared.database.clone(),
        );
        let parameters = self.values_of(using, count)?;
        let left = self.enter_database(database.as_deref());
        let done = self.execute_with(&statement, &text, &parameters, execution).await;
        self.return_to_database(left);
        done
    }

    /// Executes EXECUTE IMMEDIATE text USING ….
    pub async fn execute_immediate(
        &mut self,
        source: &Expr,
        using: &[Expr],
        execution: Execution<'_>,
    ) -> Result<()> {
        self.shared.counters.com_execute_immediate.add(1);
        let text = self.statement_text(source)?;
        let prepared = self.parse_to_prepare(text)?;
        let parameters = self.values_of(using, prepared.parameters)?;
        self.execute_with(&prepared.statement, &prepared.text, &parameters, execution)
            .await
    }

    /// Returns the parameters of USING. Their number must be `count`.
    fn values_of(&mut self, using: &[Expr], count: usize) -> Result<Vec<Value>> {
        if using.len() != count {
            return Err(Error::new(ER_WRONG_ARGUMENTS, &[&"EXECUTE"]));
        }
        using.iter().map(|expr| self.evaluate(expr)).collect()
    }

    async fn execute_with(
        &mut self,
        statement: &Statement,
        text: &[u8],
        parameters: &[Value],
        execution: Execution<'_>,
    ) -> Result<()> {
        let execution = Execution {
            text,
            parameters,
            ..execution
        };
        self.statement(statement, execution).await
    }

    /// Executes DEALLOCATE PREPARE.
    pub fn deallocate(&mut self, name: &str, more: More) -> Result<()> {
        self.shared.counters.com_dealloc_sql.add(1);
        if self.prepared.by_name.remove(&name.to_lowercase()).is_none() {
            return Err(Error::new(
                ER_UNKNOWN_STMT_HANDLER,
                &[&name.len(), &name, &"DEALLOCATE PREPARE"],
            ));
        }
        self.write_ok(0, 0, "", more);
        Ok(())
    }

    /// Evaluates an expression without tables.
    pub fn evaluate(&mut self, expr: &Expr) -> Result<Value> {
        self.evaluate_typed(expr, &[]).map(|(value, _)| value)
    }

    /// Evaluates an expression without tables. Also returns its type.
    pub fn evaluate_typed(&mut self, expr: &Expr, parameters: &[Value]) -> Result<(Value, ExprType)> {
        let mut scope = EmptyScope::with_parameters(&self.context, parameters);
        let bound = paceline_expression::bind_expr(expr, &mut scope)?;
        let mut state = EvalState::new();
        let mut context = EvalContext {
            parameters,
            ..EvalContext::new(&mut self.context, &mut state)
        };
        let value = bound.eval_unrounded(&[], &mut context)?;
        Ok((value.into_owned(), bound.ty))
    }
}
