//! SELECT, UNION and the other set operations.

use paceline_types::error_code;

use super::parser::{Parser, too_deep};
use crate::ast::{
    CommonTable, Expr, ItemName, Limit, Literal, LockStrength, LockWait, OrderItem, Query, QueryBody, ROW_ID,
    RowLocking, Select, SelectItem, SetOperator, SortOrder, TableName, Ties, UnaryOp, With,
};
use crate::error::{Error, Result};
use crate::lexer::Token;
use crate::statement::{QueryStatement, SelectInto};

/// Maximum number of queries in one UNION. They nest in the syntax tree.
const UNIONS_MAX: u32 = 2_048;

/// Maximum number of UNIONs in a statement, wherever they stand: one may be nested in the first query of
/// another.
const UNIONS_NESTED_MAX: u32 = 3_000;

/// Maximum number of queries that EXCEPT and INTERSECT connect. They nest in the plan too.
const DIFFERENCES_MAX: u32 = 256;

/// Maximum number of tables in one WITH.
const WITH_MAX: usize = 64;

/// Maximum depth of nested SELECTs.
const SELECTS_MAX: u32 = 64;

impl Parser<'_> {
    /// Parses a query that is a statement, or the source of INSERT or CREATE TABLE.
    pub(super) fn query_statement(&mut self) -> Result<QueryStatement> {
        let outer_into = self.into.take();
        let query = self.query()?;
        Ok(QueryStatement {
            query,
            into: std::mem::replace(&mut self.into, outer_into),
        })
    }

    /// Returns whether a query in parentheses starts here, whatever the number of parentheses.
    pub(super) fn is_subquery(&mut self) -> bool {
        self.parentheses_before_subquery() == Some(0)
    }

    /// Returns the number of parentheses at the cursor that belong to an expression whose first operand is a
    /// subquery. The subquery's own parentheses follow. `((SELECT 1) + 1)` has one, `((SELECT 1) UNION SELECT
    /// 2)` none. `None` when the parentheses enclose something else.
    ///
    /// Looks at each token only once, whatever the number of parentheses.
    pub(super) fn parentheses_before_subquery(&mut self) -> Option<usize> {
        let mut open = 0;
        while self.is_at(open, &Token::LeftParen) {
            open += 1;
        }
        let is_values = open == 1 && self.is_word_at(1, "VALUES") && self.is_at(2, &Token::LeftParen);
        if open == 0 || !(self.is_word_at(open, "SELECT") || self.is_word_at(open, "WITH") || is_values) {
            return None;
        }
        // The outermost parenthesis known to belong to the query, counted from outside.
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

    /// Returns whether the word at `at` continues a query in parentheses. Any other word continues an
    /// expression.
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

    /// Parses `(query)`.
    pub(super) fn subquery(&mut self) -> Result<Query> {
        self.expect_token(&Token::LeftParen)?;
        let query = self.query()?;
        self.expect_token(&Token::RightParen)?;
        Ok(query)
    }

    /// Parses a query with all its clauses.
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
        let mut query = Query {
            with,
            ..Query::of_body(body)
        };
        if self.accept_phrase(&["ORDER", "BY"])? {
            query.order_by = self.comma_separated(Self::order_by_item)?;
        } else if let Some(items) = grouped_order {
            query.order_by = items;
        }
        query.limit = self.limit_clause()?;
        let keeps_ties = (query.limit.as_ref()).is_some_and(|limit| limit.ties == Ties::Kept);
        if keeps_ties && query.order_by.is_empty() {
            return Err(Error::new(error_code::ER_WITH_TIES_NEEDS_ORDER, &[]));
        }
        if self.is_word("PROCEDURE") {
            return Err(Error::unsupported("PROCEDURE ANALYSE"));
        }
        let is_set_operation = matches!(query.body, QueryBody::SetOperation { .. });
        let mut at_end = self.accept_into()? || (is_set_operation && self.into.is_some());
        query.lock = self.lock_clause()?;
        if query.lock.is_some() {
            at_end |= self.accept_into()?;
        }
        if at_end && self.query_depth == 1 {
            self.late_intos += 1;
        }
        self.query_depth -= 1;
        Ok(unwrapped(query))
    }

    fn with(&mut self) -> Result<With> {
        self.expect_word("WITH")?;
        let recursive = self.accept_word("RECURSIVE");
        let tables = self.comma_separated(|parser| {
            let name = parser.identifier()?;
            let columns = parser.column_names()?;
            parser.expect_word("AS")?;
            let query = parser.subquery()?;
            let mut cycle = Vec::new();
            if recursive && parser.accept_word("CYCLE") {
                cycle = parser.comma_separated(Self::identifier)?;
                parser.expect_word("RESTRICT")?;
            }
            Ok(CommonTable {
                name,
                columns,
                query,
                cycle,
            })
        })?;
        if tables.len() > WITH_MAX {
            return Err(Error::new(
                error_code::ER_TOO_MANY_DEFINITIONS_IN_WITH_CLAUSE,
                &[],
            ));
        }
        Ok(With { recursive, tables })
    }

    /// Parses queries combined by UNION and EXCEPT, and by INTERSECT, which binds tighter.
    fn set_expr(&mut self, level: SetLevel, grouped_order: &mut Option<Vec<OrderItem>>) -> Result<QueryBody> {
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
            let all = self.accept_word("ALL");
            if !all {
                self.accept_word("DISTINCT");
            }
            let mut ignored = None;
            let right = match level {
                SetLevel::Union => self.set_expr(SetLevel::Intersect, &mut ignored)?,
                SetLevel::Intersect => self.query_primary(&mut ignored)?,
            };
            left = QueryBody::SetOperation {
                op,
                all,
                left: Box::new(left),
                right: Box::new(right),
            };
        }
    }

    fn query_primary(&mut self, grouped_order: &mut Option<Vec<OrderItem>>) -> Result<QueryBody> {
        if self.is(&Token::LeftParen) {
            return Ok(QueryBody::Query(Box::new(self.subquery()?)));
        }
        if self.accept_word("VALUES") {
            return Ok(QueryBody::Values(self.comma_separated(|parser| {
                parser.accept_word("ROW");
                parser.parenthesized(Self::expr)
            })?));
        }
        self.select(grouped_order)
            .map(|select| QueryBody::Select(Box::new(select)))
    }

    fn select(&mut self, grouped_order: &mut Option<Vec<OrderItem>>) -> Result<Select> {
        self.expect_word("SELECT")?;
        if self.select_depth == SELECTS_MAX {
            return Err(Error::new(
                error_code::ER_TOO_HIGH_LEVEL_OF_NESTING_FOR_SELECT,
                &[],
            ));
        }
        self.select_depth += 1;
        let select = self.select_after_word(grouped_order);
        self.select_depth -= 1;
        select
    }

    fn select_after_word(&mut self, grouped_order: &mut Option<Vec<OrderItem>>) -> Result<Select> {
        let mut select = Select::default();
        self.select_modifiers(&mut select)?;
        select.items = self.select_items()?;
        self.accept_into()?;
        if self.accept_word("FROM") {
            select.from = self.tables_clause()?;
        }
        if self.accept_word("WHERE") {
            select.condition = Some(self.expr()?);
        }
        if self.accept_phrase(&["GROUP", "BY"])? {
            let mut is_ordered = false;
            let items = self.comma_separated(|parser| {
                let expr = parser.expr()?;
                let order = parser.sort_order();
                is_ordered |= order.is_some();
                Ok(OrderItem {
                    expr,
                    order: order.unwrap_or_default(),
                })
            })?;
            if self.accept_words(&["WITH", "CUBE"]) {
                return Err(Error::unsupported("CUBE"));
            }
            // GROUP BY a DESC also sorts, if there is no ORDER BY.
            if self.accept_words(&["WITH", "ROLLUP"]) {
                select.rollup = Some(items.iter().map(|item| item.order).collect());
            } else if is_ordered {
                *grouped_order = Some(items.clone());
            }
            select.group_by = items.into_iter().map(|item| item.expr).collect();
        }
        if self.accept_word("HAVING") {
            select.having = Some(self.expr()?);
        }
        if self.accept_word("WINDOW") {
            select.windows = self.comma_separated(Self::named_window)?;
        }
        Ok(select)
    }

    fn select_modifiers(&mut self, select: &mut Select) -> Result<()> {
        let modifiers = &mut select.modifiers;
        loop {
            // Most of these words are not reserved. They count only if a select item can follow.
            if self.accept_word("DISTINCT") || self.accept_word("DISTINCTROW") {
                select.distinct = true;
            } else if self.accept_word("ALL") {
            } else if self.accept_word("HIGH_PRIORITY") {
                modifiers.high_priority = true;
            } else if self.accept_word("STRAIGHT_JOIN") {
                modifiers.straight_join = true;
            } else if self.accept_word("SQL_SMALL_RESULT") {
                modifiers.sql_small_result = true;
            } else if self.accept_word("SQL_BIG_RESULT") {
                modifiers.sql_big_result = true;
            } else if self.accept_word("SQL_BUFFER_RESULT") {
                modifiers.sql_buffer_result = true;
            } else if self.accept_word("SQL_NO_CACHE") || self.accept_word("SQL_CACHE") {
                modifiers.sql_no_cache = true;
            } else if self.accept_word("SQL_CALC_FOUND_ROWS") {
                modifiers.sql_calc_found_rows = true;
            } else {
                break;
            }
        }
        Ok(())
    }

    // Select items -----------------------------------------------------------------------------------------------

    /// Parses the items of SELECT or RETURNING. `*` can only be the first one.
    pub(super) fn select_items(&mut self) -> Result<Vec<SelectItem>> {
        let mut items = Vec::new();
        if self.accept(&Token::Star) {
            items.push(SelectItem::Wildcard);
            if !self.accept(&Token::Comma) {
                return Ok(items);
            }
        }
        items.append(&mut self.comma_separated(Self::select_item)?);
        Ok(items)
    }

    /// Parses an item of SELECT or RETURNING other than `*`.
    pub(super) fn select_item(&mut self) -> Result<SelectItem> {
        if let Some(name) = self.qualified_wildcard()? {
            return Ok(SelectItem::TableWildcard(name));
        }
        let start = self.position();
        let expr = self.expr()?;
        let end = self.previous_end();
        let name = match self.select_alias()? {
            Some(alias) => ItemName::Alias(alias),
            // The text of a program's variable is its name.
            None if self.program.is_some() && matches!(expr, Expr::Parameter(_)) => {
                ItemName::Text(self.slice(start..end))
            }
            None => generated_name(&expr).unwrap_or_else(|| {
                let text = self.executed_text(start..end);
                ItemName::Text(without_leading_space(&text))
            }),
        };
        Ok(SelectItem::Expr { expr, name })
    }

    /// Parses `t.*` or `db.t.*`.
    fn qualified_wildcard(&mut self) -> Result<Option<TableName>> {
        if !self.is_identifier() || !self.is_at(1, &Token::Dot) {
            return Ok(None);
        }
        let has_database = self.is_at(3, &Token::Dot) && self.is_at(4, &Token::Star);
        if !has_database && !self.is_at(2, &Token::Star) {
            return Ok(None);
        }
        let first = self.identifier()?;
        self.advance();
        let name = if has_database {
            let name = TableName::qualified(first, self.identifier_after_dot()?);
            self.advance();
            name
        } else {
            TableName::new(first)
        };
        self.advance();
        Ok(Some(name))
    }

    pub(super) fn select_alias(&mut self) -> Result<Option<String>> {
        let explicit = self.accept_word("AS");
        if matches!(self.peek(), Token::Text(_)) {
            return self.text().map(Some);
        }
        if explicit || (self.is_identifier() && !self.is_word("SOUNDS")) {
            return self.identifier().map(Some);
        }
        Ok(None)
    }

    /// Takes `INTO …` of the outermost query.
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
            SelectInto::Variables(self.comma_separated(Self::target)?)
        });
        Ok(true)
    }

    // ORDER BY, LIMIT, locks -------------------------------------------------------------------------------------

    /// Parses `expr [ASC | DESC]`.
    pub(super) fn order_by_item(&mut self) -> Result<OrderItem> {
        let expr = self.expr()?;
        let order = self.sort_order().unwrap_or_default();
        Ok(OrderItem { expr, order })
    }

    /// Takes `ASC` or `DESC`.
    fn sort_order(&mut self) -> Option<SortOrder> {
        let word = self.accept_any_word(&["ASC", "DESC"])?;
        Some(if word == "ASC" {
            SortOrder::Ascending
        } else {
            SortOrder::Descending
        })
    }

    pub(super) fn limit_clause(&mut self) -> Result<Option<Limit>> {
        if self.accept_word("LIMIT") {
            if self.is_word("ROWS") {
                return Err(Error::unsupported("LIMIT ROWS EXAMINED"));
            }
            let first = self.limit_value()?;
            let (offset, count) = if self.accept(&Token::Comma) {
                (Some(first), self.limit_value()?)
            } else if self.accept_word("OFFSET") {
                (Some(self.limit_value()?), first)
            } else {
                (None, first)
            };
            if self.is_word("ROWS") {
                return Err(Error::unsupported("LIMIT ROWS EXAMINED"));
            }
            return Ok(Some(Limit {
                offset,
                count: Some(count),
                ties: Ties::Cut,
            }));
        }
        // OFFSET … FETCH of the SQL standard.
        let mut offset = None;
        if self.accept_word("OFFSET") {
            offset = Some(self.limit_value()?);
            if self.accept_any_word(&["ROW", "ROWS"]).is_none() {
                return Err(self.error());
            }
        }
        let mut count = None;
        let mut ties = Ties::Cut;
        if self.accept_word("FETCH") {
            if self.accept_any_word(&["FIRST", "NEXT"]).is_none() {
                return Err(self.error());
            }
            count = Some(if self.is_any_word(&["ROW", "ROWS"]) {
                Expr::number("1")
            } else {
                self.limit_value()?
            });
            if self.accept_any_word(&["ROW", "ROWS"]).is_none() {
                return Err(self.error());
            }
            if self.accept_words(&["WITH", "TIES"]) {
                ties = Ties::Kept;
            } else {
                self.expect_word("ONLY")?;
            }
        }
        let is_absent = offset.is_none() && count.is_none();
        Ok((!is_absent).then_some(Limit { offset, count, ties }))
    }

    /// Parses a number or `?`.
    pub(super) fn limit_value(&mut self) -> Result<Expr> {
        match self.peek() {
            Token::Integer | Token::Hex(_) | Token::Parameter => self.operand(),
            Token::Word { reserved: false } | Token::Quoted(_) => self.limit_variable(),
            _ => Err(self.error()),
        }
    }

    fn lock_clause(&mut self) -> Result<Option<RowLocking>> {
        let strength = if self.accept_phrase(&["FOR", "UPDATE"])? {
            LockStrength::Update
        } else if self.accept_phrase(&["LOCK", "IN", "SHARE", "MODE"])? {
            LockStrength::Share
        } else {
            return Ok(None);
        };
        let wait = if self.accept_word("NOWAIT") {
            LockWait::NoWait
        } else if self.accept_words(&["SKIP", "LOCKED"]) {
            LockWait::SkipLocked
        } else if self.accept_word("WAIT") {
            LockWait::Seconds(self.number()?)
        } else {
            LockWait::Default
        };
        Ok(Some(RowLocking { strength, wait }))
    }
}

#[derive(Clone, Copy)]
enum SetLevel {
    Union,
    Intersect,
}

/// Returns a text as the name of an item: spaces and control characters at its beginning are not part of it.
fn without_leading_space(text: &str) -> String {
    let is_space = |character: char| character.is_ascii_control() || character == ' ';
    text.trim_start_matches(is_space).to_owned()
}

/// Returns the name of a select item without an alias; `None` if it is named by its text.
fn generated_name(expr: &Expr) -> Option<ItemName> {
    if let Some(name) = name_without_plus(expr) {
        return Some(ItemName::Text(name));
    }
    Some(match expr {
        // Parentheses around a literal or a column make no difference.
        Expr::Nested(inner) => match (generated_name(inner), &**inner) {
            (None, Expr::Literal(literal)) => ItemName::Text(literal_text(literal)),
            (name, _) => name?,
        },
        Expr::Column(column) if column.name.eq_ignore_ascii_case(ROW_ID) => {
            ItemName::Text(column.name.clone())
        }
        Expr::Column(_) => ItemName::Column,
        Expr::Parameter(_) => ItemName::Text("?".to_owned()),
        Expr::Literal(literal) | Expr::Introduced { literal, .. } => match literal {
            Literal::Text(text) => ItemName::Text(without_leading_space(text)),
            Literal::Null => ItemName::Text("NULL".to_owned()),
            Literal::Boolean(true) => ItemName::Text("TRUE".to_owned()),
            Literal::Boolean(false) => ItemName::Text("FALSE".to_owned()),
            _ => return None,
        },
        _ => return None,
    })
}

/// Returns the name of `+a` and `(+1)`, where the plus sign is not part of the name. `None` for an expression
/// without such a sign, or for more than a column or a literal.
fn name_without_plus(expr: &Expr) -> Option<String> {
    let mut has_plus = false;
    let mut inner = expr;
    loop {
        inner = match inner {
            Expr::Nested(nested) => nested,
            Expr::Unary {
                op: UnaryOp::Plus,
                operand,
            } => {
                has_plus = true;
                operand
            }
            _ => break,
        };
    }
    match inner {
        _ if !has_plus => None,
        Expr::Column(name) => Some(name.name.clone()),
        Expr::Literal(Literal::Number(text) | Literal::Text(text)) => Some(text.clone()),
        _ => None,
    }
}

/// Returns the text of a number or string as a column name.
fn literal_text(literal: &Literal) -> String {
    match literal {
        Literal::Hex(digits) => format!("x'{digits}'"),
        Literal::Bits(digits) => format!("b'{digits}'"),
        other => other.to_string(),
    }
}

/// Removes parentheses around the whole query.
fn unwrapped(query: Query) -> Query {
    match query {
        Query {
            body: QueryBody::Query(inner),
            with: None,
            order_by,
            limit: None,
            lock: None,
        } if order_by.is_empty() => *inner,
        query => query,
    }
}
