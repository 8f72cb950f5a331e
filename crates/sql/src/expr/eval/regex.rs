//! Regular expressions: MariaDB's are PCRE's, ours are those of crate `regex`, which never take exponential time and so have no
//! back references and no look-around.

use std::fmt::Write;

use paceline_types::Collation;
use paceline_types::error_code::ER_REGEXP_ERROR;

use crate::error::Result;
use crate::expr::context::EvalContext;
use crate::expr::errors;

/// A compiled regular expression with the pattern it came from.
#[derive(Debug)]
pub(crate) struct CompiledPattern {
    source: String,
    regex: regex::Regex,
}

/// The pattern in the syntax of crate `regex`: POSIX classes of `[[:<:]]` become word boundaries.
fn translate_pattern(pattern: &str, collation: Collation) -> String {
    let mut out = String::with_capacity(pattern.len() + 8);
    let name = collation.name();
    if name.ends_with("_ci") || name.ends_with("_nopad_ci") {
        out.push_str("(?i)");
    }
    let _ = write!(
        out,
        "{}",
        pattern.replace("[[:<:]]", r"\b").replace("[[:>:]]", r"\b")
    );
    out
}

/// Calls `with` with the compiled pattern, which the node `id` keeps until the pattern changes.
pub(crate) fn with_pattern<T>(
    id: u64,
    pattern: &str,
    collation: Collation,
    context: &mut EvalContext<'_>,
    with: impl FnOnce(&regex::Regex) -> T,
) -> Result<T> {
    if let Some(compiled) = context.state.regexes.get(&id)
        && compiled.source == pattern
    {
        return Ok(with(&compiled.regex));
    }
    let regex = regex::RegexBuilder::new(&translate_pattern(pattern, collation))
        .size_limit(8 << 20)
        .build()
        .map_err(|error| {
            let text = error.to_string();
            let line = text
                .lines()
                .last()
                .unwrap_or_default()
                .trim_start_matches("error: ")
                .to_owned();
            errors::error(ER_REGEXP_ERROR, &[&line])
        })?;
    let result = with(&regex);
    context.state.regexes.insert(
        id,
        CompiledPattern {
            source: pattern.to_owned(),
            regex,
        },
    );
    Ok(result)
}
