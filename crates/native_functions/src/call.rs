//! One call of a function in a statement: from its init to its deinit.
//!
//! ```text
//!   Init       ◀── f_init may change it: type and length of the value, a pointer of its own
//!   Arguments  ──▶ types[i], values[i], lengths[i], maybe_null[i], names[i]
//!                    f_init may change the types: from then on the caller passes values of these
//!   ArgumentMemory   owns what the pointers of Arguments point to; each buffer has a 0 after its end
//! ```
//! The structures are on the heap and never move: a library may keep their addresses from init to deinit.

use std::borrow::Cow;
use std::ffi::{CString, c_char, c_int, c_ulong};
use std::fmt;
use std::ptr::null_mut;
use std::sync::Arc;

use crate::layout::{ArgumentType, Arguments, DECIMAL_BUFFER_BYTES, Init, MESSAGE_BYTES, TEXT_BUFFER_BYTES};
use crate::library::{AggregateFns, NativeFunction, ValueFn};

/// Value of an argument.
#[derive(Debug, Clone, PartialEq)]
pub enum Argument<'v> {
    /// NULL.
    Null,
    /// For [`ArgumentType::Integer`].
    Integer(i64),
    /// For [`ArgumentType::Real`].
    Real(f64),
    /// For [`ArgumentType::Text`] and [`ArgumentType::Decimal`].
    Bytes(Cow<'v, [u8]>),
}

/// An argument as the init function sees it.
#[derive(Debug, Clone)]
pub struct ArgumentDescription<'v> {
    /// Its name: of a column, of its alias, or its text.
    pub name: String,
    /// Type of its values.
    pub argument_type: ArgumentType,
    /// Maximum length of its values as text, in bytes.
    pub length_max: u64,
    /// Whether it can be NULL.
    pub maybe_null: bool,
    /// Its value, if it has the same one for all rows.
    pub constant: Option<Argument<'v>>,
}

/// Description of the values, which the init function may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResultDescription {
    /// Whether the value can be NULL.
    pub maybe_null: bool,
    /// Number of decimals.
    pub decimals: u32,
    /// Maximum length of a text, in bytes.
    pub length_max: u64,
    /// Whether all rows have the same value.
    pub is_constant: bool,
}

/// Value of a function.
#[derive(Debug, Clone, PartialEq)]
pub enum NativeValue<'c> {
    /// NULL.
    Null,
    /// Of INTEGER.
    Integer(i64),
    /// Of REAL.
    Real(f64),
    /// Of STRING and DECIMAL. Belongs to the function until the next call.
    Bytes(&'c [u8]),
}

/// Memory to which the pointers of [`Arguments`] point.
struct ArgumentMemory {
    types: Box<[c_int]>,
    values: Box<[*mut c_char]>,
    lengths: Box<[c_ulong]>,
    maybe_null: Box<[c_char]>,
    names: Box<[*const c_char]>,
    name_lengths: Box<[c_ulong]>,
    /// Owns the texts that `names` point to.
    _owned_names: Vec<CString>,
    /// Texts, each with a 0 at the end.
    texts: Box<[Vec<u8>]>,
    numbers: Box<[Number]>,
}

/// An integer or a double, at an address that fits both.
#[repr(C)]
union Number {
    integer: i64,
    real: f64,
}

/// A call that has begun.
pub struct NativeCall {
    function: Arc<NativeFunction>,
    init: Box<Init>,
    arguments: Box<Arguments>,
    memory: ArgumentMemory,
    buffer: Box<[u8]>,
    /// Whether the value of the group is NULL: `f_clear` and `f_add` can set it.
    is_null: c_char,
    /// Whether the function has reported an error. It is not called any more.
    has_failed: c_char,
    value: LastValue,
}

/// Value that the function has returned last.
#[derive(Clone, Copy)]
enum LastValue {
    Null,
    Integer(i64),
    Real(f64),
    /// Address and length of the function's memory.
    Bytes(*const u8, usize),
}

// SAFETY: a call is used by one thread at a time, because each of its methods needs `&mut self`. Its pointers point to
// memory that it owns. The pointer of the library's own in `Init` belongs to this call: by the interface's convention a
// function keeps its state there and may be called by any thread, as MariaDB's thread pool does.
unsafe impl Send for NativeCall {}

// SAFETY: methods with `&self` only read fields, and the bytes of the last value, which change only in methods with
// `&mut self`.
unsafe impl Sync for NativeCall {}

impl fmt::Debug for NativeCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NativeCall")
            .field("function", &self.function)
            .finish_non_exhaustive()
    }
}

impl NativeCall {
    /// Begins a call: the init function checks the arguments, and changes their types and the description of the value.
    ///
    /// # Errors
    /// The message of the init function.
    pub fn begin(
        function: &Arc<NativeFunction>,
        arguments: &[ArgumentDescription<'_>],
        result: ResultDescription,
    ) -> Result<Self, String> {
        let mut memory = ArgumentMemory::new(arguments);
        let init = Box::new(Init {
            maybe_null: c_char::from(result.maybe_null),
            decimals: result.decimals,
            max_length: result.length_max,
            ptr: null_mut(),
            const_item: c_char::from(result.is_constant),
            extension: null_mut(),
        });
        let arguments = Box::new(memory.pointers());
        let mut call = NativeCall {
            function: function.clone(),
            init,
            arguments,
            memory,
            buffer: vec![0; TEXT_BUFFER_BYTES].into_boxed_slice(),
            is_null: 0,
            has_failed: 0,
            value: LastValue::Null,
        };
        let Some(init) = function.init else {
            return Ok(call);
        };
        let mut message = [0_u8; MESSAGE_BYTES];
        // SAFETY: all three point to initialized memory that lives until the call returns; the structures have the
        // interface's layout, and their pointers are those of `ArgumentMemory::pointers`.
        let refused = unsafe { init(&mut *call.init, &mut *call.arguments, message.as_mut_ptr().cast()) };
        if refused != 0 {
            let length = message.iter().position(|byte| *byte == 0);
            let message = &message[..length.unwrap_or(MESSAGE_BYTES - 1)];
            let message = String::from_utf8_lossy(message).into_owned();
            call.forget();
            return Err(message);
        }
        Ok(call)
    }

    /// Drops a call without its deinit function, which is not for a call whose init function has failed.
    fn forget(self) {
        let mut call = std::mem::ManuallyDrop::new(self);
        // SAFETY: each field is dropped once, and none is used afterwards: `call` is not dropped itself. The others own
        // no memory.
        unsafe {
            std::ptr::drop_in_place(&raw mut call.function);
            std::ptr::drop_in_place(&raw mut call.init);
            std::ptr::drop_in_place(&raw mut call.arguments);
            std::ptr::drop_in_place(&raw mut call.memory);
            std::ptr::drop_in_place(&raw mut call.buffer);
        }
    }

    /// Returns the function.
    pub fn function(&self) -> &Arc<NativeFunction> {
        &self.function
    }

    /// Returns the description of the value, as the init function has left it.
    pub fn result(&self) -> ResultDescription {
        ResultDescription {
            maybe_null: self.init.maybe_null != 0,
            decimals: self.init.decimals,
            length_max: self.init.max_length,
            is_constant: self.init.const_item != 0,
        }
    }

    /// Returns the type in which the function wants an argument; `None` for a type that does not exist, for which it
    /// gets NULL.
    pub fn argument_type(&self, index: usize) -> Option<ArgumentType> {
        ArgumentType::of_number(self.memory.types[index])
    }

    /// Computes the value for a row, which [`NativeCall::value`] returns. After an error it is NULL without a call.
    pub fn call(&mut self, arguments: &[Argument<'_>]) {
        if self.has_failed == 0 {
            self.memory.set(arguments);
        }
        self.compute();
    }

    /// Begins a group of an aggregate.
    pub fn clear(&mut self) {
        self.is_null = 0;
        self.value = LastValue::Null;
        if let Some(AggregateFns { clear, .. }) = self.function.aggregate {
            // SAFETY: as in `begin`; the flags are fields of this call.
            unsafe { clear(&mut *self.init, &mut self.is_null, &mut self.has_failed) };
        }
    }

    /// Adds a row to the group.
    pub fn add(&mut self, arguments: &[Argument<'_>]) {
        if let Some(AggregateFns { add, .. }) = self.function.aggregate
            && self.has_failed == 0
        {
            self.memory.set(arguments);
            // SAFETY: as in `clear`.
            unsafe {
                add(
                    &mut *self.init,
                    &mut *self.arguments,
                    &mut self.is_null,
                    &mut self.has_failed,
                );
            }
        }
    }

    /// Removes a row from the group. Only for functions that can.
    pub fn remove(&mut self, arguments: &[Argument<'_>]) {
        if let Some(AggregateFns {
            remove: Some(remove), ..
        }) = self.function.aggregate
            && self.has_failed == 0
        {
            self.memory.set(arguments);
            // SAFETY: as in `clear`.
            unsafe {
                remove(
                    &mut *self.init,
                    &mut *self.arguments,
                    &mut self.is_null,
                    &mut self.has_failed,
                );
            }
        }
    }

    /// Computes the value of the group, with the arguments of the last row.
    pub fn compute(&mut self) {
        self.value = match self.has_failed {
            0 => self.computed(),
            _ => LastValue::Null,
        };
    }

    /// Returns the value that was computed last.
    pub fn value(&self) -> NativeValue<'_> {
        match self.value {
            LastValue::Null => NativeValue::Null,
            LastValue::Integer(number) => NativeValue::Integer(number),
            LastValue::Real(number) => NativeValue::Real(number),
            // SAFETY: by the interface's convention the function has returned that many bytes, and leaves them alone
            // until the next call, which needs `&mut self` and replaces the value.
            LastValue::Bytes(text, length) => {
                NativeValue::Bytes(unsafe { std::slice::from_raw_parts(text, length) })
            }
        }
    }

    fn computed(&mut self) -> LastValue {
        let (init, arguments) = (&raw mut *self.init, &raw mut *self.arguments);
        match self.function.value {
            ValueFn::Integer(function) => {
                self.is_null = 0;
                // SAFETY: as in `clear`.
                let value = unsafe { function(init, arguments, &mut self.is_null, &mut self.has_failed) };
                match self.is_null | self.has_failed {
                    0 => LastValue::Integer(value),
                    _ => LastValue::Null,
                }
            }
            ValueFn::Real(function) => {
                self.is_null = 0;
                // SAFETY: as in `clear`.
                let value = unsafe { function(init, arguments, &mut self.is_null, &mut self.has_failed) };
                match self.is_null | self.has_failed {
                    0 => LastValue::Real(value),
                    _ => LastValue::Null,
                }
            }
            ValueFn::Text(function) => {
                let mut is_null = 0;
                let mut length = TEXT_BUFFER_BYTES as c_ulong;
                let buffer = self.buffer.as_mut_ptr().cast();
                let failed = &mut self.has_failed;
                // SAFETY: as in `clear`; the buffer has `length` bytes.
                let text = unsafe { function(init, arguments, buffer, &mut length, &mut is_null, failed) };
                self.text(text, length, is_null)
            }
            ValueFn::Decimal(function) => {
                let mut length = DECIMAL_BUFFER_BYTES as c_ulong;
                let buffer = self.buffer.as_mut_ptr().cast();
                let (is_null, failed) = (&mut self.is_null, &mut self.has_failed);
                // SAFETY: as for a text.
                let text = unsafe { function(init, arguments, buffer, &mut length, is_null, failed) };
                self.text(text, length, self.is_null)
            }
        }
    }

    /// Returns the text that a function has returned.
    fn text(&self, text: *const c_char, length: c_ulong, is_null: c_char) -> LastValue {
        if text.is_null() || is_null | self.has_failed != 0 {
            return LastValue::Null;
        }
        LastValue::Bytes(text.cast(), length as usize)
    }
}

impl Drop for NativeCall {
    fn drop(&mut self) {
        if let Some(deinit) = self.function.deinit {
            // SAFETY: the init function of this call has succeeded; nothing is called afterwards.
            unsafe { deinit(&mut *self.init) };
        }
    }
}

impl ArgumentMemory {
    fn new(arguments: &[ArgumentDescription<'_>]) -> Self {
        let count = arguments.len();
        let names: Vec<CString> = arguments
            .iter()
            .map(|argument| CString::new(argument.name.replace('\0', "")).unwrap_or_default())
            .collect();
        let mut memory = ArgumentMemory {
            types: arguments
                .iter()
                .map(|argument| argument.argument_type.number())
                .collect(),
            values: vec![null_mut(); count].into_boxed_slice(),
            lengths: arguments
                .iter()
                .map(|argument| argument.length_max as c_ulong)
                .collect(),
            maybe_null: arguments
                .iter()
                .map(|argument| c_char::from(argument.maybe_null))
                .collect(),
            names: names.iter().map(|name| name.as_ptr()).collect(),
            name_lengths: names
                .iter()
                .map(|name| name.as_bytes().len() as c_ulong)
                .collect(),
            _owned_names: names,
            texts: (0..count).map(|_| Vec::new()).collect(),
            numbers: (0..count).map(|_| Number { integer: 0 }).collect(),
        };
        for (index, argument) in arguments.iter().enumerate() {
            match &argument.constant {
                // The length remains the maximum, as in MariaDB.
                None | Some(Argument::Null) => {}
                Some(constant) => memory.set_one(index, constant),
            }
        }
        memory
    }

    /// Returns the structure that points to this memory, which must not be replaced while it is used.
    fn pointers(&mut self) -> Arguments {
        Arguments {
            count: self.types.len() as u32,
            types: self.types.as_mut_ptr(),
            values: self.values.as_mut_ptr(),
            lengths: self.lengths.as_mut_ptr(),
            maybe_null: self.maybe_null.as_mut_ptr(),
            names: self.names.as_mut_ptr(),
            name_lengths: self.name_lengths.as_mut_ptr(),
            extension: null_mut(),
        }
    }

    /// Sets the values of a row.
    fn set(&mut self, arguments: &[Argument<'_>]) {
        for (index, argument) in arguments.iter().enumerate() {
            self.set_one(index, argument);
        }
    }

    fn set_one(&mut self, index: usize, argument: &Argument<'_>) {
        self.values[index] = match argument {
            Argument::Null => {
                // A number keeps its length.
                if matches!(
                    ArgumentType::of_number(self.types[index]),
                    Some(ArgumentType::Text | ArgumentType::Decimal)
                ) {
                    self.lengths[index] = 0;
                }
                null_mut()
            }
            Argument::Integer(integer) => {
                self.numbers[index].integer = *integer;
                (&raw mut self.numbers[index]).cast()
            }
            Argument::Real(real) => {
                self.numbers[index].real = *real;
                (&raw mut self.numbers[index]).cast()
            }
            Argument::Bytes(bytes) => {
                let text = &mut self.texts[index];
                text.clear();
                text.extend_from_slice(bytes);
                text.push(0);
                self.lengths[index] = bytes.len() as c_ulong;
                text.as_mut_ptr().cast()
            }
        };
    }
}
