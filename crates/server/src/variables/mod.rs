//! System variables: by name, with a global value, a value for each session, or both.
//!
//! ```text
//!   options, my.cnf ──▶ Globals ──copied when a session begins──▶ SessionValues
//!                          │                                          │
//!                 SET GLOBAL ─▶ effects on the server          SET ─▶ effects on the session's typed settings
//! ```
//!
//! What execution reads for every statement is not looked up here by name: each `SET` puts a typed copy into
//! [`paceline_sql::session::Settings`]. Values that are computed (`@@last_gtid`, `@@gtid_binlog_pos`) have a row in the table and no
//! value in these stores; [`crate::session::services`] knows them.

mod definition;
mod effects;
mod store;
mod table;
mod value;

pub use definition::{Access, Definition, Kind, Scope};
pub use effects::{
    apply_all_to_session, apply_to_session, is_transaction_config, isolation_setting, semi_sync_settings,
    transaction_config,
};
pub use store::{Globals, SessionValues};
pub use table::{TABLE, Variable};
pub use value::{Fit, Setting};

use paceline_sql::expr::{Coercibility, ExprType};
use paceline_types::{Collation, DataType};

/// The type of a text variable, and of text columns in the server's own result sets.
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
