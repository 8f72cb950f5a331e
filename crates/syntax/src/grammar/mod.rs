//! MariaDB's grammar as a recursive-descent parser: the cursor over tokens, and one file for each kind of
//! statement.

mod account;
mod administration;
mod alter;
mod column;
mod create;
mod data_change;
mod dispatch;
mod expression;
mod file_format;
mod foreign_key;
mod function;
mod handler;
mod json_table;
mod parser;
mod plugin;
mod program;
mod query;
mod replication;
mod sequence;
mod set;
mod show;
mod table_reference;
mod view;
mod weight_string;
mod window;

pub use function::is_aggregate;
pub(crate) use parser::Parser;
pub use weight_string::weight_flags;
