//! The parser of SQL's JSON functions. It reads the whole text and rejects what MariaDB rejects, at the same
//! byte.

use crate::node::{Kind, Node};

/// Error in a JSON text, with the position of its byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// 4037: the text ends too early.
    End,
    /// 4038: another character was expected.
    Syntax(usize),
    /// 4040: arrays and objects are nested [`DEPTH_MAX`] deep.
    Depth(usize),
}

/// Depth of arrays and objects that is too much, as in MariaDB (`JSON_DEPTH_LIMIT`).
pub const DEPTH_MAX: usize = 32;

impl<'t> Node<'t> {
    /// Parses a text that is a single value.
    ///
    /// # Errors
    /// The first byte that MariaDB does not accept either.
    pub fn parse(text: &str) -> Result<Node<'t>, Fault> {
        parse(text)
    }
}

fn parse<'n>(text: &str) -> Result<Node<'n>, Fault> {
    let mut parser = Parser {
        text: text.as_bytes(),
        at: 0,
    };
    let node = parser.value(text, 0)?;
    parser.skip_blanks();
    if parser.at < parser.text.len() {
        Err(Fault::Syntax(parser.at))
    } else {
        Ok(node)
    }
}

struct Parser<'t> {
    text: &'t [u8],
    at: usize,
}

impl Parser<'_> {
    fn skip_blanks(&mut self) {
        while matches!(self.text.get(self.at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Result<u8, Fault> {
        self.text.get(self.at).copied().ok_or(Fault::End)
    }

    fn expect(&mut self, byte: u8) -> Result<(), Fault> {
        if self.peek()? == byte {
            self.at += 1;
            Ok(())
        } else {
            Err(Fault::Syntax(self.at))
        }
    }

    fn value<'n>(&mut self, source: &str, depth: usize) -> Result<Node<'n>, Fault> {
        self.skip_blanks();
        let start = self.at;
        let kind = match self.peek()? {
            b'{' | b'[' if depth + 1 >= DEPTH_MAX => return Err(Fault::Depth(self.at + 1)),
            b'{' => self.object(source, depth)?,
            b'[' => self.array(source, depth)?,
            b'"' => Kind::String(self.string(source)?),
            b'-' | b'0'..=b'9' => self.number(source)?,
            b't' => self.word("true", Kind::Boolean(true))?,
            b'f' => self.word("false", Kind::Boolean(false))?,
            b'n' => self.word("null", Kind::Null)?,
            _ => return Err(Fault::Syntax(self.at)),
        };
        Ok(Node {
            kind,
            span: start..self.at,
        })
    }

    fn word<'n>(&mut self, word: &str, kind: Kind<'n>) -> Result<Kind<'n>, Fault> {
        for byte in word.bytes() {
            self.expect(byte)?;
        }
        Ok(kind)
    }

    fn number<'n>(&mut self, source: &str) -> Result<Kind<'n>, Fault> {
        let start = self.at;
        let digits = |parser: &mut Self| {
            let from = parser.at;
            while matches!(parser.text.get(parser.at), Some(b'0'..=b'9')) {
                parser.at += 1;
            }
            parser.at > from
        };
        if self.peek()? == b'-' {
            self.at += 1;
        }
        let leading_zero = self.text.get(self.at) == Some(&b'0');
        let integer_start = self.at;
        if !digits(self) || (leading_zero && self.at - integer_start > 1) {
            return Err(Fault::Syntax(self.at.min(self.text.len())));
        }
        if self.text.get(self.at) == Some(&b'.') {
            self.at += 1;
            if !digits(self) {
                return Err(if self.at >= self.text.len() {
                    Fault::End
                } else {
                    Fault::Syntax(self.at)
                });
            }
        }
        if matches!(self.text.get(self.at), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.text.get(self.at), Some(b'+' | b'-')) {
                self.at += 1;
            }
            if !digits(self) {
                return Err(if self.at >= self.text.len() {
                    Fault::End
                } else {
                    Fault::Syntax(self.at)
                });
            }
        }
        Ok(Kind::Number(source[start..self.at].to_owned()))
    }

    fn string(&mut self, source: &str) -> Result<String, Fault> {
        self.expect(b'"')?;
        let start = self.at;
        loop {
            match self.peek()? {
                b'"' => break,
                b'\\' => {
                    self.at += 1;
                    match self.peek()? {
                        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => self.at += 1,
                        b'u' => {
                            self.at += 1;
                            for _ in 0..4 {
                                if !self.peek()?.is_ascii_hexdigit() {
                                    return Err(Fault::Syntax(self.at));
                                }
                                self.at += 1;
                            }
                        }
                        _ => return Err(Fault::Syntax(self.at)),
                    }
                }
                0..0x20 => return Err(Fault::Syntax(self.at)),
                _ => self.at += 1,
            }
        }
        let text = source[start..self.at].to_owned();
        self.at += 1;
        Ok(text)
    }

    fn array<'n>(&mut self, source: &str, depth: usize) -> Result<Kind<'n>, Fault> {
        self.at += 1;
        let mut items = Vec::new();
        self.skip_blanks();
        if self.peek()? == b']' {
            self.at += 1;
            return Ok(Kind::Array(items));
        }
        loop {
            items.push(self.value(source, depth + 1)?);
            self.skip_blanks();
            match self.peek()? {
                b',' => self.at += 1,
                b']' => {
                    self.at += 1;
                    return Ok(Kind::Array(items));
                }
                _ => return Err(Fault::Syntax(self.at)),
            }
        }
    }

    fn object<'n>(&mut self, source: &str, depth: usize) -> Result<Kind<'n>, Fault> {
        self.at += 1;
        let mut members = Vec::new();
        self.skip_blanks();
        if self.peek()? == b'}' {
            self.at += 1;
            return Ok(Kind::Object(members));
        }
        loop {
            self.skip_blanks();
            let key = self.string(source)?;
            self.skip_blanks();
            self.expect(b':')?;
            members.push((key, self.value(source, depth + 1)?));
            self.skip_blanks();
            match self.peek()? {
                b',' => self.at += 1,
                b'}' => {
                    self.at += 1;
                    return Ok(Kind::Object(members));
                }
                _ => return Err(Fault::Syntax(self.at)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_name_the_byte() {
        assert_eq!(parse(r#"{"a":1"#), Err(Fault::End));
        assert_eq!(parse("[1,]"), Err(Fault::Syntax(3)));
        assert_eq!(parse("01"), Err(Fault::Syntax(2)));
        assert_eq!(parse(r#""\x""#), Err(Fault::Syntax(2)));
        assert_eq!(parse(&"[".repeat(DEPTH_MAX)), Err(Fault::Depth(DEPTH_MAX)));
        let deepest = "[".repeat(DEPTH_MAX - 1) + &"]".repeat(DEPTH_MAX - 1);
        assert!(parse(&deepest).is_ok());
        let objects = r#"{"a":"#.repeat(DEPTH_MAX);
        assert_eq!(parse(&objects), Err(Fault::Depth(5 * DEPTH_MAX - 4)));
    }
}
