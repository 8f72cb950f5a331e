//! A compiled module, and the check that it has what a call needs.

use crate::call_state::CallState;
use crate::error::ModuleError;
use crate::imports;
use crate::limits::{Limits, MODULE_BYTES_MAX};
use crate::ticker::Ticker;
use std::fmt;
use std::sync::Arc;
use wasmtime::{ExternType, FuncType, InstancePre, Linker, ValType};

/// Bytes of a page of WebAssembly's memory.
const PAGE_BYTES: u64 = 64 << 10;

/// Representation of a value in a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueKind {
    /// As `i64`.
    Integer,
    /// As `f64`.
    Real,
    /// As bytes in the module's memory.
    Text,
}

/// Types of a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    /// Of the parameters.
    pub parameters: Vec<ValueKind>,
    /// Of the value.
    pub result: ValueKind,
}

impl Signature {
    fn has_text_parameter(&self) -> bool {
        self.parameters.contains(&ValueKind::Text)
    }

    /// Returns the parameters' and the result's types in the module.
    fn types(&self) -> (Vec<ValType>, ValType) {
        let mut parameters = Vec::with_capacity(2 * self.parameters.len());
        for kind in &self.parameters {
            match kind {
                ValueKind::Integer => parameters.push(ValType::I64),
                ValueKind::Real => parameters.push(ValType::F64),
                ValueKind::Text => parameters.extend([ValType::I32, ValType::I32]),
            }
        }
        let result = match self.result {
            ValueKind::Integer | ValueKind::Text => ValType::I64,
            ValueKind::Real => ValType::F64,
        };
        (parameters, result)
    }
}

/// A module whose function can be called. Cheap to clone.
#[derive(Clone)]
pub struct Module {
    pub(crate) instance: InstancePre<CallState>,
    pub(crate) ticker: Arc<Ticker>,
    pub(crate) name: Arc<str>,
    pub(crate) signature: Arc<Signature>,
    pub(crate) limits: Limits,
    pub(crate) sees_null: bool,
}

impl fmt::Debug for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Module")
            .field("name", &self.name)
            .field("signature", &self.signature)
            .finish_non_exhaustive()
    }
}

impl Module {
    pub(crate) fn compile(
        linker: &Linker<CallState>,
        ticker: &Arc<Ticker>,
        bytes: &[u8],
        name: &str,
        signature: Signature,
        limits: Limits,
    ) -> Result<Module, ModuleError> {
        if bytes.len() > MODULE_BYTES_MAX {
            return Err(ModuleError::TooLong);
        }
        let invalid = |error: wasmtime::Error| ModuleError::Invalid(first_line(&error));
        let module = wasmtime::Module::new(linker.engine(), bytes).map_err(invalid)?;
        check_function(&module, name, &signature)?;
        check_memory(&module, &signature, limits)?;
        for import in module.imports() {
            if import.module() != imports::MODULE || !imports::NAMES.contains(&import.name()) {
                return Err(ModuleError::UnknownImport {
                    module: import.module().to_owned(),
                    name: import.name().to_owned(),
                });
            }
        }
        let sees_null = module.imports().any(|import| import.name() == "argument_is_null");
        let instance = linker.instantiate_pre(&module).map_err(invalid)?;
        Ok(Module {
            instance,
            ticker: ticker.clone(),
            name: name.into(),
            signature: Arc::new(signature),
            limits,
            sees_null,
        })
    }

    /// Returns the function's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the function's types.
    pub fn signature(&self) -> &Signature {
        &self.signature
    }
}

fn check_function(module: &wasmtime::Module, name: &str, signature: &Signature) -> Result<(), ModuleError> {
    let (parameters, result) = signature.types();
    check_export(module, name, parameters, Some(result))?;
    if signature.has_text_parameter() {
        check_export(module, "allocate", vec![ValType::I32], Some(ValType::I32))?;
    }
    match module.get_export("reset") {
        Some(_) => check_export(module, "reset", Vec::new(), None),
        None => Ok(()),
    }
}

fn check_export(
    module: &wasmtime::Module,
    name: &str,
    parameters: Vec<ValType>,
    result: Option<ValType>,
) -> Result<(), ModuleError> {
    let Some(ExternType::Func(found)) = module.get_export(name) else {
        return Err(ModuleError::NoFunction(name.to_owned()));
    };
    let wanted = FuncType::new(module.engine(), parameters, result);
    match FuncType::eq(&wanted, &found) {
        true => Ok(()),
        false => Err(ModuleError::WrongType {
            name: name.to_owned(),
            wanted: wanted.to_string(),
            found: found.to_string(),
        }),
    }
}

fn check_memory(module: &wasmtime::Module, signature: &Signature, limits: Limits) -> Result<(), ModuleError> {
    let has_text = signature.has_text_parameter() || signature.result == ValueKind::Text;
    let Some(ExternType::Memory(memory)) = module.get_export("memory") else {
        return match has_text {
            true => Err(ModuleError::NoMemory),
            false => Ok(()),
        };
    };
    let needed = memory.minimum().saturating_mul(PAGE_BYTES);
    match needed <= limits.memory_bytes as u64 {
        true => Ok(()),
        false => Err(ModuleError::MemoryLimit {
            needed,
            limit: limits.memory_bytes,
        }),
    }
}

/// Returns an error in one line: the outermost text, and the cause.
pub(crate) fn first_line(error: &wasmtime::Error) -> String {
    let causes = error.chain().map(|cause| cause.to_string());
    let text = causes.collect::<Vec<_>>().join(": ");
    text.split('\n').map(str::trim).collect::<Vec<_>>().join(" ")
}
