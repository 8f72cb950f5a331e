//! Host side of a running call.

use crate::call_host::CallHost;
use crate::error::{CallError, HostError};
use crate::tables::{KeyValue, Tables};
use scoped_tls_hkt::scoped_thread_local;
use wasmtime::{Memory, ResourceLimiter};

/// Maximum number of a module's tables of functions.
const TABLES_MAX: usize = 4;
/// Maximum number of elements of each of them.
const TABLE_ELEMENTS_MAX: usize = 10_000;

scoped_thread_local! {
    /// The tables that are lent to the call that runs in this thread. A store's data must not borrow.
    static mut TABLES: for<'t> &'t mut (dyn Tables + 't)
}

/// Data of an instance.
pub(crate) struct CallState {
    pub(crate) host: Box<dyn CallHost>,
    /// Maximum number of bytes of the memory.
    pub(crate) memory_bytes_max: usize,
    /// Ticks until the present call's time is over.
    pub(crate) ticks_left: u64,
    pub(crate) call_ms: u64,
    pub(crate) memory: Option<Memory>,
    /// Bit for each argument that is NULL.
    pub(crate) nulls: Vec<bool>,
    pub(crate) is_result_null: bool,
    pub(crate) key: Vec<KeyValue>,
    /// Why the call ends, if the host ends it.
    pub(crate) failure: Option<CallError>,
}

/// Ends the call. The reason is in [`CallState::failure`].
#[derive(Debug, thiserror::Error)]
#[error("the call was ended")]
pub(crate) struct Ended;

impl CallState {
    /// Remembers why the call ends.
    pub(crate) fn fail(&mut self, failure: CallError) -> Ended {
        self.failure = Some(failure);
        Ended
    }

    /// A tick has passed: decides whether the call may go on.
    pub(crate) fn tick(&mut self) -> Result<(), Ended> {
        if let Some(reason) = self.host.interruption() {
            return Err(self.fail(CallError::Host(reason)));
        }
        match self.ticks_left.checked_sub(1) {
            Some(left) => {
                self.ticks_left = left;
                Ok(())
            }
            None => {
                let limit = CallError::TimeLimit(self.call_ms);
                Err(self.fail(limit))
            }
        }
    }

    /// Calls the lent tables.
    pub(crate) fn with_tables<R>(
        &mut self,
        work: impl FnOnce(&mut dyn Tables) -> Result<R, HostError>,
    ) -> Result<R, Ended> {
        if !TABLES.is_set() {
            return Err(self.fail(CallError::Misuse("tables cannot be read here")));
        }
        TABLES
            .with(work)
            .map_err(|error| self.fail(CallError::Host(error)))
    }
}

impl ResourceLimiter for CallState {
    fn memory_growing(&mut self, _: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        if desired > self.memory_bytes_max {
            return Ok(false);
        }
        match self.host.charge(desired) {
            Ok(()) => Ok(true),
            Err(refused) => Err(self.fail(CallError::Host(refused)).into()),
        }
    }

    fn table_growing(&mut self, _: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        Ok(desired <= TABLE_ELEMENTS_MAX)
    }

    fn instances(&self) -> usize {
        1
    }

    fn tables(&self) -> usize {
        TABLES_MAX
    }

    fn memories(&self) -> usize {
        1
    }
}

/// Runs a call that may read these tables.
pub(crate) fn lend<R>(tables: &mut dyn Tables, run: impl FnOnce() -> R) -> R {
    TABLES.set(tables, run)
}
