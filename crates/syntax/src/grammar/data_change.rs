//! INSERT, REPLACE, UPDATE, DELETE, LOAD DATA.

use crate::ast::{ColumnName, Expr, JoinedTables, OrderItem, SelectItem, TableFactor, TableName};

use super::parser::{Parser, checked_qualified_name};
use crate::error::{Error, Result};
use crate::lexer::Token;
use crate::statement::*;

impl Parser<'_> {
    pub(super) fn insert(&mut self) -> Result<Statement> {
        let kind = if self.accept_word("REPLACE") {
            InsertKind::Replace
        } else {
            self.expect_word("INSERT")?;
            InsertKind::Insert
        };
        let _ = self.accept_word("LOW_PRIORITY")
            || self.accept_word("DELAYED")
            || self.accept_word("HIGH_PRIORITY");
        let ignore = kind == InsertKind::Insert && self.accept_word("IGNORE");
        self.accept_word("INTO");
        let table = self.table_name()?;
        self.refuse_partition()?;
        let mut columns = Vec::new();
        if self.is(&Token::LeftParen) && !self.is_subquery() {
            self.advance();
            if !self.is(&Token::RightParen) {
                columns = self.comma_separated(Self::column_name)?;
            }
            self.expect_token(&Token::RightParen)?;
        }
        let source = if self.accept_word("VALUES") || self.accept_word("VALUE") {
            InsertSource::Values(self.comma_separated(Self::value_row)?)
        } else if columns.is_empty() && self.accept_word("SET") {
            let mut row = Vec::new();
            for assignment in self.assignments()? {
                columns.push(assignment.column);
                row.push(assignment.value);
            }
            InsertSource::Values(vec![row])
        } else if self.is_any_word(&["SELECT", "WITH"]) || self.is(&Token::LeftParen) {
            InsertSource::Query(Box::new(self.query_statement()?))
        } else {
            return Err(self.error());
        };
        let mut on_duplicate = Vec::new();
        if kind == InsertKind::Insert && self.accept_word("ON") {
            self.expect_words(&["DUPLICATE", "KEY", "UPDATE"])?;
            on_duplicate = self.assignments()?;
        }
        let returning = self.returning()?;
        Ok(Statement::Insert(Box::new(Insert {
            kind,
            ignore,
            table,
            columns,
            source,
            on_duplicate,
            returning,
        })))
    }

    fn refuse_partition(&mut self) -> Result<()> {
        if self.is_word("PARTITION") {
            Err(Error::unsupported("PARTITION"))
        } else {
            Ok(())
        }
    }

    fn returning(&mut self) -> Result<Vec<SelectItem>> {
        if self.accept_word("RETURNING") {
            self.select_items()
        } else {
            Ok(Vec::new())
        }
    }

    fn value_row(&mut self) -> Result<Vec<AssignedValue>> {
        self.expect_token(&Token::LeftParen)?;
        if self.accept(&Token::RightParen) {
            return Ok(Vec::new());
        }
        let row = self.comma_separated(Self::assigned_value)?;
        self.expect_token(&Token::RightParen)?;
        Ok(row)
    }

    fn assigned_value(&mut self) -> Result<AssignedValue> {
        if self.is_word("DEFAULT") && !self.is_at(1, &Token::LeftParen) {
            self.advance();
            return Ok(AssignedValue::Default);
        }
        if self.is_word("IGNORE") {
            // MariaDB accepts IGNORE for DEFAULT here.
            self.advance();
            return Ok(AssignedValue::Default);
        }
        self.expr().map(AssignedValue::Expr)
    }

    /// Parses `[[database.]table.]column`.
    pub(super) fn column_name(&mut self) -> Result<ColumnName> {
        let mut column = ColumnName::new(self.identifier()?);
        while self.is(&Token::Dot) && column.database.is_none() {
            self.advance();
            column.database = column.table.take();
            column.table = Some(std::mem::replace(&mut column.name, self.identifier_after_dot()?));
        }
        Ok(column)
    }

    /// Parses `column = value, …`.
    pub(super) fn assignments(&mut self) -> Result<Vec<Assignment>> {
        self.comma_separated(|parser| {
            let column = parser.column_name()?;
            if !parser.accept(&Token::Equal) {
                parser.expect_token(&Token::Assign)?;
            }
            Ok(Assignment {
                column,
                value: parser.assigned_value()?,
            })
        })
    }

    pub(super) fn update(&mut self) -> Result<Statement> {
        self.expect_word("UPDATE")?;
        self.accept_word("LOW_PRIORITY");
        let ignore = self.accept_word("IGNORE");
        let tables = self.table_references()?;
        self.expect_word("SET")?;
        let assignments = self.assignments()?;
        let selection = if self.accept_word("WHERE") {
            Some(self.expr()?)
        } else {
            None
        };
        let (order_by, limit) = self.order_and_limit()?;
        Ok(Statement::Update(Box::new(Update {
            ignore,
            tables,
            assignments,
            selection,
            order_by,
            limit,
        })))
    }

    fn order_and_limit(&mut self) -> Result<(Vec<OrderItem>, Option<Expr>)> {
        let order_by = if self.accept_words(&["ORDER", "BY"]) {
            self.comma_separated(Self::order_by_item)?
        } else {
            Vec::new()
        };
        let limit = if self.accept_word("LIMIT") {
            Some(self.limit_value()?)
        } else {
            None
        };
        Ok((order_by, limit))
    }

    pub(super) fn delete(&mut self) -> Result<Statement> {
        self.expect_word("DELETE")?;
        let mut ignore = false;
        loop {
            if self.accept_word("IGNORE") {
                ignore = true;
            } else if !self.accept_word("LOW_PRIORITY") && !self.is_quick() {
                break;
            }
        }
        let mut delete = Delete {
            ignore,
            targets: Vec::new(),
            from: Vec::new(),
            selection: None,
            order_by: Vec::new(),
            limit: None,
            returning: Vec::new(),
        };
        if !self.accept_word("FROM") {
            if self.is_word("HISTORY") {
                return Err(Error::unsupported("DELETE HISTORY"));
            }
            delete.targets = self.comma_separated(Self::delete_target)?;
            self.expect_word("FROM")?;
            delete.from = self.table_references()?;
        } else {
            let first = self.position();
            let targets = self.comma_separated(Self::delete_target)?;
            if self.accept_word("USING") {
                delete.targets = targets;
                delete.from = self.table_references()?;
            } else {
                if targets.len() != 1 {
                    return Err(self.error());
                }
                let _ = first;
                delete.from = vec![self.simple_target(&targets[0])?];
            }
        }
        if self.accept_word("WHERE") {
            delete.selection = Some(self.expr()?);
        }
        if delete.targets.is_empty() {
            (delete.order_by, delete.limit) = self.order_and_limit()?;
            delete.returning = self.returning()?;
        }
        Ok(Statement::Delete(Box::new(delete)))
    }

    /// Takes QUICK, which is not a reserved word: a table may have this name.
    fn is_quick(&mut self) -> bool {
        let quick = self.is_word("QUICK") && !self.is_at(1, &Token::Comma) && !self.is_at(1, &Token::Dot);
        if quick {
            self.advance();
        }
        quick
    }

    /// Parses `table`, `db.table` or `table.*`.
    fn delete_target(&mut self) -> Result<TableName> {
        let first = self.identifier()?;
        let mut name = TableName::new(first);
        while self.accept(&Token::Dot) {
            if self.accept(&Token::Star) {
                break;
            }
            let second = self.identifier_after_dot()?;
            name = TableName::qualified(name.name, second);
        }
        Ok(name)
    }

    /// Converts the table of a simple DELETE to the form that a query's tree has.
    fn simple_target(&mut self, target: &TableName) -> Result<JoinedTables> {
        self.refuse_partition()?;
        if self.is_word("FOR") && self.is_word_at(1, "PORTION") {
            return Err(Error::unsupported("FOR PORTION OF"));
        }
        let target = checked_qualified_name(target.clone())?;
        Ok(JoinedTables::of(TableFactor::of_table(target)))
    }

    pub(super) fn load_data(&mut self) -> Result<Statement> {
        self.expect_word("LOAD")?;
        if self.is_word("INDEX") {
            return Ok(Statement::Unsupported("LOAD INDEX"));
        }
        let is_xml = self.accept_word("XML");
        if !is_xml {
            self.expect_word("DATA")?;
        }
        let _ = self.accept_word("LOW_PRIORITY") || self.accept_word("CONCURRENT");
        let local = self.accept_word("LOCAL");
        self.expect_word("INFILE")?;
        let path = self.text()?;
        let duplicates = if self.accept_word("REPLACE") {
            Duplicates::Replace
        } else if self.accept_word("IGNORE") {
            Duplicates::Ignore
        } else {
            Duplicates::Error
        };
        self.expect_words(&["INTO", "TABLE"])?;
        let table = self.table_name()?;
        self.refuse_partition()?;
        let mut format = self.file_format()?;
        let mut xml_row_tag = is_xml.then(|| "row".to_owned());
        if is_xml && self.accept_word("ROWS") {
            self.expect_words(&["IDENTIFIED", "BY"])?;
            let tag = self.text()?;
            // The first and the last character are taken for brackets.
            let mut name = tag.chars();
            name.next();
            name.next_back();
            xml_row_tag = Some(name.as_str().to_owned());
            let charset = format.charset.take();
            format = FileFormat {
                charset,
                ..self.file_format()?
            };
        }
        let mut load = LoadData {
            local,
            path,
            duplicates,
            table,
            format,
            xml_row_tag,
            ignore_lines: 0,
            columns: Vec::new(),
            assignments: Vec::new(),
        };
        if self.accept_word("IGNORE") {
            load.ignore_lines = self.number()?;
            if self.accept_any_word(&["LINES", "ROWS"]).is_none() {
                return Err(self.error());
            }
        }
        if self.is(&Token::LeftParen) {
            load.columns = self.parenthesized(Self::operand)?;
        }
        if self.accept_word("SET") {
            load.assignments = self.assignments()?;
        }
        Ok(Statement::LoadData(Box::new(load)))
    }
}
