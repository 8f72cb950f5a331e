//! The part of `libpaceline.so` that is the server: started, connected to and closed by its C part.
//!
//! ```text
//!   a C program
//!      │  mysql_library_init, mysql_real_connect, mysql_query, mysql_stmt_execute …
//!      ▼
//!   Connector/C              client API, protocol        libmariadb.a of Debian's libmariadb-dev
//!      │  its table of methods for a connection
//!      ▼
//!   c/connection.c           in this process, or a socket elsewhere
//!      │  paceline_heart_connect: a descriptor
//!      ▼
//!   this crate ── paceline-embedded ── a session
//! ```
//!
//! Why it is made in this way, and what was rejected:
//! [decision 0037](../../../docs/decisions/0037-the-client-library.md).
//!
//! Cargo makes a static library. The linker joins it with the C part and Connector/C to a shared library
//! (`tools/build_libpaceline.sh`), because versions of symbols need a script of the linker, and cargo writes its own
//! one for a `cdylib`. So a build of the workspace needs nothing of Connector/C.
//!
//! # Threads, fork, exit
//! Each call may be made by any thread. The child of a fork has none of the server's threads: there connections fail, a
//! close does nothing, and connections that it has inherited cannot be used, so that it does not speak on its parent's.
//! A program that exits without `mysql_library_end` closes its database on the way.

mod arguments;
mod messages;
mod process;

use paceline_embedded::ListenAddress;
use std::ffi::{CStr, c_char, c_int, c_uint};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

/// Starts the server of this process, if the arguments, the option files or the groups ask for one. Returns 0 also if
/// one is running or none is asked for, 1 after an error, which is on standard error.
///
/// # Safety
/// `argv` is null or has `argc` pointers to terminated strings; `groups` is null or has such pointers up to a null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn paceline_heart_start(
    argc: c_int,
    argv: *const *const c_char,
    groups: *const *const c_char,
) -> c_int {
    let count = match argv.is_null() {
        true => 0,
        false => usize::try_from(argc).unwrap_or(0),
    };
    // SAFETY: the caller promises `argc` pointers to terminated strings.
    let argument = |index| unsafe { text(*argv.add(index)) };
    let arguments: Vec<String> = (0..count).map_while(argument).collect();
    // SAFETY: the caller promises such pointers up to a null, at which this stops.
    let group = |index| unsafe { text(*groups.add(index)) };
    let groups: Option<Vec<String>> = (!groups.is_null()).then(|| (0..).map_while(group).collect());
    guarded(1, || match process::start(&arguments, groups.as_deref()) {
        Ok(()) => 0,
        Err(error) => {
            messages::print(&error);
            1
        }
    })
}

/// Closes the server of this process. Does nothing if there is none.
#[unsafe(no_mangle)]
pub extern "C" fn paceline_heart_stop() {
    guarded((), || {
        if let Err(error) = process::stop() {
            messages::print(&error);
        }
    });
}

/// Returns 1 if this process has a server.
#[unsafe(no_mangle)]
pub extern "C" fn paceline_heart_runs() -> c_int {
    guarded(0, || c_int::from(process::is_running()))
}

/// Returns 1 if this process is the child of the one that started the server.
#[unsafe(no_mangle)]
pub extern "C" fn paceline_heart_is_forked() -> c_int {
    c_int::from(process::is_forked())
}

/// Returns the descriptor of a new connection, which the caller closes; or -1 with `errno`.
#[unsafe(no_mangle)]
pub extern "C" fn paceline_heart_connect() -> c_int {
    match guarded(Err(libc::EIO), process::connect) {
        Ok(descriptor) => descriptor,
        Err(error) => {
            // SAFETY: the address of this thread's errno is always valid.
            unsafe { *libc::__errno_location() = error };
            -1
        }
    }
}

/// Lets other programs connect to the database of this process: through a UNIX socket if `address` has a `/`, otherwise
/// over TCP. Returns the port, 0 for a UNIX socket, or -1 with a message on standard error.
///
/// # Safety
/// `address` is a terminated string or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn paceline_listen(address: *const c_char, port: c_uint) -> c_int {
    // SAFETY: the caller promises a terminated string or null.
    let address = unsafe { text(address) };
    guarded(-1, || {
        let listened = match (address, u16::try_from(port)) {
            (None, _) => Err("paceline_listen needs an address".to_owned()),
            (_, Err(_)) => Err(format!("{port} is no port")),
            (Some(path), Ok(_)) if path.contains('/') => {
                process::listen(ListenAddress::Socket(PathBuf::from(path)))
            }
            (Some(address), Ok(port)) => process::listen(ListenAddress::Tcp { address, port }),
        };
        match listened {
            Ok(ListenAddress::Socket(_)) => 0,
            Ok(ListenAddress::Tcp { port, .. }) => c_int::from(port),
            Err(error) => {
                messages::print(&error);
                -1
            }
        }
    })
}

/// Stops to listen on all addresses.
#[unsafe(no_mangle)]
pub extern "C" fn paceline_stop_listening() {
    guarded((), process::stop_listening);
}

/// Returns a copy of a C string, whatever bytes it has; `None` for null.
///
/// # Safety
/// `string` is a terminated string or null.
unsafe fn text(string: *const c_char) -> Option<String> {
    if string.is_null() {
        return None;
    }
    // SAFETY: it is not null, so the caller promises a terminated string.
    let string = unsafe { CStr::from_ptr(string) };
    Some(string.to_string_lossy().into_owned())
}

/// Calls a function that must not unwind into C.
fn guarded<T>(after_panic: T, function: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(function)).unwrap_or(after_panic)
}
