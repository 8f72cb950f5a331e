//! Join order and access paths.
//!
//! ```text
//!   FromNode  ──simplify──▶  outer joins that WHERE makes inner
//!             ──flatten───▶  Group: tables and outer joins, with all conditions at one level
//!             ──order─────▶  JoinStep …: the cheapest order, each table's path, each condition as early as it can be checked,
//!                         those that change from one evaluation to the next (RAND()) after all tables
//! ```
//!
//! For a group of up to [`ITEMS_MAX`] items, the cheapest order of each subset is computed from those of the subsets
//! with one item less. The order of a larger group is built greedily. The inner side of an outer join is a separate
//! group, which follows all tables of the outer side.

mod considered;

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use self::considered::{Extension, PlanLog};
use super::block::Block;
use super::buffered::{Buffering, Candidates, is_fixed};
use super::conditions::{Condition, SlotMap, TableSet, literal_truth, rejects_nulls};
use super::equalities::{add_equalities, add_parts_of_alternatives};
use super::from::{FromNode, describe_from};
use super::keys::{Choice, TableInfo};
use super::trace::{BlockTrace, Level, Names, describe_alone, with_once};
use super::tree::{AccessPath, JoinKind, JoinStep, StepSource, TableAccess, TableInstance};
use crate::error::Result;
use paceline_expression::{Class, Comparison, Expr, ExprKind};

/// Maximum number of items of a group for which every subset is considered.
const ITEMS_MAX: usize = 10;
/// Cost of passing on a joined row, with its checks.
const COST_JOINED_ROW: f64 = 0.02;

/// Tables and outer joins of one level.
struct Group {
    items: Vec<Item>,
    conditions: Vec<Condition>,
    straight: bool,
}

enum Item {
    Table(usize),
    /// Inner side of an outer join, with the tables that must precede it.
    Outer {
        group: Group,
        after: TableSet,
    },
}

/// Result of ordering a group.
struct GroupOrder {
    steps: Vec<JoinStep>,
    rows: f64,
    cost: f64,
}

/// Cheapest order of some of a group's items.
#[derive(Clone, Copy)]
struct Subset {
    cost: f64,
    rows: f64,
    last: usize,
}

/// Access paths of a table after certain others, with the resulting number of rows for each row before it.
struct TableReads {
    candidates: Candidates,
    direct_matches: f64,
    kept_matches: f64,
}

/// Access paths that were computed, by the table and those of the tables before it that its conditions read.
type Readings = RefCell<HashMap<(usize, usize, TableSet), Rc<TableReads>>>;

/// Context for ordering.
pub(crate) struct Optimizer<'a> {
    tables: &'a [TableInfo<'a>],
    slots: &'a SlotMap,
    buffering: Buffering,
    readings: Readings,
    /// For the optimizer trace; `None` if it is off.
    log: RefCell<Option<PlanLog>>,
}

/// Join steps of a block.
pub(crate) struct JoinPlan {
    pub steps: Vec<JoinStep>,
    /// Conditions without tables, which are evaluated once.
    pub constant: Vec<Expr>,
    /// Estimated number of rows of the join.
    pub rows: f64,
    pub impossible: bool,
}

impl<'a> Optimizer<'a> {
    /// Creates an optimizer for these tables.
    pub fn new(tables: &'a [TableInfo<'a>], slots: &'a SlotMap, buffering: Buffering) -> Self {
        Optimizer {
            tables,
            slots,
            buffering,
            readings: RefCell::default(),
            log: RefCell::new(None),
        }
    }

    /// Orders the tables of FROM for these conditions of WHERE.
    pub fn join(
        &self,
        from: Option<FromNode>,
        conditions: Vec<Expr>,
        straight: bool,
        (trace, tables): (&BlockTrace<'_>, &[TableInstance]),
    ) -> JoinPlan {
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
        trace.pass("constant conditions", |names| {
            let conditions = rest.iter().map(|condition| &condition.expr);
            let lines = describe_from(from.as_ref(), conditions, names);
            with_once(lines, &constant, tables, names)
        });
        let Some(node) = from else {
            return JoinPlan {
                steps: Vec::new(),
                constant,
                rows: 1.0,
                impossible,
            };
        };
        let node = self.simplify(node, &rest.iter().collect::<Vec<_>>());
        trace.pass("outer joins", |names| {
            let conditions = rest.iter().map(|condition| &condition.expr);
            let lines = describe_from(Some(&node), conditions, names);
            with_once(lines, &constant, tables, names)
        });
        let mut group = Group {
            items: Vec::new(),
            conditions: rest,
            straight,
        };
        self.flatten(node, &mut group);
        // Conditions of inner joins without tables apply to the whole query.
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
        let describe =
            |group: &Group, names: &Names| with_once(group.level(names).lines(), &constant, tables, names);
        self.imply_parts(&mut group);
        trace.pass("parts of OR", |names| describe(&group, names));
        self.imply_equalities(&mut group, &[]);
        trace.pass("equalities", |names| describe(&group, names));
        trace.considered("access paths", |names| {
            let alone = |item: &Item| match item {
                Item::Table(table) => {
                    let reading = self.reading(&group, *table, 0);
                    let direct = &reading.candidates.direct;
                    Some(describe_alone(&direct.path, direct.rows, &tables[*table], names))
                }
                Item::Outer { .. } => None,
            };
            group.items.iter().filter_map(alone).collect()
        });
        if trace.is_of_optimizer() {
            self.begin_log(tables);
            trace.step("table_dependencies", |_| self.table_dependencies(&group, tables));
            trace.step("rows_estimation", |names| {
                self.rows_estimation(&group, tables, names)
            });
        }
        let ordered = self.order(&group, 0, 1.0);
        if trace.is_of_optimizer() {
            trace.step("considered_execution_plans", |_| self.end_log());
        }
        JoinPlan {
            steps: ordered.steps,
            constant,
            rows: ordered.rows,
            impossible,
        }
    }

    /// Converts outer joins to inner joins, if a condition cannot be true on the rows that they add.
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

    /// Adds the conditions on single tables that an OR implies. An OR of the outer conditions is not used for the inner
    /// side of an outer join, because it applies to rows without a match as well.
    fn imply_parts(&self, group: &mut Group) {
        let own = group.tables();
        add_parts_of_alternatives(&mut group.conditions, self.slots, own);
        for item in &mut group.items {
            if let Item::Outer { group: inner, .. } = item {
                self.imply_parts(inner);
            }
        }
    }

    /// Adds the implied equalities. For the inner side of an outer join, they also follow from the conditions around
    /// it.
    fn imply_equalities(&self, group: &mut Group, around: &[Condition]) {
        let own = group.tables();
        let mut all: Vec<Condition> = around.to_vec();
        all.append(&mut group.conditions);
        add_equalities(&mut all, self.slots, own);
        for item in &mut group.items {
            if let Item::Outer { group: inner, .. } = item {
                self.imply_equalities(inner, &all);
            }
        }
        group.conditions = all.split_off(around.len());
    }

    fn order(&self, group: &Group, available: TableSet, prefix_rows: f64) -> GroupOrder {
        let order: Vec<usize> = if group.items.len() == 1 || group.straight {
            let order: Vec<usize> = (0..group.items.len()).collect();
            if self.log.borrow().is_some() {
                self.log_order(group, &order, available, prefix_rows);
            }
            order
        } else {
            let mut order = match group.items.len() <= ITEMS_MAX {
                true => self.search(group, available, prefix_rows),
                false => self.greedy(group, available, prefix_rows),
            };
            // Tables with at most one row, found by its key, come first. Before them the other tables may cost the
            // same, but never less.
            order.sort_by_key(|&item| !self.has_one_row(group, item, available));
            order
        };
        self.build(group, &order, available, prefix_rows)
    }

    /// Returns whether an item is a table with at most one row, because the tables before the group determine a unique
    /// key.
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

    /// Returns the cheapest order of all items, from the cheapest orders of the subsets. Bit n of a subset is item n.
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
                if !self.may_follow(&group.items[item], now) {
                    continue;
                }
                let (added, rows) = self.item_cost(group, item, now, subset.rows);
                let cost = subset.cost + added + rows * COST_JOINED_ROW;
                let larger = &mut subsets[number | 1 << item];
                if self.log.borrow().is_some() {
                    let extension = Extension {
                        item: &group.items[item],
                        prefix: now,
                        prefix_rows: subset.rows,
                        rows,
                        cost,
                        best_cost: larger.map(|known| known.cost),
                    };
                    self.log_extension(group, &extension);
                }
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

    /// Logs an order that is not compared with others.
    #[cold]
    fn log_order(&self, group: &Group, order: &[usize], available: TableSet, prefix_rows: f64) {
        let (mut prefix, mut prefix_rows, mut cost) = (available, prefix_rows, 0.0);
        for &item in order {
            let (added, rows) = self.item_cost(group, item, prefix, prefix_rows);
            cost += added + rows * COST_JOINED_ROW;
            let item = &group.items[item];
            let extension = Extension {
                item,
                prefix,
                prefix_rows,
                rows,
                cost,
                best_cost: None,
            };
            self.log_extension(group, &extension);
            prefix |= item.tables();
            prefix_rows = rows;
        }
    }

    fn greedy(&self, group: &Group, available: TableSet, prefix_rows: f64) -> Vec<usize> {
        let mut order = Vec::with_capacity(group.items.len());
        let (mut available, mut rows) = (available, prefix_rows);
        while order.len() < group.items.len() {
            let next = (0..group.items.len())
                .filter(|item| !order.contains(item) && self.may_follow(&group.items[*item], available))
                .map(|item| (item, self.item_cost(group, item, available, rows)))
                // First by few rows, then by low cost.
                .min_by(|(_, a), (_, b)| (a.0 + a.1).total_cmp(&(b.0 + b.1)));
            let Some((item, (_, after))) = next else { break };
            order.push(item);
            if self.log.borrow().is_some() {
                self.log_order(group, &[item], available, rows);
            }
            available |= group.items[item].tables();
            rows = after;
        }
        order
    }

    /// Returns whether an item may be joined after these tables.
    fn may_follow(&self, item: &Item, available: TableSet) -> bool {
        self.required(item) & !available == 0
    }

    /// Returns the tables that must precede an item: those before an outer join, and those that the document of a
    /// JSON_TABLE reads. A table may also be in the item itself.
    fn required(&self, item: &Item) -> TableSet {
        match item {
            Item::Table(table) => match &self.tables[*table].json {
                Some(json) => self.slots.tables(json.document()),
                None => 0,
            },
            Item::Outer { group, after } => {
                let inner = group.items.iter().fold(0, |set, item| set | self.required(item));
                after | inner & !group.tables()
            }
        }
    }

    /// Returns the cost of joining an item, and the number of rows after it.
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
                    self.nest_log(|depth| depth + 1);
                    let ordered = self.order(inner, available, rows);
                    self.nest_log(|depth| depth - 1);
                    (ordered.cost, ordered.rows.max(rows))
                }
            },
        }
    }

    /// Returns the access paths of a table after the available tables.
    fn reading(&self, group: &Group, table: usize, available: TableSet) -> Rc<TableReads> {
        let own = 1 << table;
        let relevant: Vec<&Condition> = group
            .conditions
            .iter()
            .filter(|condition| condition.tables & own != 0)
            .collect();
        let concerned = relevant.iter().fold(0, |set, condition| set | condition.tables);
        // Whether any table precedes it matters too: only then it is useful to keep its rows.
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
                // These conditions are checked when the rows are kept.
                filter.retain(|condition| !is_fixed(condition, 1 << table, self.slots));
            }
            let mut filter: Vec<Expr> = filter
                .into_iter()
                .map(|condition| condition.expr.clone())
                .collect();
            sort_by_expense(&mut filter);
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

impl Group {
    fn tables(&self) -> TableSet {
        self.items.iter().fold(0, |set, item| set | item.tables())
    }

    /// Returns a description for the trace.
    fn level(&self, names: &Names) -> Level {
        let mut level = Level::default();
        for item in &self.items {
            match item {
                Item::Table(table) => level.tables.push(names.table(*table).to_owned()),
                Item::Outer { group, .. } => level.outer_joins.push(group.level(names).as_outer_join()),
            }
        }
        level.add_conditions(self.conditions.iter().map(|condition| &condition.expr), names);
        level
    }
}

impl Item {
    fn tables(&self) -> TableSet {
        match self {
            Item::Table(table) => 1 << table,
            Item::Outer { group, .. } => group.tables(),
        }
    }
}

impl TableReads {
    /// Returns the cheaper path for this number of rows before the table, and its number of rows for each of them.
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

/// Moves expensive conditions to the end: subqueries, as in MariaDB, and LIKE where nobody can tell, because the
/// conditions that are then evaluated for more rows never raise a warning.
fn sort_by_expense(conditions: &mut [Expr]) {
    const SUBQUERY: u8 = 2;
    const LIKE: u8 = 1;
    let rank = |expr: &Expr| {
        let mut rank = 0;
        expr.visit(&mut |node| {
            rank = rank.max(match &node.kind {
                ExprKind::ScalarSubquery(_) | ExprKind::Exists { .. } | ExprKind::Quantified { .. } => {
                    SUBQUERY
                }
                ExprKind::Like { .. } => LIKE,
                _ => 0,
            });
        });
        rank
    };
    let may_move_like = conditions
        .iter()
        .all(|condition| rank(condition) > 0 || is_silent(condition));
    conditions.sort_by_key(|condition| match rank(condition) {
        LIKE if !may_move_like => 0,
        rank => rank,
    });
}

/// Returns whether the evaluation of a condition never raises a warning or an error: it compares columns and constants
/// by a rule that needs no conversion of texts.
fn is_silent(condition: &Expr) -> bool {
    let is_plain = |operands: &[&Expr], by: &Comparison| {
        operands.iter().all(|operand| {
            let is_value = matches!(operand.kind, ExprKind::Column(_) | ExprKind::Literal(_));
            let class = operand.ty.class();
            is_value
                && match by {
                    Comparison::Text(_) | Comparison::Bytes => class == Class::String,
                    Comparison::Int | Comparison::Decimal | Comparison::Double => {
                        matches!(class, Class::Int | Class::Decimal | Class::Double)
                    }
                    Comparison::DateTime => matches!(class, Class::Date | Class::DateTime),
                    Comparison::Time => class == Class::Time,
                    _ => false,
                }
        })
    };
    match &condition.kind {
        ExprKind::And(parts) | ExprKind::Or(parts) => parts.iter().all(is_silent),
        ExprKind::Not(operand) => is_silent(operand),
        ExprKind::Is { operand, .. } => matches!(operand.kind, ExprKind::Column(_)),
        ExprKind::Compare { by, operands, .. } => is_plain(&operands.each_ref(), by),
        ExprKind::Between { by, operands, .. } => is_plain(&operands.each_ref(), by),
        ExprKind::InList { by, needle, list, .. } => list
            .iter()
            .zip(by)
            .all(|(item, by)| is_plain(&[needle, item], by)),
        _ => false,
    }
}

/// Returns the tables of a block as the optimizer sees them.
pub(crate) fn table_infos<'p>(block: &Block<'p, '_>) -> Result<Vec<TableInfo<'p>>> {
    let context = &block.planner.context;
    let known = block.planner.known_values();
    block
        .tables
        .iter()
        .map(|table| TableInfo::new(table, context.statistics, known))
        .collect()
}

/// Returns the estimated number of groups of this number of rows.
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
