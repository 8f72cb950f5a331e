//! Statements of a replica: CHANGE MASTER, START SLAVE, STOP SLAVE.
//!
//! In MariaDB the settings and their types are part of the grammar: an unknown setting is a syntax error at
//! its name.

use super::parser::Parser;
use crate::clear_password::HashForm;
use crate::error::Result;
use crate::lexer::Token;
use crate::statement::*;

/// Type of a setting's value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    /// A text that must not appear in logs.
    Secret,
    /// A whole number that is not negative.
    Number,
    /// A number with a fraction.
    Decimal,
    /// A list of numbers in parentheses.
    Numbers,
    /// `no`, `slave_pos`, `current_pos`.
    UseGtid,
    /// `AUTO` or a list of GTIDs.
    GtidPos,
}

/// Settings of CHANGE MASTER. `MASTER_GTID_POS` is our own shorthand.
const SETTINGS: &[(&str, Kind)] = &[
    ("MASTER_HOST", Kind::Text),
    ("MASTER_PORT", Kind::Number),
    ("MASTER_USER", Kind::Text),
    ("MASTER_PASSWORD", Kind::Secret),
    ("MASTER_CONNECT_RETRY", Kind::Number),
    ("MASTER_DELAY", Kind::Number),
    ("MASTER_HEARTBEAT_PERIOD", Kind::Decimal),
    ("MASTER_LOG_FILE", Kind::Text),
    ("MASTER_LOG_POS", Kind::Number),
    ("RELAY_LOG_FILE", Kind::Text),
    ("RELAY_LOG_POS", Kind::Number),
    ("MASTER_USE_GTID", Kind::UseGtid),
    ("MASTER_GTID_POS", Kind::GtidPos),
    ("MASTER_DEMOTE_TO_SLAVE", Kind::Number),
    ("MASTER_SSL", Kind::Number),
    ("MASTER_SSL_CA", Kind::Text),
    ("MASTER_SSL_CAPATH", Kind::Text),
    ("MASTER_SSL_CERT", Kind::Text),
    ("MASTER_SSL_KEY", Kind::Text),
    ("MASTER_SSL_CIPHER", Kind::Text),
    ("MASTER_SSL_CRL", Kind::Text),
    ("MASTER_SSL_CRLPATH", Kind::Text),
    ("MASTER_SSL_VERIFY_SERVER_CERT", Kind::Number),
    ("IGNORE_SERVER_IDS", Kind::Numbers),
    ("DO_DOMAIN_IDS", Kind::Numbers),
    ("IGNORE_DOMAIN_IDS", Kind::Numbers),
];

/// Conditions of START SLAVE UNTIL.
const UNTIL_PLACE: &[(&str, Kind)] = &[
    ("MASTER_LOG_FILE", Kind::Text),
    ("MASTER_LOG_POS", Kind::Number),
    ("RELAY_LOG_FILE", Kind::Text),
    ("RELAY_LOG_POS", Kind::Number),
];
const UNTIL_GTID: &[(&str, Kind)] = &[("MASTER_GTID_POS", Kind::Text)];

impl Parser<'_> {
    /// Takes a connection's name, if one stands here.
    pub(super) fn connection_name(&mut self) -> Result<Option<String>> {
        if matches!(self.peek(), Token::Text(_)) {
            self.text().map(Some)
        } else {
            Ok(None)
        }
    }

    /// Parses `FOR CHANNEL 'name'`.
    pub(super) fn channel(&mut self) -> Result<Option<String>> {
        if self.accept_words(&["FOR", "CHANNEL"]) {
            self.text().map(Some)
        } else {
            Ok(None)
        }
    }

    /// Parses CHANGE MASTER, START SLAVE or STOP SLAVE.
    pub(super) fn replication(&mut self) -> Result<Statement> {
        let statement = if self.accept_word("CHANGE") {
            self.change_master()?
        } else {
            self.start_or_stop()?
        };
        Ok(Statement::Replication(statement))
    }

    fn change_master(&mut self) -> Result<ReplicationStatement> {
        self.expect_word("MASTER")?;
        let mut connection = self.connection_name()?;
        self.expect_word("TO")?;
        let settings = self.comma_separated(|parser| parser.replication_setting(SETTINGS))?;
        if connection.is_none() {
            connection = self.channel()?;
        }
        Ok(ReplicationStatement::ChangeMaster { connection, settings })
    }

    fn start_or_stop(&mut self) -> Result<ReplicationStatement> {
        let start = self.accept_word("START");
        if !start {
            self.expect_word("STOP")?;
        }
        let all = self.accept_word("ALL");
        let names: &[&str] = if all {
            &["SLAVES", "REPLICAS"]
        } else {
            &["SLAVE", "REPLICA"]
        };
        if !names.iter().any(|name| self.accept_word(name)) {
            return Err(self.error());
        }
        let mut connection = match all {
            true => None,
            false => self.connection_name()?,
        };
        let threads = self.replication_threads()?;
        let mut until = Vec::new();
        if start && !all && self.accept_word("UNTIL") {
            until = match self.is_word("MASTER_GTID_POS") {
                true => vec![self.replication_setting(UNTIL_GTID)?],
                false => self.comma_separated(|parser| parser.replication_setting(UNTIL_PLACE))?,
            };
        }
        if connection.is_none() && !all {
            connection = self.channel()?;
        }
        Ok(if start {
            ReplicationStatement::Start {
                connection,
                all,
                threads,
                until,
            }
        } else {
            ReplicationStatement::Stop {
                connection,
                all,
                threads,
            }
        })
    }

    fn replication_threads(&mut self) -> Result<ReplicationThreads> {
        let (mut io, mut sql) = (false, false);
        if self.is_any_word(&["IO_THREAD", "SQL_THREAD", "RELAY_THREAD"]) {
            self.comma_separated(|parser| {
                if parser.accept_word("SQL_THREAD") {
                    sql = true;
                } else if parser.accept_any_word(&["IO_THREAD", "RELAY_THREAD"]).is_some() {
                    io = true;
                } else {
                    return Err(parser.error());
                }
                Ok(())
            })?;
        }
        Ok(match (io, sql) {
            (true, false) => ReplicationThreads::Io,
            (false, true) => ReplicationThreads::Sql,
            _ => ReplicationThreads::Both,
        })
    }

    fn replication_setting(&mut self, known: &[(&str, Kind)]) -> Result<(String, ReplicationValue)> {
        let Token::Word { .. } = self.peek() else {
            return Err(self.error());
        };
        let name = String::from_utf8_lossy(self.current_text()).to_ascii_uppercase();
        let Some((_, kind)) = known.iter().find(|(setting, _)| *setting == name) else {
            return Err(self.error());
        };
        self.advance();
        self.expect_token(&Token::Equal)?;
        let value = match (kind, self.peek()) {
            (Kind::Secret, Token::Text(_)) => {
                let start = self.position();
                let secret = self.text()?;
                self.note_clear_password(start, &secret, "", HashForm::Hidden);
                ReplicationValue::Text(secret)
            }
            (Kind::Text | Kind::GtidPos, Token::Text(_)) => ReplicationValue::Text(self.text()?),
            (Kind::GtidPos, Token::Word { .. }) if self.is_word("AUTO") => self.replication_word(),
            (Kind::UseGtid, Token::Word { .. })
                if self.is_any_word(&["NO", "SLAVE_POS", "REPLICA_POS", "CURRENT_POS"]) =>
            {
                self.replication_word()
            }
            (Kind::Number | Kind::Decimal, Token::Integer)
            | (Kind::Decimal, Token::Decimal | Token::Float) => {
                let start = self.position();
                self.advance();
                ReplicationValue::Number(self.text_since(start))
            }
            (Kind::Numbers, Token::LeftParen) => {
                self.advance();
                let mut numbers = Vec::new();
                if !self.is(&Token::RightParen) {
                    numbers = self.comma_separated(Self::number)?;
                }
                self.expect_token(&Token::RightParen)?;
                ReplicationValue::Numbers(numbers)
            }
            _ => return Err(self.error()),
        };
        Ok((name, value))
    }

    fn replication_word(&mut self) -> ReplicationValue {
        let token = self.advance();
        ReplicationValue::Word(self.word_text(&token))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ParseOptions, parse_first};

    fn settings(text: &str) -> Vec<(String, ReplicationValue)> {
        match parse_first(text.as_bytes(), &ParseOptions::default())
            .unwrap()
            .statement
        {
            Statement::Replication(ReplicationStatement::ChangeMaster { settings, .. }) => settings,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_shorthands_for_a_gtid_position() {
        let auto = settings("CHANGE MASTER TO master_gtid_pos=AUTO, MASTER_HEARTBEAT_PERIOD=1.5");
        assert_eq!(
            auto,
            [
                (
                    "MASTER_GTID_POS".to_owned(),
                    ReplicationValue::Word("AUTO".into())
                ),
                (
                    "MASTER_HEARTBEAT_PERIOD".to_owned(),
                    ReplicationValue::Number("1.5".into())
                )
            ]
        );
        let list = settings("CHANGE MASTER 'c' TO MASTER_GTID_POS='0-1-2,3-4-5'");
        assert_eq!(list[0].1, ReplicationValue::Text("0-1-2,3-4-5".into()));
    }
}
