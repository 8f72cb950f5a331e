//! User variables and system variables.

use paceline_types::{BlobSize, Collation, DataType, Value};

use crate::error::Result;
use crate::eval::convert::class_of;
use crate::expr_type::{Class, Coercibility, ExprType, TypeNote};
use crate::scope::{Dependence, Scope};
use crate::session::{SessionContext, UserVariable, VariableScope};
use crate::tree::{Expr, ExprKind};

pub(super) fn user_variable(name: &str, session: &SessionContext) -> Expr {
    let name = name.to_lowercase().into_boxed_str();
    let ty = match session.user_variables.get(&name) {
        Some(variable) if !variable.ty.is_null() => in_variable(variable, session)
            .nullable()
            .with_coercibility(Coercibility::Implicit),
        _ => ExprType {
            note: TypeNote::Parameter,
            ..long_text(Collation::Binary)
        }
        .nullable(),
    };
    Expr {
        kind: ExprKind::UserVariable(name),
        ty,
    }
}

/// Returns the type of a user variable. It is the widest of its class: the next assignment may be of a longer value.
fn in_variable(variable: &UserVariable, session: &SessionContext) -> ExprType {
    let UserVariable { value, ty } = variable;
    // A parameter's type is that of its value.
    let class = match ty.is_parameter() {
        true => class_of(value),
        false => ty.class(),
    };
    match class {
        Class::Int if ty.is_unsigned() || matches!(value, Value::UInt(_)) => ExprType::bigint_unsigned(20),
        Class::Int => ExprType::bigint(20),
        Class::Double => ExprType::double(),
        Class::Decimal => ExprType::decimal(65, 38),
        Class::Null => ExprType {
            note: TypeNote::Parameter,
            ..long_text(Collation::Binary)
        },
        _ => ExprType {
            note: TypeNote::UserVariable,
            ..long_text(match value {
                Value::Text(_) if ty.is_parameter() => session.settings.collation_connection,
                _ => ty.collation(),
            })
        },
    }
}

/// Returns LONGTEXT or LONGBLOB.
fn long_text(collation: Collation) -> ExprType {
    ExprType::new(match collation {
        Collation::Binary => DataType::Blob { size: BlobSize::Long },
        collation => DataType::Text {
            size: BlobSize::Long,
            collation,
        },
    })
}

pub(super) fn system_variable(
    variable_scope: VariableScope,
    name: &str,
    scope: &mut dyn Scope,
) -> Result<Expr> {
    let name = name.to_ascii_lowercase();
    let session = scope.session();
    let variable = session.services.variables.get(session, &name, variable_scope)?;
    scope.depend_on(Dependence::SystemVariable(&name));
    Ok(Expr {
        kind: ExprKind::SystemVariable {
            name: name.into(),
            scope: variable_scope,
        },
        ty: variable.ty.nullable(),
    })
}
