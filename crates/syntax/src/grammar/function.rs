//! Function calls: plain ones, and those with keywords among their arguments.

use paceline_types::FixedBinaryType;

use super::parser::Parser;
use super::window::window_arguments;
use crate::ast::{
    ArgumentName, Arguments, CastType, DynamicColumn, DynamicType, Expr, FunctionCall, Literal, TemporalKind,
    TrimSide,
};
use crate::error::{Error, Result};
use crate::lexer::Token;

/// Reserved words that are also names of functions.
const RESERVED_FUNCTIONS: &[&str] = &[
    "CHAR",
    "CURRENT_DATE",
    "CURRENT_ROLE",
    "CURRENT_TIME",
    "CURRENT_TIMESTAMP",
    "CURRENT_USER",
    "IF",
    "INSERT",
    "LEFT",
    "LOCALTIME",
    "LOCALTIMESTAMP",
    "MOD",
    "REPEAT",
    "REPLACE",
    "RIGHT",
    "ROW_NUMBER",
    "UTC_DATE",
    "UTC_TIME",
    "UTC_TIMESTAMP",
];

impl Parser<'_> {
    /// Parses a word followed by `(`.
    pub(super) fn function(&mut self) -> Result<Expr> {
        let reserved = matches!(self.peek(), Token::Word { reserved: true });
        let word = String::from_utf8_lossy(self.current_text()).to_ascii_uppercase();
        match word.as_str() {
            "CAST" => return self.cast(),
            "CONVERT" => return self.convert(),
            "EXTRACT" => return self.extract(),
            "POSITION" => return self.position_function(),
            "SUBSTRING" | "SUBSTR" | "MID" => return self.substring(),
            "TRIM" => return self.trim(),
            "EXISTS" => {
                self.advance();
                self.features.subqueries += 1;
                return Ok(Expr::Exists(Box::new(self.subquery()?)));
            }
            "INTERVAL" => return self.interval(),
            "MATCH" => return Err(Error::unsupported("FULLTEXT search")),
            "ROW" => {
                self.advance();
                self.expect_token(&Token::LeftParen)?;
                let mut fields = vec![self.expr()?];
                // A row has two fields or more.
                self.expect_token(&Token::Comma)?;
                fields.extend(self.comma_separated(Self::expr)?);
                self.expect_token(&Token::RightParen)?;
                return Ok(Expr::Row(fields));
            }
            "GROUP_CONCAT" => return self.group_concat(),
            "CHAR" => return self.char_function(),
            "WEIGHT_STRING" => return self.weight_string(),
            "NEXTVAL" | "LASTVAL" | "SETVAL" => return self.sequence_function(),
            "TIMESTAMPADD" | "TIMESTAMPDIFF" => return self.timestamp_function(),
            "GET_FORMAT" => return self.get_format(),
            "COLUMN_CREATE" | "COLUMN_ADD" => {
                self.features.dynamic_columns += 1;
                return self.dynamic_columns();
            }
            "COLUMN_GET" => return self.dynamic_column(),
            "COLUMN_DELETE" => return self.dynamic_columns_without(),
            "BINARY" | "CASE" | "NOT" => return self.reserved_operand(),
            "VALUES" | "VALUE" => {
                self.advance();
                self.expect_token(&Token::LeftParen)?;
                let column = self.expr()?;
                self.expect_token(&Token::RightParen)?;
                return Ok(Expr::call("VALUES", vec![column]));
            }
            "DEFAULT" => {
                self.advance();
                let arguments = self.parenthesized(Self::expr)?;
                return Ok(Expr::call("DEFAULT", arguments));
            }
            _ if reserved && !RESERVED_FUNCTIONS.contains(&word.as_str()) => return Err(self.error()),
            _ => {}
        }
        if let Some(arguments) = window_arguments(&word) {
            return self.window_function(&word, arguments);
        }
        let token = self.advance();
        let name = self.word_text(&token);
        self.function_named(None, name)
    }

    /// Parses `BINARY (…)`, `CASE (…) …` or `NOT (…)`, which are not functions.
    fn reserved_operand(&mut self) -> Result<Expr> {
        if self.is_word("CASE") {
            return self.case();
        }
        if self.is_word("BINARY") {
            self.advance();
            return Ok(Expr::Cast {
                operand: Box::new(self.operand()?),
                target: CastType::Binary(None),
            });
        }
        if self
            .sql_mode()
            .contains(paceline_types::SqlMode::HIGH_NOT_PRECEDENCE)
        {
            self.advance();
            return Ok(Expr::negation(self.operand()?));
        }
        Err(self.error())
    }

    /// Parses the arguments of a function whose name has been taken. `database` is that of a stored function.
    pub(super) fn function_named(&mut self, database: Option<String>, name: String) -> Result<Expr> {
        self.expect_token(&Token::LeftParen)?;
        let is_aggregate = database.is_none() && is_aggregate(&name);
        // One with a database is a stored function.
        if database.is_none() {
            self.features.note_function(&name);
        }
        let mut call = FunctionCall::new(name, Vec::new());
        call.database = database;
        if is_aggregate && self.accept(&Token::Star) {
            call.arguments = Arguments::Star;
        } else if !self.is(&Token::RightParen) {
            if is_aggregate {
                call.distinct = self.accept_word("DISTINCT");
                if !call.distinct {
                    self.accept_word("ALL");
                }
            }
            let is_reserved = || {
                let mut reserved = RESERVED_FUNCTIONS.iter();
                reserved.any(|name| call.name.eq_ignore_ascii_case(name))
            };
            // Only functions of libraries have arguments with names.
            if is_aggregate || call.database.is_some() || is_reserved() {
                call.arguments = Arguments::List(self.comma_separated(Self::expr)?);
            } else {
                self.named_arguments(&mut call)?;
            }
            if call.is_named("JSON_ARRAYAGG") && self.is_word("ORDER") {
                self.expect_words(&["ORDER", "BY"])?;
                call.order_by = self.comma_separated(Self::order_by_item)?;
            }
        }
        self.expect_token(&Token::RightParen)?;
        if is_aggregate {
            call.over = self.over()?;
        } else if self.is_word("OVER") {
            let refusal = self.error();
            if call.database.is_some() {
                return Err(refusal);
            }
            call.over_refusal = Some(Box::new(refusal));
            call.over = self.over()?;
        }
        Ok(Expr::Call(Box::new(call)))
    }

    /// Parses arguments, each with an optional name: `expr [[AS] name], …`.
    fn named_arguments(&mut self, call: &mut FunctionCall) -> Result<()> {
        let names = &mut call.argument_names;
        let arguments = self.comma_separated(|parser| {
            let start = parser.position();
            let argument = parser.expr()?;
            let is_plain = matches!(
                argument,
                Expr::Column(_) | Expr::Parameter(_) | Expr::Literal(Literal::Number(_))
            );
            let text = (!is_plain).then(|| parser.text_since(start));
            let is_named = !parser.is(&Token::Comma) && !parser.is(&Token::RightParen);
            let given = match is_named {
                true => parser.select_alias()?,
                false => None,
            };
            names.push(match (given, text) {
                (Some(given), _) => ArgumentName::Given(given),
                (None, Some(text)) => ArgumentName::Text(text.into()),
                (None, None) => ArgumentName::Printed,
            });
            Ok(argument)
        })?;
        call.arguments = Arguments::List(arguments);
        Ok(())
    }

    fn group_concat(&mut self) -> Result<Expr> {
        let token = self.advance();
        let mut call = FunctionCall::new(self.word_text(&token), Vec::new());
        self.expect_token(&Token::LeftParen)?;
        call.distinct = self.accept_word("DISTINCT");
        call.arguments = Arguments::List(self.comma_separated(Self::expr)?);
        if self.accept_words(&["ORDER", "BY"]) {
            call.order_by = self.comma_separated(Self::order_by_item)?;
        }
        if self.accept_word("SEPARATOR") {
            call.separator = Some(self.text()?);
        }
        if self.accept_word("LIMIT") {
            call.limit = Some(self.expr()?);
            if self.is(&Token::Comma) || self.is_word("OFFSET") {
                return Err(Error::unsupported("GROUP_CONCAT with an offset"));
            }
        }
        self.expect_token(&Token::RightParen)?;
        call.over = self.over()?;
        Ok(Expr::Call(Box::new(call)))
    }

    /// Parses `CHAR(n, … [USING charset])`.
    fn char_function(&mut self) -> Result<Expr> {
        self.advance();
        self.expect_token(&Token::LeftParen)?;
        let arguments = self.comma_separated(Self::expr)?;
        let charset = if self.accept_word("USING") {
            Some(self.collation_name()?)
        } else {
            None
        };
        self.expect_token(&Token::RightParen)?;
        let expr = Expr::call("CHAR", arguments);
        Ok(match charset {
            None => expr,
            Some(charset) => converted(expr, charset),
        })
    }

    fn timestamp_function(&mut self) -> Result<Expr> {
        let is_sum = self.is_word("TIMESTAMPADD");
        self.advance();
        self.expect_token(&Token::LeftParen)?;
        let unit = self.interval_unit()?;
        self.expect_token(&Token::Comma)?;
        let first = Box::new(self.expr()?);
        self.expect_token(&Token::Comma)?;
        let second = Box::new(self.expr()?);
        self.expect_token(&Token::RightParen)?;
        Ok(if is_sum {
            Expr::TimestampAdd {
                unit,
                amount: first,
                date: second,
            }
        } else {
            Expr::TimestampDiff {
                unit,
                from: first,
                to: second,
            }
        })
    }

    fn get_format(&mut self) -> Result<Expr> {
        self.advance();
        self.expect_token(&Token::LeftParen)?;
        let kind = match self.accept_any_word(&["DATE", "TIME", "DATETIME", "TIMESTAMP"]) {
            Some("DATE") => TemporalKind::Date,
            Some("TIME") => TemporalKind::Time,
            Some("DATETIME") => TemporalKind::DateTime,
            Some(_) => TemporalKind::Timestamp,
            None => return Err(self.error()),
        };
        self.expect_token(&Token::Comma)?;
        let region = Box::new(self.expr()?);
        self.expect_token(&Token::RightParen)?;
        Ok(Expr::GetFormat { kind, region })
    }

    /// Parses `COLUMN_CREATE(name, value [AS type], …)` or `COLUMN_ADD(base, name, value [AS type], …)`.
    fn dynamic_columns(&mut self) -> Result<Expr> {
        let has_base = self.is_word("COLUMN_ADD");
        self.advance();
        self.expect_token(&Token::LeftParen)?;
        let mut base = None;
        if has_base {
            base = Some(Box::new(self.expr()?));
            self.expect_token(&Token::Comma)?;
        }
        let columns = self.comma_separated(|parser| {
            let name = parser.expr()?;
            parser.expect_token(&Token::Comma)?;
            let value = parser.expr()?;
            let stored_as = match parser.accept_word("AS") {
                true => Some(parser.dynamic_type()?),
                false => None,
            };
            Ok(DynamicColumn {
                name,
                value,
                stored_as,
            })
        })?;
        self.expect_token(&Token::RightParen)?;
        Ok(Expr::DynamicColumns { base, columns })
    }

    /// Parses `COLUMN_DELETE(base, name, …)` as a COLUMN_ADD of NULLs, as MariaDB does.
    fn dynamic_columns_without(&mut self) -> Result<Expr> {
        self.advance();
        self.expect_token(&Token::LeftParen)?;
        let base = Some(Box::new(self.expr()?));
        self.expect_token(&Token::Comma)?;
        let names = self.comma_separated(Self::expr)?;
        self.expect_token(&Token::RightParen)?;
        let columns = names.into_iter().map(|name| DynamicColumn {
            name,
            value: Expr::Literal(Literal::Null),
            // SHOW CREATE VIEW shows it.
            stored_as: Some(DynamicType::Signed),
        });
        Ok(Expr::DynamicColumns {
            base,
            columns: columns.collect(),
        })
    }

    /// Parses `COLUMN_GET(columns, name AS target)`.
    fn dynamic_column(&mut self) -> Result<Expr> {
        self.advance();
        self.expect_token(&Token::LeftParen)?;
        let columns = Box::new(self.expr()?);
        self.expect_token(&Token::Comma)?;
        let name = Box::new(self.expr()?);
        self.expect_word("AS")?;
        let target = self.cast_type()?;
        self.expect_token(&Token::RightParen)?;
        Ok(Expr::DynamicColumn {
            columns,
            name,
            target,
        })
    }

    /// Parses the type of a dynamic column. Precisions have no effect.
    fn dynamic_type(&mut self) -> Result<DynamicType> {
        if self.accept_word("UNSIGNED") {
            return match self.accept_any_word(&["INTEGER", "INT"]) {
                Some(_) => Ok(DynamicType::Unsigned),
                None => Err(self.error()),
            };
        }
        let is_national = self.accept_word("NATIONAL") || self.is_word("NCHAR");
        if is_national || self.is_any_word(&["CHAR", "CHARACTER"]) {
            if self.accept_any_word(&["CHAR", "CHARACTER", "NCHAR"]).is_none() {
                return Err(self.error());
            }
            return self.dynamic_char(is_national);
        }
        if self.is_any_word(&["DECIMAL", "DEC"]) {
            self.advance();
            self.optional_precision()?;
            return Ok(DynamicType::Decimal);
        }
        let word = self.accept_any_word(&[
            "INTEGER", "INT", "DOUBLE", "REAL", "FLOAT", "DATE", "TIME", "DATETIME",
        ]);
        Ok(match word {
            Some("INTEGER" | "INT") => DynamicType::Signed,
            Some("DOUBLE" | "REAL" | "FLOAT") => DynamicType::Double,
            Some("DATE") => DynamicType::Date,
            Some("TIME") => {
                self.optional_length()?;
                DynamicType::Time
            }
            Some("DATETIME") => {
                self.optional_length()?;
                DynamicType::DateTime
            }
            _ => return Err(self.error()),
        })
    }

    /// Parses the character set and collation of a dynamic column after `CHAR`.
    fn dynamic_char(&mut self, is_national: bool) -> Result<DynamicType> {
        let mut charset = is_national.then(|| "utf8mb3".to_owned());
        if self.accept_words(&["CHARACTER", "SET"])
            || self.accept_words(&["CHAR", "SET"])
            || self.accept_word("CHARSET")
        {
            charset = Some(self.collation_name()?);
        } else if self.accept_word("ASCII") {
            charset = Some("latin1".to_owned());
        } else if self.accept_word("UNICODE") {
            charset = Some("ucs2".to_owned());
        }
        let collation = match self.accept_word("BINARY") {
            true => Some("binary".to_owned()),
            false if self.accept_word("COLLATE") => Some(self.collation_name()?),
            false => None,
        };
        Ok(DynamicType::Char { charset, collation })
    }

    fn extract(&mut self) -> Result<Expr> {
        self.advance();
        self.expect_token(&Token::LeftParen)?;
        let unit = self.interval_unit()?;
        self.expect_word("FROM")?;
        let operand = Box::new(self.expr()?);
        self.expect_token(&Token::RightParen)?;
        Ok(Expr::Extract { unit, operand })
    }

    /// Parses `POSITION(a IN b)` as `LOCATE(a, b)`.
    fn position_function(&mut self) -> Result<Expr> {
        self.advance();
        self.expect_token(&Token::LeftParen)?;
        let part = self.operand()?;
        self.expect_word("IN")?;
        let text = self.expr()?;
        self.expect_token(&Token::RightParen)?;
        Ok(Expr::call("LOCATE", vec![part, text]))
    }

    /// Parses `SUBSTRING(text, from[, length])` or `SUBSTRING(text FROM from [FOR length])`.
    fn substring(&mut self) -> Result<Expr> {
        self.advance();
        self.expect_token(&Token::LeftParen)?;
        let mut arguments = vec![self.expr()?];
        let has_commas = self.accept(&Token::Comma);
        if !has_commas {
            self.expect_word("FROM")?;
        }
        arguments.push(self.expr()?);
        let has_length = if has_commas {
            self.accept(&Token::Comma)
        } else {
            self.accept_word("FOR")
        };
        if has_length {
            arguments.push(self.expr()?);
        }
        self.expect_token(&Token::RightParen)?;
        Ok(Expr::call("SUBSTR", arguments))
    }

    fn trim(&mut self) -> Result<Expr> {
        self.advance();
        self.expect_token(&Token::LeftParen)?;
        let side = match self.accept_any_word(&["LEADING", "TRAILING", "BOTH"]) {
            Some("LEADING") => Some(TrimSide::Leading),
            Some("TRAILING") => Some(TrimSide::Trailing),
            Some(_) => Some(TrimSide::Both),
            None => None,
        };
        let (what, text) = if side.is_some() && self.accept_word("FROM") {
            (None, self.expr()?)
        } else {
            let first = self.expr()?;
            if self.accept_word("FROM") {
                (Some(Box::new(first)), self.expr()?)
            } else if side.is_some() {
                return Err(self.error());
            } else {
                (None, first)
            }
        };
        self.expect_token(&Token::RightParen)?;
        Ok(Expr::Trim {
            side,
            what,
            text: Box::new(text),
        })
    }

    fn cast(&mut self) -> Result<Expr> {
        self.advance();
        self.expect_token(&Token::LeftParen)?;
        let operand = Box::new(self.expr()?);
        self.expect_word("AS")?;
        let target = self.cast_type()?;
        self.expect_token(&Token::RightParen)?;
        Ok(Expr::Cast { operand, target })
    }

    fn convert(&mut self) -> Result<Expr> {
        self.advance();
        self.expect_token(&Token::LeftParen)?;
        let expr = self.expr()?;
        let result = if self.accept_word("USING") {
            let charset = self.collation_name()?;
            converted(expr, charset)
        } else {
            self.expect_token(&Token::Comma)?;
            Expr::Cast {
                operand: Box::new(expr),
                target: self.cast_type()?,
            }
        };
        self.expect_token(&Token::RightParen)?;
        Ok(result)
    }

    /// Parses the type of a CAST.
    fn cast_type(&mut self) -> Result<CastType> {
        Ok(if self.accept_word("BINARY") {
            CastType::Binary(self.optional_length()?)
        } else if self.is_any_word(&["CHAR", "CHARACTER", "NCHAR", "VARCHAR", "NATIONAL"]) {
            let is_national = self.accept_word("NATIONAL") || self.is_word("NCHAR");
            self.advance();
            let length = self.optional_length()?;
            let charset = if self.accept_words(&["CHARACTER", "SET"])
                || self.accept_words(&["CHAR", "SET"])
                || self.accept_word("CHARSET")
            {
                Some(self.collation_name()?)
            } else if self.accept_word("ASCII") {
                Some("latin1".to_owned())
            } else if self.accept_word("UNICODE") {
                Some("ucs2".to_owned())
            } else {
                is_national.then(|| "utf8mb3".to_owned())
            };
            if self.accept_word("BINARY") {
                return Err(Error::unsupported("CAST(… AS CHAR … BINARY)"));
            }
            CastType::Char { length, charset }
        } else if self.accept_word("SIGNED") {
            if !self.accept_word("INTEGER") {
                self.accept_word("INT");
            }
            CastType::Signed
        } else if self.accept_word("UNSIGNED") {
            if !self.accept_word("INTEGER") {
                self.accept_word("INT");
            }
            CastType::Unsigned
        } else if self.accept_word("INTEGER") || self.accept_word("INT") {
            CastType::Signed
        } else if self.accept_word("DECIMAL") || self.accept_word("DEC") || self.accept_word("NUMERIC") {
            let (precision, scale) = self.optional_precision()?;
            CastType::Decimal { precision, scale }
        } else if self.accept_word("DOUBLE") {
            self.accept_word("PRECISION");
            CastType::Double(self.optional_digits()?)
        } else if self.accept_word("REAL") {
            CastType::Double(self.optional_digits()?)
        } else if self.accept_word("FLOAT") {
            CastType::Float
        } else if self.accept_word("DATE") {
            CastType::Date
        } else if self.accept_word("TIME") {
            CastType::Time(self.optional_length()?)
        } else if self.accept_word("DATETIME") || self.accept_word("TIMESTAMP") {
            CastType::DateTime(self.optional_length()?)
        } else if self.accept_word("JSON") {
            return Err(Error::unsupported("CAST(… AS JSON)"));
        } else if self.accept_word("UUID") {
            CastType::FixedBinary(FixedBinaryType::Uuid)
        } else if self.accept_word("INET6") {
            CastType::FixedBinary(FixedBinaryType::Inet6)
        } else if self.accept_word("INET4") {
            CastType::FixedBinary(FixedBinaryType::Inet4)
        } else {
            return Err(self.unknown_type());
        })
    }

    fn optional_length(&mut self) -> Result<Option<u64>> {
        if !self.accept(&Token::LeftParen) {
            return Ok(None);
        }
        let length = self.number()?;
        self.expect_token(&Token::RightParen)?;
        Ok(Some(length))
    }

    /// Parses `[(precision[, scale])]`.
    /// Parses `[(precision, scale)]`.
    fn optional_digits(&mut self) -> Result<Option<(u64, u64)>> {
        if !self.accept(&Token::LeftParen) {
            return Ok(None);
        }
        let precision = self.number()?;
        self.expect_token(&Token::Comma)?;
        let scale = self.number()?;
        self.expect_token(&Token::RightParen)?;
        Ok(Some((precision, scale)))
    }

    fn optional_precision(&mut self) -> Result<(Option<u64>, Option<u64>)> {
        if !self.accept(&Token::LeftParen) {
            return Ok((None, None));
        }
        let precision = self.number()?;
        let scale = if self.accept(&Token::Comma) {
            Some(self.number()?)
        } else {
            None
        };
        self.expect_token(&Token::RightParen)?;
        Ok((Some(precision), scale))
    }
}

/// Returns `CONVERT(expr USING charset)`.
fn converted(expr: Expr, charset: String) -> Expr {
    Expr::ConvertUsing {
        operand: Box::new(expr),
        charset,
    }
}

/// Returns whether a function is an aggregate.
pub fn is_aggregate(name: &str) -> bool {
    const NAMES: &[&str] = &[
        "COUNT",
        "SUM",
        "MIN",
        "MAX",
        "AVG",
        "STD",
        "STDDEV",
        "STDDEV_POP",
        "STDDEV_SAMP",
        "VAR_POP",
        "VAR_SAMP",
        "VARIANCE",
        "BIT_AND",
        "BIT_OR",
        "BIT_XOR",
        "JSON_ARRAYAGG",
        "JSON_OBJECTAGG",
    ];
    NAMES.iter().any(|known| known.eq_ignore_ascii_case(name))
}
