//! MariaDB's and MySQL's JSON: one tree for text, MySQL's binary form, and its logged changes of documents.
//!
//! ```text
//!   text ──parse──▶ Node ──write──▶ text             SQL functions: the whole document, checked as MariaDB checks it
//!                    ▲
//!   text ──unparsed──┘  opened where a path leads     a replica: MySQL's changes of one document
//!
//!   binary form ──────────────────▶ text             a replica: documents in MySQL's row images
//! ```
//! In memory and in tables a document is text, as in MariaDB. Numbers and strings keep their spelling, and whatever is
//! not changed stays as it was.
//!
//! - [`Node`] is the tree: parsing, writing, comparison. [`Path`] finds values in it, [`modify`] changes them.
//! - [`binary`] converts MySQL's binary form to text.
//! - [`diff`] applies the changes that MySQL logs with `binlog_row_value_options=PARTIAL_JSON`.
//!
//! ```
//! use paceline_json::{KeyMatch, Kind, Node, Path};
//! let document = Node::parse(r#"{"a": [1, 2.50]}"#).unwrap();
//! let path = Path::parse("$.a[last]").unwrap();
//! assert_eq!(path.find(&document, KeyMatch::Decoded)[0].kind, Kind::Number("2.50".into()));
//! ```
#![forbid(unsafe_code)]

pub mod binary;
pub mod diff;
mod error;
mod escape;
pub mod modify;
mod node;
mod open;
mod parse;
mod path;

pub use error::{Error, Result};
pub use escape::{escape, unescape};
pub use node::{Kind, Node};
pub use parse::{DEPTH_MAX, Fault};
pub use path::{Index, KeyMatch, Path, PathFault, Step, same_key};
