//! ALTER.

use super::parser::{Parser, checked_column_name};
use crate::error::{Error, Result};
use crate::lexer::Token;
use crate::statement::Statement;
use crate::statement::definition::*;
use paceline_types::error_code::{ER_BAD_DB_ERROR, ER_WRONG_DB_NAME, ER_WRONG_USAGE};

impl Parser<'_> {
    pub(super) fn alter(&mut self) -> Result<Statement> {
        self.expect_word("ALTER")?;
        self.accept_word("ONLINE");
        let ignore = self.accept_word("IGNORE");
        if self.accept_word("TABLE") {
            return self.alter_table(ignore);
        }
        if self.accept_any_word(&["DATABASE", "SCHEMA"]).is_some() {
            let named = self.is_identifier()
                && !self.is_any_word(&["CHARSET", "COMMENT"])
                && !(self.is_any_word(&["UPGRADE"]));
            let name = if named { Some(self.identifier()?) } else { None };
            if let Some(name) = &name
                && self.accept_words(&["UPGRADE", "DATA", "DIRECTORY", "NAME"])
            {
                return Err(upgraded_name_error(name));
            }
            let options = self.database_options()?;
            if options == DatabaseOptions::default() {
                return Err(self.error());
            }
            return Ok(Statement::Ddl(DdlStatement::AlterDatabase { name, options }));
        }
        if self.accept_word("USER") {
            return self.alter_user();
        }
        if self.accept_word("SEQUENCE") {
            return self.alter_sequence();
        }
        if let Some(statement) = self.alter_routine()? {
            return Ok(statement);
        }
        if self.is_word("EVENT") && !self.has_opaque_programs() {
            self.advance();
            return self.alter_event(None);
        }
        if self.is_any_word(&["VIEW", "ALGORITHM", "DEFINER", "SQL"])
            && let Some(view) = self.view(ViewMode::Alter)?
        {
            return Ok(view);
        }
        self.unsupported_object()
    }

    fn alter_table(&mut self, ignore: bool) -> Result<Statement> {
        let if_exists = self.accept_phrase(&["IF", "EXISTS"])?;
        let table = self.table_name()?;
        self.wait_clause()?;
        let mut actions = Vec::new();
        if !self.is_end() {
            loop {
                self.alter_action(&mut actions)?;
                if !self.accept(&Token::Comma) {
                    // Commas between table options are optional.
                    if self.is_end() {
                        break;
                    }
                    if !matches!(actions.last(), Some(AlterAction::Options(_)))
                        || !self.more_options(&mut actions)?
                    {
                        return Err(self.error());
                    }
                    if !self.accept(&Token::Comma) {
                        break;
                    }
                }
            }
        }
        Ok(Statement::Ddl(DdlStatement::AlterTable(Box::new(AlterTable {
            origin: AlterOrigin::AlterTable,
            if_exists,
            ignore,
            table,
            actions,
        }))))
    }

    fn more_options(&mut self, actions: &mut [AlterAction]) -> Result<bool> {
        let Some(AlterAction::Options(options)) = actions.last_mut() else {
            return Ok(false);
        };
        let mut any = false;
        while self.table_option(options)? {
            any = true;
        }
        Ok(any)
    }

    fn alter_action(&mut self, actions: &mut Vec<AlterAction>) -> Result<()> {
        let action = if self.accept_word("ADD") {
            return self.add(actions);
        } else if self.accept_word("DROP") {
            self.drop_action()?
        } else if self.accept_word("MODIFY") {
            self.accept_word("COLUMN");
            let if_exists = self.accept_phrase(&["IF", "EXISTS"])?;
            let name = self.checked_identifier()?;
            let column = self.column_spec(name)?;
            AlterAction::ModifyColumn {
                if_exists,
                column,
                position: self.column_position()?,
            }
        } else if self.accept_word("CHANGE") {
            self.accept_word("COLUMN");
            let if_exists = self.accept_phrase(&["IF", "EXISTS"])?;
            let old_name = self.identifier()?;
            let name = self.checked_identifier()?;
            let column = self.column_spec(name)?;
            AlterAction::ChangeColumn {
                if_exists,
                old_name,
                column,
                position: self.column_position()?,
            }
        } else if self.accept_word("ALTER") {
            self.alter_column()?
        } else if self.accept_word("RENAME") {
            self.rename_action()?
        } else if self.accept_word("CONVERT") {
            self.expect_word("TO")?;
            if !self.accept_word("CHARSET") {
                if self.accept_any_word(&["CHARACTER", "CHAR"]).is_none() {
                    return Err(self.error());
                }
                self.expect_word("SET")?;
            }
            let charset = self.charset_name()?;
            let collation = if self.accept_word("COLLATE") {
                Some(self.collation_or_default()?)
            } else {
                None
            };
            AlterAction::ConvertCharset { charset, collation }
        } else if self.accept_words(&["ORDER", "BY"]) {
            self.comma_separated(Self::order_by_item)?;
            AlterAction::OrderBy
        } else if self.accept_word("FORCE") {
            AlterAction::Force
        } else if self.is_any_word(&["DISABLE", "ENABLE"]) && self.is_word_at(1, "KEYS") {
            let enabled = self.is_word("ENABLE");
            self.advance();
            self.advance();
            AlterAction::Keys { enabled }
        } else if self.is_any_word(&["ALGORITHM", "LOCK"]) {
            let lock = self.is_word("LOCK");
            self.advance();
            self.accept_equal();
            let word = self.option_word()?;
            if lock {
                AlterAction::Lock(word)
            } else {
                AlterAction::Algorithm(word)
            }
        } else if self.is_any_word(&["DISCARD", "IMPORT"]) {
            return Err(Error::unsupported("TABLESPACE"));
        } else if self.is_any_word(&[
            "PARTITION",
            "REMOVE",
            "COALESCE",
            "REORGANIZE",
            "EXCHANGE",
            "ANALYZE",
            "CHECK",
            "OPTIMIZE",
            "REBUILD",
            "REPAIR",
            "TRUNCATE",
        ]) && !self.is_at(1, &Token::Equal)
        {
            return Err(Error::unsupported("PARTITION"));
        } else {
            let mut options = TableOptions::default();
            if !self.table_option(&mut options)? {
                return Err(self.error());
            }
            AlterAction::Options(options)
        };
        actions.push(action);
        Ok(())
    }

    /// Parses the rest of `ADD`: a column, several in parentheses, an index or a constraint.
    fn add(&mut self, actions: &mut Vec<AlterAction>) -> Result<()> {
        if self.is_word("PARTITION") {
            return Err(Error::unsupported("PARTITION"));
        }
        if self.is_word("SYSTEM") && self.is_word_at(1, "VERSIONING") {
            return Err(Error::unsupported("SYSTEM VERSIONING"));
        }
        if let Some(constraint) = self.table_constraint()? {
            actions.push(AlterAction::AddConstraint(constraint));
            return Ok(());
        }
        self.accept_word("COLUMN");
        let if_not_exists = self.accept_phrase(&["IF", "NOT", "EXISTS"])?;
        if self.accept(&Token::LeftParen) {
            loop {
                match self.table_constraint()? {
                    Some(constraint) => actions.push(AlterAction::AddConstraint(constraint)),
                    None => {
                        let name = self.checked_identifier()?;
                        let column = self.column_spec(name)?;
                        let position = ColumnPosition::Unspecified;
                        actions.push(AlterAction::AddColumn {
                            if_not_exists,
                            column,
                            position,
                        });
                    }
                }
                if !self.accept(&Token::Comma) {
                    break;
                }
            }
            return self.expect_token(&Token::RightParen);
        }
        let name = self.checked_identifier()?;
        let column = self.column_spec(name)?;
        let position = self.column_position()?;
        actions.push(AlterAction::AddColumn {
            if_not_exists,
            column,
            position,
        });
        Ok(())
    }

    fn column_position(&mut self) -> Result<ColumnPosition> {
        if self.accept_word("FIRST") {
            return Ok(ColumnPosition::First);
        }
        if self.accept_word("AFTER") {
            return Ok(ColumnPosition::After(self.identifier()?));
        }
        Ok(ColumnPosition::Unspecified)
    }

    fn drop_action(&mut self) -> Result<AlterAction> {
        if self.is_word("PARTITION") {
            return Err(Error::unsupported("PARTITION"));
        }
        if self.is_word("SYSTEM") && self.is_word_at(1, "VERSIONING") {
            return Err(Error::unsupported("SYSTEM VERSIONING"));
        }
        if self.accept_words(&["PRIMARY", "KEY"]) {
            return Ok(AlterAction::DropPrimaryKey { if_exists: false });
        }
        if self.accept_words(&["FOREIGN", "KEY"]) {
            let if_exists = self.accept_phrase(&["IF", "EXISTS"])?;
            return Ok(AlterAction::DropForeignKey {
                if_exists,
                name: self.identifier()?,
            });
        }
        if self.accept_word("CONSTRAINT") {
            let if_exists = self.accept_phrase(&["IF", "EXISTS"])?;
            return Ok(AlterAction::DropConstraint {
                if_exists,
                name: self.identifier()?,
            });
        }
        if self.accept_any_word(&["INDEX", "KEY"]).is_some() {
            let if_exists = self.accept_phrase(&["IF", "EXISTS"])?;
            return Ok(AlterAction::DropIndex {
                if_exists,
                name: self.identifier()?,
            });
        }
        self.accept_word("COLUMN");
        let if_exists = self.accept_phrase(&["IF", "EXISTS"])?;
        let name = self.identifier()?;
        let _ = self.accept_any_word(&["RESTRICT", "CASCADE"]);
        Ok(AlterAction::DropColumn { if_exists, name })
    }

    fn alter_column(&mut self) -> Result<AlterAction> {
        if self.accept_any_word(&["INDEX", "KEY"]).is_some() {
            let if_exists = self.accept_phrase(&["IF", "EXISTS"])?;
            let name = self.identifier()?;
            let ignored = !self.accept_word("NOT");
            self.expect_word("IGNORED")?;
            return Ok(AlterAction::AlterIndex {
                if_exists,
                name,
                ignored,
            });
        }
        self.accept_word("COLUMN");
        let if_exists = self.accept_phrase(&["IF", "EXISTS"])?;
        let column = self.identifier()?;
        if self.accept_words(&["DROP", "DEFAULT"]) {
            return Ok(AlterAction::SetDefault {
                if_exists,
                column,
                default: None,
            });
        }
        self.expect_words(&["SET", "DEFAULT"])?;
        Ok(AlterAction::SetDefault {
            if_exists,
            column,
            default: Some(self.default_spec()?),
        })
    }

    fn rename_action(&mut self) -> Result<AlterAction> {
        if self.accept_word("COLUMN") {
            let if_exists = self.accept_phrase(&["IF", "EXISTS"])?;
            let old_name = self.identifier()?;
            self.expect_word("TO")?;
            return Ok(AlterAction::RenameColumn {
                if_exists,
                old_name,
                new_name: checked_column_name(self.identifier()?)?,
            });
        }
        if self.accept_any_word(&["INDEX", "KEY"]).is_some() {
            let if_exists = self.accept_phrase(&["IF", "EXISTS"])?;
            let old_name = self.identifier()?;
            self.expect_word("TO")?;
            return Ok(AlterAction::RenameIndex {
                if_exists,
                old_name,
                new_name: self.checked_identifier()?,
            });
        }
        if !self.accept(&Token::Equal) {
            let _ = self.accept_any_word(&["TO", "AS"]);
        }
        Ok(AlterAction::RenameTable(self.table_name()?))
    }
}

/// Returns the error of ALTER DATABASE … UPGRADE DATA DIRECTORY NAME. That renames directories of MySQL 5.0,
/// `#mysql50#name`, of which there are none.
fn upgraded_name_error(name: &str) -> Error {
    match name.strip_prefix("#mysql50#") {
        None => Error::new(
            ER_WRONG_USAGE,
            &[&"ALTER DATABASE UPGRADE DATA DIRECTORY NAME", &"name"],
        ),
        // Its files would have the same name.
        Some(rest)
            if rest
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') =>
        {
            Error::new(ER_WRONG_DB_NAME, &[&name])
        }
        Some(_) => Error::new(ER_BAD_DB_ERROR, &[&name]),
    }
}
