//! The log: a directory of binlog files, their index, and everything that is done with them.

mod config;
mod disk;
mod files;
mod log;
mod reader;

pub use config::{LogConfig, OpenRequest, SyncMode};
pub use disk::{Disk, DiskFile, RealDisk};
pub use files::{LogFile, PurgeOutcome, PurgeTarget};
pub use log::{Cut, Log, Preparation, Recovery, Shutdown};
pub use reader::{LogReader, LoggedEvent};
