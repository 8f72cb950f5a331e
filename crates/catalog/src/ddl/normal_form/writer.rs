//! Operators, literals and names.

use std::fmt::Write;

use paceline_types::error_code::{ER_GENERATED_COLUMN_FUNCTION_IS_NOT_ALLOWED, ER_SUBQUERIES_NOT_SUPPORTED};

use super::GENERATED_CLAUSE;
use super::precedence::{COMPARISON, precedence};
use crate::error::{Error, Result};
use crate::quote::{quote_identifier, quote_text};
use paceline_syntax::ast::{
    BinaryOp, CaseBranch, Expr, Literal, SequenceValue, TemporalKind, TruthTest, UnaryOp,
};
use paceline_syntax::stack;

/// Style of a view's expressions.
#[derive(Debug, Clone, Copy)]
pub(in crate::ddl) struct ViewStyle<'a> {
    /// Database whose name is omitted before tables.
    pub omitted_database: Option<&'a str>,
    /// Database whose name is omitted before columns.
    pub omitted_of_columns: Option<&'a str>,
    /// Whether strings have introducers.
    pub introducers: bool,
}

/// Writes expressions, and for a view also queries ([`super::view`]).
pub(in crate::ddl) struct Writer<'a> {
    pub out: &'a mut String,
    pub clause: &'a str,
    pub owner: &'a str,
    /// Style of a view; `None` for an expression that is stored with a table.
    pub view: Option<ViewStyle<'a>>,
}

impl Writer<'_> {
    pub fn refused(&self, what: &str) -> Error {
        Error::new(
            ER_GENERATED_COLUMN_FUNCTION_IS_NOT_ALLOWED,
            &[&what, &self.clause, &self.owner],
        )
    }

    /// Writes an operand, in parentheses if its precedence is lower than `least`.
    pub fn expr(&mut self, expr: &Expr, least: u8) -> Result<()> {
        let expr = expr.without_parentheses();
        if let Some(positive) = without_double_negation(expr) {
            return self.expr(&positive, least);
        }
        if precedence(expr) < least {
            self.out.push('(');
            stack::on_enough(|| self.bare(expr))?;
            self.out.push(')');
            return Ok(());
        }
        stack::on_enough(|| self.bare(expr))
    }

    fn bare(&mut self, expr: &Expr) -> Result<()> {
        let own = precedence(expr);
        match expr {
            Expr::Column(name) if self.view.is_some() => {
                self.qualified(name);
                Ok(())
            }
            Expr::Column(name) => {
                quote_identifier(&name.name, self.out);
                Ok(())
            }
            Expr::UserVariable(_) | Expr::SystemVariable { .. } => Err(self.refused(&expr.to_string())),
            Expr::Assignment { .. } => Err(self.refused("@variable")),
            Expr::Parameter(_) => Err(self.refused("?")),
            Expr::Literal(literal) => {
                self.literal(literal);
                Ok(())
            }
            Expr::Introduced { charset, literal } => {
                let is_written = match self.view {
                    Some(style) => style.introducers,
                    None => charset != "binary",
                };
                // Without the space `_latin1X` would be a name.
                let space = if matches!(literal, Literal::Text(_)) {
                    ""
                } else {
                    " "
                };
                if is_written {
                    let _ = write!(self.out, "_{charset}{space}");
                }
                self.literal(literal);
                Ok(())
            }
            Expr::Binary { left, op, right } => {
                self.expr(left, own)?;
                let _ = write!(self.out, " {} ", operator(*op));
                // Operators are left-associative: the same level on the right needs parentheses. AND and OR
                // are flat.
                let flat = matches!(op, BinaryOp::And | BinaryOp::Or);
                self.expr(right, if flat { own } else { own + 1 })
            }
            Expr::Unary { op, operand } => {
                self.out.push_str(match op {
                    UnaryOp::Minus if is_minus_void(operand) => {
                        return self.expr(without_minus(operand), own);
                    }
                    UnaryOp::Minus => "-",
                    UnaryOp::Not => "!",
                    UnaryOp::BitNot => "~",
                    UnaryOp::Plus => "",
                });
                self.expr(operand, own)
            }
            Expr::Is {
                operand,
                test,
                negated,
            } => {
                let is_false = *test == TruthTest::Null && !negated && is_never_null(operand);
                match self.view.is_some() && is_false {
                    true => self.out.push_str("/*always not null*/ 1"),
                    false => self.expr(operand, own)?,
                }
                self.out.push_str(if *negated { " is not " } else { " is " });
                self.out.push_str(match test {
                    TruthTest::Null => "null",
                    TruthTest::True => "true",
                    TruthTest::False => "false",
                });
                Ok(())
            }
            Expr::Between {
                operand,
                negated,
                low,
                high,
            } => {
                self.expr(operand, own + 1)?;
                self.out
                    .push_str(if *negated { " not between " } else { " between " });
                self.expr(low, own)?;
                self.out.push_str(" and ");
                self.expr(high, own)
            }
            Expr::InList {
                operand,
                list,
                negated,
            } => {
                self.expr(operand, own)?;
                self.out.push_str(if *negated { " not in (" } else { " in (" });
                self.list(list)?;
                self.out.push(')');
                Ok(())
            }
            Expr::Like {
                text,
                pattern,
                escape,
                negated,
            } => {
                self.expr(text, own)?;
                // Two spaces, as in MariaDB.
                self.out.push_str(if *negated { "  not like " } else { " like " });
                self.expr(pattern, own + 1)?;
                if let Some(escape) = escape {
                    self.out.push_str(" escape ");
                    self.expr(escape, own + 1)?;
                }
                Ok(())
            }
            Expr::Regexp {
                text,
                pattern,
                negated,
            } => {
                self.expr(text, own)?;
                self.out
                    .push_str(if *negated { " not regexp " } else { " regexp " });
                self.expr(pattern, own + 1)
            }
            Expr::Collate { operand, collation } => {
                self.expr(operand, own)?;
                let _ = write!(self.out, " collate {}", collation.to_lowercase());
                Ok(())
            }
            Expr::Case {
                operand,
                branches,
                otherwise,
            } => self.case(operand.as_deref(), branches, otherwise.as_deref()),
            Expr::Call(call) => self.call(call),
            Expr::Sequence(value) => self.sequence(value),
            Expr::Nested(inner) => self.bare(inner),
            Expr::Cast { .. }
            | Expr::ConvertUsing { .. }
            | Expr::Trim { .. }
            | Expr::Extract { .. }
            | Expr::TimestampAdd { .. }
            | Expr::TimestampDiff { .. }
            | Expr::DynamicColumns { .. }
            | Expr::DynamicColumn { .. }
            | Expr::GetFormat { .. } => self.call_with_words(expr),
            Expr::TemporalLiteral { kind, text } => {
                self.out.push_str(match kind {
                    TemporalKind::Date => "DATE",
                    TemporalKind::Time => "TIME",
                    TemporalKind::DateTime | TemporalKind::Timestamp => "TIMESTAMP",
                });
                self.text(text);
                Ok(())
            }
            Expr::Interval(interval) => {
                self.out.push_str("interval ");
                self.expr(&interval.value, 0)?;
                let _ = write!(self.out, " {}", interval.unit.name().to_lowercase());
                Ok(())
            }
            Expr::Row(list) => {
                self.out.push('(');
                self.list(list)?;
                self.out.push(')');
                Ok(())
            }
            Expr::InSubquery { .. } | Expr::Quantified { .. } | Expr::Subquery(_) | Expr::Exists(_)
                if self.view.is_some() =>
            {
                self.with_subquery(expr)
            }
            Expr::InSubquery { .. } | Expr::Quantified { .. } => {
                Err(Error::new(ER_SUBQUERIES_NOT_SUPPORTED, &[&self.clause]))
            }
            Expr::Subquery(_) | Expr::Exists(_) if self.clause == "CHECK" => {
                Err(Error::new(ER_SUBQUERIES_NOT_SUPPORTED, &[&self.clause]))
            }
            Expr::Subquery(_) | Expr::Exists(_) => Err(self.refused("select ...")),
        }
    }

    /// Writes a value of a sequence. Its name has a database.
    fn sequence(&mut self, value: &SequenceValue) -> Result<()> {
        let operation = value.operation;
        match (self.view, self.clause) {
            (None, "CHECK") => return Err(Error::new(ER_SUBQUERIES_NOT_SUPPORTED, &[&self.clause])),
            (None, GENERATED_CLAUSE) => return Err(self.refused(&format!("{}()", operation.name()))),
            _ => {}
        }
        self.out.push_str(operation.name());
        self.out.push('(');
        if let Some(database) = &value.sequence.database {
            quote_identifier(database, self.out);
            self.out.push('.');
        }
        quote_identifier(&value.sequence.name, self.out);
        let _ = write!(self.out, "{})", operation.arguments());
        Ok(())
    }

    fn case(
        &mut self,
        operand: Option<&Expr>,
        branches: &[CaseBranch],
        otherwise: Option<&Expr>,
    ) -> Result<()> {
        self.out.push_str("case ");
        if let Some(operand) = operand {
            self.expr(operand, 0)?;
            self.out.push(' ');
        }
        for branch in branches {
            self.out.push_str("when ");
            self.expr(&branch.condition, 0)?;
            self.out.push_str(" then ");
            self.expr(&branch.result, 0)?;
            self.out.push(' ');
        }
        if let Some(otherwise) = otherwise {
            self.out.push_str("else ");
            self.expr(otherwise, 0)?;
            self.out.push(' ');
        }
        self.out.push_str("end");
        Ok(())
    }

    fn literal(&mut self, literal: &Literal) {
        match literal {
            Literal::Number(digits) if self.view.is_some() => self.out.push_str(&shown_number(digits)),
            Literal::Number(digits) => self.out.push_str(digits),
            Literal::HexNumber(digits) => {
                let _ = write!(self.out, "0x{digits}");
            }
            Literal::Text(text) => self.text(text),
            Literal::Hex(digits) => {
                let _ = write!(self.out, "X'{digits}'");
            }
            Literal::Bits(digits) => {
                let number = u64::from_str_radix(digits, 2).unwrap_or(0);
                let _ = write!(self.out, "0x{number:02x}");
            }
            Literal::Boolean(true) => self.out.push('1'),
            Literal::Boolean(false) => self.out.push('0'),
            Literal::Null => self.out.push_str("NULL"),
        }
    }

    pub fn text(&mut self, text: &str) {
        match self.view {
            Some(_) => quote_text_of_view(text, self.out),
            None => quote_text(text, self.out),
        }
    }

    pub fn list(&mut self, list: &[Expr]) -> Result<()> {
        for (n, expr) in list.iter().enumerate() {
            if n > 0 {
                self.out.push(',');
            }
            self.expr(expr, 0)?;
        }
        Ok(())
    }
}

/// Returns whether a minus before an operand changes nothing: MariaDB negates numbers when it reads them, and zero has
/// no sign.
fn is_minus_void(operand: &Expr) -> bool {
    match operand.without_parentheses() {
        Expr::Literal(Literal::Number(digits)) => digits.bytes().all(|byte| matches!(byte, b'0' | b'.')),
        // Two signs.
        Expr::Unary {
            op: UnaryOp::Minus,
            operand,
        } => matches!(operand.without_parentheses(), Expr::Literal(Literal::Number(_))),
        _ => false,
    }
}

/// The number in an operand whose minus is void.
fn without_minus(operand: &Expr) -> &Expr {
    match operand.without_parentheses() {
        Expr::Unary { operand, .. } => operand.without_parentheses(),
        number => number,
    }
}

/// Appends a string in quotes in the style of a view.
fn quote_text_of_view(text: &str, out: &mut String) {
    let mut quoted = String::with_capacity(text.len() + 2);
    quote_text(text, &mut quoted);
    let inner = &quoted[1..quoted.len() - 1];
    let _ = write!(out, "'{}'", inner.replace("''", "\\'"));
}

/// Returns a number as MariaDB shows it: without leading zeros, except one before the point.
fn shown_number(text: &str) -> String {
    if text.starts_with('.') {
        return format!("0{text}");
    }
    match text.bytes().all(|byte| byte.is_ascii_digit()) {
        true => {
            let bare = text.trim_start_matches('0');
            if bare.is_empty() { "0" } else { bare }.to_owned()
        }
        false => text.to_owned(),
    }
}

/// Returns an operator's symbol or word.
pub(in crate::ddl) fn operator(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "+",
        BinaryOp::Subtract => "-",
        BinaryOp::Multiply => "*",
        BinaryOp::Divide => "/",
        BinaryOp::Modulo => "MOD",
        BinaryOp::IntDivide => "DIV",
        BinaryOp::Equal => "=",
        BinaryOp::NotEqual => "<>",
        BinaryOp::Less => "<",
        BinaryOp::LessOrEqual => "<=",
        BinaryOp::Greater => ">",
        BinaryOp::GreaterOrEqual => ">=",
        BinaryOp::NullSafeEqual => "<=>",
        BinaryOp::And => "and",
        BinaryOp::Or => "or",
        BinaryOp::Xor => "xor",
        BinaryOp::BitAnd => "&",
        BinaryOp::BitOr => "|",
        BinaryOp::BitXor => "^",
        BinaryOp::ShiftLeft => "<<",
        BinaryOp::ShiftRight => ">>",
    }
}

/// Returns the operand of NOT NOT as a condition: MariaDB compares what is no condition with 0.
fn without_double_negation(expr: &Expr) -> Option<Expr> {
    let operand_of_not = |expr: &'_ Expr| match expr.without_parentheses() {
        Expr::Unary {
            op: UnaryOp::Not,
            operand,
        } => Some(operand.without_parentheses().clone()),
        _ => None,
    };
    let operand = operand_of_not(&operand_of_not(expr)?)?;
    let is_condition = match &operand {
        Expr::Binary { .. } => precedence(&operand) <= COMPARISON,
        Expr::Is { .. }
        | Expr::Between { .. }
        | Expr::InList { .. }
        | Expr::Like { .. }
        | Expr::Regexp { .. }
        | Expr::Unary { op: UnaryOp::Not, .. } => true,
        _ => false,
    };
    Some(match is_condition {
        true => operand,
        false => Expr::binary(operand, BinaryOp::NotEqual, Expr::number("0")),
    })
}

/// Returns whether an expression is a constant that is not NULL, as far as MariaDB sees it without evaluating it.
fn is_never_null(expr: &Expr) -> bool {
    match expr.without_parentheses() {
        Expr::Literal(literal) => *literal != Literal::Null,
        Expr::Introduced { .. } | Expr::TemporalLiteral { .. } => true,
        Expr::Unary { operand, .. } => is_never_null(operand),
        Expr::Is { operand, .. } => is_never_null(operand),
        Expr::Binary { left, op, right } => {
            !matches!(op, BinaryOp::Divide | BinaryOp::IntDivide | BinaryOp::Modulo)
                && is_never_null(left)
                && is_never_null(right)
        }
        Expr::Between {
            operand, low, high, ..
        } => [operand, low, high].into_iter().all(|part| is_never_null(part)),
        Expr::InList { operand, list, .. } => is_never_null(operand) && list.iter().all(is_never_null),
        Expr::Like { text, pattern, .. } | Expr::Regexp { text, pattern, .. } => {
            is_never_null(text) && is_never_null(pattern)
        }
        _ => false,
    }
}
