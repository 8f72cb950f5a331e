//! LOAD DATA and LOAD XML: insert the rows of a file.

use std::borrow::Cow;

use paceline_types::error_code::{
    ER_WARN_NULL_TO_NOTNULL, ER_WARN_TOO_FEW_RECORDS, ER_WARN_TOO_MANY_RECORDS,
    WARN_NON_ASCII_SEPARATOR_NOT_IMPLEMENTED,
};
use paceline_types::{Charset, DataType, Value};

use super::field_reader::{Field, FieldKind, FieldReader, NextLine};
use super::insertion::Insertion;
use super::xml_reader::XmlReader;
use crate::error::{Error, Result};
use crate::execute::changes::assignment::{Strictness, zero_value};
use crate::execute::changes::row_writer::WriteOptions;
use crate::execute::context::Execution;
use crate::execute::interface::{LoadInput, Outcome, RowSink};
use crate::plan::{AssignmentPlan, LoadPlan, LoadTarget, ResultColumn, XmlPlan};
use paceline_expression::ExprType;
use paceline_expression::session::UserVariable;

/// Sink for a statement that returns no rows.
struct NoRows;

impl RowSink for NoRows {
    fn columns(&mut self, _: &[ResultColumn]) -> Result<()> {
        Ok(())
    }

    fn row(&mut self, _: &[Value]) -> Result<()> {
        Ok(())
    }
}

/// Executes a LOAD DATA.
pub(super) fn execute(
    exec: &mut Execution<'_, '_>,
    plan: &LoadPlan,
    options: &WriteOptions,
    input: &mut dyn LoadInput,
) -> Result<Outcome> {
    if plan.odd_separators {
        let error = Error::new(WARN_NON_ASCII_SEPARATOR_NOT_IMPLEMENTED, &[]);
        exec.session.diagnostics.warn(error.code(), error.message());
    }
    let mut loading = LoadRun {
        plan,
        insertion: Insertion::new(exec, &plan.insert, options, None),
        row: 1,
    };
    loading.insertion.be_loading();
    exec.session.diagnostics.reset_row();
    if let Some(xml) = &plan.xml {
        let mut reader = XmlReader::new(input, &xml.row_tag);
        for _ in 0..plan.ignore_lines {
            if !reader.next_row()? {
                break;
            }
        }
        while reader.next_row()? {
            loading.xml_row(exec, xml, &reader)?;
            loading.row = exec.session.diagnostics.current_row();
        }
        return Ok(loading.insertion.loaded(exec));
    }
    let mut reader = FieldReader::new(input, &plan.format);
    let mut skip = plan.ignore_lines;
    if !plan.format.line_end.is_empty() {
        while skip > 0 && reader.next_line()? != NextLine::End {
            skip -= 1;
        }
        skip = 0;
    }
    loop {
        if skip > 0 {
            skip -= 1;
            for _ in &plan.targets {
                if reader.field()?.is_none() {
                    break;
                }
            }
            continue;
        }
        if !loading.line(exec, &mut reader)? {
            break;
        }
        match reader.next_line()? {
            NextLine::End => break,
            NextLine::Follows => {}
            NextLine::FollowsCutLine => {
                let error = Error::new(ER_WARN_TOO_MANY_RECORDS, &[&loading.row]);
                loading.complain(exec, error)?;
            }
        }
        loading.row = exec.session.diagnostics.current_row();
    }
    Ok(loading.insertion.loaded(exec))
}

struct LoadRun<'p> {
    plan: &'p LoadPlan,
    insertion: Insertion<'p>,
    /// Number of the current row.
    row: u64,
}

impl LoadRun<'_> {
    /// Builds a row from a line and inserts it. Returns false if there is no line.
    fn line(&mut self, exec: &mut Execution<'_, '_>, reader: &mut FieldReader<'_>) -> Result<bool> {
        let plan = self.plan;
        let mut targets = plan.targets.iter();
        let Some(first) = reader.field()? else {
            return Ok(false);
        };
        self.insertion.begin_row(exec, false)?;
        if let Some(target) = targets.next() {
            self.store(exec, target, &first)?;
        }
        while let Some(target) = targets.as_slice().first() {
            let Some(field) = reader.field()? else { break };
            self.store(exec, target, &field)?;
            targets.next();
        }
        for target in targets {
            self.leave_out(exec, target)?;
        }
        for AssignmentPlan { column, value } in &plan.assignments {
            self.insertion.assign_expr(exec, *column, value)?;
        }
        self.insertion.insert(exec, &mut NoRows)?;
        Ok(true)
    }

    /// Builds a row from an element of an XML file and inserts it. A field that is missing is NULL.
    fn xml_row(&mut self, exec: &mut Execution<'_, '_>, xml: &XmlPlan, reader: &XmlReader<'_>) -> Result<()> {
        let plan = self.plan;
        self.insertion.begin_row(exec, false)?;
        for (target, name) in plan.targets.iter().zip(&xml.names) {
            let value = reader.value(name);
            let field = Field {
                bytes: value.unwrap_or_default(),
                kind: match value {
                    Some(_) => FieldKind::Quoted,
                    None => FieldKind::Null,
                },
            };
            self.store(exec, target, &field)?;
        }
        for AssignmentPlan { column, value } in &plan.assignments {
            self.insertion.assign_expr(exec, *column, value)?;
        }
        self.insertion.insert(exec, &mut NoRows)
    }

    fn store(&mut self, exec: &mut Execution<'_, '_>, target: &LoadTarget, field: &Field<'_>) -> Result<()> {
        let charset = self.plan.format.charset;
        match (target, field.kind) {
            (LoadTarget::Variable(name), FieldKind::Null) => set_variable(exec, name, Value::Null)?,
            (LoadTarget::Variable(name), _) => set_variable(exec, name, decoded(field.bytes, charset))?,
            (LoadTarget::Column(column), FieldKind::Null) => return self.store_null(exec, *column),
            (LoadTarget::Column(column), _) => {
                let data_type = &self.plan.insert.table.columns()[*column].data_type;
                let charset = match data_type.is_binary_string() {
                    true => Charset::Binary,
                    false => charset,
                };
                return self
                    .insertion
                    .assign(exec, *column, decoded(field.bytes, charset));
            }
        }
        Ok(())
    }

    /// Stores NULL. A NOT NULL column gets the current time if it is a TIMESTAMP, else the type's zero with a warning.
    fn store_null(&mut self, exec: &mut Execution<'_, '_>, column: usize) -> Result<()> {
        let definition = &self.plan.insert.table.columns()[column];
        if definition.nullable || self.plan.insert.table.auto_increment_column() == Some(column) {
            self.insertion.set(column, Value::Null);
            return Ok(());
        }
        if matches!(definition.data_type, DataType::Timestamp { .. }) {
            return self.assign_now(exec, column);
        }
        let error = Error::new(ER_WARN_NULL_TO_NOTNULL, &[&definition.name, &self.row]);
        self.complain(exec, error)?;
        self.insertion.set(column, zero_value(&definition.data_type));
        Ok(())
    }

    /// Handles a target without a field in the line. A column gets its type's zero, not its default; one whose default
    /// is NULL becomes NULL.
    fn leave_out(&mut self, exec: &mut Execution<'_, '_>, target: &LoadTarget) -> Result<()> {
        let column = match target {
            LoadTarget::Variable(name) => return set_variable(exec, name, Value::Null),
            LoadTarget::Column(column) => *column,
        };
        let table = &self.plan.insert.table;
        let definition = &table.columns()[column];
        let stays_null = definition.nullable && table.default_value(column).is_none_or(Value::is_null);
        if stays_null || table.auto_increment_column() == Some(column) {
            self.insertion.set(column, Value::Null);
        } else if !definition.nullable && matches!(definition.data_type, DataType::Timestamp { .. }) {
            self.assign_now(exec, column)?;
        } else {
            self.insertion.set(column, zero_value(&definition.data_type));
        }
        self.complain(exec, Error::new(ER_WARN_TOO_FEW_RECORDS, &[&self.row]))
    }

    fn assign_now(&mut self, exec: &mut Execution<'_, '_>, column: usize) -> Result<()> {
        self.insertion.assign_expr(exec, column, &self.plan.now)
    }

    /// Returns an error in strict mode, otherwise adds a warning.
    fn complain(&self, exec: &mut Execution<'_, '_>, error: Error) -> Result<()> {
        if self.insertion.strictness() == Strictness::Strict {
            return Err(error);
        }
        exec.session.diagnostics.warn(error.code(), error.message());
        Ok(())
    }
}

/// Returns a field's bytes as a text, or as bytes if they are not valid text.
fn decoded(bytes: &[u8], charset: Charset) -> Value {
    if charset == Charset::Binary {
        return Value::Bytes(bytes.to_vec());
    }
    match charset.decode_strict(bytes).map(Cow::into_owned) {
        Ok(text) => Value::Text(text),
        Err(_) => Value::Bytes(bytes.to_vec()),
    }
}

fn set_variable(exec: &mut Execution<'_, '_>, name: &str, value: Value) -> Result<()> {
    let ty = match exec.session.user_variables.get(name) {
        Some(variable) => variable.ty.clone(),
        None => ExprType::parameter(),
    };
    exec.session.user_variables.set(name, UserVariable { value, ty })
}
