//! The order in which tables are joined, and how each is read.
//!
//! ```text
//!   FromNode  ──simplify──▶  outer joins that WHERE makes inner
//!             ──flatten───▶  Group: tables and outer joins, with all conditions at one level
//!             ──order─────▶  JoinStep …: the cheapest order, each table's path, each condition as early as it can be checked,
//!                         those that change from one evaluation to the next (RAND()) after all tables
//! ```
//!
//! A group of up to [`EXHAUSTIVE_MAX`] items is searched through, cutting off what is dearer than the best so far; a larger one is built up
//! greedily. The inner side of an outer join is a group of its own, which comes after all tables of the outer side.

use super::block::Block;
use super::conditions::{Condition, SlotMap, TableSet, literal_truth, rejects_nulls};
use super::from::FromNode;
use super::keys::{Choice, TableInfo, selectivity};
use super::tree::{
    AccessPath, JoinKind, JoinStep, QueryBody, QueryPlan, ScanDirection, SelectPlan, StepSource, TableAccess,
};
use crate::error::Result;
use crate::expr::Expr;

/// Tables in one FROM, at most: MariaDB's limit.
pub(crate) const TABLES_MAX: usize = 61;

/// Groups of more items are not searched through.
const EXHAUSTIVE_MAX: usize = 7;

/// Tables and outer joins at one level.
struct Group {
    items: Vec<Item>,
    conditions: Vec<Condition>,
    straight: bool,
}

enum Item {
    Table(usize),
    /// An outer join's inner side, with what must come before it.
    Outer {
        group: Group,
        after: TableSet,
    },
}

/// What ordering a group gives.
struct Ordered {
    steps: Vec<JoinStep>,
    rows: f64,
    cost: f64,
}

/// A chosen order while it is searched for.
struct Search<'a> {
    optimizer: &'a Optimizer<'a>,
    group: &'a Group,
    best_cost: f64,
    best: Vec<usize>,
}

/// What ordering works with.
pub(crate) struct Optimizer<'a> {
    pub tables: &'a [TableInfo<'a>],
    pub slots: &'a SlotMap,
}

/// The join steps of a block.
pub(crate) struct Joined {
    pub steps: Vec<JoinStep>,
    /// Conditions that one evaluation tells of.
    pub constant: Vec<Expr>,
    /// About how many rows come out.
    pub rows: f64,
    pub impossible: bool,
}

impl Optimizer<'_> {
    /// Orders the tables of FROM for these conditions of WHERE.
    pub fn join(&self, from: Option<FromNode>, conditions: Vec<Expr>, straight: bool) -> Joined {
        let mut constant = Vec::new();
        let mut rest = Vec::new();
        let mut impossible = false;
        for expr in conditions {
            match literal_truth(&expr) {
                Some(true) => continue,
                Some(false) => impossible = true,
                None => {}
            }
            let condition = self.slots.condition(expr);
            if condition.is_constant() || from.is_none() {
                constant.push(condition.expr)
            } else {
                rest.push(condition)
            }
        }
        let Some(node) = from else {
            return Joined {
                steps: Vec::new(),
                constant,
                rows: 1.0,
                impossible,
            };
        };
        let node = self.simplify(node, &rest.iter().collect::<Vec<_>>());
        let mut group = Group {
            items: Vec::new(),
            conditions: rest,
            straight,
        };
        self.flatten(node, &mut group);
        // Inner joins' conditions without tables are conditions of the whole.
        let (without, with): (Vec<_>, Vec<_>) =
            group.conditions.into_iter().partition(Condition::is_constant);
        for condition in without {
            match literal_truth(&condition.expr) {
                Some(true) => {}
                Some(false) => {
                    impossible = true;
                    constant.push(condition.expr);
                }
                None => constant.push(condition.expr),
            }
        }
        group.conditions = with;
        let ordered = self.order(&group, 0, 1.0);
        Joined {
            steps: ordered.steps,
            constant,
            rows: ordered.rows,
            impossible,
        }
    }

    /// Turns outer joins into inner ones where a condition cannot be true on the rows that they add.
    fn simplify(&self, node: FromNode, conditions: &[&Condition]) -> FromNode {
        match node {
            FromNode::Table(table) => FromNode::Table(table),
            FromNode::Inner { parts, on, straight } => {
                let own: Vec<Condition> = on
                    .iter()
                    .cloned()
                    .map(|expr| self.slots.condition(expr))
                    .collect();
                let all: Vec<&Condition> = conditions.iter().copied().chain(&own).collect();
                let parts = parts.into_iter().map(|part| self.simplify(part, &all)).collect();
                FromNode::Inner { parts, on, straight }
            }
            FromNode::Left { left, right, on } => {
                let inner = tables_of(&right);
                if conditions
                    .iter()
                    .any(|condition| rejects_nulls(&condition.expr, self.slots, inner))
                {
                    return self.simplify(
                        FromNode::Inner {
                            parts: vec![*left, *right],
                            on,
                            straight: false,
                        },
                        conditions,
                    );
                }
                let own: Vec<Condition> = on
                    .iter()
                    .cloned()
                    .map(|expr| self.slots.condition(expr))
                    .collect();
                let left = Box::new(self.simplify(*left, conditions));
                let right = Box::new(self.simplify(*right, &own.iter().collect::<Vec<_>>()));
                FromNode::Left { left, right, on }
            }
        }
    }

    fn flatten(&self, node: FromNode, group: &mut Group) {
        match node {
            FromNode::Table(table) => group.items.push(Item::Table(table)),
            FromNode::Inner { parts, on, straight } => {
                group.straight |= straight;
                group
                    .conditions
                    .extend(on.into_iter().map(|expr| self.slots.condition(expr)));
                parts.into_iter().for_each(|part| self.flatten(part, group));
            }
            FromNode::Left { left, right, on } => {
                let after = tables_of(&left);
                self.flatten(*left, group);
                let conditions = on.into_iter().map(|expr| self.slots.condition(expr)).collect();
                let mut inner = Group {
                    items: Vec::new(),
                    conditions,
                    straight: group.straight,
                };
                self.flatten(*right, &mut inner);
                group.items.push(Item::Outer { group: inner, after });
            }
        }
    }

    fn order(&self, group: &Group, available: TableSet, prefix_rows: f64) -> Ordered {
        let order: Vec<usize> = if group.items.len() == 1 || group.straight {
            (0..group.items.len()).collect()
        } else if group.items.len() <= EXHAUSTIVE_MAX {
            let mut search = Search {
                optimizer: self,
                group,
                best_cost: f64::INFINITY,
                best: Vec::new(),
            };
            search.extend(&mut Vec::new(), available, prefix_rows, 0.0);
            search.best
        } else {
            self.greedy(group, available, prefix_rows)
        };
        self.build(group, &order, available, prefix_rows)
    }

    fn greedy(&self, group: &Group, available: TableSet, prefix_rows: f64) -> Vec<usize> {
        let mut order = Vec::with_capacity(group.items.len());
        let (mut available, mut rows) = (available, prefix_rows);
        while order.len() < group.items.len() {
            let next = (0..group.items.len())
                .filter(|item| !order.contains(item) && group.items[*item].may_follow(available))
                .map(|item| (item, self.item_cost(group, item, available, rows)))
                // Few rows first, then low cost.
                .min_by(|(_, a), (_, b)| (a.0 + a.1).total_cmp(&(b.0 + b.1)));
            let Some((item, (_, after))) = next else { break };
            order.push(item);
            available |= group.items[item].tables();
            rows = after;
        }
        order
    }

    /// What joining an item costs, and how many rows there are after it.
    fn item_cost(&self, group: &Group, item: usize, available: TableSet, rows: f64) -> (f64, f64) {
        match &group.items[item] {
            Item::Table(table) => {
                let choice = self.choose(*table, &group.conditions, available);
                let after = rows * choice.rows * self.filter(group, *table, available, &choice);
                (choice.total(rows), after)
            }
            Item::Outer { group: inner, .. } => {
                let ordered = self.order(inner, available, rows);
                (ordered.cost, ordered.rows.max(rows))
            }
        }
    }

    fn choose(&self, table: usize, conditions: &[Condition], available: TableSet) -> Choice {
        let own = 1 << table;
        let relevant: Vec<&Condition> = conditions
            .iter()
            .filter(|condition| condition.tables & own != 0)
            .collect();
        self.tables[table].best_access(own, &relevant, available, self.slots)
    }

    /// Which part of the rows read passes the conditions that can be checked then, beyond those that the path uses.
    fn filter(&self, group: &Group, table: usize, available: TableSet, choice: &Choice) -> f64 {
        let own = 1 << table;
        let now = available | own;
        let checked = group
            .conditions
            .iter()
            .filter(|condition| condition.tables & own != 0 && condition.tables & !now == 0);
        let mut selectivities: Vec<f64> = checked.map(|condition| selectivity(&condition.expr)).collect();
        selectivities.sort_by(f64::total_cmp);
        let used = match &choice.path {
            AccessPath::Lookup { key, .. } => key.len(),
            AccessPath::Range { .. } | AccessPath::Union { .. } => 1,
            AccessPath::Hash { keys } => keys.len(),
            AccessPath::All | AccessPath::Index { .. } => 0,
        };
        selectivities.iter().skip(used).product::<f64>().max(0.0001)
    }

    fn build(&self, group: &Group, order: &[usize], available: TableSet, prefix_rows: f64) -> Ordered {
        let mut placed = vec![false; group.conditions.len()];
        let (mut known, mut rows, mut cost) = (available, prefix_rows, 0.0);
        let mut steps = Vec::with_capacity(order.len());
        for (place, &item) in order.iter().enumerate() {
            let item = &group.items[item];
            let now = known | item.tables();
            let is_last = place + 1 == order.len();
            let mut filter = Vec::new();
            for (number, condition) in group.conditions.iter().enumerate() {
                if !placed[number] && condition.tables & !now == 0 && (condition.stable || is_last) {
                    placed[number] = true;
                    filter.push(condition.expr.clone());
                }
            }
            // Cheap conditions first.
            filter.sort_by_key(expense);
            match item {
                Item::Table(table) => {
                    let choice = self.choose(*table, &group.conditions, known);
                    cost += choice.total(rows);
                    rows *= choice.rows * self.filter(group, *table, known, &choice);
                    let source = StepSource::Table(access(*table, choice));
                    steps.push(JoinStep::new(JoinKind::Inner, source, Vec::new(), filter));
                }
                Item::Outer { group: inner, .. } => {
                    let mut ordered = self.order(inner, known, rows);
                    cost += ordered.cost;
                    rows = ordered.rows.max(rows);
                    let single = ordered.steps.len() == 1 && matches!(ordered.steps[0].kind, JoinKind::Inner);
                    let step = match (single, ordered.steps.pop()) {
                        (true, Some(step)) => JoinStep::new(JoinKind::Left, step.source, step.filter, filter),
                        (_, last) => {
                            ordered.steps.extend(last);
                            let source = StepSource::Nest(ordered.steps);
                            JoinStep::new(JoinKind::Left, source, Vec::new(), filter)
                        }
                    };
                    steps.push(step);
                }
            }
            known = now;
        }
        Ordered { steps, rows, cost }
    }
}

impl Item {
    fn tables(&self) -> TableSet {
        match self {
            Item::Table(table) => 1 << table,
            Item::Outer { group, .. } => group.items.iter().fold(0, |set, item| set | item.tables()),
        }
    }

    fn may_follow(&self, available: TableSet) -> bool {
        match self {
            Item::Table(_) => true,
            Item::Outer { after, .. } => after & !available == 0,
        }
    }
}

impl Search<'_> {
    fn extend(&mut self, order: &mut Vec<usize>, available: TableSet, rows: f64, cost: f64) {
        if cost >= self.best_cost {
            return;
        }
        if order.len() == self.group.items.len() {
            self.best_cost = cost;
            self.best = order.clone();
            return;
        }
        for item in 0..self.group.items.len() {
            if order.contains(&item) || !self.group.items[item].may_follow(available) {
                continue;
            }
            let (added, after) = self.optimizer.item_cost(self.group, item, available, rows);
            order.push(item);
            self.extend(
                order,
                available | self.group.items[item].tables(),
                after,
                cost + added + after * 0.01,
            );
            order.pop();
        }
    }
}

fn tables_of(node: &FromNode) -> TableSet {
    match node {
        FromNode::Table(table) => 1 << table,
        FromNode::Inner { parts, .. } => parts.iter().fold(0, |set, part| set | tables_of(part)),
        FromNode::Left { left, right, .. } => tables_of(left) | tables_of(right),
    }
}

fn access(table: usize, choice: Choice) -> TableAccess {
    TableAccess {
        table,
        path: choice.path,
        direction: ScanDirection::Forward,
        rows: choice.rows,
        possible: choice.possible,
        key_only: false,
    }
}

/// How dear a condition is to check: subqueries last.
fn expense(expr: &Expr) -> u8 {
    use crate::expr::ExprKind;
    let mut expense = 0;
    expr.visit(&mut |node| {
        expense = expense.max(match &node.kind {
            ExprKind::ScalarSubquery(_) | ExprKind::Exists { .. } | ExprKind::Quantified { .. } => 3,
            ExprKind::Call(_) => 2,
            ExprKind::Like { .. } => 1,
            _ => 0,
        });
    });
    expense
}

/// The tables of a block as the optimizer sees them.
pub(crate) fn table_infos<'p>(block: &Block<'p, '_>) -> Result<Vec<TableInfo<'p>>> {
    let context = &block.planner.context;
    block
        .tables
        .iter()
        .map(|table| TableInfo::new(table, context.statistics, context.session))
        .collect()
}

/// About how many rows a query gives.
pub(crate) fn estimated_rows(plan: &QueryPlan) -> f64 {
    match &plan.body {
        QueryBody::Select(select) => select_rows(select),
        QueryBody::Set(set) => set.sides.iter().map(estimated_rows).sum(),
        QueryBody::Values(values) => values.rows.len() as f64,
        QueryBody::Recursive(recursive) => estimated_rows(&recursive.anchor) * 10.0,
    }
}

fn select_rows(select: &SelectPlan) -> f64 {
    let mut rows = 1.0;
    for step in &select.steps {
        step.source
            .for_each_access(&mut |access| rows *= access.rows.max(1.0));
    }
    if let Some(aggregation) = &select.aggregation {
        rows = if aggregation.groups.is_empty() {
            1.0
        } else {
            (rows / 3.0).max(1.0)
        };
    }
    if let Some(count) = select.limit.count.as_ref().and_then(Expr::as_literal) {
        match count {
            paceline_types::Value::Int(count) => rows = rows.min(*count as f64),
            paceline_types::Value::UInt(count) => rows = rows.min(*count as f64),
            _ => {}
        }
    }
    rows
}
