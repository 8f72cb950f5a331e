//! Clusters: servers that are members, and the commands of an operator.

mod commands;
mod member;
mod settings;

pub use commands::{Options, run};
pub use member::run as run_member;
pub use settings::MemberSettings;
