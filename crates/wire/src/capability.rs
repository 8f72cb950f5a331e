//! The capability flags of the handshake, by which client and server agree on features.
//!
//! MariaDB shares the lower 32 bits with MySQL. MariaDB's own flags are above them and are sent in four bytes that
//! are zero in MySQL. A server that has such flags clears the lowest bit (`CLIENT_MYSQL`), and a client that sees
//! this clears it, too.

use std::ops::{BitAnd, BitOr};

/// A set of capability flags.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Capabilities(pub u64);

impl Capabilities {
    /// No flags.
    pub const NONE: Capabilities = Capabilities(0);
    /// The peer does *not* have MariaDB's extended capabilities.
    pub const MYSQL: Capabilities = Capabilities(1);
    /// `affected rows` counts the rows found, not only those changed.
    pub const FOUND_ROWS: Capabilities = Capabilities(1 << 1);
    /// Longer column flags.
    pub const LONG_FLAG: Capabilities = Capabilities(1 << 2);
    /// The client's handshake contains a database.
    pub const CONNECT_WITH_DB: Capabilities = Capabilities(1 << 3);
    /// `db.table.column` is not allowed (never used).
    pub const NO_SCHEMA: Capabilities = Capabilities(1 << 4);
    /// The compressed protocol.
    pub const COMPRESS: Capabilities = Capabilities(1 << 5);
    /// An ODBC client; has no effect.
    pub const ODBC: Capabilities = Capabilities(1 << 6);
    /// `LOAD DATA LOCAL` is allowed.
    pub const LOCAL_FILES: Capabilities = Capabilities(1 << 7);
    /// Spaces before `(` are ignored (sql_mode IGNORE_SPACE).
    pub const IGNORE_SPACE: Capabilities = Capabilities(1 << 8);
    /// The protocol of version 4.1 and later; required.
    pub const PROTOCOL_41: Capabilities = Capabilities(1 << 9);
    /// `interactive_timeout` applies instead of `wait_timeout`.
    pub const INTERACTIVE: Capabilities = Capabilities(1 << 10);
    /// TLS.
    pub const SSL: Capabilities = Capabilities(1 << 11);
    /// OK and EOF packets have status flags.
    pub const TRANSACTIONS: Capabilities = Capabilities(1 << 13);
    /// Authentication with the 20-byte scramble; required.
    pub const SECURE_CONNECTION: Capabilities = Capabilities(1 << 15);
    /// A `COM_QUERY` may contain several statements.
    pub const MULTI_STATEMENTS: Capabilities = Capabilities(1 << 16);
    /// A `COM_QUERY` may be answered with several result sets.
    pub const MULTI_RESULTS: Capabilities = Capabilities(1 << 17);
    /// A `COM_STMT_EXECUTE` may be answered with several result sets.
    pub const PS_MULTI_RESULTS: Capabilities = Capabilities(1 << 18);
    /// Authentication methods are named.
    pub const PLUGIN_AUTH: Capabilities = Capabilities(1 << 19);
    /// The client's handshake contains connection attributes.
    pub const CONNECT_ATTRS: Capabilities = Capabilities(1 << 20);
    /// The length of the authentication response is a length-encoded integer.
    pub const PLUGIN_AUTH_LENENC: Capabilities = Capabilities(1 << 21);
    /// The client can handle an expired password.
    pub const CAN_HANDLE_EXPIRED_PASSWORDS: Capabilities = Capabilities(1 << 22);
    /// OK packets report changes of the session's state.
    pub const SESSION_TRACK: Capabilities = Capabilities(1 << 23);
    /// No EOF packet after the columns, and an OK packet with header 0xFE after the rows.
    pub const DEPRECATE_EOF: Capabilities = Capabilities(1 << 24);
    /// The client keeps its options over a reconnect; has no effect here.
    pub const REMEMBER_OPTIONS: Capabilities = Capabilities(1 << 31);
    /// MariaDB: progress reports.
    pub const MARIADB_PROGRESS: Capabilities = Capabilities(1 << 32);
    /// MariaDB: `COM_STMT_BULK_EXECUTE`.
    pub const MARIADB_STMT_BULK_OPERATIONS: Capabilities = Capabilities(1 << 34);
    /// MariaDB: column definitions contain the extended type (`json`, `uuid`, …).
    pub const MARIADB_EXTENDED_METADATA: Capabilities = Capabilities(1 << 35);
    /// MariaDB: column definitions that have not changed since the prepare are not sent again.
    pub const MARIADB_CACHE_METADATA: Capabilities = Capabilities(1 << 36);

    /// Capabilities that Paceline's server offers.
    pub const SERVER: Capabilities = Capabilities(
        Self::FOUND_ROWS.0
            | Self::LONG_FLAG.0
            | Self::CONNECT_WITH_DB.0
            | Self::NO_SCHEMA.0
            | Self::COMPRESS.0
            | Self::ODBC.0
            | Self::LOCAL_FILES.0
            | Self::IGNORE_SPACE.0
            | Self::PROTOCOL_41.0
            | Self::INTERACTIVE.0
            | (1 << 12) // IGNORE_SIGPIPE
            | Self::TRANSACTIONS.0
            | (1 << 14) // RESERVED, formerly PROTOCOL_41
            | Self::SECURE_CONNECTION.0
            | Self::MULTI_STATEMENTS.0
            | Self::MULTI_RESULTS.0
            | Self::PS_MULTI_RESULTS.0
            | Self::PLUGIN_AUTH.0
            | Self::CONNECT_ATTRS.0
            | Self::PLUGIN_AUTH_LENENC.0
            | Self::CAN_HANDLE_EXPIRED_PASSWORDS.0
            | Self::SESSION_TRACK.0
            | Self::DEPRECATE_EOF.0
            | Self::REMEMBER_OPTIONS.0
            | Self::MARIADB_PROGRESS.0
            | Self::MARIADB_STMT_BULK_OPERATIONS.0
            | Self::MARIADB_EXTENDED_METADATA.0
            | Self::MARIADB_CACHE_METADATA.0,
    );

    /// Capabilities that Paceline's [client](crate::client) requests.
    pub const CLIENT: Capabilities = Capabilities(
        Self::LONG_FLAG.0
            | Self::PROTOCOL_41.0
            | Self::TRANSACTIONS.0
            | Self::SECURE_CONNECTION.0
            | Self::MULTI_STATEMENTS.0
            | Self::MULTI_RESULTS.0
            | Self::PS_MULTI_RESULTS.0
            | Self::PLUGIN_AUTH.0
            | Self::CONNECT_ATTRS.0
            | Self::PLUGIN_AUTH_LENENC.0
            | Self::SESSION_TRACK.0
            | Self::DEPRECATE_EOF.0,
    );

    /// Returns whether every flag of `other` is in this set.
    #[inline]
    pub const fn has(self, other: Capabilities) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns the 32 bits that MariaDB shares with MySQL.
    pub const fn lower(self) -> u32 {
        self.0 as u32
    }

    /// Returns MariaDB's own 32 bits.
    pub const fn extended(self) -> u32 {
        (self.0 >> 32) as u32
    }
}

impl BitOr for Capabilities {
    type Output = Capabilities;
    fn bitor(self, other: Self) -> Self {
        Capabilities(self.0 | other.0)
    }
}

impl BitAnd for Capabilities {
    type Output = Capabilities;
    fn bitand(self, other: Self) -> Self {
        Capabilities(self.0 & other.0)
    }
}
