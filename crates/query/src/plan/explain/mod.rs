//! EXPLAIN and the ANALYZE statement in MariaDB's columns.
//!
//! EXPLAIN describes the plan in MariaDB's terms: one line for each table in join order, with the lines of other
//! queries. ANALYZE executes the statement and adds measurements.
//!
//! ```text
//!   plan, measurements ──tree──▶ blocks of lines ──┬────────▶ rows of lines
//!                                                  └──json──▶ document
//! ```

mod access;
mod json;
mod line;
mod tree;

use std::sync::Arc;
use std::time::{Duration, Instant};

use paceline_types::{Collation, Value};

use self::json::Times;
use self::line::{Line, LineMeasure, Measured, Query};
use super::measurements::{Measurements, QueryMeasure};
use super::statement_plan::AnalyzePlan;
use super::tree::QueryPlan;
use super::{Plan, PlanKind, Planner, ResultColumn};
use crate::error::{Error, Result};
use paceline_expression::ExprType;
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
        let mut tree = StatementTree::new(&self.statement, subqueries, Some(measurements))?;
        // The search of UPDATE and DELETE is shown as the statement itself.
        if let Query::Block(block) = &mut tree.query {
            block.notes.measure.get_or_insert(QueryMeasure::once(time));
        }
        let times = Times {
            planning: Some(self.planning_time),
            in_progress: None,
        };
        Ok(tree.rows(self.flavour, times))
    }
}

/// Description of a plan that was executed, for the slow query log.
pub struct PlanExplanation {
    tree: StatementTree,
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
    pub fn rows(&self) -> Vec<Vec<Value>> {
        self.tree.rows(ExplainFlavour::Analyze, Times::default())
    }

    /// Returns the rows of SHOW EXPLAIN, or of SHOW ANALYZE without measurements. `time`: since when the statement is
    /// executed.
    pub fn rows_while_running(&self, flavour: ExplainFlavour, time: Duration) -> Vec<Vec<Value>> {
        let times = Times {
            planning: None,
            in_progress: (flavour == ExplainFlavour::AnalyzeJson).then_some(time),
        };
        self.tree.rows(flavour, times)
    }

    /// Returns the operations of the plan.
    pub fn operations(&self) -> PlanOperations {
        let mut operations = PlanOperations::default();
        let mut block = None;
        for line in self.tree.lines() {
            let has = |text: &str| line.extra.contains(text);
            operations.temporary_table |= has("Using temporary")
                || matches!(line.select_type, "DERIVED" | "MATERIALIZED")
                || line.is_result();
            operations.sort |= has("Using filesort");
            let is_first = block.replace((line.id, line.select_type)) != Some((line.id, line.select_type));
            if line.select_type == "INSERT" || line.is_result() {
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
    /// Returns the rows of the ANALYZE statement; `None` for statements that EXPLAIN does not describe.
    pub(crate) fn measured_rows(&self, measurements: &Measurements) -> Option<Vec<Vec<Value>>> {
        let tree = StatementTree::new(&self.kind, &self.subqueries, Some(measurements)).ok()?;
        Some(tree.rows(ExplainFlavour::Analyze, Times::default()))
    }

    /// Returns the rows that another session sees while the statement is executed; nothing for statements that EXPLAIN
    /// does not describe. Blocks and reads that have not ended are without their time.
    pub(crate) fn rows_so_far(
        &self,
        flavour: ExplainFlavour,
        measurements: &Measurements,
        time: Duration,
    ) -> Vec<Vec<Value>> {
        let (kind, planning) = match &self.kind {
            PlanKind::Analyze(analyzed) => (&analyzed.statement, Some(analyzed.planning_time)),
            kind => (kind, None),
        };
        let times = Times {
            planning,
            in_progress: Some(time),
        };
        match StatementTree::new(kind, &self.subqueries, Some(measurements)) {
            Ok(tree) => tree.rows(flavour, times),
            Err(_) => vec![],
        }
    }

    /// Returns the description of the plan; `None` for statements that EXPLAIN does not describe.
    pub fn explanation(&self) -> Option<PlanExplanation> {
        let tree = StatementTree::new(self.executed_kind(), &self.subqueries, None).ok()?;
        Some(PlanExplanation {
            tree,
            changes_rows: matches!(self.kind, PlanKind::Update(_) | PlanKind::Delete(_)),
        })
    }
}

impl Planner<'_> {
    pub(super) fn plan_explain(&self, explain: &Explain) -> Result<(PlanKind, Vec<ResultColumn>)> {
        let is_analyzed = explain.flavour.is_analyzed();
        if let Statement::Query(query) = &explain.statement
            && is_analyzed
            && let Some(SelectInto::Outfile { .. } | SelectInto::Dumpfile(_)) = &query.into
        {
            return Err(Error::unsupported("ANALYZE SELECT … INTO OUTFILE"));
        }
        let started = is_analyzed.then(Instant::now);
        let (kind, _) = self.plan(&explain.statement)?;
        let tree = StatementTree::new(&kind, &self.subqueries(), None)?;
        let columns = match explain.flavour {
            ExplainFlavour::Json => vec![document_column("EXPLAIN")],
            ExplainFlavour::AnalyzeJson => vec![document_column("ANALYZE")],
            flavour => columns(flavour),
        };
        if !is_analyzed {
            let rows = tree.rows(explain.flavour, Times::default());
            return Ok((PlanKind::Explain(rows), columns));
        }
        let plan = AnalyzePlan {
            statement: kind,
            flavour: explain.flavour,
            planning_time: started.map(|started| started.elapsed()).unwrap_or_default(),
        };
        Ok((PlanKind::Analyze(Box::new(plan)), columns))
    }
}

/// A statement as a tree of its lines.
struct StatementTree {
    query: Query,
    measured: Measured,
}

impl StatementTree {
    /// Describes a statement, with measurements if it was executed.
    ///
    /// # Errors
    /// 1235 for statements that EXPLAIN does not support.
    fn new(
        kind: &PlanKind,
        subqueries: &[Arc<QueryPlan>],
        measurements: Option<&Measurements>,
    ) -> Result<Self> {
        Ok(StatementTree {
            query: tree::statement(kind, subqueries, measurements)?,
            measured: Measured::of(measurements),
        })
    }

    fn lines(&self) -> Vec<&Line> {
        let mut lines = Vec::new();
        self.query.for_each_line(&mut |line| lines.push(line));
        lines
    }

    /// Returns the rows in the columns of EXPLAIN or ANALYZE, or the row with the document.
    fn rows(&self, flavour: ExplainFlavour, times: Times) -> Vec<Vec<Value>> {
        match flavour {
            ExplainFlavour::Json | ExplainFlavour::AnalyzeJson => {
                let document = json::document(&self.query, times, self.measured);
                vec![vec![Value::Text(document)]]
            }
            flavour => self
                .lines()
                .into_iter()
                .map(|line| line.values(flavour))
                .collect(),
        }
    }
}

/// Returns the columns in which another session sees a plan.
pub fn shown_plan_columns(flavour: ExplainFlavour) -> Vec<ResultColumn> {
    match flavour {
        ExplainFlavour::Json => vec![document_column("SHOW EXPLAIN")],
        ExplainFlavour::AnalyzeJson => vec![document_column("SHOW ANALYZE")],
        flavour => columns(flavour),
    }
}

fn document_column(name: &str) -> ResultColumn {
    let text = ExprType::text(1 << 24, Collation::Utf8mb3GeneralCi);
    ResultColumn::of_expression(name, &text)
}

fn columns(flavour: ExplainFlavour) -> Vec<ResultColumn> {
    let text = |name: &str, length: u64, nullable: bool| {
        let ty = ExprType::text(length, Collation::Utf8mb3GeneralCi).with_nullable(nullable);
        ResultColumn::of_expression(name, &ty)
    };
    let mut columns = vec![
        ResultColumn::of_expression("id", &ExprType::bigint_unsigned(3).nullable()),
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
        text("ref", 2048, true),
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
    fn values(&self, flavour: ExplainFlavour) -> Vec<Value> {
        let text = |text: &Option<String>| text.clone().map_or(Value::Null, Value::Text);
        let mut values = vec![
            self.id.map_or(Value::Null, |id| Value::Int(i64::from(id))),
            Value::Text(self.select_type.to_owned()),
            text(&self.table),
        ];
        if flavour == ExplainFlavour::Partitions {
            values.push(Value::Null);
        }
        values.extend([
            text(&self.access.map(str::to_owned)),
            text(&self.possible_keys),
            text(&self.key),
            text(&self.key_len),
            text(&self.reference),
            text(&self.rows.map(|rows| rows.to_string())),
        ]);
        // MariaDB gives INSERT … VALUES these percentages, though it reads nothing.
        let is_insert = self.select_type == "INSERT";
        if flavour == ExplainFlavour::Analyze {
            let rows = self.measure.map(|measure| format!("{:.2}", measure.rows()));
            values.push(text(&rows));
        }
        if matches!(flavour, ExplainFlavour::Extended | ExplainFlavour::Analyze) {
            values.push(if self.rows.is_some() || is_insert {
                Value::Double(100.0)
            } else {
                Value::Null
            });
        }
        if flavour == ExplainFlavour::Analyze {
            let filtered = match is_insert {
                true => Some(100.0),
                false => self.measure.map(LineMeasure::filtered),
            };
            values.push(filtered.map_or(Value::Null, Value::Double));
        }
        values.push(match is_insert {
            true => Value::Null,
            false => Value::Text(self.extra.clone()),
        });
        values
    }
}
