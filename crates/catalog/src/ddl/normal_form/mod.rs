//! Normal form of an expression's text, as MariaDB stores it with a table: identifiers in backticks,
//! operators and functions in lower case, no unnecessary parentheses. `CHECK (A>0 AND B<5)` is shown as
//! ``CHECK (`A` > 0 and `B` < 5)``.
//!
//! ```text
//!   condition    conversions of a condition before it is written    writer   operators, literals, names
//!   precedence   which operands need parentheses                    call     functions, with arguments or keywords between them
//! ```

mod call;
mod condition;
mod precedence;
mod writer;

use self::condition::condition;
use crate::error::Result;
use paceline_syntax::ast::Expr;

pub use crate::quote::{push_escaped, quote_identifier, quote_text, write_definer};

pub(super) use condition::{condition_step, truth};
pub(super) use precedence::IN;
pub(super) use writer::{ViewStyle, Writer, operator};

/// Clause name for a generated column's expression in error messages.
pub const GENERATED_CLAUSE: &str = "GENERATED ALWAYS AS";

/// Returns the normal form. `clause` is CHECK, DEFAULT or [`GENERATED_CLAUSE`]; `owner` is the column or
/// constraint that has the expression.
///
/// # Errors
/// 1901 for elements that a stored expression cannot contain: subqueries, variables, parameters, aggregates;
/// 1235 for those that this server cannot write.
pub fn normal_form(expr: &Expr, clause: &str, owner: &str) -> Result<String> {
    let mut out = String::new();
    let expr = if clause == "CHECK" {
        condition(expr.clone())
    } else {
        expr.clone()
    };
    Writer {
        out: &mut out,
        clause,
        owner,
        view: None,
    }
    .expr(&expr, 0)?;
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use paceline_syntax::parse_expression;

    /// The expected texts are those of `SHOW CREATE TABLE` in MariaDB 10.11.
    #[test]
    fn normal_forms_are_mariadbs() {
        for (source, expected) in [
            ("a>0 AND b<5", "`a` > 0 and `b` < 5"),
            ("a+t > 3 or b is null", "`a` + `t` > 3 or `b` is null"),
            ("b IN(1,2,3)", "`b` in (1,2,3)"),
            ("(a+1)*2 = 4", "(`a` + 1) * 2 = 4"),
            ("a-(b-c)", "`a` - (`b` - `c`)"),
            ("CONCAT('a',1)", "concat('a',1)"),
            ("abs(-1)", "abs(-1)"),
            ("a between 1 and 2", "`a` between 1 and 2"),
            ("t.a <> 7", "`a` <> 7"),
            ("(a = 1 or b = 2) and c > 3", "(`a` = 1 or `b` = 2) and `c` > 3"),
            ("not (a = 1 and a > 2)", "`a` <> 1 or `a` <= 2"),
            ("not a", "`a` = 0"),
            ("not (a regexp 'x')", "!(`a` regexp 'x')"),
            ("a between 1 and 2 or a", "`a` between 1 and 2 or `a` <> 0"),
            ("date_add(a, interval 1 day) > 1", "`a` + interval 1 day > 1"),
            ("a = (a > 1)", "`a` = (`a` > 1)"),
            ("(a = a) > 1", "`a` = `a` > 1"),
            ("a % 2 = 1", "`a` MOD 2 = 1"),
        ] {
            assert_eq!(
                normal_form(&parse_expression(source).unwrap(), "CHECK", "a").unwrap(),
                expected,
                "{source}"
            );
        }
        assert!(normal_form(&parse_expression("(select 1)").unwrap(), "CHECK", "a").is_err());
        assert!(normal_form(&parse_expression("@a").unwrap(), "CHECK", "a").is_err());
    }
}
