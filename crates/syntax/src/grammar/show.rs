//! SHOW in all its forms.

use super::parser::{Parser, checked_database_name};
use crate::ast::{TableName, VariableScope};
use crate::error::{Error, Result};
use crate::lexer::Token;
use crate::statement::*;
use paceline_types::error_code::ER_FEATURE_DISABLED;

impl Parser<'_> {
    pub(super) fn show(&mut self) -> Result<Statement> {
        self.expect_word("SHOW")?;
        let full = self.accept_word("FULL");
        if let Some(show) = self.show_with_full(full)? {
            return Ok(Statement::Show(show));
        }
        if full {
            return Err(self.error());
        }
        if self.is_any_word(&["GLOBAL", "SESSION", "LOCAL"]) {
            let scope = if self.is_word("GLOBAL") {
                VariableScope::Global
            } else {
                VariableScope::Session
            };
            self.advance();
            return self.show_variables(scope).map(Statement::Show);
        }
        if self.is_any_word(&["VARIABLES", "STATUS"]) {
            return self.show_variables(VariableScope::Session).map(Statement::Show);
        }
        if self.accept_word("CREATE") {
            return self.show_create().map(Statement::Show);
        }
        if let Some(show) = self.show_log()? {
            return Ok(Statement::Show(show));
        }
        self.show_other().map(Statement::Show)
    }

    /// Parses the forms of SHOW that can have FULL.
    fn show_with_full(&mut self, full: bool) -> Result<Option<Show>> {
        Ok(Some(if self.accept_word("TABLES") {
            let (database, filter) = self.database_and_filter()?;
            Show::Tables {
                full,
                database,
                filter,
            }
        } else if self.accept_word("COLUMNS") || self.accept_word("FIELDS") {
            let table = self.table_after_from()?;
            Show::Columns {
                full,
                table,
                filter: self.show_filter()?,
            }
        } else if self.accept_word("PROCESSLIST") {
            Show::ProcessList { full }
        } else {
            return Ok(None);
        }))
    }

    fn show_variables(&mut self, scope: VariableScope) -> Result<Show> {
        if self.accept_word("VARIABLES") {
            return Ok(Show::Variables {
                scope,
                filter: self.show_filter()?,
            });
        }
        self.expect_word("STATUS")?;
        Ok(Show::Status {
            scope,
            filter: self.show_filter()?,
        })
    }

    fn show_create(&mut self) -> Result<Show> {
        if self.accept_word("TABLE") {
            return Ok(Show::CreateTable(self.table_name()?));
        }
        if self.accept_any_word(&["DATABASE", "SCHEMA"]).is_some() {
            let if_not_exists = self.accept_phrase(&["IF", "NOT", "EXISTS"])?;
            return Ok(Show::CreateDatabase {
                if_not_exists,
                name: checked_database_name(self.identifier()?)?,
            });
        }
        if self.accept_word("USER") {
            let account = if self.is_end() {
                None
            } else {
                Some(self.account_name()?)
            };
            return Ok(Show::CreateUser(account));
        }
        let Some(mut kind) = self.accept_any_word(&[
            "VIEW",
            "PROCEDURE",
            "FUNCTION",
            "TRIGGER",
            "EVENT",
            "SEQUENCE",
            "PACKAGE",
            "SERVER",
        ]) else {
            return Err(self.error());
        };
        if kind == "PACKAGE" && self.accept_word("BODY") {
            kind = "PACKAGE BODY";
        }
        let name = match kind {
            "VIEW" | "SEQUENCE" => self.table_name()?,
            _ => self.program_name()?,
        };
        Ok(Show::CreateOther { kind, name })
    }

    /// Parses the forms of SHOW that concern the log and replication.
    fn show_log(&mut self) -> Result<Option<Show>> {
        Ok(Some(
            if self.accept_words(&["MASTER", "STATUS"]) || self.accept_words(&["BINLOG", "STATUS"]) {
                Show::MasterStatus
            } else if self.accept_words(&["MASTER", "LOGS"]) || self.accept_words(&["BINARY", "LOGS"]) {
                Show::BinaryLogs
            } else if self.is_any_word(&["BINLOG", "RELAYLOG"]) {
                let relay_log = self.is_word("RELAYLOG");
                self.advance();
                let connection = if relay_log { self.connection_name()? } else { None };
                self.expect_word("EVENTS")?;
                let file = if self.accept_word("IN") {
                    Some(self.text()?)
                } else {
                    None
                };
                let position = if self.accept_word("FROM") {
                    Some(self.number()?)
                } else {
                    None
                };
                Show::BinlogEvents {
                    relay_log,
                    connection,
                    file,
                    position,
                    limit: self.show_limit()?,
                }
            } else if self.accept_words(&["ALL", "SLAVES", "STATUS"])
                || self.accept_words(&["ALL", "REPLICAS", "STATUS"])
            {
                Show::SlaveStatus {
                    connection: None,
                    all: true,
                }
            } else if self.is_any_word(&["SLAVE", "REPLICA"]) {
                self.advance();
                if self.accept_word("HOSTS") {
                    return Ok(Some(Show::SlaveHosts));
                }
                let mut connection = if matches!(self.peek(), Token::Text(_)) {
                    Some(self.text()?)
                } else {
                    None
                };
                self.expect_word("STATUS")?;
                if connection.is_none() && self.accept_words(&["FOR", "CHANNEL"]) {
                    connection = Some(self.text()?);
                }
                Show::SlaveStatus {
                    connection,
                    all: false,
                }
            } else {
                return Ok(None);
            },
        ))
    }

    fn show_other(&mut self) -> Result<Show> {
        let Token::Word { .. } = self.peek() else {
            return Err(self.error());
        };
        let word = String::from_utf8_lossy(self.current_text()).to_ascii_uppercase();
        let start = self.position();
        self.advance();
        Ok(match word.as_str() {
            "DATABASES" | "SCHEMAS" => Show::Databases(self.show_filter()?),
            "TABLE" if self.accept_word("STATUS") => {
                let (database, filter) = self.database_and_filter()?;
                Show::TableStatus { database, filter }
            }
            "OPEN" if self.accept_word("TABLES") => {
                let (database, filter) = self.any_database_and_filter()?;
                Show::OpenTables { database, filter }
            }
            "INDEX" | "INDEXES" | "KEYS" => {
                let table = self.table_after_from()?;
                Show::Index {
                    table,
                    filter: self.show_where()?,
                }
            }
            "WARNINGS" => Show::Warnings(self.show_limit()?),
            "ERRORS" => Show::Errors(self.show_limit()?),
            "COUNT" if self.is(&Token::LeftParen) => {
                self.advance();
                self.expect_token(&Token::Star)?;
                self.expect_token(&Token::RightParen)?;
                if self.accept_word("WARNINGS") {
                    Show::CountWarnings
                } else {
                    self.expect_word("ERRORS")?;
                    Show::CountErrors
                }
            }
            "ENGINES" => Show::Engines,
            "STORAGE" if self.accept_word("ENGINES") => Show::Engines,
            "ENGINE" => {
                let engine = if self.accept_word("ALL") {
                    "ALL".to_owned()
                } else {
                    self.identifier_or_text()?
                };
                let Some(what) = self.accept_any_word(&["STATUS", "MUTEX", "LOGS"]) else {
                    return Err(self.error());
                };
                Show::EngineStatus {
                    engine,
                    what: what.to_owned(),
                }
            }
            "CHARSET" => Show::CharacterSets(self.show_filter()?),
            "CHARACTER" | "CHAR" if self.accept_word("SET") => Show::CharacterSets(self.show_filter()?),
            "COLLATION" => Show::Collations(self.show_filter()?),
            "GRANTS" => {
                let account = if self.accept_word("FOR") {
                    Some(self.grantee()?)
                } else {
                    None
                };
                Show::Grants(account)
            }
            "PRIVILEGES" => Show::Privileges,
            "CLUSTER" if self.accept_word("STATUS") => Show::ClusterStatus,
            "TRIGGERS" => {
                let (database, filter) = self.database_and_filter()?;
                Show::Triggers { database, filter }
            }
            "EVENTS" => {
                let (database, filter) = self.database_and_filter()?;
                Show::Events { database, filter }
            }
            "FUNCTION" if self.accept_word("STATUS") => Show::RoutineStatus {
                kind: "FUNCTION",
                filter: self.show_filter()?,
            },
            "PROCEDURE" if self.accept_word("STATUS") => Show::RoutineStatus {
                kind: "PROCEDURE",
                filter: self.show_filter()?,
            },
            "PACKAGE" if self.accept_word("STATUS") => Show::RoutineStatus {
                kind: "PACKAGE",
                filter: self.show_filter()?,
            },
            "PACKAGE" if self.accept_words(&["BODY", "STATUS"]) => Show::RoutineStatus {
                kind: "PACKAGE BODY",
                filter: self.show_filter()?,
            },
            "FUNCTION" | "PROCEDURE" if self.accept_word("CODE") => {
                self.table_name()?;
                // The instructions of a stored program: only debug builds of MariaDB show them.
                let feature = "SHOW PROCEDURE|FUNCTION CODE";
                return Err(Error::new(ER_FEATURE_DISABLED, &[&feature, &"--with-debug"]));
            }
            "PLUGINS" => {
                if self.accept_word("SONAME") {
                    self.text()?;
                }
                Show::Plugins
            }
            "PROFILES" => Show::Profiles,
            "PROFILE" => {
                self.show_profile()?;
                Show::Profile
            }
            "AUTHORS" => Show::Authors,
            "CONTRIBUTORS" => Show::Contributors,
            "EXPLAIN" | "DESCRIBE" | "DESC" | "ANALYZE" => {
                let flavour = self.explain_format()?;
                self.expect_word("FOR")?;
                Show::ExplainFor {
                    flavour: match word.as_str() {
                        "ANALYZE" => flavour.analyzed(),
                        _ => flavour,
                    },
                    connection: self.expr()?,
                }
            }
            "USER_STATISTICS" | "CLIENT_STATISTICS" | "INDEX_STATISTICS" | "TABLE_STATISTICS" | "LOCALES" => {
                Show::Statistics(word)
            }
            // MariaDB's error names the second word after SHOW if it knows the first, else the first.
            "TABLE" | "OPEN" | "STORAGE" | "CHARACTER" | "CHAR" | "FUNCTION" | "PROCEDURE" | "PACKAGE" => {
                return Err(self.error());
            }
            _ => return Err(self.error_at(start)),
        })
    }

    /// Parses `FROM table [FROM database]`.
    fn table_after_from(&mut self) -> Result<TableName> {
        if self.accept_any_word(&["FROM", "IN"]).is_none() {
            return Err(self.error());
        }
        let mut table = self.table_name()?;
        if self.accept_any_word(&["FROM", "IN"]).is_some() {
            table.database = Some(checked_database_name(self.identifier()?)?);
        }
        Ok(table)
    }

    /// Parses `[FROM database] [LIKE …]`.
    ///
    /// # Errors
    /// 1064, 1102.
    fn database_and_filter(&mut self) -> Result<(Option<String>, ShowFilter)> {
        let (database, filter) = self.any_database_and_filter()?;
        Ok((database.map(checked_database_name).transpose()?, filter))
    }

    /// Parses `[FROM database] [LIKE …]` where any text is a name.
    fn any_database_and_filter(&mut self) -> Result<(Option<String>, ShowFilter)> {
        let database = if self.accept_any_word(&["FROM", "IN"]).is_some() {
            Some(self.identifier()?)
        } else {
            None
        };
        Ok((database, self.show_filter()?))
    }

    fn show_filter(&mut self) -> Result<ShowFilter> {
        if self.accept_word("LIKE") {
            return Ok(ShowFilter::Like(self.text()?));
        }
        self.show_where()
    }

    /// Parses `[type, …] [FOR QUERY n] [LIMIT …]`.
    fn show_profile(&mut self) -> Result<()> {
        if !self.is_end() && !self.is_any_word(&["FOR", "LIMIT"]) {
            self.comma_separated(|parser| {
                let pairs = [["BLOCK", "IO"], ["CONTEXT", "SWITCHES"], ["PAGE", "FAULTS"]];
                let single = ["CPU", "MEMORY", "IPC", "SWAPS", "SOURCE", "ALL"];
                let is_known = pairs.iter().any(|pair| parser.accept_words(pair))
                    || parser.accept_any_word(&single).is_some();
                if is_known { Ok(()) } else { Err(parser.error()) }
            })?;
        }
        if self.accept_word("FOR") {
            self.expect_word("QUERY")?;
            self.number()?;
        }
        self.show_limit()?;
        Ok(())
    }

    fn show_where(&mut self) -> Result<ShowFilter> {
        if self.accept_word("WHERE") {
            return Ok(ShowFilter::Where(Box::new(self.expr()?)));
        }
        Ok(ShowFilter::None)
    }

    fn show_limit(&mut self) -> Result<ShowLimit> {
        let mut limit = ShowLimit::default();
        if self.accept_word("LIMIT") {
            limit.count = self.number()?;
            if self.accept(&Token::Comma) {
                limit.offset = std::mem::replace(&mut limit.count, self.number()?);
            } else if self.accept_word("OFFSET") {
                limit.offset = self.number()?;
            }
        }
        Ok(limit)
    }
}
