//! Execution of a statement: its text and parameters, and the form of its reply.

use super::protocol::{More, RowFormat};
use paceline_syntax::ast::Expr;
use paceline_types::Value;

/// Input of a statement's execution, and the form of its reply.
#[derive(Clone, Copy)]
pub struct Execution<'a> {
    /// Text of the statement.
    pub text: &'a [u8],
    /// Values of the `?` parameters.
    pub parameters: &'a [Value],
    /// Expressions of `EXECUTE … USING`: those that are variables take the values of OUT parameters.
    pub using: &'a [Expr],
    /// Encoding of rows.
    pub format: RowFormat,
    /// Whether another result follows in the same reply.
    pub more: More,
    /// Origin of the query.
    pub asked_by: QueryOrigin,
}

impl<'a> Execution<'a> {
    /// Returns the execution of a text without parameters, as a client's only statement.
    pub fn of_text(text: &'a [u8]) -> Self {
        Execution {
            text,
            parameters: &[],
            using: &[],
            format: RowFormat::Text,
            more: More::No,
            asked_by: QueryOrigin::Client,
        }
    }

    /// Returns the execution of a client's prepared statement.
    pub fn of_prepared(text: &'a [u8], parameters: &'a [Value]) -> Self {
        Execution {
            parameters,
            format: RowFormat::Binary,
            ..Execution::of_text(text)
        }
    }

    /// Returns the execution of a query that the server itself runs.
    pub fn of_server(parameters: &'a [Value]) -> Self {
        Execution {
            parameters,
            asked_by: QueryOrigin::Server,
            ..Execution::of_text(b"")
        }
    }
}

/// Origin of a query. `sql_select_limit` applies only to a client's own SELECTs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueryOrigin {
    /// The client.
    Client,
    /// The server, for a SHOW or SET.
    Server,
}
