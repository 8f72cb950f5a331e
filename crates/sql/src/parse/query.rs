//! SELECT, UNION and their like.

use paceline_types::error_code;
use sqlparser::ast::helpers::attached_token::AttachedToken;
use sqlparser::ast::{
    Cte, Distinct, Expr, GroupByExpr, GroupByWithModifier, Ident, LimitClause, LockClause, LockType,
    NonBlock, ObjectName, Offset, OffsetRows, OrderBy, OrderByExpr, OrderByKind, OrderByOptions, OrderBySort,
    Parens, Query, Select, SelectFlavor, SelectItem, SelectItemQualifiedWildcardKind, SelectModifiers,
    SetExpr, SetOperator, SetQuantifier, TableAlias, TableAliasColumnDef, Value, Values,
    WildcardAdditionalOptions, With,
};

use super::lexer::Token;
use super::parser::{Parser, too_deep};
use super::statement::{IntoPlace, QueryStatement, SelectInto};
use super::{GENERATED_NAME, ROW_ID};
use crate::error::{Error, Result};

/// The alias that a select item's text is; `Ident::with_quote` refuses quotes of ours.
fn unwritten_alias(text: impl Into<String>) -> Ident {
    Ident {
        value: text.into(),
        quote_style: Some(GENERATED_NAME),
        span: sqlparser::tokenizer::Span::empty(),
    }
}

/// The most queries of one UNION; they nest in the syntax tree.
const UNIONS_MAX: u32 = 2_048;

/// The most of a statement, wherever they stand: one may be nested in another's first query.
const UNIONS_NESTED_MAX: u32 = 3_000;

/// The most queries that EXCEPT and INTERSECT connect; they nest in the plan, too.
const DIFFERENCES_MAX: u32 = 256;

/// The most tables of one WITH.
const WITH_MAX: usize = 64;

/// The most SELECTs within each other.
const SELECTS_MAX: u32 = 64;

impl Parser<'_> {
    /// A query as a statement, or as the source of INSERT and CREATE TABLE.
    pub(super) fn query_statement(&mut self) -> Result<QueryStatement> {
        let outer_into = self.into.take();
        let outer_wait = self.lock_wait_seconds.take();
        let query = self.query()?;
        Ok(QueryStatement {
            query,
            lock_wait_seconds: std::mem::replace(&mut self.lock_wait_seconds, outer_wait),
            into: std::mem::replace(&mut self.into, outer_into),
            into_place: std::mem::take(&mut self.into_place),
        })
    }

    /// Whether a query in parentheses starts here, however many parentheses there are.
    pub(super) fn is_subquery(&mut self) -> bool {
        self.parentheses_before_subquery() == Some(0)
    }

    /// Number of parentheses at the cursor that belong to an expression whose first operand is a subquery; the subquery's own follow.
    /// `((SELECT 1) + 1)` has one, `((SELECT 1) UNION SELECT 2)` none. `None` when they enclose something else.
    ///
    /// Reads each token ahead once, whatever the number of parentheses.
    pub(super) fn parentheses_before_subquery(&mut self) -> Option<usize> {
        let mut open = 0;
        while self.is_at(open, &Token::LeftParen) {
            open += 1;
        }
        let is_values = open == 1 && self.is_word_at(1, "VALUES") && self.is_at(2, &Token::LeftParen);
        if open == 0 || !(self.is_word_at(open, "SELECT") || self.is_word_at(open, "WITH") || is_values) {
            return None;
        }
        // The query's outermost parenthesis, counted from outside, as far as is known.
        let mut own = open;
        let mut depth = open;
        let mut at = open;
        while own > 1 {
            match self.peek_at(at).token {
                Token::LeftParen => depth += 1,
                Token::RightParen => depth -= 1,
                Token::End | Token::Invalid => return Some(0),
                _ => {}
            }
            at += 1;
            if depth < own {
                if !self.is_at(at, &Token::RightParen) && !self.continues_query_at(at) {
                    return Some(own - 1);
                }
                own -= 1;
            }
        }
        Some(0)
    }

    /// Whether a query in parentheses goes on with the word there; an expression goes on with anything else.
    fn continues_query_at(&mut self, at: usize) -> bool {
        [
            "UNION",
            "EXCEPT",
            "INTERSECT",
            "ORDER",
            "LIMIT",
            "FOR",
            "LOCK",
            "OFFSET",
            "FETCH",
        ]
        .iter()
        .any(|word| self.is_word_at(at, word))
    }

    /// `(query)`
    pub(super) fn subquery(&mut self) -> Result<Query> {
        self.expect(&Token::LeftParen)?;
        let query = self.query()?;
        self.expect(&Token::RightParen)?;
        Ok(query)
    }

    /// A query with everything that may stand behind it.
    pub(super) fn query(&mut self) -> Result<Query> {
        self.deeper(Self::whole_query)
    }

    fn whole_query(&mut self) -> Result<Query> {
        self.query_depth += 1;
        let with = if self.is_word("WITH") {
            Some(self.with()?)
        } else {
            None
        };
        let mut grouped_order = None;
        let body = self.set_expr(SetLevel::Union, &mut grouped_order)?;
        let mut query = plain_query(body);
        query.with = with;
        if self.accept_phrase(&["ORDER", "BY"])? {
            query.order_by = Some(order_by(self.comma_separated(Self::order_by_item)?));
        } else if let Some(items) = grouped_order {
            query.order_by = Some(order_by(items));
        }
        query.limit_clause = self.limit_clause()?;
        if self.is_word("PROCEDURE") {
            return Err(Error::unsupported("PROCEDURE ANALYSE"));
        }
        let is_set_operation = matches!(*query.body, SetExpr::SetOperation { .. });
        let mut at_end = self.accept_into()? || (is_set_operation && self.into.is_some());
        if let Some(lock) = self.lock_clause()? {
            query.locks.push(lock);
            at_end |= self.accept_into()?;
        }
        if at_end && self.query_depth == 1 {
            self.into_place = IntoPlace::AtEnd;
        }
        self.query_depth -= 1;
        Ok(unwrapped(query))
    }

    fn with(&mut self) -> Result<With> {
        self.expect_word("WITH")?;
        let recursive = self.accept_word("RECURSIVE");
        let cte_tables = self.comma_separated(|parser| {
            let name = parser.ident()?;
            let columns = parser.alias_columns()?;
            parser.expect_word("AS")?;
            let query = Box::new(parser.subquery()?);
            if parser.is_word("CYCLE") {
                return Err(Error::unsupported("CYCLE"));
            }
            Ok(Cte {
                alias: TableAlias {
                    explicit: true,
                    name,
                    columns,
                    at: None,
                },
                query,
                from: None,
                materialized: None,
                closing_paren_token: AttachedToken::empty(),
            })
        })?;
        if cte_tables.len() > WITH_MAX {
            return Err(Error::new(
                error_code::ER_TOO_MANY_DEFINITIONS_IN_WITH_CLAUSE,
                &[],
            ));
        }
        Ok(With {
            with_token: AttachedToken::empty(),
            recursive,
            cte_tables,
        })
    }

    pub(super) fn alias_columns(&mut self) -> Result<Vec<TableAliasColumnDef>> {
        if !self.is(&Token::LeftParen) {
            return Ok(Vec::new());
        }
        self.parenthesized(|parser| {
            Ok(TableAliasColumnDef {
                name: parser.ident()?,
                data_type: None,
            })
        })
    }

    /// Queries combined by UNION and EXCEPT, and tighter by INTERSECT.
    fn set_expr(&mut self, level: SetLevel, grouped_order: &mut Option<Vec<OrderByExpr>>) -> Result<SetExpr> {
        let mut left = match level {
            SetLevel::Union => self.set_expr(SetLevel::Intersect, grouped_order)?,
            SetLevel::Intersect => self.query_primary(grouped_order)?,
        };
        let mut chain = 0;
        let mut differences = 0;
        loop {
            let op = match level {
                SetLevel::Union if self.accept_word("UNION") => SetOperator::Union,
                SetLevel::Union if self.accept_word("EXCEPT") => SetOperator::Except,
                SetLevel::Intersect if self.accept_word("INTERSECT") => SetOperator::Intersect,
                _ => return Ok(left),
            };
            *grouped_order = None;
            chain += 1;
            self.set_height += 1;
            differences += u32::from(op != SetOperator::Union);
            if chain > UNIONS_MAX || self.set_height > UNIONS_NESTED_MAX {
                return Err(too_deep(UNIONS_MAX));
            }
            if differences > DIFFERENCES_MAX {
                return Err(too_deep(DIFFERENCES_MAX));
            }
            let set_quantifier = if self.accept_word("ALL") {
                SetQuantifier::All
            } else if self.accept_word("DISTINCT") {
                SetQuantifier::Distinct
            } else {
                SetQuantifier::None
            };
            let mut ignored = None;
            let right = match level {
                SetLevel::Union => self.set_expr(SetLevel::Intersect, &mut ignored)?,
                SetLevel::Intersect => self.query_primary(&mut ignored)?,
            };
            left = SetExpr::SetOperation {
                op,
                set_quantifier,
                left: Box::new(left),
                right: Box::new(right),
            };
        }
    }

    fn query_primary(&mut self, grouped_order: &mut Option<Vec<OrderByExpr>>) -> Result<SetExpr> {
        if self.is(&Token::LeftParen) {
            return Ok(SetExpr::Query(Box::new(self.subquery()?)));
        }
        if self.accept_word("VALUES") {
            let mut explicit_row = false;
            let rows = self.comma_separated(|parser| {
                explicit_row |= parser.accept_word("ROW");
                Ok(Parens::with_empty_span(parser.parenthesized(Self::expr)?))
            })?;
            return Ok(SetExpr::Values(Values {
                explicit_row,
                value_keyword: false,
                rows,
            }));
        }
        self.select(grouped_order)
            .map(|select| SetExpr::Select(Box::new(select)))
    }

    fn select(&mut self, grouped_order: &mut Option<Vec<OrderByExpr>>) -> Result<Select> {
        self.expect_word("SELECT")?;
        if self.select_depth == SELECTS_MAX {
            return Err(Error::new(
                error_code::ER_TOO_HIGH_LEVEL_OF_NESTING_FOR_SELECT,
                &[],
            ));
        }
        self.select_depth += 1;
        let select = self.select_behind_word(grouped_order);
        self.select_depth -= 1;
        select
    }

    fn select_behind_word(&mut self, grouped_order: &mut Option<Vec<OrderByExpr>>) -> Result<Select> {
        let mut select = empty_select();
        self.select_modifiers(&mut select)?;
        select.projection = self.select_items()?;
        self.accept_into()?;
        if self.accept_word("FROM") {
            select.from = self.tables_clause()?;
        }
        if self.accept_word("WHERE") {
            select.selection = Some(self.expr()?);
        }
        if self.accept_phrase(&["GROUP", "BY"])? {
            let items = self.comma_separated(Self::order_by_item)?;
            let rollup = self.accept_words(&["WITH", "ROLLUP"]);
            // GROUP BY a DESC also orders, where no ORDER BY says otherwise.
            if items.iter().any(|item| item.options.sort.is_some()) {
                *grouped_order = Some(items.clone());
            }
            let modifiers = if rollup {
                vec![GroupByWithModifier::Rollup]
            } else {
                Vec::new()
            };
            select.group_by =
                GroupByExpr::Expressions(items.into_iter().map(|item| item.expr).collect(), modifiers);
        }
        if self.accept_word("HAVING") {
            select.having = Some(self.expr()?);
        }
        if self.accept_word("WINDOW") {
            select.named_window = self.comma_separated(Self::named_window)?;
        }
        Ok(select)
    }

    fn select_modifiers(&mut self, select: &mut Select) -> Result<()> {
        let mut modifiers = SelectModifiers {
            high_priority: false,
            straight_join: false,
            sql_small_result: false,
            sql_big_result: false,
            sql_buffer_result: false,
            sql_no_cache: false,
            sql_calc_found_rows: false,
        };
        let mut any = false;
        loop {
            // Most of these are no reserved words: behind them must come what a select item begins with.
            if self.accept_word("DISTINCT") || self.accept_word("DISTINCTROW") {
                select.distinct = Some(Distinct::Distinct);
            } else if self.accept_word("ALL") {
            } else if self.accept_word("HIGH_PRIORITY") {
                modifiers.high_priority = true;
                any = true;
            } else if self.accept_word("STRAIGHT_JOIN") {
                modifiers.straight_join = true;
                any = true;
            } else if self.accept_word("SQL_SMALL_RESULT") {
                modifiers.sql_small_result = true;
                any = true;
            } else if self.accept_word("SQL_BIG_RESULT") {
                modifiers.sql_big_result = true;
                any = true;
            } else if self.accept_word("SQL_BUFFER_RESULT") {
                modifiers.sql_buffer_result = true;
                any = true;
            } else if self.accept_word("SQL_NO_CACHE") || self.accept_word("SQL_CACHE") {
                modifiers.sql_no_cache = true;
                any = true;
            } else if self.accept_word("SQL_CALC_FOUND_ROWS") {
                modifiers.sql_calc_found_rows = true;
                any = true;
            } else {
                break;
            }
        }
        if any {
            select.select_modifiers = Some(modifiers);
        }
        Ok(())
    }

    // Select items -----------------------------------------------------------------------------------------------

    /// The items of SELECT or RETURNING; `*` can only be the first.
    pub(super) fn select_items(&mut self) -> Result<Vec<SelectItem>> {
        let mut items = Vec::new();
        if self.accept(&Token::Star) {
            items.push(SelectItem::Wildcard(WildcardAdditionalOptions::default()));
            if !self.accept(&Token::Comma) {
                return Ok(items);
            }
        }
        items.append(&mut self.comma_separated(Self::select_item)?);
        Ok(items)
    }

    /// An item of SELECT or RETURNING, but `*`.
    pub(super) fn select_item(&mut self) -> Result<SelectItem> {
        if let Some(name) = self.qualified_wildcard()? {
            return Ok(SelectItem::QualifiedWildcard(
                SelectItemQualifiedWildcardKind::ObjectName(name),
                WildcardAdditionalOptions::default(),
            ));
        }
        let start = self.position();
        let expr = self.expr()?;
        let end = self.previous_end();
        if let Some(alias) = self.select_alias()? {
            return Ok(SelectItem::ExprWithAlias { expr, alias });
        }
        Ok(match generated_name(&expr) {
            ItemName::Column => SelectItem::UnnamedExpr(expr),
            ItemName::Fixed(name) => SelectItem::ExprWithAlias {
                expr,
                alias: unwritten_alias(name),
            },
            ItemName::Text => {
                let name = self.executed_text(start..end).trim_start().to_owned();
                SelectItem::ExprWithAlias {
                    expr,
                    alias: unwritten_alias(name),
                }
            }
        })
    }

    /// `t.*`, `db.t.*`
    fn qualified_wildcard(&mut self) -> Result<Option<ObjectName>> {
        if !self.is_identifier() || !self.is_at(1, &Token::Dot) {
            return Ok(None);
        }
        let parts = if self.is_at(2, &Token::Star) {
            1
        } else if self.is_at(3, &Token::Dot) && self.is_at(4, &Token::Star) {
            2
        } else {
            return Ok(None);
        };
        let mut name = vec![self.ident()?];
        self.advance();
        if parts == 2 {
            name.push(self.ident_after_dot()?);
            self.advance();
        }
        self.advance();
        Ok(Some(ObjectName::from(name)))
    }

    fn select_alias(&mut self) -> Result<Option<Ident>> {
        let explicit = self.accept_word("AS");
        if matches!(self.peek(), Token::Text(_)) {
            return Ok(Some(Ident::with_quote('\'', self.text()?)));
        }
        if explicit || (self.is_identifier() && !self.is_word("SOUNDS")) {
            return Ok(Some(self.ident()?));
        }
        Ok(None)
    }

    /// `INTO …` of the outermost query.
    fn accept_into(&mut self) -> Result<bool> {
        if !self.is_word("INTO") || self.query_depth > 1 || self.into.is_some() {
            return Ok(false);
        }
        self.advance();
        self.into = Some(if self.accept_word("OUTFILE") {
            let path = self.text()?;
            let format = Box::new(self.file_format()?);
            SelectInto::Outfile { path, format }
        } else if self.accept_word("DUMPFILE") {
            SelectInto::Dumpfile(self.text()?)
        } else {
            SelectInto::Variables(self.comma_separated(|parser| match parser.peek() {
                Token::UserVariable(name) => {
                    let name = name.clone();
                    parser.advance();
                    Ok(name)
                }
                _ => Err(parser.error()),
            })?)
        });
        Ok(true)
    }

    // ORDER BY, LIMIT, locks -------------------------------------------------------------------------------------

    /// `expr [ASC | DESC]`
    pub(super) fn order_by_item(&mut self) -> Result<OrderByExpr> {
        let expr = self.expr()?;
        let sort = if self.accept_word("ASC") {
            Some(OrderBySort::Asc)
        } else if self.accept_word("DESC") {
            Some(OrderBySort::Desc)
        } else {
            None
        };
        Ok(OrderByExpr {
            expr,
            options: OrderByOptions {
                sort,
                nulls_first: None,
            },
            with_fill: None,
        })
    }

    fn limit_clause(&mut self) -> Result<Option<LimitClause>> {
        if self.accept_word("LIMIT") {
            if self.is_word("ROWS") {
                return Err(Error::unsupported("LIMIT ROWS EXAMINED"));
            }
            let first = self.limit_value()?;
            let clause = if self.accept(&Token::Comma) {
                LimitClause::OffsetCommaLimit {
                    offset: first,
                    limit: self.limit_value()?,
                }
            } else if self.accept_word("OFFSET") {
                let value = self.limit_value()?;
                LimitClause::LimitOffset {
                    limit: Some(first),
                    offset: Some(Offset {
                        value,
                        rows: OffsetRows::None,
                    }),
                    limit_by: Vec::new(),
                }
            } else {
                LimitClause::LimitOffset {
                    limit: Some(first),
                    offset: None,
                    limit_by: Vec::new(),
                }
            };
            if self.is_word("ROWS") {
                return Err(Error::unsupported("LIMIT ROWS EXAMINED"));
            }
            return Ok(Some(clause));
        }
        // The standard's OFFSET … FETCH.
        let mut offset = None;
        if self.accept_word("OFFSET") {
            let value = self.limit_value()?;
            if self.accept_any_word(&["ROW", "ROWS"]).is_none() {
                return Err(self.error());
            }
            offset = Some(Offset {
                value,
                rows: OffsetRows::None,
            });
        }
        if self.accept_word("FETCH") {
            if self.accept_any_word(&["FIRST", "NEXT"]).is_none() {
                return Err(self.error());
            }
            let limit = if self.is_any_word(&["ROW", "ROWS"]) {
                super::expression::value(Value::Number("1".to_owned(), false))
            } else {
                self.limit_value()?
            };
            if self.accept_any_word(&["ROW", "ROWS"]).is_none() {
                return Err(self.error());
            }
            if self.is_word("WITH") {
                return Err(Error::unsupported("FETCH … WITH TIES"));
            }
            self.expect_word("ONLY")?;
            return Ok(Some(LimitClause::LimitOffset {
                limit: Some(limit),
                offset,
                limit_by: Vec::new(),
            }));
        }
        Ok(offset.map(|offset| LimitClause::LimitOffset {
            limit: None,
            offset: Some(offset),
            limit_by: Vec::new(),
        }))
    }

    /// A number or `?`.
    pub(super) fn limit_value(&mut self) -> Result<Expr> {
        match self.peek() {
            Token::Integer | Token::Hex(_) | Token::Parameter => self.operand(),
            Token::Word { reserved: false } | Token::Quoted(_) => {
                // A variable of a stored program, of which there are none.
                let name = self.identifier()?;
                Err(Error::new(error_code::ER_SP_UNDECLARED_VAR, &[&name]))
            }
            _ => Err(self.error()),
        }
    }

    fn lock_clause(&mut self) -> Result<Option<LockClause>> {
        let lock_type = if self.accept_phrase(&["FOR", "UPDATE"])? {
            LockType::Update
        } else if self.accept_phrase(&["LOCK", "IN", "SHARE", "MODE"])? {
            LockType::Share
        } else {
            return Ok(None);
        };
        let mut nonblock = None;
        if self.accept_word("NOWAIT") {
            nonblock = Some(NonBlock::Nowait);
        } else if self.accept_words(&["SKIP", "LOCKED"]) {
            nonblock = Some(NonBlock::SkipLocked);
        } else if self.accept_word("WAIT") {
            self.lock_wait_seconds = Some(self.number()?);
        }
        Ok(Some(LockClause {
            lock_type,
            of: None,
            nonblock,
        }))
    }
}

#[derive(Clone, Copy)]
enum SetLevel {
    Union,
    Intersect,
}

/// How a select item without an alias is named.
enum ItemName {
    /// As its column.
    Column,
    /// By this.
    Fixed(String),
    /// By its text.
    Text,
}

fn generated_name(expr: &Expr) -> ItemName {
    match expr {
        // Parentheses do not matter around a literal or a column.
        Expr::Nested(inner) => match generated_name(inner) {
            ItemName::Text if !matches!(**inner, Expr::Value(_)) => ItemName::Text,
            ItemName::Text => ItemName::Fixed(literal_text(inner)),
            other => other,
        },
        Expr::Identifier(name) if name.quote_style.is_none() && name.value.starts_with('@') => ItemName::Text,
        Expr::Identifier(name) if name.value.eq_ignore_ascii_case(ROW_ID) => {
            ItemName::Fixed(name.value.clone())
        }
        Expr::CompoundIdentifier(names)
            if names
                .last()
                .is_some_and(|name| name.value.eq_ignore_ascii_case(ROW_ID)) =>
        {
            ItemName::Fixed(names.last().map(|name| name.value.clone()).unwrap_or_default())
        }
        Expr::Identifier(_) | Expr::CompoundIdentifier(_) => ItemName::Column,
        Expr::Value(value) => match &value.value {
            Value::SingleQuotedString(text) => ItemName::Fixed(text.trim_start().to_owned()),
            Value::Null => ItemName::Fixed("NULL".to_owned()),
            Value::Boolean(true) => ItemName::Fixed("TRUE".to_owned()),
            Value::Boolean(false) => ItemName::Fixed("FALSE".to_owned()),
            Value::Placeholder(_) => ItemName::Fixed("?".to_owned()),
            _ => ItemName::Text,
        },
        Expr::Prefixed { value, .. } => match &**value {
            Expr::Value(value) => match &value.value {
                Value::SingleQuotedString(text) => ItemName::Fixed(text.trim_start().to_owned()),
                _ => ItemName::Text,
            },
            _ => ItemName::Text,
        },
        _ => ItemName::Text,
    }
}

/// The text of a number or a string of digits, for its name.
fn literal_text(expr: &Expr) -> String {
    match expr {
        Expr::Value(value) => match &value.value {
            Value::HexStringLiteral(digits) => format!("x'{digits}'"),
            Value::SingleQuotedByteStringLiteral(digits) => format!("b'{digits}'"),
            other => other.to_string(),
        },
        other => other.to_string(),
    }
}

fn order_by(items: Vec<OrderByExpr>) -> OrderBy {
    OrderBy {
        kind: OrderByKind::Expressions(items),
        interpolate: None,
    }
}

fn plain_query(body: SetExpr) -> Query {
    Query {
        with: None,
        body: Box::new(body),
        order_by: None,
        limit_clause: None,
        fetch: None,
        locks: Vec::new(),
        for_clause: None,
        settings: None,
        format_clause: None,
        pipe_operators: Vec::new(),
    }
}

/// Parentheses around the whole of a query mean nothing.
fn unwrapped(query: Query) -> Query {
    let bare = query.with.is_none()
        && query.order_by.is_none()
        && query.limit_clause.is_none()
        && query.locks.is_empty();
    if bare && matches!(*query.body, SetExpr::Query(_)) {
        let SetExpr::Query(inner) = *query.body else {
            unreachable!("checked in the line above")
        };
        return *inner;
    }
    query
}

fn empty_select() -> Select {
    Select {
        select_token: AttachedToken::empty(),
        optimizer_hints: Vec::new(),
        distinct: None,
        select_modifiers: None,
        top: None,
        top_before_distinct: false,
        projection: Vec::new(),
        exclude: None,
        into: None,
        from: Vec::new(),
        lateral_views: Vec::new(),
        prewhere: None,
        selection: None,
        connect_by: Vec::new(),
        group_by: GroupByExpr::Expressions(Vec::new(), Vec::new()),
        cluster_by: Vec::new(),
        distribute_by: Vec::new(),
        sort_by: Vec::new(),
        having: None,
        named_window: Vec::new(),
        qualify: None,
        window_before_qualify: false,
        value_table_mode: None,
        flavor: SelectFlavor::Standard,
    }
}
