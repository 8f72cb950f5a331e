//! Expressions.

use super::{ColumnName, FunctionCall, Literal, Query};
use crate::ast::VariableScope;

/// An expression.
#[derive(Debug, Clone, PartialEq)]
pub enum Expr {
    /// `a`, `t.a`, `db.t.a`.
    Column(ColumnName),
    /// `@name`, without the `@`.
    UserVariable(String),
    /// `@@name`, `@@global.name`, `@@session.name`; a structured variable is `instance.name`.
    SystemVariable {
        /// The scope, where one was written.
        scope: VariableScope,
        /// The name as it was written.
        name: String,
    },
    /// `@name := value`.
    Assignment {
        /// The user variable, without the `@`.
        variable: String,
        /// Its new value.
        value: Box<Expr>,
    },
    /// `?`: the parameters of a text are numbered from 0 in the order of the text, in whatever order the tree is
    /// walked.
    Parameter(usize),
    /// A literal.
    Literal(Literal),
    /// `_charset'text'`, `_charset x'…'`, `N'text'` (character set utf8mb3), and a string whose bytes are no text
    /// (binary).
    Introduced {
        /// The character set's name as it was written, in lower case.
        charset: String,
        /// The string.
        literal: Literal,
    },
    /// `DATE'…'`, `TIME'…'`, `TIMESTAMP'…'`, and ODBC's `{d '…'}`.
    TemporalLiteral {
        /// Its type.
        kind: TemporalKind,
        /// The string.
        text: String,
    },
    /// `(expr)`. Parentheses around parentheses are one.
    Nested(Box<Expr>),
    /// `op operand`.
    Unary {
        /// The operator.
        op: UnaryOp,
        /// Its operand.
        operand: Box<Expr>,
    },
    /// `left op right`.
    Binary {
        /// The left operand.
        left: Box<Expr>,
        /// The operator.
        op: BinaryOp,
        /// The right operand.
        right: Box<Expr>,
    },
    /// `operand IS [NOT] NULL|TRUE|FALSE|UNKNOWN`.
    Is {
        /// What is tested.
        operand: Box<Expr>,
        /// The test.
        test: TruthTest,
        /// `NOT`.
        negated: bool,
    },
    /// `operand [NOT] BETWEEN low AND high`.
    Between {
        /// What is compared.
        operand: Box<Expr>,
        /// `NOT`.
        negated: bool,
        /// The lower bound, inclusive.
        low: Box<Expr>,
        /// The upper bound, inclusive.
        high: Box<Expr>,
    },
    /// `operand [NOT] IN (list)`.
    InList {
        /// What is looked for.
        operand: Box<Expr>,
        /// The list; never empty.
        list: Vec<Expr>,
        /// `NOT`.
        negated: bool,
    },
    /// `operand [NOT] IN (query)`.
    InSubquery {
        /// What is looked for.
        operand: Box<Expr>,
        /// The query.
        subquery: Box<Query>,
        /// `NOT`.
        negated: bool,
    },
    /// `left op ANY|ALL (query)`.
    Quantified {
        /// The left operand.
        left: Box<Expr>,
        /// A comparison.
        op: BinaryOp,
        /// `ANY` or `ALL`.
        quantifier: Quantifier,
        /// The query.
        subquery: Box<Query>,
    },
    /// `EXISTS (query)`.
    Exists(Box<Query>),
    /// `(query)` as a value or a row.
    Subquery(Box<Query>),
    /// `text [NOT] LIKE pattern [ESCAPE escape]`.
    Like {
        /// The text.
        text: Box<Expr>,
        /// The pattern.
        pattern: Box<Expr>,
        /// The escape character.
        escape: Option<Box<Expr>>,
        /// `NOT`.
        negated: bool,
    },
    /// `text [NOT] REGEXP pattern`.
    Regexp {
        /// The text.
        text: Box<Expr>,
        /// The pattern.
        pattern: Box<Expr>,
        /// `NOT`.
        negated: bool,
    },
    /// `(a, b, …)`, `ROW(a, b, …)`.
    Row(Vec<Expr>),
    /// `CASE [operand] WHEN … THEN … [ELSE …] END`.
    Case {
        /// What the conditions are compared with; without it they are conditions.
        operand: Option<Box<Expr>>,
        /// The branches; never empty.
        branches: Vec<CaseBranch>,
        /// `ELSE`.
        otherwise: Option<Box<Expr>>,
    },
    /// `CAST(operand AS target)`, `CONVERT(operand, target)`, `BINARY operand`.
    Cast {
        /// The operand.
        operand: Box<Expr>,
        /// The type.
        target: CastType,
    },
    /// `CONVERT(operand USING charset)`, `CHAR(… USING charset)`.
    ConvertUsing {
        /// The operand.
        operand: Box<Expr>,
        /// The character set.
        charset: String,
    },
    /// `operand COLLATE collation`.
    Collate {
        /// The operand.
        operand: Box<Expr>,
        /// The collation.
        collation: String,
    },
    /// `INTERVAL value unit`: an operand of `+`, `-` and of functions such as DATE_ADD.
    Interval(Interval),
    /// `EXTRACT(unit FROM operand)`.
    Extract {
        /// The part.
        unit: IntervalUnit,
        /// What it is taken from.
        operand: Box<Expr>,
    },
    /// `TIMESTAMPADD(unit, amount, date)`.
    TimestampAdd {
        /// The unit.
        unit: IntervalUnit,
        /// How many of them.
        amount: Box<Expr>,
        /// What they are added to.
        date: Box<Expr>,
    },
    /// `TIMESTAMPDIFF(unit, from, to)`.
    TimestampDiff {
        /// The unit.
        unit: IntervalUnit,
        /// The beginning.
        from: Box<Expr>,
        /// The end.
        to: Box<Expr>,
    },
    /// `GET_FORMAT(kind, region)`.
    GetFormat {
        /// The type.
        kind: TemporalKind,
        /// The region.
        region: Box<Expr>,
    },
    /// `TRIM([side] [what] FROM text)`.
    Trim {
        /// The side.
        side: Option<TrimSide>,
        /// What is removed; a space if absent.
        what: Option<Box<Expr>>,
        /// The text.
        text: Box<Expr>,
    },
    /// Any other function, aggregates and window functions among them.
    Call(Box<FunctionCall>),
}

/// `WHEN condition THEN result`.
#[derive(Debug, Clone, PartialEq)]
pub struct CaseBranch {
    /// The condition, or the value to compare with.
    pub condition: Expr,
    /// The result.
    pub result: Expr,
}

/// `INTERVAL value unit`.
#[derive(Debug, Clone, PartialEq)]
pub struct Interval {
    /// How many.
    pub value: Box<Expr>,
    /// Of what.
    pub unit: IntervalUnit,
}

/// Operators with one operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnaryOp {
    /// `+`, which does nothing.
    Plus,
    /// `-`.
    Minus,
    /// `NOT`, `!`.
    Not,
    /// `~`.
    BitNot,
}

/// Operators with two operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BinaryOp {
    /// `+`.
    Add,
    /// `-`.
    Subtract,
    /// `*`.
    Multiply,
    /// `/`.
    Divide,
    /// `DIV`.
    IntDivide,
    /// `%`, `MOD`.
    Modulo,
    /// `=`.
    Equal,
    /// `<=>`.
    NullSafeEqual,
    /// `<>`, `!=`.
    NotEqual,
    /// `<`.
    Less,
    /// `<=`.
    LessOrEqual,
    /// `>`.
    Greater,
    /// `>=`.
    GreaterOrEqual,
    /// `AND`, `&&`.
    And,
    /// `OR`; `||` without PIPES_AS_CONCAT.
    Or,
    /// `XOR`.
    Xor,
    /// `&`.
    BitAnd,
    /// `|`.
    BitOr,
    /// `^`.
    BitXor,
    /// `<<`.
    ShiftLeft,
    /// `>>`.
    ShiftRight,
    /// `||` with PIPES_AS_CONCAT.
    Concat,
}

/// What IS tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TruthTest {
    /// `NULL`, `UNKNOWN`.
    Null,
    /// `TRUE`.
    True,
    /// `FALSE`.
    False,
}

/// The word before a subquery that is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantifier {
    /// `ANY`, `SOME`.
    Any,
    /// `ALL`.
    All,
}

/// Types of temporal literals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TemporalKind {
    /// `DATE`.
    Date,
    /// `TIME`.
    Time,
    /// `DATETIME`, of GET_FORMAT only.
    DateTime,
    /// `TIMESTAMP`.
    Timestamp,
}

impl TemporalKind {
    /// The word, in capitals.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Date => "DATE",
            Self::Time => "TIME",
            Self::DateTime => "DATETIME",
            Self::Timestamp => "TIMESTAMP",
        }
    }
}

/// Where TRIM removes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)] // SQL's own words
pub enum TrimSide {
    Both,
    Leading,
    Trailing,
}

/// The type of a CAST.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CastType {
    /// `BINARY[(length)]`, in bytes.
    Binary(Option<u64>),
    /// `CHAR[(length)] [CHARACTER SET charset]`.
    Char {
        /// In characters.
        length: Option<u64>,
        /// The character set; the connection's if absent.
        charset: Option<String>,
    },
    /// `SIGNED`.
    Signed,
    /// `UNSIGNED`.
    Unsigned,
    /// `DECIMAL[(precision[, scale])]`.
    Decimal {
        /// Number of digits.
        precision: Option<u64>,
        /// Digits after the point.
        scale: Option<u64>,
    },
    /// `DOUBLE[(precision[, scale])]`, which ignores both.
    Double,
    /// `FLOAT`.
    Float,
    /// `DATE`.
    Date,
    /// `TIME[(decimals)]`.
    Time(Option<u64>),
    /// `DATETIME[(decimals)]`.
    DateTime(Option<u64>),
}

/// Units of INTERVAL, EXTRACT, TIMESTAMPADD and TIMESTAMPDIFF.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)] // SQL's own words
pub enum IntervalUnit {
    Microsecond,
    Second,
    Minute,
    Hour,
    Day,
    Week,
    Month,
    Quarter,
    Year,
    SecondMicrosecond,
    MinuteMicrosecond,
    MinuteSecond,
    HourMicrosecond,
    HourSecond,
    HourMinute,
    DayMicrosecond,
    DaySecond,
    DayMinute,
    DayHour,
    YearMonth,
}

impl IntervalUnit {
    /// All units with their words in capitals.
    const NAMES: &'static [(Self, &'static str)] = &[
        (Self::Microsecond, "MICROSECOND"),
        (Self::Second, "SECOND"),
        (Self::Minute, "MINUTE"),
        (Self::Hour, "HOUR"),
        (Self::Day, "DAY"),
        (Self::Week, "WEEK"),
        (Self::Month, "MONTH"),
        (Self::Quarter, "QUARTER"),
        (Self::Year, "YEAR"),
        (Self::SecondMicrosecond, "SECOND_MICROSECOND"),
        (Self::MinuteMicrosecond, "MINUTE_MICROSECOND"),
        (Self::MinuteSecond, "MINUTE_SECOND"),
        (Self::HourMicrosecond, "HOUR_MICROSECOND"),
        (Self::HourSecond, "HOUR_SECOND"),
        (Self::HourMinute, "HOUR_MINUTE"),
        (Self::DayMicrosecond, "DAY_MICROSECOND"),
        (Self::DaySecond, "DAY_SECOND"),
        (Self::DayMinute, "DAY_MINUTE"),
        (Self::DayHour, "DAY_HOUR"),
        (Self::YearMonth, "YEAR_MONTH"),
    ];

    /// The unit of a word in any case, ODBC's names (`SQL_TSI_DAY`) among them.
    pub fn from_word(word: &[u8]) -> Option<Self> {
        const ODBC: &[u8] = b"SQL_TSI_";
        let word = match word.get(..ODBC.len()) {
            Some(prefix) if prefix.eq_ignore_ascii_case(ODBC) => &word[ODBC.len()..],
            _ => word,
        };
        if word.eq_ignore_ascii_case(b"FRAC_SECOND") {
            return Some(Self::Microsecond);
        }
        let known = Self::NAMES
            .iter()
            .find(|(_, name)| word.eq_ignore_ascii_case(name.as_bytes()));
        known.map(|(unit, _)| *unit)
    }

    /// The word, in capitals.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize].1
    }
}

impl Expr {
    /// A column without qualification.
    pub fn column(name: impl Into<String>) -> Self {
        Self::Column(ColumnName::new(name))
    }

    /// A number.
    pub fn number(digits: impl Into<String>) -> Self {
        Self::Literal(Literal::Number(digits.into()))
    }

    /// A string.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Literal(Literal::Text(text.into()))
    }

    /// `left op right`.
    pub fn binary(left: Self, op: BinaryOp, right: Self) -> Self {
        Self::Binary {
            left: Box::new(left),
            op,
            right: Box::new(right),
        }
    }

    /// `NOT operand`.
    #[must_use]
    pub fn negation(operand: Self) -> Self {
        Self::Unary {
            op: UnaryOp::Not,
            operand: Box::new(operand),
        }
    }

    /// `name(arguments)`.
    pub fn call(name: impl Into<String>, arguments: Vec<Self>) -> Self {
        Self::Call(Box::new(FunctionCall::new(name, arguments)))
    }

    /// The expression within any parentheses.
    pub fn without_parentheses(&self) -> &Self {
        let mut expr = self;
        while let Self::Nested(inner) = expr {
            expr = inner;
        }
        expr
    }

    /// Takes the expression, and leaves NULL.
    #[must_use]
    pub fn take(&mut self) -> Self {
        std::mem::replace(self, Self::Literal(Literal::Null))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expression_is_small() {
        assert!(size_of::<Expr>() <= 80, "{}", size_of::<Expr>());
    }

    #[test]
    fn each_unit_has_its_own_word() {
        for (index, (unit, name)) in IntervalUnit::NAMES.iter().enumerate() {
            assert_eq!(*unit as usize, index);
            assert_eq!(unit.name(), *name);
            assert_eq!(
                IntervalUnit::from_word(name.to_lowercase().as_bytes()),
                Some(*unit)
            );
        }
        assert_eq!(
            IntervalUnit::from_word(b"sql_tsi_frac_second"),
            Some(IntervalUnit::Microsecond)
        );
        assert_eq!(IntervalUnit::from_word(b"DECADE"), None);
    }
}
