//! Loadable functions: code that is not part of the server and that SQL calls by a name without a database.
//!
//! The catalog has only their descriptions. The server finds the code when a statement calls the function: a server
//! that replays or replicates the definition needs no library. In MariaDB they are the rows of `mysql.func`, which
//! here shows the catalog.
//!
//! There is one kind of code, shared libraries. Another one is another [`LoadableCode`]: names, privileges, statements
//! that create and drop, and the order in which names are resolved stay the same.

use serde::{Deserialize, Serialize};

use paceline_syntax::Aggregation;
use paceline_syntax::definition::{CreateLoadableFunction, LoadableType};

/// A loadable function in the form of its catalog record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)] // A field whose name says all needs no comment.
pub struct LoadableFunction {
    /// Name in its original spelling. It is not case-sensitive.
    pub name: String,
    pub aggregation: Aggregation,
    pub code: LoadableCode,
}

/// Where the code of a loadable function is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum LoadableCode {
    /// In a shared library with MySQL's classic interface.
    Native {
        /// Name of the file in `plugin_dir`.
        library: String,
        /// Type of the values.
        returns: LoadableType,
    },
}

impl LoadableFunction {
    /// Returns the function that a statement creates.
    pub fn of(create: &CreateLoadableFunction) -> Self {
        LoadableFunction {
            name: create.name.clone(),
            aggregation: create.aggregation,
            code: LoadableCode::Native {
                library: create.library.clone(),
                returns: create.returns,
            },
        }
    }
}
