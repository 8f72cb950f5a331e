//! The interface's structures and types, in the layout of MariaDB 10.11 (`include/mysql_com.h`).

use std::ffi::{c_char, c_int, c_longlong, c_uint, c_ulong, c_void};

/// Type in which a function gets an argument: `enum Item_result`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArgumentType {
    /// Bytes.
    Text,
    /// A double.
    Real,
    /// A signed integer of 64 bits.
    Integer,
    /// A decimal, as text.
    Decimal,
}

impl ArgumentType {
    pub(crate) fn number(self) -> c_int {
        match self {
            ArgumentType::Text => 0,
            ArgumentType::Real => 1,
            ArgumentType::Integer => 2,
            ArgumentType::Decimal => 4,
        }
    }

    /// Returns the type with this number. `None` for types that no argument can have: `ROW_RESULT`, `TIME_RESULT`, and
    /// numbers that do not exist.
    pub(crate) fn of_number(number: c_int) -> Option<Self> {
        Some(match number {
            0 => ArgumentType::Text,
            1 => ArgumentType::Real,
            2 => ArgumentType::Integer,
            4 => ArgumentType::Decimal,
            _ => return None,
        })
    }
}

/// Type of a function's value: RETURNS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResultType {
    /// `STRING`.
    Text,
    /// `REAL`.
    Real,
    /// `INTEGER`.
    Integer,
    /// `DECIMAL`: the function returns it as text.
    Decimal,
}

/// `UDF_INIT`.
#[repr(C)]
pub(crate) struct Init {
    pub maybe_null: c_char,
    pub decimals: c_uint,
    pub max_length: c_ulong,
    pub ptr: *mut c_char,
    pub const_item: c_char,
    pub extension: *mut c_void,
}

/// `UDF_ARGS`.
#[repr(C)]
pub(crate) struct Arguments {
    pub count: c_uint,
    pub types: *mut c_int,
    pub values: *mut *mut c_char,
    pub lengths: *mut c_ulong,
    pub maybe_null: *mut c_char,
    pub names: *mut *const c_char,
    pub name_lengths: *mut c_ulong,
    pub extension: *mut c_void,
}

/// `f_init`. Returns other than 0 after it has written a message.
pub(crate) type InitFn = unsafe extern "C" fn(*mut Init, *mut Arguments, *mut c_char) -> c_char;
/// `f_deinit`.
pub(crate) type DeinitFn = unsafe extern "C" fn(*mut Init);
/// `f` of INTEGER. The last two parameters are the flags that the value is NULL, and that an error has occurred.
pub(crate) type IntegerFn =
    unsafe extern "C" fn(*mut Init, *mut Arguments, *mut c_char, *mut c_char) -> c_longlong;
/// `f` of REAL.
pub(crate) type RealFn = unsafe extern "C" fn(*mut Init, *mut Arguments, *mut c_char, *mut c_char) -> f64;
/// `f` of STRING and DECIMAL: with a buffer and its length, which becomes that of the value.
pub(crate) type TextFn = unsafe extern "C" fn(
    *mut Init,
    *mut Arguments,
    *mut c_char,
    *mut c_ulong,
    *mut c_char,
    *mut c_char,
) -> *mut c_char;
/// `f_clear`.
pub(crate) type ClearFn = unsafe extern "C" fn(*mut Init, *mut c_char, *mut c_char);
/// `f_add`, `f_remove`.
pub(crate) type AddFn = unsafe extern "C" fn(*mut Init, *mut Arguments, *mut c_char, *mut c_char);

/// Size of the buffer for a STRING. The interface's documentation promises 255 bytes; MariaDB has 255 characters of
/// three bytes, and one more byte.
pub(crate) const TEXT_BUFFER_BYTES: usize = 766;
/// Size of the buffer for a DECIMAL: `DECIMAL_MAX_STR_LENGTH`.
pub(crate) const DECIMAL_BUFFER_BYTES: usize = 83;
/// Size of the buffer for the message of `f_init`: `MYSQL_ERRMSG_SIZE`.
pub(crate) const MESSAGE_BYTES: usize = 512;

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::{offset_of, size_of};

    #[cfg(target_pointer_width = "64")]
    #[test]
    fn the_layout_is_that_of_the_header() {
        assert_eq!(size_of::<Init>(), 40);
        assert_eq!(offset_of!(Init, decimals), 4);
        assert_eq!(offset_of!(Init, ptr), 16);
        assert_eq!(offset_of!(Init, const_item), 24);
        assert_eq!(size_of::<Arguments>(), 64);
        assert_eq!(offset_of!(Arguments, types), 8);
        assert_eq!(offset_of!(Arguments, name_lengths), 48);
    }
}
