//! Rows of tables within a transaction, without SQL: reads by keys, scans of indexes, locking reads, and values of Rust
//! types.
//!
//! ```text
//!   TableView      a table's definition and the columns that a program wants, by name; checked once
//!     │
//!     ├─ get       key ─▶ sort key ─▶ Transaction::get ─▶ RowRef
//!     ├─ scan      bounds ─▶ key range ─▶ Transaction::scan ─▶ RowScan ─▶ RowRef, RowRef, …
//!     └─ lock      as get and scan, of the newest state under lock
//!   RowRef         the stored image; a column is decoded when it is asked for, text and bytes are borrowed from it
//! ```
//!
//! The caller has a transaction, has locked the table's definition in it, and has begun a statement. A [`TableView`] is
//! valid for one version of the definition; the caller compares [`TableView::version`] with the catalog's.
//!
//! # Changes of rows
//! Rows are not written here. Constraints, foreign keys, triggers, generated columns and AUTO_INCREMENT are the work of
//! `paceline-query`, and a second implementation would differ from it sooner or later. A program that writes rows has a
//! plan of an INSERT, UPDATE or DELETE by key, planned once, and executes it with its values; so each rule holds as
//! after SQL.
//!
//! # Rejected
//! - *Values of one enum for everything that is read*: a text would be copied for each row.
//! - *Keys of any type, compared as SQL compares them* (`id = '3'`): a key is found by its bytes, so its values must be
//!   of the column's type, or convertible to it without a loss. Everything else is an error, never an empty result.
#![forbid(unsafe_code)]

mod bounds;
mod input;
mod read;
mod row;
mod view;

pub use bounds::IndexBounds;
pub use input::{IntoValue, IntoValues};
pub use read::{IndexCursor, IndexParts, ReadMode, RowScan};
pub use row::{FromRow, FromValue, RowRef};
pub use view::TableView;

pub use paceline_catalog::Error;

/// Result of this crate's functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;
