//! KILL, FLUSH, PURGE, RESET, BACKUP, LOCK TABLES, BINLOG.

use super::parser::Parser;
use crate::error::{Error, Result};
use crate::lexer::Token;
use crate::statement::*;
use paceline_types::error_code::ER_BINLOG_CANT_DELETE_GTID_DOMAIN;

impl Parser<'_> {
    /// Parses the rest of BINLOG.
    pub(super) fn binlog_events(&mut self) -> Result<BinlogEvents> {
        if !matches!(self.peek(), Token::UserVariable(_)) {
            return Ok(BinlogEvents::Text(self.text()?));
        }
        let first = self.user_variable_name()?;
        self.expect_token(&Token::Comma)?;
        Ok(BinlogEvents::Variables([first, self.user_variable_name()?]))
    }

    pub(super) fn kill(&mut self) -> Result<Statement> {
        self.expect_word("KILL")?;
        let _ = self.accept_any_word(&["HARD", "SOFT"]);
        let query_only = self.accept_word("QUERY");
        if !query_only {
            self.accept_word("CONNECTION");
        }
        let target = if query_only && self.accept_word("ID") {
            KillTarget::QueryId(self.expr()?)
        } else if self.accept_word("USER") {
            KillTarget::User(self.account_name()?)
        } else {
            KillTarget::Connection(self.expr()?)
        };
        Ok(Statement::Kill(Kill { query_only, target }))
    }

    pub(super) fn flush(&mut self) -> Result<Statement> {
        self.expect_word("FLUSH")?;
        let write_to_binlog = self.write_to_binlog();
        if self.is_any_word(&["TABLE", "TABLES"]) {
            return Ok(Statement::Flush {
                targets: vec![self.flush_tables()?],
                write_to_binlog,
            });
        }
        let targets = self.comma_separated(|parser| {
            if let Some(kind) =
                parser.accept_any_word(&["BINARY", "ERROR", "ENGINE", "GENERAL", "SLOW", "RELAY"])
            {
                parser.expect_word("LOGS")?;
                if kind == "RELAY" && matches!(parser.peek(), Token::Text(_)) {
                    parser.text()?;
                }
                if kind == "BINARY" && parser.accept_word("DELETE_DOMAIN_ID") {
                    return parser.delete_domains();
                }
                return Ok(FlushTarget::Logs(kind));
            }
            if parser.accept_word("LOGS") {
                return Ok(FlushTarget::Logs(""));
            }
            if parser.accept_words(&["QUERY", "CACHE"]) {
                return Ok(FlushTarget::Other("QUERY CACHE"));
            }
            if parser.accept_words(&["GLOBAL", "STATUS"]) || parser.accept_words(&["SESSION", "STATUS"]) {
                return Ok(FlushTarget::Other("STATUS"));
            }
            let other = parser.accept_any_word(&[
                "STATUS",
                "PRIVILEGES",
                "HOSTS",
                "DES_KEY_FILE",
                "USER_RESOURCES",
                "USER_STATISTICS",
                "INDEX_STATISTICS",
                "TABLE_STATISTICS",
                "CLIENT_STATISTICS",
                "USER_VARIABLES",
                "MASTER",
                "SLAVE",
                "SSL",
            ]);
            other.map(FlushTarget::Other).ok_or_else(|| parser.error())
        })?;
        // RESET MASTER and RESET SLAVE by their old names.
        let reset = |target: &FlushTarget| match target {
            FlushTarget::Other("MASTER") => Some(ResetTarget::Master(None)),
            FlushTarget::Other("SLAVE") => Some(ResetTarget::Slave {
                connection: None,
                all: false,
            }),
            _ => None,
        };
        let resets: Vec<ResetTarget> = targets.iter().filter_map(reset).collect();
        if !resets.is_empty() {
            return Ok(match resets.len() == targets.len() {
                true => Statement::Reset(resets),
                false => Statement::Unsupported("FLUSH MASTER and FLUSH SLAVE together with others"),
            });
        }
        Ok(Statement::Flush {
            targets,
            write_to_binlog,
        })
    }

    /// Parses `=(id, …)` after DELETE_DOMAIN_ID. The list may be empty.
    ///
    /// # Errors
    /// 1064; 1076 for an invalid id.
    fn delete_domains(&mut self) -> Result<FlushTarget> {
        self.expect_token(&Token::Equal)?;
        self.expect_token(&Token::LeftParen)?;
        let mut domains = Vec::new();
        if !self.is(&Token::RightParen) {
            domains = self.comma_separated(|parser| {
                let number = parser.number()?;
                u32::try_from(number).map_err(|_| {
                    Error::with_message(
                        ER_BINLOG_CANT_DELETE_GTID_DOMAIN,
                        format!(
                            "The value of gtid domain being deleted ('{number}') exceeds its maximum size of 32 bit unsigned \
                             integer"
                        ),
                    )
                })
            })?;
        }
        self.expect_token(&Token::RightParen)?;
        Ok(FlushTarget::DeleteDomains(domains))
    }

    fn flush_tables(&mut self) -> Result<FlushTarget> {
        self.advance();
        let mut tables = Vec::new();
        if !self.is_end() && !self.is_any_word(&["WITH", "FOR"]) {
            tables = self.comma_separated(Self::table_name)?;
        }
        let lock = if self.accept_words(&["WITH", "READ", "LOCK"]) {
            if self.accept_words(&["AND", "DISABLE", "CHECKPOINT"]) {
                FlushTablesLock::ReadLockDisableCheckpoint
            } else {
                FlushTablesLock::ReadLock
            }
        } else if !tables.is_empty() && self.accept_words(&["FOR", "EXPORT"]) {
            FlushTablesLock::Export
        } else {
            FlushTablesLock::None
        };
        Ok(FlushTarget::Tables { tables, lock })
    }

    pub(super) fn purge(&mut self) -> Result<Statement> {
        self.expect_word("PURGE")?;
        if self.accept_any_word(&["BINARY", "MASTER"]).is_none() {
            return Err(self.error());
        }
        self.expect_word("LOGS")?;
        if self.accept_word("TO") {
            return Ok(Statement::Purge(Purge::To(self.text()?)));
        }
        self.expect_word("BEFORE")?;
        Ok(Statement::Purge(Purge::Before(self.expr()?)))
    }

    pub(super) fn reset(&mut self) -> Result<Statement> {
        self.expect_word("RESET")?;
        let targets = self.comma_separated(|parser| {
            if parser.accept_word("MASTER") {
                let number = if parser.accept_word("TO") {
                    Some(parser.number()?)
                } else {
                    None
                };
                Ok(ResetTarget::Master(number))
            } else if parser.accept_words(&["QUERY", "CACHE"]) {
                Ok(ResetTarget::QueryCache)
            } else if parser.accept_any_word(&["SLAVE", "REPLICA"]).is_some() {
                let mut connection = parser.connection_name()?;
                let all = parser.accept_word("ALL");
                if connection.is_none() {
                    connection = parser.channel()?;
                }
                Ok(ResetTarget::Slave { connection, all })
            } else {
                Err(parser.error())
            }
        })?;
        Ok(Statement::Reset(targets))
    }

    /// Parses BACKUP SERVER and BACKUP BINARY LOGS FROM. MariaDB's BACKUP STAGE and BACKUP LOCK serve
    /// external backup tools.
    pub(super) fn backup(&mut self) -> Result<Statement> {
        self.expect_word("BACKUP")?;
        if self.accept_word("SERVER") {
            return Ok(Statement::Backup(Backup::Server));
        }
        if self.accept_words(&["BINARY", "LOGS"]) {
            self.expect_word("FROM")?;
            return Ok(Statement::Backup(Backup::BinaryLogs { from: self.text()? }));
        }
        if !self.is_any_word(&["STAGE", "LOCK", "UNLOCK"]) {
            return Err(self.error());
        }
        Ok(Statement::Unsupported("BACKUP STAGE and BACKUP LOCK"))
    }

    pub(super) fn lock_or_unlock(&mut self) -> Result<Statement> {
        let unlock = self.is_word("UNLOCK");
        self.advance();
        if self.accept_any_word(&["TABLES", "TABLE"]).is_none() {
            return Err(self.error());
        }
        if unlock {
            return Ok(Statement::UnlockTables);
        }
        let tables = self.comma_separated(|parser| {
            let table = parser.table_name()?;
            let explicit = parser.accept_word("AS");
            let is_lock = parser.is_any_word(&["READ", "WRITE", "LOW_PRIORITY"]);
            let alias = if explicit || (!is_lock && parser.is_identifier()) && !parser.is_word("CONCURRENT") {
                Some(parser.identifier()?)
            } else {
                None
            };
            let write = if parser.accept_word("READ") {
                parser.accept_word("LOCAL");
                false
            } else {
                let _ = parser.accept_any_word(&["LOW_PRIORITY", "CONCURRENT"]);
                parser.expect_word("WRITE")?;
                parser.accept_word("CONCURRENT");
                true
            };
            Ok(LockTable { table, alias, write })
        })?;
        if self.accept_word("WAIT") {
            self.number()?;
        } else {
            self.accept_word("NOWAIT");
        }
        Ok(Statement::LockTables(tables))
    }
}
