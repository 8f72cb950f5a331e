//! Writes the log to standard error, one line per message, whatever the message contains.
//!
//! Messages contain text from outside: names of users and hosts, texts of errors. A line feed in it would look like the
//! start of another message, and an escape sequence would control the reader's terminal.

use std::io::{self, Write};

/// Writes to standard error. Each write is one message.
#[derive(Debug, Default)]
pub struct LogLines;

impl Write for LogLines {
    fn write(&mut self, message: &[u8]) -> io::Result<usize> {
        io::stderr().lock().write_all(one_line(message).as_bytes())?;
        Ok(message.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

/// Escapes the control characters of a message, except the line feed at its end.
fn one_line(message: &[u8]) -> String {
    let text = String::from_utf8_lossy(message);
    let (text, end) = match text.strip_suffix('\n') {
        Some(line) => (line, "\n"),
        None => (&*text, ""),
    };
    let mut line = String::with_capacity(text.len() + end.len());
    for character in text.chars() {
        // Some programs treat line and paragraph separators as line ends.
        match character.is_control() || matches!(character, '\u{2028}' | '\u{2029}') {
            true => line.extend(character.escape_default()),
            false => line.push(character),
        }
    }
    line.push_str(end);
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_in_a_message_are_escaped() {
        assert_eq!(one_line("INFO größer\n".as_bytes()), "INFO größer\n");
        assert_eq!(
            one_line(b"denied for 'a\n2026 INFO shutdown'\r\x1b[2J\n"),
            "denied for 'a\\n2026 INFO shutdown'\\r\\u{1b}[2J\n"
        );
        assert_eq!(one_line("a\u{2028}b\u{85}".as_bytes()), "a\\u{2028}b\\u{85}");
    }
}
