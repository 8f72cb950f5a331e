//! Views: a query under a name.
//!
//! A view is kept as the text of its query with every name resolved: `*` is expanded, columns and tables are qualified, aliases are written out. That
//! text is what MariaDB keeps and shows, so it is byte for byte the same; it is parsed once, when the catalog gets the view, and bound to the tables
//! that are there whenever the view is used.

use std::ops::Deref;

use paceline_types::Version;
use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::parse::ast;
use crate::parse::ast::visit::{for_each_expr, has_subquery};
use crate::parse::{ParseOptions, Statement, is_aggregate, parse_first};

/// A view as its record in the catalog holds it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ViewDescription {
    /// Its database.
    pub database: String,
    /// Its name.
    pub name: String,
    /// `ALGORITHM`.
    pub algorithm: ViewAlgorithm,
    /// `DEFINER`: user and host.
    pub definer: (String, String),
    /// `SQL SECURITY`.
    pub security: ViewSecurity,
    /// `WITH CHECK OPTION`.
    pub check: ViewCheck,
    /// The resolved query's text.
    pub query: String,
    /// That text as `information_schema.VIEWS` shows it, where it differs: without the character sets of strings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown_query: Option<String>,
    /// The names of its columns.
    pub columns: Vec<String>,
    /// `character_set_client` of the session that made it.
    pub character_set_client: String,
    /// `collation_connection` of the session that made it.
    pub collation_connection: String,
    /// When it was made: seconds since 1970.
    pub created_seconds: i64,
}

/// `ALGORITHM` of a view.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum ViewAlgorithm {
    /// `UNDEFINED`: as `MERGE` where that can be.
    #[default]
    Undefined,
    /// `MERGE`: its tables become those of the query that names it.
    Merge,
    /// `TEMPTABLE`: its rows are made first.
    TempTable,
}

impl ViewAlgorithm {
    /// The word.
    pub const fn name(self) -> &'static str {
        match self {
            ViewAlgorithm::Undefined => "UNDEFINED",
            ViewAlgorithm::Merge => "MERGE",
            ViewAlgorithm::TempTable => "TEMPTABLE",
        }
    }
}

/// With whose privileges a view reads its tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum ViewSecurity {
    /// With its definer's.
    #[default]
    Definer,
    /// With those of whoever names it.
    Invoker,
}

impl ViewSecurity {
    /// The word.
    pub const fn name(self) -> &'static str {
        match self {
            ViewSecurity::Definer => "DEFINER",
            ViewSecurity::Invoker => "INVOKER",
        }
    }
}

/// What rows may be written through a view.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum ViewCheck {
    /// Any.
    #[default]
    None,
    /// Those that it would show.
    Local,
    /// Those that it and the views below it would show.
    Cascaded,
}

impl ViewCheck {
    /// The word.
    pub const fn name(self) -> &'static str {
        match self {
            ViewCheck::None => "NONE",
            ViewCheck::Local => "LOCAL",
            ViewCheck::Cascaded => "CASCADED",
        }
    }
}

/// A view as the rest of the server uses it. Immutable; dereferences to its [`ViewDescription`].
#[derive(Debug)]
pub struct ViewDefinition {
    description: ViewDescription,
    version: Version,
    query: ast::Query,
    is_mergeable: bool,
    is_of_rows: bool,
}

impl ViewDefinition {
    /// Makes a view of its description. `version` is the place in the log where it got that.
    ///
    /// # Errors
    /// 1064 if its text is no query, which a planned one never is.
    pub fn new(description: ViewDescription, version: Version) -> Result<Self> {
        let query = parse_query(&description.query)?;
        Ok(ViewDefinition {
            description,
            version,
            is_mergeable: is_mergeable(&query),
            is_of_rows: is_of_rows(&query),
            query,
        })
    }

    /// What its record holds.
    pub fn description(&self) -> &ViewDescription {
        &self.description
    }

    /// Where in the log it got its present definition.
    pub fn version(&self) -> Version {
        self.version
    }

    /// Its query, resolved.
    pub fn parsed(&self) -> &ast::Query {
        &self.query
    }

    /// Whether its tables can take its place in the query that names it: it is of rows, and has no query within its select list.
    pub fn is_mergeable(&self) -> bool {
        self.is_mergeable
    }

    /// Whether each of its rows comes of one row of each of its tables; it may be ordered.
    pub fn is_of_rows(&self) -> bool {
        self.is_of_rows
    }

    /// The text that `information_schema.VIEWS` shows.
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

fn is_mergeable(query: &ast::Query) -> bool {
    let ast::QueryBody::Select(select) = &query.body else {
        return false;
    };
    is_of_rows(query)
        && query.with.is_none()
        && query.lock.is_none()
        && select.modifiers == ast::SelectModifiers::default()
        && !select
            .items
            .iter()
            .filter_map(ast::SelectItem::expr)
            .any(has_subquery)
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
                // Two uses of a column must find one value.
                call.over.is_none() && !is_several && !call.is_named("RAND")
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
        _ => Err(crate::parse::syntax_error(text.as_bytes(), 0)),
    }
}
