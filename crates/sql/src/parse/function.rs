//! Function calls: the plain ones, and those with words among their arguments.

use sqlparser::ast::{
    CastKind, CharacterLength, DataType, DateTimeField, DuplicateTreatment, ExactNumberInfo, Expr,
    ExtractSyntax, Function, FunctionArg, FunctionArgExpr, FunctionArgumentClause, FunctionArgumentList,
    FunctionArguments, Ident, ObjectName, OrderByExpr, TimezoneInfo, TrimWhereField, Value, ValueWithSpan,
};
use sqlparser::tokenizer::Span;

use super::lexer::Token;
use super::parser::Parser;
use super::window::window_arguments;
use crate::error::{Error, Result};

pub(super) fn function(name: &str, args: FunctionArguments) -> Function {
    Function {
        name: ObjectName::from(vec![Ident::new(name)]),
        uses_odbc_syntax: false,
        parameters: FunctionArguments::None,
        args,
        filter: None,
        null_treatment: None,
        over: None,
        within_group: Vec::new(),
    }
}

pub(super) fn list(args: Vec<FunctionArg>) -> FunctionArguments {
    FunctionArguments::List(FunctionArgumentList {
        duplicate_treatment: None,
        args,
        clauses: Vec::new(),
    })
}

pub(super) fn argument(expr: Expr) -> FunctionArg {
    FunctionArg::Unnamed(FunctionArgExpr::Expr(expr))
}

/// `name(arguments)`
pub(super) fn call(name: &str, arguments: Vec<Expr>) -> Expr {
    Expr::Function(function(
        name,
        list(arguments.into_iter().map(argument).collect()),
    ))
}

/// `CURRENT_TIMESTAMP`
pub(super) fn call_without_parentheses(name: &str) -> Expr {
    Expr::Function(function(name, FunctionArguments::None))
}

/// The unit of an INTERVAL, of EXTRACT and of TIMESTAMPADD.
pub(super) fn interval_unit(word: &[u8]) -> Option<DateTimeField> {
    let mut upper = word.to_ascii_uppercase();
    // ODBC's names.
    if upper.starts_with(b"SQL_TSI_") {
        upper.drain(..8);
    }
    Some(match upper.as_slice() {
        b"MICROSECOND" | b"FRAC_SECOND" => DateTimeField::Microsecond,
        b"SECOND" => DateTimeField::Second,
        b"MINUTE" => DateTimeField::Minute,
        b"HOUR" => DateTimeField::Hour,
        b"DAY" => DateTimeField::Day,
        b"WEEK" => DateTimeField::Week(None),
        b"MONTH" => DateTimeField::Month,
        b"QUARTER" => DateTimeField::Quarter,
        b"YEAR" => DateTimeField::Year,
        b"SECOND_MICROSECOND"
        | b"MINUTE_MICROSECOND"
        | b"MINUTE_SECOND"
        | b"HOUR_MICROSECOND"
        | b"HOUR_SECOND"
        | b"HOUR_MINUTE"
        | b"DAY_MICROSECOND"
        | b"DAY_SECOND"
        | b"DAY_MINUTE"
        | b"DAY_HOUR"
        | b"YEAR_MONTH" => DateTimeField::Custom(Ident::new(String::from_utf8_lossy(&upper).into_owned())),
        _ => return None,
    })
}

/// Reserved words that are functions all the same.
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
    /// A word followed by `(`.
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
                let subquery = Box::new(self.subquery()?);
                return Ok(Expr::Exists {
                    subquery,
                    negated: false,
                });
            }
            "INTERVAL" => return self.interval(),
            "MATCH" => return Err(Error::unsupported("FULLTEXT search")),
            "JSON_TABLE" => return Err(Error::unsupported("JSON_TABLE")),
            "ROW" => {
                self.advance();
                return Ok(Expr::Tuple(self.parenthesized(Self::expr)?));
            }
            "GROUP_CONCAT" => return self.group_concat(),
            "CHAR" => return self.char_function(),
            "TIMESTAMPADD" | "TIMESTAMPDIFF" => return self.timestamp_function(),
            "GET_FORMAT" => return self.get_format(),
            "BINARY" | "CASE" | "NOT" => return self.reserved_operand(),
            "VALUES" | "VALUE" => {
                self.advance();
                self.expect(&Token::LeftParen)?;
                let column = self.expr()?;
                self.expect(&Token::RightParen)?;
                return Ok(call("VALUES", vec![column]));
            }
            "DEFAULT" => {
                self.advance();
                let arguments = self.parenthesized(Self::expr)?;
                return Ok(call("DEFAULT", arguments));
            }
            _ if reserved && !RESERVED_FUNCTIONS.contains(&word.as_str()) => return Err(self.error()),
            _ => {}
        }
        if let Some(arguments) = window_arguments(&word) {
            return self.window_function(&word, arguments);
        }
        let token = self.advance();
        let name = self.word_text(&token);
        self.function_named(name)
    }

    /// `BINARY (…)`, `CASE (…) …`, `NOT (…)`: no functions at all.
    fn reserved_operand(&mut self) -> Result<Expr> {
        if self.is_word("CASE") {
            return self.case();
        }
        if self.is_word("BINARY") {
            self.advance();
            let expr = Box::new(self.operand()?);
            return Ok(Expr::Cast {
                kind: CastKind::Cast,
                expr,
                data_type: DataType::Binary(None),
                format: None,
            });
        }
        if self
            .sql_mode()
            .contains(crate::session::SqlMode::HIGH_NOT_PRECEDENCE)
        {
            self.advance();
            let expr = Box::new(self.operand()?);
            return Ok(Expr::UnaryOp {
                op: sqlparser::ast::UnaryOperator::BangNot,
                expr,
            });
        }
        Err(self.error())
    }

    /// The arguments of a function whose name has been taken.
    pub(super) fn function_named(&mut self, name: String) -> Result<Expr> {
        self.expect(&Token::LeftParen)?;
        let mut arguments = FunctionArgumentList {
            duplicate_treatment: None,
            args: Vec::new(),
            clauses: Vec::new(),
        };
        if self.is(&Token::Star) && is_aggregate(&name) {
            self.advance();
            arguments
                .args
                .push(FunctionArg::Unnamed(FunctionArgExpr::Wildcard));
        } else if !self.is(&Token::RightParen) {
            if is_aggregate(&name) {
                if self.accept_word("DISTINCT") {
                    arguments.duplicate_treatment = Some(DuplicateTreatment::Distinct);
                } else if self.accept_word("ALL") {
                    arguments.duplicate_treatment = Some(DuplicateTreatment::All);
                }
            }
            arguments.args = self.comma_separated(|parser| Ok(argument(parser.expr()?)))?;
            if name.eq_ignore_ascii_case("JSON_ARRAYAGG") && self.is_word("ORDER") {
                self.expect_words(&["ORDER", "BY"])?;
                arguments.clauses.push(FunctionArgumentClause::OrderBy(
                    self.comma_separated(Self::order_by_item)?,
                ));
            }
        }
        self.expect(&Token::RightParen)?;
        let mut call = function(&name, FunctionArguments::List(arguments));
        if is_aggregate(&name) {
            call.over = self.over()?;
        } else if self.is_word("OVER") {
            return Err(self.error());
        }
        Ok(Expr::Function(call))
    }

    fn group_concat(&mut self) -> Result<Expr> {
        let token = self.advance();
        let name = self.word_text(&token);
        self.expect(&Token::LeftParen)?;
        let duplicate_treatment = self
            .accept_word("DISTINCT")
            .then_some(DuplicateTreatment::Distinct);
        let args = self.comma_separated(|parser| Ok(argument(parser.expr()?)))?;
        let mut clauses = Vec::new();
        if self.accept_words(&["ORDER", "BY"]) {
            let items: Vec<OrderByExpr> = self.comma_separated(Self::order_by_item)?;
            clauses.push(FunctionArgumentClause::OrderBy(items));
        }
        if self.accept_word("SEPARATOR") {
            let value = Value::SingleQuotedString(self.text()?);
            clauses.push(FunctionArgumentClause::Separator(ValueWithSpan {
                value,
                span: Span::empty(),
            }));
        }
        if self.accept_word("LIMIT") {
            let first = self.expr()?;
            if self.is(&Token::Comma) || self.is_word("OFFSET") {
                return Err(Error::unsupported("GROUP_CONCAT with an offset"));
            }
            clauses.push(FunctionArgumentClause::Limit(first));
        }
        self.expect(&Token::RightParen)?;
        let mut function = function(
            &name,
            FunctionArguments::List(FunctionArgumentList {
                duplicate_treatment,
                args,
                clauses,
            }),
        );
        function.over = self.over()?;
        Ok(Expr::Function(function))
    }

    /// `CHAR(n, … [USING charset])`
    fn char_function(&mut self) -> Result<Expr> {
        self.advance();
        self.expect(&Token::LeftParen)?;
        let arguments = self.comma_separated(Self::expr)?;
        let charset = if self.accept_word("USING") {
            Some(self.collation_name()?)
        } else {
            None
        };
        self.expect(&Token::RightParen)?;
        let expr = call("CHAR", arguments);
        Ok(match charset {
            None => expr,
            Some(charset) => converted(expr, charset),
        })
    }

    fn timestamp_function(&mut self) -> Result<Expr> {
        let token = self.advance();
        let name = self.word_text(&token);
        self.expect(&Token::LeftParen)?;
        let unit = interval_unit(self.current_text()).ok_or_else(|| self.error())?;
        self.advance();
        let mut arguments = vec![Expr::Identifier(Ident::new(unit.to_string()))];
        for _ in 0..2 {
            self.expect(&Token::Comma)?;
            arguments.push(self.expr()?);
        }
        self.expect(&Token::RightParen)?;
        Ok(call(&name, arguments))
    }

    fn get_format(&mut self) -> Result<Expr> {
        let token = self.advance();
        let name = self.word_text(&token);
        self.expect(&Token::LeftParen)?;
        let Some(kind) = self.accept_any_word(&["DATE", "TIME", "DATETIME", "TIMESTAMP"]) else {
            return Err(self.error());
        };
        self.expect(&Token::Comma)?;
        let region = self.expr()?;
        self.expect(&Token::RightParen)?;
        Ok(call(&name, vec![Expr::Identifier(Ident::new(kind)), region]))
    }

    fn extract(&mut self) -> Result<Expr> {
        self.advance();
        self.expect(&Token::LeftParen)?;
        let field = interval_unit(self.current_text()).ok_or_else(|| self.error())?;
        self.advance();
        self.expect_word("FROM")?;
        let expr = Box::new(self.expr()?);
        self.expect(&Token::RightParen)?;
        Ok(Expr::Extract {
            field,
            syntax: ExtractSyntax::From,
            expr,
        })
    }

    /// `POSITION(a IN b)`
    fn position_function(&mut self) -> Result<Expr> {
        self.advance();
        self.expect(&Token::LeftParen)?;
        let expr = Box::new(self.operand()?);
        self.expect_word("IN")?;
        let r#in = Box::new(self.expr()?);
        self.expect(&Token::RightParen)?;
        Ok(Expr::Position { expr, r#in })
    }

    fn substring(&mut self) -> Result<Expr> {
        let shorthand = self.is_word("SUBSTR");
        self.advance();
        self.expect(&Token::LeftParen)?;
        let expr = Box::new(self.expr()?);
        let special = self.accept(&Token::Comma);
        if !special {
            self.expect_word("FROM")?;
        }
        let substring_from = Some(Box::new(self.expr()?));
        let more = if special {
            self.accept(&Token::Comma)
        } else {
            self.accept_word("FOR")
        };
        let substring_for = if more { Some(Box::new(self.expr()?)) } else { None };
        self.expect(&Token::RightParen)?;
        Ok(Expr::Substring {
            expr,
            substring_from,
            substring_for,
            special,
            shorthand,
        })
    }

    fn trim(&mut self) -> Result<Expr> {
        self.advance();
        self.expect(&Token::LeftParen)?;
        let trim_where = self
            .accept_any_word(&["LEADING", "TRAILING", "BOTH"])
            .map(|word| match word {
                "LEADING" => TrimWhereField::Leading,
                "TRAILING" => TrimWhereField::Trailing,
                _ => TrimWhereField::Both,
            });
        let (trim_what, expr) = if trim_where.is_some() && self.accept_word("FROM") {
            (None, self.expr()?)
        } else {
            let first = self.expr()?;
            if self.accept_word("FROM") {
                (Some(Box::new(first)), self.expr()?)
            } else if trim_where.is_some() {
                return Err(self.error());
            } else {
                (None, first)
            }
        };
        self.expect(&Token::RightParen)?;
        Ok(Expr::Trim {
            trim_where,
            trim_what,
            expr: Box::new(expr),
            trim_characters: None,
        })
    }

    fn cast(&mut self) -> Result<Expr> {
        self.advance();
        self.expect(&Token::LeftParen)?;
        let expr = self.expr()?;
        self.expect_word("AS")?;
        let result = self.cast_target(expr)?;
        self.expect(&Token::RightParen)?;
        Ok(result)
    }

    fn convert(&mut self) -> Result<Expr> {
        self.advance();
        self.expect(&Token::LeftParen)?;
        let expr = self.expr()?;
        let result = if self.accept_word("USING") {
            let charset = self.collation_name()?;
            converted(expr, charset)
        } else {
            self.expect(&Token::Comma)?;
            self.cast_target(expr)?
        };
        self.expect(&Token::RightParen)?;
        Ok(result)
    }

    /// The type of CAST, applied.
    fn cast_target(&mut self, expr: Expr) -> Result<Expr> {
        let mut charset = None;
        let data_type = if self.accept_word("BINARY") {
            DataType::Binary(self.optional_length()?)
        } else if self.is_any_word(&["CHAR", "CHARACTER", "NCHAR", "VARCHAR", "NATIONAL"]) {
            if self.accept_word("NATIONAL") || self.is_word("NCHAR") {
                charset = Some("utf8mb3".to_owned());
            }
            self.advance();
            let length = self.optional_length()?;
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
            if self.accept_word("BINARY") {
                return Err(Error::unsupported("CAST(… AS CHAR … BINARY)"));
            }
            DataType::Char(length.map(|length| CharacterLength::IntegerLength { length, unit: None }))
        } else if self.accept_word("SIGNED") {
            if !self.accept_word("INTEGER") {
                self.accept_word("INT");
            }
            DataType::Signed
        } else if self.accept_word("UNSIGNED") {
            if !self.accept_word("INTEGER") {
                self.accept_word("INT");
            }
            DataType::Unsigned
        } else if self.accept_word("INTEGER") || self.accept_word("INT") {
            DataType::Signed
        } else if self.accept_word("DECIMAL") || self.accept_word("DEC") || self.accept_word("NUMERIC") {
            DataType::Decimal(self.optional_precision()?)
        } else if self.accept_word("DOUBLE") {
            self.accept_word("PRECISION");
            DataType::Double(self.optional_precision()?)
        } else if self.accept_word("REAL") {
            DataType::Double(self.optional_precision()?)
        } else if self.accept_word("FLOAT") {
            DataType::Float(ExactNumberInfo::None)
        } else if self.accept_word("DATE") {
            DataType::Date
        } else if self.accept_word("DATETIME") {
            DataType::Datetime(self.optional_length()?)
        } else if self.accept_word("TIME") {
            DataType::Time(self.optional_length()?, TimezoneInfo::None)
        } else if self.accept_word("TIMESTAMP") {
            DataType::Timestamp(self.optional_length()?, TimezoneInfo::None)
        } else if self.accept_word("JSON") {
            return Err(Error::unsupported("CAST(… AS JSON)"));
        } else if self.is_any_word(&["INET4", "INET6", "UUID"]) {
            return Err(Error::unsupported("this type"));
        } else {
            return Err(self.unknown_type());
        };
        let cast = Expr::Cast {
            kind: CastKind::Cast,
            expr: Box::new(expr),
            data_type,
            format: None,
        };
        Ok(match charset {
            Some(charset) => match cast {
                // CAST(x AS CHAR(n) CHARACTER SET c): the one form of Convert that has both.
                Expr::Cast { expr, data_type, .. } => Expr::Convert {
                    is_try: false,
                    expr,
                    data_type: Some(data_type),
                    charset: Some(ObjectName::from(vec![Ident::new(charset)])),
                    target_before_value: false,
                    styles: Vec::new(),
                },
                other => other,
            },
            None => cast,
        })
    }

    fn optional_length(&mut self) -> Result<Option<u64>> {
        if !self.accept(&Token::LeftParen) {
            return Ok(None);
        }
        let length = self.number()?;
        self.expect(&Token::RightParen)?;
        Ok(Some(length))
    }

    fn optional_precision(&mut self) -> Result<ExactNumberInfo> {
        if !self.accept(&Token::LeftParen) {
            return Ok(ExactNumberInfo::None);
        }
        let precision = self.number()?;
        let info = if self.accept(&Token::Comma) {
            let scale = i64::try_from(self.number()?).unwrap_or(i64::MAX);
            ExactNumberInfo::PrecisionAndScale(precision, scale)
        } else {
            ExactNumberInfo::Precision(precision)
        };
        self.expect(&Token::RightParen)?;
        Ok(info)
    }
}

/// `CONVERT(expr USING charset)`
fn converted(expr: Expr, charset: String) -> Expr {
    Expr::Convert {
        is_try: false,
        expr: Box::new(expr),
        data_type: None,
        charset: Some(ObjectName::from(vec![Ident::new(charset)])),
        target_before_value: false,
        styles: Vec::new(),
    }
}

/// Whether a function is about several rows.
pub(crate) fn is_aggregate(name: &str) -> bool {
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
