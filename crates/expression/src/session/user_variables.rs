//! User variables, `@name`. Names are compared without case. A variable keeps the type of its last
//! assignment.

use std::collections::HashMap;
use std::sync::Arc;

use paceline_types::{Collation, TimeZone, Value};

use crate::ExprType;
use crate::error::Result;
use paceline_types::{MemoryCharge, SessionMemory};

/// A user variable: its value and its type in result sets.
#[derive(Clone, Debug)]
pub struct UserVariable {
    /// Assigned value.
    pub value: Value,
    /// Type of the assigned expression.
    pub ty: ExprType,
}

impl UserVariable {
    /// Creates a variable from a value of this type. A variable can hold numbers, text and bytes: a temporal
    /// value becomes text.
    pub fn new(value: &Value, ty: ExprType, time_zone: &TimeZone) -> Self {
        let value = for_user_variable(value, time_zone);
        let ty = match &value {
            // A parameter's type is that of its value. One within a subquery is known only by the value.
            value if ty.is_parameter() && !value.is_null() => {
                ExprType::of_value(value, Collation::Utf8mb4GeneralCi)
            }
            Value::Int(_) | Value::UInt(_) | Value::Double(_) | Value::Decimal(_)
                if ty.data_type.is_text() || ty.data_type.is_binary_string() =>
            {
                ExprType::of_value(&value, Collation::Utf8mb4GeneralCi)
            }
            Value::Text(text) if !ty.data_type.is_text() => {
                ExprType::text(text.chars().count() as u64, Collation::Utf8mb4GeneralCi)
            }
            // A quotient keeps all its digits, and from here on shows them.
            Value::Decimal(number) if number.scale() > ty.decimals() => {
                let scale = u32::from(number.scale());
                ExprType::decimal(ty.integer_digits() + scale, scale)
            }
            _ => ty,
        };
        UserVariable { value, ty }
    }
}

/// Returns whether an expression that names a variable of one type can be evaluated with the other: the lengths of
/// texts do not count.
fn is_planned_alike(one: &ExprType, other: &ExprType) -> bool {
    let (one, other) = (&one.data_type, &other.data_type);
    match one.is_text() && other.is_text() {
        true => one.collation() == other.collation(),
        false => one == other,
    }
}

/// Memory of a variable besides its name and its value, in bytes.
const VARIABLE_BYTES: usize = size_of::<UserVariable>() + 32;

/// User variables of a session.
#[derive(Debug, Default)]
pub struct UserVariables {
    by_name: HashMap<Box<str>, UserVariable>,
    /// Number of assignments that have changed the type of a variable.
    type_changes: u64,
    /// Charge to the session's memory account, if there is one.
    memory: Option<MemoryCharge>,
}

/// A copy is not charged: it is used for planning only and is short-lived.
impl Clone for UserVariables {
    fn clone(&self) -> Self {
        UserVariables {
            by_name: self.by_name.clone(),
            type_changes: self.type_changes,
            memory: None,
        }
    }
}

impl UserVariables {
    /// Creates an empty set whose variables are charged to the account.
    pub fn charged_to(account: &Arc<SessionMemory>) -> Self {
        UserVariables {
            by_name: HashMap::new(),
            type_changes: 0,
            memory: Some(MemoryCharge::new(account)),
        }
    }

    /// Returns the variable; `None` if it was never assigned (it then reads as NULL). `name` must be in lower
    /// case, as the binder stores it.
    pub fn get(&self, name: &str) -> Option<&UserVariable> {
        self.by_name.get(name)
    }

    /// Assigns a variable. `name` is in lower case.
    ///
    /// # Errors
    /// 1290 or 1041 if the session has no memory left for the value. The variable is then unchanged.
    pub fn set(&mut self, name: &str, variable: UserVariable) -> Result<()> {
        let known = self.by_name.get_mut(name);
        if let Some(memory) = &mut self.memory {
            let before = match &known {
                Some(before) => before.value.memory_bytes(),
                None => 0,
            };
            let added = if known.is_none() {
                name.len() + VARIABLE_BYTES
            } else {
                0
            };
            memory.set(memory.used() - before + added + variable.value.memory_bytes())?;
        }
        match known {
            Some(slot) => {
                if !is_planned_alike(&slot.ty, &variable.ty) {
                    self.type_changes += 1;
                }
                *slot = variable;
            }
            None => {
                self.type_changes += 1;
                self.by_name.insert(name.into(), variable);
            }
        }
        Ok(())
    }

    /// Returns a number that increases when a variable gets another type. A plan or a bound expression that names
    /// variables is valid as long as it is the same.
    pub fn type_changes(&self) -> u64 {
        self.type_changes
    }

    /// Removes all variables (COM_RESET_CONNECTION, COM_CHANGE_USER).
    pub fn clear(&mut self) {
        self.type_changes += 1;
        self.by_name.clear();
        if let Some(memory) = &mut self.memory {
            memory.shrink(memory.used());
        }
    }

    /// Returns the variables in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &UserVariable)> {
        self.by_name.iter().map(|(name, variable)| (&**name, variable))
    }
}

/// Returns the value that a user variable stores: integers, decimals and doubles; anything else becomes text.
fn for_user_variable(value: &Value, time_zone: &TimeZone) -> Value {
    match value {
        Value::Null
        | Value::Int(_)
        | Value::UInt(_)
        | Value::Double(_)
        | Value::Decimal(_)
        | Value::Text(_)
        | Value::Bytes(_) => value.clone(),
        Value::Float(number) => Value::Double(f64::from(*number)),
        Value::Year(year) => Value::Int(i64::from(*year)),
        Value::Bit(bits) => Value::UInt(bits.bits),
        _ => Value::Text(paceline_types::text::to_string(&value.as_ref(), time_zone)),
    }
}
