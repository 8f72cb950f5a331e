//! Reading a section of a file in my.cnf's format: `[paceline]` for a server, `[client]` for client programs.
//!
//! ```text
//!   # a comment, also with ;
//!   [paceline]
//!   max_connections = 500
//!   skip-networking
//!   socket = "/run/paceline/paceline.sock"
//! ```
//!
//! Other sections are ignored: the file may be shared with clients and with a MariaDB server. A file with only other
//! sections causes a warning, because nothing of it has an effect. `!include` and `!includedir` are errors, because
//! ignoring them would be unexpected.

use super::error::OptionError;
use std::path::Path;

/// An option in a file: its name, and its value if it has one.
pub type FileOption = (String, Option<String>);

/// Contents of a file.
#[derive(Debug, Default)]
pub struct OptionFile {
    /// Options of the requested sections.
    pub options: Vec<FileOption>,
    wanted: String,
    has_wanted: bool,
    /// Names of the other sections.
    others: Vec<String>,
    /// Number of lines in other sections or outside of any section.
    lines_passed_over: usize,
}

impl OptionFile {
    /// Returns a warning if the file has none of the requested sections, so that nothing was read from it.
    pub fn nothing_read(&self, path: &Path) -> Option<String> {
        let found = match self.others.as_slice() {
            [] => "it has no section".to_owned(),
            others => format!("it has only {}", others.join(", ")),
        };
        let wanted = &self.wanted;
        (!self.has_wanted && self.lines_passed_over > 0).then(|| {
            format!(
                "nothing of the configuration file {} is read: {wanted} is what counts, and {found}",
                path.display()
            )
        })
    }
}

/// Reads the options of some sections.
pub fn read(path: &Path, sections: &[&str]) -> Result<OptionFile, OptionError> {
    let text = std::fs::read_to_string(path).map_err(|error| {
        OptionError(format!(
            "cannot read the configuration file {}: {error}",
            path.display()
        ))
    })?;
    parse(&text, sections)
        .map_err(|(line, problem)| OptionError(format!("{}, line {line}: {problem}", path.display())))
}

fn parse(text: &str, sections: &[&str]) -> Result<OptionFile, (usize, String)> {
    let bracketed: Vec<String> = sections.iter().map(|section| format!("[{section}]")).collect();
    let mut file = OptionFile {
        wanted: bracketed.join(", "),
        ..OptionFile::default()
    };
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
            let name = name.trim();
            ours = sections.contains(&name);
            file.has_wanted |= ours;
            let shown = format!("[{name}]");
            if !ours && !file.others.contains(&shown) {
                file.others.push(shown);
            }
            continue;
        }
        if !ours {
            file.lines_passed_over += 1;
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
        file.options.push((name.to_owned(), value));
    }
    Ok(file)
}

/// Removes quotes and trailing comments, and decodes my.cnf's escapes.
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
    fn options_of_the_section_are_read_and_others_cause_a_warning() {
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
        let file = parse(text, &["paceline"]).unwrap();
        assert_eq!(file.nothing_read(Path::new("my.cnf")), None);
        let options = file.options;
        let client = [("port".to_owned(), Some("1".to_owned()))];
        assert_eq!(parse(text, &["client"]).unwrap().options, client);
        let other = parse(text, &["paceline-2"]).unwrap();
        assert_eq!(
            other.nothing_read(Path::new("my.cnf")).unwrap(),
            "nothing of the configuration file my.cnf is read: [paceline-2] is what counts, and it has only [client], [paceline], [mysqld]"
        );
        let bare = parse("port=1", &["paceline"]).unwrap();
        assert!(
            bare.nothing_read(Path::new("f"))
                .unwrap()
                .ends_with("it has no section")
        );
        let empty = parse("# nothing\n[client]", &["paceline"]).unwrap();
        assert_eq!(empty.nothing_read(Path::new("f")), None);
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
        assert_eq!(parse("[paceline]\n!include x", &["paceline"]).unwrap_err().0, 2);
        assert_eq!(
            parse("[paceline\n", &["paceline"]).unwrap_err().1,
            "a section without ]"
        );
    }
}
