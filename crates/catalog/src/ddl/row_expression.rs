//! Defaults and checks that are expressions over a row, for rows that ALTER TABLE creates or tests.

use paceline_types::Value;
use paceline_types::error_code::*;

use super::assignment::assign;
use super::default_value::constant_default;
use crate::error::{Error, Result};
use crate::{ColumnDefault, ColumnDefinition, TableDescription, same_name};
use paceline_expression::session::{Services, SessionContext};
use paceline_expression::{
    EvalContext, EvalState, Expr, ExprType, Scope, SlotNames, append_quoted, bind_condition, bind_expr,
};
use paceline_syntax::ast::{self, ColumnName};
use paceline_syntax::parse_expression;

/// Expressions of a table, bound to its columns.
pub(super) struct RowExpressions {
    defaults: Vec<Option<Expr>>,
    generated: Vec<Option<Expr>>,
    /// Name and condition of each check.
    checks: Vec<(String, Expr)>,
    state: EvalState,
}

/// The slots of a row are its columns, followed by those of the row that an INSERT has tried to insert.
impl SlotNames for TableDescription {
    fn append_slot(&self, slot: usize, _parameters: &[Value], out: &mut String) {
        let count = self.columns.len();
        if slot >= count {
            out.push_str("value(");
        }
        if let Some(column) = self.columns.get(slot % count) {
            for part in [&self.database, &self.name] {
                append_quoted(part, out);
                out.push('.');
            }
            append_quoted(&column.name, out);
        }
        if slot >= count {
            out.push(')');
        }
    }

    fn item_name(&self, _place: usize) -> Option<&str> {
        None
    }

    fn append_column(&self, slot: usize, out: &mut String) -> bool {
        let is_column = slot < self.columns.len();
        if is_column {
            self.append_slot(slot, &[], out);
        }
        is_column
    }
}

impl RowExpressions {
    pub(super) fn new(table: &TableDescription, session: &SessionContext) -> Result<Self> {
        let mut scope = RowScope { table, session };
        let mut defaults = Vec::with_capacity(table.columns.len());
        let mut generated = Vec::with_capacity(table.columns.len());
        let mut checks = Vec::new();
        for column in &table.columns {
            defaults.push(match &column.default {
                ColumnDefault::Expression(text) => Some(bind_expr(&parse_expression(text)?, &mut scope)?),
                _ => None,
            });
            generated.push(match &column.generated {
                Some(column) => Some(bind_expr(&parse_expression(&column.expression)?, &mut scope)?),
                None => None,
            });
            if let Some(text) = &column.check {
                let name = format!("{}.{}", table.name, column.name);
                checks.push((name, bind_condition(&parse_expression(text)?, &mut scope)?));
            }
        }
        for check in &table.checks {
            checks.push((
                check.name.clone(),
                bind_condition(&parse_expression(&check.expression)?, &mut scope)?,
            ));
        }
        Ok(Self {
            defaults,
            generated,
            checks,
            state: EvalState::new(),
        })
    }

    pub(super) fn has_checks(&self) -> bool {
        !self.checks.is_empty()
    }

    /// Returns whether a new column's default is random or the like, so that a replica would compute
    /// different rows.
    pub(super) fn varies(&self, number: usize) -> bool {
        self.defaults[number]
            .as_ref()
            .is_some_and(|expr| !expr.is_stable())
    }

    /// Returns the value of a new column in a row.
    ///
    /// # Errors
    /// Those of the expression; 1048 in strict mode.
    pub(super) fn default(
        &mut self,
        number: usize,
        column: &ColumnDefinition,
        row: &[Value],
        session: &mut SessionContext,
    ) -> Result<Value> {
        let value = match &self.defaults[number] {
            Some(expr) => {
                let mut context = EvalContext::new(session, &mut self.state);
                expr.eval_assigned(row, &column.data_type, &mut context)?
            }
            None => constant_default(column, session).expect("only expressions need a row"),
        };
        match value.is_null() && !column.nullable && session.settings.sql_mode.is_strict() {
            true => Err(Error::new(ER_BAD_NULL_ERROR, &[&column.name])),
            false => Ok(value),
        }
    }

    /// Returns the value of a generated column in a row whose preceding columns have their values; `None` for
    /// a column that is not generated.
    pub(super) fn generated(
        &mut self,
        number: usize,
        column: &ColumnDefinition,
        row: &[Value],
        session: &mut SessionContext,
    ) -> Result<Option<Value>> {
        let Some(expr) = &self.generated[number] else {
            return Ok(None);
        };
        let mut context = EvalContext::new(session, &mut self.state);
        expr.eval_assigned(row, &column.data_type, &mut context).map(Some)
    }

    /// Tests a row.
    ///
    /// # Errors
    /// 4025.
    pub(super) fn check(
        &mut self,
        table: &TableDescription,
        row: &[Value],
        session: &mut SessionContext,
    ) -> Result<()> {
        if !session.settings.check_constraint_checks {
            return Ok(());
        }
        for (name, condition) in &self.checks {
            // A condition that is UNKNOWN passes.
            let mut context = EvalContext::new(session, &mut self.state);
            context.names = Some(table);
            let truth = condition.eval_truth(row, &mut context)?;
            if truth == Some(false) {
                return Err(Error::new(
                    ER_CONSTRAINT_FAILED,
                    &[name, &table.database, &table.name],
                ));
            }
        }
        Ok(())
    }
}

/// Generated columns of a table, for rows from elsewhere that lack them.
pub struct GeneratedColumns<'t> {
    table: &'t TableDescription,
    expressions: RowExpressions,
    session: SessionContext,
}

impl<'t> GeneratedColumns<'t> {
    /// Binds the generated columns of a table.
    ///
    /// # Errors
    /// If an expression cannot be bound.
    pub fn new(table: &'t TableDescription) -> Result<Self> {
        let session = SessionContext::new(0, Services::default());
        Ok(Self {
            table,
            expressions: RowExpressions::new(table, &session)?,
            session,
        })
    }

    /// Computes the absent generated columns from the row's other columns.
    ///
    /// # Errors
    /// Errors of the expressions, and of values that the columns cannot hold.
    pub fn fill_in(&mut self, row: &mut [Value], absent: &[bool]) -> Result<()> {
        for (number, column) in self.table.columns.iter().enumerate() {
            if absent[number]
                && let Some(value) = self
                    .expressions
                    .generated(number, column, row, &mut self.session)?
            {
                row[number] = assign(value, self.table, column, 1, &mut self.session)?;
            }
        }
        Ok(())
    }
}

/// Columns of a table by their index.
struct RowScope<'a> {
    table: &'a TableDescription,
    session: &'a SessionContext,
}

impl Scope for RowScope<'_> {
    fn session(&self) -> &SessionContext {
        self.session
    }

    fn resolve_column(&mut self, name: &ColumnName) -> Result<Expr> {
        let found = self
            .table
            .columns
            .iter()
            .position(|column| same_name(&column.name, &name.name));
        let Some(place) = found else {
            return Err(Error::new(ER_BAD_FIELD_ERROR, &[&name, &"CHECK"]));
        };
        let column = &self.table.columns[place];
        Ok(Expr::column(
            place,
            ExprType::of_column(column.data_type.clone(), column.nullable),
        ))
    }

    /// A new column's default is evaluated only where it is stable, so the sequence need not exist.
    fn resolve_sequence(&mut self, value: &ast::SequenceValue) -> Result<(String, String)> {
        let name = &value.sequence;
        Ok((name.database.clone().unwrap_or_default(), name.name.clone()))
    }

    fn bind_subquery(&mut self, _query: &ast::Query) -> Result<paceline_expression::Subquery> {
        Err(Error::unsupported("subqueries in stored expressions"))
    }
}
