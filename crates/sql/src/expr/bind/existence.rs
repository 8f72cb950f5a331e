//! `EXISTS (SELECT * FROM …)`: a `*` there is `1`, as in MariaDB (`setup_wild`), with what follows from that: it needs no table, HAVING finds no
//! column by it, and an index that holds what the conditions read answers alone.

use std::borrow::Cow;

use sqlparser::ast::{Expr, Query, SelectItem, SetExpr, Value};

/// Returns the query of an EXISTS with `1` in place of `*` and `t.*`.
pub(super) fn without_columns(query: &Query) -> Cow<'_, Query> {
    if !has_wildcard(&query.body) {
        return Cow::Borrowed(query);
    }
    let mut query = query.clone();
    replace_wildcards(&mut query.body);
    Cow::Owned(query)
}

fn is_wildcard(item: &SelectItem) -> bool {
    matches!(item, SelectItem::Wildcard(_) | SelectItem::QualifiedWildcard(..))
}

fn has_wildcard(body: &SetExpr) -> bool {
    match body {
        SetExpr::Select(select) => select.projection.iter().any(is_wildcard),
        SetExpr::SetOperation { left, right, .. } => has_wildcard(left) || has_wildcard(right),
        SetExpr::Query(query) => has_wildcard(&query.body),
        _ => false,
    }
}

fn replace_wildcards(body: &mut SetExpr) {
    match body {
        SetExpr::Select(select) => {
            for item in select.projection.iter_mut().filter(|item| is_wildcard(item)) {
                let one = Value::Number("1".to_owned(), false);
                *item = SelectItem::UnnamedExpr(Expr::Value(one.into()));
            }
        }
        SetExpr::SetOperation { left, right, .. } => {
            replace_wildcards(left);
            replace_wildcards(right);
        }
        SetExpr::Query(query) => replace_wildcards(&mut query.body),
        _ => {}
    }
}
