//! Names: columns, and variables of users and of the system.

use paceline_types::Collation;
use paceline_types::error_code::ER_BAD_FIELD_ERROR;
use sqlparser::ast;

use crate::error::Result;
use crate::expr::errors;
use crate::expr::expr_type::{Coercibility, ExprType, TypeNote};
use crate::expr::scope::{ColumnName, Scope};
use crate::expr::tree::{Expr, ExprKind};
use crate::session::{SessionContext, VariableScope};

pub(super) fn column_name(parts: &[ast::Ident]) -> Result<ColumnName<'_>> {
    Ok(match parts {
        [column] => ColumnName {
            database: None,
            table: None,
            column: &column.value,
        },
        [table, column] => ColumnName {
            database: None,
            table: Some(&table.value),
            column: &column.value,
        },
        [database, table, column] => ColumnName {
            database: Some(&database.value)
                .filter(|name| !name.is_empty())
                .map(String::as_str),
            table: Some(&table.value),
            column: &column.value,
        },
        _ => return Err(errors::error(ER_BAD_FIELD_ERROR, &[&"", &""])),
    })
}

pub(super) fn identifier(name: &ast::Ident, scope: &mut dyn Scope) -> Result<Expr> {
    if name.quote_style.is_none() {
        if let Some(variable) = name.value.strip_prefix("@@") {
            return system_variable(variable, scope);
        }
        if let Some(variable) = name.value.strip_prefix('@') {
            return Ok(user_variable(variable, scope.session()));
        }
        if name.value == "DEFAULT" {
            return scope.resolve_default(None);
        }
    }
    scope.resolve_column(&ColumnName {
        database: None,
        table: None,
        column: &name.value,
    })
}

pub(super) fn user_variable(name: &str, session: &SessionContext) -> Expr {
    let name = name.to_lowercase().into_boxed_str();
    let ty = match session.user_variables.get(&name) {
        Some(variable) if !variable.ty.is_null() => variable
            .ty
            .clone()
            .nullable()
            .with_coercibility(Coercibility::Implicit),
        _ => ExprType {
            note: TypeNote::Parameter,
            ..ExprType::text(16_777_215, Collation::Binary)
        }
        .nullable(),
    };
    Expr {
        kind: ExprKind::UserVariable(name),
        ty,
    }
}

pub(super) fn system_variable(name: &str, scope: &mut dyn Scope) -> Result<Expr> {
    let lower = name.to_ascii_lowercase();
    let (variable_scope, name) = match lower.split_once('.') {
        Some(("global", name)) => (VariableScope::Global, name),
        Some(("session" | "local", name)) => (VariableScope::Session, name),
        _ => (VariableScope::Default, lower.as_str()),
    };
    let session = scope.session();
    let variable = session.services.variables.get(session, name, variable_scope)?;
    Ok(Expr {
        kind: ExprKind::SystemVariable {
            name: name.into(),
            scope: variable_scope,
        },
        ty: variable.ty,
    })
}
