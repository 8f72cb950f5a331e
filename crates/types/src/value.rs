//! A SQL value, owned ([`Value`]) or borrowed from its storage ([`ValueRef`]).
//!
//! A value contains what is needed to print it (a DECIMAL its scale, a TIME its number of fraction digits, an ENUM its
//! labels), but not its column: display width, ZEROFILL and collation belong to [`crate::DataType`].

use crate::data_type::Labels;
use crate::decimal::Decimal;
use crate::fixed_binary::FixedBinary;
use crate::temporal::{Date, DateTime, Time, Timestamp};
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// A SQL value.
#[derive(Clone, Debug, PartialEq, Default)]
pub enum Value {
    /// SQL NULL.
    #[default]
    Null,
    /// A signed integer of any width.
    Int(i64),
    /// An unsigned integer of any width.
    UInt(u64),
    /// A single-precision number. Separate from `Double` because it prints with 6 significant digits.
    Float(f32),
    /// A double-precision number.
    Double(f64),
    /// An exact number.
    Decimal(Decimal),
    /// Text in any character set; UTF-8 inside the server. JSON is text.
    Text(String),
    /// A binary string.
    Bytes(Vec<u8>),
    /// A date, or one of MariaDB's zero dates.
    Date(Date),
    /// A signed duration or time of day.
    Time(Time),
    /// A date and a time, without a time zone.
    DateTime(DateTime),
    /// An instant.
    Timestamp(Timestamp),
    /// 0, or 1901 to 2155.
    Year(u16),
    /// A bit string of at most 64 bits.
    Bit(BitValue),
    /// One of the labels of an ENUM.
    Enum(EnumValue),
    /// Some of the labels of a SET.
    Set(SetValue),
    /// A UUID or an Internet address.
    FixedBinary(FixedBinary),
}

/// Value of a BIT column of at most 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BitValue {
    /// The bits as a number.
    pub bits: u64,
    /// Number of bits of the column, 1 to 64.
    pub length: u8,
}

impl BitValue {
    /// Returns the length of the value as a string, in bytes.
    pub fn byte_length(self) -> usize {
        usize::from(self.length).div_ceil(8)
    }

    /// Returns the value in big-endian order. Its string is the last [`BitValue::byte_length`] bytes of the array.
    pub fn to_be_bytes(self) -> [u8; 8] {
        self.bits.to_be_bytes()
    }
}

/// Value of an ENUM column: the label's number from 1, or 0 for the error value `''`.
#[derive(Clone)]
pub struct EnumValue {
    /// Number of the label from 1; 0 is the error value, which prints as an empty string.
    pub index: u16,
    /// All labels of the column's type.
    pub labels: Arc<Labels>,
}

/// Value of a SET column: bit *n* stands for label *n*.
#[derive(Clone)]
pub struct SetValue {
    /// One bit for each label, the first label in the lowest bit.
    pub bits: u64,
    /// All labels of the column's type.
    pub labels: Arc<Labels>,
}

/// An [`EnumValue`] that borrows its labels.
#[derive(Clone, Copy)]
pub struct EnumRef<'a> {
    /// Number of the label from 1; 0 is the error value.
    pub index: u16,
    /// All labels of the column's type.
    pub labels: &'a Arc<Labels>,
}

/// A [`SetValue`] that borrows its labels.
#[derive(Clone, Copy)]
pub struct SetRef<'a> {
    /// One bit for each label.
    pub bits: u64,
    /// All labels of the column's type.
    pub labels: &'a Arc<Labels>,
}

impl EnumValue {
    /// Returns the label, or `""` for the error value.
    pub fn label(&self) -> &str {
        self.labels.get(self.index)
    }

    /// Borrows the labels.
    pub fn as_ref(&self) -> EnumRef<'_> {
        EnumRef {
            index: self.index,
            labels: &self.labels,
        }
    }
}

impl<'a> EnumRef<'a> {
    /// Returns the label, or `""` for the error value.
    pub fn label(self) -> &'a str {
        self.labels.get(self.index)
    }
}

impl SetValue {
    /// Returns the labels with commas between them.
    pub fn text(&self) -> String {
        self.as_ref().text()
    }

    /// Borrows the labels.
    pub fn as_ref(&self) -> SetRef<'_> {
        SetRef {
            bits: self.bits,
            labels: &self.labels,
        }
    }
}

impl<'a> SetRef<'a> {
    /// Returns the labels in the order of the type's definition. Bits without a label are ignored.
    pub fn labels(self) -> impl Iterator<Item = &'a str> {
        let (bits, labels) = (self.bits, self.labels);
        (0..labels.len().min(64) as u16)
            .filter(move |n| bits >> n & 1 == 1)
            .map(move |n| labels.get(n + 1))
    }

    /// Returns the labels with commas between them.
    pub fn text(self) -> String {
        let mut out = String::new();
        for (n, label) in self.labels().enumerate() {
            if n > 0 {
                out.push(',');
            }
            out.push_str(label);
        }
        out
    }
}

impl PartialEq for EnumValue {
    fn eq(&self, other: &Self) -> bool {
        self.index == other.index && (Arc::ptr_eq(&self.labels, &other.labels) || self.labels == other.labels)
    }
}

impl PartialEq for SetValue {
    fn eq(&self, other: &Self) -> bool {
        self.bits == other.bits && (Arc::ptr_eq(&self.labels, &other.labels) || self.labels == other.labels)
    }
}

impl PartialEq for EnumRef<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.index == other.index && self.labels == other.labels
    }
}

impl PartialEq for SetRef<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.bits == other.bits && self.labels == other.labels
    }
}

impl fmt::Debug for EnumValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_ref().fmt(f)
    }
}

impl fmt::Debug for EnumRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={:?}", self.index, self.label())
    }
}

impl fmt::Debug for SetValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_ref().fmt(f)
    }
}

impl fmt::Debug for SetRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#b}={:?}", self.bits, self.text())
    }
}

/// A value that borrows text, bytes and labels from a row image, a [`Value`] or a packet.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)] // each variant is that of [`Value`]
pub enum ValueRef<'a> {
    Null,
    Int(i64),
    UInt(u64),
    Float(f32),
    Double(f64),
    Decimal(Decimal),
    /// Owned only if the column's character set is not a subset of UTF-8 and the text is not ASCII.
    Text(Cow<'a, str>),
    /// Owned only if the row image omits a BINARY column's trailing zero bytes.
    Bytes(Cow<'a, [u8]>),
    Date(Date),
    Time(Time),
    DateTime(DateTime),
    Timestamp(Timestamp),
    Year(u16),
    Bit(BitValue),
    Enum(EnumRef<'a>),
    Set(SetRef<'a>),
    FixedBinary(FixedBinary),
}

impl Value {
    /// Returns the memory that the value takes in bytes, including the `Value` itself.
    pub fn memory_bytes(&self) -> usize {
        size_of::<Value>()
            + match self {
                Value::Text(text) => text.len(),
                Value::Bytes(bytes) => bytes.len(),
                _ => 0,
            }
    }

    /// Borrows the value.
    pub fn as_ref(&self) -> ValueRef<'_> {
        match self {
            Value::Null => ValueRef::Null,
            Value::Int(v) => ValueRef::Int(*v),
            Value::UInt(v) => ValueRef::UInt(*v),
            Value::Float(v) => ValueRef::Float(*v),
            Value::Double(v) => ValueRef::Double(*v),
            Value::Decimal(v) => ValueRef::Decimal(*v),
            Value::Text(v) => ValueRef::Text(Cow::Borrowed(v)),
            Value::Bytes(v) => ValueRef::Bytes(Cow::Borrowed(v)),
            Value::Date(v) => ValueRef::Date(*v),
            Value::Time(v) => ValueRef::Time(*v),
            Value::DateTime(v) => ValueRef::DateTime(*v),
            Value::Timestamp(v) => ValueRef::Timestamp(*v),
            Value::Year(v) => ValueRef::Year(*v),
            Value::Bit(v) => ValueRef::Bit(*v),
            Value::Enum(v) => ValueRef::Enum(v.as_ref()),
            Value::Set(v) => ValueRef::Set(v.as_ref()),
            Value::FixedBinary(v) => ValueRef::FixedBinary(*v),
        }
    }

    /// Returns whether it is SQL NULL.
    pub fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }

    /// Returns the value's kind, for messages.
    pub fn kind(&self) -> &'static str {
        self.as_ref().kind()
    }
}

impl<'a> ValueRef<'a> {
    /// Borrows the value again, without a copy of owned text or bytes.
    pub fn reborrow(&self) -> ValueRef<'_> {
        match self {
            ValueRef::Text(text) => ValueRef::Text(Cow::Borrowed(text)),
            ValueRef::Bytes(bytes) => ValueRef::Bytes(Cow::Borrowed(bytes)),
            other => other.clone(),
        }
    }

    /// Copies the borrowed data.
    pub fn into_owned(self) -> Value {
        match self {
            ValueRef::Null => Value::Null,
            ValueRef::Int(v) => Value::Int(v),
            ValueRef::UInt(v) => Value::UInt(v),
            ValueRef::Float(v) => Value::Float(v),
            ValueRef::Double(v) => Value::Double(v),
            ValueRef::Decimal(v) => Value::Decimal(v),
            ValueRef::Text(v) => Value::Text(v.into_owned()),
            ValueRef::Bytes(v) => Value::Bytes(v.into_owned()),
            ValueRef::Date(v) => Value::Date(v),
            ValueRef::Time(v) => Value::Time(v),
            ValueRef::DateTime(v) => Value::DateTime(v),
            ValueRef::Timestamp(v) => Value::Timestamp(v),
            ValueRef::Year(v) => Value::Year(v),
            ValueRef::Bit(v) => Value::Bit(v),
            ValueRef::Enum(v) => Value::Enum(EnumValue {
                index: v.index,
                labels: v.labels.clone(),
            }),
            ValueRef::Set(v) => Value::Set(SetValue {
                bits: v.bits,
                labels: v.labels.clone(),
            }),
            ValueRef::FixedBinary(v) => Value::FixedBinary(v),
        }
    }

    /// Copies the borrowed data into a value and reuses its memory if possible.
    #[inline]
    pub fn store_in(self, target: &mut Value) {
        match (self, target) {
            (ValueRef::Int(number), Value::Int(target)) => *target = number,
            (ValueRef::Text(Cow::Borrowed(text)), Value::Text(target)) => {
                target.clear();
                target.push_str(text);
            }
            (ValueRef::Bytes(Cow::Borrowed(bytes)), Value::Bytes(target)) => {
                target.clear();
                target.extend_from_slice(bytes);
            }
            (value, target) => *target = value.into_owned(),
        }
    }

    /// Returns the value for an AUTO_INCREMENT counter, or `None` if it is negative, or neither an integer nor a
    /// floating-point number.
    pub fn counted(&self) -> Option<u64> {
        match self {
            ValueRef::Int(number) => u64::try_from(*number).ok(),
            ValueRef::UInt(number) => Some(*number),
            ValueRef::Double(number) if *number >= 0.0 => Some(*number as u64),
            ValueRef::Float(number) if *number >= 0.0 => Some(*number as u64),
            _ => None,
        }
    }

    /// Returns whether it is SQL NULL.
    pub fn is_null(&self) -> bool {
        matches!(self, ValueRef::Null)
    }

    /// Returns the value's kind, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            ValueRef::Null => "NULL",
            ValueRef::Int(_) => "signed integer",
            ValueRef::UInt(_) => "unsigned integer",
            ValueRef::Float(_) => "FLOAT",
            ValueRef::Double(_) => "DOUBLE",
            ValueRef::Decimal(_) => "DECIMAL",
            ValueRef::Text(_) => "text",
            ValueRef::Bytes(_) => "binary string",
            ValueRef::Date(_) => "DATE",
            ValueRef::Time(_) => "TIME",
            ValueRef::DateTime(_) => "DATETIME",
            ValueRef::Timestamp(_) => "TIMESTAMP",
            ValueRef::Year(_) => "YEAR",
            ValueRef::Bit(_) => "BIT",
            ValueRef::Enum(_) => "ENUM",
            ValueRef::Set(_) => "SET",
            ValueRef::FixedBinary(v) => v.data_type().keyword(),
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Value::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Value::Text(text)
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Value::Int(number)
    }
}

impl From<u64> for Value {
    fn from(number: u64) -> Self {
        Value::UInt(number)
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Value::Double(number)
    }
}

impl From<Decimal> for Value {
    fn from(number: Decimal) -> Self {
        Value::Decimal(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn set_text_follows_the_definition() {
        let labels = Arc::new(Labels::new(["a", "b", "c"]));
        let set = SetValue {
            bits: 0b101,
            labels: labels.clone(),
        };
        assert_eq!(set.text(), "a,c");
        assert_eq!(SetValue { bits: 0, labels }.text(), "");
    }

    #[test]
    fn a_value_is_small_enough_to_move() {
        assert!(
            std::mem::size_of::<Value>() <= 48,
            "{}",
            std::mem::size_of::<Value>()
        );
    }
}
