//! Queries and changes of rows: plan, locks, execution, reply.
//!
//! A plan is made under one catalog and executed under another: the tables' metadata locks are taken in between, and what was planned
//! with a definition that is no longer the table's is planned again.

use super::errors::of_transaction;
use super::query::{AskedBy, Execution};
use super::result::{KnownColumns, ResultStyle, ResultWriter, Streaming};
use super::turn::on_text;
use super::{More, Session};
use crate::replication::row_metadata;
use crate::variables::Variable;
use paceline_sql::catalog::Catalog;
use paceline_sql::execute::{AffectedRows, ExecutionContext, Outcome, RowSink, execute};
use paceline_sql::parse::{self, ParseOptions, Statement};
use paceline_sql::plan::{Plan, PlanContext, PlanType, TableUsage, TableUse, plan_statement};
use paceline_sql::session::{MemoryCharge, Privilege, PrivilegeTarget, Privileges};
use paceline_sql::{Error, Result};
use paceline_txn::{MetadataMode, MetadataObject};
use paceline_types::Value;
use paceline_types::error_code::*;
use paceline_wire::Capabilities;
use paceline_wire::authentication::NativePassword;
use std::sync::Arc;

/// How often a plan is made again because somebody keeps changing its tables.
pub const ATTEMPTS_MAX: usize = 100;

impl Session {
    /// Plans a statement, executes it and writes its reply.
    pub async fn plan_and_run(&mut self, statement: &Statement, execution: Execution<'_>) -> Result<()> {
        for _ in 0..ATTEMPTS_MAX {
            let length = execution.text.len();
            let plan = on_text(length, || self.plan_for(statement, execution.parameters))?;
            let run = self.run_plan(&plan, execution, None).await;
            on_text(length, || drop(plan));
            if run? == Run::Done {
                return Ok(());
            }
        }
        Err(Error::new(ER_TABLE_DEF_CHANGED, &[]))
    }

    /// Plans a statement whose parameters are not known.
    pub fn plan(&self, statement: &Statement) -> Result<Plan> {
        self.plan_for(statement, &[])
    }

    /// Plans a statement to be executed with these parameters.
    pub fn plan_for(&self, statement: &Statement, parameters: &[Value]) -> Result<Plan> {
        let catalog = self.catalog();
        plan_statement(
            statement,
            &PlanContext {
                catalog: &catalog,
                session: &self.context,
                statistics: &self.server.statistics,
                parameters,
            },
        )
    }

    /// Plans a statement of the server's own making.
    pub fn plan_text(&self, text: &str) -> Result<Plan> {
        self.plan(&parse::parse_first(text.as_bytes(), &ParseOptions::default())?.statement)
    }

    /// Executes a plan and writes its reply, unless its tables have changed. `known` are the columns that the client remembers.
    pub async fn run_plan(
        &mut self,
        plan: &Plan,
        execution: Execution<'_>,
        known: Option<&KnownColumns>,
    ) -> Result<Run> {
        if execution.asked_by == AskedBy::Client && !plan.tables().is_empty() {
            self.context.diagnostics.forget_earlier();
        }
        let Some(catalog) = self.prepare_run(plan, execution.asked_by)? else {
            return Ok(Run::Stale);
        };
        let streaming = match plan.tables().iter().any(|table| table.usage.lock) {
            true => Streaming::AfterSettling(MemoryCharge::new(&self.context.memory)),
            false => Streaming::Early,
        };
        let style = self.result_style(execution);
        let text = if self.annotates() { execution.text } else { b"" };
        let rows_max = self.rows_max(execution);
        let transaction = self.transaction.running()?;
        let mut context = ExecutionContext {
            transaction,
            session: &mut self.context,
            catalog: &catalog,
            parameters: execution.parameters,
            text,
            affected: match self.connection.capabilities.has(Capabilities::FOUND_ROWS) {
                true => AffectedRows::Found,
                false => AffectedRows::Changed,
            },
            rows_max,
            input: None,
        };
        let mut sink = ResultWriter::new(&mut self.connection, style, streaming, known);
        let outcome = execute(plan, &mut context, &mut sink)?;
        sink.finish();
        self.leave_statement().await?;
        self.reply(&outcome, execution.more);
        Ok(Run::Done)
    }

    /// Executes a plan and keeps its rows: cursors, and SHOW statements that are answered by a query.
    pub async fn collect<S: RowSink + Default>(
        &mut self,
        plan: &Plan,
        execution: Execution<'_>,
    ) -> Result<Option<(S, Outcome)>> {
        if execution.asked_by == AskedBy::Client && !plan.tables().is_empty() {
            self.context.diagnostics.forget_earlier();
        }
        let Some(catalog) = self.prepare_run(plan, execution.asked_by)? else {
            return Ok(None);
        };
        let annotated = self.annotates();
        let rows_max = self.rows_max(execution);
        let transaction = self.transaction.running()?;
        let mut context = ExecutionContext {
            transaction,
            session: &mut self.context,
            catalog: &catalog,
            parameters: execution.parameters,
            text: if annotated { execution.text } else { b"" },
            affected: AffectedRows::Changed,
            rows_max,
            input: None,
        };
        let mut rows = S::default();
        let outcome = execute(plan, &mut context, &mut rows)?;
        self.leave_statement().await?;
        Ok(Some((rows, outcome)))
    }

    /// Privileges, transaction, metadata locks. `None` if the tables are no longer those of the plan.
    pub fn prepare_run(&mut self, plan: &Plan, asked_by: AskedBy) -> Result<Option<Arc<Catalog>>> {
        self.count(plan, asked_by);
        self.check_privileges(plan)?;
        if plan.writes_ordinary() {
            self.check_writable()?;
            self.context.settings.binlog_row_metadata = row_metadata(&self.server.globals);
        }
        self.check_table_locks(plan)?;
        self.services.await_gtid()?;
        match plan.tables().iter().any(is_stored) {
            true => self.enter_transaction(),
            false => self.enter_tableless(),
        }
        let transaction = self.transaction.running()?;
        if plan.writes_ordinary() {
            transaction
                .begin_writing()
                .map_err(|error| of_transaction(&error))?;
        }
        for table in plan.tables() {
            if !is_stored(table) || table.is_temporary() {
                continue;
            }
            let mode = match table.usage.writes() || table.usage.exclusive || table.usage.action {
                true => MetadataMode::Write,
                false => MetadataMode::Read,
            };
            let object = MetadataObject::Table {
                database: &table.database,
                table: &table.name,
            };
            transaction
                .lock_metadata(object, mode)
                .map_err(|error| of_transaction(&error))?;
        }
        let catalog = self.temporary.over(self.server.catalog.load());
        if !plan.is_current(&catalog) {
            return Ok(None);
        }
        // A table that was defined after the transaction's snapshot cannot be read by it.
        if let Some(snapshot) = transaction.snapshot_version() {
            let named = plan.tables().iter().filter(|table| table.usage.is_named());
            for definition in named.filter_map(|table| table.definition.as_ref()) {
                if definition.version() > snapshot {
                    return Err(Error::new(ER_TABLE_DEF_CHANGED, &[]));
                }
            }
        }
        Ok(Some(catalog))
    }

    fn count(&self, plan: &Plan, asked_by: AskedBy) {
        let counters = &self.shared.counters;
        match plan.plan_type() {
            // SHOW, which is counted as such.
            PlanType::Query if asked_by == AskedBy::Server => {}
            PlanType::Query => counters.com_select.add(1),
            PlanType::Insert => counters.com_insert.add(1),
            PlanType::Replace => counters.com_replace.add(1),
            PlanType::Update => counters.com_update.add(1),
            PlanType::Delete => counters.com_delete.add(1),
            PlanType::Load => counters.com_load.add(1),
        }
    }

    /// 1142 for a table that the account may not use so.
    pub fn check_privileges(&self, plan: &Plan) -> Result<()> {
        let account = self.services.account();
        let may_do_all = account.global.includes(crate::accounts::PrivilegeSet::rows());
        // Of a temporary table its session may do anything.
        for table in plan.tables().iter().filter(|table| !table.is_temporary()) {
            self.check_process(table)?;
            if let Some(definer) = &table.access.definer {
                self.check_definer(definer, table)?;
                continue;
            }
            if may_do_all {
                continue;
            }
            for privilege in needed(table.usage) {
                let target = PrivilegeTarget::Table {
                    database: &table.database,
                    table: &table.name,
                };
                let checked = self.services.check(&self.context, privilege, target);
                checked.map_err(
                    |error| match plan.is_explained() && table.access.through.is_some() {
                        true => Error::new(ER_VIEW_NO_EXPLAIN, &[]),
                        false => told_of_view(error, table),
                    },
                )?;
            }
        }
        match plan.is_explained() {
            true => self.check_explain(plan),
            false => Ok(()),
        }
    }

    /// 1345 for EXPLAIN of a view by an account that may not see its text, or not read what it reads: the plan shows both.
    fn check_explain(&self, plan: &Plan) -> Result<()> {
        for table in plan.tables().iter().filter(|table| !table.is_temporary()) {
            let needed: &[Privilege] = match (&table.view, &table.access.through) {
                (Some(_), _) => &[Privilege::Select, Privilege::ShowView],
                (None, Some(_)) => &[Privilege::Select],
                (None, None) => continue,
            };
            let target = PrivilegeTarget::Table {
                database: &table.database,
                table: &table.name,
            };
            for privilege in needed {
                self.services
                    .check(&self.context, *privilege, target)
                    .map_err(|_| Error::new(ER_VIEW_NO_EXPLAIN, &[]))?;
            }
        }
        Ok(())
    }

    /// 1227 for a table that only accounts with PROCESS may read: the session's, or the definer's of a view with its privileges.
    fn check_process(&self, table: &TableUse) -> Result<()> {
        use crate::information_schema::{DATABASE, needs_process};
        if !table.database.eq_ignore_ascii_case(DATABASE) || !needs_process(&table.name) {
            return Ok(());
        }
        let Some(definer) = &table.access.definer else {
            return self.services.require_any(&[Privilege::Process]);
        };
        let accounts = self.server.accounts.load();
        let definer = accounts.get(&definer.0, &definer.1);
        match definer.is_none_or(|account| account.global.has(Privilege::Process)) {
            true => Ok(()),
            false => Err(Error::new(ER_SPECIFIC_ACCESS_DENIED_ERROR, &[&"PROCESS"])),
        }
    }

    /// 1449 for a definer who is gone, 1356 for one who may not use the table so.
    fn check_definer(&self, definer: &(String, String), table: &TableUse) -> Result<()> {
        let accounts = self.server.accounts.load();
        let Some(account) = accounts.get(&definer.0, &definer.1) else {
            let own = self.services.account();
            // Who is missing is not for everybody.
            return Err(match own.global.has(Privilege::Super) {
                true => Error::new(ER_NO_SUCH_USER, &[&definer.0, &definer.1]),
                false => {
                    let with_password = match own.authentication.password() {
                        Some(NativePassword::Empty) => "NO",
                        _ => "YES",
                    };
                    Error::new(ER_ACCESS_DENIED_ERROR, &[&own.user, &own.host, &with_password])
                }
            });
        };
        if needed(table.usage).all(|privilege| account.may(privilege, &table.database)) {
            return Ok(());
        }
        Err(told_of_view(
            Error::new(ER_VIEW_INVALID, &[&table.database, &table.name]),
            table,
        ))
    }

    /// `binlog_annotate_row_events`: whether the statement's text is logged with its rows.
    pub fn annotates(&self) -> bool {
        self.services
            .values
            .lock()
            .get(Variable::BinlogAnnotateRowEvents)
            .as_bool()
    }

    /// 1290 if the server is read only and the account may not write regardless.
    pub fn check_writable(&self) -> Result<()> {
        if self.server.globals.is_on(Variable::ReadOnly)
            && self.services.require_any(&[Privilege::ReadOnlyAdmin]).is_err()
        {
            return Err(Error::new(ER_OPTION_PREVENTS_STATEMENT, &[&"--read-only"]));
        }
        Ok(())
    }

    /// How many rows a query gives that says nothing of it itself.
    pub fn rows_max(&self, execution: Execution<'_>) -> u64 {
        match execution.asked_by {
            AskedBy::Client => self.context.settings.select_limit,
            AskedBy::Server => u64::MAX,
        }
    }

    /// How a result is written.
    pub fn result_style(&self, execution: Execution<'_>) -> ResultStyle {
        ResultStyle {
            format: execution.format,
            time_zone: self.context.settings.time_zone.clone(),
            charset: self.context.settings.character_set_results,
            status: execution.more.mark(self.status()),
        }
    }

    /// Ends the reply of a plan that was executed.
    pub fn reply(&mut self, outcome: &Outcome, more: More) {
        if outcome.result_set {
            self.shared.counters.rows_sent.add(outcome.rows_sent);
            self.shared
                .counters
                .empty_queries
                .add((outcome.rows_sent == 0).into());
            self.write_end_of_rows(more);
        } else {
            self.write_ok(outcome.affected_rows, outcome.last_insert_id, &outcome.info, more);
        }
    }
}

/// Whether a table has rows or a text of its own: the server makes up the others.
fn is_stored(table: &TableUse) -> bool {
    table.definition.is_some() || table.view.is_some()
}

/// What is refused within a view is told of the view that the statement names.
fn told_of_view(error: Error, table: &TableUse) -> Error {
    match &table.access.through {
        Some(view) => Error::new(ER_VIEW_INVALID, &[&view.database, &view.name]),
        None => error,
    }
}

/// What became of running a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Run {
    /// It was executed and answered.
    Done,
    /// Its tables have changed: it must be planned again.
    Stale,
}

/// The privileges that using a table takes.
fn needed(usage: TableUsage) -> impl Iterator<Item = Privilege> {
    [
        (usage.insert, Privilege::Insert),
        (usage.update, Privilege::Update),
        (usage.delete, Privilege::Delete),
        (usage.select || usage.lock, Privilege::Select),
    ]
    .into_iter()
    .filter_map(|(used, privilege)| used.then_some(privilege))
}
