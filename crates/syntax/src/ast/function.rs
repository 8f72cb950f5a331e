//! Function calls.

use super::{Expr, OrderItem, Over};

/// A call of a function.
#[derive(Debug, Clone, PartialEq)]
pub struct FunctionCall {
    /// The database of a stored function, where it was written.
    pub database: Option<String>,
    /// The name as it was written.
    pub name: String,
    /// The arguments.
    pub arguments: Arguments,
    /// `DISTINCT`, of an aggregate.
    pub distinct: bool,
    /// `ORDER BY` within the parentheses, of GROUP_CONCAT and JSON_ARRAYAGG.
    pub order_by: Vec<OrderItem>,
    /// `SEPARATOR`, of GROUP_CONCAT.
    pub separator: Option<String>,
    /// `LIMIT`, of GROUP_CONCAT.
    pub limit: Option<Expr>,
    /// `WITHIN GROUP (ORDER BY …)`, of PERCENTILE_CONT and PERCENTILE_DISC.
    pub within_group: Option<OrderItem>,
    /// `OVER …`.
    pub over: Option<Over>,
}

/// The arguments of a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Arguments {
    /// No parentheses at all: `CURRENT_TIMESTAMP`.
    Absent,
    /// `(*)`, of an aggregate.
    Star,
    /// `(a, b, …)`.
    List(Vec<Expr>),
}

impl Arguments {
    /// The expressions, in order.
    pub fn exprs(&self) -> &[Expr] {
        match self {
            Self::List(list) => list,
            Self::Absent | Self::Star => &[],
        }
    }

    /// The expressions, in order.
    pub fn exprs_mut(&mut self) -> &mut [Expr] {
        match self {
            Self::List(list) => list,
            Self::Absent | Self::Star => &mut [],
        }
    }
}

impl FunctionCall {
    /// `name(arguments)`.
    pub fn new(name: impl Into<String>, arguments: Vec<Expr>) -> Self {
        Self::with_arguments(name, Arguments::List(arguments))
    }

    /// A call with these arguments and nothing else.
    pub fn with_arguments(name: impl Into<String>, arguments: Arguments) -> Self {
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

    /// Whether it is arguments in parentheses and nothing else.
    pub fn is_plain(&self) -> bool {
        !self.distinct
            && self.order_by.is_empty()
            && self.separator.is_none()
            && self.limit.is_none()
            && self.within_group.is_none()
            && self.over.is_none()
            && !matches!(self.arguments, Arguments::Star)
    }

    /// Whether the name is this one, in any case.
    pub fn is_named(&self, name: &str) -> bool {
        self.database.is_none() && self.name.eq_ignore_ascii_case(name)
    }

    /// `[database.]name` as it was written.
    pub fn full_name(&self) -> String {
        match &self.database {
            Some(database) => format!("{database}.{}", self.name),
            None => self.name.clone(),
        }
    }
}
