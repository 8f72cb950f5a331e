//! The binder's interface to the statement around an expression.
//!
//! The binder knows operators, functions and types, but not tables. It resolves names, subqueries, aggregates
//! and parameters through a [`Scope`], which the planner implements for each kind of clause.

use paceline_types::error_code::{
    ER_BAD_FIELD_ERROR, ER_INVALID_GROUP_FUNC_USE, ER_NOT_SUPPORTED_YET,
    ER_WRONG_PLACEMENT_OF_WINDOW_FUNCTION,
};
use paceline_types::{ErrorCode, Value};

use super::errors;
use super::expr_type::ExprType;
use super::function_id::StoredFunction;
use super::tree::Expr;
use crate::error::Result;
use crate::session::SessionContext;
use crate::subquery::Subquery;
use crate::tree::window::{WindowCall, WindowFunction};
use crate::tree::{Aggregate, Function};
use paceline_syntax::ast::{self, ColumnName};

/// Clause that a name occurs in, as reported by error 1054.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Clause {
    /// The select list.
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
    /// SET, VALUES, DO, LIMIT, and all other clauses.
    Other,
}

impl Clause {
    /// Returns the clause's name in error 1054.
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

/// Something that an expression depends on and that is neither in its text nor in a table.
#[derive(Clone, Copy, Debug)]
pub enum Dependence<'a> {
    /// A native function.
    Function(&'static Function),
    /// A loadable function.
    Loadable,
    /// A user variable that the expression reads, by its name in lower case.
    UserVariable(&'a str),
    /// A system variable, by its name in lower case.
    SystemVariable(&'a str),
}

/// The binder's interface to the statement around an expression.
pub trait Scope {
    /// Returns the session: SQL mode, connection collation, types of system variables.
    fn session(&self) -> &SessionContext;

    /// Returns the clause being bound, for error 1054.
    fn clause(&self) -> Clause {
        Clause::FieldList
    }

    /// Gives the clause another name in errors 1052, 1054 and 1109, or `None` for its own. Returns the name so far.
    fn rename_clause(&mut self, name: Option<&'static str>) -> Option<&'static str> {
        let _ = name;
        None
    }

    /// Resolves a column or, where the clause allows it, a select alias. Returns [`Expr::column`] for a
    /// column of this query's rows, one for a slot that the outer query fills, or a copy of the
    /// aliased expression.
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
    /// Errors of planning; 1235 where subqueries are not allowed.
    fn bind_subquery(&mut self, query: &ast::Query) -> Result<Subquery> {
        let _ = query;
        Err(errors::error(ER_NOT_SUPPORTED_YET, &[&"subqueries here"]))
    }

    /// Resolves a sequence, and records that the statement uses it. Returns its database and name.
    ///
    /// # Errors
    /// 1146, 4089, 4091, 1046; 1235 where there are no sequences.
    fn resolve_sequence(&mut self, value: &ast::SequenceValue) -> Result<(String, String)> {
        let _ = value;
        Err(errors::error(ER_NOT_SUPPORTED_YET, &[&"sequences here"]))
    }

    /// Finds the stored function that a call means, and records that the statement calls it. Returns `None` if it does
    /// not exist.
    ///
    /// # Errors
    /// 1318 for another number of arguments.
    fn find_stored_function(&mut self, call: &ast::FunctionCall) -> Result<Option<StoredFunction>> {
        let _ = call;
        Ok(None)
    }

    /// Records a dependence of an expression besides its columns. A server that executes the statement's text again
    /// needs the same value.
    fn depend_on(&mut self, dependence: Dependence<'_>) {
        let _ = dependence;
    }

    /// Adds a note about the statement.
    fn note(&mut self, code: ErrorCode, message: String) {
        let _ = (code, message);
    }

    /// Called for `@name := …`, with the name in lower case.
    fn assign_variable(&mut self, name: &str) {
        let _ = name;
    }

    /// Returns the type of the `index`th `?`: [`ExprType::of_value`] if its value is known, else
    /// [`ExprType::parameter`], which leaves decisions about comparisons and arithmetic to the values. If the
    /// values of an execution have other types than those that the plan was bound with, the statement must be
    /// bound again.
    ///
    /// # Errors
    /// 1064 where parameters are not allowed.
    fn bind_parameter(&mut self, index: usize) -> Result<ExprType> {
        let _ = index;
        Err(errors::syntax_near("?"))
    }

    /// Called before the arguments of an aggregate are bound.
    ///
    /// # Errors
    /// 1111 where aggregates are not allowed.
    fn enter_aggregate(&mut self) -> Result<()> {
        Err(errors::error(ER_INVALID_GROUP_FUNC_USE, &[]))
    }

    /// Receives a bound aggregate and returns the expression for its result: usually [`Expr::aggregate`] with
    /// its index, which the planner later replaces by a column of the grouped rows.
    ///
    /// # Errors
    /// 1111.
    fn exit_aggregate(&mut self, aggregate: Aggregate) -> Result<Expr> {
        let _ = aggregate;
        Err(errors::error(ER_INVALID_GROUP_FUNC_USE, &[]))
    }

    /// Called before the arguments of a window function are bound. `function` is `None` for an aggregate over
    /// a window.
    ///
    /// # Errors
    /// 4015 where window functions are not allowed, 4074 within another one or an aggregate; 4009, 4017,
    /// 4018.
    fn enter_window(&mut self, function: Option<&WindowFunction>, over: &ast::Over) -> Result<()> {
        let _ = (function, over);
        Err(errors::error(ER_WRONG_PLACEMENT_OF_WINDOW_FUNCTION, &[]))
    }

    /// Receives a window function and returns the expression for its result.
    ///
    /// # Errors
    /// 4015.
    fn exit_window(&mut self, window: WindowCall) -> Result<Expr> {
        let _ = window;
        Err(errors::error(ER_WRONG_PLACEMENT_OF_WINDOW_FUNCTION, &[]))
    }

    /// Resolves `VALUES(column)` or `VALUE(column)` in ON DUPLICATE KEY UPDATE. Elsewhere MariaDB returns
    /// NULL.
    ///
    /// # Errors
    /// 1054.
    fn resolve_values(&mut self, name: &ColumnName) -> Result<Expr> {
        self.resolve_column(name)
            .map(|column| Expr::null().with_type(column.ty.nullable()))
    }

    /// Resolves `ROWNUM()`: a column for the number of the row that is read.
    ///
    /// # Errors
    /// 1235 where no rows are read.
    fn resolve_row_number(&mut self) -> Result<Expr> {
        Err(errors::error(ER_NOT_SUPPORTED_YET, &[&"ROWNUM() here"]))
    }

    /// Resolves `DEFAULT(column)`.
    ///
    /// # Errors
    /// 1054, 1364.
    fn resolve_default(&mut self, name: &ColumnName) -> Result<Expr> {
        let _ = name;
        Err(errors::syntax_near("DEFAULT"))
    }
}

/// Scope without tables: for `SELECT 1`, SET, DO, defaults, tests.
pub struct EmptyScope<'s> {
    session: &'s SessionContext,
    parameters: &'s [Value],
}

impl<'s> EmptyScope<'s> {
    /// Creates a scope without names and subqueries, with parameters of any type.
    pub fn new(session: &'s SessionContext) -> Self {
        EmptyScope {
            session,
            parameters: &[],
        }
    }

    /// Creates such a scope with known values of `?`.
    pub fn with_parameters(session: &'s SessionContext, parameters: &'s [Value]) -> Self {
        EmptyScope { session, parameters }
    }
}

impl Scope for EmptyScope<'_> {
    fn session(&self) -> &SessionContext {
        self.session
    }

    fn bind_parameter(&mut self, index: usize) -> Result<ExprType> {
        if let Some(declared) = self.session.program_variables.get(index) {
            return Ok(declared.clone());
        }
        let collation = self.session.settings.collation_connection;
        Ok(match self.parameters.get(index) {
            Some(value) => ExprType::of_value(value, collation),
            None => ExprType::parameter(),
        })
    }
}
