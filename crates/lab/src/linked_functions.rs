//! The C functions of `c/`: loops of calls, linked in different ways.

#![allow(unsafe_code)]

use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_LAZY, RTLD_LOCAL};
use std::ffi::{c_int, c_long};
use std::fs;
use std::io;
use std::path::Path;

type Function = extern "C" fn(c_long) -> c_long;

unsafe extern "C" {
    safe fn lab_loop_static(calls: c_long) -> c_long;
    safe fn lab_loop_inline(calls: c_long) -> c_long;
    safe fn lab_loop_pointer(function: Function, calls: c_long) -> c_long;
}

/// Calls a function of the program.
pub fn call_static(calls: c_long) -> c_long {
    lab_loop_static(calls)
}

/// Calls nothing: what the loop takes.
pub fn call_nothing(calls: c_long) -> c_long {
    lab_loop_inline(calls)
}

/// Loops and a function in shared libraries.
pub struct SharedFunctions {
    function: Function,
    through_table: Function,
    without_table: Function,
    /// Are unloaded after the last call.
    _libraries: [Library; 3],
}

impl SharedFunctions {
    /// Loads the libraries. They need their files only until then.
    ///
    /// # Errors
    /// Those of writing to `directory` and of loading, which a file system that allows no execution refuses.
    pub fn load(directory: &Path) -> io::Result<Self> {
        let library = |name: &str, bytes: &[u8], visibility: c_int| {
            let path = directory.join(name);
            fs::write(&path, bytes)?;
            // SAFETY: the libraries are built from `c/` with this program. They have no initialisers.
            unsafe { Library::open(Some(&path), RTLD_LAZY | visibility) }.map_err(io::Error::other)
        };
        // Both loops call the function of this library, which is found among the global symbols.
        let function = library(
            "function.so",
            include_bytes!(concat!(env!("OUT_DIR"), "/function.so")),
            RTLD_GLOBAL,
        )?;
        let table = library(
            "loop_plt.so",
            include_bytes!(concat!(env!("OUT_DIR"), "/loop_plt.so")),
            RTLD_LOCAL,
        )?;
        let no_table = library(
            "loop_no_plt.so",
            include_bytes!(concat!(env!("OUT_DIR"), "/loop_no_plt.so")),
            RTLD_LOCAL,
        )?;
        let symbol = |library: &Library, name: &str| {
            // SAFETY: the functions of `c/` have this type. The libraries are in the same structure as the addresses.
            unsafe { library.get::<Function>(name.as_bytes()) }
                .map(|symbol| *symbol)
                .map_err(io::Error::other)
        };
        Ok(SharedFunctions {
            function: symbol(&function, "lab_add_dynamic")?,
            through_table: symbol(&table, "lab_loop_dynamic")?,
            without_table: symbol(&no_table, "lab_loop_dynamic")?,
            _libraries: [function, table, no_table],
        })
    }

    /// Calls from one library to another through the procedure linkage table.
    pub fn call_through_table(&self, calls: c_long) -> c_long {
        (self.through_table)(calls)
    }

    /// Calls from one library to another through the global offset table at once.
    pub fn call_without_table(&self, calls: c_long) -> c_long {
        (self.without_table)(calls)
    }

    /// Calls a function of a library from the program, through its address.
    pub fn call_through_pointer(&self, calls: c_long) -> c_long {
        lab_loop_pointer(self.function, calls)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_way_calls_that_often() {
        let directory = tempfile::tempdir().unwrap();
        let shared = SharedFunctions::load(directory.path()).unwrap();
        assert_eq!(call_static(10), 10);
        assert_eq!(call_nothing(11), 11);
        assert_eq!(shared.call_through_table(12), 12);
        assert_eq!(shared.call_without_table(13), 13);
        assert_eq!(shared.call_through_pointer(14), 14);
    }
}
