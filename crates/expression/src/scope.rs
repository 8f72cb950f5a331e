//! What the binder asks of the statement around an expression.
//!
//! The binder knows operators, functions and types; it does not know tables. Names, subqueries, aggregates and
//! parameters it resolves through a [`Scope`], which the planner implements for each kind of clause.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use paceline_types::Value;
use paceline_types::error_code::{
    ER_BAD_FIELD_ERROR, ER_INVALID_GROUP_FUNC_USE, ER_NOT_SUPPORTED_YET,
    ER_WRONG_PLACEMENT_OF_WINDOW_FUNCTION,
};

use super::aggregate::Aggregate;
use super::errors;
use super::expr_type::ExprType;
use super::tree::Expr;
use super::window::{WindowCall, WindowFunction};
use crate::error::Result;
use crate::session::SessionContext;
use paceline_syntax::ast::{self, ColumnName};

/// Where a name stands: error 1054 tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Clause {
    /// The list of results.
    FieldList,
    /// WHERE.
    Where,
    /// JOIN … ON.
    On,
    /// GROUP BY.
    GroupBy,
    /// HAVING.
    Having,
    /// ORDER BY.
    OrderBy,
    /// SET, VALUES, DO, LIMIT and everything else.
    Other,
}

impl Clause {
    /// As error 1054 words it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Clause::FieldList => "SELECT",
            Clause::Where => "WHERE",
            Clause::On => "ON",
            Clause::GroupBy => "GROUP BY",
            Clause::Having => "HAVING",
            Clause::OrderBy => "ORDER BY",
            Clause::Other => "SELECT",
        }
    }
}

/// A subquery as the planner made it.
#[derive(Clone)]
pub struct Subquery {
    /// The planner's own plan, downcast by its [`super::SubqueryRunner`].
    pub plan: Arc<dyn Any + Send + Sync>,
    /// The types of its columns.
    pub columns: Vec<ExprType>,
    /// Whether it reads columns of a query around it (at any depth), or changes by itself: then it runs for each row,
    /// else once a statement.
    pub correlation: Correlation,
    /// The slots of the row around it that it reads.
    pub outer_slots: Vec<usize>,
    /// Tells it from every other subquery: the key of its cached result.
    pub id: u64,
}

/// Whether a subquery depends on the rows around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Correlation {
    /// It gives the same rows throughout a statement.
    Uncorrelated,
    /// It gives the same rows for the same row around it.
    Correlated,
    /// It may give other rows each time, or has an effect: it is run for each row.
    Volatile,
}

impl Subquery {
    /// A subquery with a fresh id.
    pub fn new(
        plan: Arc<dyn Any + Send + Sync>,
        columns: Vec<ExprType>,
        correlation: Correlation,
        outer_slots: Vec<usize>,
    ) -> Self {
        Subquery {
            plan,
            columns,
            correlation,
            outer_slots,
            id: unique_id(),
        }
    }
}

impl std::fmt::Debug for Subquery {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Subquery")
            .field("id", &self.id)
            .field("correlation", &self.correlation)
            .field("columns", &self.columns)
            .finish_non_exhaustive()
    }
}

/// A number that no other expression node of this process has: keys the state that a node keeps during an execution.
pub(crate) fn unique_id() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// What the binder asks of the statement around an expression.
pub trait Scope {
    /// The session: SQL mode, connection collation, system variables' types.
    fn session(&self) -> &SessionContext;

    /// The clause being bound, for error 1054.
    fn clause(&self) -> Clause {
        Clause::FieldList
    }

    /// Finds a column or, where the clause allows it, a select alias. Gives [`Expr::column`] for a column of this
    /// query's rows, [`Expr::outer_column`] for one of a query around it, or a copy of the aliased expression.
    ///
    /// # Errors
    /// 1054 for an unknown name, 1052 for an ambiguous one, 1109 for an unknown table.
    fn resolve_column(&mut self, name: &ColumnName) -> Result<Expr> {
        Err(errors::error(
            ER_BAD_FIELD_ERROR,
            &[&name, &self.clause().as_str()],
        ))
    }

    /// Plans a subquery whose outer scope is this one.
    ///
    /// # Errors
    /// What planning it meets; 1235 where subqueries are not allowed.
    fn bind_subquery(&mut self, query: &ast::Query) -> Result<Subquery> {
        let _ = query;
        Err(errors::error(ER_NOT_SUPPORTED_YET, &[&"subqueries here"]))
    }

    /// Called for `@name := …`; the name is in lower case.
    fn assign_variable(&mut self, name: &str) {
        let _ = name;
    }

    /// The type of the `index`th `?`: [`ExprType::of_value`] of its value where one is known, else
    /// [`ExprType::parameter`], which leaves comparisons and arithmetic to the values. An execution whose values have
    /// other types than the plan was bound with must bind again.
    ///
    /// # Errors
    /// 1064 where parameters are not allowed.
    fn bind_parameter(&mut self, index: usize) -> Result<ExprType> {
        let _ = index;
        Err(errors::syntax_near("?"))
    }

    /// Called before an aggregate's arguments are bound.
    ///
    /// # Errors
    /// 1111 where aggregates may not stand.
    fn enter_aggregate(&mut self) -> Result<()> {
        Err(errors::error(ER_INVALID_GROUP_FUNC_USE, &[]))
    }

    /// Takes the bound aggregate and gives what stands for its result: usually [`Expr::aggregate`] with its index,
    /// which the planner later turns into a column of the grouped rows.
    ///
    /// # Errors
    /// 1111.
    fn exit_aggregate(&mut self, aggregate: Aggregate) -> Result<Expr> {
        let _ = aggregate;
        Err(errors::error(ER_INVALID_GROUP_FUNC_USE, &[]))
    }

    /// Called before a window function's arguments are bound; `function` is `None` for an aggregate over a window.
    ///
    /// # Errors
    /// 4015 where window functions may not stand, 4074 within another one or an aggregate; 4009, 4017, 4018.
    fn enter_window(&mut self, function: Option<&WindowFunction>, over: &ast::Over) -> Result<()> {
        let _ = (function, over);
        Err(errors::error(ER_WRONG_PLACEMENT_OF_WINDOW_FUNCTION, &[]))
    }

    /// Takes the window function and gives what stands for its result.
    ///
    /// # Errors
    /// 4015.
    fn exit_window(&mut self, window: WindowCall) -> Result<Expr> {
        let _ = window;
        Err(errors::error(ER_WRONG_PLACEMENT_OF_WINDOW_FUNCTION, &[]))
    }

    /// `VALUES(column)` or `VALUE(column)` in ON DUPLICATE KEY UPDATE; elsewhere MariaDB gives NULL.
    ///
    /// # Errors
    /// 1054.
    fn resolve_values(&mut self, name: &ColumnName) -> Result<Expr> {
        self.resolve_column(name)
            .map(|column| Expr::null().with_type(column.ty.nullable()))
    }

    /// The number of the row that is read, for `ROWNUM()`: a column of its own.
    ///
    /// # Errors
    /// 1235 where no rows are read.
    fn resolve_row_number(&mut self) -> Result<Expr> {
        Err(errors::error(ER_NOT_SUPPORTED_YET, &[&"ROWNUM() here"]))
    }

    /// `DEFAULT(column)`.
    ///
    /// # Errors
    /// 1054, 1364.
    fn resolve_default(&mut self, name: &ColumnName) -> Result<Expr> {
        let _ = name;
        Err(errors::syntax_near("DEFAULT"))
    }
}

/// A scope without tables: `SELECT 1`, SET, DO, defaults, tests.
pub struct EmptyScope<'s> {
    session: &'s SessionContext,
    parameters: &'s [Value],
}

impl<'s> EmptyScope<'s> {
    /// No names, no subqueries; parameters of any type.
    pub fn new(session: &'s SessionContext) -> Self {
        EmptyScope {
            session,
            parameters: &[],
        }
    }

    /// The same, where the values of `?` are known.
    pub fn with_parameters(session: &'s SessionContext, parameters: &'s [Value]) -> Self {
        EmptyScope { session, parameters }
    }
}

impl Scope for EmptyScope<'_> {
    fn session(&self) -> &SessionContext {
        self.session
    }

    fn bind_parameter(&mut self, index: usize) -> Result<ExprType> {
        let collation = self.session.settings.collation_connection;
        Ok(match self.parameters.get(index) {
            Some(value) => ExprType::of_value(value, collation),
            None => ExprType::parameter(),
        })
    }
}
