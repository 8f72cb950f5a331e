//! LIKE: `%` stands for any text, `_` for any character, the escape character takes the next one as it is.

/// One place of a pattern.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Any,
    One,
    Character(char),
}

/// Reads the place at the start of a pattern.
fn place(pattern: &str, escape: Option<char>) -> Option<(Place, &str)> {
    let mut characters = pattern.chars();
    let first = characters.next()?;
    if Some(first) == escape {
        let mut after = characters.clone();
        return match after.next() {
            Some(escaped) => Some((Place::Character(escaped), after.as_str())),
            // An escape character at the end stands for itself.
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

/// Whether `text` matches; `same` says which characters are equal. Takes time in proportion to text × pattern at worst.
pub(super) fn matches(
    text: &str,
    pattern: &str,
    escape: Option<char>,
    same: impl Fn(char, char) -> bool,
) -> bool {
    let (mut text, mut pattern) = (text, pattern);
    // Where to go back to: after the last `%`, with one more character of the text taken by it.
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
            // The text has ended before the pattern: going back can only leave less of it.
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

/// As [`matches`] for binary strings, where `_` stands for a byte.
pub(super) fn matches_bytes(text: &[u8], pattern: &[u8], escape: Option<u8>) -> bool {
    let as_text = |bytes: &[u8]| bytes.iter().map(|&byte| char::from(byte)).collect::<String>();
    matches(
        &as_text(text),
        &as_text(pattern),
        escape.map(char::from),
        |_, _| false,
    )
}

/// The text that everything matching begins with, and whether only a `%` follows it.
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
