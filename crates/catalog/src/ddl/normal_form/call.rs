//! Functions: with arguments in parentheses, or with keywords between them.

use std::fmt::Write;

use super::precedence::{COMPARISON, INTERVAL, MULTIPLY};
use super::writer::Writer;
use crate::error::{Error, Result};
use paceline_syntax::ast::{Arguments, CastType, DynamicColumn, DynamicType, Expr, FunctionCall, TrimSide};
use paceline_types::{Charset, Collation};

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
    pub fn call(&mut self, call: &FunctionCall) -> Result<()> {
        if self.view.is_some() {
            return self.call_of_view(call);
        }
        if call.over.is_some() {
            return Err(self.refused("window function"));
        }
        let name = call.full_name().to_lowercase();
        if matches!(call.arguments, Arguments::Star) {
            return Err(self.refused(&format!("{name}()")));
        }
        let arguments = call.arguments.exprs();
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
        // Synonyms are stored under one name.
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
                self.expr(&arguments[0], COMPARISON)?;
                self.out.push_str(" is null");
                return Ok(());
            }
            ("date", 1) => {
                self.out.push_str("cast(");
                self.expr(&arguments[0], 0)?;
                self.out.push_str(" as date)");
                return Ok(());
            }
            ("date_add" | "adddate", 2) => return self.interval_sum(&arguments[0], '+', &arguments[1]),
            ("date_sub" | "subdate", 2) => return self.interval_sum(&arguments[0], '-', &arguments[1]),
            ("mod", 2) => {
                self.expr(&arguments[0], MULTIPLY)?;
                self.out.push_str(" MOD ");
                return self.expr(&arguments[1], MULTIPLY + 1);
            }
            (other, _) => other,
        };
        self.out.push_str(name);
        self.out.push('(');
        self.list(arguments)?;
        self.out.push(')');
        Ok(())
    }

    /// Writes `DATE_ADD(a, INTERVAL 1 DAY)` and `ADDDATE(a, 1)` as a sum.
    fn interval_sum(&mut self, date: &Expr, sign: char, interval: &Expr) -> Result<()> {
        self.expr(date, INTERVAL)?;
        let _ = write!(self.out, " {sign} ");
        if matches!(interval, Expr::Interval(_)) {
            return self.expr(interval, INTERVAL + 1);
        }
        self.out.push_str("interval ");
        self.expr(interval, 0)?;
        self.out.push_str(" day");
        Ok(())
    }

    fn cast(&mut self, operand: &Expr, target: &CastType) -> Result<()> {
        self.out.push_str("cast(");
        self.expr(operand, 0)?;
        self.cast_target(target);
        Ok(())
    }

    /// Writes ` as type)`.
    fn cast_target(&mut self, target: &CastType) {
        let name = match target {
            CastType::Decimal { precision, scale } if self.view.is_some() => {
                format!("decimal({},{})", precision.unwrap_or(10), scale.unwrap_or(0))
            }
            CastType::Char { length, charset } => {
                let length = length.map_or_else(String::new, |length| format!("({length})"));
                // Without USING it is the character set of the text.
                let charset = charset.as_deref().unwrap_or("utf8mb4").to_lowercase();
                format!("char{length} charset {charset}")
            }
            other => other.to_string().to_lowercase(),
        };
        let _ = write!(self.out, " as {name})");
    }

    /// Writes COLUMN_CREATE or COLUMN_ADD.
    fn dynamic_columns(&mut self, base: Option<&Expr>, columns: &[DynamicColumn]) -> Result<()> {
        match base {
            Some(base) => {
                self.out.push_str("column_add(");
                self.expr(base, 0)?;
                self.out.push(',');
            }
            None => self.out.push_str("column_create("),
        }
        for (index, column) in columns.iter().enumerate() {
            if index > 0 {
                self.out.push(',');
            }
            self.expr(&column.name, 0)?;
            self.out.push(',');
            self.expr(&column.value, 0)?;
            match &column.stored_as {
                Some(DynamicType::Char { charset, collation }) => {
                    let charset = charset.as_deref().and_then(Charset::from_name);
                    let charset = charset.unwrap_or(Charset::Utf8mb4);
                    let collation = match collation.as_deref() {
                        Some("binary") => charset.bin_collation(),
                        Some(name) => {
                            Collation::from_name(name).unwrap_or_else(|| charset.default_collation())
                        }
                        None => charset.default_collation(),
                    };
                    let charset = collation.charset().name();
                    let _ = write!(
                        self.out,
                        " AS char charset {charset} collate {} ",
                        collation.name()
                    );
                }
                Some(ty) => {
                    let _ = write!(self.out, " AS {ty}");
                }
                None => {}
            }
        }
        self.out.push(')');
        Ok(())
    }

    /// Writes functions that have keywords between their arguments.
    pub fn call_with_words(&mut self, expr: &Expr) -> Result<()> {
        match expr {
            Expr::Cast { operand, target } => self.cast(operand, target),
            Expr::ConvertUsing { operand, charset } => {
                if self.view.is_some()
                    && let Expr::Call(call) = &**operand
                    && call.is_named("CHAR")
                {
                    return self.char_using(call, charset);
                }
                self.out.push_str("convert(");
                self.expr(operand, 0)?;
                let _ = write!(self.out, " using {})", charset.to_lowercase());
                Ok(())
            }
            Expr::Trim { side, what, text } => {
                self.out.push_str("trim(");
                let word = match side {
                    Some(TrimSide::Both) => "both ",
                    Some(TrimSide::Leading) => "leading ",
                    Some(TrimSide::Trailing) => "trailing ",
                    None if what.is_some() => "both ",
                    None => "",
                };
                self.out.push_str(word);
                if let Some(what) = what {
                    self.expr(what, 0)?;
                    self.out.push(' ');
                }
                if !word.is_empty() {
                    self.out.push_str("from ");
                }
                self.expr(text, 0)?;
                self.out.push(')');
                Ok(())
            }
            Expr::Extract { unit, operand } => {
                let _ = write!(self.out, "extract({} from ", unit.name().to_lowercase());
                self.expr(operand, 0)?;
                self.out.push(')');
                Ok(())
            }
            Expr::TimestampAdd { unit, amount, date } => {
                self.call_with_keyword("timestampadd", unit.name(), &[amount, date])
            }
            Expr::TimestampDiff { unit, from, to } => {
                self.call_with_keyword("timestampdiff", unit.name(), &[from, to])
            }
            Expr::DynamicColumns { base, columns } => self.dynamic_columns(base.as_deref(), columns),
            Expr::DynamicColumn {
                columns,
                name,
                target,
            } => {
                self.out.push_str("column_get(");
                self.expr(columns, 0)?;
                self.out.push(',');
                self.expr(name, 0)?;
                self.cast_target(target);
                Ok(())
            }
            Expr::GetFormat { kind, region } => self.call_with_keyword("get_format", kind.name(), &[region]),
            _ => Err(Error::unsupported("this kind of stored expression")),
        }
    }

    /// Writes `name(KEYWORD,a,b)`. Outside of views the keyword is in backticks.
    fn call_with_keyword(&mut self, name: &str, keyword: &str, arguments: &[&Expr]) -> Result<()> {
        let _ = match self.view {
            Some(_) => write!(self.out, "{name}({keyword}"),
            None => write!(self.out, "{name}(`{keyword}`"),
        };
        for argument in arguments {
            self.out.push(',');
            self.expr(argument, 0)?;
        }
        self.out.push(')');
        Ok(())
    }
}
