//! XML as MariaDB's own parser sees it (`strings/xml.c`): tags, attributes, texts and CDATA. Comments, processing
//! instructions and `<!DOCTYPE …>` are skipped. It knows no entities, and takes any number of elements beside one
//! another.
//!
//! ```text
//!   <a x="1">t<b/></a>      0 root ─┬─ (level 0)
//!                           1 tag a │ parent 0, level 1
//!                           2 attribute x, parent 1, level 2;  3 text 1, parent 2, level 3
//!                           4 text t, parent 1, level 2;       5 tag b, parent 1, level 2
//! ```
//!
//! The nodes stand in the order of the document. What is within a node are the nodes after it with a higher level.

use std::ops::Range;

/// Levels of nodes.
const LEVEL_MAX: usize = 255;

/// Bytes of a name that an error shows.
const SHOWN_NAME_MAX: usize = 31;

/// Nodes between two calls of `check`.
const CHECK_INTERVAL: usize = 1 << 16;

/// Kind of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NodeKind {
    Tag,
    Attribute,
    Text,
}

/// A node of a document.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    pub kind: NodeKind,
    /// Depth; 0 is the root.
    pub level: u16,
    /// Index of the node around this one.
    pub parent: u32,
    start: u32,
    end: u32,
    /// Offset before the `>` of a tag, or after the value of an attribute.
    pub close: u32,
}

impl Node {
    /// Returns the place of the name or text.
    pub(super) fn range(&self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// A document that was read.
#[derive(Debug)]
pub(super) struct Document<'t> {
    pub text: &'t str,
    pub nodes: Vec<Node>,
}

impl Document<'_> {
    /// Returns a node's name or text.
    pub(super) fn content(&self, node: &Node) -> &str {
        &self.text[node.range()]
    }
}

/// Reason for the refusal of a document.
#[derive(Debug)]
pub(super) enum XmlError<E> {
    /// Text for warning 1525.
    Malformed(String),
    /// `check` failed.
    Interrupted(E),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token {
    End,
    String,
    Identifier,
    Equal,
    Less,
    Greater,
    Slash,
    Comment,
    CharacterData,
    Unknown,
}

impl Token {
    const fn name(self) -> &'static str {
        match self {
            Token::End => "END-OF-INPUT",
            Token::String => "STRING",
            Token::Identifier => "IDENT",
            Token::CharacterData => "CDATA",
            Token::Equal => "'='",
            Token::Less => "'<'",
            Token::Greater => "'>'",
            Token::Slash => "'/'",
            Token::Comment => "COMMENT",
            Token::Unknown => "unknown token",
        }
    }
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    nodes: Vec<Node>,
    /// Names of the elements that are open, and their nodes.
    open: Vec<(&'t str, u32)>,
    parent: u32,
}

/// Reads a document. Calls `check` with the number of bytes of the nodes now and then.
///
/// # Errors
/// [`XmlError`].
pub(super) fn read<'t, E>(
    text: &'t str,
    check: &mut dyn FnMut(usize) -> Result<(), E>,
) -> Result<Document<'t>, XmlError<E>> {
    let root = Node {
        kind: NodeKind::Tag,
        level: 0,
        parent: 0,
        start: 0,
        end: 0,
        close: 0,
    };
    let mut reader = Reader {
        text,
        at: 0,
        nodes: vec![root],
        open: Vec::new(),
        parent: 0,
    };
    let mut checked = 0;
    while reader.at < text.len() {
        if reader.nodes.len() >= checked + CHECK_INTERVAL {
            checked = reader.nodes.len();
            check(2 * checked * size_of::<Node>()).map_err(XmlError::Interrupted)?;
        }
        reader.piece().map_err(|error| reader.refusal(&error))?;
    }
    match reader.open.is_empty() {
        true => Ok(Document {
            text,
            nodes: reader.nodes,
        }),
        false => Err(reader.refusal("unexpected END-OF-INPUT")),
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

fn starts_name(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || matches!(byte, b'_' | b':' | 0x80..)
}

fn continues_name(byte: u8) -> bool {
    starts_name(byte) || byte.is_ascii_digit() || matches!(byte, b'.' | b'-')
}

fn shown(name: &str) -> &str {
    let end = (0..=SHOWN_NAME_MAX.min(name.len()))
        .rev()
        .find(|end| name.is_char_boundary(*end));
    &name[..end.unwrap_or(0)]
}

impl<'t> Reader<'t> {
    fn refusal<E>(&self, error: &str) -> XmlError<E> {
        let before = &self.text.as_bytes()[..self.at];
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
        let start = before.iter().rposition(|byte| *byte == b'\n').unwrap_or(0);
        let position = self.at - start + 1;
        XmlError::Malformed(format!("parse error at line {line} pos {position}: {error}"))
    }

    fn rest(&self) -> &'t [u8] {
        &self.text.as_bytes()[self.at..]
    }

    /// Reads a token and returns it with the place of what it stands for.
    fn token(&mut self) -> (Token, Range<usize>) {
        while self.rest().first().is_some_and(|byte| is_space(*byte)) {
            self.at += 1;
        }
        let start = self.at;
        let rest = self.rest();
        let Some(first) = rest.first() else {
            return (Token::End, start..start);
        };
        if rest.starts_with(b"<!--") {
            let end = self.text[start..].find("-->").map(|end| start + end + 3);
            self.at = end.unwrap_or(self.text.len());
            return (Token::Comment, start..self.at);
        }
        if rest.starts_with(b"<![CDATA[") {
            let inner = start + 9;
            let end = self.text[inner..].find("]]>").map(|end| inner + end);
            self.at = end.map_or(self.text.len(), |end| end + 3);
            return (Token::CharacterData, inner..end.unwrap_or(self.text.len()));
        }
        if rest.starts_with(b"<!DOCTYPE") {
            return (self.document_type(), start..self.at);
        }
        if rest.starts_with(b"<?") {
            return (self.instruction(), start..self.at);
        }
        let single = match first {
            b'=' => Some(Token::Equal),
            b'/' => Some(Token::Slash),
            b'<' => Some(Token::Less),
            b'>' => Some(Token::Greater),
            _ => None,
        };
        if let Some(token) = single {
            self.at += 1;
            return (token, start..self.at);
        }
        if matches!(first, b'"' | b'\'') {
            let length = rest[1..].iter().position(|byte| byte == first);
            let end = length.map_or(self.text.len(), |length| start + 1 + length);
            self.at = (end + 1).min(self.text.len());
            return (Token::String, start + 1..end);
        }
        if starts_name(*first) {
            let length = rest.iter().position(|byte| !continues_name(*byte));
            self.at += length.unwrap_or(rest.len());
            return (Token::Identifier, start..self.at);
        }
        (Token::Unknown, start..start)
    }

    /// Skips `<!DOCTYPE … <…> "…" …>`.
    fn document_type(&mut self) -> Token {
        let mut depth = 0;
        while let Some(byte) = self.rest().first().copied() {
            self.at += 1;
            match byte {
                b'<' => depth += 1,
                b'>' => depth -= 1,
                b'"' | b'\'' => {
                    let length = self.rest().iter().position(|other| *other == byte);
                    self.at = length.map_or(self.text.len(), |length| self.at + length + 1);
                }
                _ => {}
            }
            if depth == 0 {
                return Token::Comment;
            }
        }
        Token::Less
    }

    /// Skips `<?name …?>`.
    fn instruction(&mut self) -> Token {
        self.at += 2;
        if !self.rest().first().is_some_and(|byte| starts_name(*byte)) {
            return Token::Less;
        }
        let length = self.rest().iter().position(|byte| !continues_name(*byte));
        self.at = length.map_or(self.text.len(), |length| self.at + length);
        let is_followed = self.rest().first().is_some_and(|byte| is_space(*byte));
        if !is_followed && !self.rest().starts_with(b"?>") {
            return Token::Less;
        }
        let length = self.text[self.at..].find("?>");
        self.at = length.map_or(self.text.len(), |length| self.at + length + 2);
        match length {
            Some(_) => Token::Comment,
            None => Token::Less,
        }
    }

    /// Reads a tag, or the text before the next one.
    fn piece(&mut self) -> Result<(), String> {
        if self.rest().first() == Some(&b'<') {
            return self.tag();
        }
        let start = self.at;
        let length = self.rest().iter().position(|byte| *byte == b'<');
        self.at = length.map_or(self.text.len(), |length| start + length);
        self.add(NodeKind::Text, start..self.at);
        Ok(())
    }

    fn tag(&mut self) -> Result<(), String> {
        match self.token() {
            (Token::Comment, _) => return Ok(()),
            (Token::CharacterData, range) => {
                self.add(NodeKind::Text, range);
                return Ok(());
            }
            _ => {}
        }
        let (token, range) = self.token();
        if token == Token::Slash {
            let (token, range) = self.token();
            if token != Token::Identifier {
                return Err(format!("{} unexpected (ident wanted)", token.name()));
            }
            self.leave(Some(&self.text[range]))?;
            let (token, _) = self.token();
            return expect_greater(token);
        }
        if token != Token::Identifier {
            return Err(format!("{} unexpected (ident or '/' wanted)", token.name()));
        }
        self.enter(NodeKind::Tag, range)?;
        let mut token = self.attributes()?;
        if token == Token::Slash {
            self.leave(None)?;
            token = self.token().0;
        }
        expect_greater(token)
    }

    /// Reads attributes, and returns the token after them.
    fn attributes(&mut self) -> Result<Token, String> {
        loop {
            let (token, name) = self.token();
            if token != Token::Identifier {
                return Ok(token);
            }
            match self.token().0 {
                Token::Equal => {
                    let (token, value) = self.token();
                    if !matches!(token, Token::Identifier | Token::String) {
                        return Err(format!("{} unexpected (ident or string wanted)", token.name()));
                    }
                    self.enter(NodeKind::Attribute, name.clone())?;
                    self.add(NodeKind::Text, value);
                    self.leave(Some(&self.text[name]))?;
                }
                // As in MariaDB the second name is lost.
                Token::Identifier => {
                    self.enter(NodeKind::Attribute, name.clone())?;
                    self.leave(Some(&self.text[name]))?;
                }
                token => return Ok(token),
            }
        }
    }

    /// Adds a node within the element that is open.
    fn add(&mut self, kind: NodeKind, range: Range<usize>) {
        self.nodes.push(Node {
            kind,
            level: self.open.len() as u16 + 1,
            parent: self.parent,
            start: range.start as u32,
            end: range.end as u32,
            close: range.end as u32,
        });
    }

    fn enter(&mut self, kind: NodeKind, range: Range<usize>) -> Result<(), String> {
        if self.open.len() + 1 >= LEVEL_MAX {
            return Err(String::new());
        }
        let index = self.nodes.len() as u32;
        self.add(kind, range.clone());
        self.open.push((&self.text[range], index));
        self.parent = index;
        Ok(())
    }

    /// Closes the innermost element, which has to have this name.
    fn leave(&mut self, name: Option<&str>) -> Result<(), String> {
        let innermost = self.open.last().copied();
        if let Some(name) = name {
            match innermost {
                Some((open, _)) if open != name => {
                    return Err(format!(
                        "'</{}>' unexpected ('</{}>' wanted)",
                        shown(name),
                        shown(open)
                    ));
                }
                None => return Err(format!("'</{}>' unexpected (END-OF-INPUT wanted)", shown(name))),
                Some(_) => {}
            }
        }
        if let Some((_, index)) = innermost {
            self.open.pop();
            let node = &mut self.nodes[index as usize];
            node.close = self.at as u32;
            self.parent = node.parent;
        }
        Ok(())
    }
}

fn expect_greater(token: Token) -> Result<(), String> {
    match token {
        Token::Greater => Ok(()),
        token => Err(format!("{} unexpected ('>' wanted)", token.name())),
    }
}
