//! Window functions: `f(…) OVER (…)`, `OVER name`, and the definitions of WINDOW.
//!
//! Functions that exist only with OVER have a grammar of their own, as in MariaDB: the number of arguments is
//! a matter of syntax, and without OVER they are a syntax error. `MEDIAN(x) OVER (…)` becomes the equivalent
//! `PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY x) OVER (…)`.
//!
//! The bound of a frame is a literal. EXCLUDE is part of the grammar, but MariaDB has only EXCLUDE NO OTHERS
//! (4022 for the rest).

use paceline_types::error_code::ER_FRAME_EXCLUSION_NOT_SUPPORTED;

use super::parser::Parser;
use crate::ast::{
    Expr, FrameBound, FrameUnits, FunctionCall, NamedWindow, OrderItem, Over, WindowFrame, WindowSpec,
};
use crate::error::{Error, Result};
use crate::lexer::Token;

/// Contents of the parentheses of a window function.
#[derive(Clone, Copy)]
pub(super) enum WindowArguments {
    /// Minimum and maximum number of expressions.
    Expressions(usize, usize),
    /// MEDIAN: the sort key.
    Median,
    /// PERCENTILE_CONT, PERCENTILE_DISC: the fraction. The sort key follows in WITHIN GROUP.
    Percentile,
}

/// Returns the arguments of a function that exists only with OVER. `name` is in capitals.
pub(super) fn window_arguments(name: &str) -> Option<WindowArguments> {
    use WindowArguments::{Expressions, Median, Percentile};
    Some(match name {
        "ROW_NUMBER" | "RANK" | "DENSE_RANK" | "PERCENT_RANK" | "CUME_DIST" => Expressions(0, 0),
        "NTILE" | "FIRST_VALUE" => Expressions(1, 1),
        // Without OVER it is a function of all its arguments.
        "LAST_VALUE" => Expressions(1, usize::MAX),
        "LAG" | "LEAD" => Expressions(1, 2),
        "NTH_VALUE" => Expressions(2, 2),
        "MEDIAN" => Median,
        "PERCENTILE_CONT" | "PERCENTILE_DISC" => Percentile,
        _ => return None,
    })
}

impl Parser<'_> {
    /// Parses a call of a function that exists only with OVER. The cursor is at its name.
    pub(super) fn window_function(&mut self, name: &str, arguments: WindowArguments) -> Result<Expr> {
        self.advance();
        self.expect_token(&Token::LeftParen)?;
        let expressions = match arguments {
            WindowArguments::Expressions(fewest, most) => self.window_expressions(fewest, most)?,
            WindowArguments::Median | WindowArguments::Percentile => vec![self.expr()?],
        };
        self.expect_token(&Token::RightParen)?;
        if name == "LAST_VALUE" && !self.is_word("OVER") {
            return Ok(Expr::Call(Box::new(FunctionCall::new(name, expressions))));
        }
        if name == "LAST_VALUE" && expressions.len() > 1 {
            return Err(self.error());
        }
        let mut call = match arguments {
            WindowArguments::Expressions(..) | WindowArguments::Percentile => {
                FunctionCall::new(name, expressions)
            }
            WindowArguments::Median => {
                let mut call = FunctionCall::new("PERCENTILE_CONT", vec![Expr::number("0.5")]);
                call.within_group = expressions.into_iter().next().map(OrderItem::ascending);
                call
            }
        };
        if matches!(arguments, WindowArguments::Percentile) {
            call.within_group = Some(self.within_group()?);
        }
        call.over = Some(if call.within_group.is_none() {
            self.over()?.ok_or_else(|| self.error())?
        } else {
            self.over_partition()?
        });
        Ok(Expr::Call(Box::new(call)))
    }

    fn window_expressions(&mut self, fewest: usize, most: usize) -> Result<Vec<Expr>> {
        let mut expressions = Vec::new();
        while expressions.len() < most {
            if expressions.len() >= fewest && (expressions.is_empty() || !self.is(&Token::Comma)) {
                break;
            }
            if !expressions.is_empty() {
                self.expect_token(&Token::Comma)?;
            }
            expressions.push(self.expr()?);
        }
        Ok(expressions)
    }

    /// Parses `WITHIN GROUP (ORDER BY expr)`.
    fn within_group(&mut self) -> Result<OrderItem> {
        self.expect_words(&["WITHIN", "GROUP"])?;
        self.expect_token(&Token::LeftParen)?;
        self.expect_words(&["ORDER", "BY"])?;
        let item = self.order_by_item()?;
        self.expect_token(&Token::RightParen)?;
        Ok(item)
    }

    /// Parses `OVER ([PARTITION BY …])`.
    fn over_partition(&mut self) -> Result<Over> {
        self.expect_word("OVER")?;
        self.expect_token(&Token::LeftParen)?;
        let partition_by = self.partition_by()?;
        self.expect_token(&Token::RightParen)?;
        Ok(Over::Spec(WindowSpec {
            partition_by,
            ..WindowSpec::default()
        }))
    }

    /// Parses `OVER …` after an aggregate, if it stands here.
    pub(super) fn over(&mut self) -> Result<Option<Over>> {
        if !self.accept_word("OVER") {
            return Ok(None);
        }
        Ok(Some(if self.is(&Token::LeftParen) {
            Over::Spec(self.window_spec()?)
        } else {
            Over::Named(self.identifier()?)
        }))
    }

    fn partition_by(&mut self) -> Result<Vec<Expr>> {
        if !self.accept_words(&["PARTITION", "BY"]) {
            return Ok(Vec::new());
        }
        // A direction is allowed here, but has no effect on partitions.
        let items = self.comma_separated(Self::order_by_item)?;
        Ok(items.into_iter().map(|item| item.expr).collect())
    }

    fn window_spec(&mut self) -> Result<WindowSpec> {
        self.expect_token(&Token::LeftParen)?;
        let base = if self.is_identifier() {
            Some(self.identifier()?)
        } else {
            None
        };
        let partition_by = self.partition_by()?;
        let order_by = if self.accept_words(&["ORDER", "BY"]) {
            self.comma_separated(Self::order_by_item)?
        } else {
            Vec::new()
        };
        let frame = if self.is_any_word(&["ROWS", "RANGE"]) {
            Some(self.window_frame()?)
        } else {
            None
        };
        self.expect_token(&Token::RightParen)?;
        Ok(WindowSpec {
            base,
            partition_by,
            order_by,
            frame,
        })
    }

    fn window_frame(&mut self) -> Result<WindowFrame> {
        let units = if self.is_word("ROWS") {
            FrameUnits::Rows
        } else {
            FrameUnits::Range
        };
        self.advance();
        let (start, end) = if self.accept_word("BETWEEN") {
            let start = self.window_bound(true)?;
            self.expect_word("AND")?;
            (start, Some(self.window_bound(true)?))
        } else {
            (self.window_bound(false)?, None)
        };
        self.exclusion()?;
        Ok(WindowFrame { units, start, end })
    }

    /// Parses a bound of a frame. FOLLOWING is allowed only if `may_follow`: a frame with a single bound ends
    /// at the current row.
    fn window_bound(&mut self, may_follow: bool) -> Result<FrameBound> {
        if self.accept_words(&["CURRENT", "ROW"]) {
            return Ok(FrameBound::CurrentRow);
        }
        let offset = if self.accept_word("UNBOUNDED") {
            None
        } else {
            Some(Box::new(self.window_offset()?))
        };
        if self.accept_word("PRECEDING") {
            return Ok(FrameBound::Preceding(offset));
        }
        if !may_follow {
            return Err(self.error());
        }
        self.expect_word("FOLLOWING")?;
        Ok(FrameBound::Following(offset))
    }

    /// Parses a literal.
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

    /// Parses `EXCLUDE …`.
    fn exclusion(&mut self) -> Result<()> {
        if !self.accept_word("EXCLUDE") || self.accept_words(&["NO", "OTHERS"]) {
            return Ok(());
        }
        if self.accept_words(&["CURRENT", "ROW"]) || self.accept_any_word(&["GROUP", "TIES"]).is_some() {
            return Err(Error::new(ER_FRAME_EXCLUSION_NOT_SUPPORTED, &[]));
        }
        Err(self.error())
    }

    /// Parses `name AS (…)` in WINDOW.
    pub(super) fn named_window(&mut self) -> Result<NamedWindow> {
        let name = self.identifier()?;
        self.expect_word("AS")?;
        Ok(NamedWindow {
            name,
            spec: self.window_spec()?,
        })
    }
}
