//! CREATE and DROP of loadable functions.
//!
//! A statement changes only the catalog. The server looks at the library before it executes a client's statement; a
//! replay does not, because the definition was valid where it was executed first.

use paceline_expression::is_native_function;
use paceline_expression::session::SessionContext;
use paceline_syntax::ast::visit::any_expr;
use paceline_syntax::ast::{Expr, FunctionCall};
use paceline_syntax::definition::CreateLoadableFunction;
use paceline_types::error_code::*;

use super::plan::Planner;
use super::routine::NAME_LENGTH_MAX;
use crate::error::{Error, Result};
use crate::{Catalog, CatalogChange, LoadableFunction};

/// Checks what a statement says about a new function. The library is looked at only if this succeeds.
///
/// # Errors
/// 1585, 1124, 1059; 1125 if there is such a function.
pub fn check_loadable_function(create: &CreateLoadableFunction, catalog: &Catalog) -> Result<()> {
    let name = &create.name;
    if is_native_function(&FunctionCall::new(name.as_str(), Vec::new())) {
        return Err(Error::new(ER_NATIVE_FCT_NAME_COLLISION, &[name]));
    }
    if create.library.contains('/') {
        return Err(Error::new(ER_UDF_NO_PATHS, &[]));
    }
    if name.chars().count() > NAME_LENGTH_MAX {
        return Err(Error::new(ER_TOO_LONG_IDENT, &[name]));
    }
    match catalog.loadable_function(name).is_some() && !create.or_replace {
        true => Err(Error::new(ER_UDF_EXISTS, &[name])),
        false => Ok(()),
    }
}

impl Planner<'_> {
    pub(super) fn create_loadable_function(&mut self, create: &CreateLoadableFunction) -> Result<()> {
        if let Err(error) = check_loadable_function(create, &self.catalog) {
            return match error.code() {
                ER_UDF_EXISTS => self.note_or_fail(create.if_not_exists.into(), error),
                _ => Err(error),
            };
        }
        let function = LoadableFunction::of(create);
        self.change(CatalogChange::PutLoadableFunction(Box::new(function)))
    }

    pub(super) fn drop_loadable_function(&mut self, name: &str) -> Result<()> {
        self.change(CatalogChange::DropLoadableFunction(name.to_owned()))
    }
}

/// Refuses loadable functions in a stored expression: a replay and a replica have only the definition, and may have to
/// compute its values. MariaDB allows them in DEFAULT and in columns that are computed when they are read.
///
/// # Errors
/// 1901.
pub(super) fn refuse_loadable(
    expr: &Expr,
    clause: &str,
    owner: &str,
    session: &SessionContext,
) -> Result<()> {
    let mut refused = None;
    any_expr(expr, &mut |part| {
        if let Expr::Call(call) = part
            && call.database.is_none()
            && !is_native_function(call)
            // One whose code is not found exists as well.
            && !matches!(session.services.functions.loadable_function(&call.name), Ok(None))
        {
            refused = Some(format!("{}()", call.name.to_lowercase()));
        }
        refused.is_some()
    });
    match refused {
        None => Ok(()),
        Some(name) => Err(Error::new(
            ER_GENERATED_COLUMN_FUNCTION_IS_NOT_ALLOWED,
            &[&name, &clause, &owner],
        )),
    }
}
