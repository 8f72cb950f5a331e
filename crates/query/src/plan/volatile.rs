//! Volatile subqueries: they run for each outer row although they do not read it. They contain RAND() or the like,
//! `@a := …`, or a user variable that the statement assigns.
//!
//! The assignment may be found after the subquery was planned (`SELECT (SELECT @a), @a := 1`). Then the statement is
//! planned again. As in MariaDB, derived tables are computed once per statement, whatever they contain.

use std::cell::RefCell;
use std::collections::HashSet;

use super::tree::{
    AccessPath, JoinStep, QueryBody, QueryPlan, SelectPlan, SortItem, SortKey, StepSource, TableAccess,
};
use paceline_expression::{Correlation, Expr, ExprKind};

/// User variables of a statement that is being planned.
#[derive(Default)]
pub(crate) struct Variables {
    assigned: RefCell<HashSet<Box<str>>>,
    /// Variables that subqueries read.
    read: RefCell<HashSet<Box<str>>>,
}

impl Variables {
    /// Returns the variables for planning the statement again.
    pub fn again(&self) -> Self {
        Variables {
            assigned: self.assigned.clone(),
            read: RefCell::default(),
        }
    }

    /// Records `@name := …`.
    pub fn assign(&self, name: &str) {
        self.assigned.borrow_mut().insert(name.into());
    }

    /// Returns whether subqueries read a variable that the statement assigns.
    pub fn are_both(&self) -> bool {
        !self.assigned.borrow().is_disjoint(&self.read.borrow())
    }

    /// Returns the dependency of a subquery's rows.
    pub fn correlation(&self, plan: &QueryPlan) -> Correlation {
        let assigned = self.assigned.borrow();
        let mut read = self.read.borrow_mut();
        let mut volatile = false;
        for_each_expr(plan, &mut |expr| {
            volatile |= !expr.is_stable();
            expr.visit(&mut |node| {
                if let ExprKind::UserVariable(name) = &node.kind {
                    volatile |= assigned.contains(name);
                    read.insert(name.clone());
                }
            });
        });
        match plan.correlated {
            _ if volatile => Correlation::Volatile,
            true => Correlation::Correlated,
            false => Correlation::Uncorrelated,
        }
    }
}

/// Calls `visit` for the expressions of a query, except those of derived tables.
fn for_each_expr(plan: &QueryPlan, visit: &mut dyn FnMut(&Expr)) {
    match &plan.body {
        QueryBody::Select(select) => for_each_of_select(select, visit),
        QueryBody::Set(set) => {
            set.sides.iter().for_each(|side| for_each_expr(side, visit));
            for_each_key(&set.order, visit);
        }
        QueryBody::Values(values) => {
            values.rows.iter().flatten().for_each(&mut *visit);
            for_each_key(&values.order, visit);
        }
        QueryBody::Recursive(recursive) => {
            for_each_expr(&recursive.anchor, visit);
            for_each_expr(&recursive.step, visit);
        }
    }
}

fn for_each_of_select(select: &SelectPlan, visit: &mut dyn FnMut(&Expr)) {
    for_each_of_steps(&select.steps, visit);
    select.constant_conditions.iter().for_each(&mut *visit);
    select.documents().for_each(&mut *visit);
    if let Some(aggregation) = &select.aggregation {
        aggregation.per_row.iter().for_each(|(expr, _)| visit(expr));
        aggregation.groups.iter().for_each(&mut *visit);
        for (aggregate, _) in &aggregation.aggregates {
            aggregate.args.iter().for_each(&mut *visit);
            aggregate.order_by.iter().for_each(|(key, _)| visit(key));
        }
    }
    select.once.iter().for_each(|(expr, _)| visit(expr));
    select.having.iter().for_each(&mut *visit);
    for sort in select.windows.iter().flat_map(|windows| &windows.sorts) {
        sort.keys.iter().for_each(|key| visit(&key.expr));
        let functions = sort.functions.iter();
        functions
            .flat_map(|function| &function.args)
            .for_each(&mut *visit);
    }
    select.projection.iter().for_each(&mut *visit);
    for_each_key(&select.order, visit);
}

fn for_each_of_steps(steps: &[JoinStep], visit: &mut dyn FnMut(&Expr)) {
    for step in steps {
        step.on.iter().chain(&step.filter).for_each(&mut *visit);
        match &step.source {
            StepSource::Nest(steps) => for_each_of_steps(steps, visit),
            StepSource::Table(TableAccess {
                path: AccessPath::Hash { source, .. },
                ..
            }) => for_each_of_steps(std::slice::from_ref(source), visit),
            StepSource::Table(_) => {}
        }
    }
}

fn for_each_key(order: &[SortItem], visit: &mut dyn FnMut(&Expr)) {
    for item in order {
        if let SortKey::Expr(expr) = &item.key {
            visit(expr);
        }
    }
}
