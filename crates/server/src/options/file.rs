//! A section of a file in my.cnf's format: `[paceline]` for a server, `[client]` for who connects to one.
//!
//! ```text
//!   # a comment, also with ;
//!   [paceline]
//!   max_connections = 500
//!   skip-networking
//!   socket = "/run/paceline/paceline.sock"
//! ```
//!
//! Other sections are passed over: the file may be shared with clients. `!include` and `!includedir` are refused, so that nobody
//! believes that they were read.

use super::OptionError;
use std::path::Path;

/// An option as a file gives it: name and value, if it has one.
pub type FileOption = (String, Option<String>);

/// Reads the options of a section.
pub fn read(path: &Path, section: &str) -> Result<Vec<FileOption>, OptionError> {
    let text = std::fs::read_to_string(path).map_err(|error| {
        OptionError(format!(
            "cannot read the configuration file {}: {error}",
            path.display()
        ))
    })?;
    parse(&text, section)
        .map_err(|(line, problem)| OptionError(format!("{}, line {line}: {problem}", path.display())))
}

fn parse(text: &str, wanted: &str) -> Result<Vec<FileOption>, (usize, String)> {
    let mut options = vec![];
    let mut ours = false;
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        let problem = |text: &str| Err((index + 1, text.to_owned()));
        if line.is_empty() || line.starts_with('#') || line.starts_with(';') {
            continue;
        }
        if line.starts_with('!') {
            return problem("include directives are not supported");
        }
        if let Some(section) = line.strip_prefix('[') {
            let Some((name, _)) = section.split_once(']') else {
                return problem("a section without ]");
            };
            ours = name.trim() == wanted;
            continue;
        }
        if !ours {
            continue;
        }
        let (name, value) = match line.split_once('=') {
            Some((name, value)) => (name, Some(unquoted(value))),
            None => (line, None),
        };
        // A comment may follow a name without a value.
        let name = name.split('#').next().unwrap_or_default().trim();
        if name.is_empty() {
            return problem("a value without a name");
        }
        options.push((name.to_owned(), value));
    }
    Ok(options)
}

/// Takes quotes off, and my.cnf's escapes and trailing comments out.
fn unquoted(value: &str) -> String {
    let value = value.trim();
    for quote in ['"', '\''] {
        if let Some(rest) = value.strip_prefix(quote)
            && let Some(end) = rest.find(quote)
        {
            return unescaped(&rest[..end]);
        }
    }
    let value = match value.find(" #") {
        Some(comment) => value[..comment].trim_end(),
        None => value,
    };
    unescaped(value)
}

fn unescaped(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    let mut characters = value.chars();
    while let Some(character) = characters.next() {
        if character != '\\' {
            out.push(character);
            continue;
        }
        match characters.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('r') => out.push('\r'),
            Some('b') => out.push('\u{8}'),
            Some('s') => out.push(' '),
            Some('\\') => out.push('\\'),
            Some(other) => {
                out.push('\\');
                out.push(other);
            }
            None => out.push('\\'),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file() {
        let text = "
            [client]
            port = 1
            [paceline]
            # comment
            max_connections = 500 # trailing
            skip-networking
            ; other comment
            socket = \"/tmp/a b.sock\"
            init_connect = 'SET @a=1'
            [mysqld]
            nonsense
        ";
        let options = parse(text, "paceline").unwrap();
        let client = [("port".to_owned(), Some("1".to_owned()))];
        assert_eq!(parse(text, "client").unwrap(), client);
        let expected = [
            ("max_connections", Some("500")),
            ("skip-networking", None),
            ("socket", Some("/tmp/a b.sock")),
            ("init_connect", Some("SET @a=1")),
        ];
        assert_eq!(options.len(), expected.len());
        for ((name, value), (expected_name, expected_value)) in options.iter().zip(expected) {
            assert_eq!((name.as_str(), value.as_deref()), (expected_name, expected_value));
        }
        assert_eq!(parse("[paceline]\n!include x", "paceline").unwrap_err().0, 2);
        assert_eq!(
            parse("[paceline\n", "paceline").unwrap_err().1,
            "a section without ]"
        );
    }
}
