//! Prepared statements of the protocol: COM_STMT_….
//!
//! A statement keeps its syntax tree and its plan. The plan is used for every execution until one of its tables
//! changes. The statement is then planned again, and the client receives the new columns if they differ.
//!
//! A statement belongs to the database that was current when it was prepared. This database becomes the current one
//! again for planning and execution: for names, for DATABASE(), and in the log.

use crate::command_counter::count_command;
use crate::session::Session;
use crate::session::execution::Execution;
use crate::session::planning::ATTEMPTS_MAX;
use crate::session::preparation::{Preparation, parse_to_prepare, plan_to_prepare};
use crate::session::protocol::{
    CountedStatement, KnownColumns, PreparedStatement, definition, unknown_statement,
};
use crate::session::services::on_text;
use crate::session::statements::query::{collect, run_plan};
use crate::statement_kind::StatementKind;
use paceline_expression::ExprType;
use paceline_query::execute::{CursorSink, ImpossibleDates};
use paceline_query::plan::{ResultColumn, is_to_be_planned_again};
use paceline_syntax::{Error, Result, Statement};
use paceline_types::binary_protocol::{self, InvalidTemporal};
use paceline_types::data_type::FieldType;
use paceline_types::error_code::*;
use paceline_types::{Sign, Value};
use paceline_wire::prepared::{Parameters, cursor_type, write_prepared};
use paceline_wire::response::write_end_of_columns;
use std::sync::Arc;

/// Warns of impossible dates and times among parameters, whose values are zero, or refuses them.
pub(super) fn accept_invalid(
    invalid: Vec<InvalidTemporal>,
    mut impossible: ImpossibleDates<'_>,
) -> Result<()> {
    for InvalidTemporal { kind, text } in invalid {
        match &mut impossible {
            ImpossibleDates::Refused => return Err(Error::new(ER_TRUNCATED_WRONG_VALUE, &[&kind, &text])),
            ImpossibleDates::Warned(diagnostics) => {
                let message = ER_TRUNCATED_WRONG_VALUE.message(&[&kind, &text]);
                diagnostics.warn(ER_TRUNCATED_WRONG_VALUE, message);
            }
        }
    }
    Ok(())
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
        } = parse_to_prepare(text, &mut self.state)?;
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
            digest: self.state.digest_of(&text),
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
        self.state.shared.statement_kind.set(StatementKind::EXECUTE);
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
        let _sent = self.end_statement(&prepared.text, Some(prepared.digest), done);
        self.statements.by_id.insert(id, prepared);
    }

    fn take_parameters(&mut self, prepared: &mut PreparedStatement) -> Result<Vec<Value>> {
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
        let mut invalid = Vec::new();
        let values = binary_protocol::decode_parameters(
            &types,
            parameters.null_bitmap(),
            parameters.values,
            &prepared.long_data,
            self.state.context.settings.character_set_client,
            &mut invalid,
        );
        accept_invalid(
            invalid,
            ImpossibleDates::Warned(&mut self.state.context.diagnostics),
        )?;
        values.map_err(|_| malformed())
    }

    async fn execute_statement(
        &mut self,
        prepared: &mut PreparedStatement,
        parameters: &[Value],
        cursor: u8,
    ) -> Result<()> {
        let statement = prepared.statement.clone();
        let stores_rows = matches!(&*statement, Statement::Query(query) if query.into.is_some());
        if stores_rows && cursor & cursor_type::READ_ONLY != 0 {
            return Err(Error::new(ER_SP_BAD_CURSOR_SELECT, &[]));
        }
        let execution = Execution::of_prepared(&prepared.text, parameters);
        let Some(mut plan) = prepared.plan.clone() else {
            return self.run_statement(&statement, execution).await;
        };
        self.state.check_restrictions(&statement)?;
        count_command(&statement, &self.state.shared.counters);
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
        for _ in 0..ATTEMPTS_MAX {
            if wants_cursor {
                let rows = CursorSink::default();
                if let Some((rows, _)) = collect((&plan).into(), &mut self.state, execution, rows).await? {
                    prepared.rows_read = self.state.context.rows_read;
                    prepared.cursor = Some(self.open_cursor(rows)?);
                    return Ok(());
                }
            } else {
                let (state, connection) = (&mut self.state, &mut self.connection);
                let known = prepared.columns.as_ref();
                if let Some(reply) = run_plan((&plan).into(), state, connection, execution, known).await? {
                    self.replies().reply(reply, execution)?;
                    prepared.rows_read = self.state.context.rows_read;
                    return Ok(());
                }
            }
            plan = self.state.plan_again(&statement, &prepared.text, parameters)?;
            prepared.plan = Some(plan.clone());
            // The columns that the client has cached are no longer valid. They are sent with each execution.
            prepared.columns = None;
        }
        Err(Error::new(ER_NEED_REPREPARE, &[]))
    }
}
