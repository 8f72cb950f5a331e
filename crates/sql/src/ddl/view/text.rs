//! The text of a view's query, as MariaDB writes it.
//!
//! Joins stand in parentheses, except that tables with commas between them are first written as one flat join: read again they are one join after
//! the other, and SHOW CREATE VIEW puts parentheses around each. Index hints come in the reverse order of what was read, so that they change places
//! between the two. Both are MariaDB's.

use std::fmt::Write;

use sqlparser::ast::{
    self, DuplicateTreatment, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentClause,
    FunctionArguments, Ident, JoinConstraint, JoinOperator, Query, Select, SelectItem, SetExpr, SetOperator,
    SetQuantifier, TableFactor, TableIndexHintType, TableWithJoins, WindowFrameBound, WindowFrameUnits,
    WindowType,
};

use super::super::normal_form::{ViewStyle, Writer, quote_identifier};
use crate::error::{Error, Result};
use crate::parse::GENERATED_NAME;

/// Which names of a select list are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Names {
    /// All.
    All,
    /// Those that AS gave.
    Given,
}

/// Writes a resolved query.
///
/// # Errors
/// 1235 for what cannot be written.
pub(super) fn query_text(query: &Query, style: ViewStyle<'_>) -> Result<String> {
    let mut out = String::new();
    Writer {
        out: &mut out,
        clause: "VIEW",
        owner: "",
        view: Some(style),
    }
    .query(query, Names::All)?;
    Ok(out)
}

impl Writer<'_> {
    /// `database`.`table`.`column`
    pub(in super::super) fn qualified(&mut self, parts: &[Ident]) {
        let omitted = self.view.and_then(|style| style.omitted_database);
        let skipped = usize::from(parts.len() == 3 && omitted == Some(parts[0].value.as_str()));
        for (n, part) in parts[skipped..].iter().enumerate() {
            if n > 0 {
                self.out.push('.');
            }
            quote_identifier(&part.value, self.out);
        }
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
            self.separated(&with.cte_tables, |writer, table| {
                writer.out.push_str(&table.alias.name.value);
                if !table.alias.columns.is_empty() {
                    writer.out.push('(');
                    writer.separated(&table.alias.columns, |writer, column| {
                        quote_identifier(&column.name.value, writer.out);
                        Ok(())
                    })?;
                    writer.out.push(')');
                }
                writer.out.push_str(" as (");
                writer.query(&table.query, Names::All)?;
                writer.out.push(')');
                Ok(())
            })?;
        }
        self.body(&query.body, names)?;
        if let Some(order_by) = &query.order_by
            && let ast::OrderByKind::Expressions(items) = &order_by.kind
        {
            self.out.push_str(" order by ");
            self.order(items)?;
        }
        if let Some(limit) = &query.limit_clause {
            self.limit(limit)?;
        }
        if let Some(lock) = query.locks.first() {
            self.out.push_str(match lock.lock_type {
                ast::LockType::Share => " lock in share mode",
                ast::LockType::Update => " for update",
            });
        }
        Ok(())
    }

    fn order(&mut self, items: &[ast::OrderByExpr]) -> Result<()> {
        self.separated(items, |writer, item| {
            writer.expr(&item.expr, 0)?;
            if item.options.sort == Some(ast::OrderBySort::Desc) {
                writer.out.push_str(" desc");
            }
            Ok(())
        })
    }

    fn limit(&mut self, limit: &ast::LimitClause) -> Result<()> {
        let (offset, count) = match limit {
            ast::LimitClause::LimitOffset { limit, offset, .. } => {
                (offset.as_ref().map(|offset| &offset.value), limit.as_ref())
            }
            ast::LimitClause::OffsetCommaLimit { offset, limit } => (Some(offset), Some(limit)),
        };
        self.out.push_str(" limit ");
        if let Some(offset) = offset {
            self.expr(offset, 0)?;
            self.out.push(',');
        }
        match count {
            Some(count) => self.expr(count, 0),
            // OFFSET alone.
            None => {
                let _ = write!(self.out, "{}", u64::MAX);
                Ok(())
            }
        }
    }

    fn body(&mut self, body: &SetExpr, names: Names) -> Result<()> {
        match body {
            SetExpr::Select(select) => self.select(select, names),
            SetExpr::Query(query) => {
                self.out.push('(');
                self.query(query, names)?;
                self.out.push(')');
                Ok(())
            }
            SetExpr::SetOperation {
                op,
                set_quantifier,
                left,
                right,
            } => {
                self.body(left, names)?;
                self.out.push_str(match op {
                    SetOperator::Union => " union ",
                    SetOperator::Except | SetOperator::Minus => " except ",
                    SetOperator::Intersect => " intersect ",
                });
                if *set_quantifier == SetQuantifier::All {
                    self.out.push_str("all ");
                }
                self.body(right, names)
            }
            SetExpr::Values(values) => {
                self.out.push_str("values ");
                self.separated(&values.rows, |writer, row| {
                    writer.out.push('(');
                    writer.list(&row.content)?;
                    writer.out.push(')');
                    Ok(())
                })
            }
            _ => Err(Error::unsupported("this kind of query")),
        }
    }

    fn select(&mut self, select: &Select, names: Names) -> Result<()> {
        self.out.push_str("select ");
        if let Some(modifiers) = &select.select_modifiers {
            let words = [
                (modifiers.straight_join, "straight_join "),
                (modifiers.high_priority, "high_priority "),
            ];
            self.write_words(&words);
        }
        if select.distinct.is_some() {
            self.out.push_str("distinct ");
        }
        if let Some(modifiers) = &select.select_modifiers {
            let words = [
                (modifiers.sql_small_result, "sql_small_result "),
                (modifiers.sql_big_result, "sql_big_result "),
                (modifiers.sql_buffer_result, "sql_buffer_result "),
                (modifiers.sql_calc_found_rows, "sql_calc_found_rows "),
                (modifiers.sql_no_cache, "sql_no_cache "),
            ];
            self.write_words(&words);
        }
        self.separated(&select.projection, |writer, item| writer.item(item, names))?;
        if !select.from.is_empty() {
            self.out.push_str(" from ");
            for (n, item) in select.from.iter().enumerate() {
                if n > 0 {
                    self.out.push_str(" join ");
                }
                self.joined(item)?;
            }
        }
        if let Some(condition) = &select.selection {
            self.out.push_str(" where ");
            self.expr(condition, 0)?;
        }
        if let ast::GroupByExpr::Expressions(exprs, modifiers) = &select.group_by
            && !exprs.is_empty()
        {
            self.out.push_str(" group by ");
            self.list(exprs)?;
            if !modifiers.is_empty() {
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
            SelectItem::UnnamedExpr(expr) => self.expr(expr, 0),
            SelectItem::ExprWithAlias { expr, alias } => {
                self.expr(expr, 0)?;
                if names == Names::All || alias.quote_style != Some(GENERATED_NAME) {
                    self.out.push_str(" AS ");
                    quote_identifier(&alias.value, self.out);
                }
                Ok(())
            }
            _ => Err(Error::unsupported("this select item")),
        }
    }

    /// A table and its joins, each join in parentheses.
    fn joined(&mut self, item: &TableWithJoins) -> Result<()> {
        self.out.extend(std::iter::repeat_n('(', item.joins.len()));
        self.factor(&item.relation)?;
        for join in &item.joins {
            let (word, constraint) = match &join.join_operator {
                JoinOperator::LeftOuter(constraint) | JoinOperator::Left(constraint) => {
                    (" left join ", constraint)
                }
                JoinOperator::StraightJoin(constraint) => (" straight_join ", constraint),
                JoinOperator::Join(constraint)
                | JoinOperator::Inner(constraint)
                | JoinOperator::CrossJoin(constraint) => (" join ", constraint),
                _ => return Err(Error::unsupported("this kind of join")),
            };
            self.out.push_str(word);
            self.factor(&join.relation)?;
            if let JoinConstraint::On(condition) = constraint {
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
                name,
                alias,
                index_hints,
                ..
            } => {
                let omitted = self.view.and_then(|style| style.omitted_database);
                let parts: Vec<&str> = name
                    .0
                    .iter()
                    .filter_map(|part| part.as_ident())
                    .map(|part| part.value.as_str())
                    .collect();
                let skipped = usize::from(parts.len() == 2 && omitted == Some(parts[0]));
                for (n, part) in parts[skipped..].iter().enumerate() {
                    if n > 0 {
                        self.out.push('.');
                    }
                    quote_identifier(part, self.out);
                }
                if let Some(alias) = alias
                    && parts.last() != Some(&alias.name.value.as_str())
                {
                    self.out.push(' ');
                    quote_identifier(&alias.name.value, self.out);
                }
                self.hints(index_hints);
                Ok(())
            }
            TableFactor::Derived { subquery, alias, .. } => {
                self.out.push('(');
                self.query(subquery, Names::All)?;
                self.out.push_str(") ");
                if let Some(alias) = alias {
                    quote_identifier(&alias.name.value, self.out);
                }
                Ok(())
            }
            TableFactor::NestedJoin { table_with_joins, .. } => self.joined(table_with_joins),
            _ => Err(Error::unsupported("this table expression")),
        }
    }

    fn hints(&mut self, hints: &[ast::TableIndexHints]) {
        let words = |hint: &ast::TableIndexHints| {
            let word = match hint.hint_type {
                TableIndexHintType::Use => "USE",
                TableIndexHintType::Force => "FORCE",
                TableIndexHintType::Ignore => "IGNORE",
            };
            let place = match hint.for_clause {
                Some(ast::TableIndexHintForClause::Join) => " FOR JOIN",
                Some(ast::TableIndexHintForClause::OrderBy) => " FOR ORDER BY",
                Some(ast::TableIndexHintForClause::GroupBy) => " FOR GROUP BY",
                None => "",
            };
            format!(" {word} INDEX{place} (")
        };
        for hint in hints.iter().rev() {
            if hint.index_names.is_empty() {
                let _ = write!(self.out, "{})", words(hint));
            }
            for name in hint.index_names.iter().rev() {
                self.out.push_str(&words(hint));
                match name.value.eq_ignore_ascii_case("PRIMARY") {
                    true => self.out.push_str("PRIMARY"),
                    false => quote_identifier(&name.value, self.out),
                }
                self.out.push(')');
            }
        }
    }

    // Expressions that only queries have -------------------------------------------------------------------------

    /// An expression with a query in it.
    pub(in super::super) fn with_subquery(&mut self, expr: &Expr) -> Result<()> {
        match expr {
            Expr::Subquery(query) => self.parenthesized_query(query),
            Expr::Exists { subquery, .. } => {
                self.out.push_str("exists");
                self.parenthesized_query(subquery)
            }
            Expr::InSubquery { expr, subquery, .. } => {
                self.expr(expr, 7)?;
                self.out.push_str(" in ");
                self.parenthesized_query(subquery)
            }
            Expr::AnyOp {
                left,
                compare_op,
                right,
                ..
            } => self.quantified(left, compare_op, " any ", right),
            Expr::AllOp {
                left,
                compare_op,
                right,
            } => self.quantified(left, compare_op, " all ", right),
            _ => Err(Error::unsupported("this kind of stored expression")),
        }
    }

    fn quantified(
        &mut self,
        left: &Expr,
        operator: &ast::BinaryOperator,
        word: &str,
        right: &Expr,
    ) -> Result<()> {
        self.expr(left, 7)?;
        let symbol = self.operator(operator)?;
        let _ = write!(self.out, " {symbol}{word}");
        self.expr(right, 0)
    }

    fn parenthesized_query(&mut self, query: &Query) -> Result<()> {
        self.out.push('(');
        self.query(query, Names::Given)?;
        self.out.push(')');
        Ok(())
    }

    /// A call as it stands in a view.
    pub(in super::super) fn function_of_view(&mut self, function: &Function) -> Result<()> {
        let written = function.name.to_string();
        let name = match written.to_lowercase().as_str() {
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
        if let FunctionArguments::List(list) = &function.args {
            if list.duplicate_treatment == Some(DuplicateTreatment::Distinct) {
                self.out.push_str("distinct ");
            }
            let mut first = true;
            for argument in &list.args {
                if !std::mem::take(&mut first) {
                    self.out.push(',');
                }
                match argument {
                    FunctionArg::Unnamed(FunctionArgExpr::Wildcard) => self.out.push('0'),
                    FunctionArg::Unnamed(FunctionArgExpr::Expr(Expr::Identifier(unit)))
                        if unit.quote_style.is_none() =>
                    {
                        self.out.push_str(&unit.value.to_uppercase());
                    }
                    FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => self.expr(expr, 0)?,
                    _ => return Err(Error::unsupported("this argument")),
                }
            }
            self.clauses(&list.clauses, &name)?;
        }
        self.out.push(')');
        if let Some(item) = function.within_group.first() {
            self.out.push_str(" within group ( order by ");
            self.order(std::slice::from_ref(item))?;
            self.out.push(')');
        }
        match &function.over {
            Some(over) => self.over(over),
            None => Ok(()),
        }
    }

    /// `char(65 using utf8mb4)`
    pub(in super::super) fn char_using(
        &mut self,
        function: &Function,
        charset: &ast::ObjectName,
    ) -> Result<()> {
        self.function_of_view(function)?;
        self.out.pop();
        let _ = write!(self.out, " using {})", charset.to_string().to_lowercase());
        Ok(())
    }

    fn clauses(&mut self, clauses: &[FunctionArgumentClause], function: &str) -> Result<()> {
        let mut separator = ",";
        let mut limit = None;
        for clause in clauses {
            match clause {
                FunctionArgumentClause::OrderBy(items) => {
                    self.out.push_str(" order by ");
                    self.separated(items, |writer, item| {
                        writer.expr(&item.expr, 0)?;
                        let is_descending = item.options.sort == Some(ast::OrderBySort::Desc);
                        writer.out.push_str(if is_descending { " DESC" } else { " ASC" });
                        Ok(())
                    })?;
                }
                FunctionArgumentClause::Separator(value) => {
                    if let ast::Value::SingleQuotedString(text) = &value.value {
                        separator = text;
                    }
                }
                FunctionArgumentClause::Limit(expr) => limit = Some(expr),
                _ => return Err(Error::unsupported("this clause of a function")),
            }
        }
        if function == "group_concat" {
            self.out.push_str(" separator ");
            self.expr(&super::text_literal(separator), 0)?;
        }
        if let Some(limit) = limit {
            self.out.push_str(" limit ");
            self.expr(limit, 0)?;
        }
        Ok(())
    }

    fn over(&mut self, over: &WindowType) -> Result<()> {
        let WindowType::WindowSpec(spec) = over else {
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
        if let Some(frame) = &spec.window_frame {
            self.out.push_str(match frame.units {
                WindowFrameUnits::Rows => " rows",
                _ => " range",
            });
            self.out.push_str(" between ");
            self.bound(&frame.start_bound)?;
            self.out.push_str(" and ");
            self.bound(frame.end_bound.as_ref().unwrap_or(&WindowFrameBound::CurrentRow))?;
        }
        self.out.push(')');
        Ok(())
    }

    fn bound(&mut self, bound: &WindowFrameBound) -> Result<()> {
        let (offset, word) = match bound {
            WindowFrameBound::CurrentRow => {
                self.out.push_str(" current row ");
                return Ok(());
            }
            WindowFrameBound::Preceding(offset) => (offset, " preceding "),
            WindowFrameBound::Following(offset) => (offset, " following "),
        };
        match offset {
            Some(offset) => self.expr(offset, 0)?,
            None => self.out.push_str(" unbounded "),
        }
        self.out.push_str(word);
        Ok(())
    }
}
