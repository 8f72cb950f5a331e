//! `@name` variables. Names compare without case; a variable keeps the type of what was assigned last.

use std::collections::HashMap;

use paceline_types::{Collation, TimeZone, Value};

use crate::expr::{ExprType, for_user_variable};

/// One variable: its value and the type that result-set metadata show for it.
#[derive(Clone, Debug)]
pub struct UserVariable {
    /// What was assigned.
    pub value: Value,
    /// The type of the expression that was assigned.
    pub ty: ExprType,
}

impl UserVariable {
    /// A variable that an expression of this type was assigned to. It holds numbers, text and bytes: a time becomes text.
    pub fn new(value: &Value, ty: ExprType, time_zone: &TimeZone) -> Self {
        let value = for_user_variable(value, time_zone);
        let ty = match &value {
            Value::Text(text) if !ty.data_type.is_text() => {
                ExprType::text(text.chars().count() as u64, Collation::Utf8mb4GeneralCi)
            }
            // A quotient keeps all its digits, and shows them from here on.
            Value::Decimal(number) if number.scale() > ty.decimals() => {
                let scale = u32::from(number.scale());
                ExprType::decimal(ty.integer_digits() + scale, scale)
            }
            _ => ty,
        };
        UserVariable { value, ty }
    }
}

/// All variables of a session.
#[derive(Clone, Debug, Default)]
pub struct UserVariables {
    by_name: HashMap<Box<str>, UserVariable>,
}

impl UserVariables {
    /// The variable, or `None` when it was never assigned (it then reads as NULL).
    /// `name` must be in lower case, as the binder stores it.
    pub fn get(&self, name: &str) -> Option<&UserVariable> {
        self.by_name.get(name)
    }

    /// Assigns; `name` in lower case.
    pub fn set(&mut self, name: &str, variable: UserVariable) {
        match self.by_name.get_mut(name) {
            Some(slot) => *slot = variable,
            None => {
                self.by_name.insert(name.into(), variable);
            }
        }
    }

    /// Forgets all (COM_RESET_CONNECTION, COM_CHANGE_USER).
    pub fn clear(&mut self) {
        self.by_name.clear();
    }

    /// Every variable, in no order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &UserVariable)> {
        self.by_name.iter().map(|(name, variable)| (&**name, variable))
    }
}
