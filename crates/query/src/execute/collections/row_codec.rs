//! Encoding of rows in temporary files: a tag and the bytes of each value.

use std::sync::Arc;

use paceline_types::data_type::Labels;
use paceline_types::{
    BitValue, Date, DateTime, EnumValue, FixedBinaryType, SetValue, Time, Timestamp, Value,
};

/// Encoder and decoder of rows. The labels of ENUM and SET values stay in memory; rows refer to them by number.
#[derive(Debug, Default, Clone)]
pub(crate) struct RowCodec {
    labels: Vec<Arc<Labels>>,
}

impl RowCodec {
    /// Appends a row.
    pub fn encode(&mut self, row: &[Value], out: &mut Vec<u8>) {
        out.extend_from_slice(&(row.len() as u32).to_le_bytes());
        for value in row {
            self.encode_value(value, out);
        }
    }

    fn encode_value(&mut self, value: &Value, out: &mut Vec<u8>) {
        let mut put = |tag: u8, bytes: &[u8]| {
            out.push(tag);
            out.extend_from_slice(bytes);
        };
        match value {
            Value::Null => put(0, &[]),
            Value::Int(number) => put(1, &number.to_le_bytes()),
            Value::UInt(number) => put(2, &number.to_le_bytes()),
            Value::Float(number) => put(3, &number.to_le_bytes()),
            Value::Double(number) => put(4, &number.to_le_bytes()),
            Value::Decimal(number) => {
                let mut text = Vec::new();
                number.append_text(&mut text);
                put(5, &(text.len() as u32).to_le_bytes());
                out.extend_from_slice(&text);
            }
            Value::Text(text) => {
                put(6, &(text.len() as u32).to_le_bytes());
                out.extend_from_slice(text.as_bytes());
            }
            Value::Bytes(bytes) => {
                put(7, &(bytes.len() as u32).to_le_bytes());
                out.extend_from_slice(bytes);
            }
            Value::Date(date) => put(8, &date_bytes(*date)),
            Value::Time(time) => {
                put(9, &time.micros().to_le_bytes());
                out.push(time.decimals());
            }
            Value::DateTime(moment) => {
                put(10, &date_bytes(moment.date));
                out.extend_from_slice(&[moment.hour, moment.minute, moment.second, moment.decimals]);
                out.extend_from_slice(&moment.micros.to_le_bytes());
            }
            Value::Timestamp(instant) => {
                put(11, &instant.seconds.to_le_bytes());
                out.extend_from_slice(&instant.micros.to_le_bytes());
                out.push(instant.decimals);
            }
            Value::Year(year) => put(12, &year.to_le_bytes()),
            Value::Bit(bits) => {
                put(13, &bits.bits.to_le_bytes());
                out.push(bits.length);
            }
            Value::Enum(value) => {
                let number = self.label_number(&value.labels);
                out.push(14);
                out.extend_from_slice(&number.to_le_bytes());
                out.extend_from_slice(&value.index.to_le_bytes());
            }
            Value::Set(value) => {
                let number = self.label_number(&value.labels);
                out.push(15);
                out.extend_from_slice(&number.to_le_bytes());
                out.extend_from_slice(&value.bits.to_le_bytes());
            }
            Value::FixedBinary(value) => {
                let tag = match value.data_type() {
                    FixedBinaryType::Uuid => 16,
                    FixedBinaryType::Inet6 => 17,
                    FixedBinaryType::Inet4 => 18,
                };
                put(tag, value.bytes());
            }
        }
    }

    fn label_number(&mut self, labels: &Arc<Labels>) -> u32 {
        let found = self.labels.iter().position(|known| Arc::ptr_eq(known, labels));
        found.unwrap_or_else(|| {
            self.labels.push(labels.clone());
            self.labels.len() - 1
        }) as u32
    }

    /// Decodes a row from all of `bytes`. Returns `None` if they are invalid.
    pub fn decode(&self, bytes: &[u8]) -> Option<Vec<Value>> {
        let mut reader = Reader(bytes);
        let count = u32::from_le_bytes(reader.array()?);
        let mut row = Vec::with_capacity(count as usize);
        for _ in 0..count {
            row.push(self.decode_value(&mut reader)?);
        }
        reader.0.is_empty().then_some(row)
    }

    fn decode_value(&self, reader: &mut Reader<'_>) -> Option<Value> {
        Some(match reader.array::<1>()?[0] {
            0 => Value::Null,
            1 => Value::Int(i64::from_le_bytes(reader.array()?)),
            2 => Value::UInt(u64::from_le_bytes(reader.array()?)),
            3 => Value::Float(f32::from_le_bytes(reader.array()?)),
            4 => Value::Double(f64::from_le_bytes(reader.array()?)),
            5 => {
                let text = std::str::from_utf8(reader.sized()?).ok()?;
                Value::Decimal(paceline_types::convert::text_to_decimal(text).0)
            }
            6 => Value::Text(String::from_utf8(reader.sized()?.to_vec()).ok()?),
            7 => Value::Bytes(reader.sized()?.to_vec()),
            8 => Value::Date(reader.date()?),
            9 => {
                let micros = i64::from_le_bytes(reader.array()?);
                Value::Time(Time::from_micros(micros, reader.array::<1>()?[0]))
            }
            10 => {
                let date = reader.date()?;
                let [hour, minute, second, decimals] = reader.array()?;
                let micros = u32::from_le_bytes(reader.array()?);
                Value::DateTime(DateTime {
                    date,
                    hour,
                    minute,
                    second,
                    micros,
                    decimals,
                })
            }
            11 => {
                let seconds = u32::from_le_bytes(reader.array()?);
                let micros = u32::from_le_bytes(reader.array()?);
                Value::Timestamp(Timestamp {
                    seconds,
                    micros,
                    decimals: reader.array::<1>()?[0],
                })
            }
            12 => Value::Year(u16::from_le_bytes(reader.array()?)),
            13 => {
                let bits = u64::from_le_bytes(reader.array()?);
                Value::Bit(BitValue {
                    bits,
                    length: reader.array::<1>()?[0],
                })
            }
            14 => {
                let labels = self
                    .labels
                    .get(u32::from_le_bytes(reader.array()?) as usize)?
                    .clone();
                Value::Enum(EnumValue {
                    index: u16::from_le_bytes(reader.array()?),
                    labels,
                })
            }
            15 => {
                let labels = self
                    .labels
                    .get(u32::from_le_bytes(reader.array()?) as usize)?
                    .clone();
                Value::Set(SetValue {
                    bits: u64::from_le_bytes(reader.array()?),
                    labels,
                })
            }
            16 => reader.fixed_binary(FixedBinaryType::Uuid)?,
            17 => reader.fixed_binary(FixedBinaryType::Inet6)?,
            18 => reader.fixed_binary(FixedBinaryType::Inet4)?,
            _ => return None,
        })
    }
}

fn date_bytes(date: Date) -> [u8; 4] {
    let [low, high] = date.year.to_le_bytes();
    [low, high, date.month, date.day]
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (array, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*array)
    }

    fn sized(&mut self) -> Option<&'a [u8]> {
        let length = u32::from_le_bytes(self.array()?) as usize;
        let (bytes, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(bytes)
    }

    fn fixed_binary(&mut self, data_type: FixedBinaryType) -> Option<Value> {
        let (bytes, rest) = self.0.split_at_checked(data_type.bytes())?;
        self.0 = rest;
        data_type.from_bytes(bytes).map(Value::FixedBinary)
    }

    fn date(&mut self) -> Option<Date> {
        let [low, high, month, day] = self.array()?;
        Some(Date {
            year: u16::from_le_bytes([low, high]),
            month,
            day,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_round_trip() {
        let labels = Arc::new(Labels::new(["x", "y"]));
        let row = vec![
            Value::Null,
            Value::Int(-3),
            Value::UInt(u64::MAX),
            Value::Float(1.5),
            Value::Double(-2.25),
            Value::Decimal(paceline_types::convert::text_to_decimal("-12.340").0),
            Value::Text("straße".into()),
            Value::FixedBinary(FixedBinaryType::Inet4.parse("192.0.2.1").unwrap()),
            Value::FixedBinary(FixedBinaryType::Inet6.parse("2001:db8::1").unwrap()),
            Value::Bytes(vec![0, 1, 255]),
            Value::Date(Date {
                year: 2024,
                month: 2,
                day: 29,
            }),
            Value::Time(Time::from_micros(-1_500_000, 3)),
            Value::Year(1999),
            Value::Bit(BitValue { bits: 5, length: 7 }),
            Value::Enum(EnumValue {
                index: 2,
                labels: labels.clone(),
            }),
            Value::Set(SetValue { bits: 3, labels }),
        ];
        let mut codec = RowCodec::default();
        let mut bytes = Vec::new();
        codec.encode(&row, &mut bytes);
        assert_eq!(codec.decode(&bytes), Some(row));
        assert_eq!(codec.decode(&bytes[..bytes.len() - 1]), None);
    }
}
