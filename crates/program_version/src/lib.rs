//! The version of this program, and of the formats that servers of different versions check before they talk.
//!
//! | what | where it is checked |
//! |---|---|
//! | the number | the data directory's file says which version wrote it; `paceline cluster status` names the next member to upgrade |
//! | [`MESSAGE_FORMAT`] | at the beginning of a connection between members of a cluster |
//! | [`LOG_FORMAT`] | when a member asks for the log |
//!
//! The workspace has one version, and a program is of the version that it was built with. A test of an upgrade needs a
//! second one. A program whose `main` calls [`set`] first has another version, and the same code otherwise. It costs
//! the time of a link, not that of a second build (`tests/other_version`).
//!
//! # Alternatives considered
//! *An option or a variable of the environment of the server itself*: a server in use could then claim to be what it is
//! not. *The number as a parameter of everything that names it*: two dozen constructors for the sake of tests.
#![forbid(unsafe_code)]

use std::sync::OnceLock;

/// Version of the messages between members of a cluster. It grows with each change of their form.
pub const MESSAGE_FORMAT: u8 = 1;

/// Version of what Paceline writes beyond MariaDB's format: events, records and texts that a member of a cluster must
/// understand to continue the log. It grows with each change that an older version would misread. A member says which
/// version it reads, and a primary whose log has a later one does not serve it.
pub const LOG_FORMAT: u32 = 1;

static VERSION: OnceLock<ProgramVersion> = OnceLock::new();

/// Version of a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProgramVersion {
    /// Major, minor and patch number, with dots.
    pub number: &'static str,
    /// Version of the messages that it sends and understands.
    pub message_format: u8,
    /// Version of the log that it writes, and newest one that it reads.
    pub log_format: u32,
}

impl ProgramVersion {
    /// Version that this code was built as.
    pub const BUILT: ProgramVersion = ProgramVersion {
        number: env!("CARGO_PKG_VERSION"),
        message_format: MESSAGE_FORMAT,
        log_format: LOG_FORMAT,
    };
}

/// Returns the version of this process: that of the build, unless it was [`set`].
pub fn present() -> &'static ProgramVersion {
    VERSION.get_or_init(|| ProgramVersion::BUILT)
}

/// Returns the number of [`present`].
pub fn number() -> &'static str {
    present().number
}

/// Gives this process another version than that of the build. For tests of upgrades.
///
/// # Panics
/// The version has been used or set before.
pub fn set(version: ProgramVersion) {
    assert_eq!(
        VERSION.set(version),
        Ok(()),
        "the version is set before it is used"
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_has_one_version() {
        let later = ProgramVersion {
            number: "99.0.0",
            log_format: LOG_FORMAT + 1,
            ..ProgramVersion::BUILT
        };
        set(later.clone());
        assert_eq!(present(), &later);
        assert!(std::panic::catch_unwind(|| set(ProgramVersion::BUILT)).is_err());
        assert_eq!(number(), "99.0.0");
    }
}
