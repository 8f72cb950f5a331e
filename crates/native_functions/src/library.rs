//! Libraries, and the symbols of their functions.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use libloading::os::unix::{Library as Loaded, RTLD_LOCAL, RTLD_NOW};

use crate::layout::{AddFn, ClearFn, DeinitFn, InitFn, IntegerFn, RealFn, ResultType, TextFn};

/// A library that cannot be opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenError {
    /// The system's error number; 0 if it has set none.
    pub errno: i32,
    /// The dynamic linker's message, without the library's path.
    pub message: String,
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "errno: {}, {}", self.errno, self.message)
    }
}

impl std::error::Error for OpenError {}

/// A symbol that a library lacks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingSymbol(pub String);

impl fmt::Display for MissingSymbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no symbol {}", self.0)
    }
}

impl std::error::Error for MissingSymbol {}

/// Whether a function that has neither an init nor a deinit function is accepted. Any function of the C library would
/// be one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Suspicion {
    /// Such a function is refused.
    Refused,
    /// Such a function is accepted: `--allow-suspicious-udfs`.
    Accepted,
}

/// A loaded library. It stays loaded until the process ends.
pub struct Library(std::mem::ManuallyDrop<Loaded>);

impl fmt::Debug for Library {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Library")
    }
}

impl Library {
    /// Loads the library of this file. Its initializers run: code that nothing has checked.
    ///
    /// # Errors
    /// If there is no such file, or it is no library, or it lacks symbols of other libraries.
    pub fn open(path: &Path) -> Result<Arc<Self>, OpenError> {
        // SAFETY: the initializers are trusted code: the operator has allowed native functions and controls the
        // directory of libraries. Nothing of this process is borrowed during the call.
        match unsafe { Loaded::open(Some(path), RTLD_NOW | RTLD_LOCAL) } {
            Ok(loaded) => Ok(Arc::new(Library(std::mem::ManuallyDrop::new(loaded)))),
            Err(error) => {
                let errno = std::io::Error::last_os_error().raw_os_error().unwrap_or(0);
                let message = match &error {
                    libloading::Error::DlOpen { desc } => format!("{desc:?}"),
                    other => other.to_string(),
                };
                let message = message.trim_matches('"');
                let prefix = format!("{}: ", path.display());
                Err(OpenError {
                    errno,
                    message: message.strip_prefix(&prefix).unwrap_or(message).to_owned(),
                })
            }
        }
    }

    /// Returns the address of a symbol as a function of type `F`.
    ///
    /// # Safety
    /// `F` must be a pointer to an `extern "C"` function of the type that the symbol has.
    unsafe fn symbol<F: Copy>(&self, name: &str) -> Option<F> {
        // SAFETY: the caller promises the type. The pointer stays valid because the library is never unloaded.
        let symbol = unsafe { self.0.get::<Option<F>>(name.as_bytes()) };
        symbol.ok().and_then(|symbol| *symbol)
    }
}

/// The C function that computes a value, by the type of the value.
#[derive(Clone, Copy)]
pub(crate) enum ValueFn {
    Integer(IntegerFn),
    Real(RealFn),
    Text(TextFn),
    Decimal(TextFn),
}

/// The C functions of an aggregate.
#[derive(Clone, Copy)]
pub(crate) struct AggregateFns {
    pub clear: ClearFn,
    pub add: AddFn,
    pub remove: Option<AddFn>,
}

/// A function of a library.
pub struct NativeFunction {
    name: String,
    pub(crate) value: ValueFn,
    pub(crate) init: Option<InitFn>,
    pub(crate) deinit: Option<DeinitFn>,
    pub(crate) aggregate: Option<AggregateFns>,
    _library: Arc<Library>,
}

impl fmt::Debug for NativeFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NativeFunction")
            .field("name", &self.name)
            .field("returns", &self.returns())
            .finish_non_exhaustive()
    }
}

/// Kind of a function: with one call for each row, or for each group of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallKind {
    /// For each row.
    Row,
    /// AGGREGATE.
    Group,
}

impl NativeFunction {
    /// Finds the symbols of a function in a library.
    ///
    /// # Errors
    /// The first symbol that is missing.
    pub fn find(
        library: &Arc<Library>,
        name: &str,
        returns: ResultType,
        kind: CallKind,
        suspicion: Suspicion,
    ) -> Result<Arc<Self>, MissingSymbol> {
        let missing = |name: &str| MissingSymbol(name.to_owned());
        let of = |suffix: &str| format!("{name}{suffix}");
        // SAFETY: this and the following symbols have the interface's types by the convention of their names. Nothing
        // can check that; it is a promise of the account that creates the function.
        let value = unsafe {
            match returns {
                ResultType::Integer => library.symbol(name).map(ValueFn::Integer),
                ResultType::Real => library.symbol(name).map(ValueFn::Real),
                ResultType::Text => library.symbol(name).map(ValueFn::Text),
                ResultType::Decimal => library.symbol(name).map(ValueFn::Decimal),
            }
        };
        let value = value.ok_or_else(|| missing(name))?;
        let aggregate = match kind {
            CallKind::Row => None,
            CallKind::Group => {
                // SAFETY: as above.
                let (clear, add, remove) = unsafe {
                    let clear = library.symbol(&of("_clear"));
                    (clear, library.symbol(&of("_add")), library.symbol(&of("_remove")))
                };
                Some(AggregateFns {
                    clear: clear.ok_or_else(|| missing(&of("_clear")))?,
                    add: add.ok_or_else(|| missing(&of("_add")))?,
                    remove,
                })
            }
        };
        // SAFETY: as above.
        let (init, deinit): (Option<InitFn>, Option<DeinitFn>) =
            unsafe { (library.symbol(&of("_init")), library.symbol(&of("_deinit"))) };
        let is_suspicious = init.is_none() && deinit.is_none() && aggregate.is_none();
        if is_suspicious && suspicion == Suspicion::Refused {
            return Err(missing(&of("_init")));
        }
        Ok(Arc::new(NativeFunction {
            name: name.to_owned(),
            value,
            init,
            deinit,
            aggregate,
            _library: library.clone(),
        }))
    }

    /// Returns the name under which it was created.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the type of its values.
    pub fn returns(&self) -> ResultType {
        match self.value {
            ValueFn::Integer(_) => ResultType::Integer,
            ValueFn::Real(_) => ResultType::Real,
            ValueFn::Text(_) => ResultType::Text,
            ValueFn::Decimal(_) => ResultType::Decimal,
        }
    }

    /// Returns whether it is called for groups.
    pub fn kind(&self) -> CallKind {
        match self.aggregate {
            Some(_) => CallKind::Group,
            None => CallKind::Row,
        }
    }

    /// Returns whether an aggregate can remove rows that a frame of a window loses.
    pub fn can_remove(&self) -> bool {
        self.aggregate.is_some_and(|aggregate| aggregate.remove.is_some())
    }
}
