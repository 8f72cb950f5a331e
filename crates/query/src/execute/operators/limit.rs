//! OFFSET and LIMIT.

use std::ops::ControlFlow;

use paceline_types::Value;
use paceline_types::error_code::ER_WRONG_ARGUMENTS;

use crate::error::{Error, Result};
use crate::execute::collections::sorter::Sorter;
use crate::execute::context::{Consumer, Execution};
use crate::plan::tree::{Limit, SortItem};
use paceline_expression::Expr;
use paceline_syntax::ast::Ties;

/// Values of OFFSET and LIMIT.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowLimit {
    pub offset: u64,
    pub count: u64,
}

impl RowLimit {
    /// Evaluates both.
    ///
    /// # Errors
    /// 1210 for a parameter that is not a number of rows.
    pub fn new(exec: &mut Execution<'_, '_>, limit: &Limit) -> Result<Self> {
        let offset = limit
            .offset
            .as_ref()
            .map(|expr| limit_number(exec, expr))
            .transpose()?
            .unwrap_or(0);
        let count = limit
            .count
            .as_ref()
            .map(|expr| limit_number(exec, expr))
            .transpose()?
            .unwrap_or(u64::MAX);
        Ok(RowLimit { offset, count })
    }

    /// Returns what happens with ties. Without an order all rows are: then there is no limit.
    pub fn ties(&mut self, limit: &Limit, order: &[SortItem]) -> Ties {
        if limit.ties == Ties::Kept && order.is_empty() && self.count > 0 {
            self.count = u64::MAX;
            return Ties::Cut;
        }
        limit.ties
    }

    /// Returns the number of rows that must be produced.
    pub fn needed(self) -> Option<u64> {
        (self.count < u64::MAX).then(|| self.offset.saturating_add(self.count))
    }
}

fn limit_number(exec: &mut Execution<'_, '_>, expr: &Expr) -> Result<u64> {
    // Only a parameter can be anything else than a number that fits.
    let wrong = || Error::new(ER_WRONG_ARGUMENTS, &[&"EXECUTE"]);
    let value = exec.eval(expr, &[])?;
    let is_variable = exec.session.program_variables.get(0).is_some();
    match value {
        // As in MariaDB a negative variable of a program is a large number.
        Value::Int(number) if is_variable => Ok(number as u64),
        Value::Int(number) => u64::try_from(number).map_err(|_| wrong()),
        Value::UInt(number) => Ok(number),
        Value::Bit(bits) => Ok(bits.bits),
        Value::Year(year) => Ok(year.into()),
        Value::Null => Ok(0),
        // Text counts as far as it is a number.
        Value::Text(text) => {
            let text = text.trim_start();
            let (is_negative, digits) = match text.strip_prefix('-') {
                Some(rest) => (true, rest),
                None => (false, text),
            };
            let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
            match digits[..end].parse().unwrap_or(0) {
                0 => Ok(0),
                _ if is_negative => Err(wrong()),
                number => Ok(number),
            }
        }
        Value::Decimal(number) => number.to_u64().map_err(|_| wrong()),
        _ => Err(wrong()),
    }
}

/// Filter that passes the rows of OFFSET and LIMIT.
pub(crate) struct LimitGate {
    limit: RowLimit,
    passed: u64,
    seen: u64,
    /// Whether to continue counting after the last row.
    count_all: bool,
}

impl LimitGate {
    /// Creates a filter. `count_all`: the rows after the last one are counted too.
    pub fn new(limit: RowLimit, count_all: bool) -> Self {
        LimitGate {
            limit,
            passed: 0,
            seen: 0,
            count_all,
        }
    }

    /// Returns whether the next row passes.
    pub fn admits(&mut self) -> bool {
        self.seen += 1;
        if self.seen <= self.limit.offset || self.passed >= self.limit.count {
            return false;
        }
        self.passed += 1;
        true
    }

    /// Returns whether all rows of the limit have passed.
    fn is_passed(&self) -> bool {
        self.passed >= self.limit.count
    }

    /// Returns whether more rows are needed.
    pub fn flow(&self) -> ControlFlow<()> {
        if self.is_passed() && !self.count_all {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    /// Returns the number of rows that came so far.
    pub fn seen(&self) -> u64 {
        self.seen
    }
}

/// Passes the sorted rows of the gate's limit to `consumer`. With ties kept also those after it whose sort keys are
/// that of its last row.
pub(super) fn finish_sorted(
    exec: &mut Execution<'_, '_>,
    sorter: Sorter,
    gate: &mut LimitGate,
    ties: Ties,
    consumer: Consumer<'_>,
) -> Result<()> {
    let mut last_key: Option<Vec<u8>> = None;
    sorter.finish_keyed(&mut |key, row| {
        let is_tie = last_key.as_deref() == Some(key);
        let is_admitted = gate.admits();
        if (is_admitted || is_tie) && consumer(exec, &row)?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
        if is_admitted && ties == Ties::Kept && gate.is_passed() {
            last_key = Some(key.to_vec());
            return Ok(ControlFlow::Continue(()));
        }
        Ok(if is_tie {
            ControlFlow::Continue(())
        } else {
            gate.flow()
        })
    })
}
