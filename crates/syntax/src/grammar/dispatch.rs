//! Dispatch of statements by their first words.

use super::parser::{Parser, checked_database_name};
use crate::ParsedStatement;
use crate::ast::{Expr, Literal, SelectItem};
use crate::error::{Error, Result};
use crate::lexer::{Token, is_blank};
use crate::statement::definition::DdlStatement;
use crate::statement::*;
use paceline_types::AccessMode;
use paceline_types::error_code::ER_UNKNOWN_EXPLAIN_FORMAT;

impl Parser<'_> {
    /// Parses the statement at the cursor and the semicolon after it.
    pub(crate) fn parsed_statement(&mut self, text: &[u8]) -> Result<ParsedStatement> {
        let start = self.text_start;
        let statement = self.statement()?;
        let end = if matches!(statement, Statement::Unsupported(_)) {
            // The statement's body is not parsed: it may contain semicolons.
            text.trim_ascii_end().len().max(start)
        } else {
            if !self.is_end() {
                return Err(self.error());
            }
            // Up to the semicolon, including comments: the end of an executed comment belongs to the
            // statement.
            start + text[start..self.position()].trim_ascii_end().len()
        };
        let next = if self.is(&Token::Semicolon) && !matches!(statement, Statement::Unsupported(_)) {
            self.advance();
            // Like MariaDB, start after the white space, not at the first word: that may be inside a comment.
            let end = self.previous_end();
            let space = text[end..].len() - text[end..].trim_ascii_start().len();
            (!self.is(&Token::End) && !is_blank(&text[end..])).then_some(end + space)
        } else {
            None
        };
        Ok(ParsedStatement {
            statement,
            text: start..end,
            parameters: self.parameters,
            late_intos: self.late_intos,
            memory_bytes: self.memory_bytes(),
            next,
            features: std::mem::take(&mut self.features),
            clear_passwords: std::mem::take(&mut self.clear_passwords),
            skipped_versions: self.take_skipped_versions(start..end),
        })
    }

    pub(super) fn statement(&mut self) -> Result<Statement> {
        if matches!(self.peek(), Token::LeftParen) {
            return Ok(Statement::Query(Box::new(self.query_statement()?)));
        }
        if !matches!(self.peek(), Token::Word { .. }) {
            return Err(self.error());
        }
        let word = String::from_utf8_lossy(self.current_text()).to_ascii_uppercase();
        match word.as_str() {
            "SELECT" | "WITH" | "VALUES" => Ok(Statement::Query(Box::new(self.query_statement()?))),
            "INSERT" | "REPLACE" => self.insert(),
            "UPDATE" => self.update(),
            "DELETE" => self.delete(),
            "DO" => {
                self.advance();
                let items = self.comma_separated(Self::select_item)?;
                items
                    .into_iter()
                    .map(|item| unnamed(item).ok_or_else(|| self.error()))
                    .collect::<Result<_>>()
                    .map(Statement::Do)
            }
            "LOAD" => self.load_data(),
            "SET" => self.set(),
            "BEGIN" | "START" | "COMMIT" | "ROLLBACK" | "SAVEPOINT" | "RELEASE" => self.transaction(),
            "USE" => {
                self.advance();
                let name = self.identifier()?;
                // An empty name is none: 1046.
                Ok(Statement::Use(match name.is_empty() {
                    true => name,
                    false => checked_database_name(name)?,
                }))
            }
            "SHOW" => self.show(),
            "EXPLAIN" | "DESCRIBE" | "DESC" => self.explain(),
            "ANALYZE" => self.analyze(),
            "CHECK" | "OPTIMIZE" | "REPAIR" | "CHECKSUM" => self.table_maintenance(),
            "PREPARE" | "EXECUTE" | "DEALLOCATE" => self.prepared_statement(),
            "CREATE" => self.create(),
            "ALTER" => self.alter(),
            "DROP" => self.drop_statement(),
            "TRUNCATE" => {
                self.advance();
                self.accept_word("TABLE");
                let table = self.table_name()?;
                let _ = self.accept_word("NOWAIT");
                Ok(Statement::Ddl(DdlStatement::TruncateTable(table)))
            }
            "RENAME" => self.rename(),
            "GRANT" | "REVOKE" => self.grant_or_revoke(),
            "KILL" => self.kill(),
            "FLUSH" => self.flush(),
            "PURGE" => self.purge(),
            "RESET" => self.reset(),
            "LOCK" | "UNLOCK" => self.lock_or_unlock(),
            "HELP" => {
                self.advance();
                Ok(Statement::Help(self.identifier_or_text()?))
            }
            "BINLOG" => {
                self.advance();
                self.binlog_events().map(Statement::Binlog)
            }
            "SHUTDOWN" => {
                self.advance();
                self.accept_words(&["WAIT", "FOR", "ALL", "SLAVES"]);
                Ok(Statement::Shutdown)
            }
            "CHANGE" | "STOP" => self.replication(),
            "XA" => Ok(Statement::Unsupported("XA")),
            "CALL" => self.call(),
            "HANDLER" => self.handler_statement(),
            "INSTALL" | "UNINSTALL" => self.plugin_statement(),
            "SIGNAL" | "RESIGNAL" => self.signal(),
            "GET" => self.get_diagnostics(),
            "IF" | "CASE" | "LOOP" | "WHILE" | "REPEAT" | "FOR" => self.control_statement(),
            "CACHE" => Ok(Statement::Unsupported("CACHE INDEX")),
            "BACKUP" => self.backup(),
            _ => {
                // In a program a name could be a label.
                if self.program.is_some() && self.is_identifier() {
                    self.advance();
                }
                Err(self.error())
            }
        }
    }

    // Transactions -----------------------------------------------------------------------------------------------

    fn transaction(&mut self) -> Result<Statement> {
        use TransactionStatement::*;
        let statement = if self.accept_word("BEGIN") {
            if self.is_word("NOT") {
                return self.compound_statement();
            }
            self.accept_word("WORK");
            Start {
                consistent_snapshot: false,
                snapshot_at: None,
                access: None,
            }
        } else if self.is_word("START") && !self.is_word_at(1, "TRANSACTION") {
            return self.replication();
        } else if self.accept_word("START") {
            self.expect_word("TRANSACTION")?;
            let mut consistent_snapshot = false;
            let mut snapshot_at = None;
            let mut access = None;
            if self.is_any_word(&["WITH", "READ"]) {
                self.comma_separated(|parser| {
                    if parser.accept_word("WITH") {
                        parser.expect_words(&["CONSISTENT", "SNAPSHOT"])?;
                        consistent_snapshot = true;
                        if parser.accept_words(&["AT", "GTID"]) {
                            snapshot_at = Some(parser.text()?);
                        }
                    } else {
                        parser.expect_word("READ")?;
                        access = Some(parser.access_mode()?);
                    }
                    Ok(())
                })?;
            }
            Start {
                consistent_snapshot,
                snapshot_at,
                access,
            }
        } else if self.accept_word("COMMIT") {
            self.accept_word("WORK");
            Commit(self.completion()?)
        } else if self.accept_word("SAVEPOINT") {
            Savepoint(self.identifier()?)
        } else if self.accept_word("RELEASE") {
            self.expect_word("SAVEPOINT")?;
            Release(self.identifier()?)
        } else {
            self.expect_word("ROLLBACK")?;
            self.accept_word("WORK");
            if self.accept_word("TO") {
                self.accept_word("SAVEPOINT");
                RollbackTo(self.identifier()?)
            } else {
                Rollback(self.completion()?)
            }
        };
        Ok(Statement::Transaction(statement))
    }

    fn access_mode(&mut self) -> Result<AccessMode> {
        if self.accept_word("ONLY") {
            Ok(AccessMode::ReadOnly)
        } else {
            self.expect_word("WRITE")?;
            Ok(AccessMode::ReadWrite)
        }
    }

    fn completion(&mut self) -> Result<Completion> {
        let mut completion = Completion::default();
        if self.accept_word("AND") {
            let chain = !self.accept_word("NO");
            self.expect_word("CHAIN")?;
            completion.chain = Some(chain);
            // The next transaction needs the connection.
            if chain && self.is_word("RELEASE") {
                return Err(self.error());
            }
        }
        if self.is_word("RELEASE") || self.is_word("NO") {
            let release = !self.accept_word("NO");
            self.expect_word("RELEASE")?;
            completion.release = Some(release);
        }
        Ok(completion)
    }

    // Prepared statements ----------------------------------------------------------------------------------------

    fn prepared_statement(&mut self) -> Result<Statement> {
        if self.accept_word("PREPARE") {
            let name = self.identifier()?;
            self.expect_word("FROM")?;
            return Ok(Statement::Prepare {
                name,
                source: self.expr()?,
            });
        }
        if self.accept_word("DEALLOCATE") {
            self.expect_word("PREPARE")?;
            return Ok(Statement::Deallocate(self.identifier()?));
        }
        self.expect_word("EXECUTE")?;
        if self.accept_word("IMMEDIATE") {
            let source = self.expr()?;
            let (using, omitted) = self.using()?;
            return Ok(Statement::ExecuteImmediate {
                source,
                using,
                omitted,
            });
        }
        let name = self.identifier()?;
        let (using, omitted) = self.using()?;
        Ok(Statement::Execute { name, using, omitted })
    }

    /// Parses USING: the values, and the numbers of those that are left out.
    fn using(&mut self) -> Result<(Vec<Expr>, OmittedValues)> {
        let (mut using, mut omitted) = (Vec::new(), Vec::new());
        if !self.accept_word("USING") {
            return Ok((using, omitted));
        }
        loop {
            let left_out = match self.is_word("DEFAULT") && !self.is_at(1, &Token::LeftParen) {
                true => Some(OmittedValue::Default),
                false => self.is_word("IGNORE").then_some(OmittedValue::Ignore),
            };
            match left_out {
                Some(word) => {
                    self.advance();
                    omitted.push((using.len(), word));
                    using.push(Expr::Literal(Literal::Null));
                }
                None => using.push(self.expr()?),
            }
            if !self.accept(&Token::Comma) {
                return Ok((using, omitted));
            }
        }
    }

    // EXPLAIN, DESCRIBE, ANALYZE ---------------------------------------------------------------------------------

    fn explain(&mut self) -> Result<Statement> {
        self.advance();
        // MySQL's form of ANALYZE.
        if self.accept_word("ANALYZE") {
            return self.analyzed_statement();
        }
        let flavour = if self.accept_word("EXTENDED") {
            ExplainFlavour::Extended
        } else if self.accept_word("PARTITIONS") {
            ExplainFlavour::Partitions
        } else {
            self.explain_format()?
        };
        let takes_connection = matches!(flavour, ExplainFlavour::Plain | ExplainFlavour::Json);
        if takes_connection && self.accept_word("FOR") {
            self.expect_word("CONNECTION")?;
            let connection = self.expr()?;
            return Ok(Statement::Show(Show::ExplainFor { flavour, connection }));
        }
        if self.is_explainable() {
            let statement = self.statement()?;
            return Ok(Statement::Explain(Box::new(Explain { flavour, statement })));
        }
        if flavour != ExplainFlavour::Plain {
            return Err(self.error());
        }
        let table = self.table_name()?;
        let filter = if matches!(self.peek(), Token::Text(_)) {
            ShowFilter::Like(self.text()?)
        } else if self.is_identifier() {
            ShowFilter::Like(self.identifier()?)
        } else {
            ShowFilter::None
        };
        Ok(Statement::Show(Show::Columns {
            full: false,
            table,
            filter,
        }))
    }

    fn is_explainable(&self) -> bool {
        self.is(&Token::LeftParen)
            || self.is_any_word(&[
                "SELECT", "INSERT", "REPLACE", "UPDATE", "DELETE", "WITH", "VALUES",
            ])
    }

    /// Parses `[FORMAT=name]`.
    pub(super) fn explain_format(&mut self) -> Result<ExplainFlavour> {
        if !(self.is_word("FORMAT") && self.is_at(1, &Token::Equal)) {
            return Ok(ExplainFlavour::Plain);
        }
        self.advance();
        self.advance();
        let name = match self.peek() {
            Token::Text(_) => self.text()?,
            _ => self.identifier()?,
        };
        match name.to_ascii_lowercase().as_str() {
            "json" => Ok(ExplainFlavour::Json),
            "traditional" => Ok(ExplainFlavour::Plain),
            _ => Err(Error::new(
                ER_UNKNOWN_EXPLAIN_FORMAT,
                &[&"EXPLAIN/ANALYZE", &name],
            )),
        }
    }

    /// Parses `[FORMAT=name] statement` of ANALYZE.
    fn analyzed_statement(&mut self) -> Result<Statement> {
        let flavour = self.explain_format()?.analyzed();
        if !self.is_explainable() {
            return Err(self.error());
        }
        let statement = self.statement()?;
        Ok(Statement::Explain(Box::new(Explain { flavour, statement })))
    }

    /// Parses `ANALYZE TABLE` or `ANALYZE [FORMAT=JSON] statement`.
    fn analyze(&mut self) -> Result<Statement> {
        if self.is_word_at(1, "TABLE")
            || self.is_word_at(1, "TABLES")
            || self.is_word_at(1, "LOCAL")
            || self.is_word_at(1, "NO_WRITE_TO_BINLOG")
        {
            return self.table_maintenance();
        }
        self.advance();
        self.analyzed_statement()
    }

    pub(super) fn table_maintenance(&mut self) -> Result<Statement> {
        let word = self.accept_any_word(&["ANALYZE", "CHECK", "OPTIMIZE", "REPAIR", "CHECKSUM"]);
        let write_to_binlog = self.write_to_binlog();
        if self.is_word("VIEW") {
            return Ok(Statement::Unsupported("VIEW"));
        }
        if !self.accept_word("TABLES") {
            self.expect_word("TABLE")?;
        }
        let tables = self.comma_separated(Self::table_name)?;
        if word == Some("CHECKSUM") {
            let effort = match self.accept_any_word(&["QUICK", "EXTENDED"]) {
                Some("QUICK") => ChecksumEffort::Kept,
                _ => ChecksumEffort::Rows,
            };
            return Ok(Statement::ChecksumTable { tables, effort });
        }
        // Degrees of thoroughness, which make no difference here.
        let options = [
            "QUICK", "FAST", "MEDIUM", "EXTENDED", "CHANGED", "USE_FRM", "FORCE",
        ];
        let mut is_persistent = false;
        loop {
            if self.accept_words(&["FOR", "UPGRADE"]) {
                continue;
            }
            if self.accept_words(&["PERSISTENT", "FOR"]) {
                self.persistent_statistics()?;
                is_persistent = true;
                continue;
            }
            if self.accept_any_word(&options).is_none() {
                break;
            }
        }
        let operation = match word {
            Some("ANALYZE") if is_persistent => TableMaintenance::AnalyzePersistent,
            Some("ANALYZE") => TableMaintenance::Analyze,
            Some("CHECK") => TableMaintenance::Check,
            Some("OPTIMIZE") => TableMaintenance::Optimize,
            _ => TableMaintenance::Repair,
        };
        Ok(Statement::TableMaintenance {
            operation,
            tables,
            write_to_binlog,
        })
    }

    /// Parses `ALL` or the columns and indexes after `PERSISTENT FOR`. Statistics always cover the whole
    /// table here.
    fn persistent_statistics(&mut self) -> Result<()> {
        if self.accept_word("ALL") {
            return Ok(());
        }
        for what in ["COLUMNS", "INDEXES"] {
            self.expect_word(what)?;
            if self.accept_word("ALL") {
                continue;
            }
            self.expect_token(&Token::LeftParen)?;
            if !self.is(&Token::RightParen) {
                self.comma_separated(Self::identifier)?;
            }
            self.expect_token(&Token::RightParen)?;
        }
        Ok(())
    }

    /// Parses `NO_WRITE_TO_BINLOG` or `LOCAL`, if it stands here.
    pub(super) fn write_to_binlog(&mut self) -> WriteToBinlog {
        match self.accept_any_word(&["LOCAL", "NO_WRITE_TO_BINLOG"]) {
            Some(_) => WriteToBinlog::No,
            None => WriteToBinlog::Yes,
        }
    }
}

/// Returns the expression of a select item. DO ignores an alias.
fn unnamed(item: SelectItem) -> Option<Expr> {
    match item {
        SelectItem::Expr { expr, .. } => Some(expr),
        SelectItem::Wildcard | SelectItem::TableWildcard(_) => None,
    }
}
