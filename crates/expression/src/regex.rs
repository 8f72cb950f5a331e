//! Regular expressions, by PCRE2 as in MariaDB.
//!
//! A pattern is compiled to machine code. If that has not enough stack, PCRE2's interpreter runs it again. MariaDB uses
//! the interpreter, which needs no stack.

use std::ops::Range;
use std::sync::OnceLock;

use paceline_types::Collation;
use parking_lot::Mutex;
use pcre2::bytes::{CaptureLocations, Regex, RegexBuilder};

/// Maximum stack of machine code, in bytes. It grows as a match needs it, and is freed with the pattern.
const JIT_STACK_MAX: usize = 1 << 20;
/// PCRE2's `PCRE2_ERROR_MATCHLIMIT`.
const MATCH_LIMIT_EXCEEDED: i32 = -47;

#[derive(Debug)]
pub(crate) struct CompiledPattern {
    source: Vec<u8>,
    /// The source as it was compiled: as text, and with options.
    written: String,
    collation: Collation,
    compiled: Regex,
    /// The pattern for the interpreter, created when it is first needed.
    interpreted: OnceLock<Regex>,
    /// Buffer for the groups of a match, created when it is first needed.
    groups: Mutex<Option<CaptureLocations>>,
}

/// Ranges of the whole match and of its first groups, which are all that a replacement can refer to. A group that has
/// no part in the match is empty.
pub(crate) type Groups = [Range<usize>; 10];

impl CompiledPattern {
    /// Compiles a pattern. `source` is UTF-8 unless the collation is binary; `options` are added to those that it
    /// begins with.
    ///
    /// # Errors
    /// PCRE2's message with the offset, as in error 1139.
    pub(crate) fn new(source: &[u8], collation: Collation, options: &str) -> Result<CompiledPattern, String> {
        let mut written = written(source).into_owned();
        written.insert_str(end_of_verbs(&written), options);
        let compiled = builder(collation)
            .jit_if_available(true)
            .max_jit_stack_size(Some(JIT_STACK_MAX))
            .build(&written)
            .map_err(|error| text_of(&error, options.len()))?;
        Ok(CompiledPattern {
            source: source.to_vec(),
            written,
            collation,
            compiled,
            interpreted: OnceLock::new(),
            groups: Mutex::new(None),
        })
    }

    /// Returns whether this is the compiled form of a pattern.
    pub(crate) fn is_of(&self, source: &[u8]) -> bool {
        self.source == source
    }

    /// Returns the collation that was used. With a binary one, characters are bytes.
    pub(crate) fn collation(&self) -> Collation {
        self.collation
    }

    /// Returns the first match at or after `start`.
    ///
    /// # Errors
    /// PCRE2's message if the match was given up.
    pub(crate) fn find(&self, subject: &[u8], start: usize) -> Result<Option<Range<usize>>, String> {
        let find = |regex: &Regex| {
            let found = regex.find_at(subject, start)?;
            Ok(found.map(|found| found.start()..found.end()))
        };
        self.either(find)
    }

    /// Like [`CompiledPattern::find`], with the groups of the match.
    ///
    /// # Errors
    /// The same.
    pub(crate) fn find_groups(&self, subject: &[u8], start: usize) -> Result<Option<Groups>, String> {
        let mut room = self.groups.lock();
        let find = |regex: &Regex| {
            // The interpreter needs no stack for machine code, but works with any buffer.
            let found = room.get_or_insert_with(|| regex.capture_locations());
            let is_match = regex.captures_read_at(found, subject, start)?.is_some();
            let range = |group| found.get(group).map_or(0..0, |(from, to)| from..to);
            Ok(is_match.then(|| std::array::from_fn(range)))
        };
        self.either(find)
    }

    fn either<T>(&self, mut find: impl FnMut(&Regex) -> Result<T, pcre2::Error>) -> Result<T, String> {
        match find(&self.compiled) {
            Ok(found) => return Ok(found),
            // The interpreter counts more steps, so it would give up too.
            Err(error) if error.code() == MATCH_LIMIT_EXCEEDED => return Err(text_of(&error, 0)),
            Err(_) => {}
        }
        let interpreted = self.interpreted.get_or_init(|| {
            let again = builder(self.collation).build(&self.written);
            again.expect("the pattern was compiled before")
        });
        find(interpreted).map_err(|error| text_of(&error, 0))
    }
}

/// Returns MariaDB's options for a collation.
fn builder(collation: Collation) -> RegexBuilder {
    let mut builder = RegexBuilder::new();
    builder
        .caseless(collation.name().ends_with("_ci"))
        .ucp(collation != Collation::Binary);
    builder
}

/// Returns the pattern as text, in which bytes that are not UTF-8 are escapes.
fn written(source: &[u8]) -> std::borrow::Cow<'_, str> {
    use std::fmt::Write;
    match std::str::from_utf8(source) {
        Ok(text) => text.into(),
        Err(_) => {
            let mut out = String::with_capacity(source.len() * 4);
            for &byte in source {
                match byte.is_ascii() {
                    true => out.push(char::from(byte)),
                    false => {
                        let _ = write!(out, "\\x{byte:02x}");
                    }
                }
            }
            out.into()
        }
    }
}

/// Returns where the verbs end that only the beginning of a pattern may have: `(*ANYCRLF)`.
fn end_of_verbs(pattern: &str) -> usize {
    let mut rest = pattern;
    while let Some(verb) = rest.strip_prefix("(*")
        && verb.starts_with(|first: char| first.is_ascii_uppercase())
        && let Some((_, after)) = verb.split_once(')')
    {
        rest = after;
    }
    pattern.len() - rest.len()
}

/// Returns PCRE2's error message, in MariaDB's form instead of that of crate `pcre2`. Its offset does not count the
/// `added` bytes of options.
fn text_of(error: &pcre2::Error, added: usize) -> String {
    let text = error.to_string();
    match error.offset() {
        Some(offset) => {
            let text = text.split_once(&format!(" at offset {offset}: "));
            let offset = offset.saturating_sub(added);
            format!("{} at offset {offset}", text.map_or("", |(_, text)| text))
        }
        None => {
            let (_, text) = text.split_once("error matching: ").unwrap_or(("", &text));
            text.to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(source: &str) -> CompiledPattern {
        CompiledPattern::new(source.as_bytes(), Collation::Utf8mb4Bin, "").expect("a pattern")
    }

    #[test]
    fn an_error_has_pcre2s_text_and_the_offset() {
        let error =
            |source: &str| CompiledPattern::new(source.as_bytes(), Collation::Utf8mb4Bin, "").unwrap_err();
        assert_eq!(error("("), "missing closing parenthesis at offset 1");
        assert_eq!(
            error("[a"),
            "missing terminating ] for character class at offset 2"
        );
    }

    #[test]
    fn a_match_that_needs_much_stack_or_time() {
        // Needs more stack than machine code has.
        let text = "a".repeat(200_000);
        assert_eq!(pattern("^(a|b)*$").find(text.as_bytes(), 0), Ok(Some(0..200_000)));
        let text = "a".repeat(60) + "b";
        assert_eq!(
            pattern("^(a+)+$").find(text.as_bytes(), 0),
            Err("match limit exceeded".to_owned())
        );
    }

    #[test]
    fn characters_of_a_binary_collation_are_bytes() {
        let pattern = CompiledPattern::new(b"\xff.", Collation::Binary, "").unwrap();
        assert_eq!(pattern.find(b"a\xff\xc3\xb1", 0), Ok(Some(1..3)));
    }

    #[test]
    fn options_are_added_behind_the_verbs() {
        let find = |source: &str, options: &str| {
            let pattern = CompiledPattern::new(source.as_bytes(), Collation::Utf8mb4Bin, options);
            pattern.and_then(|pattern| pattern.find(b"a\nb", 0))
        };
        assert_eq!(find("a.b", ""), Ok(None));
        assert_eq!(find("a.b", "(?s)"), Ok(Some(0..3)));
        assert_eq!(find("(*ANYCRLF)(*UCP)^ b $", "(?xm)"), Ok(Some(2..3)));
        assert_eq!(
            find("a(", "(?s)"),
            Err("missing closing parenthesis at offset 2".to_owned())
        );
    }

    #[test]
    fn groups_of_a_match() {
        let pattern = pattern("(a)|(b)(c?)");
        let groups = pattern.find_groups(b"xbxa", 0).unwrap().unwrap();
        assert_eq!(groups[..4], [1..2, 0..0, 1..2, 2..2]);
        let groups = pattern.find_groups(b"xbxa", 2).unwrap().unwrap();
        assert_eq!(groups[..4], [3..4, 3..4, 0..0, 0..0]);
        assert_eq!(pattern.find_groups(b"xbxa", 4), Ok(None));
        let text = "a".repeat(200_000);
        let long = self::pattern("^(?:(a)|b)*$");
        let groups = long.find_groups(text.as_bytes(), 0).unwrap().unwrap();
        assert_eq!(groups[..2], [0..200_000, 199_999..200_000]);
    }

    #[test]
    fn back_references_and_look_around() {
        assert_eq!(pattern(r"(a.)\1").find(b"abacac", 0), Ok(Some(2..6)));
        assert_eq!(pattern("(?<=a)b(?!c)").find(b"abcab", 0), Ok(Some(4..5)));
    }
}
