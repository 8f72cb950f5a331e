//! `@name` variables. Names compare without case; a variable keeps the type of what was assigned last.

use std::collections::HashMap;
use std::sync::Arc;

use paceline_types::{Collation, TimeZone, Value};

use crate::error::Result;
use crate::{ExprType, for_user_variable};
use paceline_types::{MemoryCharge, SessionMemory};

/// One variable: its value and the type that result-set metadata show for it.
#[derive(Clone, Debug)]
pub struct UserVariable {
    /// What was assigned.
    pub value: Value,
    /// The type of the expression that was assigned.
    pub ty: ExprType,
}

impl UserVariable {
    /// A variable that an expression of this type was assigned to. It holds numbers, text and bytes: a time becomes
    /// text.
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

/// What a variable takes beside its name and its value, in bytes.
const VARIABLE_BYTES: usize = size_of::<UserVariable>() + 32;

/// All variables of a session.
#[derive(Debug, Default)]
pub struct UserVariables {
    by_name: HashMap<Box<str>, UserVariable>,
    /// What they take of their session's memory, if it has an account.
    memory: Option<MemoryCharge>,
}

/// A copy is for planning: it goes soon, and is not counted.
impl Clone for UserVariables {
    fn clone(&self) -> Self {
        UserVariables {
            by_name: self.by_name.clone(),
            memory: None,
        }
    }
}

impl UserVariables {
    /// No variables; those that come count against the account.
    pub fn charged_to(account: &Arc<SessionMemory>) -> Self {
        UserVariables {
            by_name: HashMap::new(),
            memory: Some(MemoryCharge::new(account)),
        }
    }

    /// The variable, or `None` when it was never assigned (it then reads as NULL).
    /// `name` must be in lower case, as the binder stores it.
    pub fn get(&self, name: &str) -> Option<&UserVariable> {
        self.by_name.get(name)
    }

    /// Assigns; `name` in lower case.
    ///
    /// # Errors
    /// 1290 or 1041 for a value that the session has no memory for; the variable stays what it was.
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
            Some(slot) => *slot = variable,
            None => {
                self.by_name.insert(name.into(), variable);
            }
        }
        Ok(())
    }

    /// Forgets all (COM_RESET_CONNECTION, COM_CHANGE_USER).
    pub fn clear(&mut self) {
        self.by_name.clear();
        if let Some(memory) = &mut self.memory {
            memory.shrink(memory.used());
        }
    }

    /// Every variable, in no order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &UserVariable)> {
        self.by_name.iter().map(|(name, variable)| (&**name, variable))
    }
}
