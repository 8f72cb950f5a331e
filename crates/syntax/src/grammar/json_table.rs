//! `JSON_TABLE(document, path COLUMNS (…)) alias`.

use paceline_types::error_code::ER_JSON_TABLE_ALIAS_REQUIRED;

use super::parser::Parser;
use crate::ast::{Expr, JsonColumn, JsonResponse, JsonTable, Literal, TypeKind, TypeSpec, UnaryOp};
use crate::error::{Error, Result};
use crate::lexer::Token;

/// Words that begin a type which a column of JSON_TABLE cannot have.
const REFUSED_TYPES: &[&str] = &[
    "ENUM",
    "SET",
    "SERIAL",
    "UUID",
    "INET4",
    "INET6",
    "VECTOR",
    "GEOMETRY",
    "POINT",
    "LINESTRING",
    "POLYGON",
    "MULTIPOINT",
    "MULTILINESTRING",
    "MULTIPOLYGON",
    "GEOMETRYCOLLECTION",
];

impl Parser<'_> {
    /// Parses a JSON_TABLE, which begins here.
    ///
    /// # Errors
    /// 4177 without an alias.
    pub(super) fn json_table(&mut self) -> Result<JsonTable> {
        self.expect_word("JSON_TABLE")?;
        self.expect_token(&Token::LeftParen)?;
        let document = self.expr()?;
        self.expect_token(&Token::Comma)?;
        let path = self.json_path()?;
        let columns = self.json_columns()?;
        self.expect_token(&Token::RightParen)?;
        let alias = self
            .table_alias()?
            .ok_or_else(|| Error::new(ER_JSON_TABLE_ALIAS_REQUIRED, &[]))?;
        Ok(JsonTable {
            document,
            path,
            columns,
            alias,
        })
    }

    /// Parses `COLUMNS (…)`.
    fn json_columns(&mut self) -> Result<Vec<JsonColumn>> {
        self.expect_word("COLUMNS")?;
        self.parenthesized(|parser| parser.deeper(Self::json_column))
    }

    fn json_column(&mut self) -> Result<JsonColumn> {
        if self.is_word("NESTED") && self.is_word_at(1, "PATH") {
            self.expect_words(&["NESTED", "PATH"])?;
            let path = self.json_path()?;
            let columns = self.json_columns()?;
            return Ok(JsonColumn::Nested { path, columns });
        }
        let name = self.checked_identifier()?;
        if self.accept_word("FOR") {
            self.expect_word("ORDINALITY")?;
            return Ok(JsonColumn::Ordinality { name });
        }
        let data_type = self.json_column_type()?;
        if self.accept_word("EXISTS") {
            self.expect_word("PATH")?;
            let path = self.json_path()?;
            return Ok(JsonColumn::Exists {
                name,
                data_type,
                path,
            });
        }
        self.expect_word("PATH")?;
        let path = self.json_path()?;
        let (mut on_empty, mut on_error) = (None, None);
        while let Some(response) = self.json_response()? {
            self.expect_word("ON")?;
            // One of each, in either order.
            let place = if on_empty.is_none() && self.accept_word("EMPTY") {
                &mut on_empty
            } else if on_error.is_none() && self.accept_word("ERROR") {
                &mut on_error
            } else {
                return Err(self.error());
            };
            *place = Some(response);
            if on_empty.is_some() && on_error.is_some() {
                break;
            }
        }
        Ok(JsonColumn::Value {
            name,
            data_type,
            path,
            on_empty,
            on_error,
        })
    }

    fn json_column_type(&mut self) -> Result<TypeSpec> {
        if self.is_any_word(REFUSED_TYPES) {
            return Err(self.error());
        }
        let mut spec = self.type_spec()?;
        let is_text = matches!(
            spec.kind,
            TypeKind::Char
                | TypeKind::VarChar
                | TypeKind::TinyText
                | TypeKind::Text
                | TypeKind::MediumText
                | TypeKind::LongText
        );
        // The only attribute of a column, and only once.
        if is_text && !spec.binary && spec.collation.is_none() && self.accept_word("COLLATE") {
            self.declared_collation(&mut spec)?;
        }
        Ok(spec)
    }

    /// Parses `NULL`, `ERROR` or `DEFAULT literal`, if one begins here.
    fn json_response(&mut self) -> Result<Option<JsonResponse>> {
        Ok(Some(if self.accept_word("NULL") {
            JsonResponse::Null
        } else if self.accept_word("ERROR") {
            JsonResponse::Error
        } else if self.accept_word("DEFAULT") {
            JsonResponse::Default(self.json_default()?)
        } else {
            return Ok(None);
        }))
    }

    /// Parses a literal, or a number with its sign.
    fn json_default(&mut self) -> Result<Expr> {
        let op = match self.peek() {
            Token::Plus => Some(UnaryOp::Plus),
            Token::Minus => Some(UnaryOp::Minus),
            _ => None,
        };
        let refused = self.error();
        if let Some(op) = op {
            self.advance();
            if !matches!(self.peek(), Token::Integer | Token::Decimal | Token::Float) {
                return Err(self.error());
            }
            let operand = Box::new(self.operand_without_collation()?);
            return Ok(Expr::Unary { op, operand });
        }
        match self.operand_without_collation()? {
            literal @ (Expr::Literal(_) | Expr::Introduced { .. } | Expr::TemporalLiteral { .. }) => {
                Ok(literal)
            }
            _ => Err(refused),
        }
    }

    /// Takes a path: a string, perhaps with its character set.
    fn json_path(&mut self) -> Result<String> {
        if matches!(self.peek(), Token::Text(_) | Token::Bytes(_)) {
            return self.text();
        }
        let refused = self.error();
        match self.operand_without_collation()? {
            Expr::Introduced {
                literal: Literal::Text(path),
                ..
            } => Ok(path),
            _ => Err(refused),
        }
    }
}
