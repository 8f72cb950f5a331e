//! SFORMAT: the format language of the C++ library fmt, version 9.
//!
//! ```text
//!   {[number][:[[fill]align][sign][#][0][width][.precision][L][type]]}       align: < > ^
//! ```
//!
//! Width and precision can be `{}` or `{number}` again. An integer is BIGINT, a decimal is a double, all else is text.

use paceline_types::error_code::WARN_SFORMAT_ERROR;
use paceline_types::{Collation, Value};

use super::arguments::some;
use super::string::{overflows, too_long};
use crate::context::EvalContext;
use crate::error::Result;
use crate::eval::convert;
use crate::expr_type::{Class, ExprType};
use crate::tree::{Args, BindCall, Function, MANY, pure};

pub(super) static FUNCTIONS: &[Function] = &[pure("sformat", (1, MANY), bind, eval)];

fn bind(call: &mut BindCall<'_>) -> Result<ExprType> {
    let indexes: Vec<usize> = (0..call.args.len()).collect();
    let ty = call.text((1 << 24) - 1, &indexes)?;
    Ok(match ty.collation() {
        Collation::Binary => ExprType::bytes(u64::from(u32::MAX)).nullable(),
        _ => ty.nullable(),
    })
}

/// A value to format.
#[derive(Debug)]
enum Argument {
    Integer(i64),
    Double(f64),
    Float(f32),
    Text(String),
}

/// Text of an error of the format.
type FormatResult<T> = std::result::Result<T, &'static str>;

const NOT_FOUND: &str = "argument not found";
const INVALID: &str = "invalid format string";
const INVALID_TYPE: &str = "invalid type specifier";
const NOT_CLOSED: &str = "missing '}' in format string";
const NUMERIC: &str = "format specifier requires numeric argument";
const TOO_BIG: &str = "number is too big";

fn eval(args: &Args<'_>, context: &mut EvalContext<'_>) -> Result<Value> {
    let format = some!(args.view(0, context)?).into_owned();
    let mut arguments = Vec::with_capacity(args.len() - 1);
    for index in 1..args.len() {
        let value = args.value(index, context)?;
        arguments.push(match &*value {
            // As in MariaDB, a number that is NULL is 0.
            Value::Null => match args.ty_of(index).class() {
                Class::Int => Argument::Integer(0),
                Class::Decimal | Class::Double => Argument::Double(0.0),
                _ => return Ok(Value::Null),
            },
            Value::Int(number) => Argument::Integer(*number),
            Value::UInt(number) => Argument::Integer(*number as i64),
            Value::Year(year) => Argument::Integer(i64::from(*year)),
            Value::Bit(_) if args.ty_of(index).is_bit_column() => {
                Argument::Integer(convert::to_i64(&value, context)?)
            }
            Value::Decimal(number) => Argument::Double(number.to_f64()),
            Value::Double(number) => Argument::Double(*number),
            Value::Float(number) => Argument::Float(*number),
            _ => Argument::Text(some!(args.view(index, context)?).into_owned()),
        });
    }
    let mut formatter = Formatter {
        rest: &format,
        arguments: &arguments,
        next: Numbering::Unknown,
        out: String::new(),
        limit: context.session.settings.max_allowed_packet,
    };
    match formatter.run() {
        Ok(()) if overflows(formatter.out.len(), context) => too_long(args, context),
        Ok(()) => Ok(args.text_of_view(formatter.out)),
        Err(problem) => {
            let message = WARN_SFORMAT_ERROR.message(&[&problem]);
            context.warn(WARN_SFORMAT_ERROR, message)?;
            Ok(Value::Null)
        }
    }
}

/// Whether arguments are numbered.
#[derive(Clone, Copy, Debug)]
enum Numbering {
    Unknown,
    Automatic(usize),
    Manual,
}

struct Formatter<'f> {
    rest: &'f str,
    arguments: &'f [Argument],
    next: Numbering,
    out: String,
    /// Bytes of the result from which it is not continued.
    limit: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Align {
    Left,
    Right,
    Center,
    /// After the sign.
    Numeric,
}

#[derive(Clone, Copy, Debug)]
struct Spec {
    fill: char,
    align: Option<Align>,
    sign: Option<char>,
    alternate: bool,
    width: usize,
    precision: Option<usize>,
    localized: bool,
    /// Letter of the type.
    ty: Option<char>,
}

impl<'f> Formatter<'f> {
    fn run(&mut self) -> FormatResult<()> {
        while let Some(place) = self.rest.find(['{', '}']) {
            self.out.push_str(&self.rest[..place]);
            let brace = &self.rest[place..=place];
            self.rest = &self.rest[place + 1..];
            if let Some(rest) = self.rest.strip_prefix(brace) {
                self.out.push_str(brace);
                self.rest = rest;
            } else if brace == "}" {
                return Err("unmatched '}' in format string");
            } else {
                self.field()?;
            }
            if self.out.len() > self.limit {
                return Ok(());
            }
        }
        self.out.push_str(self.rest);
        Ok(())
    }

    fn accept(&mut self, character: char) -> bool {
        match self.rest.strip_prefix(character) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// Reads the number of an argument, if there is one.
    fn argument(&mut self) -> FormatResult<&'f Argument> {
        let arguments = self.arguments;
        let first = self.rest.chars().next().ok_or(INVALID)?;
        let index = match first {
            '}' | ':' => match self.next {
                Numbering::Manual => {
                    return Err("cannot switch from manual to automatic argument indexing");
                }
                Numbering::Unknown => self.automatic(0),
                Numbering::Automatic(next) => self.automatic(next),
            },
            '0' => {
                self.accept('0');
                self.manual(0)?
            }
            '1'..='9' => {
                let number = self.number().map_err(|_| NOT_FOUND)?;
                self.manual(number)?
            }
            'a'..='z' | 'A'..='Z' | '_' => return Err(NOT_FOUND),
            _ => return Err(INVALID),
        };
        arguments.get(index).ok_or(NOT_FOUND)
    }

    fn automatic(&mut self, index: usize) -> usize {
        self.next = Numbering::Automatic(index + 1);
        index
    }

    fn manual(&mut self, index: usize) -> FormatResult<usize> {
        if !self.rest.starts_with(['}', ':']) {
            return Err(INVALID);
        }
        if matches!(self.next, Numbering::Automatic(_)) {
            return Err("cannot switch from automatic to manual argument indexing");
        }
        self.next = Numbering::Manual;
        Ok(index)
    }

    fn number(&mut self) -> FormatResult<usize> {
        let end = self
            .rest
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(self.rest.len());
        let (digits, rest) = self.rest.split_at(end);
        self.rest = rest;
        let number: i32 = digits.parse().map_err(|_| TOO_BIG)?;
        Ok(number as usize)
    }

    fn field(&mut self) -> FormatResult<()> {
        let argument = self.argument()?;
        let spec = match self.accept(':') {
            true => self.spec(argument)?,
            false => Spec {
                fill: ' ',
                align: None,
                sign: None,
                alternate: false,
                width: 0,
                precision: None,
                localized: false,
                ty: None,
            },
        };
        if !self.accept('}') {
            return Err(match self.rest.is_empty() {
                true => NOT_CLOSED,
                false => INVALID_TYPE,
            });
        }
        self.write(argument, &spec)
    }

    fn spec(&mut self, argument: &Argument) -> FormatResult<Spec> {
        let is_text = matches!(argument, Argument::Text(_));
        let numeric = |is_given: bool| match is_given && is_text {
            true => Err(NUMERIC),
            false => Ok(is_given),
        };
        let align_of = |character: Option<char>| match character? {
            '<' => Some(Align::Left),
            '>' => Some(Align::Right),
            '^' => Some(Align::Center),
            _ => None,
        };
        let (mut fill, mut align) = (' ', None);
        let mut characters = self.rest.chars();
        let (first, second) = (characters.next(), characters.next());
        if let (Some(character), Some(found)) = (first, align_of(second)) {
            if character == '{' {
                return Err("invalid fill character '{'");
            }
            if character != '}' {
                (fill, align) = (character, Some(found));
                self.rest = &self.rest[character.len_utf8() + 1..];
            }
        } else if let Some(found) = align_of(first) {
            align = Some(found);
            self.rest = &self.rest[1..];
        }
        let sign = ['+', '-', ' '].into_iter().find(|sign| self.accept(*sign));
        numeric(sign.is_some())?;
        let alternate = self.accept('#');
        numeric(alternate)?;
        let has_zero = self.accept('0');
        if numeric(has_zero)? {
            fill = '0';
            align = align.or(Some(Align::Numeric));
        }
        let width = match self.rest.chars().next() {
            Some('1'..='9') => self.number()?,
            Some('{') => self.dynamic("width is not integer", "negative width")?,
            _ => 0,
        };
        let mut precision = None;
        if self.accept('.') {
            precision = Some(match self.rest.chars().next() {
                Some('0'..='9') => self.number()?,
                Some('{') => self.dynamic("precision is not integer", "negative precision")?,
                _ => return Err("missing precision specifier"),
            });
            if matches!(argument, Argument::Integer(_)) {
                return Err("precision not allowed for this argument type");
            }
        }
        let localized = self.accept('L');
        numeric(localized)?;
        let ty = self.rest.chars().next().filter(|ty| *ty != '}');
        if let Some(ty) = ty {
            let known = match argument {
                Argument::Integer(_) => "dxXobBc",
                Argument::Double(_) | Argument::Float(_) => "eEfFgGaA",
                Argument::Text(_) => "s?",
            };
            if !known.contains(ty) {
                return Err(INVALID_TYPE);
            }
            self.accept(ty);
        }
        Ok(Spec {
            fill,
            align,
            sign,
            alternate,
            width,
            precision,
            localized,
            ty,
        })
    }

    /// Reads a width or precision that is an argument.
    fn dynamic(&mut self, wrong: &'static str, negative: &'static str) -> FormatResult<usize> {
        self.accept('{');
        let argument = self.argument()?;
        if !self.accept('}') {
            return Err(INVALID);
        }
        match argument {
            Argument::Integer(number) if *number < 0 => Err(negative),
            Argument::Integer(number) => match i32::try_from(*number) {
                Ok(number) => Ok(number as usize),
                Err(_) => Err(TOO_BIG),
            },
            _ => Err(wrong),
        }
    }

    fn write(&mut self, argument: &Argument, spec: &Spec) -> FormatResult<()> {
        match argument {
            Argument::Text(text) => {
                let end = spec
                    .precision
                    .and_then(|count| text.char_indices().nth(count))
                    .map_or(text.len(), |(end, _)| end);
                match spec.ty {
                    Some('?') => self.pad("", &quoted(&text[..end]), spec, Align::Left),
                    _ => self.pad("", &text[..end], spec, Align::Left),
                }
            }
            Argument::Integer(number) if spec.ty == Some('c') => {
                let character = char::from(*number as u8);
                self.pad("", character.encode_utf8(&mut [0; 4]), spec, Align::Left);
            }
            Argument::Integer(number) => {
                let magnitude = number.unsigned_abs();
                let (digits, prefix) = match spec.ty {
                    Some('x') => (format!("{magnitude:x}"), "0x"),
                    Some('X') => (format!("{magnitude:X}"), "0X"),
                    Some('b') => (format!("{magnitude:b}"), "0b"),
                    Some('B') => (format!("{magnitude:b}"), "0B"),
                    Some('o') if magnitude == 0 => ("0".to_owned(), ""),
                    Some('o') => (format!("{magnitude:o}"), "0"),
                    _ => (localized(&magnitude.to_string(), spec), ""),
                };
                let mut start = sign(*number < 0, spec).to_owned();
                if spec.alternate {
                    start.push_str(prefix);
                }
                self.pad(&start, &digits, spec, Align::Right);
            }
            Argument::Double(number) => {
                let shortest = shortest_digits(&format!("{:e}", number.abs()));
                self.write_double(*number, shortest, spec);
            }
            Argument::Float(number) => {
                let shortest = shortest_digits(&format!("{:e}", number.abs()));
                self.write_double(f64::from(*number), shortest, spec);
            }
        }
        Ok(())
    }

    fn write_double(&mut self, number: f64, shortest: (String, i32), spec: &Spec) {
        let magnitude = number.abs();
        let upper = matches!(spec.ty, Some('E' | 'G' | 'A'));
        let text = match (spec.ty, spec.precision) {
            (Some('f' | 'F'), precision) => {
                let mut text = format!("{magnitude:.*}", precision.unwrap_or(6));
                if spec.alternate && !text.contains('.') {
                    text.push('.');
                }
                text
            }
            (Some('e' | 'E'), precision) => {
                let text = format!("{magnitude:.*e}", precision.unwrap_or(6));
                let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
                with_exponent(digits, exponent.parse().unwrap_or(0))
            }
            (Some('a' | 'A'), precision) => hexadecimal(magnitude, precision),
            (None, None) => general(shortest, 16, spec.alternate, 0),
            (_, precision) => {
                let significant = precision.unwrap_or(6).max(1);
                let text = format!("{magnitude:.*e}", significant - 1);
                let kept = if spec.alternate { significant } else { 0 };
                general(shortest_digits(&text), significant as i32, spec.alternate, kept)
            }
        };
        let text = if upper { text.to_ascii_uppercase() } else { text };
        let text = localized(&text, spec);
        self.pad(sign(number.is_sign_negative(), spec), &text, spec, Align::Right);
    }

    /// Appends text, filled up to the width.
    fn pad(&mut self, start: &str, text: &str, spec: &Spec, default: Align) {
        let width: usize = start.chars().chain(text.chars()).map(display_width).sum();
        let missing = spec.width.saturating_sub(width);
        if self.out.len().saturating_add(missing) > self.limit {
            // The result is refused for its length.
            self.out
                .push_str(&" ".repeat(self.limit + 1 - self.out.len().min(self.limit)));
            return;
        }
        let (before, between, after) = match spec.align.unwrap_or(default) {
            Align::Left => (0, 0, missing),
            Align::Right => (missing, 0, 0),
            Align::Center => (missing / 2, 0, missing - missing / 2),
            Align::Numeric => (0, missing, 0),
        };
        let fill = |count: usize| std::iter::repeat_n(spec.fill, count);
        self.out.extend(fill(before));
        self.out.push_str(start);
        self.out.extend(fill(between));
        self.out.push_str(text);
        self.out.extend(fill(after));
    }
}

fn sign(is_negative: bool, spec: &Spec) -> &'static str {
    match spec.sign {
        _ if is_negative => "-",
        Some('+') => "+",
        Some(' ') => " ",
        _ => "",
    }
}

/// Returns the digits of `d.ddde±x` without zeros at the end, and the exponent.
fn shortest_digits(text: &str) -> (String, i32) {
    let (digits, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let digits: String = digits.chars().filter(char::is_ascii_digit).collect();
    let digits = match digits.trim_end_matches('0') {
        "" => "0".to_owned(),
        digits => digits.to_owned(),
    };
    (digits, exponent.parse().unwrap_or(0))
}

/// Writes digits with an exponent if it is below -4 or not below `limit`. `kept` is the least number of digits.
fn general((mut digits, exponent): (String, i32), limit: i32, alternate: bool, kept: usize) -> String {
    while digits.len() < kept {
        digits.push('0');
    }
    if !(-4..limit).contains(&exponent) {
        let (first, rest) = digits.split_at(1);
        return match rest.is_empty() && !alternate {
            true => with_exponent(first, exponent),
            false => with_exponent(&format!("{first}.{rest}"), exponent),
        };
    }
    if exponent < 0 {
        return format!("0.{}{digits}", "0".repeat((-exponent - 1) as usize));
    }
    let whole = exponent as usize + 1;
    while digits.len() < whole {
        digits.push('0');
    }
    let (whole, fraction) = digits.split_at(whole);
    match fraction.is_empty() && !alternate {
        true => whole.to_owned(),
        false => format!("{whole}.{fraction}"),
    }
}

fn with_exponent(digits: &str, exponent: i32) -> String {
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.unsigned_abs())
}

/// Writes a number as `0x1.8p+0`.
fn hexadecimal(number: f64, precision: Option<usize>) -> String {
    const DIGITS: usize = 13;
    let bits = number.to_bits();
    let exponent = (bits >> 52 & 0x7FF) as i32;
    let mut mantissa = bits & ((1 << 52) - 1);
    let exponent = match exponent {
        0 if mantissa == 0 => 0,
        0 => -1022,
        exponent => {
            mantissa |= 1 << 52;
            exponent - 1023
        }
    };
    let mut count = DIGITS;
    if let Some(precision) = precision.filter(|precision| *precision < DIGITS) {
        let dropped = 4 * (DIGITS - precision);
        let half = 1_u64 << (dropped - 1);
        let rest = mantissa & ((1 << dropped) - 1);
        mantissa >>= dropped;
        if rest > half || (rest == half && mantissa & 1 == 1) {
            mantissa += 1;
        }
        count = precision;
    }
    let first = mantissa >> (4 * count);
    let fraction = mantissa & ((1 << (4 * count)) - 1);
    let mut digits = match count {
        0 => String::new(),
        count => format!("{fraction:0count$x}"),
    };
    match precision {
        None => digits.truncate(digits.trim_end_matches('0').len()),
        Some(precision) => digits.push_str(&"0".repeat(precision.saturating_sub(DIGITS))),
    }
    let point = if digits.is_empty() { "" } else { "." };
    format!("0x{first}{point}{digits}p{exponent:+}")
}

/// Groups the digits before the point, if the format asks for it.
fn localized(text: &str, spec: &Spec) -> String {
    if !spec.localized {
        return text.to_owned();
    }
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (whole, rest) = text.split_at(end);
    let mut out = String::new();
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out + rest
}

/// Writes text in quotes, with escapes.
fn quoted(text: &str) -> String {
    let mut out = String::from('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => out.extend(['\\', character]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\0'..='\x1f' | '\x7f' => out.push_str(&format!("\\x{:02x}", u32::from(character))),
            _ => out.push(character),
        }
    }
    out.push('"');
    out
}

/// Returns the columns of a character on a terminal: two for East Asian ones and symbols.
fn display_width(character: char) -> usize {
    match u32::from(character) {
        0x303F => 1,
        0x1100..=0x115F
        | 0x2329..=0x232A
        | 0x2E80..=0xA4CF
        | 0xAC00..=0xD7A3
        | 0xF900..=0xFAFF
        | 0xFE10..=0xFE19
        | 0xFE30..=0xFE6F
        | 0xFF00..=0xFF60
        | 0xFFE0..=0xFFE6
        | 0x1F300..=0x1F64F
        | 0x1F900..=0x1F9FF
        | 0x20000..=0x2FFFD
        | 0x30000..=0x3FFFD => 2,
        _ => 1,
    }
}
