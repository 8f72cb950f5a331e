//! Queries, with what may stand around them.

use crate::ast::Query;
use crate::statement::FileFormat;

/// `SELECT` and what may stand around it at the outermost level.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryStatement {
    /// The query. Its `lock` holds `FOR UPDATE` and `LOCK IN SHARE MODE`.
    pub query: Query,
    /// `INTO …`.
    pub into: Option<SelectInto>,
    /// Where INTO stands.
    pub into_place: IntoPlace,
}

/// Where the INTO of a query stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum IntoPlace {
    /// Behind the select list, or nowhere.
    #[default]
    BehindSelectList,
    /// Behind something else: MariaDB takes it with a warning.
    AtEnd,
}

/// Where `SELECT … INTO` puts its row.
#[derive(Debug, Clone, PartialEq)]
pub enum SelectInto {
    /// User variables, without the `@`.
    Variables(Vec<String>),
    /// `INTO OUTFILE 'path' …`.
    Outfile {
        /// The file.
        path: String,
        /// How it is to hold the rows.
        format: Box<FileFormat>,
    },
    /// `INTO DUMPFILE 'path'`.
    Dumpfile(String),
}
