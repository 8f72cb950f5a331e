//! `EXECUTE … USING DEFAULT` and `USING IGNORE`: parameters without a value.
//!
//! A parameter that is a whole value of INSERT or UPDATE becomes the column's default; with IGNORE an UPDATE leaves the
//! column as it is. A parameter that is a whole item of a select list is NULL. Elsewhere it is an error, 4032. The
//! statement that is executed is a copy without these parameters, so the others keep their numbers.

use crate::ast::visit::any_expr;
use crate::ast::{Expr, QueryBody, SelectItem};
use crate::error::{Error, Result};
use crate::statement::{AssignedValue, Assignment, InsertSource, OmittedValue, Statement};
use paceline_types::error_code::ER_INVALID_DEFAULT_PARAM;

/// Returns the statement to execute if these parameters, by number, have no values.
///
/// # Errors
/// 4032.
pub fn with_omitted_values(statement: &Statement, omitted: &[(usize, OmittedValue)]) -> Result<Statement> {
    let mut statement = statement.clone();
    let omissions = Omissions(omitted);
    match &mut statement {
        Statement::Insert(insert) => {
            if let InsertSource::Values(rows) = &mut insert.source {
                for value in rows.iter_mut().flatten() {
                    if omissions.of_value(value).is_some() {
                        *value = AssignedValue::Default;
                    }
                    omissions.check_value(value)?;
                }
            }
            omissions.assign(&mut insert.on_duplicate)?;
        }
        Statement::Update(update) => {
            omissions.assign(&mut update.assignments)?;
            update
                .selection
                .iter()
                .try_for_each(|condition| omissions.check(condition))?;
        }
        Statement::Query(query) => {
            if let QueryBody::Select(select) = &query.query.body {
                for item in &select.items {
                    if let SelectItem::Expr { expr, .. } = item
                        && !matches!(expr, Expr::Parameter(_))
                    {
                        omissions.check(expr)?;
                    }
                }
                select
                    .condition
                    .iter()
                    .try_for_each(|condition| omissions.check(condition))?;
            }
        }
        Statement::Delete(delete) => {
            delete
                .selection
                .iter()
                .try_for_each(|condition| omissions.check(condition))?;
        }
        _ => return Err(Error::new(ER_INVALID_DEFAULT_PARAM, &[])),
    }
    Ok(statement)
}

struct Omissions<'o>(&'o [(usize, OmittedValue)]);

impl Omissions<'_> {
    /// Returns what stands for a parameter; `None` if it has a value.
    fn of(&self, index: usize) -> Option<OmittedValue> {
        let found = self.0.iter().find(|(number, _)| *number == index);
        found.map(|(_, omitted)| *omitted)
    }

    fn of_value(&self, value: &AssignedValue) -> Option<OmittedValue> {
        match value {
            AssignedValue::Expr(Expr::Parameter(index)) => self.of(*index),
            _ => None,
        }
    }

    fn assign(&self, assignments: &mut [Assignment]) -> Result<()> {
        for Assignment { column, value } in assignments {
            match self.of_value(value) {
                Some(OmittedValue::Default) => *value = AssignedValue::Default,
                Some(OmittedValue::Ignore) => *value = AssignedValue::Expr(Expr::Column(column.clone())),
                None => self.check_value(value)?,
            }
        }
        Ok(())
    }

    fn check_value(&self, value: &AssignedValue) -> Result<()> {
        match value {
            AssignedValue::Default => Ok(()),
            AssignedValue::Expr(expr) => self.check(expr),
        }
    }

    /// Refuses a parameter without a value within an expression.
    fn check(&self, expr: &Expr) -> Result<()> {
        let is_omitted = |part: &Expr| matches!(part, Expr::Parameter(index) if self.of(*index).is_some());
        match any_expr(expr, &mut { is_omitted }) {
            true => Err(Error::new(ER_INVALID_DEFAULT_PARAM, &[])),
            false => Ok(()),
        }
    }
}
