//! Changes of a primary's rows that fire this server's triggers: `slave_run_triggers_for_rbr`.
//!
//! Each row becomes a statement with the row's values as parameters, so that a trigger runs exactly as for a client's
//! statement. The rows of an event share its text and its plan. A row is searched by its primary key, if the image has
//! it; otherwise by all values of the image.
//!
//! What triggers change is logged here like every change, for YES and LOGGING alike: a restart replays the log without
//! running triggers.

use super::ReplicatedSession;
use super::failure;
use crate::running_plan::PlanToRun;
use crate::session::Session;
use crate::session::execution::Execution;
use crate::session::planning::ATTEMPTS_MAX;
use crate::session::protocol::Reply;
use crate::session::statements::query::run_plan;
use crate::sql_text::identifier;
use paceline_apply::replicated::{Failure, FiringRow, FiringRows, PartialRow};
use paceline_binlog::event::{EventFlags, QueryEvent};
use paceline_catalog::{IndexKind, TableDefinition};
use paceline_expression::session::SqlMode;
use paceline_query::plan::{Plan, is_to_be_planned_again};
use paceline_replication::apply::ReplicatedStatement;
use paceline_syntax::{Error, ParseOptions, Result, Statement, parse_first};
use paceline_txn::Replication;
use paceline_types::error_code::ER_TABLE_DEF_CHANGED;
use paceline_types::{ServerId, Value};
use paceline_wire::Capabilities;

/// SQL modes of these statements: every value is stored as it is.
const MODE: SqlMode = SqlMode::NO_AUTO_VALUE_ON_ZERO;

/// Text of the statement that changes each row of an event, and the columns whose values are its parameters.
struct RowStatement {
    text: String,
    /// Columns of the image after the change.
    stored: Vec<usize>,
    /// Columns of the image before the change.
    searched: Vec<usize>,
}

impl RowStatement {
    fn new(rows: &FiringRows, first: &FiringRow) -> RowStatement {
        let definition = rows.definition();
        let table = format!(
            "{}.{}",
            identifier(definition.database()),
            identifier(definition.name())
        );
        let name = |column: &usize| identifier(&definition.columns()[*column].name);
        let listed = |columns: &[usize], separator: &str, item: &dyn Fn(String) -> String| {
            let items: Vec<String> = columns.iter().map(|column| item(name(column))).collect();
            items.join(separator)
        };
        let condition = |columns: &[usize]| match columns {
            [] => " LIMIT 1".to_owned(),
            _ => format!(
                " WHERE {} LIMIT 1",
                listed(columns, " AND ", &|name| format!("{name} <=> ?"))
            ),
        };
        match first {
            FiringRow::Insert { after } => {
                let stored = held_columns(definition, after);
                let verb = if rows.is_idempotent() { "REPLACE" } else { "INSERT" };
                let names = listed(&stored, ", ", &|name| name);
                let places = listed(&stored, ", ", &|_| "?".to_owned());
                RowStatement {
                    text: format!("{verb} INTO {table} ({names}) VALUES ({places})"),
                    stored,
                    searched: Vec::new(),
                }
            }
            FiringRow::Update { before, after } => {
                let (stored, searched) = (
                    held_columns(definition, after),
                    search_columns(definition, before),
                );
                let assigned = match stored.is_empty() {
                    // The primary has changed columns that this table does not have.
                    true => unchanged(definition),
                    false => listed(&stored, ", ", &|name| format!("{name} = ?")),
                };
                RowStatement {
                    text: format!("UPDATE {table} SET {assigned}{}", condition(&searched)),
                    stored,
                    searched,
                }
            }
            FiringRow::Delete { before } => {
                let searched = search_columns(definition, before);
                RowStatement {
                    text: format!("DELETE FROM {table}{}", condition(&searched)),
                    stored: Vec::new(),
                    searched,
                }
            }
        }
    }

    fn parameters(&self, row: &FiringRow) -> Vec<Value> {
        let values = |columns: &[usize], row: &PartialRow| {
            let values = columns.iter().filter_map(|column| row[*column].clone());
            values.collect::<Vec<Value>>()
        };
        match row {
            FiringRow::Insert { after } => values(&self.stored, after),
            FiringRow::Update { before, after } => {
                [values(&self.stored, after), values(&self.searched, before)].concat()
            }
            FiringRow::Delete { before } => values(&self.searched, before),
        }
    }
}

/// Returns the columns of an image that a statement can name.
fn held_columns(definition: &TableDefinition, row: &PartialRow) -> Vec<usize> {
    let columns = definition.columns().iter().enumerate();
    let named = columns.filter(|(at, column)| column.generated.is_none() && row[*at].is_some());
    named.map(|(at, _)| at).collect()
}

/// Returns the columns by which a row is searched.
fn search_columns(definition: &TableDefinition, row: &PartialRow) -> Vec<usize> {
    let mut indexes = definition.indexes().iter();
    let primary = indexes.find(|index| index.kind == IndexKind::Primary);
    let key: Option<Vec<usize>> = primary.map(|index| index.parts.iter().map(|part| part.column).collect());
    key.filter(|columns| columns.iter().all(|column| row[*column].is_some()))
        .unwrap_or_else(|| held_columns(definition, row))
}

/// Returns an assignment that changes nothing.
fn unchanged(definition: &TableDefinition) -> String {
    let mut columns = definition.columns().iter();
    let stored = columns.find(|column| column.generated.is_none());
    let name = stored.map_or_else(String::new, |column| identifier(&column.name));
    format!("{name} = {name}")
}

/// The parsed statement of an event's rows, and its plan.
struct PreparedRowStatement {
    statement: Statement,
    plan: Option<Plan>,
    /// Rows that its last execution has read.
    rows_read: u64,
}

impl ReplicatedSession {
    /// See [`paceline_replication::apply::StatementRunner::change_rows`].
    pub(super) fn change_firing_rows(&mut self, rows: &FiringRows) -> std::result::Result<(), Failure> {
        let Some(first) = rows.rows.first() else {
            return Ok(());
        };
        let (runtime, replication) = (self.runtime.clone(), self.replication);
        let session = self.ready()?;
        let at = |error: Error| rows.at(failure(error));
        let statement = RowStatement::new(rows, first);
        let text = statement.text.as_bytes();
        let mut prepared = session
            .prepare_row_statement(text, rows, replication)
            .map_err(at)?;
        // The annotation in the log is the primary's statement.
        let text = rows.annotation.as_deref().unwrap_or(text);
        for row in &rows.rows {
            let parameters = statement.parameters(row);
            let execution = Execution::of_prepared(text, &parameters);
            let found = runtime.block_on(session.change_row(&mut prepared, execution));
            rows.check_found(found.map_err(at)? > 0)?;
        }
        Ok(())
    }
}

impl Session {
    /// Applies the settings for an event's rows, and parses their statement.
    fn prepare_row_statement(
        &mut self,
        text: &[u8],
        rows: &FiringRows,
        replication: Replication,
    ) -> Result<PreparedRowStatement> {
        self.state.take_settings(&ReplicatedStatement {
            query: &QueryEvent::new(b"", text),
            server_id: ServerId(0),
            event_flags: EventFlags::NONE,
            timestamp_seconds: rows.timestamp_seconds,
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
        settings.foreign_key_checks = rows.checks_foreign_keys;
        let options = ParseOptions {
            sql_mode: MODE,
            ..ParseOptions::default()
        };
        Ok(PreparedRowStatement {
            statement: parse_first(text, &options)?.statement,
            plan: None,
            rows_read: 0,
        })
    }

    /// Executes the statement of a row. Returns the number of rows that it found or inserted.
    async fn change_row(
        &mut self,
        prepared: &mut PreparedRowStatement,
        execution: Execution<'_>,
    ) -> Result<u64> {
        self.state.begin_statement(Some(&prepared.statement));
        // A row that is found counts, even if it stays as it is.
        let capabilities = self.connection.capabilities;
        self.connection.capabilities = capabilities | Capabilities::FOUND_ROWS;
        let done = self.run_row_statement(prepared, execution).await;
        self.connection.capabilities = capabilities;
        if done.is_err() {
            self.state.abort_statement();
        }
        self.state.settle_counts();
        self.connection.writer.clear();
        self.state.changes.clear();
        done
    }

    async fn run_row_statement(
        &mut self,
        prepared: &mut PreparedRowStatement,
        execution: Execution<'_>,
    ) -> Result<u64> {
        for _ in 0..ATTEMPTS_MAX {
            let earlier = prepared.plan.take();
            let plan = match earlier.filter(|plan| !is_to_be_planned_again(plan, prepared.rows_read)) {
                Some(plan) => plan,
                None => self.state.plan_for(&prepared.statement, execution.parameters)?,
            };
            let (state, connection) = (&mut self.state, &mut self.connection);
            // `None`: a table of the triggers has changed.
            if let Some(reply) =
                run_plan(PlanToRun::Private(&plan), state, connection, execution, None).await?
            {
                prepared.rows_read = self.state.context.rows_read;
                prepared.plan = Some(plan);
                return Ok(match reply {
                    Reply::Ok { affected_rows, .. } => affected_rows,
                    _ => 0,
                });
            }
        }
        Err(Error::new(ER_TABLE_DEF_CHANGED, &[]))
    }
}
