//! Values of Rust types as a table's values.

use paceline_types::{Date, DateTime, Decimal, Time, Timestamp, Value};

/// A value that can be stored in a column.
pub trait IntoValue {
    /// Returns the value.
    fn into_value(self) -> Value;
}

macro_rules! into_value {
    ($($from:ty => $make:expr;)*) => {$(
        impl IntoValue for $from {
            fn into_value(self) -> Value {
                ($make)(self)
            }
        }
    )*};
}

into_value! {
    Value => |value| value;
    bool => |value| Value::Int(i64::from(value));
    i8 => |value| Value::Int(i64::from(value));
    i16 => |value| Value::Int(i64::from(value));
    i32 => |value| Value::Int(i64::from(value));
    i64 => Value::Int;
    u8 => |value| Value::UInt(u64::from(value));
    u16 => |value| Value::UInt(u64::from(value));
    u32 => |value| Value::UInt(u64::from(value));
    u64 => Value::UInt;
    f32 => Value::Float;
    f64 => Value::Double;
    &str => |value: &str| Value::Text(value.to_owned());
    String => Value::Text;
    &String => |value: &String| Value::Text(value.clone());
    &[u8] => |value: &[u8]| Value::Bytes(value.to_vec());
    Vec<u8> => Value::Bytes;
    Decimal => Value::Decimal;
    Date => Value::Date;
    Time => Value::Time;
    DateTime => Value::DateTime;
    Timestamp => Value::Timestamp;
}

impl<T: IntoValue> IntoValue for Option<T> {
    fn into_value(self) -> Value {
        self.map_or(Value::Null, T::into_value)
    }
}

/// Values of several columns, in order: a tuple, an array, or a list of [`Value`]s.
pub trait IntoValues {
    /// Appends the values.
    fn append_to(self, values: &mut Vec<Value>);
}

impl IntoValues for Vec<Value> {
    fn append_to(mut self, values: &mut Vec<Value>) {
        values.append(&mut self);
    }
}

impl IntoValues for &[Value] {
    fn append_to(self, values: &mut Vec<Value>) {
        values.extend_from_slice(self);
    }
}

impl<T: IntoValue, const N: usize> IntoValues for [T; N] {
    fn append_to(self, values: &mut Vec<Value>) {
        values.extend(self.into_iter().map(T::into_value));
    }
}

impl IntoValues for () {
    fn append_to(self, _: &mut Vec<Value>) {}
}

macro_rules! into_values {
    ($($name:ident)+) => {
        impl<$($name: IntoValue),+> IntoValues for ($($name,)+) {
            fn append_to(self, values: &mut Vec<Value>) {
                #[allow(non_snake_case)]
                let ($($name,)+) = self;
                $(values.push($name.into_value());)+
            }
        }
    };
}

into_values!(A);
into_values!(A B);
into_values!(A B C);
into_values!(A B C D);
into_values!(A B C D E);
into_values!(A B C D E F);
into_values!(A B C D E F G);
into_values!(A B C D E F G H);
into_values!(A B C D E F G H I);
into_values!(A B C D E F G H I J);
into_values!(A B C D E F G H I J K);
into_values!(A B C D E F G H I J K L);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tuples_and_arrays_are_lists_of_values() {
        let mut values = Vec::new();
        (1_u8, "a", None::<i32>, b"b".as_slice()).append_to(&mut values);
        [2_i64, 3].append_to(&mut values);
        let expected = [
            Value::UInt(1),
            Value::Text("a".to_owned()),
            Value::Null,
            Value::Bytes(b"b".to_vec()),
            Value::Int(2),
            Value::Int(3),
        ];
        assert_eq!(values, expected);
    }
}
