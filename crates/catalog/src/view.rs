//! Views: stored queries with a name.
//!
//! A view is stored as the text of its query with all names resolved: `*` is expanded, columns and tables are
//! qualified, aliases are explicit. MariaDB stores and shows the same text, byte for byte. It is parsed once, when the
//! catalog gets the view, and bound to the existing tables at each use.

use std::ops::Deref;

use paceline_types::Version;
use serde::{Deserialize, Serialize};

use crate::error::Result;
use paceline_syntax::ast;
use paceline_syntax::ast::visit::{for_each_expr, has_subquery};
use paceline_syntax::definition::{ViewAlgorithm, ViewCheck, ViewSecurity};
use paceline_syntax::{ParseOptions, Statement, is_aggregate, parse_first};

/// A view in the form of its catalog record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)] // A field whose name says all needs no comment.
pub struct ViewDescription {
    pub database: String,
    pub name: String,
    pub algorithm: ViewAlgorithm,
    /// `DEFINER`: user and host.
    pub definer: (String, String),
    pub security: ViewSecurity,
    /// `WITH CHECK OPTION`.
    pub check: ViewCheck,
    /// Text of the resolved query.
    pub query: String,
    /// The text in `information_schema.VIEWS`, if it is different: without the character sets of strings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown_query: Option<String>,
    /// Names of its columns.
    pub columns: Vec<String>,
    /// `character_set_client` of the session that created it.
    pub character_set_client: String,
    /// `collation_connection` of the session that created it.
    pub collation_connection: String,
    /// Time of creation in seconds since 1970.
    pub created_seconds: i64,
}

/// Definition of a view as the rest of the server uses it. Immutable; dereferences to its [`ViewDescription`].
#[derive(Debug)]
pub struct ViewDefinition {
    description: ViewDescription,
    version: Version,
    query: ast::Query,
    is_mergeable: bool,
    is_mergeable_for_changes: bool,
    is_of_rows: bool,
}

impl ViewDefinition {
    /// Creates a definition. `version` is the log position of the description.
    ///
    /// # Errors
    /// 1064 if the text is not a query, which is impossible for a planned one.
    pub fn new(description: ViewDescription, version: Version) -> Result<Self> {
        let query = parse_query(&description.query)?;
        Ok(ViewDefinition {
            description,
            version,
            is_mergeable: is_mergeable_for_changes(&query) && !selects_queries(&query),
            is_mergeable_for_changes: is_mergeable_for_changes(&query),
            is_of_rows: is_of_rows(&query),
            query,
        })
    }

    /// Returns the description in the catalog record.
    pub fn description(&self) -> &ViewDescription {
        &self.description
    }

    /// Returns the log position of its current definition.
    pub fn version(&self) -> Version {
        self.version
    }

    /// Returns the resolved query.
    pub fn parsed(&self) -> &ast::Query {
        &self.query
    }

    /// Returns whether the view can be replaced by its tables in a query: each of its rows is one row of its tables,
    /// and its select list contains no query.
    pub fn is_mergeable(&self) -> bool {
        self.is_mergeable
    }

    /// Returns whether a statement that changes rows can replace the view by its tables. Its select list may contain
    /// queries: those columns cannot be assigned.
    pub fn is_mergeable_for_changes(&self) -> bool {
        self.is_mergeable_for_changes
    }

    /// Returns whether each of its rows comes from one row of each of its tables. It may have an ORDER BY.
    pub(crate) fn is_of_rows(&self) -> bool {
        self.is_of_rows
    }

    /// Returns the text for `information_schema.VIEWS`.
    pub fn shown_query(&self) -> &str {
        self.description
            .shown_query
            .as_deref()
            .unwrap_or(&self.description.query)
    }
}

impl Deref for ViewDefinition {
    type Target = ViewDescription;

    fn deref(&self) -> &ViewDescription {
        &self.description
    }
}

fn is_mergeable_for_changes(query: &ast::Query) -> bool {
    let ast::QueryBody::Select(select) = &query.body else {
        return false;
    };
    is_of_rows(query)
        && query.with.is_none()
        && query.lock.is_none()
        && select.modifiers == ast::SelectModifiers::default()
}

/// Returns whether the select list contains queries.
fn selects_queries(query: &ast::Query) -> bool {
    match &query.body {
        ast::QueryBody::Select(select) => {
            let mut exprs = select.items.iter().filter_map(ast::SelectItem::expr);
            exprs.any(has_subquery)
        }
        _ => false,
    }
}

fn is_of_rows(query: &ast::Query) -> bool {
    let ast::QueryBody::Select(select) = &query.body else {
        return false;
    };
    query.limit.is_none()
        && !query.order_by.iter().any(|item| has_subquery(&item.expr))
        && !select.distinct
        && select.having.is_none()
        && !select.from.is_empty()
        && select.group_by.is_empty()
        && select.items.iter().all(is_of_one_row)
}

fn is_of_one_row(item: &ast::SelectItem) -> bool {
    let Some(expr) = item.expr() else {
        return false;
    };
    let mut is_plain = true;
    for_each_expr(expr, |node| {
        is_plain &= match node {
            ast::Expr::Call(call) => {
                let is_several = is_aggregate(&call.name) || call.is_named("GROUP_CONCAT");
                // Two uses of a column must have the same value.
                call.over.is_none() && !is_several && !call.is_named("RAND") && !call.is_named("ROWNUM")
            }
            _ => true,
        };
    });
    is_plain
}

/// Parses the text of a view's query.
fn parse_query(text: &str) -> Result<ast::Query> {
    let parsed = parse_first(text.as_bytes(), &ParseOptions::of_stored())?;
    match parsed.statement {
        Statement::Query(query) => Ok(query.query),
        _ => Err(paceline_syntax::syntax_error(text.as_bytes(), 0)),
    }
}
