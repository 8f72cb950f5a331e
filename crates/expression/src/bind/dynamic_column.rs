//! Dynamic columns: COLUMN_CREATE, COLUMN_ADD and COLUMN_GET, which have types among their arguments.

use paceline_syntax::ast::{self, CastType, DynamicType};
use paceline_types::{Charset, Collation};

use super::cast::{cast, cast_target, charset_named};
use super::{bind_expr, call, literal};
use crate::error::Result;
use crate::functions::{StoredType, TargetKind};
use crate::scope::Scope;
use crate::tree::{CastTarget, Expr};

/// Binds COLUMN_CREATE or, with a base, COLUMN_ADD. The arguments of the call are name, value and type of each column,
/// then the base.
pub(super) fn create(
    base: Option<&ast::Expr>,
    columns: &[ast::DynamicColumn],
    scope: &mut dyn Scope,
) -> Result<Expr> {
    let mut args = Vec::with_capacity(3 * columns.len() + 1);
    for column in columns {
        args.push(bind_expr(&column.name, scope)?);
        let value = bind_expr(&column.value, scope)?;
        let stored = match &column.stored_as {
            None | Some(DynamicType::Char { .. }) if is_dynamic(&column.value) => StoredType::Columns,
            None => StoredType::OfValue,
            Some(DynamicType::Signed) => StoredType::Signed,
            Some(DynamicType::Unsigned) => StoredType::Unsigned,
            Some(DynamicType::Double) => StoredType::Double,
            Some(DynamicType::Decimal) => StoredType::Decimal,
            Some(DynamicType::Date) => StoredType::Date,
            Some(DynamicType::Time) => StoredType::Time,
            Some(DynamicType::DateTime) => StoredType::DateTime,
            Some(DynamicType::Char { charset, collation }) => {
                let connection = scope.session().settings.collation_connection;
                StoredType::Text(char_collation(
                    charset.as_deref(),
                    collation.as_deref(),
                    connection,
                )?)
            }
        };
        args.push(value);
        args.push(stored.to_argument());
    }
    let name = match base {
        Some(base) => {
            args.push(bind_expr(base, scope)?);
            "column_add"
        }
        None => "column_create",
    };
    call::make(name, args, scope)
}

fn is_dynamic(value: &ast::Expr) -> bool {
    matches!(value.without_parentheses(), ast::Expr::DynamicColumns { .. })
}

fn char_collation(
    charset: Option<&str>,
    collation: Option<&str>,
    connection: Collation,
) -> Result<Collation> {
    let charset = charset.map(charset_named).transpose()?;
    match collation {
        Some("binary") => Ok(charset.unwrap_or(connection.charset()).bin_collation()),
        Some(name) => {
            let own = Collation::from_name(name).map(Collation::charset);
            literal::collation(name, charset.or(own).unwrap_or(Charset::Utf8mb4))
        }
        None => Ok(charset.map_or(connection, Charset::default_collation)),
    }
}

/// Binds COLUMN_GET: a cast of the value that is stored.
pub(super) fn get(
    columns: &ast::Expr,
    name: &ast::Expr,
    target: &CastType,
    scope: &mut dyn Scope,
) -> Result<Expr> {
    // Errors of the type show the name of the column as it is written.
    let target = match name {
        ast::Expr::Literal(ast::Literal::Text(text)) => {
            let quoted = ast::Expr::Literal(ast::Literal::Text(format!("'{text}'")));
            cast_target(&quoted, target, scope.session())?
        }
        name => cast_target(name, target, scope.session())?,
    };
    let columns = bind_expr(columns, scope)?;
    let name = bind_expr(name, scope)?;
    let kind = match &target {
        CastTarget::Signed => TargetKind::Signed,
        CastTarget::Unsigned => TargetKind::Unsigned,
        CastTarget::Double { .. } | CastTarget::Float => TargetKind::Double,
        CastTarget::Decimal { .. } => TargetKind::Decimal,
        CastTarget::Binary { .. } => TargetKind::Bytes,
        CastTarget::Char { collation, .. } if *collation == Collation::Binary => TargetKind::Bytes,
        CastTarget::Char { .. } | CastTarget::FixedBinary(_) => TargetKind::Text,
        CastTarget::Date | CastTarget::Time { .. } | CastTarget::DateTime { .. } => TargetKind::Temporal,
    };
    let stored = call::make("column_get", vec![columns, name, kind.to_argument()], scope)?;
    cast(stored, target)
}
