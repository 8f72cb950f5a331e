//! Expressions.

use paceline_types::FixedBinaryType;

use super::{ColumnName, FunctionCall, Literal, Query, SequenceValue};
use crate::ast::VariableScope;

/// An expression.
#[derive(Debug, Clone, PartialEq)]
pub enum Expr {
    /// `a`, `t.a`, `db.t.a`.
    Column(ColumnName),
    /// `@name`, without the `@`.
    UserVariable(String),
    /// `@@name`, `@@global.name`, `@@session.name`; a structured variable is `instance.name`.
    SystemVariable { scope: VariableScope, name: String },
    /// `@name := value`.
    Assignment { variable: String, value: Box<Expr> },
    /// `?`. Parameters are numbered from 0 in the order of the text, in whatever order the tree is walked.
    Parameter(usize),
    /// A literal.
    Literal(Literal),
    /// `_charset'text'`, `_charset x'…'`, `N'text'` (character set utf8mb3), and a string that is not valid
    /// UTF-8 (binary).
    Introduced {
        /// Name of the character set as written, in lower case.
        charset: String,
        /// The string.
        literal: Literal,
    },
    /// `DATE'…'`, `TIME'…'`, `TIMESTAMP'…'`, and ODBC's `{d '…'}`.
    TemporalLiteral { kind: TemporalKind, text: String },
    /// `(expr)`. Parentheses around parentheses are one.
    Nested(Box<Expr>),
    /// `op operand`.
    Unary { op: UnaryOp, operand: Box<Expr> },
    /// `left op right`.
    Binary {
        left: Box<Expr>,
        op: BinaryOp,
        right: Box<Expr>,
    },
    /// `operand IS [NOT] NULL|TRUE|FALSE|UNKNOWN`.
    Is {
        operand: Box<Expr>,
        test: TruthTest,
        negated: bool,
    },
    /// `operand [NOT] BETWEEN low AND high`.
    Between {
        operand: Box<Expr>,
        negated: bool,
        /// Lower bound, inclusive.
        low: Box<Expr>,
        /// Upper bound, inclusive.
        high: Box<Expr>,
    },
    /// `operand [NOT] IN (list)`.
    InList {
        operand: Box<Expr>,
        /// Never empty.
        list: Vec<Expr>,
        negated: bool,
    },
    /// `operand [NOT] IN (query)`.
    InSubquery {
        operand: Box<Expr>,
        subquery: Box<Query>,
        negated: bool,
    },
    /// `left op ANY|ALL (query)`.
    Quantified {
        left: Box<Expr>,
        /// A comparison operator.
        op: BinaryOp,
        quantifier: Quantifier,
        subquery: Box<Query>,
    },
    /// `EXISTS (query)`.
    Exists(Box<Query>),
    /// `(query)` as a value or a row.
    Subquery(Box<Query>),
    /// `text [NOT] LIKE pattern [ESCAPE escape]`.
    Like {
        text: Box<Expr>,
        pattern: Box<Expr>,
        escape: Option<Box<Expr>>,
        negated: bool,
    },
    /// `text [NOT] REGEXP pattern`.
    Regexp {
        text: Box<Expr>,
        pattern: Box<Expr>,
        negated: bool,
    },
    /// `(a, b, …)`, `ROW(a, b, …)`.
    Row(Vec<Expr>),
    /// `CASE [operand] WHEN … THEN … [ELSE …] END`.
    Case {
        /// Value to compare with each branch's; without it each branch has a condition.
        operand: Option<Box<Expr>>,
        /// Never empty.
        branches: Vec<CaseBranch>,
        otherwise: Option<Box<Expr>>,
    },
    /// `CAST(operand AS target)`, `CONVERT(operand, target)`, `BINARY operand`.
    Cast { operand: Box<Expr>, target: CastType },
    /// `CONVERT(operand USING charset)`, `CHAR(… USING charset)`.
    ConvertUsing { operand: Box<Expr>, charset: String },
    /// `operand COLLATE collation`.
    Collate { operand: Box<Expr>, collation: String },
    /// `INTERVAL value unit`: an operand of `+`, `-` and of functions such as DATE_ADD.
    Interval(Interval),
    /// `EXTRACT(unit FROM operand)`.
    Extract {
        unit: IntervalUnit,
        /// The value to take the part from.
        operand: Box<Expr>,
    },
    /// `TIMESTAMPADD(unit, amount, date)`.
    TimestampAdd {
        unit: IntervalUnit,
        /// Number of units to add.
        amount: Box<Expr>,
        /// The value to add to.
        date: Box<Expr>,
    },
    /// `TIMESTAMPDIFF(unit, from, to)`.
    TimestampDiff {
        unit: IntervalUnit,
        from: Box<Expr>,
        to: Box<Expr>,
    },
    /// `GET_FORMAT(kind, region)`.
    GetFormat { kind: TemporalKind, region: Box<Expr> },
    /// `COLUMN_CREATE(name, value [AS type], …)`; with a base `COLUMN_ADD(base, name, value [AS type], …)`.
    DynamicColumns {
        /// The dynamic columns to change.
        base: Option<Box<Expr>>,
        /// Never empty.
        columns: Vec<DynamicColumn>,
    },
    /// `COLUMN_GET(columns, name AS target)`.
    DynamicColumn {
        columns: Box<Expr>,
        name: Box<Expr>,
        target: CastType,
    },
    /// `TRIM([side] [what] FROM text)`.
    Trim {
        side: Option<TrimSide>,
        /// String to remove; a space if absent.
        what: Option<Box<Expr>>,
        text: Box<Expr>,
    },
    /// A value of a sequence.
    Sequence(Box<SequenceValue>),
    /// Any other function, including aggregates and window functions.
    Call(Box<FunctionCall>),
}

/// `name, value [AS type]` of COLUMN_CREATE and COLUMN_ADD.
#[derive(Debug, Clone, PartialEq)]
pub struct DynamicColumn {
    /// Name or number of the column.
    pub name: Expr,
    pub value: Expr,
    /// The type of the value if absent.
    pub stored_as: Option<DynamicType>,
}

/// Types of dynamic columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DynamicType {
    /// `INT`.
    Signed,
    /// `UNSIGNED INT`.
    Unsigned,
    /// `DOUBLE`, `FLOAT`.
    Double,
    /// `DECIMAL`.
    Decimal,
    /// `CHAR [CHARACTER SET charset] [COLLATE collation]`: the bytes of the value, in this character set.
    Char {
        /// The connection's character set if absent.
        charset: Option<String>,
        /// The character set's default if absent; `binary` for the keyword BINARY.
        collation: Option<String>,
    },
    /// `DATE`.
    Date,
    /// `TIME`.
    Time,
    /// `DATETIME`.
    DateTime,
}

/// `WHEN condition THEN result`.
#[derive(Debug, Clone, PartialEq)]
pub struct CaseBranch {
    /// The condition, or the value to compare with.
    pub condition: Expr,
    pub result: Expr,
}

/// `INTERVAL value unit`.
#[derive(Debug, Clone, PartialEq)]
pub struct Interval {
    pub value: Box<Expr>,
    pub unit: IntervalUnit,
}

/// Unary operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnaryOp {
    /// `+`, which has no effect.
    Plus,
    /// `-`.
    Minus,
    /// `NOT`, `!`.
    Not,
    /// `~`.
    BitNot,
}

/// Binary operators.
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
}

/// Tests of IS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TruthTest {
    /// `NULL`, `UNKNOWN`.
    Null,
    /// `TRUE`.
    True,
    /// `FALSE`.
    False,
}

/// Quantifier of a comparison with a subquery.
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
    /// Returns the keyword, in capitals.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Date => "DATE",
            Self::Time => "TIME",
            Self::DateTime => "DATETIME",
            Self::Timestamp => "TIMESTAMP",
        }
    }
}

/// Sides that TRIM can remove from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrimSide {
    Both,
    Leading,
    Trailing,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CastType {
    /// `BINARY[(length)]`, in bytes.
    Binary(Option<u64>),
    /// `CHAR[(length)] [CHARACTER SET charset]`.
    Char {
        /// In characters.
        length: Option<u64>,
        /// The connection's character set if absent.
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
    /// `DOUBLE[(precision, scale)]`.
    Double(Option<(u64, u64)>),
    /// `FLOAT`.
    Float,
    /// `DATE`.
    Date,
    /// `TIME[(decimals)]`.
    Time(Option<u64>),
    /// `DATETIME[(decimals)]`.
    DateTime(Option<u64>),
    /// `UUID`, `INET6`, `INET4`.
    FixedBinary(FixedBinaryType),
}

/// Units of INTERVAL, EXTRACT, TIMESTAMPADD and TIMESTAMPDIFF.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
    /// All units with their keywords in capitals.
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

    /// Returns the unit for a word in any case. ODBC's names (`SQL_TSI_DAY`) are known too.
    pub(crate) fn from_word(word: &[u8]) -> Option<Self> {
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

    /// Returns the keyword, in capitals.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize].1
    }
}

impl Expr {
    /// Returns a column without qualification.
    pub fn column(name: impl Into<String>) -> Self {
        Self::Column(ColumnName::new(name))
    }

    /// Returns a number.
    pub fn number(digits: impl Into<String>) -> Self {
        Self::Literal(Literal::Number(digits.into()))
    }

    /// Returns a string.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Literal(Literal::Text(text.into()))
    }

    /// Returns `left op right`.
    pub fn binary(left: Self, op: BinaryOp, right: Self) -> Self {
        Self::Binary {
            left: Box::new(left),
            op,
            right: Box::new(right),
        }
    }

    /// Returns `NOT operand`.
    #[must_use]
    pub fn negation(operand: Self) -> Self {
        Self::Unary {
            op: UnaryOp::Not,
            operand: Box::new(operand),
        }
    }

    /// Returns `name(arguments)`.
    pub fn call(name: impl Into<String>, arguments: Vec<Self>) -> Self {
        Self::Call(Box::new(FunctionCall::new(name, arguments)))
    }

    /// Returns the expression inside any parentheses.
    pub fn without_parentheses(&self) -> &Self {
        let mut expr = self;
        while let Self::Nested(inner) = expr {
            expr = inner;
        }
        expr
    }

    /// Takes the expression, leaving NULL in its place.
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
