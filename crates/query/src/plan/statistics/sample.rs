//! Sample of a table's rows, on which conditions are tried while a statement is planned.
//!
//! A row represents a number of rows, according to the survey that read it. The rows are kept as images. The columns of
//! a condition are decoded when it is tried.

use std::collections::HashMap;

use paceline_storage::TableSchema;
use paceline_types::Value;
use paceline_types::sort_key::{self, Nullability};
use parking_lot::Mutex;

use crate::plan::known_values::KnownValues;
use paceline_catalog::TableDefinition;
use paceline_expression::{Expr, ExprKind};

/// Maximum number of rows.
const ROWS_MAX: usize = 256;
/// Maximum size of the rows in bytes.
const BYTES_MAX: usize = 64 << 10;

/// A sample of a table's rows.
#[derive(Debug, Default)]
pub(super) struct RowSample {
    /// Images, each with the number of rows that it represents.
    rows: Vec<(Box<[u8]>, f64)>,
    /// Estimates of different values, by column.
    distinct: Mutex<HashMap<usize, f64>>,
}

/// Collects a sample from the rows of a survey.
#[derive(Debug, Default)]
pub(super) struct SampleBuilder {
    rows: Vec<(Box<[u8]>, f64)>,
    bytes: usize,
    /// One of this number of rows is added.
    every: usize,
    met: usize,
}

/// Result of trying conditions on a sample.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SampleResult {
    /// Share of all rows that passes.
    pub fraction: f64,
    /// Number of rows of the sample that passed.
    pub passed: usize,
    /// Number of rows of the sample.
    pub tried: usize,
}

impl SampleBuilder {
    /// Adds a row that represents `weight` rows, or skips it.
    pub fn add(&mut self, image: &[u8], weight: f64) {
        let every = self.every.max(1);
        self.met += 1;
        if !self.met.is_multiple_of(every) {
            return;
        }
        self.bytes += image.len();
        self.rows.push((image.into(), weight * every as f64));
        if self.rows.len() > ROWS_MAX || self.bytes > BYTES_MAX {
            // Every other row is dropped. The remaining rows represent it too.
            let mut number = 0;
            self.rows.retain_mut(|(_, weight)| {
                number += 1;
                *weight *= 2.0;
                number % 2 == 0
            });
            self.bytes = self.rows.iter().map(|(image, _)| image.len()).sum();
            self.every = every * 2;
        }
    }

    pub fn finish(self) -> RowSample {
        RowSample {
            rows: self.rows,
            distinct: Mutex::default(),
        }
    }
}

impl RowSample {
    /// Returns the estimated number of different values of a column in `rows` rows, by the number of values that were
    /// seen once (Haas and Stokes, "Estimating the number of classes in a finite population", the estimator Duj1).
    pub fn distinct(&self, schema: &TableSchema, column: usize, rows: f64) -> Option<f64> {
        if self.rows.is_empty() {
            return None;
        }
        if let Some(known) = self.distinct.lock().get(&column) {
            return Some(*known);
        }
        let mut seen: HashMap<Vec<u8>, u32> = HashMap::with_capacity(self.rows.len());
        for (image, _) in &self.rows {
            let value = schema.image(image).column(column).ok()?;
            let mut key = Vec::new();
            let data_type = &schema.columns()[column].data_type;
            sort_key::append(&value, data_type, Nullability::Nullable, None, &mut key).ok()?;
            *seen.entry(key).or_default() += 1;
        }
        let sampled = self.rows.len() as f64;
        let once = seen.values().filter(|count| **count == 1).count() as f64;
        let part = (sampled / rows).min(1.0);
        let estimate = seen.len() as f64 / (1.0 - (1.0 - part) * once / sampled).max(1e-9);
        let estimate = estimate.clamp(seen.len() as f64, rows.max(1.0));
        self.distinct.lock().insert(column, estimate);
        Some(estimate)
    }

    /// Tries conditions on the sample. The table's columns are in the slots from `base`. Returns `None` if the
    /// conditions need more than a row and literals.
    pub fn try_conditions(
        &self,
        definition: &TableDefinition,
        base: usize,
        conditions: &[&Expr],
        known: KnownValues<'_>,
    ) -> Option<SampleResult> {
        let schema = definition.schema();
        let columns = base..base + schema.columns().len();
        let mut used = Vec::new();
        for condition in conditions {
            if condition.any(&mut |node| !can_be_tried(node)) {
                return None;
            }
            condition.visit(&mut |node| {
                if let ExprKind::Column(slot) = node.kind {
                    used.push(slot);
                }
            });
        }
        used.sort_unstable();
        used.dedup();
        if self.rows.is_empty() || used.iter().any(|slot| !columns.contains(slot)) {
            return None;
        }
        let mut row = vec![Value::Null; columns.end];
        let (mut passing, mut all, mut passed) = (0.0, 0.0, 0);
        for (image, weight) in &self.rows {
            let image = schema.image(image);
            for &slot in &used {
                row[slot] = image.column(slot - base).ok()?.into_owned();
            }
            all += weight;
            // Their warnings are discarded.
            let passes = known.evaluating(|context| {
                let mut tests = conditions
                    .iter()
                    .map(|condition| condition.is_true(&row, context));
                tests.find_map(|test| match test {
                    Ok(true) => None,
                    other => Some(other),
                })
            });
            match passes {
                None => {
                    passing += weight;
                    passed += 1;
                }
                Some(test) => {
                    test.ok()?;
                }
            }
        }
        Some(SampleResult {
            fraction: passing / all,
            passed,
            tried: self.rows.len(),
        })
    }
}

/// Returns whether a node may be evaluated on trial: it reads only a row and literals, and has no side effects.
fn can_be_tried(node: &Expr) -> bool {
    match &node.kind {
        ExprKind::Parameter(_)
        | ExprKind::Aggregate(_)
        | ExprKind::UserVariable(_)
        | ExprKind::AssignUserVariable { .. }
        | ExprKind::SystemVariable { .. }
        | ExprKind::ScalarSubquery(_)
        | ExprKind::Exists { .. }
        | ExprKind::Quantified { .. } => false,
        ExprKind::Call(call) => call.function.stability == paceline_expression::Stability::Pure,
        _ => true,
    }
}
