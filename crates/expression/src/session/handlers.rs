//! Tables that HANDLER … OPEN opened, with the position of each.

use paceline_types::Version;

/// Maximum number of open tables.
pub const HANDLERS_MAX: usize = 1024;

/// The open tables of a session.
#[derive(Debug, Clone, Default)]
pub struct OpenHandlers {
    handlers: Vec<OpenHandler>,
}

/// An open table.
#[derive(Debug, Clone)]
pub struct OpenHandler {
    /// Name in HANDLER … READ: the alias, or the table's name.
    pub name: String,
    /// Database of the table.
    pub database: String,
    /// Name of the table.
    pub table: String,
    /// Version of the table's definition. A table that was defined again is no longer open.
    pub version: Version,
    /// Place of the last row that was read.
    pub position: HandlerPosition,
}

/// Position of a HANDLER.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HandlerPosition {
    /// Index that was read last; `None` is the table's own order.
    pub index: Option<usize>,
    /// Place in that index.
    pub place: HandlerPlace,
}

/// Place in an index.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum HandlerPlace {
    /// Nothing was read yet.
    #[default]
    None,
    /// At the entry with this key.
    At(Vec<u8>),
    /// Before the first entry.
    BeforeFirst,
    /// After the last entry.
    AfterLast,
}

impl OpenHandlers {
    /// Returns an open table.
    pub fn get(&self, name: &str) -> Option<&OpenHandler> {
        self.handlers.iter().find(|handler| handler.name == name)
    }

    /// Adds a table, whose name is not in use. Returns false if there are too many.
    #[must_use]
    pub fn add(&mut self, handler: OpenHandler) -> bool {
        assert!(
            self.get(&handler.name).is_none(),
            "the name of an open HANDLER is in use"
        );
        if self.handlers.len() >= HANDLERS_MAX {
            return false;
        }
        self.handlers.push(handler);
        true
    }

    /// Closes a table.
    pub fn remove(&mut self, name: &str) {
        self.handlers.retain(|handler| handler.name != name);
    }

    /// Moves the position of an open table.
    pub fn set_position(&mut self, name: &str, position: HandlerPosition) {
        if let Some(handler) = self.handlers.iter_mut().find(|handler| handler.name == name) {
            handler.position = position;
        }
    }
}
