//! Functions: with arguments in parentheses, or with words between them.

use std::fmt::Write;

use sqlparser::ast::{
    CastKind, DataType, ExactNumberInfo, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments,
    TrimWhereField,
};

use super::writer::{Writer, unit};
use crate::error::{Error, Result};

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
    pub fn function(&mut self, function: &Function) -> Result<()> {
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

    /// CAST, CONVERT, SUBSTRING, TRIM, POSITION, EXTRACT.
    pub fn call_with_words(&mut self, expr: &Expr) -> Result<()> {
        match expr {
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
            _ => Err(Error::unsupported("this kind of stored expression")),
        }
    }
}
