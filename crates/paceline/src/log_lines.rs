//! The log on standard error: one line for each message, whatever is in it.
//!
//! Messages tell what came from outside: a user's name, a host's, the text of an error. A line feed in it would look like a message of its own, and an
//! escape sequence would write to the terminal of whoever reads the log.

use std::io::{self, Write};

/// Writes to standard error; each write is one message.
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

/// A message with its control characters written out, but for the line feed at its end.
fn one_line(message: &[u8]) -> String {
    let text = String::from_utf8_lossy(message);
    let (text, end) = match text.strip_suffix('\n') {
        Some(line) => (line, "\n"),
        None => (&*text, ""),
    };
    let mut line = String::with_capacity(text.len() + end.len());
    for character in text.chars() {
        // Line and paragraph separators end a line for some readers.
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
    fn a_message_is_one_line() {
        assert_eq!(one_line("INFO größer\n".as_bytes()), "INFO größer\n");
        assert_eq!(
            one_line(b"denied for 'a\n2026 INFO shutdown'\r\x1b[2J\n"),
            "denied for 'a\\n2026 INFO shutdown'\\r\\u{1b}[2J\n"
        );
        assert_eq!(one_line("a\u{2028}b\u{85}".as_bytes()), "a\\u{2028}b\\u{85}");
    }
}
