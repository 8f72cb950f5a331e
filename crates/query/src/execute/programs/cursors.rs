//! Rows of a program's queries: cursors, the single row of SELECT … INTO, and the row that a row variable is assigned.

use crate::execute::collections::row_store::{RowStore, StoredRows};
use crate::execute::interface::RowSink;
use crate::plan::ResultColumn;
use crate::program::{VariableTypes, set_typed_user_variable};
use paceline_expression::ExprType;
use paceline_expression::session::{MemoryCharge, SessionContext};
use paceline_program::Answer;
use paceline_syntax::{Error, Result, Target};
use paceline_types::Value;
use paceline_types::error_code::*;

/// Sink that keeps the rows of a query for a cursor.
#[derive(Default)]
pub struct CursorSink {
    /// Columns of the query.
    pub columns: Vec<ResultColumn>,
    /// Rows so far.
    pub rows: RowStore,
}

impl RowSink for CursorSink {
    fn columns(&mut self, columns: &[ResultColumn]) -> Result<()> {
        self.columns = columns.to_vec();
        Ok(())
    }

    fn row(&mut self, row: &[Value]) -> Result<()> {
        self.rows.push(row)
    }
}

/// Rows of a program's cursors, by number.
pub struct Cursors {
    cursors: Vec<Option<OpenCursor>>,
}

struct OpenCursor {
    columns: usize,
    rows: StoredRows,
    _memory: MemoryCharge,
}

impl Cursors {
    /// Creates closed cursors.
    pub fn new(count: usize) -> Cursors {
        Cursors {
            cursors: (0..count).map(|_| None).collect(),
        }
    }

    /// Opens a cursor with the rows of its query.
    ///
    /// # Errors
    /// 1290 and 1041 for lack of memory.
    pub fn open(&mut self, cursor: usize, sink: CursorSink, session: &SessionContext) -> Result<Answer> {
        let rows = sink.rows.finish()?;
        let mut memory = MemoryCharge::new(&session.memory);
        memory.grow(rows.memory_bytes())?;
        self.cursors[cursor] = Some(OpenCursor {
            columns: sink.columns.len(),
            rows,
            _memory: memory,
        });
        Ok(Answer::Done)
    }

    /// Reads the next row of a cursor.
    ///
    /// # Errors
    /// 1328 for another number of columns than variables; 1329 after the last row.
    pub fn fetch(
        &mut self,
        cursor: usize,
        into: &[usize],
        types: &VariableTypes,
        session: &mut SessionContext,
    ) -> Result<Answer> {
        let fetched = self.next(cursor, into, types, session)?;
        fetched.ok_or_else(|| Error::new(ER_SP_FETCH_NO_DATA, &[]))
    }

    /// Reads the next row of a cursor for a FOR loop: [`Answer::Done`] after the last one.
    ///
    /// # Errors
    /// 1328 for another number of columns than fields.
    pub fn fetch_next(
        &mut self,
        cursor: usize,
        into: &[usize],
        types: &VariableTypes,
        session: &mut SessionContext,
    ) -> Result<Answer> {
        let fetched = self.next(cursor, into, types, session)?;
        Ok(fetched.unwrap_or(Answer::Done))
    }

    fn next(
        &mut self,
        cursor: usize,
        into: &[usize],
        types: &VariableTypes,
        session: &mut SessionContext,
    ) -> Result<Option<Answer>> {
        let Some(open) = &mut self.cursors[cursor] else {
            return Err(Error::new(ER_SP_CURSOR_NOT_OPEN, &[]));
        };
        let into = types.receivers(into);
        if open.columns != into.len() {
            return Err(Error::new(ER_SP_WRONG_NO_OF_FETCH_ARGS, &[]));
        }
        let Some(row) = open.rows.next_row()? else {
            return Ok(None);
        };
        let mut assigned = Vec::with_capacity(row.len());
        for (value, variable) in row.into_iter().zip(into) {
            assigned.push((*variable, types.convert(*variable, value, session)?));
        }
        Ok(Some(Answer::Values(assigned)))
    }

    /// Removes a cursor's rows.
    pub fn close(&mut self, cursor: usize) {
        self.cursors[cursor] = None;
    }
}

/// Sink for the single row of a query with INTO.
#[derive(Default)]
pub struct SingleRow {
    columns: Vec<ResultColumn>,
    row: Option<Vec<Value>>,
}

impl RowSink for SingleRow {
    fn columns(&mut self, columns: &[ResultColumn]) -> Result<()> {
        self.columns = columns.to_vec();
        Ok(())
    }

    fn row(&mut self, row: &[Value]) -> Result<()> {
        match self.row {
            Some(_) => Err(Error::new(ER_TOO_MANY_ROWS, &[])),
            None => {
                self.row = Some(row.to_vec());
                Ok(())
            }
        }
    }
}

impl SingleRow {
    /// Returns the only value of the only row, with its type; NULL without a row.
    pub fn into_value(self) -> (Value, ExprType) {
        let value = self.row.and_then(|row| row.into_iter().next());
        let column = self.columns.first();
        let ty = column.map_or_else(ExprType::null, |column| ExprType::new(column.data_type.clone()));
        (value.unwrap_or(Value::Null), ty)
    }

    /// Gives the targets of INTO the row's values. Returns those of variables, or [`Answer::Done`] without a row, which
    /// is a warning.
    ///
    /// # Errors
    /// 1222 for another number of columns than targets; those of the conversion.
    pub fn assign(
        self,
        targets: &[Target],
        types: &VariableTypes,
        session: &mut SessionContext,
    ) -> Result<Answer> {
        let fields: Vec<Target>;
        let targets = match targets {
            [Target::Variable(row)] if let Some(row) = types.row(*row) => {
                fields = row.iter().map(|field| Target::Variable(*field)).collect();
                &fields[..]
            }
            _ => targets,
        };
        if self.columns.len() != targets.len() {
            return Err(Error::new(ER_WRONG_NUMBER_OF_COLUMNS_IN_SELECT, &[]));
        }
        let Some(row) = self.row else {
            let message = ER_SP_FETCH_NO_DATA.message(&[]);
            session.diagnostics.warn(ER_SP_FETCH_NO_DATA, message);
            session.row_count = 0;
            return Ok(Answer::Done);
        };
        session.row_count = 1;
        let mut assigned = Vec::new();
        for ((value, column), target) in row.into_iter().zip(&self.columns).zip(targets) {
            match target {
                Target::Variable(variable) => {
                    assigned.push((*variable, types.convert(*variable, value, session)?));
                }
                Target::User(name) => {
                    let ty = ExprType::new(column.data_type.clone());
                    set_typed_user_variable(name, &value, ty, session)?;
                }
            }
        }
        Ok(Answer::Values(assigned))
    }
}

/// Sink for the row of a query that is assigned to a row variable.
///
/// MariaDB takes the query for an operand: one of a single column is no row, even if the variable has only one field.
pub struct AssignedRow {
    /// Number of the variable's fields.
    fields: usize,
    row: Option<Vec<Value>>,
}

impl AssignedRow {
    /// Creates the sink for a variable with this number of fields.
    pub fn new(fields: usize) -> Self {
        AssignedRow { fields, row: None }
    }

    /// Returns the values of the variable's fields: NULL without a row.
    ///
    /// # Errors
    /// Those of the conversion.
    pub fn finish(self, row: usize, types: &VariableTypes, session: &mut SessionContext) -> Result<Answer> {
        let values = self.row.unwrap_or_else(|| vec![Value::Null; self.fields]);
        let fields = types.row(row).unwrap_or_default();
        let mut assigned = Vec::with_capacity(values.len());
        for (field, value) in fields.iter().zip(values) {
            assigned.push((*field, types.convert(*field, value, session)?));
        }
        Ok(Answer::Values(assigned))
    }
}

impl RowSink for AssignedRow {
    fn columns(&mut self, columns: &[ResultColumn]) -> Result<()> {
        match columns.len() == self.fields && self.fields > 1 {
            true => Ok(()),
            false => Err(Error::new(ER_OPERAND_COLUMNS, &[&self.fields])),
        }
    }

    fn row(&mut self, row: &[Value]) -> Result<()> {
        match self.row.replace(row.to_vec()) {
            Some(_) => Err(Error::new(ER_SUBQUERY_NO_1_ROW, &[])),
            None => Ok(()),
        }
    }
}
