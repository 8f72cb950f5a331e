//! Functions of shared libraries with MySQL's classic interface ("UDF"): `CREATE FUNCTION … SONAME`.
//!
//! A library exports, for a function `f`, the C functions `f` and optionally `f_init` and `f_deinit`; an aggregate also
//! `f_clear`, `f_add` and optionally `f_remove`. The server passes them two structures, whose layout is that of
//! MariaDB 10.11's `mysql_com.h`.
//!
//! ```text
//!   Library::open(path) ──▶ NativeFunction::find(library, name)        once for each function of the server
//!                                    │
//!                           NativeCall::begin(arguments)               f_init: once for each call in a statement
//!                             call(values) → value                     f:      for each row
//!                             clear, add, remove, result → value       f_clear, f_add, f_remove, f: an aggregate
//!                           drop                                       f_deinit
//! ```
//!
//! All unsafe code of such functions is in this crate. A library's code is not checked: it runs in the server's process
//! with the server's rights, and what it does wrong harms the whole server. This crate guarantees only its own side:
//! pointers that it passes are valid, terminated and exclusive, and a call is never executed by two threads at once.
//!
//! A library is never unloaded. Its threads, its `atexit` handlers and what it has registered elsewhere may outlive the
//! function. MariaDB unloads it with its last function; a dropped and created function is then loaded anew from the
//! file. Here it is not, until the server starts again.
//!
//! Alternatives considered: a process of its own for the libraries, which would survive their crashes. A call would
//! cost two switches of processes (several µs instead of some 20 ns), and libraries that share memory between their
//! functions expect one process; for isolation there is WebAssembly.

mod call;
mod layout;
mod library;

pub use call::{Argument, ArgumentDescription, NativeCall, NativeValue, ResultDescription};
pub use layout::{ArgumentType, ResultType};
pub use library::{CallKind, Library, MissingSymbol, NativeFunction, OpenError, Suspicion};
