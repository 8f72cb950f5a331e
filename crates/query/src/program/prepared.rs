//! A program with what is made once and used by all its runs: types of variables, bound expressions, plans.
//!
//! ```text
//!   Code ──▶ PreparedProgram ─┬─ types of the variables
//!                             └─ by CodePlace ─┬─ Bound: the expression, or the query that it is executed as
//!                                              └─ KeptPlan
//! ```
//! It is the same for procedures, functions, triggers and events. An expression or a plan is valid until
//! * a table of a plan changes, or a temporary table hides it ([`Plan::is_current`], checked with the locks held by the
//!   caller, which then forgets the plan);
//! * a table changes whose columns' types variables have (`TYPE OF`; [`ProgramCache`](super::ProgramCache));
//! * the session gets another SQL mode, collation or another setting of [`PlannedSettings`], or a user variable that
//!   the expression or statement names gets another type.
//!
//! Privileges are checked at each execution.

use std::borrow::Cow;
use std::sync::Arc;

use super::variables::check_column_types;
use super::{VariableTypes, needs_plan};
use crate::error::{Error, Result};
use crate::plan::{Plan, ResultColumn, is_to_be_planned_again};
use paceline_catalog::{Catalog, TableDefinition};
use paceline_expression::session::{ProgramVariables, SessionContext, SqlMode};
use paceline_expression::{EmptyScope, EvalContext, EvalMode, EvalState, Expr, bind_expr};
use paceline_program::{Answer, Code, CodePlace};
use paceline_syntax::ast::Expr as SyntaxExpr;
use paceline_syntax::ast::visit::any_expr;
use paceline_syntax::{QueryStatement, SqlStatement, Statement, TriggerRow, VariableKind};
use paceline_types::error_code::ER_BAD_FIELD_ERROR;
use paceline_types::{Collation, Value};

/// A program with its bound expressions and plans.
pub struct PreparedProgram {
    code: Arc<Code>,
    /// Table of a trigger.
    table: Option<Arc<TableDefinition>>,
    types: VariableTypes,
    variables: Arc<ProgramVariables>,
    /// Of a trigger: the variables that are columns of NEW or OLD, with the column.
    row_columns: Vec<(usize, TriggerRow, usize)>,
    /// Variables to which the run has assigned values, of a trigger.
    assigned: Vec<usize>,
    settings: PlannedSettings,
    /// By instruction.
    steps: Vec<PreparedStep>,
    /// State of evaluations: kept for its memory. Each evaluation clears it at its end.
    evaluation: EvalState,
    /// Memory for the values of a run; empty between two runs.
    values: Vec<Value>,
}

/// Bound expressions and plan of an instruction.
#[derive(Default)]
struct PreparedStep {
    /// Item 0, which most instructions have alone.
    first: PreparedItem,
    others: Vec<PreparedItem>,
}

#[derive(Default)]
struct PreparedItem {
    bound: Option<KeptExpression>,
    plan: Option<KeptPlan>,
}

struct KeptExpression {
    bound: Bound,
    valid: Validity,
}

/// An expression of a program.
#[derive(Clone)]
enum Bound {
    /// It is evaluated directly.
    Direct(Arc<Expr>),
    /// It contains queries or stored functions, and is executed as this statement.
    Query(Arc<SqlStatement>),
}

/// Result of an evaluation.
pub enum Evaluation {
    /// The value, and the expression that has it.
    Value(Value, Arc<Expr>),
    /// The query to execute: its row is the value.
    Query(Arc<SqlStatement>),
}

struct KeptPlan {
    plan: Arc<Plan>,
    /// Number of rows that the last execution read.
    rows_read: u64,
    valid: Validity,
}

/// Validity of an expression or a plan, beyond the rules that hold for all.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Validity {
    Always,
    /// It names user variables: as long as [`type_changes`](paceline_expression::session::UserVariables::type_changes)
    /// is this.
    TypeChanges(u64),
}

impl Validity {
    fn of(names_user_variables: bool, session: &SessionContext) -> Self {
        match names_user_variables {
            true => Validity::TypeChanges(session.user_variables.type_changes()),
            false => Validity::Always,
        }
    }

    fn holds(self, session: &SessionContext) -> bool {
        match self {
            Validity::Always => true,
            Validity::TypeChanges(changes) => changes == session.user_variables.type_changes(),
        }
    }
}

/// Settings of a session on which bound expressions and plans depend.
#[derive(Clone, Copy, PartialEq, Eq)]
struct PlannedSettings {
    sql_mode: SqlMode,
    collation_connection: Collation,
    collation_database: Collation,
    group_concat_max_len: usize,
    div_precision_increment: u8,
    updatable_views_with_limit: bool,
}

impl PlannedSettings {
    fn of(session: &SessionContext) -> Self {
        let settings = &session.settings;
        PlannedSettings {
            sql_mode: settings.sql_mode,
            collation_connection: settings.collation_connection,
            collation_database: settings.collation_database,
            group_concat_max_len: settings.group_concat_max_len,
            div_precision_increment: settings.div_precision_increment,
            updatable_views_with_limit: settings.updatable_views_with_limit,
        }
    }
}

impl PreparedProgram {
    /// Prepares a program. `table` is the table of a trigger.
    ///
    /// # Errors
    /// The errors of the types of its variables; 1142 and 1143 for columns whose types they have; 1054 for a column of
    /// NEW or OLD that the table no longer has.
    pub fn new(
        code: Arc<Code>,
        table: Option<&Arc<TableDefinition>>,
        catalog: &Catalog,
        session: &mut SessionContext,
    ) -> Result<Self> {
        check_column_types(code.variables(), catalog, session)?;
        let types = VariableTypes::resolve(code.variables(), table.map(|table| &**table), catalog, session)?;
        Ok(PreparedProgram {
            variables: types.of_expressions(),
            row_columns: match table {
                Some(table) => row_columns(&code, table)?,
                None => Vec::new(),
            },
            types,
            assigned: Vec::new(),
            table: table.cloned(),
            settings: PlannedSettings::of(session),
            steps: std::iter::repeat_with(PreparedStep::default)
                .take(code.instruction_count())
                .collect(),
            code,
            evaluation: EvalState::new(),
            values: Vec::new(),
        })
    }

    /// Returns its code.
    pub fn code(&self) -> &Arc<Code> {
        &self.code
    }

    /// Returns the types of its variables.
    pub fn types(&self) -> &VariableTypes {
        &self.types
    }

    /// Returns its variables as expressions see them.
    pub fn program_variables(&self) -> &Arc<ProgramVariables> {
        &self.variables
    }

    /// Gives a row variable the columns of a query as its fields, and the session the variables. Forgets expressions
    /// and plans that were made with other types. Returns NULL for each field.
    ///
    /// # Errors
    /// 1060 for two columns of the same name.
    pub fn define_row(
        &mut self,
        row: usize,
        columns: &[ResultColumn],
        session: &mut SessionContext,
    ) -> Result<Answer> {
        if self.types.define_row(row, columns)? {
            self.row_has_changed(session);
        }
        let fields = self.types.row(row).unwrap_or_default().iter();
        Ok(Answer::Values(
            fields.map(|field| (*field, Value::Null)).collect(),
        ))
    }

    /// Takes the fields from a row variable whose definition has failed.
    pub fn undefine_row(&mut self, row: usize, session: &mut SessionContext) {
        if self.types.undefine_row(row) {
            self.row_has_changed(session);
        }
    }

    fn row_has_changed(&mut self, session: &mut SessionContext) {
        self.variables = self.types.of_expressions();
        session.program_variables = self.variables.clone();
        self.steps.fill_with(PreparedStep::default);
    }

    /// Returns the variables that are columns of NEW or OLD, with the column's number.
    pub(crate) fn row_columns(&self) -> &[(usize, TriggerRow, usize)] {
        &self.row_columns
    }

    /// Returns whether it is prepared for a trigger of this table, or for no trigger.
    pub(super) fn is_of(&self, table: Option<&Arc<TableDefinition>>) -> bool {
        match (&self.table, table) {
            (None, None) => true,
            (Some(known), Some(table)) => Arc::ptr_eq(known, table),
            _ => false,
        }
    }

    /// Returns whether variables have the types of columns.
    pub(super) fn names_tables(&self) -> bool {
        !self.types.tables().is_empty()
    }

    /// Returns whether the tables whose columns' types its variables have are those of the catalog.
    pub(super) fn has_types_of(&self, catalog: &Catalog) -> bool {
        self.types.tables().iter().all(|known| {
            let current = catalog.table(known.database(), known.name());
            current.is_some_and(|current| Arc::ptr_eq(current, known))
        })
    }

    /// Drops expressions and plans that were made with settings other than the session's: SET, or a routine that was
    /// called, may have changed them since the last step.
    fn forget_outdated(&mut self, session: &SessionContext) {
        let settings = PlannedSettings::of(session);
        if self.settings != settings {
            self.settings = settings;
            self.steps.fill_with(PreparedStep::default);
        }
    }

    fn item(&mut self, place: CodePlace) -> &mut PreparedItem {
        let step = &mut self.steps[place.instruction()];
        match place.item().checked_sub(1) {
            None => &mut step.first,
            Some(other) => {
                if step.others.len() <= other {
                    step.others.resize_with(other + 1, PreparedItem::default);
                }
                &mut step.others[other]
            }
        }
    }

    /// Returns an expression, which is bound if it is not yet.
    ///
    /// # Errors
    /// The errors of binding it.
    fn bound(&mut self, place: CodePlace, expr: &SyntaxExpr, session: &SessionContext) -> Result<&Bound> {
        let kept = &mut self.item(place).bound;
        if kept.as_ref().is_none_or(|kept| !kept.valid.holds(session)) {
            let is_query = needs_plan(expr);
            // The type of a query is its plan's matter.
            let is_typed_by_user_variables = !is_query && names_user_variables(expr);
            let bound = match is_query {
                true => Bound::Query(Arc::new(SqlStatement {
                    statement: Statement::Query(Box::new(QueryStatement::of_expression(expr.clone()))),
                    text: String::new(),
                })),
                false => Bound::Direct(Arc::new(bind_expr(expr, &mut EmptyScope::new(session))?)),
            };
            *kept = Some(KeptExpression {
                bound,
                valid: Validity::of(is_typed_by_user_variables, session),
            });
        }
        Ok(&kept.as_ref().expect("made above").bound)
    }

    /// Evaluates an expression, unless it is executed as a query.
    ///
    /// # Errors
    /// The errors of binding and evaluating it.
    pub fn evaluate(
        &mut self,
        place: CodePlace,
        expr: &SyntaxExpr,
        values: &[Value],
        session: &mut SessionContext,
    ) -> Result<Evaluation> {
        self.forget_outdated(session);
        let bound = match self.bound(place, expr, session)? {
            Bound::Direct(bound) => bound.clone(),
            Bound::Query(query) => return Ok(Evaluation::Query(query.clone())),
        };
        let mut context = EvalContext {
            session,
            parameters: values,
            state: &mut self.evaluation,
            runner: None,
            mode: EvalMode::Query,
            names: None,
        };
        let value = bound.eval_unrounded(&[], &mut context).map(Cow::into_owned);
        self.evaluation.reset();
        Ok(Evaluation::Value(value?, bound))
    }

    /// Notes that the run assigns a value to a variable.
    pub(crate) fn note_assigned(&mut self, variable: usize) {
        if !self.row_columns.is_empty() && !self.assigned.contains(&variable) {
            self.assigned.push(variable);
        }
    }

    /// Returns whether the run has assigned a value to a variable.
    pub(crate) fn is_assigned(&self, variable: usize) -> bool {
        self.assigned.contains(&variable)
    }

    /// Takes memory for the values of a run.
    pub(crate) fn take_values(&mut self) -> Vec<Value> {
        self.assigned.clear();
        std::mem::take(&mut self.values)
    }

    /// Keeps the memory of the values of a run.
    pub(crate) fn give_back_values(&mut self, mut values: Vec<Value>) {
        values.clear();
        self.values = values;
    }

    /// Returns the plan of a statement, which `make` makes if there is no valid one.
    ///
    /// # Errors
    /// Those of `make`.
    pub fn plan(
        &mut self,
        place: CodePlace,
        sql: &SqlStatement,
        session: &SessionContext,
        make: impl FnOnce(&Statement) -> Result<Plan>,
    ) -> Result<Arc<Plan>> {
        self.forget_outdated(session);
        let item = self.item(place);
        if let Some(kept) = &item.plan
            && kept.valid.holds(session)
            && !is_to_be_planned_again(&kept.plan, kept.rows_read)
        {
            return Ok(kept.plan.clone());
        }
        let plan = Arc::new(make(&sql.statement)?);
        let names_user_variables = !plan.text_dependence().user_variables().is_empty();
        item.plan = Some(KeptPlan {
            plan: plan.clone(),
            rows_read: 0,
            valid: Validity::of(names_user_variables, session),
        });
        Ok(plan)
    }

    /// Records that a plan has been executed, and how many rows it has read.
    pub fn note_rows_read(&mut self, place: CodePlace, rows_read: u64) {
        if let Some(kept) = &mut self.item(place).plan {
            kept.rows_read = rows_read;
        }
    }

    /// Forgets a plan whose tables have changed.
    pub fn forget_plan(&mut self, place: CodePlace) {
        self.item(place).plan = None;
    }
}

/// Returns whether an expression without subqueries names user variables.
fn names_user_variables(expr: &SyntaxExpr) -> bool {
    any_expr(expr, &mut |part| matches!(part, SyntaxExpr::UserVariable(_)))
}

/// Returns the variables that are columns of NEW or OLD.
///
/// # Errors
/// 1054 for a column that the table no longer has.
fn row_columns(code: &Code, table: &TableDefinition) -> Result<Vec<(usize, TriggerRow, usize)>> {
    let mut columns = Vec::new();
    for (variable, declared) in code.variables().iter().enumerate() {
        let VariableKind::TriggerColumn { row } = declared.kind else {
            continue;
        };
        let column = table.column(&declared.name).ok_or_else(|| {
            let row = match row {
                TriggerRow::Old => "OLD",
                TriggerRow::New => "NEW",
            };
            Error::new(ER_BAD_FIELD_ERROR, &[&declared.name, &row])
        })?;
        columns.push((variable, row, column));
    }
    Ok(columns)
}
