//! Execution of SET.

use super::assignment::Assignment;
use super::query::{Execution, QueryOrigin};
use super::result::{RowCollector, RowFormat};
use super::{More, Session};
use crate::variables::{Variable, VariableValue, apply_to_session, isolation_setting};
use paceline_expression::ExprType;
use paceline_expression::session::{Privilege, UserVariable};
use paceline_syntax::ast::visit::has_subquery;
use paceline_syntax::ast::{Expr, QueryBody, SelectItem};
use paceline_syntax::{AccountStatement, SetItem, SetValue, TransactionScope};
use paceline_syntax::{Error, Result};
use paceline_types::error_code::*;
use paceline_types::{AccessMode, Charset, Collation, IsolationLevel, Value};
use paceline_wire::session_state::StateChange;

/// A checked item of a SET.
enum CheckedItem {
    Variable(Assignment),
    UserVariable(String, UserVariable),
    /// SET NAMES and SET CHARACTER SET: character set of client and results, and collation of the connection.
    Client {
        charset: Charset,
        connection: Collation,
    },
    Transaction(TransactionScope, Option<IsolationLevel>, Option<AccessMode>),
    Password(AccountStatement),
}

/// Variables that SET STATEMENT cannot set, as in MariaDB, because their effect on the transaction or the connection
/// would outlive the statement.
const NOT_FOR_STATEMENT: [Variable; 12] = [
    Variable::Autocommit,
    Variable::CharacterSetClient,
    Variable::CharacterSetConnection,
    Variable::CharacterSetFilesystem,
    Variable::CollationConnection,
    Variable::InteractiveTimeout,
    Variable::Profiling,
    Variable::QueryCacheType,
    Variable::SkipReplication,
    Variable::SqlLogOff,
    Variable::TxIsolation,
    Variable::WaitTimeout,
];

impl Session {
    /// Returns 1971 for variables that SET STATEMENT cannot set.
    pub fn check_set_statement(&self, items: &[SetItem]) -> Result<()> {
        for item in items {
            if let SetItem::Variable { name, base: None, .. } = item
                && Variable::by_name(&name.to_lowercase())
                    .is_some_and(|variable| NOT_FOR_STATEMENT.contains(&variable))
            {
                return Err(Error::new(ER_SET_STATEMENT_NOT_SUPPORTED, &[name]));
            }
        }
        Ok(())
    }

    /// Checks all assignments, with values evaluated before any of them, then executes them in order. If one fails its
    /// check, nothing is changed.
    pub async fn set(&mut self, items: &[SetItem], parameters: &[Value]) -> Result<()> {
        let before = self.temporary_owner();
        let done = self.set_each(items, parameters).await;
        self.choose_temporary_tables(before);
        let values = self.services.values.lock();
        self.connection.heed(&values);
        self.statement_log_settings.heed(&values);
        drop(values);
        done
    }

    async fn set_each(&mut self, items: &[SetItem], parameters: &[Value]) -> Result<()> {
        let mut checked = Vec::with_capacity(items.len());
        for item in items {
            checked.push(self.check_item(item, parameters).await?);
        }
        for item in checked {
            self.carry_out(item).await?;
        }
        Ok(())
    }

    async fn check_item(&mut self, item: &SetItem, parameters: &[Value]) -> Result<CheckedItem> {
        Ok(match item {
            SetItem::Variable {
                scope,
                base,
                name,
                value,
            } => {
                // `connection.variable` is one name.
                let whole = match base {
                    Some(connection) => format!("{connection}.{name}"),
                    None => name.clone(),
                };
                let value = match value {
                    SetValue::Default => None,
                    SetValue::Word(word) => Some(Value::Text(word.clone())),
                    SetValue::Expr(expr) => Some(self.evaluate_any(expr, parameters).await?.0),
                };
                let name = whole.to_lowercase();
                let services = self.services.clone();
                CheckedItem::Variable(services.check_assignment(&mut self.context, &name, *scope, value)?)
            }
            SetItem::UserVariable { name, value } => {
                let (value, ty) = self.evaluate_any(value, parameters).await?;
                let variable = UserVariable::new(&value, ty, &self.context.settings.time_zone);
                CheckedItem::UserVariable(name.to_lowercase(), variable)
            }
            SetItem::Names { charset, collation } => {
                let charset = self.client_charset(charset.as_deref())?;
                let connection = match collation {
                    None => charset.default_collation(),
                    Some(name) => collation_of(charset, name)?,
                };
                CheckedItem::Client { charset, connection }
            }
            SetItem::CharacterSet(charset) => CheckedItem::Client {
                charset: self.client_charset(charset.as_deref())?,
                // Like SET NAMES, but the connection gets the collation of the database.
                connection: self.context.settings.collation_database,
            },
            SetItem::Transaction {
                scope,
                isolation,
                access,
            } => {
                match scope {
                    TransactionScope::Next if self.transaction.is_open() => {
                        return Err(Error::new(ER_CANT_CHANGE_TX_CHARACTERISTICS, &[]));
                    }
                    TransactionScope::Global => self.services.require_any(&[Privilege::Super])?,
                    TransactionScope::Next | TransactionScope::Session => {}
                }
                CheckedItem::Transaction(*scope, *isolation, *access)
            }
            SetItem::Password { account, password } => CheckedItem::Password(AccountStatement::SetPassword {
                account: account.clone(),
                password: password.clone(),
            }),
            SetItem::Role => return Err(Error::unsupported("roles")),
        })
    }

    async fn carry_out(&mut self, item: CheckedItem) -> Result<()> {
        match item {
            CheckedItem::Variable(assignment) => self.set_variable(assignment).await?,
            CheckedItem::UserVariable(name, variable) => self.context.user_variables.set(&name, variable)?,
            CheckedItem::Client { charset, connection } => {
                self.assign(Variable::CharacterSetClient, charset.name());
                self.assign(Variable::CharacterSetResults, charset.name());
                self.assign(Variable::CollationConnection, connection.name());
                self.track(Variable::CharacterSetConnection);
            }
            CheckedItem::Transaction(scope, isolation, access) => {
                self.set_transaction(scope, isolation, access)
            }
            CheckedItem::Password(statement) => self.change_accounts(&statement, None).await?,
        }
        Ok(())
    }

    async fn set_variable(&mut self, assignment: Assignment) -> Result<()> {
        let Assignment { variable, global, .. } = assignment;
        let was_autocommit = self.context.settings.autocommit;
        let services = self.services.clone();
        services.assign(&mut self.context, assignment)?;
        if self.context.settings.autocommit && !was_autocommit {
            // autocommit=1 commits the open transaction.
            self.commit().await?;
        }
        if !global {
            self.track(variable);
        }
        Ok(())
    }

    /// Evaluates an expression. One with subqueries is executed as `SELECT expr`.
    async fn evaluate_any(&mut self, expr: &Expr, parameters: &[Value]) -> Result<(Value, ExprType)> {
        if !has_subquery(expr) {
            return self.evaluate_typed(expr, parameters);
        }
        let mut statement =
            paceline_syntax::parse_first(b"SELECT 1", &paceline_syntax::ParseOptions::default())?.statement;
        if let paceline_syntax::Statement::Query(query) = &mut statement
            && let QueryBody::Select(select) = &mut query.query.body
        {
            select.items = vec![SelectItem::unnamed(expr.clone())];
        }
        let execution = Execution {
            text: b"",
            parameters,
            format: RowFormat::Text,
            more: More::No,
            asked_by: QueryOrigin::Server,
        };
        for _ in 0..10 {
            let plan = self.plan(&statement)?;
            if !plan.tables().is_empty() {
                self.context.diagnostics.forget_earlier();
            }
            let Some((collected, _)) = self.collect::<RowCollector>(&plan, execution).await? else {
                continue;
            };
            let ty = collected
                .columns
                .first()
                .map_or_else(ExprType::null, |column| ExprType::new(column.data_type.clone()));
            let value = collected
                .rows
                .into_iter()
                .next()
                .and_then(|row| row.into_iter().next())
                .unwrap_or(Value::Null);
            return Ok((value, ty));
        }
        Err(Error::new(ER_TABLE_DEF_CHANGED, &[]))
    }

    /// Tells the client that a variable has changed, if it tracks the variable.
    fn track(&mut self, variable: Variable) {
        if self.services.tracks(variable) {
            let value = self
                .services
                .show(&self.context, variable, crate::variables::Scope::Both)
                .unwrap_or_default();
            StateChange::SystemVariable {
                name: variable.definition().name.into(),
                value,
            }
            .encode(&mut self.state_changes);
        }
    }

    fn assign(&mut self, variable: Variable, value: &str) {
        let setting = VariableValue::Text(value.into());
        {
            let mut values = self.services.values.lock();
            values.set(variable, setting.clone());
            apply_to_session(&mut self.context, &mut values, variable, &setting);
        }
        self.track(variable);
    }

    /// Returns the character set of SET NAMES and SET CHARACTER SET; `None` is DEFAULT.
    fn client_charset(&self, name: Option<&str>) -> Result<Charset> {
        match name {
            None => Ok(self.context.settings.collation_server.charset()),
            Some(name) => {
                Charset::from_name(name).ok_or_else(|| Error::new(ER_UNKNOWN_CHARACTER_SET, &[&name]))
            }
        }
    }

    fn set_transaction(
        &mut self,
        scope: TransactionScope,
        isolation: Option<IsolationLevel>,
        access: Option<AccessMode>,
    ) {
        let settings = [
            isolation.map(|level| (Variable::TxIsolation, isolation_setting(level))),
            access.map(|mode| {
                (
                    Variable::TxReadOnly,
                    VariableValue::Boolean(mode == AccessMode::ReadOnly),
                )
            }),
        ];
        match scope {
            TransactionScope::Next => self.transaction.set_next(isolation, access),
            TransactionScope::Session => {
                for (variable, setting) in settings.into_iter().flatten() {
                    let mut values = self.services.values.lock();
                    values.set(variable, setting.clone());
                    apply_to_session(&mut self.context, &mut values, variable, &setting);
                }
            }
            TransactionScope::Global => {
                for (variable, setting) in settings.into_iter().flatten() {
                    self.server.globals.set(variable, setting);
                }
            }
        }
    }
}

/// Looks up a collation by name. It must belong to this character set.
fn collation_of(charset: Charset, name: &str) -> Result<Collation> {
    let collation = Collation::from_name(name).ok_or_else(|| Error::new(ER_UNKNOWN_COLLATION, &[&name]))?;
    if collation.charset() != charset {
        return Err(Error::new(
            ER_COLLATION_CHARSET_MISMATCH,
            &[&collation.name(), &charset.name()],
        ));
    }
    Ok(collation)
}
