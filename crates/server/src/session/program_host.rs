//! Services of the server for functions and triggers that run within a statement.

use super::assignment::{self, assign_client, client_charset, collation_of};
use super::module_calls::{CallContext, StatementModules};
use super::services::{SessionServices, TransactionCharacteristics};
use super::temporary::{TemporaryDefinition, define_within_statement};
use crate::accounts::checks::{check_member, check_plan, check_routine};
use crate::command_counter::count_command;
use crate::variables::Variable;
use paceline_catalog::ddl::SelectedColumn;
use paceline_catalog::{Catalog, RoutineDefinition, RoutineModule, TemporaryTables};
use paceline_expression::session::{Privilege, SessionContext, VariableScope};
use paceline_query::execute::{FillOutcome, ProgramHost};
use paceline_query::plan::{Plan, Statistics};
use paceline_query::program::check_recursion;
use paceline_syntax::{DdlStatement, Error, Result, RoleName, SetItem, Statement, TransactionScope};
use paceline_txn::Transaction;
use paceline_types::error_code::*;
use paceline_types::{AccessMode, IsolationLevel, Value};
use parking_lot::Mutex;
use std::sync::Arc;

/// The server as the functions and triggers of one statement see it. It has the session's temporary tables meanwhile.
pub struct SessionProgramHost {
    services: Arc<SessionServices>,
    temporary: Mutex<TemporaryTables>,
    /// Instances of the modules that it calls.
    modules: StatementModules,
    /// Whether the client's statement uses tables: then it is a transaction, whose end is the end of what SET
    /// TRANSACTION has set.
    has_tables: bool,
}

/// A session's place for its temporary tables, to which they return when this is dropped.
pub struct LentTables<'s> {
    place: &'s mut TemporaryTables,
    host: Arc<SessionProgramHost>,
}

impl Drop for LentTables<'_> {
    fn drop(&mut self) {
        std::mem::swap(self.place, &mut *self.host.temporary.lock());
    }
}

impl SessionProgramHost {
    /// Creates it for a statement with the session's temporary tables.
    pub fn lend<'s>(
        services: &Arc<SessionServices>,
        temporary: &'s mut TemporaryTables,
        plan: &Plan,
    ) -> (Arc<Self>, LentTables<'s>) {
        let lent = std::mem::replace(temporary, services.server.temporary_tables());
        let host = Arc::new(SessionProgramHost {
            services: services.clone(),
            temporary: Mutex::new(lent),
            modules: StatementModules::default(),
            has_tables: !plan.tables().is_empty(),
        });
        let lent = LentTables {
            place: temporary,
            host: host.clone(),
        };
        (host, lent)
    }
}

impl ProgramHost for SessionProgramHost {
    fn catalog(&self) -> Arc<Catalog> {
        self.temporary.lock().over(self.services.server.catalog.load())
    }

    fn statistics(&self) -> &Statistics {
        &self.services.server.statistics
    }

    fn check(&self, plan: &Plan, session: &SessionContext) -> Result<()> {
        check_plan(self.services.authority(session), plan)?;
        match plan.writes_ordinary() {
            true => self.services.check_writable(),
            false => Ok(()),
        }
    }

    fn check_call(&self, routine: &RoutineDefinition, session: &SessionContext) -> Result<()> {
        let authority = self.services.authority(session);
        check_routine(authority, Privilege::Execute, routine)?;
        let most = self
            .services
            .values
            .lock()
            .get(Variable::MaxSpRecursionDepth)
            .as_u64();
        check_recursion(routine, most, session)
    }

    fn set(&self, item: &SetItem, value: Option<Value>, session: &mut SessionContext) -> Result<()> {
        match item {
            SetItem::Transaction {
                scope: TransactionScope::Next,
                isolation,
                access,
            } => self.set_next_transaction(*isolation, *access),
            _ => set_within_statement(item, value, &self.services, session),
        }
    }

    fn call_module(
        &self,
        routine: &RoutineDefinition,
        module: &RoutineModule,
        arguments: &[Value],
        transaction: &mut Transaction,
        session: &SessionContext,
    ) -> Result<Value> {
        let context = CallContext {
            services: &self.services,
            catalog: &self.catalog(),
            transaction,
            session,
        };
        self.modules.call(routine, module, arguments, context)
    }

    fn count(&self, statement: &Statement) {
        self.services.shared.commands_within.count(statement);
        let counters = &self.services.shared.counters;
        match statement {
            Statement::Call { .. } => counters.com_call_procedure.add(1),
            _ => count_command(statement, counters),
        }
    }

    fn define_temporary(
        &self,
        ddl: &DdlStatement,
        selected: Option<&[SelectedColumn]>,
        transaction: &mut Transaction,
        session: &mut SessionContext,
    ) -> Result<Option<(String, String)>> {
        let mut tables = self.temporary.lock();
        let definition = TemporaryDefinition { ddl, selected };
        let fill = define_within_statement(definition, &mut tables, &self.services, transaction, session)?;
        if let Some((database, name)) = &fill {
            tables.begin_fill(database, name);
        }
        Ok(fill)
    }

    fn end_fill(
        &self,
        (database, name): &(String, String),
        outcome: FillOutcome,
        transaction: &mut Transaction,
    ) {
        let mut tables = self.temporary.lock();
        match outcome {
            FillOutcome::Filled => tables.end_fill(database, name),
            FillOutcome::Failed => transaction.drop_temporary_indexes(tables.abandon_fill(name)),
        }
    }
}

impl SessionProgramHost {
    /// Executes SET TRANSACTION without a scope. As in MariaDB it has no effect after a statement that uses tables,
    /// which is the transaction that it applies to.
    ///
    /// # Errors
    /// 1568 within a transaction.
    fn set_next_transaction(
        &self,
        isolation: Option<IsolationLevel>,
        access: Option<AccessMode>,
    ) -> Result<()> {
        if self.services.transaction.lock().open {
            return Err(Error::new(ER_CANT_CHANGE_TX_CHARACTERISTICS, &[]));
        }
        if !self.has_tables {
            let mut next = self.services.next_by_programs.lock();
            next.isolation = isolation.or(next.isolation);
            next.access = access.or(next.access);
        }
        Ok(())
    }
}

/// Executes an item of SET within a function or trigger. `value` is the value of a system variable; `None` is DEFAULT.
/// Effects on the connection wait for the end of the client's statement.
///
/// # Errors
/// Those of SET; 1560, 1695, 1930 and 1954 for variables that concern the log of the statement; 1235 for other items.
fn set_within_statement(
    item: &SetItem,
    value: Option<Value>,
    services: &SessionServices,
    context: &mut SessionContext,
) -> Result<()> {
    let changed = match item {
        SetItem::Variable {
            scope,
            base: None,
            name,
            ..
        } => {
            let name = name.to_lowercase();
            if let (Some(variable), false) = (Variable::by_name(&name), *scope == VariableScope::Global) {
                check_within_statement(variable)?;
            }
            let assignment = assignment::check(&name, *scope, value, services, context)?;
            let (variable, global) = (assignment.variable, assignment.global);
            assignment::execute(assignment, services, context)?;
            if let (Variable::Timestamp, Some(micros)) = (variable, context.settings.timestamp_override) {
                context.statement.start_micros = micros;
            }
            match global {
                true => return Ok(()),
                false => vec![variable],
            }
        }
        SetItem::Names { charset, collation } => {
            let charset = client_charset(charset.as_deref(), context)?;
            let connection = match collation {
                None => charset.default_collation(),
                Some(name) => collation_of(charset, name)?,
            };
            assign_client(charset, connection, services, context).to_vec()
        }
        SetItem::CharacterSet(charset) => {
            let charset = client_charset(charset.as_deref(), context)?;
            let connection = context.settings.collation_database;
            assign_client(charset, connection, services, context).to_vec()
        }
        SetItem::Transaction {
            scope,
            isolation,
            access,
        } => {
            let characteristics = TransactionCharacteristics {
                isolation: *isolation,
                access: *access,
            };
            if *scope == TransactionScope::Global {
                services.require_any(&[Privilege::Super])?;
                characteristics.assign_global(services);
                return Ok(());
            }
            characteristics.assign_session(services, context)
        }
        SetItem::Role(role) => {
            let role = match role {
                None => None,
                Some(RoleName::Current) => context.current_role.clone(),
                Some(RoleName::Name(name)) => {
                    let authority = services.authority(context);
                    check_member(authority, name, authority.current_user())?;
                    Some(name.trim_end_matches(' ').to_owned())
                }
            };
            // The privileges of a definer, and its role, end with its program.
            services.set_role(role.as_deref(), context.database.as_deref());
            context.current_role = role;
            return Ok(());
        }
        _ => return Err(Error::unsupported("this SET in a function or trigger")),
    };
    let mut set = services.set_by_programs.lock();
    for variable in changed {
        // A function may be called for each of many rows.
        if !set.contains(&variable) {
            set.push(variable);
        }
    }
    Ok(())
}

/// Refuses the variables that decide how the statement around the program is logged.
fn check_within_statement(variable: Variable) -> Result<()> {
    Err(match variable {
        Variable::SqlLogBin => Error::new(ER_STORED_FUNCTION_PREVENTS_SWITCH_SQL_LOG_BIN, &[]),
        Variable::BinlogFormat => Error::new(ER_STORED_FUNCTION_PREVENTS_SWITCH_BINLOG_FORMAT, &[]),
        Variable::SkipReplication => Error::new(ER_STORED_FUNCTION_PREVENTS_SWITCH_SKIP_REPLICATION, &[]),
        Variable::GtidDomainId | Variable::GtidSeqNo => {
            Error::new(ER_STORED_FUNCTION_PREVENTS_SWITCH_GTID_DOMAIN_ID_SEQ_NO, &[])
        }
        // It decides which temporary tables the statement has.
        Variable::PseudoThreadId => Error::unsupported("SET of pseudo_thread_id in a function or trigger"),
        _ => return Ok(()),
    })
}
