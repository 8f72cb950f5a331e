//! Function calls.

use super::{Expr, OrderItem, Over};

#[derive(Debug, Clone, PartialEq)]
pub struct FunctionCall {
    /// Database of a stored function, if one was written.
    pub database: Option<String>,
    /// Name as written.
    pub name: String,
    pub arguments: Arguments,
    /// `DISTINCT`, in an aggregate.
    pub distinct: bool,
    /// `ORDER BY` within the parentheses, in GROUP_CONCAT and JSON_ARRAYAGG.
    pub order_by: Vec<OrderItem>,
    /// `SEPARATOR`, in GROUP_CONCAT.
    pub separator: Option<String>,
    /// `LIMIT`, in GROUP_CONCAT.
    pub limit: Option<Expr>,
    /// `WITHIN GROUP (ORDER BY …)`, in PERCENTILE_CONT and PERCENTILE_DISC.
    pub within_group: Option<OrderItem>,
    /// `OVER …`.
    pub over: Option<Over>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Arguments {
    /// No parentheses: `CURRENT_TIMESTAMP`.
    Absent,
    /// `(*)`, in an aggregate.
    Star,
    /// `(a, b, …)`.
    List(Vec<Expr>),
}

impl Arguments {
    /// Returns the expressions in order.
    pub fn exprs(&self) -> &[Expr] {
        match self {
            Self::List(list) => list,
            Self::Absent | Self::Star => &[],
        }
    }

    /// Returns the expressions in order.
    pub fn exprs_mut(&mut self) -> &mut [Expr] {
        match self {
            Self::List(list) => list,
            Self::Absent | Self::Star => &mut [],
        }
    }
}

impl FunctionCall {
    /// Returns `name(arguments)`.
    pub fn new(name: impl Into<String>, arguments: Vec<Expr>) -> Self {
        Self::with_arguments(name, Arguments::List(arguments))
    }

    /// Returns a call with these arguments and no clauses.
    pub(crate) fn with_arguments(name: impl Into<String>, arguments: Arguments) -> Self {
        Self {
            database: None,
            name: name.into(),
            arguments,
            distinct: false,
            order_by: Vec::new(),
            separator: None,
            limit: None,
            within_group: None,
            over: None,
        }
    }

    /// Returns whether the call has arguments in parentheses and no clauses.
    pub fn is_plain(&self) -> bool {
        !self.distinct
            && self.order_by.is_empty()
            && self.separator.is_none()
            && self.limit.is_none()
            && self.within_group.is_none()
            && self.over.is_none()
            && !matches!(self.arguments, Arguments::Star)
    }

    /// Returns whether this is the function's name, in any case.
    pub fn is_named(&self, name: &str) -> bool {
        self.database.is_none() && self.name.eq_ignore_ascii_case(name)
    }

    /// Returns `[database.]name` as written.
    pub fn full_name(&self) -> String {
        match &self.database {
            Some(database) => format!("{database}.{}", self.name),
            None => self.name.clone(),
        }
    }
}
