//! Servers that an experiment starts, and the clients that drive them.
//!
//! ```text
//!  ServerProgram ───▶ Server ◀── Connection ── rate_of_statements: a thread for each client
//!  Paceline, MariaDB     ▲
//!                        └── TracedServer: the kernel's count of its syncs
//! ```
//!
//! A server is a process of its own with a new data directory, which is deleted with it. It listens on a UNIX socket
//! only, and syncs its log for every commit group.

mod connection;
mod options;
mod rate;
mod rate_report;
mod required_programs;
mod server;
mod server_program;
mod traced_server;

pub use options::{ComparisonOptions, PacelineOption, RateOptions};
pub use rate::{Load, rate_of_statements};
pub use rate_report::{RateReport, RateRow};
pub use required_programs::{missing_programs, require_programs};
pub use server::Server;
pub use server_program::ServerProgram;
pub use traced_server::{STRACE, SyncCounts, TracedServer};
