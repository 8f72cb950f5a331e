//! `EXISTS (SELECT * FROM …)`: as in MariaDB (`setup_wild`), `*` becomes `1`. It follows that the `*` needs
//! no table, that HAVING finds no column through it, and that an index with the columns of the conditions is
//! covering.

use std::borrow::Cow;

use paceline_syntax::ast::{Expr, Query, QueryBody, SelectItem};

/// Returns the query of an EXISTS with `1` in place of `*` and `t.*`.
pub(super) fn without_columns(query: &Query) -> Cow<'_, Query> {
    if !has_wildcard(&query.body) {
        return Cow::Borrowed(query);
    }
    let mut query = query.clone();
    replace_wildcards(&mut query.body);
    Cow::Owned(query)
}

fn has_wildcard(body: &QueryBody) -> bool {
    match body {
        QueryBody::Select(select) => select.items.iter().any(SelectItem::is_wildcard),
        QueryBody::SetOperation { left, right, .. } => has_wildcard(left) || has_wildcard(right),
        QueryBody::Query(query) => has_wildcard(&query.body),
        QueryBody::Values(_) => false,
    }
}

fn replace_wildcards(body: &mut QueryBody) {
    match body {
        QueryBody::Select(select) => {
            for item in select.items.iter_mut().filter(|item| item.is_wildcard()) {
                *item = SelectItem::unnamed(Expr::number("1"));
            }
        }
        QueryBody::SetOperation { left, right, .. } => {
            replace_wildcards(left);
            replace_wildcards(right);
        }
        QueryBody::Query(query) => replace_wildcards(&mut query.body),
        QueryBody::Values(_) => {}
    }
}
