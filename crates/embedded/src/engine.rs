//! Engines that a program adds, for tables with `ENGINE=` and their name.
//!
//! Such a table is like one of MEMORY: rows, indexes, locks, transactions, snapshots and the log are the server's work,
//! and one transaction can change it together with tables of InnoDB. The engine holds keys and values in memory, with
//! their versions. A restart empties the table, and logs that.
//!
//! ```
//! use paceline_embedded::engine::{Direction, Engine, EngineChanges, EngineCursor, EngineType, KeyRange, Version};
//! use paceline_embedded::{Database, Options, register_engine};
//! use std::sync::Arc;
//!
//! /// `ENGINE=FORGETFUL`: has no row when it is asked.
//! struct Forgetful;
//!
//! impl EngineType for Forgetful {
//!     fn name(&self) -> &str { "FORGETFUL" }
//!     fn comment(&self) -> &str { "Forgets its rows" }
//!     fn create(&self) -> Arc<dyn Engine> { Arc::new(Forgetful) }
//! }
//!
//! impl Engine for Forgetful {
//!     fn apply(&self, changes: &EngineChanges<'_>) {
//!         println!("{} keys change at {}", changes.entries().count(), changes.version());
//!     }
//!     fn get(&self, _: &[u8], _: Version) -> Option<Arc<[u8]>> { None }
//!     fn scan(self: Arc<Self>, _: KeyRange, _: Direction, _: Version) -> Box<dyn EngineCursor> { Box::new(NoEntries) }
//!     fn used_bytes(&self) -> u64 { 0 }
//!     fn collect(&self, _: Version, _: usize) -> bool { false }
//! }
//!
//! struct NoEntries;
//!
//! impl EngineCursor for NoEntries {
//!     fn advance(&mut self) -> bool { false }
//!     fn entry(&self) -> Option<(&[u8], &[u8])> { None }
//!     fn seek(&mut self, _: &[u8]) {}
//! }
//!
//! # let directory = tempfile::tempdir()?;
//! register_engine(0, &Forgetful)?;
//! let database = Database::open(directory.path(), Options::new())?;
//! let mut session = database.session()?;
//! session.execute("CREATE DATABASE d", ())?;
//! session.execute("CREATE TABLE d.t (a INT PRIMARY KEY) ENGINE=FORGETFUL", ())?;
//! session.execute("INSERT INTO d.t VALUES (1), (2)", ())?;
//! assert!(session.query("SELECT * FROM d.t", ())?.rows.is_empty());
//! # drop(session);
//! # database.close()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use paceline_storage::{
    Change, Direction, Engine, EngineChanges, EngineCursor, EngineType, Entries, KeyRange, RegistrationError,
    Retention,
};
pub use paceline_types::Version;
