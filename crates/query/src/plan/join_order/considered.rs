//! Steps of the optimizer trace about the order of tables: dependencies, the paths of each table, the orders compared.
//!
//! # Limits
//! The search of a group of ten tables compares 5,120 orders. At most [`PLANS_MAX`] of a block are kept.

use super::super::document::{Members, Node};
use super::super::keys::ConsideredPath;
use super::super::trace::Names;
use super::super::tree::{AccessPath, TableInstance};
use super::{Group, Item, Optimizer, TableReads};
use crate::plan::conditions::TableSet;

/// Maximum number of orders of a block in the trace.
const PLANS_MAX: usize = 1_000;

/// Orders that the search for the best one has compared.
pub(super) struct PlanLog {
    /// Names of the tables.
    names: Vec<String>,
    plans: Vec<Node>,
    omitted: u64,
    /// Number of searches within others. Only the outermost is logged.
    depth: u32,
}

/// An item after some tables.
pub(super) struct Extension<'g> {
    pub item: &'g Item,
    /// Tables before it.
    pub prefix: TableSet,
    /// Rows of these tables.
    pub prefix_rows: f64,
    /// Rows with the item.
    pub rows: f64,
    /// Cost of all.
    pub cost: f64,
    /// Lowest cost known so far for the same tables.
    pub best_cost: Option<f64>,
}

impl Optimizer<'_> {
    /// Begins to log.
    pub(super) fn begin_log(&self, tables: &[TableInstance]) {
        for table in self.tables {
            table.considered.replace(Some(Vec::new()));
        }
        *self.log.borrow_mut() = Some(PlanLog {
            names: tables.iter().map(|table| table.alias.to_string()).collect(),
            plans: Vec::new(),
            omitted: 0,
            depth: 0,
        });
    }

    /// Ends to log. Returns the orders.
    pub(super) fn end_log(&self) -> Node {
        let Some(mut log) = self.log.take() else {
            return Node::List(vec![]);
        };
        if log.omitted > 0 {
            log.plans
                .push(Node::Object(vec![("omitted_plans", Node::Number(log.omitted))]));
        }
        Node::List(log.plans)
    }

    /// Notes whether a search within another one begins or ends.
    pub(super) fn nest_log(&self, nest: impl FnOnce(u32) -> u32) {
        if let Some(log) = &mut *self.log.borrow_mut() {
            log.depth = nest(log.depth);
        }
    }

    /// Logs an order that is compared with others.
    pub(super) fn log_extension(&self, group: &Group, extension: &Extension<'_>) {
        match &mut *self.log.borrow_mut() {
            Some(log) if log.depth == 0 && log.plans.len() < PLANS_MAX => {}
            Some(log) => {
                log.omitted += u64::from(log.depth == 0);
                return;
            }
            None => return,
        }
        // This may read the paths, which are logged themselves.
        let reads = match extension.item {
            Item::Table(table) => Some((*table, self.reading(group, *table, extension.prefix))),
            Item::Outer { group: inner, .. } => match &inner.items[..] {
                [Item::Table(table)] => Some((*table, self.reading(inner, *table, extension.prefix))),
                _ => None,
            },
        };
        let mut borrowed = self.log.borrow_mut();
        let Some(log) = &mut *borrowed else { return };
        let names_of = |tables: TableSet| -> Vec<String> {
            let is_in = |number: &usize| tables & (1 << number) != 0;
            (0..log.names.len())
                .filter(is_in)
                .map(|number| log.names[number].clone())
                .collect()
        };
        let mut members = vec![
            ("plan_prefix", Node::Names(names_of(extension.prefix))),
            ("table", Node::Text(names_of(extension.item.tables()).join(", "))),
        ];
        if let Some((table, reads)) = reads {
            members.push((
                "best_access_path",
                self.best_access_path(table, &reads, extension.prefix_rows),
            ));
        }
        members.push(("rows_for_plan", Node::Decimal(extension.rows)));
        members.push(("cost_for_plan", Node::Decimal(extension.cost)));
        if let Some(best) = extension.best_cost.filter(|best| extension.cost >= *best) {
            members.push(("pruned_by_cost", Node::Bool(true)));
            members.push(("current_cost", Node::Decimal(extension.cost)));
            members.push(("best_cost", Node::Decimal(best)));
        }
        log.plans.push(Node::Object(members));
    }

    fn best_access_path(&self, table: usize, reads: &TableReads, prefix_rows: f64) -> Node {
        let (best, _) = reads.best(prefix_rows);
        let considered = reads.candidates.considered.iter();
        let considered = considered.map(|path| {
            let is_chosen = is_same(&path.path, &best.path);
            judged(self.path(table, &path.path), path, is_chosen)
        });
        let mut chosen = self.path(table, &best.path);
        chosen.push(("records", Node::Decimal(best.rows)));
        chosen.push(("cost", Node::Decimal(best.total(prefix_rows))));
        chosen.push((
            "uses_join_buffering",
            Node::Bool(matches!(best.path, AccessPath::Hash { .. })),
        ));
        Node::Object(vec![
            ("considered_access_paths", Node::List(considered.collect())),
            ("chosen_access_method", Node::Object(chosen)),
        ])
    }

    fn path(&self, table: usize, path: &AccessPath) -> Members {
        let mut members = vec![("access_type", Node::text(access_type(path)))];
        if let Some(index) = path.index() {
            members.push(("index", Node::Text(self.index_name(table, index))));
        }
        members
    }

    fn index_name(&self, table: usize, index: usize) -> String {
        let definition = self.tables[table].definition.as_ref();
        definition.map_or_else(String::new, |definition| definition.indexes()[index].name.clone())
    }

    /// Returns which tables must precede others.
    pub(super) fn table_dependencies(&self, group: &Group, tables: &[TableInstance]) -> Node {
        let mut list = Vec::new();
        dependencies(group, tables, None, &mut list);
        Node::List(list)
    }

    /// Returns the access paths of each table alone.
    pub(super) fn rows_estimation(&self, group: &Group, tables: &[TableInstance], names: &Names) -> Node {
        let mut list = Vec::new();
        self.estimate(group, tables, names, &mut list);
        Node::List(list)
    }

    fn estimate(&self, group: &Group, tables: &[TableInstance], names: &Names, list: &mut Vec<Node>) {
        for item in &group.items {
            match item {
                Item::Outer { group: inner, .. } => self.estimate(inner, tables, names, list),
                Item::Table(table) => {
                    let reads = self.reading(group, *table, 0);
                    list.push(self.table_estimate(*table, &reads, &tables[*table], names));
                }
            }
        }
    }

    fn table_estimate(
        &self,
        table: usize,
        reads: &TableReads,
        instance: &TableInstance,
        names: &Names,
    ) -> Node {
        let info = &self.tables[table];
        let best = &reads.candidates.direct;
        let mut members = vec![("table", Node::text(&*instance.alias))];
        if let AccessPath::Lookup { unique: true, .. } = best.path {
            members.push(("rows", Node::Decimal(best.rows)));
            members.push(("cost", Node::Decimal(best.cost)));
            members.push(("table_type", Node::text("const")));
            return Node::Object(members);
        }
        let scan = super::Choice::all(info.statistics.rows.max(1.0));
        let scan = Node::Object(vec![
            ("rows", Node::Decimal(scan.rows)),
            ("cost", Node::Decimal(scan.cost)),
        ]);
        let Some(definition) = &info.definition else {
            members.push(("table_scan", scan));
            return Node::Object(members);
        };
        let potential = definition.indexes().iter().enumerate().map(|(number, index)| {
            let is_possible = best.possible.contains(&number);
            let mut members = vec![
                ("index", Node::text(index.name.clone())),
                ("usable", Node::Bool(is_possible)),
            ];
            members.push(match is_possible {
                true => {
                    let parts = index
                        .parts
                        .iter()
                        .map(|part| definition.columns()[part.column].name.clone());
                    ("key_parts", Node::Names(parts.collect()))
                }
                false => ("cause", Node::text("not applicable")),
            });
            Node::Object(members)
        });
        let alternatives = |wanted: fn(&AccessPath) -> bool| -> Vec<Node> {
            let considered = reads.candidates.considered.iter();
            let considered = considered.filter(|path| wanted(&path.path));
            considered
                .map(|path| self.alternative(table, path, &best.path, instance, names))
                .collect()
        };
        let single =
            alternatives(|path| matches!(path, AccessPath::Lookup { .. } | AccessPath::Range { .. }));
        let unions = alternatives(|path| matches!(path, AccessPath::Union { .. }));
        let mut analysis = vec![
            ("table_scan", scan),
            ("potential_range_indexes", Node::List(potential.collect())),
        ];
        analysis.push((
            "analyzing_range_alternatives",
            Node::Object(vec![
                ("range_scan_alternatives", Node::List(single)),
                ("analyzing_index_merge_union", Node::List(unions)),
            ]),
        ));
        if !matches!(best.path, AccessPath::All) {
            let mut plan = self.path(table, &best.path);
            plan.push(("ranges", Node::Names(ranges(&best.path, instance, names))));
            analysis.push((
                "chosen_range_access_summary",
                Node::Object(vec![
                    ("range_access_plan", Node::Object(plan)),
                    ("rows_for_plan", Node::Decimal(best.rows)),
                    ("cost_for_plan", Node::Decimal(best.total(1.0))),
                    ("chosen", Node::Bool(true)),
                ]),
            ));
        }
        members.push(("range_analysis", Node::Object(analysis)));
        Node::Object(members)
    }

    fn alternative(
        &self,
        table: usize,
        path: &ConsideredPath,
        best: &AccessPath,
        instance: &TableInstance,
        names: &Names,
    ) -> Node {
        let is_chosen = is_same(&path.path, best);
        let mut members = self.path(table, &path.path);
        members.push(("ranges", Node::Names(ranges(&path.path, instance, names))));
        if let Some(index) = path.path.index() {
            let is_covering = self.tables[table].covering.contains(&index);
            members.push(("index_only", Node::Bool(is_covering)));
        }
        judged(members, path, is_chosen)
    }
}

/// Returns the description of a path, completed by its estimates and whether it was chosen.
fn judged(mut members: Members, path: &ConsideredPath, is_chosen: bool) -> Node {
    members.push(("rows", Node::Decimal(path.rows)));
    members.push(("cost", Node::Decimal(path.cost)));
    members.push(("chosen", Node::Bool(is_chosen)));
    if !is_chosen {
        members.push(("cause", Node::text("cost")));
    }
    Node::Object(members)
}

fn dependencies(group: &Group, tables: &[TableInstance], after: Option<TableSet>, list: &mut Vec<Node>) {
    for item in &group.items {
        match item {
            Item::Outer { group: inner, after } => dependencies(inner, tables, Some(*after), list),
            Item::Table(table) => {
                let bits = (0..tables.len()).filter(|bit| after.is_some_and(|after| after & (1 << bit) != 0));
                list.push(Node::Object(vec![
                    ("table", Node::text(&*tables[*table].alias)),
                    ("row_may_be_null", Node::Bool(after.is_some())),
                    ("map_bit", Node::Number(*table as u64)),
                    (
                        "depends_on_map_bits",
                        Node::Names(bits.map(|bit| bit.to_string()).collect()),
                    ),
                ]));
            }
        }
    }
}

fn access_type(path: &AccessPath) -> &'static str {
    match path {
        AccessPath::All => "scan",
        AccessPath::Index { .. } => "index",
        AccessPath::Lookup { unique: true, .. } => "eq_ref",
        AccessPath::Lookup { .. } => "ref",
        AccessPath::Range { .. } => "range",
        AccessPath::Union { .. } => "index_merge",
        AccessPath::Hash { keys, .. } if keys.is_empty() => "join_buffer",
        AccessPath::Hash { .. } => "hash_join",
    }
}

fn is_same(left: &AccessPath, right: &AccessPath) -> bool {
    access_type(left) == access_type(right) && left.index() == right.index()
}

/// Returns the texts of a path's ranges.
fn ranges(path: &AccessPath, instance: &TableInstance, names: &Names) -> Vec<String> {
    match path {
        AccessPath::Lookup { index, key, .. } => {
            let columns = names.index_columns(instance, *index).into_iter();
            let values = key.iter().map(|part| names.text(&part.value));
            columns
                .zip(values)
                .map(|(column, value)| format!("{column} = {value}"))
                .collect()
        }
        AccessPath::Range { condition, .. } => vec![names.range(condition, instance)],
        AccessPath::Union { parts } => parts
            .iter()
            .map(|(_, condition)| names.range(condition, instance))
            .collect(),
        AccessPath::All | AccessPath::Index { .. } | AccessPath::Hash { .. } => Vec::new(),
    }
}
