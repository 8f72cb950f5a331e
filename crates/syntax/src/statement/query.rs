//! Queries as statements.

use crate::ast::{
    Expr, JoinedTables, Query, QueryBody, Select, SelectItem, SelectModifiers, TableFactor, TableName,
};
use crate::statement::{FileFormat, Target};

/// A `SELECT` with the clauses that only the outermost level can have.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryStatement {
    /// The query. Its `lock` holds `FOR UPDATE` and `LOCK IN SHARE MODE`.
    pub query: Query,
    /// `INTO …`.
    pub into: Option<SelectInto>,
}

impl QueryStatement {
    /// Returns `SELECT expr`.
    pub fn of_expression(expr: Expr) -> Self {
        Self::simple(SelectItem::unnamed(expr), Vec::new())
    }

    /// Returns `SELECT * FROM table`.
    pub fn of_table(name: TableName) -> Self {
        let first = TableFactor::Table {
            name,
            alias: None,
            partitions: Vec::new(),
            hints: Vec::new(),
        };
        let joins = Vec::new();
        Self::simple(SelectItem::Wildcard, vec![JoinedTables { first, joins }])
    }

    fn simple(item: SelectItem, from: Vec<JoinedTables>) -> Self {
        Self::of_query(Query {
            with: None,
            body: QueryBody::Select(Box::new(Select {
                distinct: false,
                modifiers: SelectModifiers::default(),
                items: vec![item],
                from,
                condition: None,
                group_by: Vec::new(),
                rollup: None,
                having: None,
                windows: Vec::new(),
            })),
            order_by: Vec::new(),
            limit: None,
            lock: None,
        })
    }

    /// Returns the statement of a query.
    pub fn of_query(query: Query) -> Self {
        QueryStatement { query, into: None }
    }
}

/// Target of `SELECT … INTO`.
#[derive(Debug, Clone, PartialEq)]
pub enum SelectInto {
    /// User variables and variables of the program around the query.
    Variables(Vec<Target>),
    /// `INTO OUTFILE 'path' …`.
    Outfile {
        path: String,
        /// Format of the rows.
        format: Box<FileFormat>,
    },
    /// `INTO DUMPFILE 'path'`.
    Dumpfile(String),
}
