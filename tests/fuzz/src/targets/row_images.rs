//! Row images of a log or a primary. The first bytes select the columns. A decoded image can be encoded, and
//! decodes to the same values again.

use super::Target;
use paceline_types::row_image::RowLayout;
use paceline_types::{
    BlobSize, Collation, DataType, DecimalType, FloatType, IntegerType, IntegerWidth, Sign, Value,
};

pub(super) const TARGET: Target = Target {
    name: "row_image",
    run,
    samples,
    words: &[],
};

/// Maximum number of columns of a layout.
const COLUMNS_MAX: usize = 12;

fn data_type(choice: u8) -> DataType {
    let width = [
        IntegerWidth::Tiny,
        IntegerWidth::Small,
        IntegerWidth::Medium,
        IntegerWidth::Int,
        IntegerWidth::Big,
    ];
    let collation = [Collation::Utf8mb4GeneralCi, Collation::Latin1SwedishCi][usize::from(choice >> 4) % 2];
    match choice % 16 {
        0..=4 => DataType::Integer(IntegerType::new(
            width[usize::from(choice % 16)],
            [Sign::Signed, Sign::Unsigned][usize::from(choice >> 4) % 2],
        )),
        5 => DataType::Decimal(DecimalType::new(20, 6)),
        6 => DataType::Float(FloatType::default()),
        7 => DataType::Double(FloatType::default()),
        8 => DataType::Bit {
            length: 1 + choice / 4,
        },
        9 => DataType::Char {
            length: 20,
            collation,
        },
        10 => DataType::VarChar {
            length: 300,
            collation,
        },
        11 => DataType::Blob { size: BlobSize::Tiny },
        12 => DataType::Json,
        13 => DataType::DateTime {
            decimals: choice >> 6,
        },
        14 => DataType::Time {
            decimals: choice >> 6,
        },
        _ => DataType::Date,
    }
}

fn layout(input: &[u8]) -> Option<(RowLayout, &[u8])> {
    let (count, rest) = input.split_first()?;
    let count = usize::from(*count) % COLUMNS_MAX + 1;
    let (choices, rest) = rest.split_at_checked(count)?;
    let types: Vec<DataType> = choices.iter().map(|choice| data_type(*choice)).collect();
    Some((RowLayout::new(types), rest))
}

fn run(input: &[u8]) {
    let Some((layout, image)) = layout(input) else {
        return;
    };
    let Ok((first, _)) = layout.split(image) else {
        return;
    };
    let Ok(values) = first.to_values() else { return };
    let mut encoded = Vec::new();
    if layout.encode(&values, &mut encoded).is_ok() {
        let again = layout.decode(&encoded).expect("what was encoded can be decoded");
        // A NaN is not equal to itself.
        assert_eq!(
            format!("{again:?}"),
            format!("{:?}", without_padding(&layout, values))
        );
    }
}

/// Removes trailing spaces of CHAR values, which are padded with them.
fn without_padding(layout: &RowLayout, mut values: Vec<Value>) -> Vec<Value> {
    for (value, data_type) in values.iter_mut().zip(layout.types()) {
        if let (Value::Text(text), DataType::Char { .. }) = (value, data_type) {
            text.truncate(text.trim_end_matches(' ').len());
        }
    }
    values
}

fn samples() -> Vec<Vec<u8>> {
    let null = |types: &[u8]| -> Vec<u8> {
        let mut sample = vec![types.len() as u8 - 1];
        sample.extend_from_slice(types);
        let (layout, _) = layout(&sample).expect("it has its columns");
        layout
            .encode(&vec![Value::Null; types.len()], &mut sample)
            .expect("NULL fits everything");
        sample
    };
    let mut samples = vec![
        null(&[0, 1, 2, 3, 4]),
        null(&[5, 6, 7, 8, 9, 10]),
        null(&[11, 12, 13, 14, 15]),
    ];
    for choice in 0..16 {
        let mut sample = vec![0, choice, 0];
        sample.extend((0..32).map(|byte| byte * 7));
        samples.push(sample);
    }
    samples
}
