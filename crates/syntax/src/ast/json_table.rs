//! `JSON_TABLE(document, path COLUMNS (…)) alias`.

use super::{Expr, TypeSpec};

/// A table made of a JSON document.
#[derive(Debug, Clone, PartialEq)]
pub struct JsonTable {
    /// The document. It may name columns of the tables before it.
    pub document: Expr,
    /// Path of the values that become rows.
    pub path: String,
    pub columns: Vec<JsonColumn>,
    pub alias: String,
}

/// An item of COLUMNS.
#[derive(Debug, Clone, PartialEq)]
pub enum JsonColumn {
    /// `name FOR ORDINALITY`: the number of the row.
    Ordinality { name: String },
    /// `name type PATH path [… ON EMPTY] [… ON ERROR]`.
    Value {
        name: String,
        data_type: TypeSpec,
        path: String,
        on_empty: Option<JsonResponse>,
        on_error: Option<JsonResponse>,
    },
    /// `name type EXISTS PATH path`.
    Exists {
        name: String,
        data_type: TypeSpec,
        path: String,
    },
    /// `NESTED PATH path COLUMNS (…)`.
    Nested { path: String, columns: Vec<JsonColumn> },
}

/// Value of a column in place of one that is missing, or that cannot be stored.
#[derive(Debug, Clone, PartialEq)]
pub enum JsonResponse {
    Null,
    Error,
    /// `DEFAULT literal`.
    Default(Expr),
}
