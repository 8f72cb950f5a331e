//! LIKE: `%` matches any text, `_` any character. The escape character makes the next character literal.

/// One element of a pattern.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Any,
    One,
    Character(char),
}

/// Parses the first element of a pattern. Returns it and the rest of the pattern.
fn place(pattern: &str, escape: Option<char>) -> Option<(Place, &str)> {
    let mut characters = pattern.chars();
    let first = characters.next()?;
    if Some(first) == escape {
        let mut after = characters.clone();
        return match after.next() {
            Some(escaped) => Some((Place::Character(escaped), after.as_str())),
            // An escape character at the end is literal.
            None => Some((Place::Character(first), "")),
        };
    }
    let place = match first {
        '%' => Place::Any,
        '_' => Place::One,
        other => Place::Character(other),
    };
    Some((place, characters.as_str()))
}

/// Returns whether `text` matches the pattern. `same` compares two characters. The worst case takes text × pattern
/// steps.
pub(super) fn matches(
    text: &str,
    pattern: &str,
    escape: Option<char>,
    same: impl Fn(char, char) -> bool,
) -> bool {
    let (mut text, mut pattern) = (text, pattern);
    // State for the next attempt: the text and the pattern after the last `%`, which then matches one more character.
    let mut retry: Option<(&str, &str)> = None;
    loop {
        let mut rest = text.chars();
        match (place(pattern, escape), rest.next()) {
            (None, None) => return true,
            (Some((Place::Any, after)), _) => {
                if after.is_empty() {
                    return true;
                }
                retry = Some((text, after));
                pattern = after;
                continue;
            }
            (Some((Place::One, after)), Some(_)) => {
                text = rest.as_str();
                pattern = after;
                continue;
            }
            (Some((Place::Character(wanted), after)), Some(found))
                if wanted == found || same(wanted, found) =>
            {
                text = rest.as_str();
                pattern = after;
                continue;
            }
            // The text has ended before the pattern: another attempt would have even less text.
            (Some(_), None) => return false,
            _ => {}
        }
        let Some((from, after)) = retry else { return false };
        let mut shorter = from.chars();
        if shorter.next().is_none() {
            return false;
        }
        text = shorter.as_str();
        pattern = after;
        retry = Some((text, after));
    }
}

/// Like [`matches`], for binary strings, in which `_` matches a byte.
pub(super) fn matches_bytes(text: &[u8], pattern: &[u8], escape: Option<u8>) -> bool {
    let as_text = |bytes: &[u8]| bytes.iter().map(|&byte| char::from(byte)).collect::<String>();
    matches(
        &as_text(text),
        &as_text(pattern),
        escape.map(char::from),
        |_, _| false,
    )
}

/// Returns the literal text with which every match begins. The second value is `None` if the pattern has no wildcard,
/// else whether a `%` alone follows the text.
pub(super) fn literal_prefix(pattern: &str, escape: Option<char>) -> (String, Option<bool>) {
    let mut prefix = String::new();
    let mut rest = pattern;
    while let Some((place, after)) = place(rest, escape) {
        match place {
            Place::Character(c) => prefix.push(c),
            Place::Any => return (prefix, Some(after.is_empty())),
            Place::One => return (prefix, Some(false)),
        }
        rest = after;
    }
    (prefix, None)
}
