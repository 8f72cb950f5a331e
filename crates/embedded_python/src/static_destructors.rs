//! No destructors of static objects.
//!
//! RocksDB's join its threads. In the child of a fork these do not exist, and the child would crash at its exit.
//! Nothing needs the destructors: an interpreter never unloads a module.

use std::ffi::{c_int, c_void};

/// Takes the place of `__cxa_atexit` for the C++ code of this module (`build.rs`), and registers nothing.
#[unsafe(no_mangle)]
extern "C" fn __wrap___cxa_atexit(
    _destructor: *const c_void,
    _object: *const c_void,
    _library: *const c_void,
) -> c_int {
    0
}
