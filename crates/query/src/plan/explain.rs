//! EXPLAIN and the ANALYZE statement in MariaDB's columns.
//!
//! EXPLAIN describes the plan in MariaDB's terms: one line for each table in join order, with the lines of other
//! queries. ANALYZE executes the statement and adds measurements.

use std::sync::Arc;
use std::time::Duration;

use paceline_types::{Collation, DataType, Value};

use super::change_plan::InsertRows;
use super::explain_line::{Line, LineMeasure};
use super::measurements::{Measurements, QueryMeasure};
use super::statement_plan::AnalyzePlan;
use super::tree::{
    AccessPath, GroupEnds, GroupStrategy, JoinKind, JoinStep, QueryBody, QueryPlan, SelectPlan, StepSource,
    TableAccess, TableSource,
};
use super::{Plan, PlanKind, Planner, ResultColumn};
use crate::error::{Error, Result};
use paceline_catalog::{IndexDefinition, IndexKind, TableDefinition};
use paceline_expression::{Expr, ExprKind, ExprType};
use paceline_syntax::{Explain, ExplainFlavour, SelectInto, Statement};

impl AnalyzePlan {
    /// Returns the rows that are sent after the execution. `subqueries` are those of the plan.
    ///
    /// # Errors
    /// 1235 for statements that EXPLAIN does not support.
    pub(crate) fn rows(
        &self,
        measurements: &Measurements,
        time: Duration,
        subqueries: &[Arc<QueryPlan>],
    ) -> Result<Vec<Vec<Value>>> {
        let mut lines = statement_lines(&self.statement, subqueries, Some(measurements))?;
        // The search of UPDATE and DELETE is shown as the statement itself.
        if let Some(line) = lines.first_mut() {
            line.block.get_or_insert(QueryMeasure::once(time));
        }
        Ok(match self.flavour {
            ExplainFlavour::AnalyzeJson => {
                vec![vec![Value::Text(super::explain_json::document(&lines))]]
            }
            flavour => lines.into_iter().map(|line| line.values(flavour)).collect(),
        })
    }
}

/// Description of a plan that was executed, for the slow query log.
pub struct PlanExplanation {
    lines: Vec<Line>,
    changes_rows: bool,
}

/// Operations that make a statement slow.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PlanOperations {
    /// Reads the first table of a query without an index that narrows the search.
    pub full_scan: bool,
    /// Reads another table of a join in such a way.
    pub full_join: bool,
    /// Collects rows in a temporary table.
    pub temporary_table: bool,
    /// Sorts rows.
    pub sort: bool,
    /// Reads a table without an index that narrows the search; unlike `full_scan` also to change its rows.
    pub no_index: bool,
}

impl PlanExplanation {
    /// Returns the rows of the ANALYZE statement, without measurements.
    pub fn rows(self) -> Vec<Vec<Value>> {
        let lines = self.lines.into_iter();
        lines.map(|line| line.values(ExplainFlavour::Analyze)).collect()
    }

    /// Returns the operations of the plan.
    pub fn operations(&self) -> PlanOperations {
        let mut operations = PlanOperations::default();
        let mut block = None;
        for line in &self.lines {
            let has = |text: &str| line.extra.contains(text);
            operations.temporary_table |= has("Using temporary")
                || matches!(line.select_type, "DERIVED" | "MATERIALIZED" | "UNION RESULT");
            operations.sort |= has("Using filesort");
            let is_first = block.replace((line.id, line.select_type)) != Some((line.id, line.select_type));
            if matches!(line.select_type, "INSERT" | "UNION RESULT") {
                continue;
            }
            let reads_all = matches!(line.access, Some("ALL" | "index" | "hash_ALL"));
            operations.no_index |= reads_all || has("Deleting all rows");
            operations.full_scan |= reads_all && is_first && !self.changes_rows;
            operations.full_join |= reads_all && !is_first && !self.changes_rows;
        }
        operations
    }
}

impl Plan {
    /// Returns the description of the plan; `None` for statements that EXPLAIN does not describe.
    pub fn explanation(&self) -> Option<PlanExplanation> {
        let lines = statement_lines(self.executed_kind(), &self.subqueries, None).ok()?;
        Some(PlanExplanation {
            lines,
            changes_rows: matches!(self.kind, PlanKind::Update(_) | PlanKind::Delete(_)),
        })
    }
}

impl Planner<'_> {
    pub(super) fn plan_explain(&self, explain: &Explain) -> Result<(PlanKind, Vec<ResultColumn>)> {
        let is_analyzed = matches!(
            explain.flavour,
            ExplainFlavour::Analyze | ExplainFlavour::AnalyzeJson
        );
        if let Statement::Query(query) = &explain.statement
            && is_analyzed
            && let Some(SelectInto::Outfile { .. } | SelectInto::Dumpfile(_)) = &query.into
        {
            return Err(Error::unsupported("ANALYZE SELECT … INTO OUTFILE"));
        }
        let (kind, _) = self.plan(&explain.statement)?;
        let lines = statement_lines(&kind, &self.subqueries(), None)?;
        let document = |name: &str| {
            let text = ExprType::text(1 << 24, Collation::Utf8mb3GeneralCi);
            vec![ResultColumn::of_expression(name, &text)]
        };
        match explain.flavour {
            ExplainFlavour::Analyze | ExplainFlavour::AnalyzeJson => {
                let columns = match explain.flavour {
                    ExplainFlavour::AnalyzeJson => document("ANALYZE"),
                    flavour => columns(flavour),
                };
                let plan = AnalyzePlan {
                    statement: kind,
                    flavour: explain.flavour,
                };
                Ok((PlanKind::Analyze(Box::new(plan)), columns))
            }
            ExplainFlavour::Json => {
                let text = Value::Text(super::explain_json::document(&lines));
                Ok((PlanKind::Explain(vec![vec![text]]), document("EXPLAIN")))
            }
            ExplainFlavour::Plain | ExplainFlavour::Extended | ExplainFlavour::Partitions => {
                let rows = lines.into_iter().map(|line| line.values(explain.flavour));
                Ok((PlanKind::Explain(rows.collect()), columns(explain.flavour)))
            }
        }
    }
}

/// Returns the lines of a statement, with measurements if it was executed.
fn statement_lines(
    kind: &PlanKind,
    subqueries: &[Arc<QueryPlan>],
    measurements: Option<&Measurements>,
) -> Result<Vec<Line>> {
    let mut lines = LineWriter {
        lines: Vec::new(),
        subqueries,
        measurements,
    };
    match kind {
        PlanKind::Query(statement) => lines.query(&statement.query, "SIMPLE"),
        PlanKind::Update(update) => lines.select(&update.select, "SIMPLE"),
        PlanKind::Delete(delete) => {
            let all = delete.select.steps.len() == 1
                && delete.select.steps[0].filter.is_empty()
                && delete.select.order.is_empty()
                && delete.select.limit.count.is_none();
            if all && measurements.is_none() {
                let table = &delete.select.tables[0];
                lines.lines.push(Line {
                    id: Some(delete.select.number),
                    select_type: "SIMPLE",
                    rows: Some(rows(table.row_estimate)),
                    extra: "Deleting all rows".to_owned(),
                    ..Line::default()
                });
            } else {
                lines.select(&delete.select, "SIMPLE");
            }
        }
        PlanKind::Insert(insert) => {
            lines.lines.push(Line {
                id: Some(1),
                select_type: "INSERT",
                table: Some(insert.table.name().to_owned()),
                access: Some("ALL"),
                ..Line::default()
            });
            if let InsertRows::Query(query) = &insert.source {
                lines.query(query, "SIMPLE");
            }
        }
        PlanKind::Load(_)
        | PlanKind::Do(_)
        | PlanKind::Handler(_)
        | PlanKind::Explain(_)
        | PlanKind::Analyze(_) => {
            return Err(Error::unsupported("EXPLAIN of this statement"));
        }
    }
    Ok(lines.lines)
}

fn columns(flavour: ExplainFlavour) -> Vec<ResultColumn> {
    let text = |name: &str, length: u64, nullable: bool| {
        let ty = ExprType::text(length, Collation::Utf8mb3GeneralCi).with_nullable(nullable);
        ResultColumn::of_expression(name, &ty)
    };
    let mut columns = vec![
        ResultColumn::of_expression("id", &ExprType::bigint(3).nullable()),
        text("select_type", 19, false),
        text("table", 64, true),
    ];
    if flavour == ExplainFlavour::Partitions {
        columns.push(text("partitions", 4096, true));
    }
    columns.extend([
        text("type", 10, true),
        text("possible_keys", 4096, true),
        text("key", 64, true),
        text("key_len", 4096, true),
        text("ref", 4096, true),
        text("rows", 64, true),
    ]);
    let percentage = |name: &str| ResultColumn::of_expression(name, &ExprType::double_with(2).nullable());
    if flavour == ExplainFlavour::Analyze {
        columns.push(text("r_rows", 64, true));
    }
    if matches!(flavour, ExplainFlavour::Extended | ExplainFlavour::Analyze) {
        columns.push(percentage("filtered"));
    }
    if flavour == ExplainFlavour::Analyze {
        columns.push(percentage("r_filtered"));
    }
    columns.push(text("Extra", 255, false));
    columns
}

impl Line {
    fn values(self, flavour: ExplainFlavour) -> Vec<Value> {
        let text = |text: Option<String>| text.map_or(Value::Null, Value::Text);
        let mut values = vec![
            self.id.map_or(Value::Null, |id| Value::Int(i64::from(id))),
            Value::Text(self.select_type.to_owned()),
            text(self.table),
        ];
        if flavour == ExplainFlavour::Partitions {
            values.push(Value::Null);
        }
        values.extend([
            text(self.access.map(str::to_owned)),
            text(self.possible_keys),
            text(self.key),
            text(self.key_len),
            text(self.reference),
            text(self.rows.map(|rows| rows.to_string())),
        ]);
        if flavour == ExplainFlavour::Analyze {
            let rows = self.measure.map(|measure| format!("{:.2}", measure.rows()));
            values.push(text(rows));
        }
        if matches!(flavour, ExplainFlavour::Extended | ExplainFlavour::Analyze) {
            values.push(if self.rows.is_some() {
                Value::Double(100.0)
            } else {
                Value::Null
            });
        }
        if flavour == ExplainFlavour::Analyze {
            let filtered = self.measure.map(LineMeasure::filtered);
            values.push(filtered.map_or(Value::Null, Value::Double));
        }
        values.push(Value::Text(self.extra));
        values
    }
}

fn rows(estimate: f64) -> u64 {
    estimate.round().max(1.0) as u64
}

/// Returns the subqueries in a block's expressions, and its derived tables.
fn inner_queries(select: &SelectPlan, subqueries: &[Arc<QueryPlan>]) -> Vec<(Arc<QueryPlan>, &'static str)> {
    let mut found: Vec<(Arc<QueryPlan>, &'static str)> = Vec::new();
    let mut visit = |expr: &Expr| {
        expr.visit(&mut |node| {
            if let ExprKind::ScalarSubquery(subquery)
            | ExprKind::Exists { subquery, .. }
            | ExprKind::Quantified { subquery, .. } = &node.kind
            {
                let plan = &subqueries[subquery.id.index()];
                let kind = match plan.correlated {
                    true => "DEPENDENT SUBQUERY",
                    false => "SUBQUERY",
                };
                found.push((plan.clone(), kind));
            }
        });
    };
    select.projection.iter().for_each(&mut visit);
    select.constant_conditions.iter().for_each(&mut visit);
    select.having.iter().for_each(&mut visit);
    for sort in select.windows.iter().flat_map(|windows| &windows.sorts) {
        sort.keys.iter().for_each(|key| visit(&key.expr));
        let functions = sort.functions.iter();
        functions.flat_map(|function| &function.args).for_each(&mut visit);
    }
    inner_queries_steps(&select.steps, &mut visit);
    for table in &select.tables {
        if let TableSource::Derived(plan) = &table.source {
            let kind = if table.distinct { "MATERIALIZED" } else { "DERIVED" };
            found.push((plan.clone(), kind));
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

/// Collects lines, with the measurements of their plan.
struct LineWriter<'t> {
    lines: Vec<Line>,
    subqueries: &'t [Arc<QueryPlan>],
    measurements: Option<&'t Measurements>,
}

impl LineWriter<'_> {
    fn query(&mut self, plan: &QueryPlan, select_type: &'static str) {
        match &plan.body {
            QueryBody::Select(select) => self.select(select, select_type),
            QueryBody::Set(set) => {
                let first = if select_type == "SIMPLE" {
                    "PRIMARY"
                } else {
                    select_type
                };
                self.query(&set.sides[0], first);
                for side in &set.sides[1..] {
                    self.query(side, "UNION");
                }
                let numbers: Vec<String> = (set.sides.iter())
                    .map(|side| side.first_select_number().to_string())
                    .collect();
                let block = self.measurements.and_then(|measured| measured.set(set));
                self.lines.push(Line {
                    select_type: "UNION RESULT",
                    table: Some(format!("<union{}>", numbers.join(","))),
                    access: Some("ALL"),
                    extra: if set.order.is_empty() {
                        String::new()
                    } else {
                        "Using filesort".to_owned()
                    },
                    measure: block.map(LineMeasure::of_result),
                    block,
                    ..Line::default()
                });
            }
            QueryBody::Values(values) => self.lines.push(Line {
                id: Some(1),
                select_type,
                rows: Some(values.rows.len() as u64),
                extra: "No tables used".to_owned(),
                ..Line::default()
            }),
            QueryBody::Recursive(recursive) => {
                self.query(&recursive.anchor, select_type);
                self.query(&recursive.step, "RECURSIVE UNION");
            }
        }
    }

    /// Returns the plan that was executed: this one or its alternative.
    fn executed<'p>(&self, select: &'p SelectPlan) -> &'p SelectPlan {
        match (&select.otherwise, self.measurements) {
            (Some(otherwise), Some(measured)) if measured.has_read(&otherwise.select) => &otherwise.select,
            _ => select,
        }
    }

    fn select(&mut self, planned: &SelectPlan, select_type: &'static str) {
        let block = self.measurements.and_then(|measured| measured.select(planned));
        let select = self.executed(planned);
        let inner = inner_queries(select, self.subqueries);
        let select_type = if select_type == "SIMPLE" && !inner.is_empty() {
            "PRIMARY"
        } else {
            select_type
        };
        let plain = |extra: &str| Line {
            id: Some(select.number),
            select_type,
            extra: extra.to_owned(),
            block,
            ..Line::default()
        };
        if let Some(reason) = select.impossible {
            self.lines.push(plain(reason));
        } else if select.steps.is_empty() {
            self.lines.push(plain("No tables used"));
        } else if let Some(GroupStrategy::IndexEnds(_)) = select
            .aggregation
            .as_ref()
            .map(|aggregation| &aggregation.strategy)
            && select.steps[0].filter.is_empty()
        {
            self.lines.push(plain("Select tables optimized away"));
        } else {
            let mut extra = Vec::new();
            if select.notes.temporary && (!select.distinct || select.windows.is_some()) {
                extra.push("Using temporary");
            }
            if select.notes.filesort {
                extra.push("Using filesort");
            }
            let first = self.lines.len();
            self.steps(select, &select.steps, select_type, &mut extra);
            for line in &mut self.lines[first..] {
                line.block = block;
            }
        }
        for (plan, kind) in inner {
            self.query(&plan, kind);
        }
    }

    fn steps(
        &mut self,
        select: &SelectPlan,
        steps: &[JoinStep],
        select_type: &'static str,
        block_extra: &mut Vec<&'static str>,
    ) {
        for step in steps {
            match &step.source {
                StepSource::Nest(inner) => self.steps(select, inner, select_type, block_extra),
                StepSource::Table(access) => {
                    let mut line = access_line(select, step, access, select_type, block_extra);
                    line.measure = self.measure(access);
                    self.lines.push(line);
                }
            }
        }
    }

    /// Returns the measurements of a table. If its rows are kept, they are those of the read that kept them.
    fn measure(&self, access: &TableAccess) -> Option<LineMeasure> {
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
}

fn access_line(
    select: &SelectPlan,
    step: &JoinStep,
    access: &TableAccess,
    select_type: &'static str,
    block_extra: &mut Vec<&'static str>,
) -> Line {
    let table = &select.tables[access.table];
    let definition = match &table.source {
        TableSource::Base(definition) => Some(definition),
        _ => None,
    };
    let name = match &table.source {
        TableSource::Derived(plan) if !table.distinct => format!("<derived{}>", plan.first_select_number()),
        _ => table.alias.to_string(),
    };
    let mut line = Line {
        id: Some(select.number),
        select_type,
        table: Some(name),
        ..Line::default()
    };
    let mut extra: Vec<String> = Vec::new();
    let mut used = 0;
    let mut joined_by = None;
    match &access.path {
        AccessPath::All => {
            line.access = Some(if access.key_only { "index" } else { "ALL" });
            if access.key_only
                && let Some(definition) = definition
                && let paceline_storage::RowPlacement::Key(index) = definition.schema().clustered()
            {
                set_key(
                    &mut line,
                    definition,
                    index,
                    definition.indexes()[index].parts.len(),
                );
            } else if access.key_only {
                line.access = Some("ALL");
            }
            line.rows = Some(rows(access.rows));
        }
        AccessPath::Index { index } => {
            line.access = Some("index");
            line.rows = Some(rows(access.rows));
            if let Some(definition) = definition {
                set_key(
                    &mut line,
                    definition,
                    *index,
                    definition.indexes()[*index].parts.len(),
                );
            }
        }
        AccessPath::Lookup { index, key, unique } => {
            let constant = key.iter().all(|part| part.value.is_constant_during_execution());
            line.access = Some(match (*unique, constant) {
                (true, true) => "const",
                (true, false) => "eq_ref",
                (false, _) => "ref",
            });
            line.rows = Some(rows(access.rows));
            used = key.len();
            if let Some(definition) = definition {
                set_key(&mut line, definition, *index, key.len());
            }
            let names: Vec<String> = key
                .iter()
                .map(|part| reference_name(select, &part.value))
                .collect();
            line.reference = Some(names.join(","));
        }
        AccessPath::Range { index, condition } => {
            line.access = Some("range");
            line.rows = Some(rows(access.rows));
            used = usize::MAX;
            if let Some(definition) = definition {
                let parts = &definition.indexes()[*index].parts;
                let count = parts
                    .iter()
                    .take_while(|part| condition.restricts(part.column))
                    .count();
                set_key(&mut line, definition, *index, count.max(1));
            }
        }
        AccessPath::Union { parts } => {
            line.access = Some("index_merge");
            line.rows = Some(rows(access.rows));
            if let Some(definition) = definition {
                let mut names: Vec<&str> = Vec::new();
                let mut lengths: Vec<String> = Vec::new();
                for (index, condition) in parts {
                    let index = &definition.indexes()[*index];
                    let count = index
                        .parts
                        .iter()
                        .take_while(|part| condition.restricts(part.column))
                        .count();
                    names.push(&index.name);
                    lengths.push(key_length(definition, index, count.max(1)).to_string());
                }
                extra.push(format!("Using union({})", names.join(",")));
                line.key = Some(names.join(","));
                line.key_len = Some(lengths.join(","));
            }
        }
        AccessPath::Hash { keys, source } if keys.is_empty() => {
            if let StepSource::Table(kept) = &source.source {
                let plain = access_line(select, source, kept, select_type, &mut Vec::new());
                line.access = plain.access;
                (line.key, line.key_len) = (plain.key, plain.key_len);
                (line.reference, line.rows) = (plain.reference, plain.rows);
            }
            used = usize::MAX;
            if !source.filter.is_empty() && step.on.len() + step.filter.len() == 0 {
                extra.push("Using where".to_owned());
            }
            joined_by = Some("Using join buffer (flat, BNL join)");
        }
        AccessPath::Hash { keys, .. } => {
            line.access = Some("hash_ALL");
            line.key = Some("#hash#$hj".to_owned());
            line.rows = Some(rows(table.row_estimate));
            joined_by = Some("Using join buffer (flat, BNLH join)");
            let names: Vec<String> = keys
                .iter()
                .map(|key| reference_name(select, &key.outer))
                .collect();
            line.reference = Some(names.join(","));
        }
    }
    if let (Some(loose), Some(definition), Some(index)) = (access.loose, definition, access.path.index()) {
        line.access = Some("range");
        line.rows = Some(rows(access.rows));
        let parts = loose.parts + usize::from(loose.ends != GroupEnds::One);
        set_key(&mut line, definition, index, parts);
    }
    if let Some(definition) = definition
        && !access.possible.is_empty()
    {
        let names: Vec<&str> = access
            .possible
            .iter()
            .map(|&index| definition.indexes()[index].name.as_str())
            .collect();
        line.possible_keys = Some(names.join(","));
    }
    let conditions = step.on.len() + step.filter.len();
    if conditions > used || (used == usize::MAX && conditions > 0) {
        extra.push("Using where".to_owned());
    }
    if access.loose.is_some() {
        extra.push("Using index for group-by".to_owned());
    } else if access.key_only || access.covering.is_some() {
        extra.push("Using index".to_owned());
    }
    if step.kind == JoinKind::Semi {
        extra.push("FirstMatch".to_owned());
    }
    extra.extend(block_extra.drain(..).map(str::to_owned));
    extra.extend(joined_by.map(str::to_owned));
    line.extra = extra.join("; ");
    line
}

fn set_key(line: &mut Line, definition: &TableDefinition, index: usize, parts: usize) {
    let index = &definition.indexes()[index];
    line.key = Some(index.name.clone());
    line.key_len = Some(key_length(definition, index, parts).to_string());
}

/// Returns the length in bytes of the first parts of an index in MariaDB's key format.
fn key_length(definition: &TableDefinition, index: &IndexDefinition, parts: usize) -> usize {
    index
        .parts
        .iter()
        .take(parts)
        .map(|part| {
            let column = &definition.columns()[part.column];
            let null = usize::from(column.nullable && index.kind != IndexKind::Primary);
            let characters = |length: u32, collation: Collation| {
                let length = part.prefix_length.map_or(length, |prefix| prefix.min(length));
                (length * collation.charset().max_bytes_per_character()) as usize
            };
            null + match &column.data_type {
                DataType::Integer(integer) => integer.width.bytes(),
                DataType::Decimal(decimal) => {
                    paceline_types::Decimal::binary_length(decimal.precision, decimal.scale)
                }
                DataType::Float(_) => 4,
                DataType::Double(_) => 8,
                DataType::Bit { length } => usize::from(length.div_ceil(8)),
                DataType::Char { length, collation } => characters(u32::from(*length), *collation),
                DataType::VarChar { length, collation } => 2 + characters(*length, *collation),
                DataType::Text { collation, .. } => 2 + characters(u32::MAX / 8, *collation),
                DataType::Binary { length } => usize::from(*length),
                DataType::VarBinary { length } => 2 + part.prefix_length.unwrap_or(*length) as usize,
                DataType::Blob { .. } => 2 + part.prefix_length.unwrap_or(0) as usize,
                DataType::Json => 2 + characters(u32::MAX / 8, Collation::Utf8mb4Bin),
                DataType::Date => 3,
                DataType::Time { decimals } => 3 + usize::from(decimals.div_ceil(2)),
                DataType::DateTime { decimals } => 5 + usize::from(decimals.div_ceil(2)),
                DataType::Timestamp { decimals } => 4 + usize::from(decimals.div_ceil(2)),
                DataType::Year => 1,
                DataType::Enum { labels, .. } => {
                    if labels.len() < 256 {
                        1
                    } else {
                        2
                    }
                }
                DataType::Set { labels, .. } => labels.len().div_ceil(8).next_power_of_two().min(8),
                DataType::FixedBinary(t) => t.bytes(),
            }
        })
        .sum()
}

/// Returns the description of a lookup's value: a column of another table, or a constant.
fn reference_name(select: &SelectPlan, expr: &Expr) -> String {
    if let ExprKind::Column(slot) = expr.kind {
        for table in &select.tables {
            if table.slots.contains(&slot) {
                let column = slot - table.slots.start;
                let name = match &table.source {
                    TableSource::Base(definition) => definition.columns()[column].name.clone(),
                    TableSource::Derived(plan) => plan.columns[column].name.to_string(),
                    TableSource::Series(_) => "seq".to_owned(),
                    TableSource::Recursive(_) | TableSource::Virtual { .. } | TableSource::MergedView => {
                        String::new()
                    }
                };
                return if table.database.is_empty() {
                    format!("{}.{name}", table.alias)
                } else {
                    format!("{}.{}.{name}", table.database, table.alias)
                };
            }
        }
    }
    let mut columns = 0;
    expr.visit(&mut |node| columns += usize::from(matches!(node.kind, ExprKind::Column(_))));
    if columns == 0 {
        "const".to_owned()
    } else {
        "func".to_owned()
    }
}
