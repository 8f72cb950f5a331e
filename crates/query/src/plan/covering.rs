//! Covering indexes: reads of an index without its rows, if the entries contain all used columns.
//!
//! In every snapshot an entry exists exactly if its row does, so the row need not be read. The entry contains the
//! columns of its index and of the row's key, except for text, which does not follow from its sort key.
//!
//! A condition on such text need not be checked if the index itself is searched for the value, with equalities of all
//! columns before it:
//!
//! ```text
//!   KEY (status, created)       status = 'paid' AND created > '2024-01-01'
//!                               └ searched  ┘      └ read from the entry ┘
//! ```

use paceline_types::key_reader::determines_value;

use super::keys::TableInfo;
use super::range::{ColumnTest, RangeCondition};
use super::tree::{
    AccessPath, AssumedEquality, Covering, GroupStrategy, JoinKind, JoinStep, LookupPart, ReadMode,
    SelectPlan, SortKey, StepSource, TableAccess,
};
use paceline_catalog::TableDefinition;
use paceline_expression::{CompareOp, Comparison, Correlation, Expr, ExprKind};

/// Makes accesses of a plan read entries only, if their index contains all used columns.
pub(crate) fn read_keys_alone(select: &mut SelectPlan, infos: &[TableInfo<'_>]) {
    let padded = select.tables.iter().any(|table| !table.padding.is_empty());
    if select.read != ReadMode::Snapshot || select.keep_row_handles || padded {
        return;
    }
    prefer_small_index(select, infos);
    let wanted = ReadSlots::of(select);
    let number = infos.len();
    let mut found: Vec<Option<Covering>> = (0..number).map(|_| None).collect();
    for_each_step(&select.steps, &mut |step, access| {
        found[access.table] = covering(select, &wanted, &infos[access.table], step, access);
    });
    for_each_access_mut(&mut select.steps, &mut |access| {
        access.covering = found[access.table].take().map(Box::new);
    });
}

/// Makes a scan of one table in any order read the shortest index that contains the used columns.
fn prefer_small_index(select: &mut SelectPlan, infos: &[TableInfo<'_>]) {
    let [
        JoinStep {
            kind: JoinKind::Inner,
            source: StepSource::Table(access),
            ..
        },
    ] = &mut select.steps[..]
    else {
        return;
    };
    let info = &infos[access.table];
    let in_order = select.aggregation.as_ref().is_some_and(|aggregation| {
        matches!(
            aggregation.strategy,
            GroupStrategy::Ordered | GroupStrategy::IndexEnds(_)
        )
    });
    let Some(definition) = &info.definition else {
        return;
    };
    if !matches!(access.path, AccessPath::All) || access.key_only || access.loose.is_some() || in_order {
        return;
    }
    let length = |index: &usize| -> u64 {
        let parts = definition.indexes()[*index].parts.iter();
        parts
            .map(|part| u64::from(definition.columns()[part.column].data_type.display_length(1)))
            .sum()
    };
    let row: u64 = definition
        .columns()
        .iter()
        .map(|column| u64::from(column.data_type.display_length(1)))
        .sum();
    let shortest = info.covering.iter().copied().min_by_key(length);
    if let Some(index) = shortest
        && length(&index) < row
    {
        access.path = AccessPath::Index { index };
    }
}

/// Slots that a plan reads besides the conditions of its steps.
struct ReadSlots {
    slots: Vec<usize>,
    /// Whether the slots are unknown, so that all may be read.
    all: bool,
}

impl ReadSlots {
    fn of(select: &SelectPlan) -> Self {
        let mut wanted = ReadSlots {
            slots: Vec::new(),
            all: select.windows.is_some(),
        };
        select.projection.iter().for_each(|expr| wanted.add(expr));
        select.once.iter().for_each(|(expr, _)| wanted.add(expr));
        select.having.iter().for_each(|expr| wanted.add(expr));
        for item in &select.order {
            match &item.key {
                SortKey::Expr(expr) => wanted.add(expr),
                SortKey::Output(_) => {}
            }
        }
        if let Some(aggregation) = &select.aggregation {
            wanted.slots.extend(&aggregation.kept);
            aggregation.per_row.iter().for_each(|(expr, _)| wanted.add(expr));
            aggregation.groups.iter().for_each(|expr| wanted.add(expr));
            for (aggregate, _) in &aggregation.aggregates {
                aggregate.args.iter().for_each(|expr| wanted.add(expr));
                aggregate.order_by.iter().for_each(|(expr, _)| wanted.add(expr));
            }
        }
        wanted.add_steps(&select.steps, select);
        wanted
    }

    fn add_steps(&mut self, steps: &[JoinStep], select: &SelectPlan) {
        for step in steps {
            step.on.iter().for_each(|expr| self.add(expr));
            match &step.source {
                StepSource::Nest(inner) => {
                    step.filter.iter().for_each(|expr| self.add(expr));
                    self.add_steps(inner, select);
                }
                StepSource::Table(access) => {
                    match step.kind {
                        JoinKind::Inner => {
                            self.add_of_others(&step.filter, &select.tables[access.table].slots)
                        }
                        _ => step.filter.iter().for_each(|expr| self.add(expr)),
                    }
                    self.add_path(&access.path);
                }
            }
        }
    }

    /// Adds the slots that a step's conditions read of the tables before it. Those of its own table are checked with
    /// the access to that table.
    fn add_of_others(&mut self, conditions: &[Expr], own: &std::ops::Range<usize>) {
        let mut read = ReadSlots {
            slots: Vec::new(),
            all: false,
        };
        conditions.iter().for_each(|expr| read.add(expr));
        self.all |= read.all;
        self.slots
            .extend(read.slots.iter().filter(|slot| !own.contains(slot)));
    }

    fn add_path(&mut self, path: &AccessPath) {
        match path {
            AccessPath::All | AccessPath::Index { .. } => {}
            AccessPath::Lookup { key, .. } => key.iter().for_each(|part| self.add(&part.value)),
            AccessPath::Range { condition, .. } => condition.for_each_value(&mut |expr| self.add(expr)),
            AccessPath::Union { parts } => {
                for (_, condition) in parts {
                    condition.for_each_value(&mut |expr| self.add(expr));
                }
            }
            AccessPath::Hash { keys, .. } => {
                for key in keys {
                    self.add(&key.inner);
                    self.add(&key.outer);
                }
            }
        }
    }

    fn add(&mut self, expr: &Expr) {
        expr.visit(&mut |node| match &node.kind {
            ExprKind::Column(slot) => self.slots.push(*slot),
            // The subquery has a list of its slots.
            ExprKind::ScalarSubquery(subquery)
            | ExprKind::Exists { subquery, .. }
            | ExprKind::Quantified { subquery, .. } => {
                self.all |= subquery.correlation != Correlation::Uncorrelated;
            }
            _ => {}
        });
    }
}

/// Returns the read of an access's entries without rows; `None` if it is impossible.
fn covering(
    select: &SelectPlan,
    wanted: &ReadSlots,
    info: &TableInfo<'_>,
    step: &JoinStep,
    access: &TableAccess,
) -> Option<Covering> {
    let definition = info.definition.as_ref()?;
    let index = match access.path {
        AccessPath::Index { index } | AccessPath::Lookup { index, .. } | AccessPath::Range { index, .. } => {
            index
        }
        AccessPath::All | AccessPath::Union { .. } | AccessPath::Hash { .. } => return None,
    };
    if access.key_only {
        return None;
    }
    let schema = definition.schema();
    let instance = &select.tables[access.table];
    if let Some(reader) = schema.entry_reader(index, &instance.used) {
        return Some(Covering {
            reader,
            rest: None,
            looked_for: Vec::new(),
        });
    }
    if wanted.all || step.kind != JoinKind::Inner || !step.on.is_empty() {
        return None;
    }
    let looked_for = equalities(definition, index, access);
    let own = |expr: &Expr| match expr.kind {
        ExprKind::Column(slot) if instance.slots.contains(&slot) => Some(slot - instance.slots.start),
        _ => None,
    };
    let is_found = |condition: &&Expr| {
        let ExprKind::Compare {
            op: CompareOp::Eq,
            by,
            operands,
        } = &condition.kind
        else {
            return false;
        };
        let [left, right] = &**operands;
        looked_for.iter().any(|(column, assumed)| {
            let is_same = |subject: &Expr, value: &Expr| {
                own(subject) == Some(*column) && super::same_expr::same_expr(value, &assumed.value)
            };
            // Each equality of a column is included once.
            *by == assumed.by && (is_same(left, right) || is_same(right, left))
        })
    };
    let rest: Vec<Expr> = step
        .filter
        .iter()
        .filter(|condition| !is_found(condition))
        .cloned()
        .collect();
    let mut columns: Vec<usize> = wanted
        .slots
        .iter()
        .filter(|slot| instance.slots.contains(slot))
        .map(|slot| slot - instance.slots.start)
        .collect();
    let mut of_rest = ReadSlots {
        slots: Vec::new(),
        all: false,
    };
    rest.iter().for_each(|expr| of_rest.add(expr));
    if of_rest.all
        || select
            .outer
            .iter()
            .any(|outer| instance.slots.contains(&outer.to))
    {
        return None;
    }
    let named = of_rest.slots.iter().filter(|slot| instance.slots.contains(slot));
    columns.extend(named.map(|slot| slot - instance.slots.start));
    columns.sort_unstable();
    columns.dedup();
    Some(Covering {
        reader: schema.entry_reader(index, &columns)?,
        rest: Some(rest),
        looked_for: looked_for.into_iter().map(|(_, assumed)| assumed).collect(),
    })
}

/// Returns the equalities of an index's first columns for which its path searches, up to the first prefix of a column.
fn equalities(
    definition: &TableDefinition,
    index: usize,
    access: &TableAccess,
) -> Vec<(usize, AssumedEquality)> {
    let mut found = Vec::new();
    for (place, part) in definition.indexes()[index].parts.iter().enumerate() {
        let equality = match &access.path {
            AccessPath::Lookup { key, .. } => match key.get(place) {
                Some(LookupPart {
                    value,
                    null_safe: false,
                    by,
                }) => Some((by, value)),
                _ => None,
            },
            AccessPath::Range { condition, .. } => only_equality(condition, part.column),
            _ => None,
        };
        let data_type = &definition.columns()[part.column].data_type;
        let is_exact = determines_value(data_type)
            || (data_type.is_text() && !matches!(data_type, paceline_types::DataType::Json));
        match equality {
            Some((by, value)) if part.prefix_length.is_none() && is_exact => found.push((
                part.column,
                AssumedEquality {
                    data_type: data_type.clone(),
                    value: value.clone(),
                    by: by.clone(),
                },
            )),
            _ => break,
        }
    }
    found
}

/// Returns `column = value`, if a condition requires exactly this of the column.
fn only_equality(condition: &RangeCondition, column: usize) -> Option<(&Comparison, &Expr)> {
    let parts = match condition {
        RangeCondition::And(parts) => &parts[..],
        single => std::slice::from_ref(single),
    };
    let mut found = None;
    for part in parts {
        match part {
            RangeCondition::Column { column: tested, test } if *tested == column => match test {
                ColumnTest::Compare {
                    op: CompareOp::Eq,
                    by,
                    value,
                } if found.is_none() => found = Some((by, value)),
                _ => return None,
            },
            RangeCondition::Column { .. } => {}
            // It may contain another condition on the column.
            RangeCondition::And(_) | RangeCondition::Or(_) => return None,
        }
    }
    found
}

fn for_each_step<'s>(steps: &'s [JoinStep], visit: &mut dyn FnMut(&'s JoinStep, &'s TableAccess)) {
    for step in steps {
        match &step.source {
            StepSource::Table(access) => visit(step, access),
            StepSource::Nest(inner) => for_each_step(inner, visit),
        }
    }
}

fn for_each_access_mut(steps: &mut [JoinStep], visit: &mut dyn FnMut(&mut TableAccess)) {
    for step in steps {
        match &mut step.source {
            StepSource::Table(access) => visit(access),
            StepSource::Nest(inner) => for_each_access_mut(inner, visit),
        }
    }
}
