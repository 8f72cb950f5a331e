//! JSON functions.

use paceline_types::Value;

use super::Function;
use crate::expr::context::EvalContext;
use crate::expr::eval::convert;
use crate::expr::expr_type::ExprType;

pub(super) static FUNCTIONS: &[Function] = &[];

/// A JSON string literal.
pub(crate) fn json_quote(text: &str) -> String {
    serde_json::Value::String(text.to_owned()).to_string()
}

/// Appends a value as JSON: numbers as they are, JSON text as it is, other text quoted.
pub(crate) fn append_json_value(value: &Value, ty: &ExprType, context: &EvalContext<'_>, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Int(_) | Value::UInt(_) | Value::Double(_) | Value::Float(_) | Value::Decimal(_) => {
            out.push_str(&convert::typed_text(value, ty, context));
        }
        other => out.push_str(&json_quote(&convert::text_of(other, context))),
    }
}
