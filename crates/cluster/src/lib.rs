//! Cluster mode
#![forbid(unsafe_code)]

mod configuration;
mod epoch;
mod interface;
mod log_tail;
mod member;

pub use configuration::{Configuration, ConfigurationError, Holder, HolderKind, MemberId};
pub use epoch::{Epoch, EpochRecord, Origin, Progress, Promise};
pub use interface::{
    Action, Claimer, Consent, DurableState, Elections, EtcdState, Hearing, Input, Leave, Message, Millis,
    StoredPromise, SwitchError, Timing,
};
pub use log_tail::{EpochSpan, LogIndex, LogRank, LogTail};
pub use member::{Member, RoleName, Status, Wait};
