//! Queries.

use super::{ColumnName, Expr, JoinedTables, NamedWindow, TableName};

/// A query: a SELECT, VALUES or set operation with what may stand around it.
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    /// `WITH`.
    pub with: Option<With>,
    /// What gives the rows.
    pub body: QueryBody,
    /// `ORDER BY`; empty when absent.
    pub order_by: Vec<OrderItem>,
    /// `LIMIT`, `OFFSET`, `FETCH`.
    pub limit: Option<Limit>,
    /// `FOR UPDATE`, `LOCK IN SHARE MODE`.
    pub lock: Option<RowLocking>,
}

/// What gives the rows of a query.
#[derive(Debug, Clone, PartialEq)]
pub enum QueryBody {
    /// `SELECT …`.
    Select(Box<Select>),
    /// `(query)`.
    Query(Box<Query>),
    /// `left UNION|EXCEPT|INTERSECT [ALL] right`.
    SetOperation {
        /// The operator.
        op: SetOperator,
        /// `ALL`: rows that occur more than once are kept.
        all: bool,
        /// The left side.
        left: Box<QueryBody>,
        /// The right side.
        right: Box<QueryBody>,
    },
    /// `VALUES (…), (…)`.
    Values(Vec<Vec<Expr>>),
}

/// Set operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)] // SQL's own words
pub enum SetOperator {
    Union,
    Except,
    Intersect,
}

/// `WITH [RECURSIVE] …`.
#[derive(Debug, Clone, PartialEq)]
pub struct With {
    /// `RECURSIVE`.
    pub recursive: bool,
    /// The tables.
    pub tables: Vec<CommonTable>,
}

/// A common table expression.
#[derive(Debug, Clone, PartialEq)]
pub struct CommonTable {
    /// Its name.
    pub name: String,
    /// The names of its columns; empty when absent.
    pub columns: Vec<String>,
    /// Its query.
    pub query: Query,
    /// `CYCLE columns RESTRICT`: rows that were there with these values are not added; empty when absent.
    pub cycle: Vec<String>,
}

/// `SELECT …`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Select {
    /// `DISTINCT`.
    pub distinct: bool,
    /// The other words after SELECT.
    pub modifiers: SelectModifiers,
    /// The select list; never empty.
    pub items: Vec<SelectItem>,
    /// `FROM`; empty when absent, and for DUAL.
    pub from: Vec<JoinedTables>,
    /// `WHERE`.
    pub condition: Option<Expr>,
    /// `GROUP BY`; empty when absent.
    pub group_by: Vec<Expr>,
    /// `WITH ROLLUP`.
    pub rollup: bool,
    /// `HAVING`.
    pub having: Option<Expr>,
    /// `WINDOW`; empty when absent.
    pub windows: Vec<NamedWindow>,
}

/// Words between SELECT and the select list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(missing_docs)] // SQL's own words
pub struct SelectModifiers {
    pub high_priority: bool,
    pub straight_join: bool,
    pub sql_small_result: bool,
    pub sql_big_result: bool,
    pub sql_buffer_result: bool,
    pub sql_no_cache: bool,
    pub sql_calc_found_rows: bool,
}

/// An item of a select list or of RETURNING.
#[derive(Debug, Clone, PartialEq)]
pub enum SelectItem {
    /// `*`.
    Wildcard,
    /// `t.*`, `db.t.*`.
    TableWildcard(TableName),
    /// An expression.
    Expr {
        /// The expression.
        expr: Expr,
        /// The name of the result column.
        name: ItemName,
    },
}

/// Source of a result column's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ItemName {
    /// The column that the expression is.
    Column,
    /// `AS name`.
    Alias(String),
    /// The item's text, which is this; nobody gave it a name.
    Text(String),
}

impl ItemName {
    /// The name, unless it is that of a column.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Column => None,
            Self::Alias(name) | Self::Text(name) => Some(name),
        }
    }

    /// The name that AS gave.
    pub fn alias(&self) -> Option<&str> {
        match self {
            Self::Alias(name) => Some(name),
            Self::Column | Self::Text(_) => None,
        }
    }
}

/// An item of ORDER BY.
#[derive(Debug, Clone, PartialEq)]
pub struct OrderItem {
    /// What is ordered by.
    pub expr: Expr,
    /// The direction.
    pub order: SortOrder,
}

/// Direction of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[allow(missing_docs)] // SQL's own words
pub enum SortOrder {
    #[default]
    Ascending,
    Descending,
}

/// `LIMIT [offset,] count`.
#[derive(Debug, Clone, PartialEq)]
pub struct Limit {
    /// Rows that are skipped.
    pub offset: Option<Expr>,
    /// The most rows; absent with OFFSET alone.
    pub count: Option<Expr>,
    /// What happens with rows that ORDER BY does not tell from the last one.
    pub ties: Ties,
}

/// What FETCH does with rows that ORDER BY does not tell from the last one that it returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Ties {
    /// `ONLY`, and LIMIT: no more rows.
    #[default]
    Cut,
    /// `WITH TIES`: they are returned too.
    Kept,
}

/// The lock that a locking read takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowLocking {
    /// Shared or exclusive.
    pub strength: LockStrength,
    /// What happens at a row that another transaction has locked.
    pub wait: LockWait,
}

/// Strength of row locks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockStrength {
    /// `LOCK IN SHARE MODE`.
    Share,
    /// `FOR UPDATE`.
    Update,
}

/// What a locking read does at a row that another transaction has locked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockWait {
    /// Waits as long as `innodb_lock_wait_timeout` says.
    Default,
    /// `WAIT n`: waits so many seconds.
    Seconds(u64),
    /// `NOWAIT`: fails.
    NoWait,
    /// `SKIP LOCKED`: leaves the row out.
    SkipLocked,
}

impl Query {
    /// A query of a body and nothing else.
    pub fn of_body(body: QueryBody) -> Self {
        Self {
            with: None,
            body,
            order_by: Vec::new(),
            limit: None,
            lock: None,
        }
    }
}

impl SelectItem {
    /// An expression that is named by its column, or has no name that matters.
    pub fn unnamed(expr: Expr) -> Self {
        Self::Expr {
            expr,
            name: ItemName::Column,
        }
    }

    /// `expr AS alias`.
    pub fn named(expr: Expr, alias: impl Into<String>) -> Self {
        Self::Expr {
            expr,
            name: ItemName::Alias(alias.into()),
        }
    }

    /// The expression, unless it is `*`.
    pub fn expr(&self) -> Option<&Expr> {
        match self {
            Self::Expr { expr, .. } => Some(expr),
            Self::Wildcard | Self::TableWildcard(_) => None,
        }
    }

    /// Whether it is `*` or `t.*`.
    pub fn is_wildcard(&self) -> bool {
        matches!(self, Self::Wildcard | Self::TableWildcard(_))
    }
}

impl OrderItem {
    /// `expr ASC`.
    pub fn ascending(expr: Expr) -> Self {
        Self {
            expr,
            order: SortOrder::Ascending,
        }
    }

    /// The column's name, if it is one without qualification.
    pub fn bare_column(&self) -> Option<&ColumnName> {
        match &self.expr {
            Expr::Column(name) if name.table.is_none() => Some(name),
            _ => None,
        }
    }
}
