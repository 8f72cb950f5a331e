//! Text of a JSON_TABLE in a view, as MariaDB writes it.

use super::super::normal_form::{Writer, quote_identifier};
use crate::column_type::{resolve_collation, resolve_with_notes};
use crate::error::Result;
use crate::quote::quote_text;
use paceline_syntax::ast::{Expr, JsonColumn, JsonResponse, JsonTable, Literal, TypeKind, TypeSpec, UnaryOp};
use paceline_types::{Collation, SqlMode};

impl Writer<'_> {
    /// Appends a JSON_TABLE and its alias.
    pub(super) fn json_table(&mut self, table: &JsonTable) -> Result<()> {
        self.out.push_str("JSON_TABLE(");
        self.expr(&table.document, 0)?;
        self.out.push_str(", ");
        quote_text(&table.path, self.out);
        self.json_columns(&table.columns)?;
        self.out.push_str(") ");
        quote_identifier(&table.alias, self.out);
        Ok(())
    }

    fn json_columns(&mut self, columns: &[JsonColumn]) -> Result<()> {
        self.out.push_str(" COLUMNS (");
        for (number, column) in columns.iter().enumerate() {
            if number > 0 {
                self.out.push_str(", ");
            }
            self.json_column(column)?;
        }
        self.out.push(')');
        Ok(())
    }

    fn json_column(&mut self, column: &JsonColumn) -> Result<()> {
        match column {
            JsonColumn::Ordinality { name } => {
                quote_identifier(name, self.out);
                self.out.push_str(" FOR ORDINALITY");
            }
            JsonColumn::Exists {
                name,
                data_type,
                path,
            } => {
                self.json_column_type(name, data_type)?;
                self.out.push_str(" EXISTS PATH ");
                quote_text(path, self.out);
            }
            JsonColumn::Value {
                name,
                data_type,
                path,
                on_empty,
                on_error,
            } => {
                self.json_column_type(name, data_type)?;
                self.out.push_str(" PATH ");
                quote_text(path, self.out);
                self.json_response(on_empty.as_ref(), "EMPTY")?;
                self.json_response(on_error.as_ref(), "ERROR")?;
            }
            JsonColumn::Nested { path, columns } => {
                self.out.push_str("NESTED PATH ");
                quote_text(path, self.out);
                self.json_columns(columns)?;
            }
        }
        Ok(())
    }

    fn json_column_type(&mut self, name: &str, spec: &TypeSpec) -> Result<()> {
        quote_identifier(name, self.out);
        self.out.push(' ');
        if spec.kind == TypeKind::Json {
            self.out.push_str(" JSON ");
            return Ok(());
        }
        let default = Collation::Utf8mb4GeneralCi;
        let resolved = resolve_with_notes(name, spec, default, SqlMode::default(), &mut Vec::new())?;
        self.out.push_str(&resolved.to_string());
        let named = resolve_collation(spec.charset.as_ref(), spec.collation.as_deref(), default)?;
        if let (Some(collation), true) = (named, resolved.is_text()) {
            self.out.push_str(" CHARSET ");
            self.out.push_str(collation.charset().name());
            self.out.push_str(" COLLATE ");
            self.out.push_str(collation.name());
        }
        Ok(())
    }

    fn json_response(&mut self, response: Option<&JsonResponse>, place: &str) -> Result<()> {
        match response {
            None => return Ok(()),
            Some(JsonResponse::Null) => self.out.push_str(" NULL"),
            Some(JsonResponse::Error) => self.out.push_str(" ERROR"),
            Some(JsonResponse::Default(literal)) => {
                self.out.push_str(" DEFAULT ");
                self.json_default(literal)?;
            }
        }
        self.out.push_str(" ON ");
        self.out.push_str(place);
        Ok(())
    }

    fn json_default(&mut self, literal: &Expr) -> Result<()> {
        match literal {
            Expr::Literal(Literal::Text(text)) => quote_text(text, self.out),
            Expr::Literal(Literal::Number(number)) => self.out.push_str(number),
            Expr::Unary {
                op: UnaryOp::Minus,
                operand,
            } => {
                self.out.push('-');
                self.json_default(operand)?;
            }
            Expr::Unary { operand, .. } => self.json_default(operand)?,
            other => self.expr(other, 0)?,
        }
        Ok(())
    }
}
