//! Tables of MariaDB's SEQUENCE engine: `seq_1_to_10`, `seq_10_to_1_step_3`. They exist in every database that has no
//! other table of that name, and contain their numbers in one column `seq`. They are not stored.

use paceline_expression::ExprType;
use paceline_expression::session::VirtualColumn;
use paceline_types::DataType;
use paceline_types::data_type::{IntegerType, IntegerWidth, Sign};

/// Numbers of such a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NumberSeries {
    first: u64,
    step: u64,
    /// Whether the numbers descend.
    falls: bool,
    count: u64,
}

/// Parses a number in a table's name: digits only.
fn number(text: &str) -> Option<u64> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok())?
}

impl NumberSeries {
    /// Returns the series with this name.
    pub fn of_name(name: &str) -> Option<Self> {
        let (from, to) = name.strip_prefix("seq_")?.split_once("_to_")?;
        let (to, step) = to.split_once("_step_").unwrap_or((to, "1"));
        let (from, to, step) = (number(from)?, number(to)?, number(step)?);
        if step == 0 {
            return None;
        }
        let steps = from.abs_diff(to) / step;
        Some(NumberSeries {
            first: from,
            step,
            falls: from > to,
            count: steps.checked_add(1)?,
        })
    }

    /// Returns the number of rows.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the numbers in order.
    pub fn numbers(self) -> impl Iterator<Item = u64> {
        (0..self.count).map(move |place| match self.falls {
            false => self.first + place * self.step,
            true => self.first - place * self.step,
        })
    }

    /// Returns the columns of every such table.
    pub fn columns() -> Vec<VirtualColumn> {
        let seq = DataType::Integer(IntegerType {
            display_width: 20,
            ..IntegerType::new(IntegerWidth::Big, Sign::Unsigned)
        });
        vec![VirtualColumn {
            name: "seq".to_owned(),
            ty: ExprType::of_column(seq, false),
            default: None,
        }]
    }
}

#[cfg(test)]
mod tests {
    use super::NumberSeries;

    fn numbers(name: &str) -> Option<Vec<u64>> {
        Some(NumberSeries::of_name(name)?.numbers().collect())
    }

    #[test]
    fn a_name_determines_the_numbers() {
        assert_eq!(numbers("seq_1_to_3"), Some(vec![1, 2, 3]));
        assert_eq!(numbers("seq_10_to_2_step_3"), Some(vec![10, 7, 4]));
        assert_eq!(numbers("seq_1_to_3_step_5"), Some(vec![1]));
        assert_eq!(numbers("seq_7_to_7"), Some(vec![7]));
        let last = NumberSeries::of_name("seq_0_to_18446744073709551614").unwrap();
        assert_eq!(last.count(), u64::MAX);
        for other in [
            "seq_1_to_",
            "seq_-1_to_3",
            "seq_1_to_3_step_0",
            "seq_1_to_3x",
            "seq_1",
            "sea_1_to_2",
            "seq_0_to_18446744073709551615",
        ] {
            assert_eq!(numbers(other), None, "{other}");
        }
    }
}
