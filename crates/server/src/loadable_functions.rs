//! Loadable functions: from their descriptions in the catalog to the code of their libraries.
//!
//! A library is code that runs in this process with its rights, so the server loads none unless it was started with
//! `--paceline-native-functions`. The variable cannot be changed at run time: an account that may do everything in
//! SQL still cannot run code of its own. A definition alone loads nothing; replaying it or replicating it is always
//! allowed.
//!
//! Libraries are loaded from `plugin_dir`, when a function is created or called first, and stay loaded.

use crate::variables::{Globals, Variable};
use paceline_catalog::{LoadableCode, LoadableFunction};
use paceline_native_functions::{CallKind, Library, NativeFunction, ResultType, Suspicion};
use paceline_syntax::definition::LoadableType;
use paceline_syntax::{Aggregation, Error, Result};
use paceline_types::error_code::{ER_CANT_FIND_DL_ENTRY, ER_CANT_OPEN_LIBRARY, ER_OPTION_PREVENTS_STATEMENT};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

/// Libraries and functions that the server has loaded.
#[derive(Default)]
pub struct LoadableFunctions(Mutex<Loaded>);

#[derive(Default)]
struct Loaded {
    /// By name of the file.
    libraries: HashMap<String, Arc<Library>>,
    /// By name in lower case. An entry of another description is out of date.
    functions: HashMap<String, (LoadableFunction, Arc<NativeFunction>)>,
}

impl LoadableFunctions {
    /// Returns the code of a function.
    ///
    /// # Errors
    /// 1290 if the server does not load libraries, 1126 for the library, 1127 for a symbol that it lacks.
    pub fn code_of(&self, function: &LoadableFunction, globals: &Globals) -> Result<Arc<NativeFunction>> {
        check_enabled(globals)?;
        let key = function.name.to_lowercase();
        let mut loaded = self.0.lock();
        if let Some((known, code)) = loaded.functions.get(&key)
            && known == function
        {
            return Ok(code.clone());
        }
        let LoadableCode::Native { library, returns } = &function.code;
        let library = loaded.library(library, globals)?;
        let returns = match returns {
            LoadableType::String => ResultType::Text,
            LoadableType::Real => ResultType::Real,
            LoadableType::Integer => ResultType::Integer,
            LoadableType::Decimal => ResultType::Decimal,
        };
        let kind = match function.aggregation {
            Aggregation::None => CallKind::Row,
            Aggregation::Group => CallKind::Group,
        };
        let suspicion = match globals.number(Variable::AllowSuspiciousUdfs) {
            0 => Suspicion::Refused,
            _ => Suspicion::Accepted,
        };
        let code = NativeFunction::find(&library, &function.name, returns, kind, suspicion)
            .map_err(|missing| Error::new(ER_CANT_FIND_DL_ENTRY, &[&missing.0]))?;
        loaded.functions.insert(key, (function.clone(), code.clone()));
        Ok(code)
    }
}

impl Loaded {
    fn library(&mut self, name: &str, globals: &Globals) -> Result<Arc<Library>> {
        if let Some(library) = self.libraries.get(name) {
            return Ok(library.clone());
        }
        let directory = globals.get(Variable::PluginDir);
        let directory = directory.as_str();
        if directory.is_empty() {
            return Err(Error::new(
                ER_CANT_OPEN_LIBRARY,
                &[&name, &0, &"plugin_dir is not set"],
            ));
        }
        let library = Library::open(&Path::new(directory).join(name))
            .map_err(|error| Error::new(ER_CANT_OPEN_LIBRARY, &[&name, &error.errno, &error.message]))?;
        self.libraries.insert(name.to_owned(), library.clone());
        Ok(library)
    }
}

/// Checks that the server loads libraries.
///
/// # Errors
/// 1290.
pub fn check_enabled(globals: &Globals) -> Result<()> {
    match globals.number(Variable::PacelineNativeFunctions) {
        0 => Err(Error::new(
            ER_OPTION_PREVENTS_STATEMENT,
            &[&"--paceline-native-functions=OFF"],
        )),
        _ => Ok(()),
    }
}
