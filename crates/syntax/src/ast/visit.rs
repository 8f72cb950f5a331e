//! Visitors of the syntax tree.

use super::{
    Expr, FrameBound, FunctionCall, JoinConstraint, JoinedTables, OrderItem, Over, Query, QueryBody,
    SelectItem, TableFactor, TableName, WindowSpec,
};
use crate::error::Result;
use crate::stack;

/// Receives the nodes of a tree in the order of the text, each before its children.
pub trait Visitor {
    /// Called for each query. Its children are visited if this returns true.
    fn query(&mut self, _query: &Query) -> bool {
        true
    }

    /// Called for a common table where its name becomes known: after its definition, before all definitions with
    /// RECURSIVE.
    fn common_table(&mut self, _name: &str) {}

    /// Called after the children of a query.
    fn leave_query(&mut self) {}

    /// Called for each expression.
    fn expr(&mut self, _expr: &Expr) {}

    /// Called for each table name, with the alias of the table.
    fn table(&mut self, _name: &TableName, _alias: Option<&str>) {}
}

/// Visits a query and everything within it.
pub(crate) fn walk_query(query: &Query, visitor: &mut impl Visitor) {
    if !visitor.query(query) {
        return;
    }
    if let Some(with) = &query.with {
        if with.recursive {
            with.tables
                .iter()
                .for_each(|table| visitor.common_table(&table.name));
        }
        for table in &with.tables {
            walk_query(&table.query, visitor);
            if !with.recursive {
                visitor.common_table(&table.name);
            }
        }
    }
    walk_body(&query.body, visitor);
    walk_order(&query.order_by, visitor);
    if let Some(limit) = &query.limit {
        for expr in [&limit.offset, &limit.count].into_iter().flatten() {
            walk_expr(expr, visitor);
        }
    }
    visitor.leave_query();
}

/// Visits an expression and everything within it.
pub(crate) fn walk_expr(expr: &Expr, visitor: &mut impl Visitor) {
    stack::on_enough(|| {
        visitor.expr(expr);
        walk_parts(expr, visitor);
    });
}

fn walk_body(body: &QueryBody, visitor: &mut impl Visitor) {
    stack::on_enough(|| match body {
        QueryBody::Select(select) => {
            for item in &select.items {
                if let SelectItem::Expr { expr, .. } = item {
                    walk_expr(expr, visitor);
                }
            }
            for tables in &select.from {
                walk_tables(tables, visitor);
            }
            let before = select.condition.iter().chain(&select.group_by);
            for expr in before.chain(&select.having) {
                walk_expr(expr, visitor);
            }
            for window in &select.windows {
                walk_window(&window.spec, visitor);
            }
        }
        QueryBody::Query(query) => walk_query(query, visitor),
        QueryBody::SetOperation { left, right, .. } => {
            walk_body(left, visitor);
            walk_body(right, visitor);
        }
        QueryBody::Values(rows) => {
            for expr in rows.iter().flatten() {
                walk_expr(expr, visitor);
            }
        }
    });
}

fn walk_tables(tables: &JoinedTables, visitor: &mut impl Visitor) {
    walk_factor(&tables.first, visitor);
    for join in &tables.joins {
        walk_factor(&join.table, visitor);
        if let JoinConstraint::On(condition) = &join.constraint {
            walk_expr(condition, visitor);
        }
    }
}

fn walk_factor(factor: &TableFactor, visitor: &mut impl Visitor) {
    match factor {
        TableFactor::Table { name, alias, .. } => visitor.table(name, alias.as_deref()),
        TableFactor::Derived { query, .. } => walk_query(query, visitor),
        TableFactor::JsonTable(table) => walk_expr(&table.document, visitor),
        TableFactor::Nested(tables) => walk_tables(tables, visitor),
    }
}

fn walk_order(items: &[OrderItem], visitor: &mut impl Visitor) {
    for item in items {
        walk_expr(&item.expr, visitor);
    }
}

fn walk_window(spec: &WindowSpec, visitor: &mut impl Visitor) {
    for expr in &spec.partition_by {
        walk_expr(expr, visitor);
    }
    walk_order(&spec.order_by, visitor);
    let bounds = spec
        .frame
        .iter()
        .flat_map(|frame| std::iter::once(&frame.start).chain(&frame.end));
    for bound in bounds {
        if let FrameBound::Preceding(Some(offset)) | FrameBound::Following(Some(offset)) = bound {
            walk_expr(offset, visitor);
        }
    }
}

fn walk_call(call: &FunctionCall, visitor: &mut impl Visitor) {
    for expr in call.arguments.exprs() {
        walk_expr(expr, visitor);
    }
    walk_order(&call.order_by, visitor);
    if let Some(limit) = &call.limit {
        walk_expr(limit, visitor);
    }
    walk_order(call.within_group.as_slice(), visitor);
    if let Some(Over::Spec(spec)) = &call.over {
        walk_window(spec, visitor);
    }
}

fn walk_parts(expr: &Expr, visitor: &mut impl Visitor) {
    match expr {
        Expr::InSubquery {
            operand, subquery, ..
        }
        | Expr::Quantified {
            left: operand,
            subquery,
            ..
        } => {
            walk_expr(operand, visitor);
            walk_query(subquery, visitor);
        }
        Expr::Exists(query) | Expr::Subquery(query) => walk_query(query, visitor),
        Expr::Call(call) => walk_call(call, visitor),
        expr => for_each_part(expr, &mut |part| walk_expr(part, visitor)),
    }
}

/// Generates both walks over an expression's direct children. The nodes are the same; shared and exclusive
/// references differ.
macro_rules! parts {
    ($expr:expr, $visit:expr, $iter:ident, $arguments:ident) => {
        match $expr {
            Expr::Column(_)
            | Expr::UserVariable(_)
            | Expr::SystemVariable { .. }
            | Expr::Parameter(_)
            | Expr::Literal(_)
            | Expr::Introduced { .. }
            | Expr::TemporalLiteral { .. }
            | Expr::Exists(_)
            | Expr::Sequence(_)
            | Expr::Subquery(_) => {}
            Expr::Assignment { value: part, .. }
            | Expr::Nested(part)
            | Expr::Unary { operand: part, .. }
            | Expr::Is { operand: part, .. }
            | Expr::InSubquery { operand: part, .. }
            | Expr::Quantified { left: part, .. }
            | Expr::Cast { operand: part, .. }
            | Expr::ConvertUsing { operand: part, .. }
            | Expr::Collate { operand: part, .. }
            | Expr::Interval(super::Interval { value: part, .. })
            | Expr::Extract { operand: part, .. }
            | Expr::GetFormat { region: part, .. } => $visit(part),
            Expr::Binary { left, right, .. }
            | Expr::TimestampAdd {
                amount: left,
                date: right,
                ..
            }
            | Expr::TimestampDiff {
                from: left,
                to: right,
                ..
            }
            | Expr::Regexp {
                text: left,
                pattern: right,
                ..
            } => {
                $visit(left);
                $visit(right);
            }
            Expr::Between {
                operand, low, high, ..
            } => {
                $visit(operand);
                $visit(low);
                $visit(high);
            }
            Expr::InList { operand, list, .. } => {
                $visit(operand);
                list.$iter().for_each($visit);
            }
            Expr::Like {
                text,
                pattern,
                escape,
                ..
            } => {
                $visit(text);
                $visit(pattern);
                if let Some(escape) = escape {
                    $visit(escape);
                }
            }
            Expr::Row(list) => list.$iter().for_each($visit),
            Expr::Case {
                operand,
                branches,
                otherwise,
            } => {
                if let Some(operand) = operand {
                    $visit(operand);
                }
                for branch in branches.$iter() {
                    let super::CaseBranch { condition, result } = branch;
                    $visit(condition);
                    $visit(result);
                }
                if let Some(otherwise) = otherwise {
                    $visit(otherwise);
                }
            }
            Expr::Trim { what, text, .. } => {
                if let Some(what) = what {
                    $visit(what);
                }
                $visit(text);
            }
            Expr::DynamicColumns { base, columns } => {
                if let Some(base) = base {
                    $visit(base);
                }
                for column in columns.$iter() {
                    let super::DynamicColumn { name, value, .. } = column;
                    $visit(name);
                    $visit(value);
                }
            }
            Expr::DynamicColumn { columns, name, .. } => {
                $visit(columns);
                $visit(name);
            }
            Expr::Call(call) => call.arguments.$arguments().$iter().for_each($visit),
        }
    };
}

/// Calls `visit` for each direct child expression, except those in subqueries and in a call's clauses.
fn for_each_part<'e>(expr: &'e Expr, visit: &mut dyn FnMut(&'e Expr)) {
    parts!(expr, &mut *visit, iter, exprs);
}

/// Calls `visit` for each direct child expression until it fails, except those in subqueries and in a call's
/// clauses.
///
/// # Errors
/// Those of `visit`.
pub fn for_each_child(expr: &mut Expr, visit: &mut dyn FnMut(&mut Expr) -> Result<()>) -> Result<()> {
    let mut result = Ok(());
    let mut until_failure = |part: &mut Expr| {
        if result.is_ok() {
            result = visit(part);
        }
    };
    parts!(expr, &mut until_failure, iter_mut, exprs_mut);
    result
}

/// Calls `visit` for an expression and all expressions within it, except those in subqueries.
pub fn for_each_expr(expr: &Expr, visit: impl FnMut(&Expr)) {
    struct OutsideQueries<F>(F);
    impl<F: FnMut(&Expr)> Visitor for OutsideQueries<F> {
        fn query(&mut self, _query: &Query) -> bool {
            false
        }

        fn expr(&mut self, expr: &Expr) {
            (self.0)(expr);
        }
    }
    walk_expr(expr, &mut OutsideQueries(visit));
}

/// Passes on the names of tables.
struct Tables<F>(F);

impl<F: FnMut(&TableName)> Visitor for Tables<F> {
    fn table(&mut self, name: &TableName, _: Option<&str>) {
        (self.0)(name);
    }
}

/// Visitor of the names that mean tables and views: not those of common tables where they are known.
struct RealTables<F> {
    visit: F,
    /// Common tables known at this place.
    common: Vec<String>,
    /// Number of common tables known before each of the open queries.
    outer: Vec<usize>,
}

impl<F> RealTables<F> {
    fn new(visit: F) -> Self {
        RealTables {
            visit,
            common: Vec::new(),
            outer: Vec::new(),
        }
    }
}

impl<F: FnMut(&TableName, Option<&str>)> Visitor for RealTables<F> {
    fn query(&mut self, _: &Query) -> bool {
        self.outer.push(self.common.len());
        true
    }

    fn common_table(&mut self, name: &str) {
        self.common.push(name.to_lowercase());
    }

    fn leave_query(&mut self) {
        let outer = self.outer.pop().unwrap_or(0);
        self.common.truncate(outer);
    }

    fn table(&mut self, name: &TableName, alias: Option<&str>) {
        if name.database.is_some() || !self.common.contains(&name.name.to_lowercase()) {
            (self.visit)(name, alias);
        }
    }
}

/// Calls `visit` for each table that a query names, also in subqueries.
pub fn for_each_table(query: &Query, visit: impl FnMut(&TableName)) {
    walk_query(query, &mut Tables(visit));
}

/// Calls `visit` for each table and view that a query names, with its alias, also in subqueries. Names of common tables
/// are left out.
pub fn for_each_real_table(query: &Query, visit: impl FnMut(&TableName, Option<&str>)) {
    walk_query(query, &mut RealTables::new(visit));
}

/// Calls `visit` for each table and view that an expression's subqueries name, with its alias.
pub fn for_each_table_of_expr(expr: &Expr, visit: impl FnMut(&TableName, Option<&str>)) {
    walk_expr(expr, &mut RealTables::new(visit));
}

/// Calls `visit` for each table and view of joined tables, with its alias, also in subqueries.
pub fn for_each_joined_table(tables: &JoinedTables, visit: impl FnMut(&TableName, Option<&str>)) {
    walk_tables(tables, &mut RealTables::new(visit));
}

/// Returns whether an expression contains a value of a sequence.
pub fn has_sequence(expr: &Expr) -> bool {
    let mut found = false;
    for_each_expr(expr, |expr| found |= matches!(expr, Expr::Sequence(_)));
    found
}

/// Returns whether a part of an expression outside of its subqueries is as wanted.
pub fn any_expr(expr: &Expr, wanted: &mut dyn FnMut(&Expr) -> bool) -> bool {
    let mut found = false;
    for_each_expr(expr, |part| found |= wanted(part));
    found
}

/// Returns whether an expression contains a subquery.
pub fn has_subquery(expr: &Expr) -> bool {
    let mut found = false;
    for_each_expr(expr, |expr| {
        found |= matches!(
            expr,
            Expr::Subquery(_) | Expr::Exists(_) | Expr::InSubquery { .. } | Expr::Quantified { .. }
        );
    });
    found
}
