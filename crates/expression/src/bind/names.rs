//! User variables and system variables.

use paceline_types::{Collation, DataType, FloatType};

use crate::error::Result;
use crate::expr_type::{Coercibility, ExprType, TypeNote};
use crate::scope::{Dependence, Scope};
use crate::session::{SessionContext, VariableScope};
use crate::tree::{Expr, ExprKind};

pub(super) fn user_variable(name: &str, session: &SessionContext) -> Expr {
    let name = name.to_lowercase().into_boxed_str();
    let ty = match session.user_variables.get(&name) {
        Some(variable) if !variable.ty.is_null() => in_variable(&variable.ty)
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

/// Returns the type of a user variable after an assignment of this type: integers lose their display widths, FLOAT and
/// DOUBLE their fixed decimals.
fn in_variable(ty: &ExprType) -> ExprType {
    match (&ty.data_type, ty.is_unsigned()) {
        (DataType::Integer(_) | DataType::Year, false) => ExprType::bigint(20),
        (DataType::Integer(_), true) => ExprType::bigint_unsigned(20),
        (DataType::Double(_), _) => ExprType::double().with_nullable(ty.nullable),
        (DataType::Float(_), _) => {
            ExprType::new(DataType::Float(FloatType::default())).with_nullable(ty.nullable)
        }
        _ => ty.clone(),
    }
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
