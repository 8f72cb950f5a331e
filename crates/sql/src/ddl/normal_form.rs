//! An expression's text as MariaDB keeps it with a table: identifiers in backticks, operators and functions in lower case, no
//! parentheses but those that are needed. `CHECK (A>0 AND B<5)` is shown as ``CHECK (`A` > 0 and `B` < 5)``.

use std::fmt::Write;

use sqlparser::ast::{
    BinaryOperator, CastKind, DataType, DateTimeField, Expr, Function, FunctionArg, FunctionArgExpr,
    FunctionArguments, Ident, TrimWhereField, UnaryOperator, Value,
};

use crate::error::{Error, Result};

/// The normal form. `clause` is CHECK or DEFAULT, `owner` the column or constraint whose it is.
///
/// # Errors
/// 1901 for what may not stand in an expression that is kept: subqueries, variables, parameters, aggregates; 1235 for what this
/// server cannot write.
pub fn normal_form(expr: &Expr, clause: &str, owner: &str) -> Result<String> {
    let mut out = String::new();
    Writer {
        out: &mut out,
        clause,
        owner,
    }
    .expr(expr, 0)?;
    Ok(out)
}

/// A name in backticks.
pub fn quote_identifier(name: &str, out: &mut String) {
    out.push('`');
    for character in name.chars() {
        if character == '`' {
            out.push('`');
        }
        out.push(character);
    }
    out.push('`');
}

/// A string in quotes, with MariaDB's escapes.
pub fn quote_text(text: &str, out: &mut String) {
    out.push('\'');
    for character in text.chars() {
        match character {
            '\'' => out.push_str("''"),
            '\\' => out.push_str("\\\\"),
            '\0' => out.push_str("\\0"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\u{1a}' => out.push_str("\\Z"),
            other => out.push(other),
        }
    }
    out.push('\'');
}

struct Writer<'a> {
    out: &'a mut String,
    clause: &'a str,
    owner: &'a str,
}

/// How tightly an expression binds (`enum precedence` of `sql/item.h`).
fn precedence(expr: &Expr) -> u8 {
    match expr {
        Expr::BinaryOp { op, .. } => match op {
            BinaryOperator::Or => 1,
            BinaryOperator::Xor => 2,
            BinaryOperator::And => 3,
            BinaryOperator::Eq
            | BinaryOperator::NotEq
            | BinaryOperator::Lt
            | BinaryOperator::LtEq
            | BinaryOperator::Gt
            | BinaryOperator::GtEq
            | BinaryOperator::Spaceship => 6,
            BinaryOperator::BitwiseOr => 7,
            BinaryOperator::BitwiseAnd => 8,
            BinaryOperator::PGBitwiseShiftLeft | BinaryOperator::PGBitwiseShiftRight => 9,
            BinaryOperator::Plus | BinaryOperator::Minus => 10,
            BinaryOperator::Multiply
            | BinaryOperator::Divide
            | BinaryOperator::Modulo
            | BinaryOperator::MyIntegerDivide => 11,
            BinaryOperator::BitwiseXor => 12,
            _ => 20,
        },
        Expr::UnaryOp {
            op: UnaryOperator::Not | UnaryOperator::BangNot,
            ..
        } => 4,
        Expr::UnaryOp { .. } => 14,
        Expr::Between { .. } => 5,
        Expr::IsNull(_)
        | Expr::IsNotNull(_)
        | Expr::IsTrue(_)
        | Expr::IsNotTrue(_)
        | Expr::IsFalse(_)
        | Expr::IsNotFalse(_)
        | Expr::IsUnknown(_)
        | Expr::IsNotUnknown(_)
        | Expr::InList { .. }
        | Expr::Like { .. }
        | Expr::RLike { .. } => 6,
        Expr::Collate { .. } => 15,
        Expr::Nested(inner) => precedence(inner),
        _ => 20,
    }
}

impl Writer<'_> {
    fn refused(&self, what: &str) -> Error {
        Error::new(
            paceline_types::error_code::ER_GENERATED_COLUMN_FUNCTION_IS_NOT_ALLOWED,
            &[&what, &self.clause, &self.owner],
        )
    }

    /// Writes an operand, in parentheses if it binds less tightly than `least`.
    fn expr(&mut self, expr: &Expr, least: u8) -> Result<()> {
        let mut expr = expr;
        while let Expr::Nested(inner) = expr {
            expr = inner;
        }
        if precedence(expr) < least {
            self.out.push('(');
            self.bare(expr)?;
            self.out.push(')');
            return Ok(());
        }
        self.bare(expr)
    }

    fn bare(&mut self, expr: &Expr) -> Result<()> {
        let own = precedence(expr);
        match expr {
            Expr::Identifier(name) => self.identifier(name),
            Expr::CompoundIdentifier(parts) => self.identifier(parts.last().expect("a name has parts")),
            Expr::Value(value) => self.value(&value.value),
            Expr::Prefixed { prefix, value } => {
                if prefix.value != "_binary" {
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
                self.out.push_str(if *negated { " not like " } else { " like " });
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
            } => {
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
                if let Some(otherwise) = else_result {
                    self.out.push_str("else ");
                    self.expr(otherwise, 0)?;
                    self.out.push(' ');
                }
                self.out.push_str("end");
                Ok(())
            }
            Expr::Function(function) => self.function(function),
            Expr::Cast {
                kind: CastKind::Cast,
                expr,
                data_type,
                ..
            } => self.cast(expr, data_type),
            Expr::Convert {
                expr,
                data_type: None,
                charset: Some(charset),
                ..
            } => {
                self.out.push_str("convert(");
                self.expr(expr, 0)?;
                let _ = write!(self.out, " using {})", charset.to_string().to_lowercase());
                Ok(())
            }
            Expr::Substring {
                expr,
                substring_from,
                substring_for,
                ..
            } => {
                self.out.push_str("substr(");
                self.expr(expr, 0)?;
                for part in [substring_from, substring_for].into_iter().flatten() {
                    self.out.push(',');
                    self.expr(part, 0)?;
                }
                self.out.push(')');
                Ok(())
            }
            Expr::Trim {
                trim_where,
                trim_what,
                expr,
                ..
            } => {
                self.out.push_str("trim(");
                let place = trim_where.map(|place| match place {
                    TrimWhereField::Both => "both ",
                    TrimWhereField::Leading => "leading ",
                    TrimWhereField::Trailing => "trailing ",
                });
                self.out
                    .push_str(place.unwrap_or(if trim_what.is_some() { "both " } else { "" }));
                if let Some(what) = trim_what {
                    self.expr(what, 0)?;
                    self.out.push(' ');
                }
                if place.is_some() || trim_what.is_some() {
                    self.out.push_str("from ");
                }
                self.expr(expr, 0)?;
                self.out.push(')');
                Ok(())
            }
            Expr::Position { expr, r#in } => {
                self.out.push_str("locate(");
                self.expr(expr, 0)?;
                self.out.push(',');
                self.expr(r#in, 0)?;
                self.out.push(')');
                Ok(())
            }
            Expr::Extract { field, expr, .. } => {
                let _ = write!(self.out, "extract({} from ", unit(field));
                self.expr(expr, 0)?;
                self.out.push(')');
                Ok(())
            }
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
            Expr::Subquery(_) | Expr::Exists { .. } | Expr::InSubquery { .. } => {
                Err(self.refused("select ..."))
            }
            _ => Err(Error::unsupported("this kind of stored expression")),
        }
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
            Value::Number(text, _) => self.out.push_str(text),
            Value::SingleQuotedString(text) => quote_text(text, self.out),
            Value::HexStringLiteral(digits) => {
                let _ = write!(self.out, "X'{digits}'");
            }
            Value::SingleQuotedByteStringLiteral(digits) => {
                let _ = write!(self.out, "b'{digits}'");
            }
            Value::Boolean(true) => self.out.push_str("1"),
            Value::Boolean(false) => self.out.push_str("0"),
            Value::Null => self.out.push_str("NULL"),
            Value::Placeholder(_) => return Err(self.refused("?")),
            _ => return Err(Error::unsupported("this literal in a stored expression")),
        }
        Ok(())
    }

    fn operator(&self, op: &BinaryOperator) -> Result<&'static str> {
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

    fn list(&mut self, list: &[Expr]) -> Result<()> {
        for (n, expr) in list.iter().enumerate() {
            if n > 0 {
                self.out.push(',');
            }
            self.expr(expr, 0)?;
        }
        Ok(())
    }

    fn function(&mut self, function: &Function) -> Result<()> {
        if function.over.is_some() {
            return Err(self.refused("window function"));
        }
        let name = function.name.to_string().to_lowercase();
        let mut arguments = Vec::new();
        if let FunctionArguments::List(list) = &function.args {
            for argument in &list.args {
                match argument {
                    FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => arguments.push(expr),
                    _ => return Err(self.refused(&format!("{name}()"))),
                }
            }
        }
        if matches!(
            name.as_str(),
            "count" | "sum" | "avg" | "min" | "max" | "group_concat" | "std" | "variance"
        ) {
            return Err(self.refused(&format!("{name}()")));
        }
        // Synonyms are kept under one name.
        let name = match (name.as_str(), arguments.len()) {
            ("now" | "localtime" | "localtimestamp", _) => "current_timestamp",
            ("current_date", _) => "curdate",
            ("current_time", _) => "curtime",
            ("ceil", _) => "ceiling",
            ("lower", _) => "lcase",
            ("upper", _) => "ucase",
            ("pow", _) => "pow",
            ("mod", 2) => {
                self.expr(arguments[0], 11)?;
                self.out.push_str(" MOD ");
                return self.expr(arguments[1], 12);
            }
            (other, _) => other,
        };
        self.out.push_str(name);
        self.out.push('(');
        for (n, argument) in arguments.into_iter().enumerate() {
            if n > 0 {
                self.out.push(',');
            }
            self.expr(argument, 0)?;
        }
        self.out.push(')');
        Ok(())
    }

    fn cast(&mut self, expr: &Expr, data_type: &DataType) -> Result<()> {
        self.out.push_str("cast(");
        self.expr(expr, 0)?;
        let name = data_type.to_string().to_lowercase();
        let _ = write!(self.out, " as {name})");
        Ok(())
    }
}

fn unit(field: &DateTimeField) -> String {
    field.to_string().to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::parse_expression;

    /// As MariaDB 10.11 shows them in `SHOW CREATE TABLE`.
    #[test]
    fn as_mariadb_keeps_it() {
        for (source, expected) in [
            ("a>0 AND b<5", "`a` > 0 and `b` < 5"),
            ("a+t > 3 or b is null", "`a` + `t` > 3 or `b` is null"),
            ("b IN(1,2,3)", "`b` in (1,2,3)"),
            ("(a+1)*2 = 4", "(`a` + 1) * 2 = 4"),
            ("a-(b-c)", "`a` - (`b` - `c`)"),
            ("CONCAT('a',1)", "concat('a',1)"),
            ("UUID()", "uuid()"),
            ("abs(-1)", "abs(-1)"),
            ("a between 1 and 2", "`a` between 1 and 2"),
            ("t.a <> 7", "`a` <> 7"),
            ("(a or b) and c", "(`a` or `b`) and `c`"),
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
