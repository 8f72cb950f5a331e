//! The server's vocabulary: values, column types, collations, and MariaDB's encodings of them.
//!
//! All crates above this one use these types. This crate knows nothing of tables, transactions or sockets.
//!
//! ```text
//!             client's packets                        the log and the engine
//!    text / binary_protocol  ⇄  Value  ⇄  row_image  (one row, as in a rows event)
//!                                 │
//!            convert (assignment) │ sort_key (its order in an index)
//!                                 │
//!        DataType · Collation · Decimal · Date, Time, DateTime, Timestamp
//! ```
//!
//! - [`Value`] owns its contents; [`ValueRef`] borrows them from a row image. A point select sends a value from the
//!   image to the client's packet without a copy in between.
//! - Text is always UTF-8 inside the server, whatever character set its column has. Only [`row_image`] uses the
//!   column's character set.
//! - [`error_code`] is the one table of MariaDB's error numbers, SQLSTATEs and message formats.
#![forbid(unsafe_code)]

#[cfg(test)]
mod any_value;
pub mod base64;
pub mod binary_protocol;
pub mod collation;
pub mod convert;
pub mod data_type;
pub mod decimal;
mod error;
pub mod error_code;
mod fixed_binary;
pub mod float_text;
pub mod gtid;
pub mod heap;
pub mod key_reader;
pub mod locale;
mod log_index;
pub mod log_position;
mod memory;
pub mod packed;
pub mod row_checksum;
pub mod row_conversion;
pub mod row_image;
pub mod sort_key;
mod sql_mode;
mod statement_error;
pub mod table_map_metadata;
pub mod temporal;
pub mod text;
mod transaction_mode;
pub mod value;

pub use collation::{Charset, Collation};
pub use data_type::{
    BlobSize, DataType, DecimalType, FixedPoint, FloatType, IntegerType, IntegerWidth, Labels, Sign,
};
pub use decimal::Decimal;
pub use error::{Error, Result};
pub use error_code::ErrorCode;
pub use fixed_binary::{FixedBinary, FixedBinaryType};
pub use gtid::{DomainId, Gtid, SequenceNumber, ServerId};
pub use locale::Locale;
pub use log_index::LogIndex;
pub use log_position::{LogPosition, ParseLogPositionError, Version};
pub use memory::{MemoryCharge, ServerMemory, SessionMemory};
pub use sql_mode::SqlMode;
pub use statement_error::{SignalledCondition, StatementError};
pub use temporal::{Date, DateTime, Time, TimeZone, Timestamp};
pub use transaction_mode::{AccessMode, IsolationLevel};
pub use value::{BitValue, EnumRef, EnumValue, SetRef, SetValue, Value, ValueRef};
