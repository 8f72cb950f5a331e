//! MariaDB's COM_STMT_BULK_EXECUTE: a prepared statement is executed once for each of several sets of parameters.
//!
//! | statement | execution |
//! |---|---|
//! | INSERT, REPLACE of values | one statement, which inserts the rows of all sets or none |
//! | UPDATE, DELETE from one table | a statement for each set; an error ends the loop, and the changes of earlier sets stay |
//! | others | 1295 |
//!
//! The client gets one reply: an OK packet with the sum of the affected rows, or the rows that RETURNING returns for
//! all sets. A parameter may stand for DEFAULT, or for nothing to be assigned (IGNORE): in an INSERT the executor
//! handles both, for an UPDATE the statement is rewritten and planned again.

use super::prepared::accept_invalid;
use crate::command_counter::count_command;
use crate::running_plan::PlanToRun;
use crate::session::Session;
use crate::session::execution::{Execution, QueryOrigin};
use crate::session::planning::ATTEMPTS_MAX;
use crate::session::protocol::{
    Connection, More, PreparedStatement, Reply, ResultWriter, RowFormat, Streaming, unknown_statement,
};
use crate::session::replies::result_style;
use crate::session::services::on_text;
use crate::session::state::SessionState;
use crate::session::statements::query::{note_plan, reply_of};
use crate::statement_kind::StatementKind;
use paceline_expression::session::{MemoryCharge, SessionMemory};
use paceline_query::execute::{
    AffectedRows, ExecutionContext, ImpossibleDates, Indicator, Outcome, ParameterSet, ParameterSets,
    RowSink, execute as execute_plan,
};
use paceline_query::plan::{Plan, ResultColumn, is_to_be_planned_again};
use paceline_syntax::ast::Expr;
use paceline_syntax::{AssignedValue, Error, Insert, InsertSource, Result, Statement};
use paceline_types::data_type::FieldType;
use paceline_types::error_code::*;
use paceline_types::{Charset, Sign, Value, binary_protocol};
use paceline_wire::Capabilities;
use paceline_wire::prepared::{BulkParameters, bulk_flag, indicator};
use std::sync::Arc;

/// Name of the function in errors, as in MariaDB.
const FUNCTION: &str = "mysqld_stmt_bulk_execute";

/// Sets of parameters of one command, decoded one by one.
struct DecodedSets {
    encoded: BulkParameters,
    types: Vec<binary_protocol::ParameterType>,
    charset: Charset,
    values: Vec<Value>,
    indicators: Vec<Indicator>,
    /// For each parameter whether it may stand for DEFAULT.
    assignable: Vec<bool>,
}

impl DecodedSets {
    fn new(
        encoded: BulkParameters,
        charset: Charset,
        assignable: Vec<bool>,
        impossible: ImpossibleDates<'_>,
    ) -> Result<Self> {
        let types = encoded.types().iter().map(|wire| {
            Ok(binary_protocol::ParameterType {
                field_type: FieldType::from_code(wire.field_type).ok_or_else(malformed)?,
                sign: match wire.unsigned {
                    true => Sign::Unsigned,
                    false => Sign::Signed,
                },
            })
        });
        let types = types.collect::<Result<Vec<_>>>()?;
        let mut sets = DecodedSets {
            encoded,
            types,
            charset,
            values: Vec::new(),
            indicators: Vec::new(),
            assignable,
        };
        sets.decode(impossible)?;
        Ok(sets)
    }

    fn decode(&mut self, impossible: ImpossibleDates<'_>) -> Result<()> {
        let mut invalid = Vec::new();
        self.values = binary_protocol::decode_parameters(
            &self.types,
            self.encoded.null_bitmap(),
            self.encoded.values(),
            &[],
            self.charset,
            &mut invalid,
        )
        .map_err(|_| malformed())?;
        accept_invalid(invalid, impossible)?;
        self.indicators.clear();
        for (index, given) in self.encoded.indicators().iter().enumerate() {
            let indicator = match *given {
                indicator::DEFAULT => Indicator::Default,
                indicator::IGNORE => Indicator::Ignore,
                _ => Indicator::Value,
            };
            if indicator != Indicator::Value && !self.assignable[index] {
                return Err(Error::new(ER_INVALID_DEFAULT_PARAM, &[]));
            }
            self.indicators.push(indicator);
        }
        Ok(())
    }

    /// Returns whether every parameter of the current set has a value.
    fn has_only_values(&self) -> bool {
        (self.indicators.iter()).all(|indicator| *indicator == Indicator::Value)
    }
}

impl ParameterSets for DecodedSets {
    fn current(&self) -> ParameterSet<'_> {
        ParameterSet {
            values: &self.values,
            indicators: &self.indicators,
        }
    }

    fn advance(&mut self, impossible: ImpossibleDates<'_>) -> Result<bool> {
        let has_more = self.encoded.advance().map_err(|_| malformed())?;
        if has_more {
            self.decode(impossible)?;
        }
        Ok(has_more)
    }
}

/// Sink of the rows of a later set: the client has the columns already.
struct LaterRows<'w>(ResultWriter<'w>);

impl RowSink for LaterRows<'_> {
    fn columns(&mut self, _: &[ResultColumn]) -> Result<()> {
        Ok(())
    }

    fn row(&mut self, row: &[Value]) -> Result<()> {
        self.0.row(row)
    }
}

/// Copy of a command's parameters, charged to the session.
pub(super) struct ChargedPayload {
    bytes: Vec<u8>,
    _memory: MemoryCharge,
}

impl ChargedPayload {
    /// Copies the parameters.
    ///
    /// # Errors
    /// 1290 and 1041; nothing is copied then.
    pub fn of(parameters: &[u8], account: &Arc<SessionMemory>) -> Result<Self> {
        let mut memory = MemoryCharge::new(account);
        memory.grow(parameters.len())?;
        Ok(ChargedPayload {
            bytes: parameters.to_vec(),
            _memory: memory,
        })
    }
}

fn malformed() -> Error {
    Error::new(ER_WRONG_ARGUMENTS, &[&FUNCTION])
}

fn unsupported() -> Error {
    Error::new(ER_UNSUPPORTED_PS, &[])
}

impl Session {
    /// Executes COM_STMT_BULK_EXECUTE.
    pub(super) async fn execute_bulk(&mut self, id: u32, flags: u16, payload: Result<ChargedPayload>) {
        let id = self.statements.id(id);
        if !(self.connection.capabilities).has(Capabilities::MARIADB_STMT_BULK_OPERATIONS)
            || flags & !bulk_flag::SEND_TYPES != 0
        {
            self.state.begin_statement(None);
            return self.replies().error(&unsupported());
        }
        let Some(mut prepared) = self.statements.by_id.remove(&id) else {
            self.begin_command("Execute", b"");
            self.state.begin_statement(None);
            let error = unknown_statement(id, "mysqld_stmt_execute");
            return self.replies().error(&error);
        };
        self.begin_command("Execute", &prepared.text);
        let counters = &self.state.shared.counters;
        counters.com_stmt_execute.add(1);
        count_command(&prepared.statement, counters);
        self.state.begin_statement(Some(&prepared.statement));
        self.state.shared.statement_kind.set(StatementKind::BULK_EXECUTE);
        prepared.cursor = None;
        let left = self.state.enter_database(prepared.database.as_deref());
        let done = self.execute_sets(&mut prepared, flags, payload).await;
        self.state.return_to_database(left);
        prepared.forget_long_data();
        let _sent = self.end_statement(&prepared.text, Some(prepared.digest), done);
        self.statements.by_id.insert(id, prepared);
    }

    async fn execute_sets(
        &mut self,
        prepared: &mut PreparedStatement,
        flags: u16,
        payload: Result<ChargedPayload>,
    ) -> Result<()> {
        let ChargedPayload {
            bytes: payload,
            _memory,
        } = payload?;
        let assignable = match &*prepared.statement {
            Statement::Insert(insert) if matches!(insert.source, InsertSource::Values(_)) => {
                assignable_in_insert(insert, prepared.parameters)
            }
            Statement::Update(update) => {
                let values = update.assignments.iter().map(|assignment| &assignment.value);
                assignable(values, prepared.parameters)
            }
            Statement::Delete(delete) if delete.targets.is_empty() => vec![false; prepared.parameters],
            _ => return Err(unsupported()),
        };
        if prepared.parameters == 0 {
            return Err(unsupported());
        }
        if flags & bulk_flag::SEND_TYPES != 0 && payload.len() < 2 * prepared.parameters {
            return Err(Error::new(ER_MALFORMED_PACKET, &[]));
        }
        if prepared.long_data.iter().any(Option::is_some) || prepared.long_data_error.is_some() {
            return Err(malformed());
        }
        let encoded = BulkParameters::parse(payload, flags, prepared.parameters, &mut prepared.types)
            .map_err(|_| malformed())?;
        let charset = self.state.context.settings.character_set_client;
        let impossible = ImpossibleDates::Warned(&mut self.state.context.diagnostics);
        let mut sets = DecodedSets::new(encoded, charset, assignable, impossible)?;
        self.state.check_restrictions(&prepared.statement)?;
        let reply = match &*prepared.statement {
            Statement::Insert(_) => self.insert_sets(prepared, &mut sets).await?,
            _ => self.change_sets(prepared, &mut sets).await?,
        };
        let execution = execution(&prepared.text, &[]);
        self.replies().reply(reply, execution)
    }

    /// Executes an INSERT or REPLACE for all sets.
    async fn insert_sets(
        &mut self,
        prepared: &mut PreparedStatement,
        sets: &mut DecodedSets,
    ) -> Result<Reply> {
        for _ in 0..ATTEMPTS_MAX {
            let plan = self.plan_of(prepared, sets.current().values)?;
            let execution = execution(&prepared.text, &[]);
            let (state, connection) = (&mut self.state, &mut self.connection);
            if let Some(outcome) = run(&plan, state, connection, execution, Some(sets), Rows::First).await? {
                return Ok(reply_of(outcome, state));
            }
            prepared.plan = None;
        }
        Err(Error::new(ER_NEED_REPREPARE, &[]))
    }

    /// Executes an UPDATE or DELETE for each set.
    async fn change_sets(
        &mut self,
        prepared: &mut PreparedStatement,
        sets: &mut DecodedSets,
    ) -> Result<Reply> {
        let mut total = Outcome::default();
        let mut rows = Rows::First;
        let mut rewritten = None;
        loop {
            self.state.services.check_running()?;
            let outcome = self.change_set(prepared, sets, rows, &mut rewritten).await?;
            total.result_set = outcome.result_set;
            total.affected_rows += outcome.affected_rows;
            total.rows_sent += outcome.rows_sent;
            total.last_insert_id = outcome.last_insert_id;
            rows = Rows::Later;
            let impossible = ImpossibleDates::Warned(&mut self.state.context.diagnostics);
            if !sets.advance(impossible)? {
                break;
            }
        }
        if matches!(*prepared.statement, Statement::Update(_)) {
            // As in MariaDB the matched rows that stay as they are do not count.
            let changed = total.affected_rows;
            let warnings = self.state.context.diagnostics.warning_count();
            total.info = format!("Rows matched: {changed}  Changed: {changed}  Warnings: {warnings}");
        }
        Ok(reply_of(total, &self.state))
    }

    async fn change_set(
        &mut self,
        prepared: &mut PreparedStatement,
        sets: &DecodedSets,
        rows: Rows,
        rewritten: &mut Option<RewrittenPlan>,
    ) -> Result<Outcome> {
        let ParameterSet { values, indicators } = sets.current();
        for _ in 0..ATTEMPTS_MAX {
            let plan = match sets.has_only_values() {
                true => self.plan_of(prepared, values)?,
                false => match rewritten
                    .take()
                    .filter(|known| known.serves(indicators, prepared.rows_read))
                {
                    Some(known) => rewritten.insert(known).plan.clone(),
                    None => {
                        let statement = with_defaults(&prepared.statement, indicators);
                        let plan = on_text(prepared.text.len(), || {
                            self.state.plan_for(&statement, values).map(Arc::new)
                        })?;
                        let known = RewrittenPlan {
                            indicators: indicators.to_vec(),
                            plan,
                        };
                        rewritten.insert(known).plan.clone()
                    }
                },
            };
            let execution = execution(&prepared.text, values);
            let (state, connection) = (&mut self.state, &mut self.connection);
            if let Some(outcome) = run(&plan, state, connection, execution, None, rows).await? {
                prepared.rows_read = self.state.context.rows_read;
                return Ok(outcome);
            }
            prepared.plan = None;
            *rewritten = None;
        }
        Err(Error::new(ER_NEED_REPREPARE, &[]))
    }

    /// Returns the plan of the prepared statement, which is planned again if its tables have changed.
    fn plan_of(&mut self, prepared: &mut PreparedStatement, values: &[Value]) -> Result<Arc<Plan>> {
        if let Some(plan) = &prepared.plan
            && !is_to_be_planned_again(plan, prepared.rows_read)
        {
            return Ok(plan.clone());
        }
        if prepared.plan.is_none() {
            self.state.shared.counters.com_stmt_reprepare.add(1);
        }
        let plan = on_text(prepared.text.len(), || {
            self.state.plan_for(&prepared.statement, values)
        })?;
        let plan = Arc::new(plan);
        prepared.plan = Some(plan.clone());
        prepared.columns = None;
        Ok(plan)
    }
}

/// Plan of an UPDATE for a set with indicators. The next set often has the same ones.
struct RewrittenPlan {
    indicators: Vec<Indicator>,
    plan: Arc<Plan>,
}

impl RewrittenPlan {
    fn serves(&self, indicators: &[Indicator], rows_read: u64) -> bool {
        self.indicators == indicators && !is_to_be_planned_again(&self.plan, rows_read)
    }
}

/// Rows that a plan returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rows {
    /// The first of the result set: its columns come before them.
    First,
    /// Later ones.
    Later,
}

fn execution<'a>(text: &'a [u8], parameters: &'a [Value]) -> Execution<'a> {
    Execution {
        text,
        parameters,
        using: &[],
        format: RowFormat::Binary,
        more: More::No,
        asked_by: QueryOrigin::Client,
    }
}

/// Executes a plan and writes its rows. Returns `None` if its tables have changed since it was made.
async fn run(
    plan: &Arc<Plan>,
    state: &mut SessionState,
    connection: &mut Connection,
    execution: Execution<'_>,
    sets: Option<&mut DecodedSets>,
    rows: Rows,
) -> Result<Option<Outcome>> {
    state.context.diagnostics.forget_earlier();
    let Some(catalog) = state.prepare_run(plan)? else {
        return Ok(None);
    };
    // Which values a set has is not in the text, so rows are logged; errors of the format are those of a statement.
    let without_text = Execution {
        text: b"",
        ..execution
    };
    state.text_log(plan, without_text)?;
    let streaming = Streaming::AfterSettling(MemoryCharge::new(&state.context.memory));
    let style = result_style(state, execution);
    let affected = match connection.capabilities.has(Capabilities::FOUND_ROWS) {
        true => AffectedRows::Found,
        false => AffectedRows::Changed,
    };
    let published = PlanToRun::from(plan).publish(&state.shared.running_plan);
    let mut context = ExecutionContext {
        affected,
        parameter_sets: sets.map(|sets| sets as &mut dyn ParameterSets),
        ..state.execution_context(&catalog, plan, execution)?
    };
    let outcome = match rows {
        Rows::First => {
            let mut sink = ResultWriter::new(connection, style, streaming, None);
            let outcome = execute_plan(plan, &mut context, &mut sink)?;
            sink.finish();
            outcome
        }
        Rows::Later => {
            let mut sink = LaterRows(ResultWriter::rows_only(
                connection,
                style,
                streaming,
                plan.columns(),
            ));
            execute_plan(plan, &mut context, &mut sink)?
        }
    };
    drop(context);
    drop(published);
    note_plan(plan, state, execution);
    state.leave_statement().await?;
    Ok(Some(outcome))
}

/// Returns for each parameter whether it is one of these values, so that DEFAULT could stand in its place.
fn assignable<'a>(values: impl Iterator<Item = &'a AssignedValue>, count: usize) -> Vec<bool> {
    let mut assignable = vec![false; count];
    for value in values {
        if let AssignedValue::Expr(Expr::Parameter(index)) = value {
            assignable[*index] = true;
        }
    }
    assignable
}

fn assignable_in_insert(insert: &Insert, count: usize) -> Vec<bool> {
    let InsertSource::Values(rows) = &insert.source else {
        return vec![false; count];
    };
    let updated = insert.on_duplicate.iter().map(|assignment| &assignment.value);
    assignable(rows.iter().flatten().chain(updated), count)
}

/// Returns an UPDATE with DEFAULT in place of parameters, and with `c = c` for assignments that are ignored.
fn with_defaults(statement: &Statement, indicators: &[Indicator]) -> Statement {
    let mut statement = statement.clone();
    if let Statement::Update(update) = &mut statement {
        for assignment in &mut update.assignments {
            let AssignedValue::Expr(Expr::Parameter(index)) = assignment.value else {
                continue;
            };
            match indicators[index] {
                Indicator::Value => {}
                Indicator::Default => assignment.value = AssignedValue::Default,
                Indicator::Ignore => {
                    assignment.value = AssignedValue::Expr(Expr::Column(assignment.column.clone()))
                }
            }
        }
    }
    statement
}

#[cfg(test)]
mod tests {
    use super::*;
    use paceline_types::binary_protocol::{ParameterType, decode_parameters};

    #[test]
    fn values_of_a_set_are_as_long_as_their_decoder_says() {
        let mut checked = 0;
        for code in 0..=u8::MAX {
            let Ok(parameter) = ParameterType::from_bytes([code, 0]) else {
                continue;
            };
            let decodes = |bytes: &[u8]| {
                decode_parameters(&[parameter], &[0], bytes, &[], Charset::Utf8mb4, &mut Vec::new()).is_ok()
            };
            // The first byte can be a length.
            for first in [0, 4, 7, 8, 11, 12] {
                let payload = [&[code, 0, indicator::VALUE, first][..], &[0; 31]].concat();
                if !decodes(&payload[3..]) {
                    continue;
                }
                let sets = BulkParameters::parse(payload, bulk_flag::SEND_TYPES, 1, &mut vec![]).unwrap();
                let value = sets.values();
                assert!(decodes(value), "type {code}, {value:?}");
                assert!(
                    value.is_empty() || !decodes(&value[..value.len() - 1]),
                    "type {code}, {value:?}"
                );
                checked += 1;
            }
        }
        assert!(checked > 100);
    }
}
