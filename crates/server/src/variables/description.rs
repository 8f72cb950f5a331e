//! Additional data on MariaDB's variables for `information_schema.SYSTEM_VARIABLES`.
//!
//! `descriptions.txt` has one line per variable: name, type, block size, whether its option takes an argument, and
//! whether it has a default. `-` is NULL.

use super::definition::{Definition, Kind};
use std::collections::HashMap;
use std::sync::OnceLock;

static LINES: &str = include_str!("descriptions.txt");

/// Columns of SYSTEM_VARIABLES with MariaDB's own values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Description {
    /// Value of `VARIABLE_TYPE`.
    pub type_name: String,
    /// Value of `NUMERIC_BLOCK_SIZE`.
    pub block: Option<String>,
    /// Value of `COMMAND_LINE_ARGUMENT`.
    pub argument: Option<String>,
    /// Whether `DEFAULT_VALUE` is not NULL.
    pub has_default: bool,
}

fn descriptions() -> &'static HashMap<&'static str, Description> {
    static DESCRIPTIONS: OnceLock<HashMap<&'static str, Description>> = OnceLock::new();
    let given = |word: &str| (word != "-").then(|| word.to_owned());
    DESCRIPTIONS.get_or_init(|| {
        LINES
            .lines()
            .filter_map(|line| {
                let mut words = line.split(' ');
                let name = words.next()?;
                let description = Description {
                    type_name: words.next()?.replace('_', " "),
                    block: given(words.next()?),
                    argument: given(words.next()?),
                    has_default: words.next()? == "known",
                };
                Some((name, description))
            })
            .collect()
    })
}

impl Definition {
    /// Returns the description in SYSTEM_VARIABLES. That of a variable which MariaDB does not have is derived from its
    /// kind.
    pub fn description(&self) -> Description {
        if let Some(known) = descriptions().get(self.name) {
            return known.clone();
        }
        Description {
            type_name: self.type_name().to_owned(),
            block: match self.kind {
                Kind::Integer { .. } => Some("1".to_owned()),
                Kind::Unsigned { block, .. } => Some(block.to_string()),
                _ => None,
            },
            argument: Some(
                match self.kind {
                    Kind::Boolean => "OPTIONAL",
                    _ => "REQUIRED",
                }
                .to_owned(),
            ),
            has_default: true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{TABLE, Variable};
    use super::*;

    #[test]
    fn every_line_describes_a_variable() {
        assert_eq!(descriptions().len(), LINES.lines().count());
        for name in descriptions().keys() {
            assert!(Variable::by_name(name).is_some(), "{name}");
        }
        let own = TABLE.iter().filter(|row| row.name.starts_with("paceline_"));
        assert!(own.clone().count() > 0 && own.clone().all(|row| row.description().has_default));
    }
}
