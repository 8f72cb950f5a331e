//! HANDLER.

use std::ops::ControlFlow;

use paceline_storage::{Direction, KeyRange, prefix_end};
use paceline_types::convert::assign;
use paceline_types::error_code::ER_OUT_OF_RESOURCES;
use paceline_types::{Value, ValueRef};

use crate::error::{Error, Result};
use crate::execute::context::Execution;
use crate::execute::interface::{Outcome, RowSink};
use crate::execute::operators::limit::RowLimit;
use crate::plan::{HandlerPlan, HandlerReadPlan, HandlerStartPlan, ResultColumn};
use paceline_expression::Expr;
use paceline_expression::session::ReadStart;
use paceline_expression::session::{HandlerPlace, HandlerPosition, OpenHandler};
use paceline_syntax::HandlerComparison;

/// Executes HANDLER.
pub(super) fn execute(
    exec: &mut Execution<'_, '_>,
    plan: &HandlerPlan,
    columns: &[ResultColumn],
    sink: &mut dyn RowSink,
) -> Result<Outcome> {
    match plan {
        HandlerPlan::Open { name, definition } => {
            let handlers = &mut exec.session.handlers;
            // A table of that name that was defined again is closed.
            handlers.remove(name);
            let handler = OpenHandler {
                name: name.clone(),
                database: definition.database().to_owned(),
                table: definition.name().to_owned(),
                version: definition.version(),
                position: HandlerPosition::default(),
            };
            match handlers.add(handler) {
                true => Ok(Outcome::default()),
                false => Err(Error::new(ER_OUT_OF_RESOURCES, &[])),
            }
        }
        HandlerPlan::Close { name } => {
            exec.session.handlers.remove(name);
            Ok(Outcome::default())
        }
        HandlerPlan::Read(read) => {
            sink.columns(columns)?;
            let rows_sent = read_rows(exec, read, sink)?;
            Ok(Outcome {
                result_set: true,
                rows_sent,
                ..Outcome::default()
            })
        }
    }
}

/// Part of an index that a READ scans.
struct ScannedRange {
    range: KeyRange,
    direction: Direction,
    /// Whether the position stays at the last row if there are no more.
    of_one_key: bool,
    /// Whether the read continues after the row of the last one.
    continues: bool,
}

/// Progress of a READ.
struct Progress {
    /// Rows read, whether they match or not.
    rows: u64,
    sent: u64,
    place: HandlerPlace,
}

fn read_rows(exec: &mut Execution<'_, '_>, plan: &HandlerReadPlan, sink: &mut dyn RowSink) -> Result<u64> {
    let limit = RowLimit::new(exec, &plan.limit)?;
    let Some(scanned) = scanned_range(exec, plan)? else {
        return Ok(0);
    };
    if limit.count == 0 {
        return Ok(0);
    }
    let continues = scanned.continues;
    let is_backward = scanned.direction == Direction::Backward;
    let mut progress = Progress {
        rows: 0,
        sent: 0,
        place: match (scanned.of_one_key, scanned.direction) {
            (true, _) => HandlerPlace::At(scanned.range.start.clone()),
            (false, Direction::Forward) => HandlerPlace::AfterLast,
            (false, Direction::Backward) => HandlerPlace::BeforeFirst,
        },
    };
    let flow = scan_rows(exec, plan, &limit, scanned, sink, &mut progress);
    // Rows before an error were read, too.
    let has_ended = matches!(flow, Ok(ControlFlow::Continue(())));
    let Progress { rows, sent, place } = progress;
    let index = plan.index;
    let counts = &mut exec.session.counts;
    match (&plan.start, index) {
        (_, None) => counts.count_read(ReadStart::Table, is_backward, rows, has_ended),
        (HandlerStartPlan::Key { .. }, _) => counts.count_read(ReadStart::Key, is_backward, rows, has_ended),
        _ if continues => {
            counts.rows_read += rows;
            let asked = rows + u64::from(has_ended);
            match is_backward {
                false => counts.handler_read_next += asked,
                true => counts.handler_read_prev += asked,
            }
        }
        _ => counts.count_read(ReadStart::End, is_backward, rows, has_ended),
    }
    (plan.definition).count_read(index, rows, exec.session.user_statistics);
    let _ = flow?;
    let position = HandlerPosition { index, place };
    exec.session.handlers.set_position(&plan.name, position);
    Ok(sent)
}

/// Sends the matching rows of a range. Breaks at the limit.
fn scan_rows(
    exec: &mut Execution<'_, '_>,
    plan: &HandlerReadPlan,
    limit: &RowLimit,
    scanned: ScannedRange,
    sink: &mut dyn RowSink,
    progress: &mut Progress,
) -> Result<ControlFlow<()>> {
    let schema = plan.definition.schema();
    let secondary = plan
        .index
        .filter(|index| schema.indexes()[*index].id != schema.clustered_id());
    let mut skipped = 0;
    let mut row_key = Vec::new();
    let mut returned = Vec::with_capacity(plan.projection.len());
    let transaction_error = |error| plan.definition.transaction_error(error);
    let scan = (exec.state.transaction).scan(scanned.range, scanned.direction);
    let mut scan = scan.map_err(transaction_error)?;
    while scan.advance()? {
        exec.row_fetched()?;
        let Some(entry) = scan.entry() else { break };
        progress.rows += 1;
        let row = match secondary {
            None => schema.decode_row(&schema.row_image(entry.value)?)?,
            Some(index) => {
                row_key.clear();
                schema.append_row_key_of_entry(index, entry.key, entry.value, &mut row_key)?;
                let value = exec.state.transaction.get(&row_key);
                match value.map_err(transaction_error)? {
                    Some(value) => schema.decode_row(&schema.row_image(&value)?)?,
                    None => continue,
                }
            }
        };
        if scanned.of_one_key {
            progress.place = HandlerPlace::At(entry.key.to_vec());
        }
        if !exec.all_true(&plan.conditions, &row)? {
            continue;
        }
        if skipped < limit.offset {
            skipped += 1;
            continue;
        }
        returned.clear();
        for expr in &plan.projection {
            returned.push(exec.eval(expr, &row)?);
        }
        sink.row(&returned)?;
        progress.sent += 1;
        if progress.sent >= limit.count {
            progress.place = HandlerPlace::At(entry.key.to_vec());
            return Ok(ControlFlow::Break(()));
        }
    }
    Ok(ControlFlow::Continue(()))
}

/// Returns the part of the index to scan; `None` if there is nothing in it.
fn scanned_range(exec: &mut Execution<'_, '_>, plan: &HandlerReadPlan) -> Result<Option<ScannedRange>> {
    let schema = plan.definition.schema();
    let whole = match plan.index {
        Some(index) => schema.indexes()[index].id.range(),
        None => schema.rows_range(),
    };
    let open = exec.session.handlers.get(&plan.name);
    // Another index is read from its beginning or end.
    let position = open
        .map(|open| &open.position)
        .filter(|position| position.index == plan.index);
    let place = position.map(|position| &position.place);
    let continues = matches!(
        (&plan.start, place),
        (
            HandlerStartPlan::Next | HandlerStartPlan::Previous,
            Some(HandlerPlace::At(_))
        )
    );
    let (range, direction, of_one_key) = match &plan.start {
        HandlerStartPlan::First => (whole, Direction::Forward, false),
        HandlerStartPlan::Last => (whole, Direction::Backward, false),
        HandlerStartPlan::Next => match place {
            Some(HandlerPlace::At(key)) => {
                let after = [key, &[0][..]].concat();
                (KeyRange::new(after, whole.end), Direction::Forward, false)
            }
            Some(HandlerPlace::AfterLast) => return Ok(None),
            _ => (whole, Direction::Forward, false),
        },
        HandlerStartPlan::Previous => match place {
            Some(HandlerPlace::At(key)) => (
                KeyRange::new(whole.start, key.clone()),
                Direction::Backward,
                false,
            ),
            Some(HandlerPlace::BeforeFirst) => return Ok(None),
            _ => (whole, Direction::Backward, false),
        },
        HandlerStartPlan::Key { by, values } => {
            let Some(prefix) = key_prefix(exec, plan, values)? else {
                return Ok(None);
            };
            let end = prefix_end(&prefix);
            match by {
                HandlerComparison::Equal => (KeyRange::new(prefix, end), Direction::Forward, true),
                HandlerComparison::GreaterOrEqual => {
                    (KeyRange::new(prefix, whole.end), Direction::Forward, false)
                }
                HandlerComparison::Greater => (KeyRange::new(end, whole.end), Direction::Forward, false),
                HandlerComparison::LessOrEqual => {
                    (KeyRange::new(whole.start, end), Direction::Backward, false)
                }
                HandlerComparison::Less => (KeyRange::new(whole.start, prefix), Direction::Backward, false),
            }
        }
    };
    Ok((!range.is_empty()).then_some(ScannedRange {
        range,
        direction,
        of_one_key,
        continues,
    }))
}

/// Returns the beginning of the keys that have these values, as they would be stored: `3.7` is 4 in an INT column.
/// Returns `None` for NULL in a column that is NOT NULL.
fn key_prefix(
    exec: &mut Execution<'_, '_>,
    plan: &HandlerReadPlan,
    values: &[Expr],
) -> Result<Option<Vec<u8>>> {
    let schema = plan.definition.schema();
    let index = plan.index.expect("a key is compared in an index");
    let mut stored: Vec<Value> = Vec::with_capacity(values.len());
    for (value, part) in values.iter().zip(&schema.indexes()[index].parts) {
        let column = &plan.definition.columns()[part.column];
        let value = exec.eval(value, &[])?;
        let value = match value {
            Value::Null => Value::Null,
            value => assign(value, &column.data_type, &exec.context().convert_context()).value,
        };
        if value.is_null() && !column.nullable {
            return Ok(None);
        }
        stored.push(value);
    }
    let stored: Vec<ValueRef<'_>> = stored.iter().map(Value::as_ref).collect();
    let mut prefix = Vec::with_capacity(32);
    schema.append_key_prefix(index, &stored, &mut prefix)?;
    Ok(Some(prefix))
}
