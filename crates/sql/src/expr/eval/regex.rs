//! Regular expressions: MariaDB's are PCRE's, ours are those of crate `regex`, which never take exponential time and so have no
//! back references and no look-around.

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

/// What POSIX classes hold of Unicode, as PCRE has it: in crate `regex` they are ASCII.
const CLASSES: [(&str, &str); 11] = [
    ("alpha", r"\p{L}"),
    ("lower", r"\p{Ll}"),
    ("upper", r"\p{Lu}"),
    ("alnum", r"\p{L}\p{N}"),
    ("word", r"\p{L}\p{N}_"),
    ("digit", r"\p{Nd}"),
    ("space", r"\s"),
    ("blank", r"\t\p{Zs}"),
    ("punct", r"\p{P}$+<=>\^`|\~"),
    ("graph", r"\p{L}\p{M}\p{N}\p{P}\p{S}\p{Cf}"),
    ("print", r"\p{L}\p{M}\p{N}\p{P}\p{S}\p{Cf}\p{Zs}"),
];

/// The pattern in the syntax of crate `regex`: `[[:<:]]` and `[[:>:]]` become word boundaries, POSIX classes Unicode's.
fn translate_pattern(pattern: &str, collation: Collation) -> String {
    let mut out = pattern.replace("[[:<:]]", r"\b").replace("[[:>:]]", r"\b");
    let name = collation.name();
    let caseless = name.ends_with("_ci") || name.ends_with("_nopad_ci");
    if out.contains("[:") && collation != Collation::Binary {
        for (name, members) in CLASSES {
            let members = match name {
                "lower" | "upper" if caseless => r"\p{L}",
                _ => members,
            };
            out = out
                .replace(&format!("[:{name}:]"), members)
                .replace(&format!("[:^{name}:]"), &format!("[^{members}]"));
        }
    }
    if caseless {
        out.insert_str(0, "(?i)");
    }
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
