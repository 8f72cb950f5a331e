//! Description of a plan as a tree of blocks with their lines.

use std::sync::Arc;

use super::access::{access_line, conjunction, rows};
use super::line::{
    Block, BlockNotes, InnerQuery, Line, LineMeasure, Query, SortMeasures, SortNotes, TemporaryNotes, Union,
    WindowNotes,
};
use crate::error::{Error, Result};
use crate::plan::PlanKind;
use crate::plan::change_plan::InsertRows;
use crate::plan::measurements::{AccessMeasure, Collection, CollectionMeasure, Measurements, SortMeasure};
use crate::plan::trace::Names;
use crate::plan::tree::{
    AccessPath, GroupStrategy, JoinStep, QueryBody, QueryPlan, SelectPlan, SetOperation, SetPlan, SortItem,
    SortKey, StepSource, TableAccess, TableSource,
};
use paceline_expression::{Aggregate, AggregateFunction, Distinctness, Expr, ExprKind, WindowFunction};

/// Describes a statement, with measurements if it was executed.
///
/// # Errors
/// 1235 for statements that EXPLAIN does not support.
pub(super) fn statement(
    kind: &PlanKind,
    subqueries: &[Arc<QueryPlan>],
    measurements: Option<&Measurements>,
) -> Result<Query> {
    let mut describer = Describer {
        subqueries,
        measurements,
        names: Vec::new(),
        is_collected: false,
    };
    Ok(match kind {
        PlanKind::Query(statement) => describer.query(&statement.query, "SIMPLE"),
        PlanKind::Update(update) => Query::Block(describer.change(&update.select, "update")),
        PlanKind::Delete(delete) => {
            let all = delete.select.steps.len() == 1
                && delete.select.steps[0].filter.is_empty()
                && delete.select.order.is_empty()
                && delete.select.limit.count.is_none();
            if all && measurements.is_none() {
                let table = &delete.select.tables[0];
                Query::Block(Block {
                    lines: vec![Line {
                        id: Some(delete.select.number),
                        select_type: "SIMPLE",
                        rows: Some(rows(table.row_estimate)),
                        extra: "Deleting all rows".to_owned(),
                        ..Line::default()
                    }],
                    ..Block::default()
                })
            } else {
                Query::Block(describer.change(&delete.select, "delete"))
            }
        }
        PlanKind::Insert(insert) => match &insert.source {
            InsertRows::Query(query) => {
                describer.is_collected = insert.reads_changed;
                describer.query(query, "SIMPLE")
            }
            _ => Query::Block(Block {
                lines: vec![Line {
                    id: Some(1),
                    select_type: "INSERT",
                    table: Some(insert.table.name().to_owned()),
                    access: Some("ALL"),
                    ..Line::default()
                }],
                ..Block::default()
            }),
        },
        PlanKind::Load(_)
        | PlanKind::Do(_)
        | PlanKind::Handler(_)
        | PlanKind::Explain(_)
        | PlanKind::Analyze(_) => {
            return Err(Error::unsupported("EXPLAIN of this statement"));
        }
    })
}

/// A query in a block.
struct InnerPlan {
    plan: Arc<QueryPlan>,
    select_type: &'static str,
    /// The table whose rows it computes.
    table: Option<usize>,
    unique: bool,
}

/// Returns the subqueries in a block's expressions, and its derived tables.
fn inner_queries(select: &SelectPlan, subqueries: &[Arc<QueryPlan>]) -> Vec<InnerPlan> {
    let mut found: Vec<InnerPlan> = Vec::new();
    let mut visit = |expr: &Expr| {
        expr.visit(&mut |node| {
            if let ExprKind::ScalarSubquery(subquery)
            | ExprKind::Exists { subquery, .. }
            | ExprKind::Quantified { subquery, .. } = &node.kind
            {
                let plan = &subqueries[subquery.id.index()];
                found.push(InnerPlan {
                    plan: plan.clone(),
                    select_type: match plan.correlated {
                        true => "DEPENDENT SUBQUERY",
                        false => "SUBQUERY",
                    },
                    table: None,
                    unique: false,
                });
            }
        });
    };
    select.projection.iter().for_each(&mut visit);
    select.constant_conditions.iter().for_each(&mut visit);
    select.documents().for_each(&mut visit);
    select.once.iter().for_each(|(expr, _)| visit(expr));
    select.having.iter().for_each(&mut visit);
    for sort in select.windows.iter().flat_map(|windows| &windows.sorts) {
        sort.keys.iter().for_each(|key| visit(&key.expr));
        let functions = sort.functions.iter();
        functions.flat_map(|function| &function.args).for_each(&mut visit);
    }
    inner_queries_steps(&select.steps, &mut visit);
    for (number, table) in select.tables.iter().enumerate() {
        if let TableSource::Derived(plan) = &table.source {
            found.push(InnerPlan {
                plan: plan.clone(),
                select_type: if table.distinct { "MATERIALIZED" } else { "DERIVED" },
                table: Some(number),
                unique: table.distinct,
            });
        }
    }
    found
}

fn inner_queries_steps<'s>(steps: &'s [JoinStep], visit: &mut dyn FnMut(&'s Expr)) {
    for step in steps {
        step.on.iter().chain(&step.filter).for_each(&mut *visit);
        match &step.source {
            StepSource::Nest(inner) => inner_queries_steps(inner, visit),
            StepSource::Table(TableAccess {
                path: AccessPath::Hash { source, .. },
                ..
            }) => inner_queries_steps(std::slice::from_ref(source), visit),
            StepSource::Table(_) => {}
        }
    }
}

/// A query that a set operation combines with those before it.
struct Operand<'p> {
    /// `None` for the first one.
    operation: Option<SetOperation>,
    plan: &'p QueryPlan,
}

/// Returns the operands of a set operation from left to right. As in MariaDB, `a EXCEPT b UNION c` has three.
fn operands_of(set: &SetPlan) -> Vec<Operand<'_>> {
    let mut operands = match &set.sides[0].body {
        QueryBody::Set(inner) if inner.order.is_empty() && inner.limit.is_absent() => operands_of(inner),
        _ => vec![Operand {
            operation: None,
            plan: &set.sides[0],
        }],
    };
    operands.extend(set.sides[1..].iter().map(|plan| Operand {
        operation: Some(set.operation),
        plan,
    }));
    operands
}

fn operation_name(operation: SetOperation) -> &'static str {
    match operation {
        SetOperation::Union | SetOperation::UnionAll => "UNION",
        SetOperation::Except | SetOperation::ExceptAll => "EXCEPT",
        SetOperation::Intersect | SetOperation::IntersectAll => "INTERSECT",
    }
}

/// Returns the type of the line of a result, and the beginning of its table's name.
fn result_names(operands: &[Operand<'_>]) -> (&'static str, &'static str) {
    let names = operands.iter().filter_map(|operand| operand.operation);
    let mut names = names.map(operation_name);
    // A single operand is a query with a second ORDER BY or LIMIT.
    let first = names.next().unwrap_or("UNION");
    match (first, names.all(|name| name == first)) {
        ("UNION", true) => ("UNION RESULT", "union"),
        ("EXCEPT", true) => ("EXCEPT RESULT", "except"),
        ("INTERSECT", true) => ("INTERSECT RESULT", "intersect"),
        _ => ("UNIT RESULT", "unit"),
    }
}

/// Returns whether DISTINCT reads an index and skips the entries of equal rows, but for a few. It then compares nearly
/// only different rows, which MariaDB does not call a temporary table.
fn skips_duplicates(select: &SelectPlan) -> bool {
    let access = select.steps.first().map(|step| &step.source);
    let is_loose = matches!(access, Some(StepSource::Table(access)) if access.loose.is_some());
    is_loose && select.aggregation.is_none() && select.windows.is_none()
}

/// Describes plans, with their measurements.
struct Describer<'t> {
    subqueries: &'t [Arc<QueryPlan>],
    measurements: Option<&'t Measurements>,
    /// Names of the blocks that are being described, outermost first.
    names: Vec<Names>,
    /// Whether the rows of the next block are collected before they are used: those of an INSERT … SELECT that reads
    /// its own table.
    is_collected: bool,
}

impl Describer<'_> {
    fn query(&mut self, plan: &QueryPlan, select_type: &'static str) -> Query {
        match &plan.body {
            QueryBody::Select(select) => Query::Block(self.select(select, select_type)),
            QueryBody::Set(set) => Query::Union(self.union(plan, set, select_type)),
            QueryBody::Values(values) => Query::Block(Block {
                lines: vec![Line {
                    id: Some(1),
                    select_type,
                    rows: Some(values.rows.len() as u64),
                    extra: "No tables used".to_owned(),
                    ..Line::default()
                }],
                ..Block::default()
            }),
            QueryBody::Recursive(recursive) => Query::Recursive(Box::new([
                self.query(&recursive.anchor, select_type),
                self.query(&recursive.step, "RECURSIVE UNION"),
            ])),
        }
    }

    fn union(&mut self, plan: &QueryPlan, set: &SetPlan, select_type: &'static str) -> Union {
        let first = if select_type == "SIMPLE" {
            "PRIMARY"
        } else {
            select_type
        };
        let operands = operands_of(set);
        let sides = operands.iter().map(|operand| match operand.operation {
            None => (None, self.query(operand.plan, first)),
            Some(operation) => {
                let name = operation_name(operation);
                (Some(name), self.query(operand.plan, name))
            }
        });
        let sides: Vec<_> = sides.collect();
        let measure = self.measurements.and_then(|measured| measured.set(set));
        let key = set.order.iter().map(|item| {
            let name = match &item.key {
                SortKey::Output(output) => plan.columns[*output].name.to_string(),
                SortKey::Expr(_) => "expression".to_owned(),
            };
            directed(name, item.descending)
        });
        let is_streamed = |operand: &Operand<'_>| {
            operand
                .operation
                .is_none_or(|operation| operation == SetOperation::UnionAll)
        };
        let is_collected = !set.order.is_empty() || !operands.iter().all(is_streamed);
        let result = is_collected.then(|| {
            let numbers: Vec<String> = operands
                .iter()
                .map(|operand| operand.plan.first_select_number().to_string())
                .collect();
            let (result_type, name) = result_names(&operands);
            Line {
                select_type: result_type,
                table: Some(format!("<{name}{}>", numbers.join(","))),
                access: Some("ALL"),
                extra: if set.order.is_empty() {
                    String::new()
                } else {
                    "Using filesort".to_owned()
                },
                measure: measure.map(LineMeasure::of_result),
                ..Line::default()
            }
        });
        Union {
            sides,
            result,
            sort: set.order.first().map(|item| SortNotes {
                key: key.collect::<Vec<_>>().join(", "),
                measure: self.sort_measures(item, false),
            }),
            bytes: self.bytes(set, Collection::Distinct),
        }
    }

    /// Describes a statement that changes the rows of a search.
    fn change(&mut self, select: &SelectPlan, change: &'static str) -> Block {
        let mut block = self.select(select, "SIMPLE");
        if select.is_of_one_table() {
            block.notes.change = Some(change);
        }
        let found = self.collection(select, Collection::Found);
        if let Some(sort) = &mut block.notes.sort {
            sort.measure = found.map(|found| SortMeasures {
                sorts: found.sorts(),
                time: found.sorts().time,
                bytes: Some(found.bytes_max()),
            });
        } else {
            block.notes.found_bytes = found.map(CollectionMeasure::bytes_max);
        }
        block
    }

    /// Returns the plan that was executed: this one or its alternative.
    fn executed<'p>(&self, select: &'p SelectPlan) -> &'p SelectPlan {
        match (&select.otherwise, self.measurements) {
            (Some(otherwise), Some(measured)) if measured.has_read(&otherwise.select) => &otherwise.select,
            _ => select,
        }
    }

    fn select(&mut self, planned: &SelectPlan, select_type: &'static str) -> Block {
        let measure = self.measurements.and_then(|measured| measured.select(planned));
        let select = self.executed(planned);
        let names = self.names_of(select);
        let inner = inner_queries(select, self.subqueries);
        let select_type = if select_type == "SIMPLE" && !inner.is_empty() {
            "PRIMARY"
        } else {
            select_type
        };
        let message = if let Some(reason) = select.impossible {
            Some(reason)
        } else if select.steps.is_empty() {
            Some("No tables used")
        } else if let Some(GroupStrategy::IndexEnds(_)) = select
            .aggregation
            .as_ref()
            .map(|aggregation| &aggregation.strategy)
            && select.steps[0].filter.is_empty()
        {
            Some("Select tables optimized away")
        } else {
            None
        };
        let mut block = Block {
            notes: self.notes(select, &names),
            ..Block::default()
        };
        block.notes.measure = measure;
        let is_collected = std::mem::take(&mut self.is_collected);
        if is_collected {
            block.notes.temporary.get_or_insert_default();
        }
        if let Some(message) = message {
            block.lines.push(Line {
                id: Some(select.number),
                select_type,
                extra: message.to_owned(),
                ..Line::default()
            });
        } else {
            let mut extra = Vec::new();
            if (select.notes.temporary && !skips_duplicates(select)) || is_collected {
                extra.push("Using temporary");
            }
            if select.notes.filesort {
                extra.push("Using filesort");
            }
            let writer = BlockWriter {
                describer: self,
                select,
                names: &names,
                inner: &inner,
                select_type,
            };
            writer.steps(&select.steps, &mut extra, &mut block.lines);
        }
        self.names.push(names);
        block.inner = (inner.iter())
            .map(|inner| InnerQuery {
                query: self.query(&inner.plan, inner.select_type),
                unique: inner.unique,
                bytes: self.bytes(&*inner.plan, Collection::Rows),
            })
            .collect();
        self.names.pop();
        block
    }

    /// Returns the names of a block's slots.
    fn names_of(&self, select: &SelectPlan) -> Names {
        let mut names = Names::of_instances(&select.tables);
        if let Some(outer) = self.names.last() {
            for reference in &select.outer {
                if let Some(name) = outer.slot(reference.from) {
                    names.set(reference.to, name.to_owned());
                }
            }
        }
        if let Some(aggregation) = &select.aggregation {
            for (expr, slot) in &aggregation.per_row {
                let name = names.text(expr);
                names.set(*slot, name);
            }
            for (aggregate, slot) in &aggregation.aggregates {
                let name = aggregate_text(aggregate, &names);
                names.set(*slot, name);
            }
            for (group, slot) in aggregation.groups.iter().zip(&aggregation.group_slots) {
                let name = names.text(group);
                names.set(*slot, name);
            }
        }
        for (expr, slot) in &select.once {
            let name = names.text(expr);
            names.set(*slot, name);
        }
        for sort in select.windows.iter().flat_map(|windows| &windows.sorts) {
            for planned in &sort.functions {
                let name = match &planned.function {
                    WindowFunction::Aggregate(aggregate) => aggregate_text(aggregate, &names),
                    function => {
                        let args: Vec<String> = planned.args.iter().map(|arg| names.text(arg)).collect();
                        format!("{}({})", snake_case(&format!("{function:?}")), args.join(", "))
                    }
                };
                for slot in [Some(planned.slot), planned.rounded.map(|(slot, _)| slot)]
                    .into_iter()
                    .flatten()
                {
                    names.set(slot, format!("{name} over ()"));
                }
            }
        }
        names
    }

    fn notes(&self, select: &SelectPlan, names: &Names) -> BlockNotes {
        let text = |exprs: &[Expr]| conjunction(exprs.iter().map(|expr| names.term(expr)));
        let is_hashed = |strategy: &GroupStrategy| matches!(strategy, GroupStrategy::Hash);
        let aggregation = select.aggregation.as_ref();
        let groups = aggregation.filter(|groups| is_hashed(&groups.strategy) || groups.rollup.is_some());
        let sort = match (select.order.first(), groups) {
            (Some(item), _) => {
                let keys: Vec<String> = select
                    .order
                    .iter()
                    .map(|item| sort_key(select, item, names))
                    .collect();
                Some(SortNotes {
                    key: keys.join(", "),
                    measure: self.sort_measures(item, false),
                })
            }
            // Groups are passed on in the order of their keys.
            (None, Some(groups)) => {
                let keys: Vec<String> = groups.groups.iter().map(|group| names.text(group)).collect();
                let measure = self.collection(groups, Collection::Groups);
                Some(SortNotes {
                    key: keys.join(", "),
                    measure: measure.map(|measure| SortMeasures {
                        sorts: measure.sorts(),
                        time: measure.sorts().time,
                        bytes: None,
                    }),
                })
            }
            (None, None) => None,
        };
        let temporary =
            groups.is_some() || (select.distinct && !select.steps.is_empty() && !skips_duplicates(select));
        let bytes = [
            groups.and_then(|groups| self.bytes(groups, Collection::Groups)),
            self.bytes(select, Collection::Distinct),
        ];
        BlockNotes {
            change: None,
            const_condition: text(&select.constant_conditions),
            having: text(&select.having),
            sort,
            windows: select.windows.as_ref().map(|windows| WindowNotes {
                sorts: (windows.sorts.iter())
                    .map(|sort| {
                        let keys = sort.keys.iter();
                        let keys: Vec<String> = keys.map(|key| names.text(&key.expr)).collect();
                        SortNotes {
                            key: keys.join(", "),
                            measure: self.sort_measures(sort, true),
                        }
                    })
                    .collect(),
                bytes: (windows.sorts.iter())
                    .filter_map(|sort| self.bytes(sort, Collection::Partition))
                    .max(),
            }),
            temporary: temporary.then(|| TemporaryNotes {
                bytes: bytes.into_iter().flatten().reduce(|left, right| left + right),
            }),
            aggregate_bytes: match groups {
                None => aggregation.and_then(|groups| self.bytes(groups, Collection::Groups)),
                Some(_) => None,
            },
            found_bytes: None,
            measure: None,
        }
    }

    fn collection<T>(&self, part: &T, collection: Collection) -> Option<&CollectionMeasure> {
        self.measurements?.collection(part, collection)
    }

    /// Returns the maximum memory of an operation; `None` if it is not measured or collected nothing.
    fn bytes<T>(&self, part: &T, collection: Collection) -> Option<usize> {
        let bytes = self.collection(part, collection)?.bytes_max();
        (bytes > 0).then_some(bytes)
    }

    /// Returns the measurements of a sort. `alone`: the time without that of its input.
    fn sort_measures<T>(&self, part: &T, alone: bool) -> Option<SortMeasures> {
        let measured = self.measurements?;
        let measure = measured.collection(part, Collection::Sort);
        let sorts = measure.map_or(SortMeasure::default(), CollectionMeasure::sorts);
        Some(SortMeasures {
            sorts,
            time: if alone { sorts.sort_time } else { sorts.time },
            bytes: measure.map(CollectionMeasure::bytes_max),
        })
    }

    /// Returns the measurements of a table. If its rows are kept, they are those of the read that kept them.
    fn access_measure(&self, access: &TableAccess) -> Option<LineMeasure> {
        let measured = self.measurements?;
        let read = match &access.path {
            AccessPath::Hash { source, .. } => match &source.source {
                StepSource::Table(kept) => measured.access(kept),
                StepSource::Nest(_) => None,
            },
            _ => None,
        };
        let access = read.or_else(|| measured.access(access))?;
        Some(LineMeasure { access })
    }

    /// Returns the measurements of the reads of a join buffer.
    fn buffer_measure(&self, access: &TableAccess) -> Option<AccessMeasure> {
        self.measurements
            .map(|measured| measured.access(access).unwrap_or_default())
    }
}

/// Writes the lines of one block.
struct BlockWriter<'d> {
    describer: &'d Describer<'d>,
    select: &'d SelectPlan,
    names: &'d Names,
    inner: &'d [InnerPlan],
    select_type: &'static str,
}

impl BlockWriter<'_> {
    fn steps(&self, steps: &[JoinStep], extra: &mut Vec<&'static str>, lines: &mut Vec<Line>) {
        for step in steps {
            match &step.source {
                StepSource::Nest(inner) => self.steps(inner, extra, lines),
                StepSource::Table(access) => lines.push(self.line(step, access, extra)),
            }
        }
    }

    fn line(&self, step: &JoinStep, access: &TableAccess, extra: &mut Vec<&'static str>) -> Line {
        let mut line = access_line((self.select, self.names), step, access, self.select_type, extra);
        line.measure = self.describer.access_measure(access);
        if let Some(buffer) = &mut line.notes.buffer {
            buffer.measure = self.describer.buffer_measure(access);
            buffer.bytes = self.describer.bytes(access, Collection::JoinBuffer);
        }
        line.notes.derived = (self.inner.iter()).position(|inner| inner.table == Some(access.table));
        line
    }
}

fn directed(name: String, descending: bool) -> String {
    if descending { name + " desc" } else { name }
}

fn sort_key(select: &SelectPlan, item: &SortItem, names: &Names) -> String {
    let expr = match &item.key {
        SortKey::Output(output) => &select.projection[*output],
        SortKey::Expr(expr) => expr,
    };
    directed(names.text(expr), item.descending)
}

fn aggregate_text(aggregate: &Aggregate, names: &Names) -> String {
    let args: Vec<String> = aggregate.args.iter().map(|arg| names.text(arg)).collect();
    let distinct = match aggregate.distinct {
        Distinctness::All => "",
        _ => "distinct ",
    };
    let name = match aggregate.function {
        AggregateFunction::CountRows => return "count(0)".to_owned(),
        AggregateFunction::StddevPop => "std".to_owned(),
        AggregateFunction::VarPop => "variance".to_owned(),
        AggregateFunction::JsonArrayAgg => "json_arrayagg".to_owned(),
        AggregateFunction::JsonObjectAgg => "json_objectagg".to_owned(),
        AggregateFunction::Stored => {
            return aggregate
                .stored
                .as_ref()
                .map_or_else(String::new, |call| call.text.clone());
        }
        AggregateFunction::Loadable => match &aggregate.loadable {
            Some(loadable) => loadable.name().to_owned(),
            None => String::new(),
        },
        function => snake_case(&format!("{function:?}")),
    };
    format!("{name}({distinct}{})", args.join(", "))
}

/// Returns the SQL name of a function from its Rust name.
fn snake_case(name: &str) -> String {
    let mut text = String::new();
    for (place, character) in name.chars().enumerate() {
        if character.is_ascii_uppercase() && place > 0 {
            text.push('_');
        }
        text.push(character.to_ascii_lowercase());
    }
    text
}
