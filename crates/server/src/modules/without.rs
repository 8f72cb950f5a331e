//! The same without a compiler for modules.

use crate::variables::Globals;
use paceline_catalog::{RoutineDefinition, RoutineModule};
use paceline_syntax::{Error, Result};
use paceline_types::error_code::ER_FEATURE_DISABLED;

/// Maximum number of bytes of a module: none is accepted.
pub const MODULE_BYTES_MAX: usize = 0;

/// No modules.
#[derive(Default)]
pub struct Modules(());

impl Modules {
    /// Refuses a new function.
    ///
    /// # Errors
    /// 1289.
    pub fn check(&self, _: &RoutineDefinition, _: &RoutineModule, _: &Globals) -> Result<()> {
        Err(disabled())
    }
}

/// Returns the error of everything that needs the compiler.
pub fn disabled() -> Error {
    Error::new(ER_FEATURE_DISABLED, &[&"LANGUAGE WASM", &"the feature wasm"])
}
