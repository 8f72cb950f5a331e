//! Text of a view's query, as MariaDB writes it.
//!
//! Joins are in parentheses, except that a comma-separated list of tables is first written as one flat join.
//! When it is parsed again it is a chain of joins, and SHOW CREATE VIEW puts parentheses around each. Index
//! hints are written in reverse order, so the order alternates each time. Both quirks are MariaDB's.

use std::fmt::Write;

use super::super::normal_form::{IN, ViewStyle, Writer, operator, quote_identifier};
use crate::error::{Error, Result};
use paceline_syntax::ast::{
    Arguments, ColumnName, Expr, FrameBound, FrameUnits, FunctionCall, HintKind, HintScope, IndexHint,
    JoinConstraint, JoinKind, JoinedTables, Limit, LockStrength, OrderItem, Over, Quantifier, Query,
    QueryBody, Select, SelectItem, SetOperator, SortOrder, TableFactor, Ties,
};

/// Names of a select list that are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Names {
    All,
    /// Those given with AS.
    Given,
}

/// Whether the whole of a query stands in parentheses: MariaDB keeps them, the syntax tree does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Enclosure {
    /// No.
    Bare,
    /// Yes.
    Parentheses,
}

impl Enclosure {
    /// Returns what stands around a query's text.
    pub fn of_text(text: &str) -> Self {
        let text = text.trim();
        if !text.starts_with('(') {
            return Enclosure::Bare;
        }
        let (mut depth, mut quote) = (0, None);
        for (at, byte) in text.bytes().enumerate() {
            match (quote, byte) {
                (Some(open), byte) if byte == open => quote = None,
                (Some(_), _) => {}
                (None, b'\'' | b'"' | b'`') => quote = Some(byte),
                (None, b'(') => depth += 1,
                (None, b')') => {
                    depth -= 1;
                    if depth == 0 {
                        return match at + 1 == text.len() {
                            true => Enclosure::Parentheses,
                            false => Enclosure::Bare,
                        };
                    }
                }
                (None, _) => {}
            }
        }
        Enclosure::Bare
    }
}

/// Returns the text of a resolved query.
///
/// # Errors
/// 1235 for expressions that cannot be written.
pub(super) fn query_text(query: &Query, enclosure: Enclosure, style: ViewStyle<'_>) -> Result<String> {
    let mut out = String::new();
    Writer {
        out: &mut out,
        clause: "VIEW",
        owner: "",
        view: Some(style),
    }
    .query(query, Names::All)?;
    // MariaDB keeps the parentheses around one SELECT.
    Ok(match (enclosure, &query.body) {
        (Enclosure::Parentheses, QueryBody::Select(_)) => format!("({out})"),
        _ => out,
    })
}

impl Writer<'_> {
    /// Appends `database`.`table`.`column`.
    pub(in super::super) fn qualified(&mut self, name: &ColumnName) {
        let omitted = self.view.and_then(|style| style.omitted_of_columns);
        let database = { name.database.as_deref() }.filter(|database| omitted != Some(*database));
        self.parts(&[database, name.table.as_deref()], &name.name);
    }

    /// Appends a name with those before it, separated by points.
    fn parts(&mut self, before: &[Option<&str>], name: &str) {
        for part in before.iter().copied().flatten() {
            quote_identifier(part, self.out);
            self.out.push('.');
        }
        quote_identifier(name, self.out);
    }

    fn separated<T>(
        &mut self,
        items: &[T],
        mut write: impl FnMut(&mut Self, &T) -> Result<()>,
    ) -> Result<()> {
        for (n, item) in items.iter().enumerate() {
            if n > 0 {
                self.out.push(',');
            }
            write(self, item)?;
        }
        Ok(())
    }

    fn query(&mut self, query: &Query, names: Names) -> Result<()> {
        if let Some(with) = &query.with {
            self.out.push_str("with ");
            if with.recursive {
                self.out.push_str("recursive ");
            }
            self.separated(&with.tables, |writer, table| {
                writer.out.push_str(&table.name);
                if !table.columns.is_empty() {
                    writer.out.push('(');
                    writer.separated(&table.columns, |writer, column| {
                        quote_identifier(column, writer.out);
                        Ok(())
                    })?;
                    writer.out.push(')');
                }
                writer.out.push_str(" as (");
                writer.query(&table.query, Names::All)?;
                writer.out.push(')');
                if !table.cycle.is_empty() {
                    writer.out.push_str(" CYCLE ");
                    writer.separated(&table.cycle, |writer, column| {
                        quote_identifier(column, writer.out);
                        Ok(())
                    })?;
                    writer.out.push_str(" RESTRICT ");
                }
                Ok(())
            })?;
        }
        self.body(&query.body, names)?;
        if !query.order_by.is_empty() {
            self.out.push_str(" order by ");
            self.order(&query.order_by)?;
        }
        if let Some(limit) = &query.limit {
            self.limit(limit)?;
        }
        if let Some(lock) = query.lock {
            self.out.push_str(match lock.strength {
                LockStrength::Share => " lock in share mode",
                LockStrength::Update => " for update",
            });
        }
        Ok(())
    }

    fn order(&mut self, items: &[OrderItem]) -> Result<()> {
        self.separated(items, |writer, item| {
            writer.expr(&item.expr, 0)?;
            if item.order == SortOrder::Descending {
                writer.out.push_str(" desc");
            }
            Ok(())
        })
    }

    fn limit(&mut self, limit: &Limit) -> Result<()> {
        if limit.ties == Ties::Kept {
            if let Some(offset) = &limit.offset {
                self.out.push_str(" offset ");
                self.expr(offset, 0)?;
                self.out.push_str(" rows ");
            }
            if let Some(count) = &limit.count {
                self.out.push_str(" fetch first ");
                self.expr(count, 0)?;
                self.out.push_str(" rows with ties");
            }
            return Ok(());
        }
        self.out.push_str(" limit ");
        if let Some(offset) = &limit.offset {
            self.expr(offset, 0)?;
            self.out.push(',');
        }
        match &limit.count {
            Some(count) => self.expr(count, 0),
            // OFFSET without a count.
            None => {
                let _ = write!(self.out, "{}", u64::MAX);
                Ok(())
            }
        }
    }

    fn body(&mut self, body: &QueryBody, names: Names) -> Result<()> {
        match body {
            QueryBody::Select(select) => self.select(select, names),
            QueryBody::Query(query) => {
                self.out.push('(');
                self.query(query, names)?;
                self.out.push(')');
                Ok(())
            }
            QueryBody::SetOperation { op, all, left, right } => {
                self.body(left, names)?;
                self.out.push_str(match op {
                    SetOperator::Union => " union ",
                    SetOperator::Except => " except ",
                    SetOperator::Intersect => " intersect ",
                });
                if *all {
                    self.out.push_str("all ");
                }
                self.body(right, names)
            }
            QueryBody::Values(rows) => {
                self.out.push_str("values ");
                self.separated(rows, |writer, row| {
                    writer.out.push('(');
                    writer.list(row)?;
                    writer.out.push(')');
                    Ok(())
                })
            }
        }
    }

    fn select(&mut self, select: &Select, names: Names) -> Result<()> {
        self.out.push_str("select ");
        let modifiers = select.modifiers;
        self.write_words(&[
            (modifiers.straight_join, "straight_join "),
            (modifiers.high_priority, "high_priority "),
            (select.distinct, "distinct "),
            (modifiers.sql_small_result, "sql_small_result "),
            (modifiers.sql_big_result, "sql_big_result "),
            (modifiers.sql_buffer_result, "sql_buffer_result "),
            (modifiers.sql_calc_found_rows, "sql_calc_found_rows "),
            (modifiers.sql_no_cache, "sql_no_cache "),
        ]);
        self.separated(&select.items, |writer, item| writer.item(item, names))?;
        if !select.from.is_empty() {
            self.out.push_str(" from ");
            for (n, item) in select.from.iter().enumerate() {
                if n > 0 {
                    self.out.push_str(" join ");
                }
                self.joined(item)?;
            }
        }
        if let Some(condition) = &select.condition {
            self.out.push_str(" where ");
            self.expr(condition, 0)?;
        }
        if !select.group_by.is_empty() {
            self.out.push_str(" group by ");
            for (n, group) in select.group_by.iter().enumerate() {
                if n > 0 {
                    self.out.push(',');
                }
                self.expr(group, 0)?;
                let directions = select.rollup.as_ref();
                if directions.is_some_and(|directions| directions[n] == SortOrder::Descending) {
                    self.out.push_str(" desc");
                }
            }
            if select.rollup.is_some() {
                self.out.push_str(" with rollup");
            }
        }
        if let Some(condition) = &select.having {
            self.out.push_str(" having ");
            self.expr(condition, 0)?;
        }
        Ok(())
    }

    fn write_words(&mut self, words: &[(bool, &str)]) {
        for (_, word) in words.iter().filter(|(is_set, _)| *is_set) {
            self.out.push_str(word);
        }
    }

    fn item(&mut self, item: &SelectItem, names: Names) -> Result<()> {
        match item {
            SelectItem::Expr { expr, name } => {
                let style = self.view;
                // A column that is an item has no database before it, also in an invalid view.
                if let (Expr::Column(_), Some(view)) = (expr.without_parentheses(), &mut self.view) {
                    view.omitted_of_columns = view.omitted_database;
                }
                let appended = self.expr(expr, 0);
                self.view = style;
                appended?;
                let written = match names {
                    Names::All => name.text(),
                    Names::Given => name.alias(),
                };
                if let Some(name) = written {
                    self.out.push_str(" AS ");
                    quote_identifier(name, self.out);
                }
                Ok(())
            }
            SelectItem::Wildcard | SelectItem::TableWildcard(_) => {
                Err(Error::unsupported("this select item"))
            }
        }
    }

    /// Appends a table and its joins, each join in parentheses.
    fn joined(&mut self, tables: &JoinedTables) -> Result<()> {
        self.out.extend(std::iter::repeat_n('(', tables.joins.len()));
        self.factor(&tables.first)?;
        for join in &tables.joins {
            self.out.push_str(match join.kind {
                JoinKind::Inner => " join ",
                JoinKind::Straight => " straight_join ",
                JoinKind::Left => " left join ",
                JoinKind::Right => return Err(Error::unsupported("this kind of join")),
            });
            self.factor(&join.table)?;
            if let JoinConstraint::On(condition) = &join.constraint {
                self.out.push_str(" on(");
                self.expr(condition, 0)?;
                self.out.push(')');
            }
            self.out.push(')');
        }
        Ok(())
    }

    fn factor(&mut self, factor: &TableFactor) -> Result<()> {
        match factor {
            TableFactor::Table {
                name, alias, hints, ..
            } => {
                let omitted = self.view.and_then(|style| style.omitted_database);
                let database = { name.database.as_deref() }.filter(|database| omitted != Some(*database));
                self.parts(&[database], &name.name);
                if let Some(alias) = alias.as_ref().filter(|alias| **alias != name.name) {
                    self.out.push(' ');
                    quote_identifier(alias, self.out);
                }
                self.hints(hints);
                Ok(())
            }
            TableFactor::Derived { query, alias, .. } => {
                self.out.push('(');
                self.query(query, Names::All)?;
                self.out.push_str(") ");
                quote_identifier(alias, self.out);
                Ok(())
            }
            TableFactor::JsonTable(table) => self.json_table(table),
            TableFactor::Nested(tables) => self.joined(tables),
        }
    }

    fn hints(&mut self, hints: &[IndexHint]) {
        let words = |hint: &IndexHint| {
            let word = match hint.kind {
                HintKind::Use => "USE",
                HintKind::Force => "FORCE",
                HintKind::Ignore => "IGNORE",
            };
            let scope = match hint.scope {
                Some(HintScope::Join) => " FOR JOIN",
                Some(HintScope::OrderBy) => " FOR ORDER BY",
                Some(HintScope::GroupBy) => " FOR GROUP BY",
                None => "",
            };
            format!(" {word} INDEX{scope} (")
        };
        for hint in hints.iter().rev() {
            if hint.indexes.is_empty() {
                let _ = write!(self.out, "{})", words(hint));
            }
            for name in hint.indexes.iter().rev() {
                self.out.push_str(&words(hint));
                match name.eq_ignore_ascii_case("PRIMARY") {
                    true => self.out.push_str("PRIMARY"),
                    false => quote_identifier(name, self.out),
                }
                self.out.push(')');
            }
        }
    }

    // Expressions of queries only
    // --------------------------------------------------------------------------------

    /// Appends an expression that contains a query.
    pub(in super::super) fn with_subquery(&mut self, expr: &Expr) -> Result<()> {
        match expr {
            Expr::Subquery(query) => self.parenthesized_query(query),
            Expr::Exists(subquery) => {
                self.out.push_str("exists");
                self.parenthesized_query(subquery)
            }
            Expr::InSubquery {
                operand, subquery, ..
            } => {
                self.expr(operand, IN)?;
                self.out.push_str(" in ");
                self.parenthesized_query(subquery)
            }
            Expr::Quantified {
                left,
                op,
                quantifier,
                subquery,
            } => {
                self.expr(left, IN + 1)?;
                let word = match quantifier {
                    Quantifier::Any => "any",
                    Quantifier::All => "all",
                };
                let _ = write!(self.out, " {} {word} ", operator(*op));
                self.parenthesized_query(subquery)
            }
            _ => Err(Error::unsupported("this kind of stored expression")),
        }
    }

    fn parenthesized_query(&mut self, query: &Query) -> Result<()> {
        self.out.push('(');
        self.query(query, Names::Given)?;
        self.out.push(')');
        Ok(())
    }

    /// Appends a call in the form of views.
    pub(in super::super) fn call_of_view(&mut self, call: &FunctionCall) -> Result<()> {
        let name = match call.full_name().to_lowercase().as_str() {
            "now" | "localtime" | "localtimestamp" => "current_timestamp".to_owned(),
            "current_date" => "curdate".to_owned(),
            "current_time" => "curtime".to_owned(),
            "ceil" => "ceiling".to_owned(),
            "lower" => "lcase".to_owned(),
            "upper" => "ucase".to_owned(),
            "length" => "octet_length".to_owned(),
            "character_length" => "char_length".to_owned(),
            "name_const" => "NAME_CONST".to_owned(),
            other => other.to_owned(),
        };
        self.out.push_str(&name);
        self.out.push('(');
        if call.distinct {
            self.out.push_str("distinct ");
        }
        match &call.arguments {
            Arguments::Absent => {}
            Arguments::Star => self.out.push('0'),
            Arguments::List(list) if !call.has_given_names() => self.list(list)?,
            Arguments::List(list) => {
                for (index, argument) in list.iter().enumerate() {
                    if index > 0 {
                        self.out.push(',');
                    }
                    self.expr(argument, 0)?;
                    if let Some(name) = call.given_name(index) {
                        self.out.push_str(" AS ");
                        quote_identifier(name, self.out);
                    }
                }
            }
        }
        if !call.order_by.is_empty() {
            self.out.push_str(" order by ");
            self.separated(&call.order_by, |writer, item| {
                writer.expr(&item.expr, 0)?;
                writer.out.push_str(match item.order {
                    SortOrder::Ascending => " ASC",
                    SortOrder::Descending => " DESC",
                });
                Ok(())
            })?;
        }
        if name == "group_concat" {
            self.out.push_str(" separator ");
            self.text(call.separator.as_deref().unwrap_or(","));
        }
        if let Some(limit) = &call.limit {
            self.out.push_str(" limit ");
            self.expr(limit, 0)?;
        }
        self.out.push(')');
        if let Some(item) = &call.within_group {
            self.out.push_str(" within group ( order by ");
            self.order(std::slice::from_ref(item))?;
            self.out.push(')');
        }
        match &call.over {
            Some(over) => self.over(over),
            None => Ok(()),
        }
    }

    /// Appends `char(65 using utf8mb4)`.
    pub(in super::super) fn char_using(&mut self, call: &FunctionCall, charset: &str) -> Result<()> {
        self.call_of_view(call)?;
        self.out.pop();
        let _ = write!(self.out, " using {})", charset.to_lowercase());
        Ok(())
    }

    fn over(&mut self, over: &Over) -> Result<()> {
        let Over::Spec(spec) = over else {
            return Err(Error::unsupported("a named window here"));
        };
        self.out.push_str(" over (");
        if !spec.partition_by.is_empty() {
            self.out.push_str(" partition by ");
            self.list(&spec.partition_by)?;
        }
        if !spec.order_by.is_empty() {
            self.out.push_str(" order by ");
            self.order(&spec.order_by)?;
        }
        if let Some(frame) = &spec.frame {
            self.out.push_str(match frame.units {
                FrameUnits::Rows => " rows",
                FrameUnits::Range => " range",
            });
            self.out.push_str(" between ");
            self.bound(&frame.start)?;
            self.out.push_str(" and ");
            self.bound(frame.end.as_ref().unwrap_or(&FrameBound::CurrentRow))?;
        }
        self.out.push(')');
        Ok(())
    }

    fn bound(&mut self, bound: &FrameBound) -> Result<()> {
        let (offset, word) = match bound {
            FrameBound::CurrentRow => {
                self.out.push_str(" current row ");
                return Ok(());
            }
            FrameBound::Preceding(offset) => (offset, " preceding "),
            FrameBound::Following(offset) => (offset, " following "),
        };
        match offset {
            Some(offset) => self.expr(offset, 0)?,
            None => self.out.push_str(" unbounded "),
        }
        self.out.push_str(word);
        Ok(())
    }
}
