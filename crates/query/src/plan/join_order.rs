//! The order in which tables are joined, and how each is read.
//!
//! ```text
//!   FromNode  ──simplify──▶  outer joins that WHERE makes inner
//!             ──flatten───▶  Group: tables and outer joins, with all conditions at one level
//!             ──order─────▶  JoinStep …: the cheapest order, each table's path, each condition as early as it can be checked,
//!                         those that change from one evaluation to the next (RAND()) after all tables
//! ```
//!
//! For a group of up to [`ITEMS_MAX`] items the cheapest order of every subset is computed from those of the subsets
//! with one item less; a larger one is built up greedily. The inner side of an outer join is a group of its own, which
//! comes after all tables of the outer side.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use super::block::Block;
use super::buffered::{Buffering, Candidates, is_fixed};
use super::conditions::{Condition, SlotMap, TableSet, literal_truth, rejects_nulls};
use super::equalities::{add_equalities, add_parts_of_alternatives};
use super::from::FromNode;
use super::keys::{Choice, TableInfo};
use super::tree::{AccessPath, JoinKind, JoinStep, StepSource, TableAccess};
use crate::error::Result;
use paceline_expression::Expr;

/// For groups of more items not every subset is looked at.
const ITEMS_MAX: usize = 10;
/// Handing on a row of a join, checked and put together.
const COST_JOINED_ROW: f64 = 0.02;

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
struct GroupOrder {
    steps: Vec<JoinStep>,
    rows: f64,
    cost: f64,
}

/// The cheapest way to join some of a group's items.
#[derive(Clone, Copy)]
struct Subset {
    cost: f64,
    rows: f64,
    last: usize,
}

/// The ways to read a table after certain others, with what comes out for each row before.
struct TableReads {
    candidates: Candidates,
    direct_matches: f64,
    kept_matches: f64,
}

/// The readings that were looked at: of a group's table, after those of the tables before that its conditions concern.
type Readings = RefCell<HashMap<(usize, usize, TableSet), Rc<TableReads>>>;

/// What ordering works with.
pub(crate) struct Optimizer<'a> {
    tables: &'a [TableInfo<'a>],
    slots: &'a SlotMap,
    buffering: Buffering,
    readings: Readings,
}

/// The join steps of a block.
pub(crate) struct JoinPlan {
    pub steps: Vec<JoinStep>,
    /// Conditions that one evaluation tells of.
    pub constant: Vec<Expr>,
    /// About how many rows come out.
    pub rows: f64,
    pub impossible: bool,
}

impl<'a> Optimizer<'a> {
    /// One for these tables.
    pub fn new(tables: &'a [TableInfo<'a>], slots: &'a SlotMap, buffering: Buffering) -> Self {
        Optimizer {
            tables,
            slots,
            buffering,
            readings: RefCell::default(),
        }
    }

    /// Orders the tables of FROM for these conditions of WHERE.
    pub fn join(&self, from: Option<FromNode>, conditions: Vec<Expr>, straight: bool) -> JoinPlan {
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
            return JoinPlan {
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
        self.imply(&mut group, &[]);
        let ordered = self.order(&group, 0, 1.0);
        JoinPlan {
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

    /// Adds the conditions that follow from others; those of an outer join's inner side also from those around it.
    fn imply(&self, group: &mut Group, around: &[Condition]) {
        let own = group.items.iter().fold(0, |set, item| set | item.tables());
        // Not those around it: what an OR says about the inner side is said of rows without a match as well.
        add_parts_of_alternatives(&mut group.conditions, self.slots, own);
        let mut all: Vec<Condition> = around.to_vec();
        all.append(&mut group.conditions);
        add_equalities(&mut all, self.slots, own);
        for item in &mut group.items {
            if let Item::Outer { group: inner, .. } = item {
                self.imply(inner, &all);
            }
        }
        group.conditions = all.split_off(around.len());
    }

    fn order(&self, group: &Group, available: TableSet, prefix_rows: f64) -> GroupOrder {
        let order: Vec<usize> = if group.items.len() == 1 || group.straight {
            (0..group.items.len()).collect()
        } else {
            let mut order = match group.items.len() <= ITEMS_MAX {
                true => self.search(group, available, prefix_rows),
                false => self.greedy(group, available, prefix_rows),
            };
            // What has at most one row, found by its key, comes first: the others may cost as much before it, but never
            // less.
            order.sort_by_key(|&item| !self.has_one_row(group, item, available));
            order
        };
        self.build(group, &order, available, prefix_rows)
    }

    /// Whether an item is a table of which a unique key gives at most one row, by what is known before the group.
    fn has_one_row(&self, group: &Group, item: usize, available: TableSet) -> bool {
        let Item::Table(table) = group.items[item] else {
            return false;
        };
        let reading = self.reading(group, table, available);
        matches!(
            reading.candidates.direct.path,
            AccessPath::Lookup { unique: true, .. }
        )
    }

    /// The cheapest order of all, by the cheapest of each subset: bit n of a subset is item n.
    fn search(&self, group: &Group, available: TableSet, prefix_rows: f64) -> Vec<usize> {
        let count = group.items.len();
        let mut subsets: Vec<Option<Subset>> = vec![None; 1 << count];
        subsets[0] = Some(Subset {
            cost: 0.0,
            rows: prefix_rows,
            last: 0,
        });
        for number in 0..subsets.len() - 1 {
            let Some(subset) = subsets[number] else { continue };
            let is_in = |item: &usize| number & (1 << item) != 0;
            let tables = (0..count).filter(is_in).map(|item| group.items[item].tables());
            let now = tables.fold(available, |set, tables| set | tables);
            for item in (0..count).filter(|item| !is_in(item)) {
                if !group.items[item].may_follow(now) {
                    continue;
                }
                let (added, rows) = self.item_cost(group, item, now, subset.rows);
                let cost = subset.cost + added + rows * COST_JOINED_ROW;
                let larger = &mut subsets[number | 1 << item];
                if larger.is_none_or(|known| cost < known.cost) {
                    *larger = Some(Subset {
                        cost,
                        rows,
                        last: item,
                    });
                }
            }
        }
        let mut order = Vec::with_capacity(count);
        let mut number = subsets.len() - 1;
        while let Some(subset) = subsets[number].filter(|_| number != 0) {
            order.push(subset.last);
            number &= !(1 << subset.last);
        }
        order.reverse();
        order
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
                let reading = self.reading(group, *table, available);
                let (choice, matches) = reading.best(rows);
                (choice.total(rows), rows * matches)
            }
            Item::Outer { group: inner, .. } => match &inner.items[..] {
                [Item::Table(table)] => {
                    let reading = self.reading(inner, *table, available);
                    let (choice, matches) = reading.best(rows);
                    (choice.total(rows), rows * matches.max(1.0))
                }
                _ => {
                    let ordered = self.order(inner, available, rows);
                    (ordered.cost, ordered.rows.max(rows))
                }
            },
        }
    }

    /// The ways to read a table when those are available.
    fn reading(&self, group: &Group, table: usize, available: TableSet) -> Rc<TableReads> {
        let own = 1 << table;
        let relevant: Vec<&Condition> = group
            .conditions
            .iter()
            .filter(|condition| condition.tables & own != 0)
            .collect();
        let concerned = relevant.iter().fold(0, |set, condition| set | condition.tables);
        // That there is something before it counts as well: only then its rows are worth keeping.
        let before = available & concerned | if available == 0 { 0 } else { own };
        let key = (std::ptr::from_ref(group).addr(), table, before);
        if let Some(known) = self.readings.borrow().get(&key) {
            return known.clone();
        }
        let info = &self.tables[table];
        let candidates = info.candidates(table, &relevant, available, self.slots, self.buffering);
        let matches =
            |choice: &Choice| info.matches(table, &relevant, available, choice, (self.tables, self.slots));
        let reading = Rc::new(TableReads {
            direct_matches: matches(&candidates.direct),
            kept_matches: candidates.kept.as_ref().map_or(0.0, matches),
            candidates,
        });
        self.readings.borrow_mut().insert(key, reading.clone());
        reading
    }

    fn build(&self, group: &Group, order: &[usize], available: TableSet, prefix_rows: f64) -> GroupOrder {
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
                    filter.push(condition);
                }
            }
            if let Item::Table(table) = item
                && let AccessPath::Hash { source, .. } = &self.reading(group, *table, known).best(rows).0.path
                && !source.filter.is_empty()
            {
                // They are checked when the rows are kept.
                filter.retain(|condition| !is_fixed(condition, 1 << table, self.slots));
            }
            let mut filter: Vec<Expr> = filter
                .into_iter()
                .map(|condition| condition.expr.clone())
                .collect();
            // Cheap conditions first.
            filter.sort_by_key(expense);
            match item {
                Item::Table(table) => {
                    let reading = self.reading(group, *table, known);
                    let (choice, matches) = reading.best(rows);
                    cost += choice.total(rows);
                    rows *= matches;
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
        GroupOrder { steps, rows, cost }
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

impl TableReads {
    /// The cheaper way for so many rows before, and how many rows it gives for each of them.
    fn best(&self, prefix_rows: f64) -> (&Choice, f64) {
        let best = self.candidates.best(prefix_rows);
        let matches = match std::ptr::eq(best, &self.candidates.direct) {
            true => self.direct_matches,
            false => self.kept_matches,
        };
        (best, matches)
    }
}

fn tables_of(node: &FromNode) -> TableSet {
    match node {
        FromNode::Table(table) => 1 << table,
        FromNode::Inner { parts, .. } => parts.iter().fold(0, |set, part| set | tables_of(part)),
        FromNode::Left { left, right, .. } => tables_of(left) | tables_of(right),
    }
}

fn access(table: usize, choice: &Choice) -> TableAccess {
    TableAccess {
        possible: choice.possible.clone(),
        ..TableAccess::new(table, choice.path.clone(), choice.rows)
    }
}

/// How dear a condition is to check: subqueries last. Functions keep their place: what they refuse or warn of must not
/// depend on the others.
fn expense(expr: &Expr) -> u8 {
    use paceline_expression::ExprKind;
    let mut expense = 0;
    expr.visit(&mut |node| {
        expense = expense.max(match &node.kind {
            ExprKind::ScalarSubquery(_) | ExprKind::Exists { .. } | ExprKind::Quantified { .. } => 2,
            ExprKind::Like { .. } => 1,
            _ => 0,
        });
    });
    expense
}

/// The tables of a block as the optimizer sees them.
pub(crate) fn table_infos<'p>(block: &Block<'p, '_>) -> Result<Vec<TableInfo<'p>>> {
    let context = &block.planner.context;
    let known = block.planner.known_values();
    block
        .tables
        .iter()
        .map(|table| TableInfo::new(table, context.statistics, known))
        .collect()
}

/// About how many groups so many rows make.
pub(crate) fn estimated_groups(groups: &[Expr], infos: &[TableInfo<'_>], slots: &SlotMap, rows: f64) -> f64 {
    let different = groups.iter().map(|group| match group.kind {
        paceline_expression::ExprKind::Column(slot) => match slots.table_of(slot) {
            Some(table) => infos[table].distinct_values(group),
            None => 1.0,
        },
        _ => rows / 3.0,
    });
    different.product::<f64>().min(rows).max(1.0)
}
