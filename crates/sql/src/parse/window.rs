//! Window functions: `f(…) OVER (…)`, `OVER name`, and the definitions of WINDOW.
//!
//! The functions that exist with OVER only have a grammar of their own, as in MariaDB: how many arguments they take is a matter of syntax, and without
//! OVER they are a syntax error. `MEDIAN(x) OVER (…)` stands as `PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY x) OVER (…)`, which it is.
//!
//! A frame's bound is a literal; EXCLUDE can be written, but MariaDB has EXCLUDE NO OTHERS only (4022 for the rest).

use paceline_types::error_code::ER_FRAME_EXCLUSION_NOT_SUPPORTED;
use sqlparser::ast::{
    Expr, Function, NamedWindowDefinition, NamedWindowExpr, OrderByExpr, OrderByOptions, Value, WindowFrame,
    WindowFrameBound, WindowFrameUnits, WindowSpec, WindowType,
};

use super::expression::value;
use super::function::{argument, function, list};
use super::lexer::Token;
use super::parser::Parser;
use crate::error::{Error, Result};

/// What stands in the parentheses of a window function.
#[derive(Clone, Copy)]
pub(super) enum WindowArguments {
    /// From so many expressions to so many.
    Expressions(usize, usize),
    /// MEDIAN: what is ordered by.
    Median,
    /// PERCENTILE_CONT, PERCENTILE_DISC: the fraction; what is ordered by follows in WITHIN GROUP.
    Percentile,
}

/// The arguments of a function that exists with OVER only; `name` in capitals.
pub(super) fn window_arguments(name: &str) -> Option<WindowArguments> {
    use WindowArguments::{Expressions, Median, Percentile};
    Some(match name {
        "ROW_NUMBER" | "RANK" | "DENSE_RANK" | "PERCENT_RANK" | "CUME_DIST" => Expressions(0, 0),
        "NTILE" | "FIRST_VALUE" | "LAST_VALUE" => Expressions(1, 1),
        "LAG" | "LEAD" => Expressions(1, 2),
        "NTH_VALUE" => Expressions(2, 2),
        "MEDIAN" => Median,
        "PERCENTILE_CONT" | "PERCENTILE_DISC" => Percentile,
        _ => return None,
    })
}

fn ordered_by(expr: Expr) -> OrderByExpr {
    OrderByExpr {
        expr,
        options: OrderByOptions {
            sort: None,
            nulls_first: None,
        },
        with_fill: None,
    }
}

impl Parser<'_> {
    /// A function that exists with OVER only; its name is the current token.
    pub(super) fn window_function(&mut self, name: &str, arguments: WindowArguments) -> Result<Expr> {
        self.advance();
        self.expect(&Token::LeftParen)?;
        let expressions = match arguments {
            WindowArguments::Expressions(fewest, most) => self.window_expressions(fewest, most)?,
            WindowArguments::Median | WindowArguments::Percentile => vec![self.expr()?],
        };
        self.expect(&Token::RightParen)?;
        let (name, expressions, within_group) = match arguments {
            WindowArguments::Expressions(..) => (name, expressions, Vec::new()),
            WindowArguments::Median => {
                let half = value(Value::Number("0.5".to_owned(), false));
                let ordered = expressions.into_iter().map(ordered_by).collect();
                ("PERCENTILE_CONT", vec![half], ordered)
            }
            WindowArguments::Percentile => (name, expressions, vec![self.within_group()?]),
        };
        let arguments = list(expressions.into_iter().map(argument).collect());
        let over = if within_group.is_empty() {
            self.over()?.ok_or_else(|| self.error())?
        } else {
            self.over_partition()?
        };
        Ok(Expr::Function(Function {
            over: Some(over),
            within_group,
            ..function(name, arguments)
        }))
    }

    fn window_expressions(&mut self, fewest: usize, most: usize) -> Result<Vec<Expr>> {
        let mut expressions = Vec::with_capacity(most);
        while expressions.len() < most {
            if expressions.len() >= fewest && (expressions.is_empty() || !self.is(&Token::Comma)) {
                break;
            }
            if !expressions.is_empty() {
                self.expect(&Token::Comma)?;
            }
            expressions.push(self.expr()?);
        }
        Ok(expressions)
    }

    /// `WITHIN GROUP (ORDER BY expr)`
    fn within_group(&mut self) -> Result<OrderByExpr> {
        self.expect_words(&["WITHIN", "GROUP"])?;
        self.expect(&Token::LeftParen)?;
        self.expect_words(&["ORDER", "BY"])?;
        let item = self.order_by_item()?;
        self.expect(&Token::RightParen)?;
        Ok(item)
    }

    /// `OVER ([PARTITION BY …])`
    fn over_partition(&mut self) -> Result<WindowType> {
        self.expect_word("OVER")?;
        self.expect(&Token::LeftParen)?;
        let partition_by = self.partition_by()?;
        self.expect(&Token::RightParen)?;
        Ok(WindowType::WindowSpec(WindowSpec {
            window_name: None,
            partition_by,
            order_by: Vec::new(),
            window_frame: None,
        }))
    }

    /// `OVER …` behind an aggregate, if it is there.
    pub(super) fn over(&mut self) -> Result<Option<WindowType>> {
        if !self.accept_word("OVER") {
            return Ok(None);
        }
        Ok(Some(if self.is(&Token::LeftParen) {
            WindowType::WindowSpec(self.window_spec()?)
        } else {
            WindowType::NamedWindow(self.ident()?)
        }))
    }

    fn partition_by(&mut self) -> Result<Vec<Expr>> {
        if !self.accept_words(&["PARTITION", "BY"]) {
            return Ok(Vec::new());
        }
        // A direction can be written; it tells no partition from another.
        let items = self.comma_separated(Self::order_by_item)?;
        Ok(items.into_iter().map(|item| item.expr).collect())
    }

    fn window_spec(&mut self) -> Result<WindowSpec> {
        self.expect(&Token::LeftParen)?;
        let window_name = if self.is_identifier() {
            Some(self.ident()?)
        } else {
            None
        };
        let partition_by = self.partition_by()?;
        let order_by = if self.accept_words(&["ORDER", "BY"]) {
            self.comma_separated(Self::order_by_item)?
        } else {
            Vec::new()
        };
        let window_frame = if self.is_any_word(&["ROWS", "RANGE"]) {
            Some(self.window_frame()?)
        } else {
            None
        };
        self.expect(&Token::RightParen)?;
        Ok(WindowSpec {
            window_name,
            partition_by,
            order_by,
            window_frame,
        })
    }

    fn window_frame(&mut self) -> Result<WindowFrame> {
        let units = if self.is_word("ROWS") {
            WindowFrameUnits::Rows
        } else {
            WindowFrameUnits::Range
        };
        self.advance();
        let (start_bound, end_bound) = if self.accept_word("BETWEEN") {
            let start = self.window_bound(true)?;
            self.expect_word("AND")?;
            (start, Some(self.window_bound(true)?))
        } else {
            (self.window_bound(false)?, None)
        };
        self.exclusion()?;
        Ok(WindowFrame {
            units,
            start_bound,
            end_bound,
        })
    }

    /// A bound of a frame; FOLLOWING where it `may_follow`: a frame that has one bound ends at the current row.
    fn window_bound(&mut self, may_follow: bool) -> Result<WindowFrameBound> {
        if self.accept_words(&["CURRENT", "ROW"]) {
            return Ok(WindowFrameBound::CurrentRow);
        }
        let offset = if self.accept_word("UNBOUNDED") {
            None
        } else {
            Some(Box::new(self.window_offset()?))
        };
        if self.accept_word("PRECEDING") {
            return Ok(WindowFrameBound::Preceding(offset));
        }
        if !may_follow {
            return Err(self.error());
        }
        self.expect_word("FOLLOWING")?;
        Ok(WindowFrameBound::Following(offset))
    }

    /// A literal.
    fn window_offset(&mut self) -> Result<Expr> {
        let literal = match self.peek() {
            Token::Word { .. } => {
                self.is_any_word(&["NULL", "TRUE", "FALSE"])
                    || (self.is_any_word(&["DATE", "TIME", "TIMESTAMP"])
                        && matches!(self.peek_at(1).token, Token::Text(_)))
            }
            token => matches!(
                token,
                Token::Integer
                    | Token::Decimal
                    | Token::Float
                    | Token::Text(_)
                    | Token::Bytes(_)
                    | Token::National(_)
                    | Token::Hex(_)
                    | Token::Bits(_)
            ),
        };
        if !literal {
            return Err(self.error());
        }
        self.operand()
    }

    /// `EXCLUDE …`
    fn exclusion(&mut self) -> Result<()> {
        if !self.accept_word("EXCLUDE") || self.accept_words(&["NO", "OTHERS"]) {
            return Ok(());
        }
        if self.accept_words(&["CURRENT", "ROW"]) || self.accept_any_word(&["GROUP", "TIES"]).is_some() {
            return Err(Error::new(ER_FRAME_EXCLUSION_NOT_SUPPORTED, &[]));
        }
        Err(self.error())
    }

    /// `name AS (…)` of WINDOW.
    pub(super) fn named_window(&mut self) -> Result<NamedWindowDefinition> {
        let name = self.ident()?;
        self.expect_word("AS")?;
        Ok(NamedWindowDefinition(
            name,
            NamedWindowExpr::WindowSpec(self.window_spec()?),
        ))
    }
}
