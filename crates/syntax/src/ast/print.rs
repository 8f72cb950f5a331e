//! Text of expressions, as error messages and column names show it.

use std::fmt::{Display, Formatter, Result, Write};

use super::{
    Arguments, BinaryOp, CastType, DynamicColumn, DynamicType, Expr, FrameBound, FrameUnits, FunctionCall,
    Interval, IntervalUnit, Literal, OrderItem, Over, Quantifier, SortOrder, TrimSide, TruthTest, UnaryOp,
    WindowSpec,
};
use crate::ast::VariableScope;
use crate::stack;

/// Writes items with a comma and a space between them.
fn list<T: Display>(items: &[T], f: &mut Formatter<'_>) -> Result {
    for (n, item) in items.iter().enumerate() {
        if n > 0 {
            f.write_str(", ")?;
        }
        item.fmt(f)?;
    }
    Ok(())
}

/// Returns `NOT ` or nothing.
fn not(negated: bool) -> &'static str {
    if negated { "NOT " } else { "" }
}

impl Display for Expr {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        stack::on_enough(|| write_expr(self, f))
    }
}

fn write_expr(expr: &Expr, f: &mut Formatter<'_>) -> Result {
    match expr {
        Expr::Column(name) => name.fmt(f),
        Expr::UserVariable(name) => write!(f, "@{name}"),
        Expr::SystemVariable { scope, name } => match scope {
            VariableScope::Default => write!(f, "@@{name}"),
            VariableScope::Global => write!(f, "@@global.{name}"),
            VariableScope::Session => write!(f, "@@session.{name}"),
        },
        Expr::Assignment { variable, value } => write!(f, "@{variable} := {value}"),
        Expr::Parameter(_) => f.write_char('?'),
        Expr::Literal(literal) => literal.fmt(f),
        Expr::Introduced { charset, literal, .. } => write!(f, "_{charset} {literal}"),
        Expr::TemporalLiteral { kind, text } => {
            write!(f, "{} ", kind.name())?;
            quoted(text, f)
        }
        Expr::Nested(inner) => write!(f, "({inner})"),
        Expr::Unary { op, operand } => write!(f, "{op}{operand}"),
        Expr::Binary { left, op, right } => write!(f, "{left} {op} {right}"),
        Expr::Is {
            operand,
            test,
            negated,
        } => write!(f, "{operand} IS {}{test}", not(*negated)),
        Expr::Between {
            operand,
            negated,
            low,
            high,
        } => write!(f, "{operand} {}BETWEEN {low} AND {high}", not(*negated)),
        Expr::InList {
            operand,
            list: items,
            negated,
        } => {
            write!(f, "{operand} {}IN (", not(*negated))?;
            list(items, f)?;
            f.write_char(')')
        }
        Expr::InSubquery { operand, negated, .. } => write!(f, "{operand} {}IN (SELECT …)", not(*negated)),
        Expr::Quantified {
            left, op, quantifier, ..
        } => {
            let word = match quantifier {
                Quantifier::Any => "ANY",
                Quantifier::All => "ALL",
            };
            write!(f, "{left} {op} {word}(SELECT …)")
        }
        Expr::Exists(_) => f.write_str("EXISTS (SELECT …)"),
        Expr::Subquery(_) => f.write_str("(SELECT …)"),
        Expr::Like {
            text,
            pattern,
            escape,
            negated,
        } => {
            write!(f, "{text} {}LIKE {pattern}", not(*negated))?;
            match escape {
                Some(escape) => write!(f, " ESCAPE {escape}"),
                None => Ok(()),
            }
        }
        Expr::Regexp {
            text,
            pattern,
            negated,
        } => write!(f, "{text} {}REGEXP {pattern}", not(*negated)),
        Expr::Row(items) => {
            f.write_char('(')?;
            list(items, f)?;
            f.write_char(')')
        }
        Expr::Case {
            operand,
            branches,
            otherwise,
        } => {
            f.write_str("CASE")?;
            if let Some(operand) = operand {
                write!(f, " {operand}")?;
            }
            for branch in branches {
                write!(f, " WHEN {} THEN {}", branch.condition, branch.result)?;
            }
            if let Some(otherwise) = otherwise {
                write!(f, " ELSE {otherwise}")?;
            }
            f.write_str(" END")
        }
        Expr::Cast { operand, target } => write!(f, "CAST({operand} AS {target})"),
        Expr::ConvertUsing { operand, charset } => write!(f, "CONVERT({operand} USING {charset})"),
        Expr::Collate { operand, collation } => write!(f, "{operand} COLLATE {collation}"),
        Expr::Interval(interval) => interval.fmt(f),
        Expr::Extract { unit, operand } => write!(f, "EXTRACT({unit} FROM {operand})"),
        Expr::TimestampAdd { unit, amount, date } => write!(f, "TIMESTAMPADD({unit}, {amount}, {date})"),
        Expr::TimestampDiff { unit, from, to } => write!(f, "TIMESTAMPDIFF({unit}, {from}, {to})"),
        Expr::GetFormat { kind, region } => write!(f, "GET_FORMAT({}, {region})", kind.name()),
        Expr::Trim { side, what, text } => {
            let side = match side {
                Some(TrimSide::Both) => "BOTH ",
                Some(TrimSide::Leading) => "LEADING ",
                Some(TrimSide::Trailing) => "TRAILING ",
                None => "",
            };
            write!(f, "TRIM({side}")?;
            if let Some(what) = what {
                write!(f, "{what} ")?;
            }
            if what.is_some() || !side.is_empty() {
                f.write_str("FROM ")?;
            }
            write!(f, "{text})")
        }
        Expr::Sequence(value) => value.fmt(f),
        Expr::DynamicColumns { base, columns } => {
            match base {
                Some(base) => write!(f, "COLUMN_ADD({base}")?,
                None => f.write_str("COLUMN_CREATE(")?,
            }
            for (index, column) in columns.iter().enumerate() {
                if index > 0 || base.is_some() {
                    f.write_str(", ")?;
                }
                column.fmt(f)?;
            }
            f.write_char(')')
        }
        Expr::DynamicColumn {
            columns,
            name,
            target,
        } => write!(f, "COLUMN_GET({columns}, {name} AS {target})"),
        Expr::Call(call) => call.fmt(f),
    }
}

/// Writes a string in quotes; quotes within it are doubled.
fn quoted(text: &str, f: &mut Formatter<'_>) -> Result {
    write!(f, "'{}'", text.replace('\'', "''"))
}

impl Display for Literal {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::Null => f.write_str("NULL"),
            Self::Boolean(true) => f.write_str("true"),
            Self::Boolean(false) => f.write_str("false"),
            Self::Number(digits) => f.write_str(digits),
            Self::HexNumber(digits) => write!(f, "0x{digits}"),
            Self::Hex(digits) => write!(f, "X'{digits}'"),
            Self::Bits(digits) => write!(f, "B'{digits}'"),
            Self::Text(text) => quoted(text, f),
        }
    }
}

/// Writes arguments with their names.
fn named_arguments(call: &FunctionCall, f: &mut Formatter<'_>) -> Result {
    for (index, argument) in call.arguments.exprs().iter().enumerate() {
        if index > 0 {
            f.write_str(", ")?;
        }
        argument.fmt(f)?;
        if let Some(name) = call.given_name(index) {
            write!(f, " AS `{}`", name.replace('`', "``"))?;
        }
    }
    Ok(())
}

impl Display for FunctionCall {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(&self.full_name())?;
        match &self.arguments {
            Arguments::Absent => {}
            Arguments::Star => f.write_str("(*)")?,
            Arguments::List(arguments) => {
                f.write_str(if self.distinct { "(DISTINCT " } else { "(" })?;
                match self.has_given_names() {
                    true => named_arguments(self, f)?,
                    false => list(arguments, f)?,
                }
                if !self.order_by.is_empty() {
                    f.write_str(" ORDER BY ")?;
                    list(&self.order_by, f)?;
                }
                if let Some(separator) = &self.separator {
                    f.write_str(" SEPARATOR ")?;
                    quoted(separator, f)?;
                }
                if let Some(limit) = &self.limit {
                    write!(f, " LIMIT {limit}")?;
                }
                f.write_char(')')?;
            }
        }
        if let Some(item) = &self.within_group {
            write!(f, " WITHIN GROUP (ORDER BY {item})")?;
        }
        match &self.over {
            Some(Over::Named(name)) => write!(f, " OVER {name}"),
            Some(Over::Spec(spec)) => write!(f, " OVER ({spec})"),
            None => Ok(()),
        }
    }
}

impl Display for WindowSpec {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let mut space = "";
        if let Some(base) = &self.base {
            f.write_str(base)?;
            space = " ";
        }
        if !self.partition_by.is_empty() {
            write!(f, "{space}PARTITION BY ")?;
            list(&self.partition_by, f)?;
            space = " ";
        }
        if !self.order_by.is_empty() {
            write!(f, "{space}ORDER BY ")?;
            list(&self.order_by, f)?;
            space = " ";
        }
        let Some(frame) = &self.frame else { return Ok(()) };
        let units = match frame.units {
            FrameUnits::Rows => "ROWS",
            FrameUnits::Range => "RANGE",
        };
        match &frame.end {
            Some(end) => write!(f, "{space}{units} BETWEEN {} AND {end}", frame.start),
            None => write!(f, "{space}{units} {}", frame.start),
        }
    }
}

impl Display for FrameBound {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::CurrentRow => f.write_str("CURRENT ROW"),
            Self::Preceding(None) => f.write_str("UNBOUNDED PRECEDING"),
            Self::Preceding(Some(offset)) => write!(f, "{offset} PRECEDING"),
            Self::Following(None) => f.write_str("UNBOUNDED FOLLOWING"),
            Self::Following(Some(offset)) => write!(f, "{offset} FOLLOWING"),
        }
    }
}

impl Display for OrderItem {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        self.expr.fmt(f)?;
        match self.order {
            SortOrder::Ascending => Ok(()),
            SortOrder::Descending => f.write_str(" DESC"),
        }
    }
}

impl Display for Interval {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "INTERVAL {} {}", self.value, self.unit)
    }
}

impl Display for IntervalUnit {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(self.name())
    }
}

impl Display for TruthTest {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(match self {
            Self::Null => "NULL",
            Self::True => "TRUE",
            Self::False => "FALSE",
        })
    }
}

impl Display for UnaryOp {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(match self {
            Self::Plus => "+",
            Self::Minus => "-",
            Self::Not => "NOT ",
            Self::BitNot => "~",
        })
    }
}

impl Display for BinaryOp {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(match self {
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::IntDivide => "DIV",
            Self::Modulo => "%",
            Self::Equal => "=",
            Self::NullSafeEqual => "<=>",
            Self::NotEqual => "<>",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
            Self::And => "AND",
            Self::Or => "OR",
            Self::Xor => "XOR",
            Self::BitAnd => "&",
            Self::BitOr => "|",
            Self::BitXor => "^",
            Self::ShiftLeft => "<<",
            Self::ShiftRight => ">>",
        })
    }
}

impl Display for DynamicColumn {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{}, {}", self.name, self.value)?;
        match &self.stored_as {
            Some(ty) => write!(f, " AS {ty}"),
            None => Ok(()),
        }
    }
}

impl Display for DynamicType {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(match self {
            Self::Signed => "int",
            Self::Unsigned => "unsigned int",
            Self::Double => "double",
            Self::Decimal => "decimal",
            Self::Char { charset, collation } => {
                f.write_str("char")?;
                if let Some(charset) = charset {
                    write!(f, " charset {charset}")?;
                }
                return match collation {
                    Some(collation) => write!(f, " collate {collation}"),
                    None => Ok(()),
                };
            }
            Self::Date => "date",
            Self::Time => "time",
            Self::DateTime => "datetime",
        })
    }
}

impl Display for CastType {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let (word, length) = match self {
            Self::Binary(length) => ("BINARY", length),
            Self::Char { length, .. } => ("CHAR", length),
            Self::Signed => ("SIGNED", &None),
            Self::Unsigned => ("UNSIGNED", &None),
            Self::Decimal {
                precision: Some(precision),
                scale: Some(scale),
            } => return write!(f, "DECIMAL({precision},{scale})"),
            Self::Decimal { precision, .. } => ("DECIMAL", precision),
            Self::Double(Some((precision, scale))) => return write!(f, "DOUBLE({precision},{scale})"),
            Self::Double(None) => ("DOUBLE", &None),
            Self::Float => ("FLOAT", &None),
            Self::Date => ("DATE", &None),
            Self::Time(decimals) => ("TIME", decimals),
            Self::DateTime(decimals) => ("DATETIME", decimals),
            Self::FixedBinary(t) => (t.keyword(), &None),
        };
        f.write_str(word)?;
        if let Some(length) = length {
            write!(f, "({length})")?;
        }
        match self {
            Self::Char {
                charset: Some(charset),
                ..
            } => write!(f, " CHARACTER SET {charset}"),
            _ => Ok(()),
        }
    }
}
