//! The server of this process: at most one.

use crate::arguments;
use crate::messages;
use libc::c_int;
use paceline_embedded::{Database, ListenAddress};
use parking_lot::Mutex;
use std::os::fd::IntoRawFd;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

static DATABASE: Mutex<Option<Database>> = Mutex::new(None);

/// Set in a child of fork, which has none of the server's threads. Another thread may have held [`DATABASE`] at the
/// fork: it is not touched there any more.
static IS_FORKED: AtomicBool = AtomicBool::new(false);

const NOT_RUNNING: &str = "no database is open in this process";
const IN_CHILD: &str = "the database belongs to the parent of this process: a child of fork cannot use it";

/// Starts the server, if there is none and the arguments or option files ask for one.
///
/// # Errors
/// A message.
pub fn start(arguments: &[String], groups: Option<&[String]>) -> Result<(), String> {
    if is_forked() {
        // A client of other servers goes on.
        return match arguments::asks_for_server(arguments, groups) {
            true => Err(IN_CHILD.to_owned()),
            false => Ok(()),
        };
    }
    let mut database = DATABASE.lock();
    if database.is_some() {
        return Ok(());
    }
    messages::begin();
    let Some(chosen) = arguments::read(arguments, groups)? else {
        return Ok(());
    };
    watch_forks();
    let opened = Database::open(&chosen.directory, chosen.options);
    *database = Some(opened.map_err(|error| error.to_string())?);
    Ok(())
}

/// Closes the server.
///
/// # Errors
/// A message: the next start replays the log.
pub fn stop() -> Result<(), String> {
    if is_forked() {
        return Ok(());
    }
    let Some(database) = DATABASE.lock().take() else {
        return Ok(());
    };
    database.close().map_err(|error| error.to_string())
}

/// Returns whether there is a server.
pub fn is_running() -> bool {
    !is_forked() && DATABASE.lock().is_some()
}

/// Returns whether this is the child of a process with a server.
pub fn is_forked() -> bool {
    IS_FORKED.load(Ordering::Relaxed)
}

/// Returns the open database.
///
/// # Errors
/// A message.
fn database() -> Result<Database, String> {
    if is_forked() {
        return Err(IN_CHILD.to_owned());
    }
    let database = DATABASE.lock().clone();
    database.ok_or_else(|| NOT_RUNNING.to_owned())
}

/// Returns the descriptor of a new connection, which now is the caller's.
///
/// # Errors
/// An error number of the operating system.
pub fn connect() -> Result<c_int, c_int> {
    let database = database().map_err(|_| libc::ENOTCONN)?;
    let connection = database.connect().map_err(|_| libc::ECONNREFUSED)?;
    Ok(connection.into_raw_fd())
}

/// Listens on an address and returns it.
///
/// # Errors
/// A message.
pub fn listen(address: ListenAddress) -> Result<ListenAddress, String> {
    database()?.listen(address).map_err(|error| error.to_string())
}

/// Stops to listen.
pub fn stop_listening() {
    if let Ok(database) = database() {
        database.stop_listening();
    }
}

/// Registers what happens in a child of fork.
fn watch_forks() {
    static REGISTERED: Once = Once::new();
    REGISTERED.call_once(|| {
        // SAFETY: the function exists as long as the process, because the library is never unloaded (-z nodelete). It
        // does only what is allowed between fork and exec: it writes an atomic.
        unsafe {
            libc::pthread_atfork(None, None, Some(mark_child));
        }
    });
}

unsafe extern "C" fn mark_child() {
    IS_FORKED.store(true, Ordering::Relaxed);
}
