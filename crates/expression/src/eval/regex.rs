//! Regular expressions. MariaDB uses PCRE. We use crate `regex`, which never takes exponential time and therefore has
//! no back references and no look-around.

use paceline_types::Collation;
use paceline_types::error_code::ER_REGEXP_ERROR;

use crate::context::EvalContext;
use crate::error::Result;
use crate::errors;

/// A compiled regular expression and its pattern.
#[derive(Debug)]
pub(crate) struct CompiledPattern {
    source: String,
    regex: regex::Regex,
}

/// POSIX classes with Unicode contents as in PCRE. In crate `regex` they are ASCII.
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

/// Translates a pattern to the syntax of crate `regex`: `[[:<:]]` and `[[:>:]]` become word boundaries, POSIX classes
/// their Unicode equivalents.
fn translate_pattern(pattern: &str, collation: Collation) -> String {
    let pattern = pattern.replace("[[:<:]]", r"\b").replace("[[:>:]]", r"\b");
    let name = collation.name();
    let is_caseless = name.ends_with("_ci") || name.ends_with("_nopad_ci");
    let mut out = String::with_capacity(pattern.len() + 16);
    if is_caseless {
        out.push_str("(?i)");
    }
    let mut rest = pattern.as_str();
    while let Some(next) = rest.chars().next() {
        if next == '[' {
            rest = translate_set(rest, collation, is_caseless, &mut out);
        } else {
            let length = token_length(rest);
            out.push_str(&rest[..length]);
            rest = &rest[length..];
        }
    }
    out
}

/// Returns the length of the first character in bytes, including the next one if it is a backslash.
fn token_length(text: &str) -> usize {
    let mut chars = text.chars();
    let first = chars.next().map_or(0, char::len_utf8);
    match text.starts_with('\\') {
        true => first + chars.next().map_or(0, char::len_utf8),
        false => first,
    }
}

/// Translates the set at the start of `text` and returns the rest. PCRE has no set operations: `&&`, `~~`, `--` and an
/// inner bracket are characters.
fn translate_set<'p>(text: &'p str, collation: Collation, is_caseless: bool, out: &mut String) -> &'p str {
    let head = if text.starts_with("[^") { "[^" } else { "[" };
    out.push_str(head);
    let mut rest = &text[head.len()..];
    let mut is_first = true;
    while !rest.is_empty() && (is_first || !rest.starts_with(']')) {
        let class = rest.strip_prefix("[:").and_then(|behind| behind.split_once(":]"));
        let length = match class {
            Some((class, behind)) if class.chars().all(|c| c == '^' || c.is_ascii_lowercase()) => {
                push_class(class, collation, is_caseless, out);
                rest.len() - behind.len()
            }
            _ => {
                // The second of two hyphens is a character, as is a hyphen at the start.
                let is_doubled = !is_first && rest.starts_with("--");
                if is_doubled {
                    out.push('-');
                    rest = &rest[1..];
                }
                let length = token_length(rest);
                let is_operator = matches!(rest.as_bytes()[0], b'[' | b']' | b'&' | b'~');
                if is_operator || (rest.starts_with('-') && (is_first || is_doubled)) {
                    out.push('\\');
                }
                out.push_str(&rest[..length]);
                length
            }
        };
        rest = &rest[length..];
        is_first = false;
    }
    match rest.strip_prefix(']') {
        Some(behind) => {
            out.push(']');
            behind
        }
        None => rest,
    }
}

/// Appends a POSIX class by its name, which `^` negates.
fn push_class(class: &str, collation: Collation, is_caseless: bool, out: &mut String) {
    let (is_negated, name) = match class.strip_prefix('^') {
        Some(name) => (true, name),
        None => (false, class),
    };
    let members = CLASSES.iter().find(|(known, _)| *known == name);
    let members = match members {
        Some(("lower" | "upper", _)) if is_caseless => r"\p{L}",
        Some((_, members)) if collation != Collation::Binary => members,
        _ => {
            out.extend(["[:", class, ":]"]);
            return;
        }
    };
    match is_negated {
        true => out.extend(["[^", members, "]"]),
        false => out.push_str(members),
    }
}

/// Calls `with` with the compiled pattern. It is cached for the node `id` until the pattern changes.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn matched(set: &str, of: &str) -> String {
        let pattern = format!("^{set}$");
        let regex =
            regex::Regex::new(&translate_pattern(&pattern, Collation::Utf8mb4Bin)).expect("a pattern");
        let characters = of.chars().filter(|c| regex.is_match(c.encode_utf8(&mut [0; 4])));
        characters.collect()
    }

    #[test]
    fn a_set_has_characters_and_no_operators() {
        assert_eq!(matched("[a&&b]", "ab&c"), "ab&");
        assert_eq!(matched("[a~~b]", "ab~c"), "ab~");
        assert_eq!(matched("[[a]", "[ab"), "[a");
        assert_eq!(matched("[]a]", "]ab"), "]a");
        assert_eq!(matched("[^]a]", "]ab"), "b");
        assert_eq!(matched("[+--]", "+,-."), "+,-");
        assert_eq!(matched("[--/]", "-./0"), "-./");
        assert_eq!(matched("[a-]", "a-b"), "a-");
        assert_eq!(matched(r"[\]\[a]", "[]ab"), "[]a");
        assert_eq!(matched("[[:digit:]&&[:alpha:]]", "1a&b!"), "1a&b");
        assert_eq!(matched("[[:punct:]~-]", "~-!a"), "~-!");
        assert_eq!(matched("[[:^alpha:]x]", "1xa"), "1x");
        assert_eq!(matched(r"\[a]", "a"), "");
    }
}
