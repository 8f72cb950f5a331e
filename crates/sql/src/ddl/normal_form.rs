//! An expression's text as MariaDB keeps it with a table: identifiers in backticks, operators and functions in lower case, no
//! parentheses but those that are needed. `CHECK (A>0 AND B<5)` is shown as ``CHECK (`A` > 0 and `B` < 5)``.

use std::fmt::Write;

use sqlparser::ast::{
    BinaryOperator, CastKind, DataType, DateTimeField, ExactNumberInfo, Expr, Function, FunctionArg,
    FunctionArgExpr, FunctionArguments, Ident, TrimWhereField, UnaryOperator, Value,
};

use crate::error::{Error, Result};

/// What errors call the place of a generated column's expression.
pub const GENERATED_CLAUSE: &str = "GENERATED ALWAYS AS";

/// The normal form. `clause` is CHECK, DEFAULT or [`GENERATED_CLAUSE`], `owner` the column or constraint whose it is.
///
/// # Errors
/// 1901 for what may not stand in an expression that is kept: subqueries, variables, parameters, aggregates; 1235 for what this
/// server cannot write.
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

/// A string in quotes, as it stands in a view.
fn quote_text_of_view(text: &str, out: &mut String) {
    let mut quoted = String::with_capacity(text.len() + 2);
    quote_text(text, &mut quoted);
    let inner = &quoted[1..quoted.len() - 1];
    let _ = write!(out, "'{}'", inner.replace("''", "\\'"));
}

/// A condition as MariaDB keeps it: NOT is carried inwards, a bare column among AND and OR is compared with 0.
fn condition(expr: Expr) -> Expr {
    match expr {
        Expr::Nested(inner) => condition(*inner),
        Expr::BinaryOp {
            left,
            op: op @ (BinaryOperator::And | BinaryOperator::Or),
            right,
        } => {
            let (left, right) = (
                Box::new(truth(condition(*left))),
                Box::new(truth(condition(*right))),
            );
            Expr::BinaryOp { left, op, right }
        }
        Expr::UnaryOp {
            op: UnaryOperator::Not | UnaryOperator::BangNot,
            expr,
        } => negated(condition(*expr)),
        // IN with a single value is a comparison.
        Expr::InList {
            expr,
            mut list,
            negated,
        } if list.len() == 1 => {
            let op = if negated {
                BinaryOperator::NotEq
            } else {
                BinaryOperator::Eq
            };
            Expr::BinaryOp {
                left: expr,
                op,
                right: Box::new(list.swap_remove(0)),
            }
        }
        other => other,
    }
}

fn is_column(expr: &Expr) -> bool {
    matches!(expr, Expr::Identifier(_) | Expr::CompoundIdentifier(_))
}

/// One step of [`condition`], where the parts have taken it already.
pub(super) fn condition_step(expr: Expr) -> Expr {
    match expr {
        Expr::BinaryOp {
            left,
            op: op @ (BinaryOperator::And | BinaryOperator::Or),
            right,
        } => Expr::BinaryOp {
            left: Box::new(truth(*left)),
            op,
            right: Box::new(truth(*right)),
        },
        Expr::UnaryOp {
            op: UnaryOperator::Not | UnaryOperator::BangNot,
            expr,
        } => negated(*expr),
        single @ Expr::InList { .. } => condition(single),
        other => other,
    }
}

/// What a condition is among AND and OR.
pub(super) fn truth(expr: Expr) -> Expr {
    if is_column(&expr) {
        compared_with_zero(expr, BinaryOperator::NotEq)
    } else {
        expr
    }
}

fn compared_with_zero(expr: Expr, op: BinaryOperator) -> Expr {
    let zero = Value::Number("0".to_owned(), false);
    let right = Box::new(Expr::Value(zero.with_empty_span()));
    Expr::BinaryOp {
        left: Box::new(expr),
        op,
        right,
    }
}

/// The opposite of a condition.
fn negated(expr: Expr) -> Expr {
    use BinaryOperator::*;
    match expr {
        Expr::BinaryOp { left, op, right } => {
            let opposite = match op {
                Eq => NotEq,
                NotEq => Eq,
                Lt => GtEq,
                GtEq => Lt,
                Gt => LtEq,
                LtEq => Gt,
                And | Or => {
                    let op = if op == And { Or } else { And };
                    let (left, right) = (Box::new(negated(*left)), Box::new(negated(*right)));
                    return Expr::BinaryOp { left, op, right };
                }
                op => {
                    let expr = Box::new(Expr::BinaryOp { left, op, right });
                    return Expr::UnaryOp {
                        op: UnaryOperator::Not,
                        expr,
                    };
                }
            };
            Expr::BinaryOp {
                left,
                op: opposite,
                right,
            }
        }
        Expr::IsNull(expr) => Expr::IsNotNull(expr),
        Expr::IsNotNull(expr) => Expr::IsNull(expr),
        Expr::Between {
            expr,
            negated,
            low,
            high,
        } => Expr::Between {
            expr,
            negated: !negated,
            low,
            high,
        },
        Expr::InList { expr, list, negated } => Expr::InList {
            expr,
            list,
            negated: !negated,
        },
        Expr::Like {
            negated,
            any,
            expr,
            pattern,
            escape_char,
        } => Expr::Like {
            negated: !negated,
            any,
            expr,
            pattern,
            escape_char,
        },
        expr if is_column(&expr) => compared_with_zero(expr, Eq),
        expr => Expr::UnaryOp {
            op: UnaryOperator::Not,
            expr: Box::new(expr),
        },
    }
}

/// How the expressions of a view are written.
#[derive(Debug, Clone, Copy)]
pub(super) struct ViewStyle<'a> {
    /// This database is not written.
    pub omitted_database: Option<&'a str>,
    /// The character sets of strings are written.
    pub introducers: bool,
}

/// Writes expressions; of a view, queries too ([`super::view`]).
pub(super) struct Writer<'a> {
    pub out: &'a mut String,
    pub clause: &'a str,
    pub owner: &'a str,
    /// Of a view; `None` for what is kept with a table.
    pub view: Option<ViewStyle<'a>>,
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
        | Expr::InSubquery { .. }
        | Expr::AnyOp { .. }
        | Expr::AllOp { .. }
        | Expr::Like { .. }
        | Expr::RLike { .. } => 6,
        Expr::Collate { .. } => 15,
        Expr::Nested(inner) => precedence(inner),
        _ => 20,
    }
}

/// Functions whose value depends on more than their arguments.
const VARYING: &[&str] = &[
    "connection_id",
    "curdate",
    "current_date",
    "current_time",
    "current_timestamp",
    "current_user",
    "curtime",
    "database",
    "date_format",
    "dayname",
    "from_unixtime",
    "localtime",
    "localtimestamp",
    "monthname",
    "now",
    "rand",
    "random_bytes",
    "schema",
    "session_user",
    "sysdate",
    "system_user",
    "unix_timestamp",
    "user",
    "utc_date",
    "utc_time",
    "utc_timestamp",
    "uuid",
    "uuid_short",
    "version",
];

impl Writer<'_> {
    fn refused(&self, what: &str) -> Error {
        Error::new(
            paceline_types::error_code::ER_GENERATED_COLUMN_FUNCTION_IS_NOT_ALLOWED,
            &[&what, &self.clause, &self.owner],
        )
    }

    /// Writes an operand, in parentheses if it binds less tightly than `least`.
    pub(super) fn expr(&mut self, expr: &Expr, least: u8) -> Result<()> {
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
                if self.view.is_some()
                    && let Expr::Function(function) = &**expr
                    && function.name.to_string().eq_ignore_ascii_case("CHAR")
                {
                    return self.char_using(function, charset);
                }
                self.out.push_str("convert(");
                self.expr(expr, 0)?;
                let _ = write!(self.out, " using {})", charset.to_string().to_lowercase());
                Ok(())
            }
            Expr::Convert {
                expr,
                data_type: Some(data_type),
                charset: Some(charset),
                ..
            } if self.view.is_some() => {
                self.out.push_str("cast(");
                self.expr(expr, 0)?;
                let (data_type, charset) = (data_type.to_string(), charset.to_string());
                let _ = write!(
                    self.out,
                    " as {} charset {})",
                    data_type.to_lowercase(),
                    charset.to_lowercase()
                );
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
            Expr::InSubquery { .. }
            | Expr::AllOp { .. }
            | Expr::AnyOp { .. }
            | Expr::Subquery(_)
            | Expr::Exists { .. }
                if self.view.is_some() =>
            {
                self.with_subquery(expr)
            }
            Expr::InSubquery { .. } | Expr::AllOp { .. } | Expr::AnyOp { .. } => Err(Error::new(
                paceline_types::error_code::ER_SUBQUERIES_NOT_SUPPORTED,
                &[&self.clause],
            )),
            Expr::Subquery(_) | Expr::Exists { .. } if self.clause == "CHECK" => Err(Error::new(
                paceline_types::error_code::ER_SUBQUERIES_NOT_SUPPORTED,
                &[&self.clause],
            )),
            Expr::Subquery(_) | Expr::Exists { .. } => Err(self.refused("select ...")),
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

    pub(super) fn operator(&self, op: &BinaryOperator) -> Result<&'static str> {
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

    pub(super) fn list(&mut self, list: &[Expr]) -> Result<()> {
        for (n, expr) in list.iter().enumerate() {
            if n > 0 {
                self.out.push(',');
            }
            self.expr(expr, 0)?;
        }
        Ok(())
    }

    fn function(&mut self, function: &Function) -> Result<()> {
        if self.view.is_some() {
            return self.function_of_view(function);
        }
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
        let depends_on_more = VARYING.contains(&name.as_str()) || (name == "week" && arguments.len() == 1);
        if self.clause != "DEFAULT" && depends_on_more {
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
            ("length", _) => "octet_length",
            ("character_length", _) => "char_length",
            ("isnull", 1) => {
                self.expr(arguments[0], 6)?;
                self.out.push_str(" is null");
                return Ok(());
            }
            ("date", 1) => {
                self.out.push_str("cast(");
                self.expr(arguments[0], 0)?;
                self.out.push_str(" as date)");
                return Ok(());
            }
            ("date_add" | "adddate", 2) => return self.interval_sum(arguments[0], '+', arguments[1]),
            ("date_sub" | "subdate", 2) => return self.interval_sum(arguments[0], '-', arguments[1]),
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

    /// `DATE_ADD(a, INTERVAL 1 DAY)` is kept as a sum; `ADDDATE(a, 1)` too.
    fn interval_sum(&mut self, date: &Expr, sign: char, interval: &Expr) -> Result<()> {
        self.expr(date, 10)?;
        let _ = write!(self.out, " {sign} ");
        if matches!(interval, Expr::Interval(_)) {
            return self.expr(interval, 11);
        }
        self.out.push_str("interval ");
        self.expr(interval, 0)?;
        self.out.push_str(" day");
        Ok(())
    }

    fn cast(&mut self, expr: &Expr, data_type: &DataType) -> Result<()> {
        self.out.push_str("cast(");
        self.expr(expr, 0)?;
        let name = match data_type {
            DataType::Signed | DataType::SignedInteger => "signed".to_owned(),
            DataType::Unsigned | DataType::UnsignedInteger => "unsigned".to_owned(),
            // The character set that the text came in.
            DataType::Decimal(info) if self.view.is_some() => match info {
                ExactNumberInfo::None => "decimal(10,0)".to_owned(),
                ExactNumberInfo::Precision(digits) => format!("decimal({digits},0)"),
                ExactNumberInfo::PrecisionAndScale(digits, scale) => format!("decimal({digits},{scale})"),
            },
            DataType::Char(_) => format!("{} charset utf8mb4", data_type.to_string().to_lowercase()),
            other => other.to_string().to_lowercase(),
        };
        let _ = write!(self.out, " as {name})");
        Ok(())
    }
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

pub(super) fn unit(field: &DateTimeField) -> String {
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
