//! The tables that a query reads, and how they are joined.

use sqlparser::ast::{
    Ident, Join, JoinConstraint, JoinOperator, ObjectName, TableAlias, TableFactor, TableIndexHintForClause,
    TableIndexHintType, TableIndexHints, TableIndexType, TableWithJoins,
};

use super::lexer::Token;
use super::parser::{Parser, too_deep};
use crate::error::{Error, Result};

/// The most joins inside one outer join whose conditions all stand at its end; they nest in the tree.
const NESTED_JOINS_MAX: u32 = 64;

impl Parser<'_> {
    /// What stands behind FROM; nothing for DUAL.
    pub(super) fn tables_clause(&mut self) -> Result<Vec<TableWithJoins>> {
        if self.accept_word("DUAL") {
            return Ok(Vec::new());
        }
        self.table_references()
    }

    /// Tables with commas between them.
    pub(super) fn table_references(&mut self) -> Result<Vec<TableWithJoins>> {
        self.comma_separated(Self::joined_table)
    }

    /// A table and its joins.
    pub(super) fn joined_table(&mut self) -> Result<TableWithJoins> {
        let relation = self.table_factor()?;
        self.joins(relation)
    }

    fn joins(&mut self, relation: TableFactor) -> Result<TableWithJoins> {
        let mut joins = Vec::new();
        while let Some(kind) = self.join_kind()? {
            joins.push(self.join(kind)?);
        }
        Ok(TableWithJoins { relation, joins })
    }

    fn join_kind(&mut self) -> Result<Option<JoinKind>> {
        if !matches!(self.peek(), Token::Word { reserved: true }) {
            return Ok(None);
        }
        let kind = if self.accept_word("JOIN") {
            JoinKind::Inner
        } else if self.accept_word("STRAIGHT_JOIN") {
            JoinKind::Straight
        } else if self.accept_word("INNER") {
            self.expect_word("JOIN")?;
            JoinKind::Inner
        } else if self.accept_word("CROSS") {
            self.expect_word("JOIN")?;
            JoinKind::Cross
        } else if self.is_any_word(&["LEFT", "RIGHT"]) {
            let left = self.is_word("LEFT");
            self.advance();
            self.accept_word("OUTER");
            self.expect_word("JOIN")?;
            if left { JoinKind::Left } else { JoinKind::Right }
        } else if self.accept_word("NATURAL") {
            let kind = if self.accept_word("LEFT") {
                self.accept_word("OUTER");
                JoinKind::NaturalLeft
            } else if self.accept_word("RIGHT") {
                self.accept_word("OUTER");
                JoinKind::NaturalRight
            } else {
                self.accept_word("INNER");
                JoinKind::Natural
            };
            self.expect_word("JOIN")?;
            kind
        } else {
            return Ok(None);
        };
        Ok(Some(kind))
    }

    fn join(&mut self, kind: JoinKind) -> Result<Join> {
        let mut relation = self.table_factor()?;
        let needs_condition = matches!(kind, JoinKind::Left | JoinKind::Right);
        if needs_condition {
            // a LEFT JOIN b JOIN c ON … ON …: the inner join takes the first condition.
            let mut inner_joins = 0;
            while !self.is_any_word(&["ON", "USING"]) {
                let Some(inner) = self.join_kind()? else {
                    return Err(self.error());
                };
                inner_joins += 1;
                if inner_joins > NESTED_JOINS_MAX {
                    return Err(too_deep(NESTED_JOINS_MAX));
                }
                let join = self.deeper(|parser| parser.join(inner))?;
                relation = nested(TableWithJoins {
                    relation,
                    joins: vec![join],
                });
            }
        }
        let constraint = match kind {
            JoinKind::Natural | JoinKind::NaturalLeft | JoinKind::NaturalRight => JoinConstraint::Natural,
            _ if self.accept_word("ON") => JoinConstraint::On(self.expr()?),
            JoinKind::Straight => JoinConstraint::None,
            _ if self.accept_word("USING") => JoinConstraint::Using(
                self.parenthesized(|parser| Ok(ObjectName::from(vec![parser.ident()?])))?,
            ),
            _ => JoinConstraint::None,
        };
        let join_operator = match kind {
            JoinKind::Inner | JoinKind::Natural => JoinOperator::Join(constraint),
            JoinKind::Cross => JoinOperator::CrossJoin(constraint),
            JoinKind::Straight => JoinOperator::StraightJoin(constraint),
            JoinKind::Left | JoinKind::NaturalLeft => JoinOperator::LeftOuter(constraint),
            JoinKind::Right | JoinKind::NaturalRight => JoinOperator::RightOuter(constraint),
        };
        Ok(Join {
            relation,
            global: false,
            join_operator,
        })
    }

    fn table_factor(&mut self) -> Result<TableFactor> {
        self.deeper(Self::table_or_tables)
    }

    fn table_or_tables(&mut self) -> Result<TableFactor> {
        if self.is(&Token::LeftParen) {
            if self.is_subquery() {
                let subquery = Box::new(self.subquery()?);
                let alias = self.table_alias()?.ok_or_else(|| self.error())?;
                return Ok(TableFactor::Derived {
                    lateral: false,
                    subquery,
                    alias: Some(alias),
                    sample: None,
                });
            }
            return self.parenthesized_tables();
        }
        if self.is(&Token::LeftBrace) {
            // ODBC's {oj t1 LEFT OUTER JOIN t2 ON …}.
            self.advance();
            self.identifier()?;
            let table = self.joined_table()?;
            self.expect(&Token::RightBrace)?;
            return Ok(nested(table));
        }
        if self.is_word("JSON_TABLE") && self.is_at(1, &Token::LeftParen) {
            return Err(Error::unsupported("JSON_TABLE"));
        }
        let name = self.object_name()?;
        let partitions = if self.accept_word("PARTITION") {
            self.parenthesized(Self::ident)?
        } else {
            Vec::new()
        };
        if self.is_word("FOR") && self.is_word_at(1, "SYSTEM_TIME") {
            return Err(Error::unsupported("FOR SYSTEM_TIME"));
        }
        let alias = self.table_alias()?;
        let mut index_hints = Vec::new();
        while self.is_any_word(&["USE", "FORCE", "IGNORE"])
            && (self.is_word_at(1, "INDEX") || self.is_word_at(1, "KEY"))
        {
            index_hints.push(self.index_hint()?);
            // A comma may separate hints too: USE INDEX (a), IGNORE INDEX (b).
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
            args: None,
            with_hints: Vec::new(),
            version: None,
            with_ordinality: false,
            partitions,
            json_path: None,
            sample: None,
            index_hints,
        })
    }

    /// `(t1, t2)`, `(t1 JOIN t2 …)`
    fn parenthesized_tables(&mut self) -> Result<TableFactor> {
        self.advance();
        let mut tables = self.table_references()?.into_iter();
        self.expect(&Token::RightParen)?;
        let Some(mut first) = tables.next() else {
            return Err(self.error());
        };
        for table in tables {
            let relation = if table.joins.is_empty() {
                table.relation
            } else {
                nested(table)
            };
            first.joins.push(Join {
                relation,
                global: false,
                join_operator: JoinOperator::CrossJoin(JoinConstraint::None),
            });
        }
        Ok(nested(first))
    }

    fn index_hint(&mut self) -> Result<TableIndexHints> {
        let hint_type = match self.accept_any_word(&["USE", "FORCE", "IGNORE"]) {
            Some("USE") => TableIndexHintType::Use,
            Some("FORCE") => TableIndexHintType::Force,
            _ => TableIndexHintType::Ignore,
        };
        let index_type = if self.accept_word("KEY") {
            TableIndexType::Key
        } else {
            self.expect_word("INDEX")?;
            TableIndexType::Index
        };
        let for_clause = if self.accept_word("FOR") {
            Some(if self.accept_word("JOIN") {
                TableIndexHintForClause::Join
            } else if self.accept_phrase(&["ORDER", "BY"])? {
                TableIndexHintForClause::OrderBy
            } else {
                self.expect_words(&["GROUP", "BY"])?;
                TableIndexHintForClause::GroupBy
            })
        } else {
            None
        };
        self.expect(&Token::LeftParen)?;
        let mut index_names = Vec::new();
        if !self.is(&Token::RightParen) {
            index_names = self.comma_separated(|parser| {
                if parser.accept_word("PRIMARY") {
                    Ok(Ident::new("PRIMARY"))
                } else {
                    parser.ident()
                }
            })?;
        }
        self.expect(&Token::RightParen)?;
        Ok(TableIndexHints {
            hint_type,
            index_type,
            for_clause,
            index_names,
        })
    }

    /// `[AS] alias [(columns)]`
    pub(super) fn table_alias(&mut self) -> Result<Option<TableAlias>> {
        let explicit = self.accept_word("AS");
        if !explicit && (!self.is_identifier() || self.is_word("WINDOW")) {
            return Ok(None);
        }
        if self.is_word("WINDOW") {
            return Err(self.error());
        }
        let name = self.ident()?;
        let columns = self.alias_columns()?;
        Ok(Some(TableAlias {
            explicit,
            name,
            columns,
            at: None,
        }))
    }
}

#[derive(Clone, Copy)]
enum JoinKind {
    Inner,
    Cross,
    Straight,
    Left,
    Right,
    Natural,
    NaturalLeft,
    NaturalRight,
}

fn nested(table: TableWithJoins) -> TableFactor {
    TableFactor::NestedJoin {
        table_with_joins: Box::new(table),
        alias: None,
    }
}
