//! CREATE, DROP and RENAME; indexes and options of a table.

use super::parser::{Parser, checked_database_name};
use crate::ast::Expr;
use crate::error::{Error, Result};
use crate::lexer::Token;
use crate::statement::definition::*;
use crate::statement::*;
use paceline_types::error_code::{self, ER_CONFLICTING_DECLARATIONS};
use paceline_types::{Charset, Collation};

impl Parser<'_> {
    pub(super) fn create(&mut self) -> Result<Statement> {
        self.expect_word("CREATE")?;
        let or_replace = self.accept_words(&["OR", "REPLACE"]);
        let temporary = self.accept_word("TEMPORARY");
        if self.accept_word("TABLE") {
            return self.create_table(or_replace, temporary);
        }
        if self.accept_word("SEQUENCE") {
            return self.create_sequence(or_replace, temporary);
        }
        if temporary {
            return Err(self.error());
        }
        if self.accept_any_word(&["DATABASE", "SCHEMA"]).is_some() {
            let if_not_exists = self.if_not_exists(or_replace)?;
            let name = checked_database_name(self.identifier()?)?;
            let options = self.database_options()?;
            return Ok(Statement::Ddl(DdlStatement::CreateDatabase {
                or_replace,
                if_not_exists,
                name,
                options,
            }));
        }
        if self.is_any_word(&["UNIQUE", "FULLTEXT", "SPATIAL", "INDEX"]) {
            return self.create_index(or_replace);
        }
        if self.accept_word("USER") {
            return self.create_user(or_replace);
        }
        if self.accept_word("ROLE") {
            return self.create_roles(or_replace);
        }
        if self.is_any_word(&[
            "VIEW",
            "ALGORITHM",
            "DEFINER",
            "SQL",
            "PROCEDURE",
            "AGGREGATE",
            "FUNCTION",
            "TRIGGER",
            "EVENT",
        ]) {
            let mode = match or_replace {
                true => ViewMode::CreateOrReplace,
                false => ViewMode::Create,
            };
            if let Some(view) = self.view(mode)? {
                return Ok(view);
            }
        }
        self.unsupported_object()
    }

    /// Parses `IF NOT EXISTS`. Combined with OR REPLACE it is error 1221.
    pub(super) fn if_not_exists(&mut self, or_replace: bool) -> Result<bool> {
        let if_not_exists = self.accept_phrase(&["IF", "NOT", "EXISTS"])?;
        match or_replace && if_not_exists {
            true => Err(Error::new(
                error_code::ER_WRONG_USAGE,
                &[&"OR REPLACE", &"IF NOT EXISTS"],
            )),
            false => Ok(if_not_exists),
        }
    }

    /// Returns the statement for an object of a kind that this server does not have.
    pub(super) fn unsupported_object(&mut self) -> Result<Statement> {
        const KINDS: &[&str] = &[
            "TRIGGER",
            "PROCEDURE",
            "FUNCTION",
            "EVENT",
            "SERVER",
            "PACKAGE",
            "AGGREGATE",
            "TABLESPACE",
            "LOGFILE",
        ];
        if let Some(kind) = KINDS.iter().find(|kind| self.is_word(kind)) {
            return Ok(Statement::Unsupported(kind));
        }
        Err(self.error())
    }

    /// Parses the options of CREATE DATABASE and ALTER DATABASE.
    pub(super) fn database_options(&mut self) -> Result<DatabaseOptions> {
        let mut options = DatabaseOptions::default();
        loop {
            self.accept(&Token::Comma);
            if let Some(charset) = self.charset_option()? {
                add_charset(&mut options.charset, charset)?;
            } else if let Some(collation) = self.collation_option()? {
                add_collation(&mut options.collation, collation)?;
            } else if self.accept_word("COMMENT") {
                self.accept_equal();
                options.comment = Some(self.text()?);
            } else {
                return Ok(options);
            }
        }
    }

    /// Parses `[DEFAULT] CHARACTER SET [=] name`.
    fn charset_option(&mut self) -> Result<Option<CharsetName>> {
        let skip = usize::from(self.is_word("DEFAULT"));
        let long = ["CHARACTER", "CHAR"]
            .iter()
            .any(|word| self.is_word_at(skip, word))
            && self.is_word_at(skip + 1, "SET");
        if !long && !self.is_word_at(skip, "CHARSET") {
            return Ok(None);
        }
        for _ in 0..skip + 1 + usize::from(long) {
            self.advance();
        }
        self.accept_equal();
        self.charset_name().map(Some)
    }

    /// Parses a name or `DEFAULT`.
    pub(super) fn charset_name(&mut self) -> Result<CharsetName> {
        if self.accept_word("DEFAULT") {
            Ok(CharsetName::Default)
        } else {
            self.collation_name().map(CharsetName::Name)
        }
    }

    /// Parses `[DEFAULT] COLLATE [=] name`.
    fn collation_option(&mut self) -> Result<Option<String>> {
        let skip = usize::from(self.is_word("DEFAULT"));
        if !self.is_word_at(skip, "COLLATE") {
            return Ok(None);
        }
        for _ in 0..skip + 1 {
            self.advance();
        }
        self.accept_equal();
        self.collation_or_default().map(Some)
    }

    // Tables -----------------------------------------------------------------------------------------------------

    fn create_table(&mut self, or_replace: bool, temporary: bool) -> Result<Statement> {
        let if_not_exists = self.if_not_exists(or_replace)?;
        let name = self.table_name()?;
        let body = self.create_table_body()?;
        Ok(Statement::Ddl(DdlStatement::CreateTable(Box::new(CreateTable {
            or_replace,
            temporary,
            if_not_exists,
            name,
            body,
        }))))
    }

    fn create_table_body(&mut self) -> Result<CreateTableBody> {
        if self.accept_word("LIKE") {
            return Ok(CreateTableBody::Like(self.table_name()?));
        }
        if self.is(&Token::LeftParen) && self.is_word_at(1, "LIKE") {
            self.advance();
            self.advance();
            let other = self.table_name()?;
            self.expect_token(&Token::RightParen)?;
            return Ok(CreateTableBody::Like(other));
        }
        let mut columns = Vec::new();
        let mut constraints = Vec::new();
        if self.is(&Token::LeftParen) && !self.is_subquery() {
            self.advance();
            loop {
                self.table_element(&mut columns, &mut constraints)?;
                if !self.accept(&Token::Comma) {
                    break;
                }
            }
            self.expect_token(&Token::RightParen)?;
        }
        let options = self.table_options()?;
        if self.is_word("PARTITION") {
            return Err(Error::unsupported("PARTITION"));
        }
        let duplicates = if self.accept_word("IGNORE") {
            Some(Duplicates::Ignore)
        } else if self.accept_word("REPLACE") {
            Some(Duplicates::Replace)
        } else {
            None
        };
        let has_as = self.accept_word("AS");
        let select = if self.is_any_word(&["SELECT", "WITH", "VALUES"]) || self.is(&Token::LeftParen) {
            let start = self.position();
            let query = self.query_statement()?;
            let text = start..self.previous_end();
            Some(CreateSelect {
                duplicates: duplicates.unwrap_or(Duplicates::Error),
                query,
                text,
            })
        } else if duplicates.is_some() || has_as {
            return Err(self.error());
        } else {
            None
        };
        Ok(CreateTableBody::Definition {
            columns,
            constraints,
            options,
            select,
        })
    }

    fn table_element(
        &mut self,
        columns: &mut Vec<ColumnSpec>,
        constraints: &mut Vec<TableConstraint>,
    ) -> Result<()> {
        match self.table_constraint()? {
            Some(constraint) => constraints.push(constraint),
            None => {
                let name = self.checked_identifier()?;
                columns.push(self.column_spec(name)?);
            }
        }
        Ok(())
    }

    /// Parses an index or a constraint, if one starts here.
    pub(super) fn table_constraint(&mut self) -> Result<Option<TableConstraint>> {
        let mut constraint_name = None;
        let mut if_not_exists = false;
        if self.is_word("PERIOD") && self.is_word_at(1, "FOR") {
            return Err(Error::unsupported("PERIOD"));
        }
        if self.accept_word("CONSTRAINT") {
            if_not_exists = self.accept_phrase(&["IF", "NOT", "EXISTS"])?;
            if self.is_identifier() {
                constraint_name = Some(self.checked_identifier()?);
            }
        } else if !self.is_any_word(&[
            "PRIMARY", "UNIQUE", "INDEX", "KEY", "FULLTEXT", "SPATIAL", "FOREIGN", "CHECK", "VECTOR",
        ]) || (self.is_word("VECTOR") && !self.is_word_at(1, "INDEX") && !self.is_word_at(1, "KEY"))
        {
            return Ok(None);
        }
        if self.accept_word("CHECK") {
            let (expr, text) = self.parenthesized_text()?;
            return Ok(Some(TableConstraint::Check(CheckSpec {
                name: constraint_name,
                if_not_exists,
                expr,
                text,
            })));
        }
        if self.accept_words(&["FOREIGN", "KEY"]) {
            let key = self.foreign_key(constraint_name)?;
            return Ok(Some(TableConstraint::ForeignKey(key)));
        }
        let kind = if self.accept_words(&["PRIMARY", "KEY"]) {
            IndexKind::Primary
        } else if self.accept_word("UNIQUE") {
            let _ = self.accept_any_word(&["INDEX", "KEY"]);
            IndexKind::Unique
        } else if constraint_name.is_none() {
            let kind = match self.accept_any_word(&["FULLTEXT", "SPATIAL", "VECTOR", "INDEX", "KEY"]) {
                Some("FULLTEXT") => IndexKind::FullText,
                Some("SPATIAL") => IndexKind::Spatial,
                Some("VECTOR") => IndexKind::Vector,
                Some(_) => IndexKind::Plain,
                None => return Err(self.error()),
            };
            if kind != IndexKind::Plain {
                let _ = self.accept_any_word(&["INDEX", "KEY"]);
            }
            kind
        } else {
            return Err(self.error());
        };
        self.index_spec(kind, constraint_name)
            .map(|index| Some(TableConstraint::Index(index)))
    }

    /// Parses `[IF NOT EXISTS] [name] [USING …] (columns) [options]`.
    fn index_spec(&mut self, kind: IndexKind, constraint_name: Option<String>) -> Result<IndexSpec> {
        let if_not_exists = self.accept_phrase(&["IF", "NOT", "EXISTS"])?;
        let mut name = constraint_name;
        if self.is_identifier() && !self.is_word("TYPE") && !self.is(&Token::LeftParen) {
            name = Some(self.checked_identifier()?);
        }
        let mut index = IndexSpec {
            kind,
            name,
            if_not_exists,
            parts: Vec::new(),
            algorithm: None,
            comment: None,
            key_block_size: None,
            ignored: false,
        };
        index.algorithm = self.index_algorithm()?;
        index.parts = self.parenthesized(Self::index_part)?;
        self.index_options(&mut index)?;
        Ok(index)
    }

    fn index_algorithm(&mut self) -> Result<Option<String>> {
        if self.accept_any_word(&["USING", "TYPE"]).is_none() {
            return Ok(None);
        }
        match self.accept_any_word(&["BTREE", "HASH", "RTREE"]) {
            Some(algorithm) => Ok(Some(algorithm.to_owned())),
            None => Err(self.error()),
        }
    }

    fn index_part(&mut self) -> Result<IndexPartSpec> {
        if self.is(&Token::LeftParen) {
            return Err(self.error());
        }
        let column = self.identifier()?;
        let mut length = None;
        if self.accept(&Token::LeftParen) {
            length = Some(self.number()?);
            self.expect_token(&Token::RightParen)?;
        }
        let descending = self.accept_word("DESC");
        if !descending {
            self.accept_word("ASC");
        }
        Ok(IndexPartSpec {
            column,
            length,
            descending,
        })
    }

    fn index_options(&mut self, index: &mut IndexSpec) -> Result<()> {
        loop {
            if let Some(algorithm) = self.index_algorithm()? {
                index.algorithm = Some(algorithm);
            } else if self.accept_word("COMMENT") {
                index.comment = Some(self.text()?);
            } else if self.accept_word("KEY_BLOCK_SIZE") {
                self.accept_equal();
                index.key_block_size = Some(self.number()?);
            } else if self.accept_words(&["WITH", "PARSER"]) {
                self.identifier()?;
            } else if self.accept_words(&["NOT", "IGNORED"]) {
                index.ignored = false;
            } else if self.accept_word("IGNORED") {
                index.ignored = true;
            } else if !self.engine_attribute()? {
                return Ok(());
            }
        }
    }

    fn create_index(&mut self, or_replace: bool) -> Result<Statement> {
        let kind = match self.accept_any_word(&["UNIQUE", "FULLTEXT", "SPATIAL"]) {
            Some("UNIQUE") => IndexKind::Unique,
            Some("FULLTEXT") => IndexKind::FullText,
            Some(_) => IndexKind::Spatial,
            None => IndexKind::Plain,
        };
        self.expect_word("INDEX")?;
        let if_not_exists = self.if_not_exists(or_replace)?;
        let name = Some(self.checked_identifier()?);
        let algorithm = self.index_algorithm()?;
        self.expect_word("ON")?;
        let table = self.table_name()?;
        let parts = self.parenthesized(Self::index_part)?;
        let mut index = IndexSpec {
            kind,
            name,
            if_not_exists,
            parts,
            algorithm,
            comment: None,
            key_block_size: None,
            ignored: false,
        };
        let _ = self.accept_word("NOWAIT");
        self.index_options(&mut index)?;
        let mut actions = vec![AlterAction::AddConstraint(TableConstraint::Index(index))];
        self.algorithm_and_lock(&mut actions)?;
        let origin = if or_replace {
            AlterOrigin::CreateOrReplaceIndex
        } else {
            AlterOrigin::CreateIndex
        };
        Ok(Statement::Ddl(DdlStatement::AlterTable(Box::new(AlterTable {
            origin,
            if_exists: false,
            ignore: false,
            table,
            actions,
        }))))
    }

    fn algorithm_and_lock(&mut self, actions: &mut Vec<AlterAction>) -> Result<()> {
        while let Some(what) = self.accept_any_word(&["ALGORITHM", "LOCK"]) {
            self.accept_equal();
            let word = self.option_word()?;
            actions.push(if what == "LOCK" {
                AlterAction::Lock(word)
            } else {
                AlterAction::Algorithm(word)
            });
        }
        Ok(())
    }

    /// Takes an unquoted word and returns it in capitals.
    pub(super) fn option_word(&mut self) -> Result<String> {
        let Token::Word { .. } = self.peek() else {
            return Err(self.error());
        };
        let token = self.advance();
        Ok(self.word_text(&token).to_ascii_uppercase())
    }

    /// Parses `(expr)` and returns its text too.
    pub(super) fn parenthesized_text(&mut self) -> Result<(Expr, String)> {
        self.expect_token(&Token::LeftParen)?;
        let start = self.position();
        let expr = self.expr()?;
        let text = self.text_since(start);
        self.expect_token(&Token::RightParen)?;
        Ok((expr, text))
    }

    // Table options ----------------------------------------------------------------------------------------------

    /// Parses the options of CREATE TABLE. Commas between them are optional.
    pub(super) fn table_options(&mut self) -> Result<TableOptions> {
        let mut options = TableOptions::default();
        loop {
            let comma = self.is(&Token::Comma);
            if comma {
                self.advance();
            }
            if !self.table_option(&mut options)? {
                return if comma { Err(self.error()) } else { Ok(options) };
            }
        }
    }

    /// Parses one table option, if one starts here.
    pub(super) fn table_option(&mut self, options: &mut TableOptions) -> Result<bool> {
        if let Some(charset) = self.charset_option()? {
            add_charset(&mut options.charset, charset)?;
        } else if let Some(collation) = self.collation_option()? {
            add_collation(&mut options.collation, collation)?;
        } else if self.is_word("TYPE") {
            // Engines had this word before 5.5; no option of an engine may have it.
            return Ok(false);
        } else if self.accept_word("ENGINE") {
            self.accept_equal();
            options.engine = Some(self.identifier_or_text()?);
        } else if self.accept_word("AUTO_INCREMENT") {
            self.accept_equal();
            options.auto_increment = Some(self.number()?);
        } else if self.accept_word("COMMENT") {
            self.accept_equal();
            options.comment = Some(self.text()?);
        } else if self.accept_word("ROW_FORMAT") {
            self.accept_equal();
            options.row_format = Some(self.option_word()?);
        } else if let Some(name) = self.accept_any_word(&[
            "AVG_ROW_LENGTH",
            "MAX_ROWS",
            "MIN_ROWS",
            "KEY_BLOCK_SIZE",
            "STATS_SAMPLE_PAGES",
            "STATS_PERSISTENT",
            "STATS_AUTO_RECALC",
            "CHECKSUM",
            "TABLE_CHECKSUM",
            "PAGE_CHECKSUM",
            "PACK_KEYS",
            "DELAY_KEY_WRITE",
            "TRANSACTIONAL",
        ]) {
            self.accept_equal();
            let out_of_range = (name == "STATS_SAMPLE_PAGES").then(|| self.error());
            let value = if self.is_word("DEFAULT") {
                self.advance();
                "DEFAULT".to_owned()
            } else if matches!(self.peek(), Token::Word { .. } | Token::Text(_)) {
                self.identifier_or_text()?
            } else {
                let number = self.number()?;
                match out_of_range {
                    Some(error) if !(1..=65_535).contains(&number) => return Err(error),
                    _ => number.to_string(),
                }
            };
            options.other.push((name.to_owned(), value));
        } else if self.accept_word("SEQUENCE") {
            self.accept_equal();
            options.sequence = Some(match self.accept_word("DEFAULT") {
                true => false,
                false => self.number()? != 0,
            });
        } else if self.accept_word("INSERT_METHOD") {
            self.accept_equal();
            self.option_word()?;
        } else if self.is_word("UNION") && (self.is_at(1, &Token::Equal) || self.is_at(1, &Token::LeftParen))
        {
            return Err(Error::unsupported("UNION tables"));
        } else if self.is_any_word(&["DATA", "INDEX"]) && self.is_word_at(1, "DIRECTORY") {
            return Err(Error::unsupported("DATA DIRECTORY"));
        } else if self
            .accept_any_word(&["PASSWORD", "CONNECTION", "TABLESPACE"])
            .is_some()
        {
            self.accept_equal();
            self.identifier_or_text()?;
        } else if self.is_word("WITH") && self.is_word_at(1, "SYSTEM") {
            return Err(Error::unsupported("SYSTEM VERSIONING"));
        } else {
            let attribute = self.attribute_value()?;
            let is_one = attribute.is_some();
            options.of_engine.extend(attribute);
            return Ok(is_one);
        }
        Ok(true)
    }

    /// Parses `name = value`, an attribute that an engine defines for a column or an index, if one starts
    /// here. No engine of this server defines any.
    ///
    /// # Errors
    /// 1911 for the attribute, 1064 for a name without a value.
    pub(super) fn engine_attribute(&mut self) -> Result<bool> {
        match self.attribute_value()? {
            Some((name, _)) => Err(Error::new(error_code::ER_UNKNOWN_OPTION, &[&name])),
            None => Ok(false),
        }
    }

    /// Parses `name = value`, an attribute that an engine defines, if one starts here. The value is `None`
    /// for DEFAULT.
    fn attribute_value(&mut self) -> Result<Option<(String, Option<String>)>> {
        // Words that cannot be the name here.
        const OTHER: &[&str] = &[
            "AFTER",
            "ALGORITHM",
            "FIRST",
            "LOCK",
            "NO",
            "NOWAIT",
            "PARTITION",
            "REMOVE",
            "WAIT",
        ];
        if !self.is_identifier() || self.is_any_word(OTHER) {
            return Ok(None);
        }
        let name = self.identifier()?;
        self.expect_token(&Token::Equal)?;
        let value = if self.accept_word("DEFAULT") {
            None
        } else if self.is_identifier() || matches!(self.peek(), Token::Text(_)) {
            Some(self.identifier_or_text()?)
        } else {
            Some(self.number()?.to_string())
        };
        Ok(Some((name, value)))
    }

    // DROP, RENAME -----------------------------------------------------------------------------------------------

    pub(super) fn drop_statement(&mut self) -> Result<Statement> {
        self.expect_word("DROP")?;
        if self.accept_word("PREPARE") {
            return Ok(Statement::Deallocate(self.identifier()?));
        }
        let temporary = self.accept_word("TEMPORARY");
        if self.accept_any_word(&["TABLE", "TABLES"]).is_some() {
            let if_exists = self.accept_phrase(&["IF", "EXISTS"])?;
            let tables = self.comma_separated(Self::table_name)?;
            let _ = self.accept_any_word(&["RESTRICT", "CASCADE"]);
            self.wait_clause()?;
            return Ok(Statement::Ddl(DdlStatement::DropTables {
                temporary,
                if_exists,
                tables,
            }));
        }
        if self.accept_word("SEQUENCE") {
            return self.drop_sequences(temporary);
        }
        if self.accept_any_word(&["DATABASE", "SCHEMA"]).is_some() {
            let if_exists = self.accept_phrase(&["IF", "EXISTS"])?;
            return Ok(Statement::Ddl(DdlStatement::DropDatabase {
                if_exists,
                name: self.identifier()?,
            }));
        }
        if self.accept_word("INDEX") {
            let if_exists = self.accept_phrase(&["IF", "EXISTS"])?;
            let primary = self.accept_word("PRIMARY");
            let name = if primary {
                "PRIMARY".to_owned()
            } else {
                self.identifier()?
            };
            self.expect_word("ON")?;
            let table = self.table_name()?;
            let mut actions = vec![if name.eq_ignore_ascii_case("PRIMARY") {
                AlterAction::DropPrimaryKey { if_exists }
            } else {
                AlterAction::DropIndex { if_exists, name }
            }];
            self.wait_clause()?;
            self.algorithm_and_lock(&mut actions)?;
            return Ok(Statement::Ddl(DdlStatement::AlterTable(Box::new(AlterTable {
                origin: AlterOrigin::DropIndex,
                if_exists: false,
                ignore: false,
                table,
                actions,
            }))));
        }
        if self.accept_word("USER") {
            return self.drop_user();
        }
        if self.accept_word("ROLE") {
            return self.drop_roles();
        }
        if self.accept_word("VIEW") {
            return self.drop_views();
        }
        if let Some(kind) = self.accept_any_word(&["TRIGGER", "PROCEDURE", "FUNCTION"]) {
            let if_exists = self.accept_phrase(&["IF", "EXISTS"])?;
            let name = self.program_name()?;
            return Ok(Statement::Ddl(match kind {
                "TRIGGER" => DdlStatement::DropTrigger { if_exists, name },
                _ => DdlStatement::DropRoutine {
                    kind: match kind {
                        "PROCEDURE" => RoutineType::Procedure,
                        _ => RoutineType::Function,
                    },
                    if_exists,
                    name,
                },
            }));
        }
        if self.accept_word("EVENT") {
            return Ok(Statement::Ddl(DdlStatement::DropEvent {
                if_exists: self.accept_phrase(&["IF", "EXISTS"])?,
                name: self.program_name()?,
            }));
        }
        if self.accept_word("SERVER") {
            return Ok(Statement::Ddl(DdlStatement::DropServer {
                if_exists: self.accept_phrase(&["IF", "EXISTS"])?,
                name: self.identifier()?,
            }));
        }
        self.unsupported_object()
    }

    pub(super) fn wait_clause(&mut self) -> Result<()> {
        if self.accept_word("WAIT") {
            self.number()?;
        } else {
            self.accept_word("NOWAIT");
        }
        Ok(())
    }

    pub(super) fn rename(&mut self) -> Result<Statement> {
        self.expect_word("RENAME")?;
        if self.accept_word("USER") {
            return self.rename_user();
        }
        if self.accept_any_word(&["TABLE", "TABLES"]).is_none() {
            return Err(self.error());
        }
        let if_exists = self.accept_phrase(&["IF", "EXISTS"])?;
        let renames = self.comma_separated(|parser| {
            let from = parser.table_name()?;
            parser.wait_clause()?;
            parser.expect_word("TO")?;
            Ok((from, parser.table_name()?))
        })?;
        Ok(Statement::Ddl(DdlStatement::RenameTables { if_exists, renames }))
    }
}

/// Adds a `CHARACTER SET` clause to those before it; 1302 if they contradict each other.
fn add_charset(known: &mut Option<CharsetName>, new: CharsetName) -> Result<()> {
    let is_same = |left: &str, right: &str| {
        let number = |name: &str| Charset::from_name(name).map(Charset::name);
        left.eq_ignore_ascii_case(right) || number(left).is_some_and(|left| number(right) == Some(left))
    };
    let both = match (known.take(), new) {
        (Some(CharsetName::Name(first)), CharsetName::Name(name)) if !is_same(&first, &name) => {
            let clauses = ["CHARACTER SET ", &first, "CHARACTER SET ", &name];
            return Err(conflicting_declarations(clauses));
        }
        (Some(CharsetName::Name(name)), CharsetName::Default) => CharsetName::NameAndDefault {
            name,
            default_first: false,
        },
        (Some(CharsetName::Default), CharsetName::Name(name)) => CharsetName::NameAndDefault {
            name,
            default_first: true,
        },
        (Some(both @ CharsetName::NameAndDefault { .. }), _) => both,
        (_, new) => new,
    };
    *known = Some(both);
    Ok(())
}

/// Adds a `COLLATE` clause to those before it; 1302 if they contradict each other.
fn add_collation(known: &mut Option<String>, new: String) -> Result<()> {
    if let Some(first) = known {
        let full = |name: &str| Collation::from_name(name).map(Collation::name);
        let is_same =
            first.eq_ignore_ascii_case(&new) || full(first).is_some_and(|first| full(&new) == Some(first));
        if !is_same {
            return Err(conflicting_declarations(["COLLATE ", first, "COLLATE ", &new]));
        }
    }
    *known = Some(new);
    Ok(())
}

fn conflicting_declarations([clause, value, other_clause, other_value]: [&str; 4]) -> Error {
    Error::new(
        ER_CONFLICTING_DECLARATIONS,
        &[&clause, &value, &other_clause, &other_value],
    )
}
