//! Assignment of a row variable: its fields get their values one after the other, and each expression sees the fields
//! before it.
//!
//! The drivers of programs differ in how they evaluate an expression (a procedure's may wait), so they ask for the
//! expressions one at a time.

use super::variables::{FieldSource, VariableTypes};
use crate::error::Result;
use paceline_expression::session::{MemoryCharge, SessionContext};
use paceline_program::RowValue;
use paceline_syntax::ast::Expr;
use paceline_types::Value;
use std::borrow::Cow;
use std::vec::IntoIter;

/// An assignment in progress.
pub struct RowAssignment<'v> {
    fields: IntoIter<(usize, FieldSource<'v>)>,
    /// Number of the next field within the row.
    next: usize,
    /// Values of all variables, with those of the fields so far. They are a copy if an expression follows a field.
    current: Cow<'v, [Value]>,
    /// Memory of the copy.
    memory: MemoryCharge,
    assigned: Vec<(usize, Value)>,
}

impl<'v> RowAssignment<'v> {
    /// Begins to assign `value` to the variable `row`. `values` are those of all variables.
    ///
    /// # Errors
    /// 1241 for a value with another number of fields.
    pub fn new(
        types: &VariableTypes,
        row: usize,
        value: &'v RowValue,
        values: &'v [Value],
        session: &SessionContext,
    ) -> Result<Self> {
        Ok(RowAssignment {
            fields: types.row_assignment(row, value)?.into_iter(),
            next: 0,
            current: Cow::Borrowed(values),
            memory: MemoryCharge::new(&session.memory),
            assigned: Vec::new(),
        })
    }

    /// Assigns the fields that need no expression, up to the next one that does. Returns this field's variable, its
    /// number within the row, and the expression, whose value is to be passed to [`RowAssignment::assign`]; `None` at
    /// the end.
    ///
    /// # Errors
    /// The errors of conversions.
    pub fn next_expression(
        &mut self,
        types: &VariableTypes,
        session: &mut SessionContext,
    ) -> Result<Option<(usize, usize, &'v Expr)>> {
        while let Some((field, source)) = self.fields.next() {
            let number = self.next;
            self.next += 1;
            let value = match source {
                FieldSource::Null => Value::Null,
                FieldSource::Variable(other) => self.current[other].clone(),
                FieldSource::Expr(expr) => return Ok(Some((field, number, expr))),
            };
            self.assign(field, value, types, session)?;
        }
        Ok(None)
    }

    /// Returns the values of all variables as the next expression sees them.
    pub fn current(&self) -> &[Value] {
        &self.current
    }

    /// Assigns a value to a field, converted to its type.
    ///
    /// # Errors
    /// The errors of the conversion; 1290 and 1041 for lack of memory.
    pub fn assign(
        &mut self,
        field: usize,
        value: Value,
        types: &VariableTypes,
        session: &mut SessionContext,
    ) -> Result<()> {
        let value = types.convert(field, value, session)?;
        if let Some((_, FieldSource::Expr(_))) = self.fields.as_slice().first() {
            if let Cow::Borrowed(values) = self.current {
                let bytes = values.iter().map(Value::memory_bytes).sum();
                self.memory.grow(bytes)?;
            }
            self.current.to_mut()[field].clone_from(&value);
        }
        self.assigned.push((field, value));
        Ok(())
    }

    /// Returns the assigned fields with their values.
    pub fn finish(self) -> Vec<(usize, Value)> {
        self.assigned
    }
}
