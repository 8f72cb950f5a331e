//! Function calls.

use super::{Expr, OrderItem, Over};
use crate::error::Error;

#[derive(Debug, Clone, PartialEq)]
pub struct FunctionCall {
    /// Database of a stored function, if one was written.
    pub database: Option<String>,
    /// Name as written.
    pub name: String,
    pub arguments: Arguments,
    /// Names of the arguments of a function that may be one of a library; empty for others.
    pub argument_names: Vec<ArgumentName>,
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
    /// Error of an `OVER` that only aggregates of libraries allow: the function may turn out to be none.
    pub over_refusal: Option<Box<Error>>,
}

/// Name of an argument.
#[derive(Debug, Clone)]
pub enum ArgumentName {
    /// `AS name`, which only functions of libraries allow.
    Given(String),
    /// The argument's own text, if it differs from the form in which its expression is printed.
    Text(Box<str>),
    /// The form in which its expression is printed.
    Printed,
}

impl PartialEq for ArgumentName {
    /// Equal expressions have equal names unless they are given.
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Given(left), Self::Given(right)) => left == right,
            (Self::Given(_), _) | (_, Self::Given(_)) => false,
            _ => true,
        }
    }
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
            argument_names: Vec::new(),
            distinct: false,
            order_by: Vec::new(),
            separator: None,
            limit: None,
            within_group: None,
            over: None,
            over_refusal: None,
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

    /// Returns the name that an argument was given by `AS`.
    pub fn given_name(&self, index: usize) -> Option<&str> {
        match self.argument_names.get(index)? {
            ArgumentName::Given(name) => Some(name),
            ArgumentName::Text(_) | ArgumentName::Printed => None,
        }
    }

    /// Returns whether an argument was given a name by `AS`.
    pub fn has_given_names(&self) -> bool {
        self.argument_names
            .iter()
            .any(|name| matches!(name, ArgumentName::Given(_)))
    }

    /// Returns the name of an argument: as given, of its column, or its text.
    pub fn argument_name(&self, index: usize) -> String {
        match (self.argument_names.get(index), &self.arguments.exprs()[index]) {
            (Some(ArgumentName::Given(name)), _) => name.clone(),
            (_, Expr::Column(column)) => column.name.clone(),
            (Some(ArgumentName::Text(text)), _) => text.to_string(),
            (_, other) => other.to_string(),
        }
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
