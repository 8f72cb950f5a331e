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
//! sections causes a warning, because nothing of it has an effect.
//!
//! `!include FILE` and `!includedir DIRECTORY` read other files in their place: of a directory those that end in
//! `.cnf`, in the order of their names.

use super::error::OptionError;
use std::path::{Path, PathBuf};

/// Maximum depth of files that include others, as in MariaDB.
const INCLUDE_DEPTH_MAX: u32 = 10;

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
    let bracketed: Vec<String> = sections.iter().map(|section| format!("[{section}]")).collect();
    let mut file = OptionFile {
        wanted: bracketed.join(", "),
        ..OptionFile::default()
    };
    read_into(&mut file, path, sections, 0)?;
    Ok(file)
}

fn read_into(file: &mut OptionFile, path: &Path, sections: &[&str], depth: u32) -> Result<(), OptionError> {
    if depth > INCLUDE_DEPTH_MAX {
        return Err(OptionError(format!(
            "{}: configuration files include each other more than {INCLUDE_DEPTH_MAX} deep",
            path.display()
        )));
    }
    let text = std::fs::read_to_string(path).map_err(|error| {
        OptionError(format!(
            "cannot read the configuration file {}: {error}",
            path.display()
        ))
    })?;
    let include = |file: &mut OptionFile, path: &Path| read_into(file, path, sections, depth + 1);
    parse(&text, sections, file, include)
        .map_err(|(line, problem)| OptionError(format!("{}, line {line}: {problem}", path.display())))
}

/// Returns the files that a directive includes.
fn included(directive: &str) -> Result<Vec<PathBuf>, String> {
    let (name, path) = directive
        .split_once(char::is_whitespace)
        .unwrap_or((directive, ""));
    let path = Path::new(path.trim());
    match name {
        "!include" | "!includedir" if path.as_os_str().is_empty() => Err(format!("{name} needs a path")),
        "!include" => Ok(vec![path.to_owned()]),
        "!includedir" => {
            let entries = path
                .read_dir()
                .map_err(|error| format!("{}: {error}", path.display()))?;
            let mut files: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
            files.retain(|file| file.extension().is_some_and(|extension| extension == "cnf"));
            files.sort();
            Ok(files)
        }
        _ => Err(format!("unknown directive {name}")),
    }
}

fn parse(
    text: &str,
    sections: &[&str],
    file: &mut OptionFile,
    mut include: impl FnMut(&mut OptionFile, &Path) -> Result<(), OptionError>,
) -> Result<(), (usize, String)> {
    let mut ours = false;
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        let problem = |text: &str| Err((index + 1, text.to_owned()));
        if line.is_empty() || line.starts_with('#') || line.starts_with(';') {
            continue;
        }
        if line.starts_with('!') {
            let files = included(line).map_err(|problem| (index + 1, problem))?;
            for path in files {
                include(file, &path).map_err(|error| (index + 1, error.to_string()))?;
            }
            continue;
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
    Ok(())
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

    /// Reads a text that includes nothing.
    fn parsed(text: &str, sections: &[&str]) -> Result<OptionFile, (usize, String)> {
        let mut file = OptionFile {
            wanted: format!("[{}]", sections.join("], [")),
            ..OptionFile::default()
        };
        let include = |_: &mut OptionFile, path: &Path| panic!("{} is included", path.display());
        super::parse(text, sections, &mut file, include).map(|()| file)
    }

    #[test]
    fn files_and_directories_are_included_in_their_place() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        let shown = |name: &str| at(name).display().to_string();
        std::fs::create_dir(at("parts")).unwrap();
        let one_and_parts = format!(
            "!include {}\n[paceline]\n!includedir {}\nport=4\n",
            shown("one.cnf"),
            shown("parts")
        );
        for (name, text) in [
            ("parts/b.cnf", "[paceline]\nport=3\n"),
            ("parts/a.cnf", "[paceline]\nport=2\n"),
            ("parts/a.conf", "[paceline]\nport=9\n"),
            ("one.cnf", "[paceline]\nport=1\n"),
            ("my.cnf", &one_and_parts),
            ("ring.cnf", &format!("!include {}\n", shown("ring.cnf"))),
            ("lost.cnf", &format!("!include {}\n", shown("nothing.cnf"))),
        ] {
            std::fs::write(at(name), text).unwrap();
        }
        let options = read(&at("my.cnf"), &["paceline"]).unwrap().options;
        let ports: Vec<_> = options.iter().filter_map(|(_, value)| value.as_deref()).collect();
        assert_eq!(ports, ["1", "2", "3", "4"]);
        let error = |name: &str| read(&at(name), &["paceline"]).unwrap_err().to_string();
        assert!(error("ring.cnf").ends_with("configuration files include each other more than 10 deep"));
        assert!(error("lost.cnf").contains("lost.cnf, line 1: cannot read the configuration file"));
    }

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
        let file = parsed(text, &["paceline"]).unwrap();
        assert_eq!(file.nothing_read(Path::new("my.cnf")), None);
        let options = file.options;
        let client = [("port".to_owned(), Some("1".to_owned()))];
        assert_eq!(parsed(text, &["client"]).unwrap().options, client);
        let other = parsed(text, &["paceline-2"]).unwrap();
        assert_eq!(
            other.nothing_read(Path::new("my.cnf")).unwrap(),
            "nothing of the configuration file my.cnf is read: [paceline-2] is what counts, and it has only [client], [paceline], [mysqld]"
        );
        let bare = parsed("port=1", &["paceline"]).unwrap();
        assert!(
            bare.nothing_read(Path::new("f"))
                .unwrap()
                .ends_with("it has no section")
        );
        let empty = parsed("# nothing\n[client]", &["paceline"]).unwrap();
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
        assert_eq!(parsed("[paceline]\n!included x", &["paceline"]).unwrap_err().0, 2);
        assert_eq!(
            parsed("[paceline\n", &["paceline"]).unwrap_err().1,
            "a section without ]"
        );
    }
}
