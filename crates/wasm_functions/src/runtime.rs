//! The compiler and its settings, one for the process.

use crate::call_state::CallState;
use crate::error::ModuleError;
use crate::imports;
use crate::limits::{Limits, STACK_BYTES};
use crate::module::{Module, Signature};
use crate::ticker::Ticker;
use std::fmt;
use std::sync::Arc;
use wasmtime::{Config, Engine, Linker};

/// Compiles modules and runs their functions.
pub struct Runtime {
    linker: Linker<CallState>,
    ticker: Arc<Ticker>,
}

impl fmt::Debug for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runtime").finish_non_exhaustive()
    }
}

impl Runtime {
    /// Creates it, with a thread for the clock.
    ///
    /// # Errors
    /// A message: the processor is not supported, or there is no thread.
    pub fn new() -> Result<Runtime, String> {
        let mut config = Config::new();
        config
            .epoch_interruption(true)
            .max_wasm_stack(STACK_BYTES)
            // Traces with addresses say nothing to a user of SQL.
            .wasm_backtrace(false)
            .wasm_multi_memory(false)
            .wasm_memory64(false);
        let engine = Engine::new(&config).map_err(|error| error.to_string())?;
        let mut linker = Linker::new(&engine);
        imports::define(&mut linker).map_err(|error| error.to_string())?;
        let ticker = Ticker::start(engine).map_err(|error| error.to_string())?;
        Ok(Runtime {
            linker,
            ticker: Arc::new(ticker),
        })
    }

    /// Compiles a module, in the binary format or as text, and checks that it has the function.
    ///
    /// # Errors
    /// The reason why the module cannot be used.
    pub fn compile(
        &self,
        bytes: &[u8],
        name: &str,
        signature: Signature,
        limits: Limits,
    ) -> Result<Module, ModuleError> {
        Module::compile(&self.linker, &self.ticker, bytes, name, signature, limits)
    }
}
