//! Plan of a JSON_TABLE: its document, paths and columns.

use paceline_expression::Expr;
use paceline_json::Path;
use paceline_types::DataType;

/// Name of the function in messages.
pub(crate) const FUNCTION: &str = "JSON_TABLE";

/// A JSON_TABLE.
#[derive(Debug)]
pub struct JsonTablePlan {
    pub(super) document: Expr,
    /// Whether the document reads no row: it is the same for the whole statement.
    pub(super) is_fixed: bool,
    /// The paths; the first one is that of the whole.
    pub(crate) levels: Vec<JsonLevel>,
    pub(crate) columns: Vec<JsonTableColumn>,
}

/// The path of the rows, or a NESTED PATH.
#[derive(Debug)]
pub(crate) struct JsonLevel {
    pub path: Path,
    /// The levels directly within it, in the order of the text.
    pub nested: Vec<usize>,
}

/// A column of a JSON_TABLE.
#[derive(Debug)]
pub(crate) struct JsonTableColumn {
    pub name: String,
    pub level: usize,
    pub data_type: DataType,
    pub kind: JsonColumnKind,
}

/// Origin of a column's value.
#[derive(Debug)]
pub(crate) enum JsonColumnKind {
    /// FOR ORDINALITY.
    Ordinality,
    /// PATH.
    Value {
        path: Path,
        on_empty: JsonAnswer,
        on_error: JsonAnswer,
    },
    /// EXISTS PATH.
    Exists { path: Path },
}

/// Value of a column in place of one that is missing, or that cannot be stored.
#[derive(Debug)]
pub(crate) enum JsonAnswer {
    Null,
    Error,
    Default(Expr),
}

impl JsonTableColumn {
    /// Returns whether the column is computed although nothing reads it: it may be an error.
    pub fn may_refuse(&self) -> bool {
        match &self.kind {
            JsonColumnKind::Value {
                on_empty, on_error, ..
            } => matches!(on_empty, JsonAnswer::Error) || matches!(on_error, JsonAnswer::Error),
            JsonColumnKind::Ordinality | JsonColumnKind::Exists { .. } => false,
        }
    }
}

impl JsonTablePlan {
    /// Returns the document.
    pub fn document(&self) -> &Expr {
        &self.document
    }

    /// Returns whether the document is the same for the whole statement.
    pub(crate) fn is_fixed(&self) -> bool {
        self.is_fixed
    }

    /// Returns the name of a column.
    pub(crate) fn column_name(&self, column: usize) -> &str {
        &self.columns[column].name
    }
}
