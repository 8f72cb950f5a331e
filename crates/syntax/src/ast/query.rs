//! Queries.

use super::{ColumnName, Expr, JoinedTables, NamedWindow, TableName};

#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    /// `WITH`.
    pub with: Option<With>,
    /// Source of the rows.
    pub body: QueryBody,
    /// `ORDER BY`; empty when absent.
    pub order_by: Vec<OrderItem>,
    /// `LIMIT`, `OFFSET`, `FETCH`.
    pub limit: Option<Limit>,
    /// `FOR UPDATE`, `LOCK IN SHARE MODE`.
    pub lock: Option<RowLocking>,
}

/// Source of a query's rows.
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
        /// `ALL`: duplicate rows are kept.
        all: bool,
        left: Box<QueryBody>,
        right: Box<QueryBody>,
    },
    /// `VALUES (…), (…)`.
    Values(Vec<Vec<Expr>>),
}

/// Set operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
    pub tables: Vec<CommonTable>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct CommonTable {
    pub name: String,
    /// Column names; empty when absent.
    pub columns: Vec<String>,
    pub query: Query,
    /// `CYCLE columns RESTRICT`: rows that were there with these values are not added; empty when absent.
    pub cycle: Vec<String>,
}

/// `SELECT …`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Select {
    /// `DISTINCT`.
    pub distinct: bool,
    /// The other keywords after SELECT.
    pub modifiers: SelectModifiers,
    pub items: Vec<SelectItem>,
    /// `FROM`; empty when absent, and for DUAL.
    pub from: Vec<JoinedTables>,
    /// `WHERE`.
    pub condition: Option<Expr>,
    /// `GROUP BY`; empty when absent.
    pub group_by: Vec<Expr>,
    /// `WITH ROLLUP`: the directions of the keys of GROUP BY. Without it they are an ORDER BY.
    pub rollup: Option<Vec<SortOrder>>,
    /// `HAVING`.
    pub having: Option<Expr>,
    /// `WINDOW`; empty when absent.
    pub windows: Vec<NamedWindow>,
}

/// Keywords between SELECT and the select list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
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
    Expr {
        expr: Expr,
        name: ItemName,
    },
}

/// Source of a result column's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ItemName {
    /// The name of the column that the item consists of.
    Column,
    /// `AS name`.
    Alias(String),
    /// The text of the item, which has no alias.
    Text(String),
}

impl ItemName {
    /// Returns the name, unless it is that of a column.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Column => None,
            Self::Alias(name) | Self::Text(name) => Some(name),
        }
    }

    /// Returns the alias.
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
    /// Sort key.
    pub expr: Expr,
    pub order: SortOrder,
}

/// Direction of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum SortOrder {
    #[default]
    Ascending,
    Descending,
}

/// `LIMIT [offset,] count`.
#[derive(Debug, Clone, PartialEq)]
pub struct Limit {
    /// Number of rows to skip.
    pub offset: Option<Expr>,
    /// Maximum number of rows; absent with OFFSET alone.
    pub count: Option<Expr>,
    /// Treatment of rows that ORDER BY does not tell from the last one.
    pub ties: Ties,
}

/// Treatment by FETCH of rows that ORDER BY does not tell from the last one that it returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Ties {
    /// `ONLY`, and LIMIT: no more rows.
    #[default]
    Cut,
    /// `WITH TIES`: they are returned too.
    Kept,
}

/// Lock of a locking read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowLocking {
    pub strength: LockStrength,
    /// Behaviour at a row that another transaction has locked.
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

/// Behaviour of a locking read at a row that another transaction has locked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockWait {
    /// Waits for at most `innodb_lock_wait_timeout`.
    Default,
    /// `WAIT n`: waits for at most this many seconds.
    Seconds(u64),
    /// `NOWAIT`: fails at once.
    NoWait,
    /// `SKIP LOCKED`: omits the row.
    SkipLocked,
}

impl Query {
    /// Returns a query with a body and no clauses.
    pub(crate) fn of_body(body: QueryBody) -> Self {
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
    /// Returns an item that is named by its column, or whose name does not matter.
    pub fn unnamed(expr: Expr) -> Self {
        Self::Expr {
            expr,
            name: ItemName::Column,
        }
    }

    /// Returns `expr AS alias`.
    pub fn named(expr: Expr, alias: impl Into<String>) -> Self {
        Self::Expr {
            expr,
            name: ItemName::Alias(alias.into()),
        }
    }

    /// Returns the expression, unless the item is a wildcard.
    pub fn expr(&self) -> Option<&Expr> {
        match self {
            Self::Expr { expr, .. } => Some(expr),
            Self::Wildcard | Self::TableWildcard(_) => None,
        }
    }

    /// Returns whether the item is `*` or `t.*`.
    pub fn is_wildcard(&self) -> bool {
        matches!(self, Self::Wildcard | Self::TableWildcard(_))
    }
}

impl OrderItem {
    /// Returns `expr ASC`.
    pub(crate) fn ascending(expr: Expr) -> Self {
        Self {
            expr,
            order: SortOrder::Ascending,
        }
    }

    /// Returns the column, if the sort key is one without qualification.
    pub fn bare_column(&self) -> Option<&ColumnName> {
        match &self.expr {
            Expr::Column(name) if name.table.is_none() => Some(name),
            _ => None,
        }
    }
}
