//! System variables, with a global value, a value for each session, or both.
//!
//! ```text
//!   options, my.cnf ──▶ Globals ──copied when a session begins──▶ SessionValues
//!                          │                                          │
//!                 SET GLOBAL ─▶ effects on the server          SET ─▶ effects on the session's typed settings
//! ```
//!
//! Values that every statement needs are not looked up here by name: each `SET` stores a typed copy in
//! [`paceline_expression::session::Settings`]. Computed variables (`@@last_gtid`, `@@gtid_binlog_pos`) have an entry in
//! the table but no stored value; [`crate::session::services`] computes them.

mod definition;
mod description;
mod effects;
mod rules;
mod store;
mod table;
mod value;

pub use definition::{Access, Definition, Effect, Kind, Scope, Startup};
pub use effects::{
    apply_all_to_session, apply_to_session, binlog_format, is_transaction_config, isolation_setting,
    memory_limit, semi_sync_settings, session_memory_max, transaction_config,
};
pub use store::{Globals, SessionValues};
pub use table::{TABLE, Variable};
pub use value::{Fit, VariableValue, overflowed};

use paceline_expression::{Coercibility, ExprType};
use paceline_types::{Collation, DataType};

/// Returns the type of a text variable, and of text columns in the server's own result sets.
pub fn text_type() -> ExprType {
    ExprType {
        coercibility: Coercibility::SystemConstant,
        nullable: true,
        ..ExprType::new(DataType::VarChar {
            length: 2048,
            collation: Collation::Utf8mb3GeneralCi,
        })
    }
}
