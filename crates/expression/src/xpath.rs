//! The subset of XPath 1.0 that MariaDB knows: location paths, predicates, unions, operators, and some functions. Names
//! of functions that it does not know are names of elements or node types, and mostly an error then.
//!
//! The parser goes down the grammar with one token of look-ahead. It stops where MariaDB's does, because the error
//! shows the place.

use paceline_syntax::stack;

/// Height of an expression's tree, and depth of parentheses.
const HEIGHT_MAX: u32 = 1000;

/// Bytes of the query that an error shows.
const SHOWN_MAX: usize = 32;

/// A query, and the text that it was parsed from.
#[derive(Debug)]
pub(crate) struct ParsedQuery {
    pub text: String,
    pub xpath: XPath,
}

/// An expression.
#[derive(Debug)]
pub(crate) enum XPath {
    /// The whole document.
    Root,
    /// The node that a predicate tests.
    Current,
    /// The nodes of a path from the nodes of another expression.
    Path(Box<XPath>, Vec<Step>),
    /// The nodes of both sides.
    Union(Box<XPath>, Box<XPath>),
    Integer(i64),
    /// A number with a point, and its digits after it.
    Double(f64, u8),
    Text(String),
    /// `$@name`, in lower case.
    UserVariable(String),
    Compare(CompareOperator, Box<XPath>, Box<XPath>),
    And(Box<XPath>, Box<XPath>),
    Or(Box<XPath>, Box<XPath>),
    Arithmetic(ArithmeticOperator, Box<XPath>, Box<XPath>),
    Negate(Box<XPath>),
    Call(XPathFunction, Vec<XPath>),
}

/// A part of a path.
#[derive(Debug)]
pub(crate) enum Step {
    /// The nodes of this name along an axis. `*` is any name.
    Axis(Axis, String),
    /// The nodes for which a condition is true.
    Predicate(XPath),
    /// The node at this position.
    Position(XPath),
}

/// An axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Axis {
    Ancestor,
    AncestorOrSelf,
    Attribute,
    Child,
    Descendant,
    DescendantOrSelf,
    Parent,
    Itself,
}

/// A comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CompareOperator {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// An operation on numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ArithmeticOperator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
}

/// A function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum XPathFunction {
    Boolean,
    Ceiling,
    Concat,
    Contains,
    Count,
    False,
    Floor,
    Last,
    Not,
    Number,
    Position,
    Round,
    StringLength,
    Substring,
    Sum,
    True,
}

/// Names of the functions, and their fewest and most arguments.
const FUNCTIONS: [(&str, usize, usize, XPathFunction); 16] = [
    ("boolean", 1, 1, XPathFunction::Boolean),
    ("ceiling", 1, 1, XPathFunction::Ceiling),
    ("concat", 2, 255, XPathFunction::Concat),
    ("contains", 2, 2, XPathFunction::Contains),
    ("count", 1, 1, XPathFunction::Count),
    ("false", 0, 0, XPathFunction::False),
    ("floor", 1, 1, XPathFunction::Floor),
    ("last", 0, 0, XPathFunction::Last),
    ("not", 1, 1, XPathFunction::Not),
    ("number", 0, 1, XPathFunction::Number),
    ("position", 0, 0, XPathFunction::Position),
    ("round", 1, 1, XPathFunction::Round),
    ("string-length", 0, 1, XPathFunction::StringLength),
    ("substring", 2, 3, XPathFunction::Substring),
    ("sum", 1, 1, XPathFunction::Sum),
    ("true", 0, 0, XPathFunction::True),
];

/// Names of the axes. The last ones are taken for `child`, as in MariaDB.
const AXES: [(&str, Axis); 13] = [
    ("ancestor", Axis::Ancestor),
    ("ancestor-or-self", Axis::AncestorOrSelf),
    ("attribute", Axis::Attribute),
    ("child", Axis::Child),
    ("descendant", Axis::Descendant),
    ("descendant-or-self", Axis::DescendantOrSelf),
    ("parent", Axis::Parent),
    ("self", Axis::Itself),
    ("following", Axis::Child),
    ("following-sibling", Axis::Child),
    ("namespace", Axis::Child),
    ("preceding", Axis::Child),
    ("preceding-sibling", Axis::Child),
];

const NODE_TYPES: [&str; 4] = ["comment", "text", "processing-instruction", "node"];

impl XPath {
    /// Returns whether the value is a set of nodes.
    pub(crate) fn is_nodes(&self) -> bool {
        matches!(
            self,
            XPath::Root | XPath::Current | XPath::Path(..) | XPath::Union(..)
        )
    }

    /// Returns whether the value is a truth value.
    fn is_boolean(&self) -> bool {
        match self {
            XPath::Compare(..) | XPath::And(..) | XPath::Or(..) => true,
            XPath::Call(function, _) => matches!(
                function,
                XPathFunction::Boolean
                    | XPathFunction::Contains
                    | XPathFunction::False
                    | XPathFunction::Not
                    | XPathFunction::True
            ),
            _ => false,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Term {
    Digits,
    Identifier,
    String,
    And,
    Or,
    Div,
    Mod,
    Function(usize),
    NodeType,
    Axis(Axis),
    Symbol(u8),
    Invalid,
    End,
}

#[derive(Clone, Copy, Debug)]
struct Token {
    term: Term,
    start: usize,
    end: usize,
}

/// An expression, and the height of its tree.
type Item = (XPath, u32);

/// Outcome of a rule: `None` if it does not apply here.
type Parsed<T> = Option<T>;

struct Parser<'q> {
    query: &'q str,
    /// The next token.
    next: Token,
    /// The token before it.
    last: Token,
    /// Set where no other rule may be tried.
    failed: bool,
    /// The first error that is not about syntax.
    error: Option<String>,
    /// Whether a predicate is around.
    has_current: bool,
    depth: u32,
}

/// Parses a query.
///
/// # Errors
/// The text of error 1105.
pub(crate) fn parse(query: &str) -> Result<XPath, String> {
    let start = Token {
        term: Term::End,
        start: 0,
        end: 0,
    };
    let mut parser = Parser {
        query,
        next: start,
        last: start,
        failed: false,
        error: None,
        has_current: false,
        depth: 0,
    };
    parser.next = parser.scan(0);
    let parsed = parser.expr();
    match parsed {
        Some((item, _)) if parser.accept(Term::End) => Ok(item),
        _ => Err(match parser.error.take() {
            Some(error) => error,
            None => format!("XPATH syntax error: '{}'", parser.shown(parser.next.start)),
        }),
    }
}

impl Parser<'_> {
    /// Returns the rest of the query as an error shows it.
    fn shown(&self, start: usize) -> String {
        let rest = &self.query[start..];
        if rest.len() <= SHOWN_MAX {
            return rest.to_owned();
        }
        let end = (0..=SHOWN_MAX - 3).rev().find(|end| rest.is_char_boundary(*end));
        format!("{}...", &rest[..end.unwrap_or(0)])
    }

    fn scan(&self, from: usize) -> Token {
        let rest = &self.query[from..];
        let start = from + (rest.len() - rest.trim_start_matches(' ').len());
        let rest = &self.query[start..];
        let token = |term, length| Token {
            term,
            start,
            end: start + length,
        };
        let Some(first) = rest.chars().next() else {
            return token(Term::End, 0);
        };
        if first.is_alphabetic() || first == '_' {
            let is_inner = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
            let length = rest.find(|c| !is_inner(c)).unwrap_or(rest.len());
            return token(word(&rest[..length], &rest[length..]), length);
        }
        if first.is_ascii_digit() {
            let length = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            return token(Term::Digits, length);
        }
        if matches!(first, '"' | '\'') {
            return match rest[1..].find(first) {
                Some(length) => token(Term::String, length + 2),
                None => token(Term::Invalid, rest.len()),
            };
        }
        match first {
            '!' | '$' | '(' | ')' | '*' | '+' | ',' | '-' | '.' | '/' | ':' | '<' | '=' | '>' | '@' | '['
            | ']' | '|' => token(Term::Symbol(first as u8), 1),
            _ => token(Term::Invalid, first.len_utf8()),
        }
    }

    fn accept(&mut self, term: Term) -> bool {
        if self.next.term != term || self.failed {
            return false;
        }
        self.advance();
        true
    }

    fn advance(&mut self) {
        self.last = self.next;
        self.next = self.scan(self.last.end);
    }

    fn symbol(&mut self, symbol: u8) -> bool {
        self.accept(Term::Symbol(symbol))
    }

    /// Forbids other rules.
    fn fail<T>(&mut self) -> Parsed<T> {
        self.failed = true;
        None
    }

    /// Returns an expression made of others.
    fn made(&mut self, item: XPath, height: u32) -> Parsed<Item> {
        match height < HEIGHT_MAX {
            true => Some((item, height + 1)),
            false => self.fail(),
        }
    }

    fn expr(&mut self) -> Parsed<Item> {
        if self.depth >= HEIGHT_MAX {
            return self.fail();
        }
        self.depth += 1;
        let parsed = stack::on_enough(|| self.or());
        self.depth -= 1;
        parsed
    }

    fn or(&mut self) -> Parsed<Item> {
        let (mut left, mut height) = self.and()?;
        while self.accept(Term::Or) {
            let Some((right, right_height)) = self.and() else {
                return self.fail();
            };
            let or = XPath::Or(Box::new(left), Box::new(right));
            (left, height) = self.made(or, height.max(right_height))?;
        }
        Some((left, height))
    }

    fn and(&mut self) -> Parsed<Item> {
        let (mut left, mut height) = self.equality()?;
        while self.accept(Term::And) {
            let Some((right, right_height)) = self.equality() else {
                return self.fail();
            };
            let and = XPath::And(Box::new(left), Box::new(right));
            (left, height) = self.made(and, height.max(right_height))?;
        }
        Some((left, height))
    }

    fn equality(&mut self) -> Parsed<Item> {
        let mut left = self.relation()?;
        loop {
            let place = self.next.start;
            let operator = if self.next.term == Term::Symbol(b'!')
                && self.scan(self.next.end).term == Term::Symbol(b'=')
                && self.symbol(b'!')
            {
                self.advance();
                CompareOperator::NotEqual
            } else if self.symbol(b'=') {
                CompareOperator::Equal
            } else {
                return Some(left);
            };
            let Some(right) = self.relation() else {
                return self.fail();
            };
            left = self.comparison(operator, place, left, right)?;
        }
    }

    fn relation(&mut self) -> Parsed<Item> {
        let mut left = self.sum()?;
        loop {
            let place = self.next.start;
            let operator = if self.symbol(b'<') {
                match self.symbol(b'=') {
                    true => CompareOperator::LessOrEqual,
                    false => CompareOperator::Less,
                }
            } else if self.symbol(b'>') {
                match self.symbol(b'=') {
                    true => CompareOperator::GreaterOrEqual,
                    false => CompareOperator::Greater,
                }
            } else {
                return Some(left);
            };
            let Some(right) = self.sum() else {
                return self.fail();
            };
            left = self.comparison(operator, place, left, right)?;
        }
    }

    fn comparison(
        &mut self,
        operator: CompareOperator,
        place: usize,
        left: Item,
        right: Item,
    ) -> Parsed<Item> {
        if left.0.is_nodes() && right.0.is_nodes() {
            let shown = self.shown(place);
            let error = format!("XPATH error: comparison of two nodesets is not supported: '{shown}'");
            self.error.get_or_insert(error);
            return None;
        }
        let compare = XPath::Compare(operator, Box::new(left.0), Box::new(right.0));
        self.made(compare, left.1.max(right.1))
    }

    fn sum(&mut self) -> Parsed<Item> {
        let (mut left, mut height) = self.product()?;
        loop {
            let operator = if self.symbol(b'+') {
                ArithmeticOperator::Add
            } else if self.symbol(b'-') {
                ArithmeticOperator::Subtract
            } else {
                return Some((left, height));
            };
            let Some((right, right_height)) = self.product() else {
                return self.fail();
            };
            let sum = XPath::Arithmetic(operator, Box::new(left), Box::new(right));
            (left, height) = self.made(sum, height.max(right_height))?;
        }
    }

    fn product(&mut self) -> Parsed<Item> {
        let (mut left, mut height) = self.unary()?;
        loop {
            let operator = if self.symbol(b'*') {
                ArithmeticOperator::Multiply
            } else if self.accept(Term::Div) {
                ArithmeticOperator::Divide
            } else if self.accept(Term::Mod) {
                ArithmeticOperator::Modulo
            } else {
                return Some((left, height));
            };
            let Some((right, right_height)) = self.unary() else {
                return self.fail();
            };
            let product = XPath::Arithmetic(operator, Box::new(left), Box::new(right));
            (left, height) = self.made(product, height.max(right_height))?;
        }
    }

    fn unary(&mut self) -> Parsed<Item> {
        let mut signs = 0;
        while self.symbol(b'-') {
            signs += 1;
        }
        let (mut item, mut height) = self.union()?;
        for _ in 0..signs {
            (item, height) = self.made(XPath::Negate(Box::new(item)), height)?;
        }
        Some((item, height))
    }

    fn union(&mut self) -> Parsed<Item> {
        let (mut left, mut height) = self.path()?;
        while self.symbol(b'|') {
            if !left.is_nodes() {
                return None;
            }
            let (right, right_height) = match self.path() {
                Some(right) if right.0.is_nodes() => right,
                _ => return self.fail(),
            };
            let union = XPath::Union(Box::new(left), Box::new(right));
            (left, height) = self.made(union, height.max(right_height))?;
        }
        Some((left, height))
    }

    /// Parses a location path, or another expression and a path from its nodes.
    fn path(&mut self) -> Parsed<Item> {
        if let Some(item) = self.location_path() {
            return Some(item);
        }
        let (item, height) = self.primary()?;
        if !self.symbol(b'/') {
            return Some((item, height));
        }
        if !item.is_nodes() {
            self.next = self.last;
            return self.fail();
        }
        let mut steps = Vec::new();
        let mut height = height;
        if self.symbol(b'/') {
            steps.push(Step::Axis(Axis::DescendantOrSelf, "*".to_owned()));
        }
        if !self.relative_path(&mut steps, &mut height) {
            return None;
        }
        self.made(XPath::Path(Box::new(item), steps), height)
    }

    fn location_path(&mut self) -> Parsed<Item> {
        let mut steps = Vec::new();
        let mut height = 0;
        let start = match self.has_current {
            true => XPath::Current,
            false => XPath::Root,
        };
        if self.relative_path(&mut steps, &mut height) {
            return self.made(XPath::Path(Box::new(start), steps), height);
        }
        if !self.symbol(b'/') {
            return None;
        }
        steps.clear();
        if self.symbol(b'/') {
            steps.push(Step::Axis(Axis::DescendantOrSelf, "*".to_owned()));
            if !self.relative_path(&mut steps, &mut height) {
                return None;
            }
        } else {
            self.relative_path(&mut steps, &mut height);
            if self.failed {
                return None;
            }
        }
        self.made(XPath::Path(Box::new(XPath::Root), steps), height)
    }

    fn relative_path(&mut self, steps: &mut Vec<Step>, height: &mut u32) -> bool {
        if !self.step(steps, height) {
            return false;
        }
        while self.symbol(b'/') {
            if self.symbol(b'/') {
                steps.push(Step::Axis(Axis::DescendantOrSelf, "*".to_owned()));
            }
            if !self.step(steps, height) {
                self.failed = true;
                return false;
            }
        }
        true
    }

    fn step(&mut self, steps: &mut Vec<Step>, height: &mut u32) -> bool {
        if self.node_test(steps) {
            return self.predicates(steps, height);
        }
        if !self.symbol(b'.') {
            return false;
        }
        if self.symbol(b'.') {
            steps.push(Step::Axis(Axis::Parent, "*".to_owned()));
        }
        true
    }

    fn node_test(&mut self, steps: &mut Vec<Step>) -> bool {
        let mut axis = Axis::Child;
        let mut has_axis = false;
        if let Term::Axis(named) = self.next.term
            && self.accept(self.next.term)
            && self.symbol(b':')
            && self.symbol(b':')
        {
            axis = named;
            has_axis = true;
        }
        if !has_axis && self.symbol(b'@') {
            axis = Axis::Attribute;
        }
        if self.symbol(b'*') {
            steps.push(Step::Axis(axis, "*".to_owned()));
            return true;
        }
        if self.name_part() {
            let start = self.last.start;
            if self.symbol(b':') && !self.name_part() {
                return self.node_type();
            }
            let name = self.query[start..self.last.end].to_owned();
            steps.push(Step::Axis(axis, name));
            return true;
        }
        self.node_type()
    }

    /// Accepts `text()` and similar, which select nothing: the text belongs to the node before.
    fn node_type(&mut self) -> bool {
        self.accept(Term::NodeType) && self.symbol(b'(') && self.symbol(b')')
    }

    fn name_part(&mut self) -> bool {
        [Term::Identifier, Term::And, Term::Or, Term::Mod, Term::Div]
            .into_iter()
            .any(|term| self.accept(term))
    }

    fn predicates(&mut self, steps: &mut Vec<Step>, height: &mut u32) -> bool {
        while self.symbol(b'[') {
            let has_current = std::mem::replace(&mut self.has_current, true);
            let parsed = self.expr();
            self.has_current = has_current;
            let Some((condition, condition_height)) = parsed else {
                self.failed = true;
                return false;
            };
            if !self.symbol(b']') {
                self.failed = true;
                return false;
            }
            *height = (*height).max(condition_height);
            steps.push(match condition.is_nodes() || condition.is_boolean() {
                true => Step::Predicate(condition),
                false => Step::Position(condition),
            });
        }
        true
    }

    fn primary(&mut self) -> Parsed<Item> {
        if self.symbol(b'(') {
            let item = self.expr()?;
            return self.symbol(b')').then_some(item);
        }
        if self.symbol(b'$') {
            return self.variable();
        }
        if self.accept(Term::String) {
            let text = &self.query[self.last.start + 1..self.last.end - 1];
            return Some((XPath::Text(text.to_owned()), 0));
        }
        if self.accept(Term::Digits) {
            return Some((self.number(), 0));
        }
        self.call()
    }

    /// Parses a number whose first digits were accepted.
    fn number(&mut self) -> XPath {
        let start = self.last.start;
        if !self.symbol(b'.') {
            let digits = &self.query[start..self.last.end];
            return match digits.parse() {
                Ok(number) => XPath::Integer(number),
                Err(_) => XPath::Double(digits.parse().unwrap_or(f64::INFINITY), 0),
            };
        }
        let point = self.last.end;
        self.accept(Term::Digits);
        let text = &self.query[start..self.last.end];
        let decimals = (self.last.end - point).min(30) as u8;
        let compact: String = text.chars().filter(|c| *c != ' ').collect();
        XPath::Double(compact.parse().unwrap_or(0.0), decimals)
    }

    /// Parses a variable after `$`.
    fn variable(&mut self) -> Parsed<Item> {
        let place = self.last.start;
        let is_user_variable = self.symbol(b'@');
        if !self.accept(Term::Identifier) {
            return None;
        }
        let name = &self.query[self.last.start..self.last.end];
        if is_user_variable {
            return Some((XPath::UserVariable(name.to_lowercase()), 0));
        }
        let error = format!("Unknown XPATH variable at: '{}'", self.shown(place));
        self.error.get_or_insert(error);
        None
    }

    fn call(&mut self) -> Parsed<Item> {
        let Term::Function(index) = self.next.term else {
            return None;
        };
        let (_, fewest, most, function) = FUNCTIONS[index];
        if !self.accept(self.next.term) || !self.symbol(b'(') {
            return None;
        }
        let mut args = Vec::new();
        let mut height = 0;
        while args.len() < most {
            let Some((arg, arg_height)) = self.expr() else {
                break;
            };
            height = height.max(arg_height);
            args.push(arg);
            if !self.symbol(b',') {
                break;
            }
        }
        if args.len() < fewest || !self.symbol(b')') {
            return None;
        }
        match function {
            XPathFunction::Count | XPathFunction::Sum if !args[0].is_nodes() => return None,
            // MariaDB ends with a crash.
            XPathFunction::Number if args.is_empty() => return None,
            XPathFunction::Last | XPathFunction::Position | XPathFunction::StringLength
                if args.is_empty() =>
            {
                if !self.has_current {
                    return None;
                }
                args.push(XPath::Current);
            }
            _ => {}
        }
        self.made(XPath::Call(function, args), height)
    }
}

/// Returns what a word is, which depends on what follows it.
fn word(word: &str, after: &str) -> Term {
    let is = |name: &str| word.eq_ignore_ascii_case(name);
    if after.starts_with('(') {
        if let Some(index) = FUNCTIONS.iter().position(|(name, ..)| is(name)) {
            return Term::Function(index);
        }
        return match NODE_TYPES.iter().any(|name| is(name)) {
            true => Term::NodeType,
            false => Term::Identifier,
        };
    }
    if after.starts_with("::") {
        let axis = AXES.iter().find(|(name, _)| is(name));
        return axis.map_or(Term::Identifier, |(_, axis)| Term::Axis(*axis));
    }
    match () {
        () if is("and") => Term::And,
        () if is("or") => Term::Or,
        () if is("div") => Term::Div,
        () if is("mod") => Term::Mod,
        () => Term::Identifier,
    }
}
