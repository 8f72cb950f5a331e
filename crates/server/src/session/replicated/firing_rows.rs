//! Changes of a primary's rows that fire this server's triggers: `slave_run_triggers_for_rbr`.
//!
//! Each row becomes a statement with the row's values as parameters, so that a trigger runs exactly as for a client's
//! statement. A row is searched by its primary key, if the image has it; otherwise by all values of the image.
//!
//! What triggers change is logged here like every change, for YES and LOGGING alike: a restart replays the log without
//! running triggers.

use super::ReplicatedSession;
use super::failure;
use crate::running_plan::PlanToRun;
use crate::session::Session;
use crate::session::execution::Execution;
use crate::session::protocol::Reply;
use crate::session::statements::query::run_plan;
use crate::sql_text::identifier;
use paceline_apply::replicated::{Failure, FiringRow, FiringRows, RowValues};
use paceline_binlog::event::{EventFlags, QueryEvent, RowsKind};
use paceline_catalog::{IndexKind, TableDefinition};
use paceline_expression::session::SqlMode;
use paceline_replication::apply::ReplicatedStatement;
use paceline_syntax::{Error, ParseOptions, Result, Statement, parse_first};
use paceline_txn::Replication;
use paceline_types::error_code::ER_TABLE_DEF_CHANGED;
use paceline_types::{ServerId, Value};
use paceline_wire::Capabilities;

/// SQL modes of these statements: every value is stored as it is.
const MODE: SqlMode = SqlMode::NO_AUTO_VALUE_ON_ZERO;

/// A statement for a row, and its parameters.
struct RowStatement {
    text: String,
    parameters: Vec<Value>,
}

impl RowStatement {
    fn of(rows: &FiringRows, row: FiringRow) -> RowStatement {
        let definition = rows.definition();
        let table = format!(
            "{}.{}",
            identifier(definition.database()),
            identifier(definition.name())
        );
        let (before, after) = (row.before, row.after);
        let mut statement = RowStatement {
            text: String::new(),
            parameters: Vec::new(),
        };
        match rows.kind {
            RowsKind::Write => {
                let columns = held_columns(definition, &after);
                let names: Vec<String> = (columns.iter())
                    .map(|column| identifier(&definition.columns()[*column].name))
                    .collect();
                let verb = if rows.is_idempotent() { "REPLACE" } else { "INSERT" };
                let places = vec!["?"; columns.len()].join(", ");
                statement.text = format!("{verb} INTO {table} ({}) VALUES ({places})", names.join(", "));
                statement.push_values(&columns, &after);
            }
            RowsKind::Update => {
                let columns = held_columns(definition, &after);
                let assigned: Vec<String> = (columns.iter())
                    .map(|column| format!("{} = ?", identifier(&definition.columns()[*column].name)))
                    .collect();
                statement.text = format!("UPDATE {table} SET {}", assigned.join(", "));
                statement.push_values(&columns, &after);
                statement.push_condition(definition, &before);
            }
            RowsKind::Delete => {
                statement.text = format!("DELETE FROM {table}");
                statement.push_condition(definition, &before);
            }
        }
        statement
    }

    fn push_values(&mut self, columns: &[usize], row: &RowValues) {
        let values = columns.iter().filter_map(|column| row[*column].clone());
        self.parameters.extend(values);
    }

    fn push_condition(&mut self, definition: &TableDefinition, row: &RowValues) {
        let primary = definition
            .indexes()
            .iter()
            .find(|index| index.kind == IndexKind::Primary);
        let key: Option<Vec<usize>> =
            primary.map(|index| index.parts.iter().map(|part| part.column).collect());
        let columns = key
            .filter(|columns| columns.iter().all(|column| row[*column].is_some()))
            .unwrap_or_else(|| held_columns(definition, row));
        for (at, column) in columns.iter().enumerate() {
            let name = identifier(&definition.columns()[*column].name);
            let joined = if at == 0 { " WHERE" } else { " AND" };
            self.text.push_str(&format!("{joined} {name} <=> ?"));
        }
        self.text.push_str(" LIMIT 1");
        self.push_values(&columns, row);
    }
}

/// Returns the columns of an image that a statement can name.
fn held_columns(definition: &TableDefinition, row: &RowValues) -> Vec<usize> {
    let columns = definition.columns().iter().enumerate();
    let named = columns.filter(|(at, column)| column.generated.is_none() && row[*at].is_some());
    named.map(|(at, _)| at).collect()
}

impl ReplicatedSession {
    /// See [`paceline_replication::apply::StatementRunner::change_rows`].
    pub(super) fn change_firing_rows(
        &mut self,
        mut rows: FiringRows,
        annotation: Option<&[u8]>,
        timestamp_seconds: u32,
    ) -> std::result::Result<(), Failure> {
        let (runtime, replication) = (self.runtime.clone(), self.replication);
        let session = self.ready()?;
        for row in std::mem::take(&mut rows.rows) {
            let statement = RowStatement::of(&rows, row);
            let changing = session.change_row(
                &statement,
                rows.checks_foreign_keys,
                annotation,
                timestamp_seconds,
                replication,
            );
            let found = runtime.block_on(changing).map_err(failure);
            rows.check_found(found.map_err(|failure| rows.at(failure))? > 0)?;
        }
        Ok(())
    }
}

impl Session {
    /// Executes the statement of a row. Returns the number of rows that it found or inserted.
    async fn change_row(
        &mut self,
        statement: &RowStatement,
        checks_foreign_keys: bool,
        annotation: Option<&[u8]>,
        timestamp_seconds: u32,
        replication: Replication,
    ) -> Result<u64> {
        let text = statement.text.as_bytes();
        self.state.take_settings(&ReplicatedStatement {
            query: &QueryEvent::new(b"", text),
            server_id: ServerId(0),
            event_flags: EventFlags::NONE,
            timestamp_seconds,
            states_explicit_defaults: false,
            is_transactional: true,
            intvars: &[],
            rand: None,
            user_variables: &[],
            file: None,
        });
        self.state.take_replication(replication);
        let settings = &mut self.state.context.settings;
        settings.sql_mode = MODE;
        settings.foreign_key_checks = checks_foreign_keys;
        let options = ParseOptions {
            sql_mode: MODE,
            ..ParseOptions::default()
        };
        let parsed = parse_first(text, &options)?;
        self.state.begin_statement(Some(&parsed.statement));
        // The annotation in the log is the primary's statement.
        let execution = Execution::of_prepared(annotation.unwrap_or(text), &statement.parameters);
        let done = self.run_row_statement(&parsed.statement, execution).await;
        if done.is_err() {
            self.state.abort_statement();
        }
        self.state.settle_counts();
        self.connection.writer.clear();
        self.state.changes.clear();
        done
    }

    async fn run_row_statement(&mut self, statement: &Statement, execution: Execution<'_>) -> Result<u64> {
        // A row that is found counts, even if it stays as it is.
        let capabilities = self.connection.capabilities;
        self.connection.capabilities = capabilities | Capabilities::FOUND_ROWS;
        let plan = self.state.plan_for(statement, execution.parameters);
        let reply = match plan {
            Ok(plan) => {
                let (state, connection) = (&mut self.state, &mut self.connection);
                run_plan(PlanToRun::Private(&plan), state, connection, execution, None).await
            }
            Err(error) => Err(error),
        };
        self.connection.capabilities = capabilities;
        match reply? {
            Some(Reply::Ok { affected_rows, .. }) => Ok(affected_rows),
            Some(_) => Ok(0),
            // Its tables are locked by the transaction.
            None => Err(Error::new(ER_TABLE_DEF_CHANGED, &[])),
        }
    }
}
