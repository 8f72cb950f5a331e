//! Windows: the rows that a window function reads, and the sorts in which all functions of a block are computed.
//!
//! The result of a function is a slot of the block's row, like that of an aggregate. The function is bound with the
//! expression that contains it. Its window may name columns of the result, so windows are bound after the select list:
//! first those of WINDOW in their order (each may extend earlier ones), then those of OVER. Rules and errors are those
//! of MariaDB's `setup_windows`.
//!
//! ```text
//!   OVER (PARTITION BY a ORDER BY b)       ─┐  keys a, b, c   one sort: each one's keys begin another's
//!   OVER (PARTITION BY a ORDER BY b, c)    ─┤
//!   OVER ()                                ─┘
//!   OVER (ORDER BY d)                      ──  keys d         another
//! ```

use std::collections::BTreeSet;

use paceline_types::data_type::column_flags;
use paceline_types::error_code::{
    ER_BAD_COMBINATION_OF_WINDOW_FRAME_BOUND_SPECS, ER_DUP_WINDOW_NAME, ER_NO_ORDER_LIST_IN_WINDOW_SPEC,
    ER_NOT_ALLOWED_WINDOW_FRAME, ER_ORDER_LIST_IN_REFERENCING_WINDOW_SPEC,
    ER_PARTITION_LIST_IN_REFERENCING_WINDOW_SPEC, ER_RANGE_FRAME_NEEDS_SIMPLE_ORDERBY,
    ER_WINDOW_FRAME_IN_REFERENCED_WINDOW_SPEC, ER_WINDOW_FUNCTION_IN_WINDOW_SPEC,
    ER_WRONG_TYPE_FOR_RANGE_FRAME, ER_WRONG_TYPE_FOR_ROWS_FRAME, ER_WRONG_WINDOW_SPEC_NAME,
};
use paceline_types::{DataType, Value};

use super::block::{Aliases, BindMode, Block, Output};
use super::bound_window::BoundWindow;
use super::conditions::for_each_slot;
use super::result_column::ResultColumn;
use super::same_expr::same_expr;
use super::tree::{PlannedWindow, SortItem, SortKey, WindowKey, WindowPlan, WindowSort};
use crate::error::{Error, Result};
use paceline_catalog::same_name;
use paceline_expression::{
    ArithmeticOp, Class, Clause, Expr, ExprKind, ExprType, Frame, FrameBound, FrameUnits, SortOrder,
    WindowCall, WindowFunction, arithmetic,
};
use paceline_syntax::ast;

/// A bound window, with the expressions of the window that it extends.
#[derive(Clone)]
struct BoundSpec {
    partition: Vec<Expr>,
    order: Vec<(Expr, SortOrder)>,
    frame: Option<Frame>,
}

impl Block<'_, '_> {
    /// Makes those checks of OVER that MariaDB makes before it binds the arguments.
    pub fn check_over(&self, function: Option<&WindowFunction>, over: &ast::Over) -> Result<()> {
        let spec = match over {
            ast::Over::Spec(spec) => spec,
            ast::Over::Named(name) => {
                let mut named = self.windows.named.iter().flatten();
                let found = named.find(|window| same_name(&window.name, name));
                &found
                    .ok_or_else(|| Error::new(ER_WRONG_WINDOW_SPEC_NAME, &[name]))?
                    .spec
            }
        };
        let Some(function) = function else { return Ok(()) };
        if spec.frame.is_some() && !function.may_have_frame() {
            return Err(Error::new(ER_NOT_ALLOWED_WINDOW_FRAME, &[&function.name()]));
        }
        if spec.order_by.is_empty() && function.needs_order() {
            return Err(Error::new(ER_NO_ORDER_LIST_IN_WINDOW_SPEC, &[&function.name()]));
        }
        Ok(())
    }

    /// Adds a window function. Returns the expression of its result.
    pub fn add_window(&mut self, call: WindowCall) -> Expr {
        let slot = self.allocate(1);
        let result = Expr::column(slot, call.ty.clone());
        self.windows.calls.push((call, slot));
        result
    }

    /// Returns whether an expression reads the result of a window function.
    pub fn reads_window(&self, expr: &Expr) -> bool {
        !self.windows.calls.is_empty()
            && expr.any(&mut |node| {
                matches!(node.kind, ExprKind::Column(read) if self.windows.calls.iter().any(|(_, slot)| *slot == read))
            })
    }

    /// Binds the windows of all functions added so far.
    pub fn bind_windows(&mut self, outputs: &[Output]) -> Result<Vec<BoundWindow>> {
        let mut known: Vec<(String, BoundSpec)> = Vec::new();
        for window in self.windows.named.clone().unwrap_or_default() {
            if known.iter().any(|(known, _)| same_name(known, &window.name)) {
                return Err(Error::new(ER_DUP_WINDOW_NAME, &[&window.name]));
            }
            let bound = self.bind_specification(&window.spec, &known, outputs)?;
            known.push((window.name, bound));
        }
        let mut bound = Vec::with_capacity(self.windows.calls.len());
        for number in 0..self.windows.calls.len() {
            let (call, slot) = self.windows.calls[number].clone();
            let mut spec = match &call.over {
                ast::Over::Spec(spec) => self.bind_specification(spec, &known, outputs)?,
                ast::Over::Named(name) => known
                    .iter()
                    .find(|(known, _)| same_name(known, name))
                    .map(|(_, spec)| spec.clone())
                    .ok_or_else(|| Error::new(ER_WRONG_WINDOW_SPEC_NAME, &[name]))?,
            };
            spec.order.extend(call.within);
            bound.push(BoundWindow {
                function: call.function,
                args: call.args,
                partition: spec.partition,
                order: spec.order,
                frame: spec.frame.unwrap_or_default(),
                slot,
                rounded: None,
            });
        }
        Ok(bound)
    }

    fn bind_specification(
        &mut self,
        spec: &ast::WindowSpec,
        known: &[(String, BoundSpec)],
        outputs: &[Output],
    ) -> Result<BoundSpec> {
        let base = match &spec.base {
            None => None,
            Some(name) => Some(referenced(name, spec, known)?),
        };
        let mut partition = Vec::with_capacity(spec.partition_by.len());
        for expr in &spec.partition_by {
            partition.push(self.bind_window_expr(expr, Clause::GroupBy, outputs)?);
        }
        let mut order = Vec::with_capacity(spec.order_by.len());
        for item in &spec.order_by {
            // An unqualified name is a column of the result, or else of a table, as in ORDER BY.
            let alias = match item.bare_column() {
                Some(column) => self.find_alias(outputs, column)?,
                None => None,
            };
            let expr = match alias {
                Some(output) => outputs[output].expr.clone(),
                None => self.bind_window_expr(&item.expr, Clause::OrderBy, outputs)?,
            };
            order.push((expr, item.order));
        }
        if (partition.iter().chain(order.iter().map(|(expr, _)| expr))).any(|expr| self.reads_window(expr)) {
            return Err(Error::new(ER_WINDOW_FUNCTION_IN_WINDOW_SPEC, &[]));
        }
        if let Some(base) = base {
            partition = base.partition.clone();
            if order.is_empty() {
                order = base.order.clone();
            }
        }
        let frame = match &spec.frame {
            None => None,
            Some(frame) => Some(self.bind_frame(frame, &order)?),
        };
        Ok(BoundSpec {
            partition,
            order,
            frame,
        })
    }

    fn bind_window_expr(&mut self, expr: &ast::Expr, clause: Clause, outputs: &[Output]) -> Result<Expr> {
        self.bind(
            expr,
            BindMode {
                clause,
                clause_name: clause.as_str(),
                aggregates: true,
                windows: false,
                aliases: Aliases::Fallback(outputs),
                grouped: true,
            },
        )
    }

    fn bind_frame(&mut self, frame: &ast::WindowFrame, order: &[(Expr, SortOrder)]) -> Result<Frame> {
        use ast::FrameBound::{CurrentRow, Following, Preceding};
        let start = &frame.start;
        let end = frame.end.as_ref().unwrap_or(&CurrentRow);
        if matches!(
            (start, end),
            (Following(None), _)
                | (_, Preceding(None))
                | (CurrentRow, Preceding(_))
                | (Following(_), CurrentRow)
        ) {
            return Err(Error::new(ER_BAD_COMBINATION_OF_WINDOW_FRAME_BOUND_SPECS, &[]));
        }
        let units = match frame.units {
            ast::FrameUnits::Rows => FrameUnits::Rows,
            ast::FrameUnits::Range => FrameUnits::Range,
        };
        Ok(Frame {
            units,
            start: self.bind_bound(start, units, order)?,
            end: self.bind_bound(end, units, order)?,
        })
    }

    fn bind_bound(
        &mut self,
        bound: &ast::FrameBound,
        units: FrameUnits,
        order: &[(Expr, SortOrder)],
    ) -> Result<FrameBound> {
        use ast::FrameBound::{CurrentRow, Following, Preceding};
        let (offset, before) = match bound {
            CurrentRow => return Ok(FrameBound::CurrentRow),
            Preceding(None) | Following(None) => return Ok(FrameBound::Unbounded),
            Preceding(Some(offset)) => (offset, true),
            Following(Some(offset)) => (offset, false),
        };
        let offset = self.bind(offset, BindMode::named("WINDOW"))?;
        if units == FrameUnits::Rows {
            let rows = match offset.as_literal() {
                Some(Value::Int(rows)) => u64::try_from(*rows).ok(),
                Some(Value::UInt(rows)) => Some(*rows),
                _ => None,
            };
            let rows = rows.ok_or_else(|| Error::new(ER_WRONG_TYPE_FOR_ROWS_FRAME, &[]))?;
            return Ok(if before {
                FrameBound::RowsBefore(rows)
            } else {
                FrameBound::RowsBehind(rows)
            });
        }
        let [(key, direction)] = order else {
            return Err(Error::new(ER_RANGE_FRAME_NEEDS_SIMPLE_ORDERBY, &[]));
        };
        let numeric = |expr: &Expr| matches!(expr.ty.class(), Class::Int | Class::Decimal | Class::Double);
        if !numeric(key) || !numeric(&offset) {
            return Err(Error::new(ER_WRONG_TYPE_FOR_RANGE_FRAME, &[]));
        }
        let op = if before == (*direction == SortOrder::Ascending) {
            ArithmeticOp::Subtract
        } else {
            ArithmeticOp::Add
        };
        let value = arithmetic(op, key.clone(), offset, self.planner.session())?;
        Ok(FrameBound::Value(Box::new(value)))
    }

    /// Distributes the functions to as few sorts as their keys allow.
    pub fn plan_windows(
        &mut self,
        mut windows: Vec<BoundWindow>,
        projection: &mut [Expr],
        order: &[SortItem],
    ) -> Option<WindowPlan> {
        if windows.is_empty() {
            return None;
        }
        for expr in projection.iter_mut() {
            self.round_result(expr, &mut windows);
        }
        let mut read = BTreeSet::new();
        let mut visit = |expr: &Expr| {
            for_each_slot(expr, &mut |slot| {
                read.insert(slot);
            })
        };
        projection.iter().for_each(&mut visit);
        for item in order {
            if let SortKey::Expr(expr) = &item.key {
                visit(expr);
            }
        }
        windows.iter().flat_map(BoundWindow::exprs).for_each(&mut visit);
        // Results are computed later, and columns of outer queries stay in the row.
        for window in &windows {
            read.remove(&window.slot);
            if let Some((slot, _)) = window.rounded {
                read.remove(&slot);
            }
        }
        for reference in &self.outer {
            read.remove(&reference.to);
        }
        Some(WindowPlan {
            kept: read.into_iter().collect(),
            sorts: sorts(windows),
        })
    }
}

impl Block<'_, '_> {
    /// Makes an item of the select list that is a window function's result, a double with fixed decimals, read the
    /// rounded value.
    fn round_result(&mut self, expr: &mut Expr, windows: &mut [BoundWindow]) {
        let (ExprKind::Column(slot), DataType::Double(double)) = (&mut expr.kind, &expr.ty.data_type) else {
            return;
        };
        let Some(fixed) = double.fixed else { return };
        if let Some(window) = windows.iter_mut().find(|window| window.slot == *slot) {
            let (rounded, _) = *window
                .rounded
                .get_or_insert_with(|| (self.allocate(1), fixed.scale));
            *slot = rounded;
        }
    }
}

/// Changes the descriptions of a table's columns in a SELECT with window functions. In MariaDB they are columns of a
/// temporary table, which has no keys and in which they may be NULL.
pub(crate) fn forget_keys(columns: &mut [ResultColumn], types: &mut [ExprType]) {
    let known = column_flags::NOT_NULL
        | column_flags::PRIMARY_KEY
        | column_flags::UNIQUE_KEY
        | column_flags::MULTIPLE_KEY
        | column_flags::AUTO_INCREMENT
        | column_flags::PART_KEY;
    for (column, ty) in columns.iter_mut().zip(types) {
        if !column.org_table.is_empty() {
            column.flags &= !known;
            ty.nullable = true;
        }
    }
}

/// Returns the window with this name, if a window may extend it.
fn referenced<'k>(
    name: &str,
    spec: &ast::WindowSpec,
    known: &'k [(String, BoundSpec)],
) -> Result<&'k BoundSpec> {
    let Some((_, base)) = known.iter().find(|(known, _)| same_name(known, name)) else {
        return Err(Error::new(ER_WRONG_WINDOW_SPEC_NAME, &[&name]));
    };
    if !spec.partition_by.is_empty() {
        return Err(Error::new(ER_PARTITION_LIST_IN_REFERENCING_WINDOW_SPEC, &[&name]));
    }
    if !base.order.is_empty() && !spec.order_by.is_empty() {
        return Err(Error::new(ER_ORDER_LIST_IN_REFERENCING_WINDOW_SPEC, &[&name]));
    }
    if base.frame.is_some() {
        return Err(Error::new(ER_WINDOW_FRAME_IN_REFERENCED_WINDOW_SPEC, &[&name]));
    }
    Ok(base)
}

/// Returns whether rows sorted by `keys` are also sorted by `prefix`.
fn begins_with(keys: &[WindowKey], prefix: &[WindowKey]) -> bool {
    prefix.len() <= keys.len()
        && keys
            .iter()
            .zip(prefix)
            .all(|(key, wanted)| key.order == wanted.order && same_expr(&key.expr, &wanted.expr))
}

fn sorts(windows: Vec<BoundWindow>) -> Vec<WindowSort> {
    let mut sorts: Vec<WindowSort> = Vec::new();
    for window in windows {
        let keys = window.keys();
        let planned = PlannedWindow {
            partition: window.partition.len(),
            peers: keys.len(),
            function: window.function,
            args: window.args,
            frame: window.frame,
            slot: window.slot,
            rounded: window.rounded,
        };
        let fitting = sorts
            .iter_mut()
            .find(|sort| begins_with(&sort.keys, &keys) || begins_with(&keys, &sort.keys));
        match fitting {
            Some(sort) => {
                if keys.len() > sort.keys.len() {
                    sort.keys = keys;
                }
                sort.functions.push(planned);
            }
            None => sorts.push(WindowSort {
                keys,
                functions: vec![planned],
            }),
        }
    }
    sorts
}
