//! Tables of a query and their joins.

use super::parser::{Parser, too_deep};
use crate::ast::{HintKind, HintScope, IndexHint, Join, JoinConstraint, JoinKind, JoinedTables, TableFactor};
use crate::error::{Error, Result};
use crate::lexer::Token;

/// Maximum number of joins inside one outer join whose conditions all stand at the end. They nest in the
/// tree.
const NESTED_JOINS_MAX: u32 = 64;

impl Parser<'_> {
    /// Parses the tables after FROM; none for DUAL.
    pub(super) fn tables_clause(&mut self) -> Result<Vec<JoinedTables>> {
        if self.accept_word("DUAL") {
            return Ok(Vec::new());
        }
        self.table_references()
    }

    /// Parses tables separated by commas.
    pub(super) fn table_references(&mut self) -> Result<Vec<JoinedTables>> {
        self.comma_separated(Self::joined_table)
    }

    /// Parses a table and its joins.
    pub(super) fn joined_table(&mut self) -> Result<JoinedTables> {
        let first = self.table_factor()?;
        let mut joins = Vec::new();
        while let Some((kind, is_natural)) = self.join_kind()? {
            joins.push(self.join(kind, is_natural)?);
        }
        Ok(JoinedTables { first, joins })
    }

    /// Takes the words before a joined table. The flag says whether NATURAL is one of them.
    fn join_kind(&mut self) -> Result<Option<(JoinKind, bool)>> {
        if !matches!(self.peek(), Token::Word { reserved: true }) {
            return Ok(None);
        }
        if self.accept_word("STRAIGHT_JOIN") {
            return Ok(Some((JoinKind::Straight, false)));
        }
        let is_natural = self.accept_word("NATURAL");
        let kind = match self.accept_any_word(&["LEFT", "RIGHT"]) {
            Some(side) => {
                self.accept_word("OUTER");
                if side == "LEFT" {
                    JoinKind::Left
                } else {
                    JoinKind::Right
                }
            }
            None => {
                let is_inner = self.accept_word("INNER") || (!is_natural && self.accept_word("CROSS"));
                if !is_inner && !is_natural && !self.is_word("JOIN") {
                    return Ok(None);
                }
                JoinKind::Inner
            }
        };
        self.expect_word("JOIN")?;
        Ok(Some((kind, is_natural)))
    }

    fn join(&mut self, kind: JoinKind, is_natural: bool) -> Result<Join> {
        let mut table = self.table_factor()?;
        let is_outer = matches!(kind, JoinKind::Left | JoinKind::Right);
        if is_outer && !is_natural {
            // In a LEFT JOIN b JOIN c ON … ON …, the first condition belongs to the inner join.
            let mut inner_joins = 0;
            while !self.is_any_word(&["ON", "USING"]) {
                let Some((inner, is_natural)) = self.join_kind()? else {
                    return Err(self.error());
                };
                inner_joins += 1;
                if inner_joins > NESTED_JOINS_MAX {
                    return Err(too_deep(NESTED_JOINS_MAX));
                }
                let join = self.deeper(|parser| parser.join(inner, is_natural))?;
                table = nested(JoinedTables {
                    first: table,
                    joins: vec![join],
                });
            }
        }
        let constraint = if is_natural {
            JoinConstraint::Natural
        } else if self.accept_word("ON") {
            JoinConstraint::On(self.expr()?)
        } else if kind != JoinKind::Straight && self.accept_word("USING") {
            JoinConstraint::Using(self.parenthesized(Self::identifier)?)
        } else {
            JoinConstraint::None
        };
        Ok(Join {
            kind,
            table,
            constraint,
        })
    }

    fn table_factor(&mut self) -> Result<TableFactor> {
        self.deeper(Self::table_or_tables)
    }

    fn table_or_tables(&mut self) -> Result<TableFactor> {
        if self.is(&Token::LeftParen) {
            if self.is_subquery() {
                let query = Box::new(self.subquery()?);
                let alias = self.table_alias()?.ok_or_else(|| self.error())?;
                return Ok(TableFactor::Derived {
                    query,
                    alias,
                    columns: self.column_names()?,
                });
            }
            return self.parenthesized_tables();
        }
        if self.is(&Token::LeftBrace) {
            // ODBC's {oj t1 LEFT OUTER JOIN t2 ON …}.
            self.advance();
            self.identifier()?;
            let table = self.joined_table()?;
            self.expect_token(&Token::RightBrace)?;
            return Ok(nested(table));
        }
        if self.is_word("JSON_TABLE") && self.is_at(1, &Token::LeftParen) {
            return Ok(TableFactor::JsonTable(Box::new(self.json_table()?)));
        }
        let name = self.table_name()?;
        let partitions = if self.accept_word("PARTITION") {
            self.parenthesized(Self::identifier)?
        } else {
            Vec::new()
        };
        if self.is_word("FOR") && self.is_word_at(1, "SYSTEM_TIME") {
            return Err(Error::unsupported("FOR SYSTEM_TIME"));
        }
        let alias = self.table_alias()?;
        let mut hints = Vec::new();
        while self.is_any_word(&["USE", "FORCE", "IGNORE"])
            && (self.is_word_at(1, "INDEX") || self.is_word_at(1, "KEY"))
        {
            hints.push(self.index_hint()?);
            // Commas may separate hints too: USE INDEX (a), IGNORE INDEX (b).
            if self.is(&Token::Comma)
                && ["USE", "FORCE", "IGNORE"]
                    .iter()
                    .any(|word| self.is_word_at(1, word))
                && (self.is_word_at(2, "INDEX") || self.is_word_at(2, "KEY"))
            {
                self.advance();
            }
        }
        Ok(TableFactor::Table {
            name,
            alias,
            partitions,
            hints,
        })
    }

    /// Parses `(t1, t2)` or `(t1 JOIN t2 …)`.
    fn parenthesized_tables(&mut self) -> Result<TableFactor> {
        self.advance();
        let mut tables = self.table_references()?.into_iter();
        self.expect_token(&Token::RightParen)?;
        let Some(mut first) = tables.next() else {
            return Err(self.error());
        };
        for table in tables {
            first.joins.push(Join {
                kind: JoinKind::Inner,
                table: if table.joins.is_empty() {
                    table.first
                } else {
                    nested(table)
                },
                constraint: JoinConstraint::None,
            });
        }
        Ok(nested(first))
    }

    fn index_hint(&mut self) -> Result<IndexHint> {
        let kind = match self.accept_any_word(&["USE", "FORCE", "IGNORE"]) {
            Some("USE") => HintKind::Use,
            Some("FORCE") => HintKind::Force,
            _ => HintKind::Ignore,
        };
        if !self.accept_word("KEY") {
            self.expect_word("INDEX")?;
        }
        let scope = if self.accept_word("FOR") {
            Some(if self.accept_word("JOIN") {
                HintScope::Join
            } else if self.accept_phrase(&["ORDER", "BY"])? {
                HintScope::OrderBy
            } else {
                self.expect_words(&["GROUP", "BY"])?;
                HintScope::GroupBy
            })
        } else {
            None
        };
        self.expect_token(&Token::LeftParen)?;
        let mut indexes = Vec::new();
        if !self.is(&Token::RightParen) {
            indexes = self.comma_separated(|parser| {
                if parser.accept_word("PRIMARY") {
                    Ok("PRIMARY".to_owned())
                } else {
                    parser.identifier()
                }
            })?;
        }
        self.expect_token(&Token::RightParen)?;
        Ok(IndexHint { kind, scope, indexes })
    }

    /// Parses `[AS] alias`.
    pub(super) fn table_alias(&mut self) -> Result<Option<String>> {
        let explicit = self.accept_word("AS");
        if !explicit && (!self.is_identifier() || self.is_word("WINDOW")) {
            return Ok(None);
        }
        if self.is_word("WINDOW") {
            return Err(self.error());
        }
        self.identifier().map(Some)
    }

    /// Parses `[(column, …)]`.
    pub(super) fn column_names(&mut self) -> Result<Vec<String>> {
        if !self.is(&Token::LeftParen) {
            return Ok(Vec::new());
        }
        self.parenthesized(Self::identifier)
    }
}

fn nested(tables: JoinedTables) -> TableFactor {
    TableFactor::Nested(Box::new(tables))
}
