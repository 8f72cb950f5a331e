//! Operators, literals and names.

use std::fmt::Write;

use paceline_types::error_code::{ER_GENERATED_COLUMN_FUNCTION_IS_NOT_ALLOWED, ER_SUBQUERIES_NOT_SUPPORTED};
use sqlparser::ast::{BinaryOperator, CaseWhen, DataType, DateTimeField, Expr, Ident, UnaryOperator, Value};

use super::precedence::precedence;
use super::quote::{quote_identifier, quote_text};
use crate::error::{Error, Result};
use crate::stack;

/// How the expressions of a view are written.
#[derive(Debug, Clone, Copy)]
pub(in crate::ddl) struct ViewStyle<'a> {
    /// This database is not written.
    pub omitted_database: Option<&'a str>,
    /// The character sets of strings are written.
    pub introducers: bool,
}

/// Writes expressions; of a view, queries too ([`super::view`]).
pub(in crate::ddl) struct Writer<'a> {
    pub out: &'a mut String,
    pub clause: &'a str,
    pub owner: &'a str,
    /// Of a view; `None` for what is kept with a table.
    pub view: Option<ViewStyle<'a>>,
}

impl Writer<'_> {
    pub fn refused(&self, what: &str) -> Error {
        Error::new(
            ER_GENERATED_COLUMN_FUNCTION_IS_NOT_ALLOWED,
            &[&what, &self.clause, &self.owner],
        )
    }

    /// Writes an operand, in parentheses if it binds less tightly than `least`.
    pub fn expr(&mut self, expr: &Expr, least: u8) -> Result<()> {
        let mut expr = expr;
        while let Expr::Nested(inner) = expr {
            expr = inner;
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
            Expr::Identifier(name) => self.identifier(name),
            Expr::CompoundIdentifier(parts) if self.view.is_some() => {
                self.qualified(parts);
                Ok(())
            }
            Expr::CompoundIdentifier(parts) => self.identifier(parts.last().expect("a name has parts")),
            Expr::Value(value) => self.value(&value.value),
            Expr::Prefixed { prefix, value } => {
                let is_written = match self.view {
                    Some(style) => style.introducers && prefix.value.starts_with('_'),
                    None => prefix.value != "_binary",
                };
                if is_written {
                    let _ = write!(self.out, "{}", prefix.value);
                }
                self.bare(value)
            }
            Expr::BinaryOp { left, op, right } => {
                let symbol = self.operator(op)?;
                self.expr(left, own)?;
                let _ = write!(self.out, " {symbol} ");
                // Left-associative: the same level on the right needs parentheses. AND and OR are flat.
                let flat = matches!(op, BinaryOperator::And | BinaryOperator::Or);
                self.expr(right, if flat { own } else { own + 1 })
            }
            Expr::UnaryOp { op, expr: operand } => {
                self.out.push_str(match op {
                    UnaryOperator::Not | UnaryOperator::BangNot => "!",
                    UnaryOperator::Minus => "-",
                    UnaryOperator::BitwiseNot => "~",
                    UnaryOperator::Plus => "",
                    _ => return Err(Error::unsupported("this operator in a stored expression")),
                });
                self.expr(
                    operand,
                    if matches!(op, UnaryOperator::Not | UnaryOperator::BangNot) {
                        16
                    } else {
                        own
                    },
                )
            }
            Expr::IsNull(operand) => self.postfix(operand, " is null"),
            Expr::IsNotNull(operand) => self.postfix(operand, " is not null"),
            Expr::IsTrue(operand) => self.postfix(operand, " is true"),
            Expr::IsNotTrue(operand) => self.postfix(operand, " is not true"),
            Expr::IsFalse(operand) => self.postfix(operand, " is false"),
            Expr::IsNotFalse(operand) => self.postfix(operand, " is not false"),
            Expr::IsUnknown(operand) => self.postfix(operand, " is null"),
            Expr::IsNotUnknown(operand) => self.postfix(operand, " is not null"),
            Expr::Between {
                expr,
                negated,
                low,
                high,
            } => {
                self.expr(expr, own + 1)?;
                self.out
                    .push_str(if *negated { " not between " } else { " between " });
                self.expr(low, own + 1)?;
                self.out.push_str(" and ");
                self.expr(high, own + 1)
            }
            Expr::InList { expr, list, negated } => {
                self.expr(expr, own + 1)?;
                self.out.push_str(if *negated { " not in (" } else { " in (" });
                self.list(list)?;
                self.out.push(')');
                Ok(())
            }
            Expr::Like {
                negated,
                expr,
                pattern,
                escape_char,
                ..
            } => {
                self.expr(expr, own + 1)?;
                // Two spaces, as MariaDB has it.
                self.out.push_str(if *negated { "  not like " } else { " like " });
                self.expr(pattern, own + 1)?;
                if let Some(escape) = escape_char {
                    self.out.push_str(" escape ");
                    self.expr(escape, own + 1)?;
                }
                Ok(())
            }
            Expr::RLike {
                negated,
                expr,
                pattern,
                ..
            } => {
                self.expr(expr, own + 1)?;
                self.out
                    .push_str(if *negated { " not regexp " } else { " regexp " });
                self.expr(pattern, own + 1)
            }
            Expr::Collate { expr, collation } => {
                self.expr(expr, own)?;
                let _ = write!(self.out, " collate {}", collation.to_string().to_lowercase());
                Ok(())
            }
            Expr::Case {
                operand,
                conditions,
                else_result,
                ..
            } => self.case(operand.as_deref(), conditions, else_result.as_deref()),
            Expr::Function(function) => self.function(function),
            Expr::Cast { .. }
            | Expr::Convert { .. }
            | Expr::Substring { .. }
            | Expr::Trim { .. }
            | Expr::Position { .. }
            | Expr::Extract { .. } => self.call_with_words(expr),
            Expr::TypedString(typed) => {
                let word = match typed.data_type {
                    DataType::Date => "DATE",
                    DataType::Time(..) => "TIME",
                    _ => "TIMESTAMP",
                };
                self.out.push_str(word);
                self.value(&typed.value.value)
            }
            Expr::Interval(interval) => {
                self.out.push_str("interval ");
                self.expr(&interval.value, 0)?;
                if let Some(field) = &interval.leading_field {
                    let _ = write!(self.out, " {}", unit(field));
                }
                Ok(())
            }
            Expr::Tuple(list) => {
                self.out.push('(');
                self.list(list)?;
                self.out.push(')');
                Ok(())
            }
            Expr::InSubquery { .. }
            | Expr::AllOp { .. }
            | Expr::AnyOp { .. }
            | Expr::Subquery(_)
            | Expr::Exists { .. }
                if self.view.is_some() =>
            {
                self.with_subquery(expr)
            }
            Expr::InSubquery { .. } | Expr::AllOp { .. } | Expr::AnyOp { .. } => {
                Err(Error::new(ER_SUBQUERIES_NOT_SUPPORTED, &[&self.clause]))
            }
            Expr::Subquery(_) | Expr::Exists { .. } if self.clause == "CHECK" => {
                Err(Error::new(ER_SUBQUERIES_NOT_SUPPORTED, &[&self.clause]))
            }
            Expr::Subquery(_) | Expr::Exists { .. } => Err(self.refused("select ...")),
            _ => Err(Error::unsupported("this kind of stored expression")),
        }
    }

    fn case(
        &mut self,
        operand: Option<&Expr>,
        conditions: &[CaseWhen],
        otherwise: Option<&Expr>,
    ) -> Result<()> {
        self.out.push_str("case ");
        if let Some(operand) = operand {
            self.expr(operand, 0)?;
            self.out.push(' ');
        }
        for branch in conditions {
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

    fn identifier(&mut self, name: &Ident) -> Result<()> {
        if name.quote_style.is_none() && name.value.starts_with('@') {
            return Err(self.refused(&name.value));
        }
        quote_identifier(&name.value, self.out);
        Ok(())
    }

    fn value(&mut self, value: &Value) -> Result<()> {
        match value {
            Value::Number(text, _) if self.view.is_some() => self.out.push_str(&shown_number(text)),
            Value::Number(text, _) => self.out.push_str(text),
            Value::SingleQuotedString(text) if self.view.is_some() => quote_text_of_view(text, self.out),
            Value::SingleQuotedString(text) => quote_text(text, self.out),
            Value::HexStringLiteral(digits) => {
                let _ = write!(self.out, "X'{digits}'");
            }
            Value::SingleQuotedByteStringLiteral(digits) => {
                let number = u64::from_str_radix(digits, 2).unwrap_or(0);
                let _ = write!(self.out, "0x{number:02x}");
            }
            Value::Boolean(true) => self.out.push('1'),
            Value::Boolean(false) => self.out.push('0'),
            Value::Null => self.out.push_str("NULL"),
            Value::Placeholder(_) => return Err(self.refused("?")),
            _ => return Err(Error::unsupported("this literal in a stored expression")),
        }
        Ok(())
    }

    pub fn operator(&self, op: &BinaryOperator) -> Result<&'static str> {
        Ok(match op {
            BinaryOperator::Plus => "+",
            BinaryOperator::Minus => "-",
            BinaryOperator::Multiply => "*",
            BinaryOperator::Divide => "/",
            BinaryOperator::Modulo => "MOD",
            BinaryOperator::MyIntegerDivide => "DIV",
            BinaryOperator::Eq => "=",
            BinaryOperator::NotEq => "<>",
            BinaryOperator::Lt => "<",
            BinaryOperator::LtEq => "<=",
            BinaryOperator::Gt => ">",
            BinaryOperator::GtEq => ">=",
            BinaryOperator::Spaceship => "<=>",
            BinaryOperator::And => "and",
            BinaryOperator::Or => "or",
            BinaryOperator::Xor => "xor",
            BinaryOperator::BitwiseAnd => "&",
            BinaryOperator::BitwiseOr => "|",
            BinaryOperator::BitwiseXor => "^",
            BinaryOperator::PGBitwiseShiftLeft => "<<",
            BinaryOperator::PGBitwiseShiftRight => ">>",
            BinaryOperator::StringConcat => "||",
            _ => return Err(self.refused("@variable")),
        })
    }

    fn postfix(&mut self, operand: &Expr, words: &str) -> Result<()> {
        self.expr(operand, 6)?;
        self.out.push_str(words);
        Ok(())
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

/// A string in quotes, as it stands in a view.
fn quote_text_of_view(text: &str, out: &mut String) {
    let mut quoted = String::with_capacity(text.len() + 2);
    quote_text(text, &mut quoted);
    let inner = &quoted[1..quoted.len() - 1];
    let _ = write!(out, "'{}'", inner.replace("''", "\\'"));
}

/// A number as MariaDB shows it: without leading zeros, but with one in front of the point.
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

/// A unit of an interval.
pub(super) fn unit(field: &DateTimeField) -> String {
    field.to_string().to_lowercase()
}
