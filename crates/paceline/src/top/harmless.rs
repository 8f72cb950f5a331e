//! Texts of others, made harmless for a terminal.
//!
//! A statement, a name or an error may contain any character. An escape sequence could rewrite the screen, the title or
//! the clipboard; a mark of direction could make a line read as another one. So each control character, each mark of
//! direction and each invisible character becomes [`SHOWN`], and white space becomes one space. What remains is a line.

/// Character in the place of one that is not shown.
pub const SHOWN: char = '·';
/// Maximum number of characters of a text. A row is one line, and its details a page.
pub const CHARACTERS_MAX: usize = 1000;

/// Returns a text that can be drawn or printed: one line, of limited length.
pub fn harmless(text: &str) -> String {
    let mut line = String::with_capacity(text.len().min(4 * CHARACTERS_MAX));
    let mut characters = 0;
    let mut combining = 0;
    let mut after_space = false;
    for character in text.chars() {
        if characters == CHARACTERS_MAX {
            line.push('…');
            break;
        }
        let is_space = character.is_whitespace();
        if is_space && after_space {
            continue;
        }
        after_space = is_space;
        combining = match is_combining(character) {
            true => combining + 1,
            false => 0,
        };
        // A stack of marks would be drawn over other lines.
        if combining > COMBINING_MAX {
            continue;
        }
        characters += 1;
        line.push(match character {
            _ if is_space => ' ',
            _ if character.is_control() || is_invisible(character) => SHOWN,
            _ => character,
        });
    }
    line
}

/// Marks on one character that are drawn.
const COMBINING_MAX: usize = 3;

fn is_combining(character: char) -> bool {
    matches!(character, '\u{300}'..='\u{36f}' | '\u{483}'..='\u{489}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}'
        | '\u{20d0}'..='\u{20ff}' | '\u{fe20}'..='\u{fe2f}')
}

/// Marks of direction, joiners, variation selectors, tags, private and unassigned specials.
fn is_invisible(character: char) -> bool {
    matches!(character, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_sequences_and_marks_of_direction_are_not_shown() {
        for (text, line) in [
            ("select 1", "select 1"),
            ("select\n\t  1", "select 1"),
            ("a\x1b[2Jb", "a·[2Jb"),
            ("a\u{9b}2Jb\x07\0", "a·2Jb··"),
            ("a\u{202e}b\u{200b}c\u{2066}", "a·b·c·"),
            ("größe 表 🚲", "größe 表 🚲"),
        ] {
            assert_eq!(harmless(text), line, "{text:?}");
        }
    }

    #[test]
    fn length_and_stacks_of_marks_are_limited() {
        let long = harmless(&"x".repeat(5000));
        assert_eq!(long.chars().count(), CHARACTERS_MAX + 1);
        assert!(long.ends_with("x…"));
        let stack = format!("e{}f", "\u{301}".repeat(50));
        assert_eq!(harmless(&stack).chars().count(), 2 + COMBINING_MAX);
    }
}
