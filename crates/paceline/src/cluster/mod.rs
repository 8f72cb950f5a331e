//! Clusters: servers and archives that are members, and the commands of an operator.

mod archive;
mod commands;
mod identity;
mod member;
mod settings;

pub use archive::run as run_archive;
pub use commands::{Options, run};
pub use member::run as run_member;
pub use settings::{MemberOptions, MemberSettings};
