//! JSON_TABLE: binding of its document and columns.
//!
//! ```text
//!   JSON_TABLE(doc, '$[*]' COLUMNS (a …, NESTED PATH '$.b[*]' COLUMNS (c …), NESTED PATH '$.d' COLUMNS (e …)))
//!
//!   levels   0: '$[*]'  ── nested ──▶  1: '$.b[*]'
//!                        └──────────▶  2: '$.d'
//!   columns  a: level 0   c: level 1   e: level 2     in the order of the text: the columns of the table
//! ```
//!
//! The document may name columns of the tables before the JSON_TABLE in FROM. *Before* is meant after the sides of
//! RIGHT JOINs are swapped, as in MariaDB, so documents are bound when the whole item of FROM is known. The join order
//! puts these tables before the JSON_TABLE ([`super::join_order`]).
//!
//! Rejected: a derived table with a correlated query in its place. Derived tables are computed once per statement, and
//! nothing else in MariaDB 10.11 needs LATERAL.

use std::sync::Arc;

use paceline_json::Path;
use paceline_types::data_type::{IntegerType, IntegerWidth, Sign};
use paceline_types::error_code::{ER_DUP_FIELDNAME, ER_NONUNIQ_TABLE, ER_OPERAND_COLUMNS};
use paceline_types::{DataType, Value};

use super::ResultColumn;
use super::block::{BindMode, Block, UnboundDocument};
use super::conditions::for_each_slot;
use super::json_table_plan::{
    FUNCTION, JsonAnswer, JsonColumnKind, JsonLevel, JsonTableColumn, JsonTablePlan,
};
use super::table_ref::{TableColumn, TableRef};
use super::tree::TableSource;
use crate::error::{Error, Result};
use paceline_catalog::ddl::resolve_with_notes;
use paceline_catalog::same_name;
use paceline_expression::{Expr, ExprKind, ExprType, path_error};
use paceline_syntax::ast;

impl Block<'_, '_> {
    /// Adds a JSON_TABLE. Its document is bound by [`Block::bind_documents`].
    pub(super) fn bind_json_table(&mut self, table: &ast::JsonTable) -> Result<usize> {
        let mut plan = JsonTablePlan {
            document: Expr::literal(Value::Null, ExprType::null()),
            is_fixed: true,
            levels: Vec::new(),
            columns: Vec::new(),
        };
        self.add_level(&table.path, &table.columns, &mut plan)?;
        let alias: Arc<str> = table.alias.as_str().into();
        let mut columns: Vec<TableColumn> = Vec::with_capacity(plan.columns.len());
        for column in &plan.columns {
            if columns.iter().any(|known| same_name(known.name(), &column.name)) {
                return Err(Error::new(ER_DUP_FIELDNAME, &[&column.name]));
            }
            let ty = ExprType::of_column(column.data_type.clone(), true);
            let mut result = ResultColumn::of_expression(column.name.as_str(), &ty);
            result.table = alias.clone();
            result.org_table = alias.clone();
            result.org_name = column.name.as_str().into();
            result.become_field();
            columns.push(TableColumn {
                result,
                ty,
                invisible: false,
            });
        }
        // As in MariaDB the name must be another one than that of any table, whatever its database.
        let is_same = |known: &TableRef| known.alias == alias && known.owner == self.owner;
        if self.tables.iter().any(is_same) {
            return Err(Error::new(ER_NONUNIQ_TABLE, &[&alias]));
        }
        // The source is replaced when the document is known.
        let source = TableSource::MergedView;
        let added = self.add_table(alias, Arc::from(""), columns, source, &[])?;
        let scope = self.preceding.clone();
        self.unbound_documents.push(UnboundDocument {
            table: added,
            scope,
            document: table.document.clone(),
            columns: plan,
        });
        Ok(added)
    }

    fn add_level(
        &mut self,
        path: &str,
        items: &[ast::JsonColumn],
        plan: &mut JsonTablePlan,
    ) -> Result<usize> {
        let level = plan.levels.len();
        plan.levels.push(JsonLevel {
            path: parsed_path(path)?,
            nested: Vec::new(),
        });
        for item in items {
            let (name, data_type, kind) = match item {
                ast::JsonColumn::Nested { path, columns } => {
                    let nested = self.add_level(path, columns, plan)?;
                    plan.levels[level].nested.push(nested);
                    continue;
                }
                ast::JsonColumn::Ordinality { name } => {
                    let number = IntegerType::new(IntegerWidth::Int, Sign::Signed);
                    (name, DataType::Integer(number), JsonColumnKind::Ordinality)
                }
                ast::JsonColumn::Exists {
                    name,
                    data_type,
                    path,
                } => {
                    let path = parsed_path(path)?;
                    let kind = JsonColumnKind::Exists { path };
                    (name, self.json_type(name, data_type)?, kind)
                }
                ast::JsonColumn::Value {
                    name,
                    data_type,
                    path,
                    on_empty,
                    on_error,
                } => {
                    let kind = JsonColumnKind::Value {
                        path: parsed_path(path)?,
                        on_empty: self.json_answer(on_empty.as_ref())?,
                        on_error: self.json_answer(on_error.as_ref())?,
                    };
                    (name, self.json_type(name, data_type)?, kind)
                }
            };
            plan.columns.push(JsonTableColumn {
                name: name.clone(),
                level,
                data_type,
                kind,
            });
        }
        Ok(level)
    }

    fn json_type(&self, name: &str, spec: &ast::TypeSpec) -> Result<DataType> {
        let settings = &self.planner.session().settings;
        let mut notes = Vec::new();
        let resolved = resolve_with_notes(
            name,
            spec,
            settings.collation_database,
            settings.sql_mode,
            &mut notes,
        );
        for (code, message) in notes {
            self.planner.note(code, message);
        }
        resolved
    }

    fn json_answer(&mut self, response: Option<&ast::JsonResponse>) -> Result<JsonAnswer> {
        Ok(match response {
            None | Some(ast::JsonResponse::Null) => JsonAnswer::Null,
            Some(ast::JsonResponse::Error) => JsonAnswer::Error,
            Some(ast::JsonResponse::Default(literal)) => {
                JsonAnswer::Default(self.bind(literal, BindMode::named(FUNCTION))?)
            }
        })
    }

    /// Binds the documents of JSON_TABLEs, when all tables of an item of FROM are known.
    pub(super) fn bind_documents(&mut self) -> Result<()> {
        for unbound in std::mem::take(&mut self.unbound_documents) {
            let outer_scope = self.on_scope.replace(unbound.scope);
            let bound = self.bind(&unbound.document, BindMode::named(FUNCTION));
            self.on_scope = outer_scope;
            let document = bound?;
            if matches!(document.kind, ExprKind::Row(_)) {
                return Err(Error::new(ER_OPERAND_COLUMNS, &[&1]));
            }
            let mut is_fixed = document.is_stable();
            for_each_slot(&document, &mut |_| is_fixed = false);
            self.tables[unbound.table].source = TableSource::Json(Arc::new(JsonTablePlan {
                document,
                is_fixed,
                ..unbound.columns
            }));
        }
        Ok(())
    }
}

/// Parses a path.
///
/// # Errors
/// 4041, 4042, 4043.
fn parsed_path(path: &str) -> Result<Path> {
    Path::parse(path).map_err(|fault| path_error(fault, 2, FUNCTION))
}
