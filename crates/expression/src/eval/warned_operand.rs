//! Operands as warnings name them: the column whose value is not a date, the item of the select list that is a cast.

use crate::context::EvalContext;
use crate::tree::{Expr, ExprKind};

impl EvalContext<'_> {
    /// Converts the value of an operand to a date or time. If the operand is a column, warnings name it.
    pub(crate) fn convert_operand<R>(&mut self, operand: &Expr, convert: impl FnOnce(&mut Self) -> R) -> R {
        // A date with zeros in it is one: its column is not named.
        let slot = match operand.kind {
            ExprKind::Column(slot) if !operand.ty.class().is_temporal() => slot,
            _ => return convert(self),
        };
        self.state.converted_slot = Some(slot);
        let converted = convert(self);
        self.state.converted_slot = None;
        converted
    }

    /// Evaluates a cast. Warnings name the item of the select list that it is.
    pub(crate) fn evaluate_cast<R>(&mut self, cast: &Expr, evaluate: impl FnOnce(&mut Self) -> R) -> R {
        self.state.cast = Some(std::ptr::from_ref(cast).addr());
        let result = evaluate(self);
        self.state.cast = None;
        result
    }

    /// Returns the name of the item of the select list that [`EvalContext::evaluate_cast`] evaluates. As in MariaDB it
    /// is `(null)` for a cast within an item or in another clause.
    pub(crate) fn cast_name(&self) -> &str {
        let name = match (self.names, self.state.cast) {
            (Some(names), Some(cast)) => names.item_name(cast),
            _ => None,
        };
        name.unwrap_or("(null)")
    }

    /// Returns the text of the column that [`EvalContext::convert_operand`] converts; `None` if it converts none, or
    /// one without a table.
    pub(crate) fn converted_column(&self) -> Option<String> {
        let mut text = String::new();
        let is_column = self.names?.append_column(self.state.converted_slot?, &mut text);
        is_column.then_some(text)
    }
}
