//! An instance of a module, and its calls.

use crate::call_host::CallHost;
use crate::call_state::{CallState, lend};
use crate::error::CallError;
use crate::module::{Module, Signature, ValueKind, first_line};
use crate::tables::Tables;
use std::fmt;
use wasmtime::{Func, Store, TypedFunc, UpdateDeadline, Val};

/// Argument of a call.
#[derive(Debug, Clone, Copy, PartialEq)]
#[allow(missing_docs)]
pub enum Argument<'a> {
    Null,
    Integer(i64),
    Real(f64),
    Text(&'a [u8]),
}

/// Value of a call.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)]
pub enum Output {
    Null,
    Integer(i64),
    Real(f64),
    Text(Vec<u8>),
}

/// An instance with a memory of its own.
pub struct Instance {
    module: Module,
    store: Store<CallState>,
    function: Func,
    allocate: Option<TypedFunc<u32, u32>>,
    reset: Option<TypedFunc<(), ()>>,
    /// Arguments of the present call; kept for its memory.
    values: Vec<Val>,
    has_failed: bool,
}

impl fmt::Debug for Instance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Instance")
            .field("module", &self.module)
            .finish_non_exhaustive()
    }
}

impl Instance {
    /// Makes an instance. Its start function, if there is one, runs within the limits of a call.
    ///
    /// # Errors
    /// A failure of the start function; too little memory.
    pub fn new(module: &Module, host: Box<dyn CallHost>) -> Result<Instance, CallError> {
        let state = CallState {
            host,
            memory_bytes_max: module.limits.memory_bytes,
            ticks_left: module.limits.ticks(),
            call_ms: module.limits.call_ms,
            memory: None,
            nulls: Vec::new(),
            is_result_null: false,
            key: Vec::new(),
            failure: None,
        };
        let mut store = Store::new(module.instance.module().engine(), state);
        store.limiter(|state| state);
        store.epoch_deadline_callback(|mut context| {
            context.data_mut().tick()?;
            Ok(UpdateDeadline::Continue(1))
        });
        store.set_epoch_deadline(1);
        let _running = module.ticker.begin();
        let instance = match module.instance.instantiate(&mut store) {
            Ok(instance) => instance,
            Err(error) => return Err(failure(&mut store, &error)),
        };
        store.data_mut().memory = instance.get_memory(&mut store, "memory");
        let function = instance.get_func(&mut store, &module.name);
        let allocate = instance.get_typed_func(&mut store, "allocate");
        let reset = instance.get_typed_func(&mut store, "reset");
        Ok(Instance {
            module: module.clone(),
            function: function.expect("the module was checked"),
            allocate: allocate.ok(),
            reset: reset.ok(),
            store,
            values: Vec::new(),
            has_failed: false,
        })
    }

    /// Returns the function's types.
    pub fn signature(&self) -> &Signature {
        self.module.signature()
    }

    /// Calls the function. `tables` are lent to it for this call.
    ///
    /// # Errors
    /// Why it has failed. Later calls fail, too.
    ///
    /// # Panics
    /// The number of arguments is not that of the parameters.
    pub fn call(
        &mut self,
        arguments: &[Argument<'_>],
        tables: Option<&mut dyn Tables>,
    ) -> Result<Output, CallError> {
        assert_eq!(arguments.len(), self.module.signature.parameters.len());
        if self.has_failed {
            return Err(CallError::Misuse("an earlier call has failed"));
        }
        if !self.module.sees_null && arguments.contains(&Argument::Null) {
            return Ok(Output::Null);
        }
        let ticks = self.module.limits.ticks();
        let state = self.store.data_mut();
        state.ticks_left = ticks;
        state.is_result_null = false;
        state.key.clear();
        state.nulls.clear();
        let nulls = arguments.iter().map(|argument| *argument == Argument::Null);
        state.nulls.extend(nulls);
        self.store.set_epoch_deadline(1);
        let ticker = self.module.ticker.clone();
        let _running = ticker.begin();
        let called = match tables {
            Some(tables) => lend(tables, || self.run(arguments)),
            None => self.run(arguments),
        };
        if called.is_err() {
            self.has_failed = true;
        }
        called
    }

    fn run(&mut self, arguments: &[Argument<'_>]) -> Result<Output, CallError> {
        if let Some(reset) = &self.reset {
            let done = reset.call(&mut self.store, ());
            done.map_err(|error| failure(&mut self.store, &error))?;
        }
        self.values.clear();
        for (number, argument) in arguments.iter().enumerate() {
            match (self.module.signature.parameters[number], *argument) {
                (ValueKind::Integer, Argument::Integer(value)) => self.values.push(Val::I64(value)),
                (ValueKind::Integer, Argument::Null) => self.values.push(Val::I64(0)),
                (ValueKind::Real, Argument::Real(value)) => self.values.push(Val::F64(value.to_bits())),
                (ValueKind::Real, Argument::Null) => self.values.push(Val::F64(0)),
                (ValueKind::Text, Argument::Null) => self.values.extend([Val::I32(0), Val::I32(0)]),
                (ValueKind::Text, Argument::Text(text)) => {
                    let address = self.place(text)?;
                    let length = Val::I32(text.len() as i32);
                    self.values.extend([Val::I32(address as i32), length]);
                }
                _ => return Err(CallError::Misuse("an argument has another type")),
            }
        }
        let mut results = [Val::I64(0)];
        let done = self.function.call(&mut self.store, &self.values, &mut results);
        done.map_err(|error| failure(&mut self.store, &error))?;
        if self.store.data().is_result_null {
            return Ok(Output::Null);
        }
        match (self.module.signature.result, &results[0]) {
            (ValueKind::Integer, Val::I64(value)) => Ok(Output::Integer(*value)),
            (ValueKind::Real, Val::F64(bits)) => Ok(Output::Real(f64::from_bits(*bits))),
            (ValueKind::Text, Val::I64(place)) => self.text_at(*place as u64),
            _ => unreachable!("the module was checked"),
        }
    }

    /// Copies a text into the module's memory.
    fn place(&mut self, text: &[u8]) -> Result<u32, CallError> {
        let too_long = CallError::Misuse("an argument is longer than the memory");
        let length = u32::try_from(text.len()).map_err(|_| too_long)?;
        let allocate = self.allocate.as_ref().expect("the module was checked");
        let address = allocate
            .call(&mut self.store, length)
            .map_err(|error| failure(&mut self.store, &error))?;
        let memory = self.store.data().memory.expect("the module was checked");
        memory
            .write(&mut self.store, address as usize, text)
            .map_err(|_| CallError::Misuse("allocate returned a place beyond the memory"))?;
        Ok(address)
    }

    /// Reads the text that the function has returned.
    fn text_at(&self, place: u64) -> Result<Output, CallError> {
        let memory = self.store.data().memory.expect("the module was checked");
        let (begin, length) = ((place >> 32) as usize, (place & 0xFFFF_FFFF) as usize);
        let bytes = memory.data(&self.store).get(begin..begin + length);
        let bytes = bytes.ok_or(CallError::Misuse("the value is beyond the memory"))?;
        Ok(Output::Text(bytes.to_vec()))
    }
}

/// Returns why a call has ended: by the host, or by a trap.
fn failure(store: &mut Store<CallState>, error: &wasmtime::Error) -> CallError {
    match store.data_mut().failure.take() {
        Some(failure) => failure,
        None => CallError::Trap(match error.downcast_ref::<wasmtime::Trap>() {
            Some(trap) => trap.to_string(),
            None => first_line(error),
        }),
    }
}
