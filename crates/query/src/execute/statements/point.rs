//! Fast path for reading one row by a unique key: from its image to the sink, without a copy.

use paceline_types::ValueRef;

use crate::error::Result;
use crate::execute::interface::{ExecutionContext, Outcome, RowSink};
use crate::plan::range::{NearestValue, nearest_value};
use crate::plan::{Plan, PlanKind, PointRead};
use paceline_expression::{EvalContext, EvalState};

/// Executes a plan that reads one row by the clustered key. Returns `None` for any other plan.
pub(super) fn try_execute(
    plan: &Plan,
    context: &mut ExecutionContext<'_>,
    sink: &mut dyn RowSink,
) -> Result<Option<Outcome>> {
    let PlanKind::Query(statement) = &plan.kind else {
        return Ok(None);
    };
    let Some(point) = &statement.point else {
        return Ok(None);
    };
    if context.transaction.reads_lock() || context.rows_max == 0 {
        return Ok(None);
    }
    let mut key = Vec::with_capacity(32);
    let found = match build_key(point, context, &mut key)? {
        Key::Exact => true,
        Key::Nothing => false,
        Key::Unknown => return Ok(None),
    };
    let seconds = u32::try_from(context.session.statement.start_seconds()).unwrap_or(0);
    context.transaction.begin_statement(None, seconds)?;
    let sent = match found {
        true => read(plan, point, context, &key, sink),
        false => sink.columns(plan.columns()).map(|()| 0),
    };
    match sent {
        Ok(sent) => {
            context.transaction.end_statement()?;
            context.session.found_rows = sent;
            Ok(Some(Outcome {
                result_set: true,
                rows_sent: sent,
                ..Outcome::default()
            }))
        }
        Err(error) => {
            context.transaction.rollback_statement();
            Err(error)
        }
    }
}

enum Key {
    Exact,
    Nothing,
    Unknown,
}

fn build_key(point: &PointRead, context: &mut ExecutionContext<'_>, key: &mut Vec<u8>) -> Result<Key> {
    let schema = point.definition.schema();
    let mut state = EvalState::new();
    let mut eval = EvalContext::new(context.session, &mut state);
    eval.parameters = context.parameters;
    key.extend_from_slice(&schema.clustered_id().to_be_bytes());
    for (lookup, &column) in point.key.iter().zip(&point.key_columns) {
        let value = lookup.value.eval_unrounded(&[], &mut eval)?.into_owned();
        let definition = &schema.columns()[column];
        match nearest_value(&definition.data_type, &lookup.by, value, &mut eval) {
            NearestValue::Exact(value) => paceline_types::sort_key::append(
                &value.as_ref(),
                &definition.data_type,
                definition.nullability,
                None,
                key,
            )?,
            NearestValue::Null | NearestValue::None => return Ok(Key::Nothing),
            NearestValue::Unknown => return Ok(Key::Unknown),
        }
    }
    Ok(Key::Exact)
}

fn read(
    plan: &Plan,
    point: &PointRead,
    context: &mut ExecutionContext<'_>,
    key: &[u8],
    sink: &mut dyn RowSink,
) -> Result<u64> {
    sink.columns(plan.columns())?;
    context.session.counts.handler_read_key += 1;
    let value = context.transaction.get(key)?;
    let Some(value) = value else { return Ok(0) };
    context.session.rows_examined += 1;
    context.session.counts.rows_read += 1;
    let for_users = context.session.user_statistics;
    point.definition.count_read(Some(point.index), 1, for_users);
    let schema = point.definition.schema();
    let image = schema.row_image(&value)?;
    let image = schema.image(&image);
    let mut row: Vec<ValueRef<'_>> = Vec::with_capacity(point.columns.len());
    if point.columns.is_sorted_by(|left, right| left < right) {
        let mut columns = image.columns();
        let mut at = 0;
        for &column in &point.columns {
            while at < column {
                columns.skip_column()?;
                at += 1;
            }
            let value = columns.next().transpose()?.unwrap_or(ValueRef::Null);
            at += 1;
            row.push(value);
        }
    } else {
        for &column in &point.columns {
            row.push(image.column(column)?);
        }
    }
    sink.row_ref(&row)?;
    Ok(1)
}
