//! What `information_schema.SYSTEM_VARIABLES` says of MariaDB's variables beyond what assigning them needs.
//!
//! `descriptions.txt` has a line for each: its name, its type, the multiple that values are cut to, whether its option takes an argument,
//! and whether it has a default. `-` is NULL.

use super::definition::{Definition, Kind};
use std::collections::HashMap;
use std::sync::OnceLock;

static LINES: &str = include_str!("descriptions.txt");

/// The columns of SYSTEM_VARIABLES that are MariaDB's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Description {
    /// `VARIABLE_TYPE`
    pub type_name: String,
    /// `NUMERIC_BLOCK_SIZE`
    pub block: Option<String>,
    /// `COMMAND_LINE_ARGUMENT`
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
    /// The variable as SYSTEM_VARIABLES describes it; one that MariaDB does not have, by its kind.
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
