//! Expressions: operators by their precedence, and operands.
//!
//! Precedence from low to high, as in `sql/sql_yacc.yy`: OR, XOR, AND, NOT, comparisons and IS, the
//! predicates (IN, BETWEEN, LIKE, REGEXP), `|`, `&`, shifts, `+ -`, `* / % DIV MOD`, `^`, `||` (with
//! PIPES_AS_CONCAT), the unary operators, COLLATE.

use super::parser::{CHAIN_MAX, Parser, too_deep};
use crate::ast::VariableScope;
use crate::ast::{
    Arguments, BinaryOp, CaseBranch, CastType, ColumnName, Expr, FunctionCall, Interval, IntervalUnit,
    Literal, Quantifier, TemporalKind, TruthTest, UnaryOp,
};
use crate::error::Result;
use crate::lexer::Token;
use crate::statement::definition::DEFAULT_COLLATION;
use paceline_types::SqlMode;
use paceline_types::temporal::{self, DateModes, ParsedTemporal};

/// Precedence of an operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Or,
    Xor,
    And,
    Not,
    Comparison,
    Predicate,
    BitOr,
    BitAnd,
    Shift,
    Add,
    Multiply,
    BitXor,
    Concat,
}

/// An operator or predicate that follows an operand.
enum Infix {
    Binary(BinaryOp),
    /// `||` with PIPES_AS_CONCAT.
    Concat,
    Is,
    In,
    Between,
    Like,
    Regexp,
    SoundsLike,
    /// NOT before IN, BETWEEN, LIKE, REGEXP.
    Not,
}

/// Returns a string that is not valid UTF-8: `_binary x'…'`.
pub(super) fn binary_string(bytes: &[u8]) -> Expr {
    Expr::Introduced {
        charset: "binary".to_owned(),
        literal: Literal::of_bytes(bytes),
    }
}

impl Parser<'_> {
    /// Parses an expression.
    pub(crate) fn expr(&mut self) -> Result<Expr> {
        self.expr_at(Level::Or)
    }

    /// Parses an expression without operators of lower precedence than `+`: the patterns of LIKE and REGEXP.
    fn bit_expr(&mut self) -> Result<Expr> {
        self.expr_at(Level::BitOr)
    }

    fn expr_at(&mut self, loosest: Level) -> Result<Expr> {
        self.deeper(|parser| parser.operand_and_operations(loosest))
    }

    fn operand_and_operations(&mut self, loosest: Level) -> Result<Expr> {
        let left = if loosest <= Level::Not && self.is_word("NOT") && !self.not_is_tight() {
            self.advance();
            Expr::negation(self.expr_at(Level::Not)?)
        } else {
            self.operand()?
        };
        self.operation(left, loosest)
    }

    /// Parses the operators after an operand whose precedence is at least `loosest`.
    fn operation(&mut self, mut left: Expr, loosest: Level) -> Result<Expr> {
        // After a predicate or a comparison, no operator of higher precedence can follow.
        let mut tightest = Level::Concat;
        let mut chain = 0;
        while let Some((infix, level)) = self.infix() {
            if level < loosest || level > tightest {
                break;
            }
            tightest = level;
            left = match infix {
                Infix::Binary(op @ (BinaryOp::And | BinaryOp::Or)) => self.connect(left, op, level)?,
                infix => {
                    chain += 1;
                    if chain > CHAIN_MAX {
                        return Err(too_deep(CHAIN_MAX as u32));
                    }
                    let operation = self.apply(left, infix, level)?;
                    self.grow_higher()?;
                    operation
                }
            };
        }
        Ok(left)
    }

    fn not_is_tight(&self) -> bool {
        self.sql_mode().contains(SqlMode::HIGH_NOT_PRECEDENCE)
    }

    /// Returns the operator at the cursor.
    fn infix(&mut self) -> Option<(Infix, Level)> {
        use BinaryOp::*;
        let (op, level) = match self.peek() {
            Token::Equal => (Equal, Level::Comparison),
            Token::NullSafeEqual => (NullSafeEqual, Level::Comparison),
            Token::NotEqual => (NotEqual, Level::Comparison),
            Token::Less => (Less, Level::Comparison),
            Token::LessEqual => (LessOrEqual, Level::Comparison),
            Token::Greater => (Greater, Level::Comparison),
            Token::GreaterEqual => (GreaterOrEqual, Level::Comparison),
            Token::Pipe => (BitOr, Level::BitOr),
            Token::Ampersand => (BitAnd, Level::BitAnd),
            Token::ShiftLeft => (ShiftLeft, Level::Shift),
            Token::ShiftRight => (ShiftRight, Level::Shift),
            Token::Plus => (Add, Level::Add),
            Token::Minus => (Subtract, Level::Add),
            Token::Star => (Multiply, Level::Multiply),
            Token::Slash => (Divide, Level::Multiply),
            Token::Percent => (Modulo, Level::Multiply),
            Token::Caret => (BitXor, Level::BitXor),
            Token::AmpersandAmpersand => (And, Level::And),
            Token::PipePipe if self.sql_mode().contains(SqlMode::PIPES_AS_CONCAT) => {
                return Some((Infix::Concat, Level::Concat));
            }
            Token::PipePipe => (Or, Level::Or),
            Token::Word { reserved: true } => return self.infix_word(),
            Token::Word { reserved: false } => {
                let sounds_like = self.is_word("SOUNDS") && self.is_word_at(1, "LIKE");
                return sounds_like.then_some((Infix::SoundsLike, Level::Predicate));
            }
            _ => return None,
        };
        Some((Infix::Binary(op), level))
    }

    fn infix_word(&mut self) -> Option<(Infix, Level)> {
        use BinaryOp::*;
        let word = self.current_text();
        if word.len() > 7 {
            return None;
        }
        let is = |name: &str| word.eq_ignore_ascii_case(name.as_bytes());
        Some(match word.len() {
            2 if is("OR") => (Infix::Binary(Or), Level::Or),
            2 if is("IS") => (Infix::Is, Level::Comparison),
            2 if is("IN") => (Infix::In, Level::Predicate),
            3 if is("AND") => (Infix::Binary(And), Level::And),
            3 if is("XOR") => (Infix::Binary(Xor), Level::Xor),
            3 if is("DIV") => (Infix::Binary(IntDivide), Level::Multiply),
            3 if is("MOD") => (Infix::Binary(Modulo), Level::Multiply),
            3 if is("NOT") => (Infix::Not, Level::Predicate),
            4 if is("LIKE") => (Infix::Like, Level::Predicate),
            5 if is("RLIKE") => (Infix::Regexp, Level::Predicate),
            6 if is("REGEXP") => (Infix::Regexp, Level::Predicate),
            7 if is("BETWEEN") => (Infix::Between, Level::Predicate),
            _ => return None,
        })
    }

    /// Parses a chain of AND or of OR into a tree that is as flat as possible, so that a thousand terms do
    /// not need a thousand levels. Evaluation is from left to right all the same.
    fn connect(&mut self, first: Expr, op: BinaryOp, level: Level) -> Result<Expr> {
        let tighter = if level == Level::Or {
            Level::Xor
        } else {
            Level::Not
        };
        let mut terms = vec![first];
        while matches!(self.infix(), Some((Infix::Binary(next), _)) if next == op) {
            self.advance();
            terms.push(self.expr_at(tighter)?);
        }
        Ok(balanced(terms, op))
    }

    /// Parses the rest of an operation whose operator is at the cursor.
    fn apply(&mut self, left: Expr, infix: Infix, level: Level) -> Result<Expr> {
        match infix {
            Infix::Binary(op) => {
                self.advance();
                if level == Level::Comparison {
                    return self.comparison(left, op);
                }
                let tighter = match level {
                    Level::Xor => Level::And,
                    Level::BitOr => Level::BitAnd,
                    Level::BitAnd => Level::Shift,
                    Level::Shift => Level::Add,
                    Level::Add => Level::Multiply,
                    Level::Multiply => Level::BitXor,
                    _ => Level::Concat,
                };
                let right = if tighter == Level::Concat && level != Level::BitXor {
                    self.operand()?
                } else {
                    self.expr_at(tighter)?
                };
                Ok(Expr::binary(left, op, right))
            }
            Infix::Concat => {
                self.advance();
                let right = self.operand()?;
                Ok(Expr::call("CONCAT", vec![left, right]))
            }
            Infix::Is => {
                self.advance();
                self.is_test(left)
            }
            Infix::Not => {
                self.advance();
                match self.infix() {
                    Some((Infix::In, _)) => self.in_list(left, true),
                    Some((Infix::Between, _)) => self.between(left, true),
                    Some((Infix::Like, _)) => self.like(left, true),
                    Some((Infix::Regexp, _)) => self.regexp(left, true),
                    _ => Err(self.error()),
                }
            }
            Infix::In => self.in_list(left, false),
            Infix::Between => self.between(left, false),
            Infix::Like => self.like(left, false),
            Infix::Regexp => self.regexp(left, false),
            Infix::SoundsLike => {
                self.advance();
                self.advance();
                let right = self.bit_expr()?;
                let soundex = |expr| Expr::call("SOUNDEX", vec![expr]);
                Ok(Expr::binary(soundex(left), BinaryOp::Equal, soundex(right)))
            }
        }
    }

    fn comparison(&mut self, left: Expr, op: BinaryOp) -> Result<Expr> {
        let quantifier = if self.is_word("ALL") {
            Some(Quantifier::All)
        } else if self.is_any_word(&["ANY", "SOME"]) {
            Some(Quantifier::Any)
        } else {
            None
        };
        if let Some(quantifier) = quantifier
            && self.is_at(1, &Token::LeftParen)
        {
            self.advance();
            self.features.subqueries += 1;
            return Ok(Expr::Quantified {
                left: Box::new(left),
                op,
                quantifier,
                subquery: Box::new(self.subquery()?),
            });
        }
        let right = self.expr_at(Level::Predicate)?;
        Ok(Expr::binary(left, op, right))
    }

    fn is_test(&mut self, left: Expr) -> Result<Expr> {
        let negated = self.accept_word("NOT");
        let test = match self.accept_any_word(&["NULL", "TRUE", "FALSE", "UNKNOWN"]) {
            Some("NULL" | "UNKNOWN") => TruthTest::Null,
            Some("TRUE") => TruthTest::True,
            Some(_) => TruthTest::False,
            None => return Err(self.error()),
        };
        Ok(Expr::Is {
            operand: Box::new(left),
            test,
            negated,
        })
    }

    fn in_list(&mut self, left: Expr, negated: bool) -> Result<Expr> {
        self.advance();
        if !self.is(&Token::LeftParen) {
            return Err(self.error());
        }
        let operand = Box::new(left);
        if self.is_subquery() {
            self.features.subqueries += 1;
            let subquery = Box::new(self.subquery()?);
            return Ok(Expr::InSubquery {
                operand,
                subquery,
                negated,
            });
        }
        let list = self.parenthesized(Self::expr)?;
        Ok(Expr::InList {
            operand,
            list,
            negated,
        })
    }

    fn between(&mut self, left: Expr, negated: bool) -> Result<Expr> {
        self.advance();
        let low = Box::new(self.expr_at(Level::Predicate)?);
        self.expect_word("AND")?;
        let high = Box::new(self.expr_at(Level::Predicate)?);
        Ok(Expr::Between {
            operand: Box::new(left),
            negated,
            low,
            high,
        })
    }

    fn like(&mut self, left: Expr, negated: bool) -> Result<Expr> {
        self.advance();
        let pattern = Box::new(self.bit_expr()?);
        let escape = if self.accept_word("ESCAPE") {
            Some(Box::new(self.bit_expr()?))
        } else {
            None
        };
        Ok(Expr::Like {
            text: Box::new(left),
            pattern,
            escape,
            negated,
        })
    }

    fn regexp(&mut self, left: Expr, negated: bool) -> Result<Expr> {
        self.advance();
        let pattern = Box::new(self.bit_expr()?);
        Ok(Expr::Regexp {
            text: Box::new(left),
            pattern,
            negated,
        })
    }

    // Operands ---------------------------------------------------------------------------------------------------

    /// Parses an operand, with its unary operators and collations.
    pub(super) fn operand(&mut self) -> Result<Expr> {
        self.deeper(Self::operand_with_collation)
    }

    fn operand_with_collation(&mut self) -> Result<Expr> {
        let expr = self.operand_without_collation()?;
        self.collated(expr)
    }

    /// Parses the COLLATE after an operand.
    fn collated(&mut self, mut expr: Expr) -> Result<Expr> {
        while self.accept_word("COLLATE") {
            self.grow_higher()?;
            expr = Expr::Collate {
                operand: Box::new(expr),
                collation: self.collation_name()?,
            };
        }
        Ok(expr)
    }

    /// Parses a collation's name, or `DEFAULT`, which means that of the character set.
    pub(super) fn collation_or_default(&mut self) -> Result<String> {
        match self.accept_word("DEFAULT") {
            true => Ok(DEFAULT_COLLATION.to_owned()),
            false => self.collation_name(),
        }
    }

    /// Parses the name of a collation or of a character set.
    pub(super) fn collation_name(&mut self) -> Result<String> {
        if self.accept_word("BINARY") {
            Ok("binary".to_owned())
        } else {
            self.identifier_or_text()
        }
    }

    pub(super) fn operand_without_collation(&mut self) -> Result<Expr> {
        let token = match self.peek() {
            Token::Word { .. } => return self.word_operand(),
            Token::Quoted(_) => return self.column_or_function(),
            Token::Integer | Token::Decimal | Token::Float => {
                let token = self.advance();
                return Ok(Expr::number(self.word_text(&token)));
            }
            Token::Text(_) => return Ok(Expr::text(self.adjacent_text()?)),
            Token::Parameter => {
                self.advance();
                let number = self.parameters;
                self.parameters += 1;
                return Ok(Expr::Parameter(number));
            }
            token => token,
        };
        let unary = match token {
            Token::Plus => UnaryOp::Plus,
            Token::Minus => UnaryOp::Minus,
            Token::Tilde => UnaryOp::BitNot,
            Token::Exclamation => UnaryOp::Not,
            Token::LeftParen => return self.parenthesized_operand(),
            Token::LeftBrace => return self.braced_operand(),
            Token::AtAt => return self.system_variable(),
            Token::UserVariable(_) => return self.user_variable(),
            Token::Bytes(_) => {
                let bytes = self.text_bytes()?;
                return Ok(binary_string(&bytes));
            }
            Token::Hex(_) | Token::Bits(_) | Token::National(_) => return self.other_literal(),
            Token::Dot => return self.column_after_dot(),
            // The name that MariaDB requires after `@` is missing.
            Token::At => {
                self.advance();
                return Err(self.error());
            }
            _ => return Err(self.error()),
        };
        self.advance();
        Ok(Expr::Unary {
            op: unary,
            operand: Box::new(self.operand()?),
        })
    }

    /// Parses adjacent strings as one.
    fn adjacent_text(&mut self) -> Result<String> {
        let mut text = self.text()?;
        while matches!(self.peek(), Token::Text(_)) {
            text.push_str(&self.text()?);
        }
        Ok(text)
    }

    fn other_literal(&mut self) -> Result<Expr> {
        let is_hybrid = self.current_text().first() == Some(&b'0');
        Ok(match self.advance().token {
            Token::Hex(digits) if is_hybrid => Expr::Literal(Literal::HexNumber(digits)),
            Token::Hex(digits) => Expr::Literal(Literal::Hex(digits)),
            Token::Bits(digits) => Expr::Literal(Literal::Bits(digits)),
            Token::National(mut text) => {
                while matches!(self.peek(), Token::Text(_)) {
                    text.push_str(&self.text()?);
                }
                Expr::Introduced {
                    charset: "utf8mb3".to_owned(),
                    literal: Literal::Text(text),
                }
            }
            _ => return Err(self.error()),
        })
    }

    fn parenthesized_operand(&mut self) -> Result<Expr> {
        // Redundant parentheses are not levels of the tree: they are counted here and closed one by one.
        let mut open = 0;
        let mut inner = match self.parentheses_before_subquery() {
            Some(outer) => {
                while open < outer {
                    self.expect_token(&Token::LeftParen)?;
                    open += 1;
                }
                self.features.subqueries += 1;
                let subquery = Expr::Subquery(Box::new(self.subquery()?));
                if open == 0 {
                    return Ok(subquery);
                }
                let operand = self.collated(subquery)?;
                self.operation(operand, Level::Or)?
            }
            None => {
                while self.accept(&Token::LeftParen) {
                    open += 1;
                }
                self.expr()?
            }
        };
        loop {
            inner = if self.accept(&Token::Comma) {
                let mut list = vec![inner];
                list.extend(self.comma_separated(Self::expr)?);
                Expr::Row(list)
            } else if matches!(inner, Expr::Nested(_)) {
                inner
            } else {
                Expr::Nested(Box::new(inner))
            };
            self.expect_token(&Token::RightParen)?;
            open -= 1;
            if open == 0 {
                return Ok(inner);
            }
            if !self.is(&Token::RightParen) {
                inner = self.collated(inner)?;
                inner = self.operation(inner, Level::Or)?;
            }
        }
    }

    /// Parses ODBC's `{d '2020-01-01'}`, `{fn …}`, and `{word expr}`, which is just the expression.
    fn braced_operand(&mut self) -> Result<Expr> {
        self.advance();
        let word = self.identifier()?.to_ascii_lowercase();
        let expr = self.expr()?;
        self.expect_token(&Token::RightBrace)?;
        let kind = match word.as_str() {
            "d" => TemporalKind::Date,
            "t" => TemporalKind::Time,
            "ts" => TemporalKind::Timestamp,
            _ => return Ok(expr),
        };
        Ok(match expr {
            // Any other text stays a string.
            Expr::Literal(Literal::Text(text)) if is_temporal(kind, &text) => {
                Expr::TemporalLiteral { kind, text }
            }
            expr => expr,
        })
    }

    /// Takes `@name`.
    pub(super) fn user_variable_name(&mut self) -> Result<String> {
        if !matches!(self.peek(), Token::UserVariable(_)) {
            return Err(self.error());
        }
        match self.advance().token {
            Token::UserVariable(name) => Ok(name),
            _ => Err(self.error()),
        }
    }

    fn user_variable(&mut self) -> Result<Expr> {
        let name = self.user_variable_name()?;
        if self.accept(&Token::Assign) {
            return Ok(Expr::Assignment {
                variable: name,
                value: Box::new(self.expr()?),
            });
        }
        Ok(Expr::UserVariable(name))
    }

    /// Parses `@@[scope.]name`.
    fn system_variable(&mut self) -> Result<Expr> {
        self.advance();
        let mut name = self.variable_word()?;
        let scope = match name.to_ascii_lowercase().as_str() {
            "global" => VariableScope::Global,
            "session" | "local" => VariableScope::Session,
            _ => VariableScope::Default,
        };
        if scope != VariableScope::Default {
            self.expect_token(&Token::Dot)?;
            name = self.identifier_after_dot()?;
        }
        if self.accept(&Token::Dot) {
            name = format!("{name}.{}", self.identifier_after_dot()?);
        }
        Ok(Expr::SystemVariable { scope, name })
    }

    /// Parses a variable's name. After `@@` it may be any word.
    fn variable_word(&mut self) -> Result<String> {
        match self.peek() {
            Token::Word { .. } | Token::Quoted(_) => self.identifier_after_dot(),
            _ => Err(self.error()),
        }
    }

    fn word_operand(&mut self) -> Result<Expr> {
        let Token::Word { reserved } = *self.peek() else {
            return Err(self.error());
        };
        if self.is_at(1, &Token::LeftParen) {
            return self.function();
        }
        if !reserved {
            return self.plain_word_operand();
        }
        let expr = if self.accept_word("NULL") {
            Expr::Literal(Literal::Null)
        } else if self.accept_word("TRUE") {
            Expr::Literal(Literal::Boolean(true))
        } else if self.accept_word("FALSE") {
            Expr::Literal(Literal::Boolean(false))
        } else if self.is_word("CASE") {
            return self.case();
        } else if self.accept_word("BINARY") {
            Expr::Cast {
                operand: Box::new(self.operand()?),
                target: CastType::Binary(None),
            }
        } else if self.is_word("INTERVAL") {
            return self.interval();
        } else if self.is_word("NOT") && self.not_is_tight() {
            self.advance();
            Expr::negation(self.operand()?)
        } else if self.is_any_word(&[
            "CURRENT_DATE",
            "CURRENT_TIME",
            "CURRENT_TIMESTAMP",
            "CURRENT_USER",
            "CURRENT_ROLE",
            "LOCALTIME",
            "LOCALTIMESTAMP",
            "UTC_DATE",
            "UTC_TIME",
            "UTC_TIMESTAMP",
        ]) {
            let token = self.advance();
            Expr::Call(Box::new(FunctionCall::with_arguments(
                self.word_text(&token),
                Arguments::Absent,
            )))
        } else {
            // DEFAULT is an operand only as DEFAULT(column).
            self.accept_word("DEFAULT");
            return Err(self.error());
        };
        Ok(expr)
    }

    fn plain_word_operand(&mut self) -> Result<Expr> {
        let next_is_text = matches!(self.peek_at(1).token, Token::Text(_));
        let word = self.current_text();
        if next_is_text {
            let kind = match word.to_ascii_uppercase().as_slice() {
                b"DATE" => Some(TemporalKind::Date),
                b"TIME" => Some(TemporalKind::Time),
                b"TIMESTAMP" => Some(TemporalKind::Timestamp),
                _ => None,
            };
            if let Some(kind) = kind {
                self.advance();
                let text = self.text()?;
                return Ok(Expr::TemporalLiteral { kind, text });
            }
        }
        if self.is_introduced_string() {
            return self.introduced_string();
        }
        if let Some(value) = self.sequence_value()? {
            return Ok(value);
        }
        self.column_or_function()
    }

    /// Returns whether `_charset'…'` begins at the cursor.
    pub(super) fn is_introduced_string(&mut self) -> bool {
        let word = self.current_text();
        word.first() == Some(&b'_')
            && is_introducer(word)
            && matches!(
                self.peek_at(1).token,
                Token::Text(_) | Token::Bytes(_) | Token::Hex(_) | Token::Bits(_)
            )
    }

    /// Parses `_charset'…'`.
    fn introduced_string(&mut self) -> Result<Expr> {
        let token = self.advance();
        let charset = self.word_text(&token)[1..].to_ascii_lowercase();
        let literal = match self.peek() {
            Token::Text(_) => Literal::Text(self.adjacent_text()?),
            Token::Bytes(_) => Literal::of_bytes(&self.text_bytes()?),
            Token::Bits(digits) => {
                let digits = digits.clone();
                self.advance();
                Literal::Bits(digits)
            }
            Token::Hex(digits) => {
                let padding = if digits.len() % 2 == 1 { "0" } else { "" };
                let digits = format!("{padding}{digits}");
                self.advance();
                Literal::Hex(digits)
            }
            _ => return Err(self.error()),
        };
        Ok(Expr::Introduced { charset, literal })
    }

    /// Parses `a`, `t.a`, `db.t.a`, or a call of a stored function.
    fn column_or_function(&mut self) -> Result<Expr> {
        let is_quoted = matches!(self.peek(), Token::Quoted(_));
        let first = self.identifier()?;
        if is_quoted && self.is(&Token::LeftParen) {
            return self.function_named(None, first);
        }
        if !self.accept(&Token::Dot) {
            return Ok(self
                .variable_named(&first)?
                .unwrap_or_else(|| Expr::column(first)));
        }
        let second = self.identifier_after_dot()?;
        if self.is(&Token::LeftParen) {
            return self.function_named(Some(first), second);
        }
        if !self.is(&Token::Dot)
            && let Some(variable) = self.qualified_variable(&first, &second)?
        {
            return Ok(variable);
        }
        Ok(Expr::Column(if self.accept(&Token::Dot) {
            ColumnName {
                database: Some(first),
                table: Some(second),
                name: self.identifier_after_dot()?,
            }
        } else {
            ColumnName {
                database: None,
                table: Some(first),
                name: second,
            }
        }))
    }

    /// Parses `.t.a`, a column of a table of the current database.
    fn column_after_dot(&mut self) -> Result<Expr> {
        self.expect_token(&Token::Dot)?;
        let table = self.identifier()?;
        self.expect_token(&Token::Dot)?;
        Ok(Expr::Column(ColumnName {
            database: None,
            table: Some(table),
            name: self.identifier()?,
        }))
    }

    pub(super) fn case(&mut self) -> Result<Expr> {
        self.advance();
        let operand = if self.is_word("WHEN") {
            None
        } else {
            Some(Box::new(self.expr()?))
        };
        let mut branches = Vec::new();
        self.expect_word("WHEN")?;
        loop {
            let condition = self.expr()?;
            self.expect_word("THEN")?;
            branches.push(CaseBranch {
                condition,
                result: self.expr()?,
            });
            if !self.accept_word("WHEN") {
                break;
            }
        }
        let otherwise = if self.accept_word("ELSE") {
            Some(Box::new(self.expr()?))
        } else {
            None
        };
        self.expect_word("END")?;
        Ok(Expr::Case {
            operand,
            branches,
            otherwise,
        })
    }

    /// Parses `INTERVAL expr unit`. With parentheses after INTERVAL, it may be the function.
    pub(super) fn interval(&mut self) -> Result<Expr> {
        self.expect_word("INTERVAL")?;
        if self.is(&Token::LeftParen) && !self.is_subquery() {
            self.advance();
            let mut list = self.comma_separated(Self::expr)?;
            self.expect_token(&Token::RightParen)?;
            if list.len() > 1 || IntervalUnit::from_word(self.current_text()).is_none() {
                return Ok(Expr::call("INTERVAL", list));
            }
            let inner = Expr::Nested(Box::new(list.swap_remove(0)));
            return self.interval_of(inner);
        }
        let inner = self.expr()?;
        self.interval_of(inner)
    }

    fn interval_of(&mut self, value: Expr) -> Result<Expr> {
        Ok(Expr::Interval(Interval {
            value: Box::new(value),
            unit: self.interval_unit()?,
        }))
    }

    /// Parses the unit of an INTERVAL, of EXTRACT or of TIMESTAMPADD.
    pub(super) fn interval_unit(&mut self) -> Result<IntervalUnit> {
        let unit = IntervalUnit::from_word(self.current_text()).ok_or_else(|| self.error())?;
        self.advance();
        Ok(unit)
    }
}

/// Returns a tree of the terms in order, as flat as possible.
fn balanced(mut terms: Vec<Expr>, op: BinaryOp) -> Expr {
    debug_assert!(!terms.is_empty());
    if terms.len() <= 8 {
        // A few terms keep the usual tree: ((a AND b) AND c).
        return terms
            .into_iter()
            .reduce(|left, right| Expr::binary(left, op, right))
            .expect("at least one term");
    }
    let right = terms.split_off(terms.len() / 2);
    Expr::binary(balanced(terms, op), op, balanced(right, op))
}

/// Returns whether a text is a whole value of this kind.
fn is_temporal(kind: TemporalKind, text: &str) -> bool {
    let modes = DateModes::default();
    match kind {
        TemporalKind::Date => {
            temporal::parse_datetime(text, modes).is_some_and(|parsed| !parsed.truncated && !parsed.has_time)
        }
        TemporalKind::Time => {
            matches!(temporal::parse_time_under(text, modes), Some(ParsedTemporal::Time(parsed)) if !parsed.truncated && !parsed.clipped)
        }
        TemporalKind::DateTime | TemporalKind::Timestamp => temporal::parse_datetime(text, modes)
            .is_some_and(|parsed| !parsed.truncated && (parsed.has_time || text.contains([' ', 'T']))),
    }
}

/// Returns whether `_word` names a character set.
fn is_introducer(word: &[u8]) -> bool {
    const CHARSETS: &[&str] = &[
        "_utf8mb4",
        "_utf8mb3",
        "_utf8",
        "_latin1",
        "_binary",
        "_ascii",
        "_ucs2",
        "_utf16",
        "_utf16le",
        "_utf32",
        "_cp1250",
        "_cp1251",
        "_cp1256",
        "_cp1257",
        "_cp850",
        "_cp852",
        "_cp866",
        "_cp932",
        "_big5",
        "_dec8",
        "_hp8",
        "_koi8r",
        "_koi8u",
        "_latin2",
        "_latin5",
        "_latin7",
        "_swe7",
        "_ujis",
        "_sjis",
        "_hebrew",
        "_tis620",
        "_euckr",
        "_gb2312",
        "_greek",
        "_gbk",
        "_armscii8",
        "_keybcs2",
        "_macce",
        "_macroman",
        "_geostd8",
        "_eucjpms",
    ];
    CHARSETS
        .iter()
        .any(|charset| word.eq_ignore_ascii_case(charset.as_bytes()))
}
