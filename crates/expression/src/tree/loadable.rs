//! Calls of loadable functions as the tree has them. [`loadable`](crate::loadable) begins and evaluates them.

use std::fmt;
use std::sync::Arc;

use paceline_native_functions::{NativeCall, NativeFunction};
use parking_lot::Mutex;

use super::unique_id;

/// A call of a loadable function in a statement.
pub struct LoadableCall {
    pub(crate) function: Arc<NativeFunction>,
    /// Key of the call in the state of an execution.
    pub(crate) id: u64,
    pub(crate) argument_names: Vec<String>,
    /// The call that began while it was bound, until an execution takes it.
    pub(crate) begun: Mutex<Option<NativeCall>>,
}

impl LoadableCall {
    pub(crate) fn new(
        function: &Arc<NativeFunction>,
        argument_names: Vec<String>,
        begun: Option<NativeCall>,
    ) -> Self {
        LoadableCall {
            function: function.clone(),
            id: unique_id(),
            argument_names,
            begun: Mutex::new(begun),
        }
    }

    /// Returns the function's name.
    pub fn name(&self) -> &str {
        self.function.name()
    }
}

impl fmt::Debug for LoadableCall {
    /// Equal calls have equal output, so that GROUP BY finds its keys.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoadableCall")
            .field("name", &self.name())
            .field("argument_names", &self.argument_names)
            .finish_non_exhaustive()
    }
}
