//! Strategies for column types and their values, for property tests.

use crate::convert::{self, ConvertContext};
use crate::temporal::{DateModes, Time, TimeZone};
use crate::{
    BitValue, BlobSize, Collation, DataType, Date, DateTime, Decimal, DecimalType, EnumValue,
    FixedBinaryType, FloatType, IntegerType, IntegerWidth, Labels, SetValue, Sign, Timestamp, Value,
};
use proptest::prelude::*;
use std::sync::Arc;

/// Returns a strategy for any column type.
pub(crate) fn data_types() -> impl Strategy<Value = DataType> {
    let widths = prop::sample::select(vec![
        IntegerWidth::Tiny,
        IntegerWidth::Small,
        IntegerWidth::Medium,
        IntegerWidth::Int,
        IntegerWidth::Big,
    ]);
    let signs = prop::sample::select(vec![Sign::Signed, Sign::Unsigned]);
    let text_collations: Vec<_> = Collation::ALL
        .into_iter()
        .filter(|&c| c != Collation::Binary)
        .collect();
    let collations = prop::sample::select(text_collations);
    let sizes = prop::sample::select(vec![
        BlobSize::Tiny,
        BlobSize::Normal,
        BlobSize::Medium,
        BlobSize::Long,
    ]);
    let fixed_binary_types = prop::sample::select(vec![
        FixedBinaryType::Uuid,
        FixedBinaryType::Inet6,
        FixedBinaryType::Inet4,
    ]);
    let labels = |count: usize| Arc::new(Labels::new((0..count).map(|n| format!("label {n}"))));
    prop_oneof![
        (widths, signs).prop_map(|(width, sign)| DataType::Integer(IntegerType::new(width, sign))),
        (1u8..=65)
            .prop_flat_map(|precision| (Just(precision), 0..=precision.min(38)))
            .prop_map(|(precision, scale)| DataType::Decimal(DecimalType::new(precision, scale))),
        Just(DataType::Float(FloatType::default())),
        Just(DataType::Double(FloatType::default())),
        (1u8..=64).prop_map(|length| DataType::Bit { length }),
        (0u16..=255, collations.clone()).prop_map(|(length, collation)| DataType::Char { length, collation }),
        (0u32..=400, collations.clone())
            .prop_map(|(length, collation)| DataType::VarChar { length, collation }),
        (0u16..=255).prop_map(|length| DataType::Binary { length }),
        (0u32..=400).prop_map(|length| DataType::VarBinary { length }),
        fixed_binary_types.prop_map(DataType::FixedBinary),
        (sizes.clone(), collations).prop_map(|(size, collation)| DataType::Text { size, collation }),
        sizes.prop_map(|size| DataType::Blob { size }),
        Just(DataType::Json),
        Just(DataType::Date),
        (0u8..=6).prop_map(|decimals| DataType::Time { decimals }),
        (0u8..=6).prop_map(|decimals| DataType::DateTime { decimals }),
        (0u8..=6).prop_map(|decimals| DataType::Timestamp { decimals }),
        Just(DataType::Year),
        prop::sample::select(vec![1usize, 255, 256, 300]).prop_map(move |n| DataType::Enum {
            labels: labels(n),
            collation: Collation::Utf8mb4GeneralCi
        }),
        (1usize..=64).prop_map(move |n| DataType::Set {
            labels: labels(n),
            collation: Collation::Utf8mb4GeneralCi
        }),
    ]
}

/// Returns a strategy for values that a column of the type can store, never NULL. Values close to each other are
/// likely.
pub(crate) fn values(data_type: &DataType) -> BoxedStrategy<Value> {
    let small_or_any = || prop_oneof![Just(0u64), 0u64..4, any::<u64>()];
    let raw = match data_type {
        DataType::Enum { labels, .. } => {
            let (labels, count) = (labels.clone(), labels.len() as u16);
            return (0..=count)
                .prop_map(move |index| {
                    Value::Enum(EnumValue {
                        index,
                        labels: labels.clone(),
                    })
                })
                .boxed();
        }
        DataType::Set { labels, .. } => {
            let labels = labels.clone();
            let all = u64::MAX >> (64 - labels.len());
            return small_or_any()
                .prop_map(move |bits| {
                    Value::Set(SetValue {
                        bits: bits & all,
                        labels: labels.clone(),
                    })
                })
                .boxed();
        }
        DataType::Bit { length } => {
            let length = *length;
            let bits = small_or_any().prop_map(move |bits| bits & (u64::MAX >> (64 - u32::from(length))));
            return bits
                .prop_map(move |bits| Value::Bit(BitValue { bits, length }))
                .boxed();
        }
        DataType::Integer(_) | DataType::Decimal(_) => prop_oneof![
            any::<i64>().prop_map(Value::Int),
            (-3i64..3).prop_map(Value::Int),
            "-?[0-9]{1,40}\\.[0-9]{0,40}"
                .prop_map(|text| Value::Decimal(text.parse().unwrap_or(Decimal::ZERO))),
        ]
        .boxed(),
        DataType::Float(_) | DataType::Double(_) => {
            prop_oneof![any::<f64>(), Just(0.0), Just(-0.0), -1.0..1.0]
                .prop_map(Value::Double)
                .boxed()
        }
        DataType::Date | DataType::DateTime { .. } => (0u16..10_000, 0u8..13, 0u8..29, 0i64..86_400_000_000)
            .prop_map(|(year, month, day, micros)| {
                Value::DateTime(DateTime::from_date_and_micros(
                    Date::new(year, month, day),
                    micros,
                    6,
                ))
            })
            .boxed(),
        DataType::Time { .. } => prop_oneof![-Time::MICROS_MAX..=Time::MICROS_MAX, -2_000_000i64..2_000_000]
            .prop_map(|micros| Value::Time(Time::from_micros(micros, 6)))
            .boxed(),
        DataType::Timestamp { .. } => (0..=Timestamp::SECONDS_MAX, 0u32..1_000_000)
            .prop_map(|(seconds, micros)| Value::Timestamp(Timestamp::new(seconds, micros, 6)))
            .boxed(),
        DataType::Year => prop_oneof![Just(0u16), 1901u16..=2155]
            .prop_map(Value::Year)
            .boxed(),
        DataType::FixedBinary(t) => {
            let byte = prop_oneof![Just(0u8), Just(1), Just(0x80), Just(0xff), any::<u8>()];
            prop::collection::vec(byte, t.bytes())
                .prop_map(Value::Bytes)
                .boxed()
        }
        DataType::Binary { .. } | DataType::VarBinary { .. } | DataType::Blob { .. } => {
            let byte = prop_oneof![Just(0u8), Just(1), Just(0xff), any::<u8>()];
            prop::collection::vec(byte, 0..12).prop_map(Value::Bytes).boxed()
        }
        _ => prop_oneof!["[ab \t!ä€😀]{0,6}", "\\PC{0,20}"]
            .prop_map(Value::Text)
            .boxed(),
    };
    let data_type = data_type.clone();
    raw.prop_map(move |value| {
        let context = ConvertContext {
            date_modes: DateModes::default(),
            time_zone: &TimeZone::UTC,
            now: DateTime::ZERO,
        };
        convert::assign(value, &data_type, &context).value
    })
    .boxed()
}
