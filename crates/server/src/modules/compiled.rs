//! Compiled modules, for all sessions.

use crate::variables::{Globals, Variable};
use paceline_catalog::{RoutineDefinition, RoutineModule};
use paceline_syntax::{Error, Result};
use paceline_types::error_code::ER_CANT_INITIALIZE_UDF;
use paceline_types::{DataType, Version};
use paceline_wasm_functions::{Limits, Module, Runtime, Signature, ValueKind};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

/// Maximum number of compiled modules. Beyond it all are compiled again when they are called.
const MODULES_MAX: usize = 256;

/// Modules that were compiled since the start, by database and name of their function.
#[derive(Default)]
pub struct Modules {
    /// Made when the first module is compiled: it has a thread.
    runtime: OnceLock<std::result::Result<Runtime, String>>,
    compiled: Mutex<HashMap<String, CompiledModule>>,
}

#[derive(Clone)]
struct CompiledModule {
    version: Version,
    limits: Limits,
    module: Arc<Module>,
}

impl Modules {
    /// Checks the module of a new function.
    ///
    /// # Errors
    /// 1123 with the reason.
    pub fn check(
        &self,
        routine: &RoutineDefinition,
        module: &RoutineModule,
        globals: &Globals,
    ) -> Result<()> {
        let returns = routine.compiled()?.returns.clone();
        self.compile(routine, module, returns.as_ref(), limits(globals))
            .map(drop)
    }

    /// Returns the compiled module of a function.
    ///
    /// # Errors
    /// 1123 with the reason.
    pub fn get(
        &self,
        routine: &RoutineDefinition,
        module: &RoutineModule,
        globals: &Globals,
    ) -> Result<Arc<Module>> {
        let (version, limits) = (routine.version(), limits(globals));
        let key = routine.full_name();
        if let Some(known) = self.compiled.lock().get(key)
            && known.version == version
            && known.limits == limits
        {
            return Ok(known.module.clone());
        }
        // Two sessions may compile it at the same time. Neither waits for the other.
        let returns = routine.compiled()?.returns.clone();
        let compiled = Arc::new(self.compile(routine, module, returns.as_ref(), limits)?);
        let mut all = self.compiled.lock();
        if all.len() >= MODULES_MAX {
            all.clear();
        }
        let module = compiled.clone();
        let entry = CompiledModule {
            version,
            limits,
            module,
        };
        all.insert(key.to_owned(), entry);
        Ok(compiled)
    }

    fn compile(
        &self,
        routine: &RoutineDefinition,
        module: &RoutineModule,
        returns: Option<&DataType>,
        limits: Limits,
    ) -> Result<Module> {
        let signature = Signature {
            parameters: module.parameters.iter().map(kind_of).collect(),
            result: returns.map_or(ValueKind::Integer, kind_of),
        };
        let failed = |reason: String| Error::new(ER_CANT_INITIALIZE_UDF, &[&routine.name, &reason]);
        let runtime = self.runtime.get_or_init(Runtime::new);
        let runtime = runtime.as_ref().map_err(|reason| failed(reason.clone()))?;
        runtime
            .compile(&module.bytes, &routine.name, signature, limits)
            .map_err(|error| failed(error.to_string()))
    }
}

fn limits(globals: &Globals) -> Limits {
    Limits {
        memory_bytes: globals.number(Variable::PacelineWasmMemoryMax) as usize,
        call_ms: globals.number(Variable::PacelineWasmCallMsMax),
    }
}

/// Returns how a value of this type is passed.
fn kind_of(data_type: &DataType) -> ValueKind {
    match data_type {
        DataType::Integer(_) | DataType::Year => ValueKind::Integer,
        DataType::Float(_) | DataType::Double(_) => ValueKind::Real,
        _ => ValueKind::Text,
    }
}
