//! Reader of a JSON_TABLE, whose rows are made from its document as they are read.
//!
//! For each value at the path of a level, the NESTED PATHs within it are followed one after the other, and the columns
//! of the others are NULL meanwhile. A value for which none of them finds anything is one row. All columns are computed
//! for each row, in the order of the text, so warnings are repeated as in MariaDB.

use std::ops::ControlFlow;

use paceline_json::{KeyMatch, Kind, Node, unescape};
use paceline_types::convert::{Severity, assign};
use paceline_types::error_code::{
    ER_JSON_TABLE_ERROR_ON_FIELD, ER_JSON_TABLE_MULTIPLE_MATCHES, ER_JSON_TABLE_SCALAR_EXPECTED,
};
use paceline_types::{DataType, ErrorCode, Value};

use crate::error::{Error, Result};
use crate::execute::changes::assignment::implicit_default;
use crate::execute::context::{Execution, Visit};
use crate::plan::json_table_plan::{FUNCTION, JsonAnswer, JsonColumnKind, JsonTableColumn, JsonTablePlan};
use crate::plan::tree::TableInstance;
use paceline_expression::session::ReadStart;
use paceline_expression::{document_error, text_of};

/// A value at the path of a level, and its number.
type Current<'n, 't> = Option<(&'n Node<'t>, i64)>;

struct Reader<'r, 't> {
    table: &'r JsonTablePlan,
    instance: &'r TableInstance,
    text: &'t str,
    /// Whether each column is computed.
    is_needed: Vec<bool>,
    rows: u64,
}

/// Calls `visit` for each row.
///
/// # Errors
/// 4037, 4038 and 4040 for a document that is not JSON; 4176, 4178 and 4179 for values where the table asks for errors.
pub(crate) fn read(
    exec: &mut Execution<'_, '_>,
    instance: &TableInstance,
    table: &JsonTablePlan,
    row: &mut [Value],
    visit: Visit<'_>,
) -> Result<ControlFlow<()>> {
    let document = exec.eval(table.document(), row)?;
    if document.is_null() {
        return Ok(ControlFlow::Continue(()));
    }
    let text = text_of(&document, &exec.context()).into_owned();
    let root = Node::parse(&text).map_err(|fault| document_error(fault, 1, FUNCTION))?;
    let mut reader = Reader {
        table,
        instance,
        text: &text,
        is_needed: (table.columns.iter().enumerate())
            .map(|(number, column)| column.may_refuse() || instance.used.contains(&number))
            .collect(),
        rows: 0,
    };
    let mut current = vec![None; table.levels.len()];
    let flow = reader
        .level(exec, 0, &root, &mut current, row, visit)
        .map(|(flow, _)| flow);
    let has_ended = matches!(flow, Ok(ControlFlow::Continue(())));
    (exec.session.counts).count_read(ReadStart::End, false, reader.rows, has_ended);
    flow
}

impl Reader<'_, '_> {
    /// Makes the rows of one level within a value. Returns whether there are any.
    fn level<'n, 't>(
        &mut self,
        exec: &mut Execution<'_, '_>,
        level: usize,
        within: &'n Node<'t>,
        current: &mut Vec<Current<'n, 't>>,
        row: &mut [Value],
        visit: Visit<'_>,
    ) -> Result<(ControlFlow<()>, bool)> {
        let table = self.table;
        let found = table.levels[level].path.find(within, KeyMatch::Written);
        let has_any = !found.is_empty();
        for (number, node) in found.into_iter().enumerate() {
            current[level] = Some((node, number as i64 + 1));
            let mut has_nested = false;
            for &nested in &table.levels[level].nested {
                let (flow, has_rows) = self.level(exec, nested, node, current, row, visit)?;
                has_nested |= has_rows;
                if flow.is_break() {
                    return Ok((flow, true));
                }
            }
            if !has_nested {
                let flow = self.row(exec, current, row, visit)?;
                if flow.is_break() {
                    return Ok((flow, true));
                }
            }
        }
        current[level] = None;
        Ok((ControlFlow::Continue(()), has_any))
    }

    fn row(
        &mut self,
        exec: &mut Execution<'_, '_>,
        current: &[Current<'_, '_>],
        row: &mut [Value],
        visit: Visit<'_>,
    ) -> Result<ControlFlow<()>> {
        exec.row_fetched()?;
        self.rows += 1;
        let start = self.instance.slots.start;
        for (number, column) in self.table.columns.iter().enumerate() {
            if self.is_needed[number] {
                row[start + number] = match current[column.level] {
                    Some((node, ordinal)) => self.value(exec, column, node, ordinal)?,
                    None => Value::Null,
                };
            }
        }
        visit(exec, row)
    }

    fn value(
        &self,
        exec: &mut Execution<'_, '_>,
        column: &JsonTableColumn,
        node: &Node<'_>,
        ordinal: i64,
    ) -> Result<Value> {
        let (path, on_empty, on_error) = match &column.kind {
            JsonColumnKind::Ordinality => return Ok(Value::Int(ordinal)),
            JsonColumnKind::Exists { path } => {
                let exists = !path.find(node, KeyMatch::Decoded).is_empty();
                return self.stored(exec, column, Value::Int(i64::from(exists)));
            }
            JsonColumnKind::Value {
                path,
                on_empty,
                on_error,
            } => (path, on_empty, on_error),
        };
        let found = path.find(node, KeyMatch::Decoded);
        let Some(&first) = found.first() else {
            return self.answer(exec, column, on_empty, ER_JSON_TABLE_ERROR_ON_FIELD);
        };
        let value = if column.data_type == DataType::Json {
            Value::Text(self.text[first.span.clone()].to_owned())
        } else {
            match &first.kind {
                Kind::Array(_) | Kind::Object(_) | Kind::Unparsed(_) => {
                    return self.answer(exec, column, on_error, ER_JSON_TABLE_SCALAR_EXPECTED);
                }
                Kind::Null => Value::Null,
                Kind::Boolean(truth) if is_number(&column.data_type) => Value::Int(i64::from(*truth)),
                Kind::Boolean(truth) => Value::Text(if *truth { "true" } else { "false" }.to_owned()),
                Kind::Number(number) => Value::Text(number.clone()),
                Kind::String(escaped) => Value::Text(unescape(escaped).into_owned()),
            }
        };
        let value = self.stored(exec, column, value)?;
        match found.len() > 1 && path.has_wildcard() {
            true => self.answer(exec, column, on_error, ER_JSON_TABLE_MULTIPLE_MATCHES),
            false => Ok(value),
        }
    }

    fn answer(
        &self,
        exec: &mut Execution<'_, '_>,
        column: &JsonTableColumn,
        answer: &JsonAnswer,
        code: ErrorCode,
    ) -> Result<Value> {
        match answer {
            JsonAnswer::Null => Ok(Value::Null),
            JsonAnswer::Error => Err(Error::new(code, &[&column.name, &self.instance.alias])),
            JsonAnswer::Default(literal) => {
                let value = literal.eval_assigned(&[], &column.data_type, &mut exec.context())?;
                self.stored(exec, column, value)
            }
        }
    }

    /// Converts a value to the column's type. As in MariaDB a loss is a warning in every SQL mode.
    fn stored(&self, exec: &mut Execution<'_, '_>, column: &JsonTableColumn, value: Value) -> Result<Value> {
        let is_null = value.is_null();
        let assigned = assign(value, &column.data_type, &exec.context().convert_context());
        if let Some(problem) = assigned.problem {
            let qualified = format!("`*any*`.`json_table`.`{}`", column.name);
            let message = problem.warning_message(&qualified, &column.name, self.rows);
            let diagnostics = &mut exec.session.diagnostics;
            match problem.severity {
                Severity::Warning => diagnostics.warn(problem.warning_code, message),
                Severity::Note => diagnostics.note(problem.warning_code, message),
            }
        }
        Ok(match assigned.value {
            Value::Null if !is_null => implicit_default(&column.data_type),
            value => value,
        })
    }
}

fn is_number(data_type: &DataType) -> bool {
    data_type.is_numeric() || matches!(data_type, DataType::Bit { .. } | DataType::Year)
}
