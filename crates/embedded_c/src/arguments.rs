//! The arguments of `mysql_server_init`: options of the server, and groups of option files.
//!
//! As MariaDB's embedded server read them: the first argument is the program's name; `--defaults-file`,
//! `--defaults-extra-file` and `--no-defaults` choose the files; without groups they are `[server]` and `[embedded]`.
//! Arguments have precedence over files, later files over earlier ones.
//!
//! One difference: without arguments, groups, and options in files no server is started. A program that calls
//! `mysql_library_init(0, NULL, NULL)` may be a client of other servers. With MariaDB each had a library of its own.

use paceline_embedded::Options;
use paceline_server::options::{self, FileOption};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Groups that are read if the program names none.
const GROUPS: [&str; 2] = ["server", "embedded"];

/// Permission of everybody to write a file.
const WRITABLE_BY_ALL: u32 = 0o002;

/// A database to be opened.
#[derive(Debug)]
pub struct ChosenDatabase {
    /// Its directory.
    pub directory: PathBuf,
    /// Its options.
    pub options: Options,
}

/// Returns whether arguments or groups alone ask for a server.
pub fn asks_for_server(arguments: &[String], groups: Option<&[String]>) -> bool {
    arguments.len() > 1 || groups.is_some()
}

/// Reads arguments and files. Returns `None` if nothing asks for a server.
///
/// # Errors
/// A message: a file that cannot be read, or no data directory.
pub fn read(arguments: &[String], groups: Option<&[String]>) -> Result<Option<ChosenDatabase>, String> {
    let mut files = OptionFiles::default();
    let mut given = vec![];
    let mut words = arguments.iter().skip(1).peekable();
    while let Some(argument) = words.next() {
        let option = argument
            .strip_prefix("--")
            .ok_or_else(|| format!("unexpected argument '{argument}'; options start with --"))?;
        let (name, mut value) = match option.split_once('=') {
            Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
            None => (option.to_owned(), None),
        };
        if value.is_none() && (OptionFiles::takes_value(&name) || options::takes_value(&name)) {
            value = words.next_if(|next| !next.starts_with("--")).cloned();
        }
        if !files.choose(&name, value.as_deref())? {
            given.push((name, value));
        }
    }
    let names: Vec<&str> = match groups {
        Some(groups) => groups.iter().map(String::as_str).collect(),
        None => GROUPS.to_vec(),
    };
    let mut all = files.read(&names)?;
    if all.is_empty() && !asks_for_server(arguments, groups) {
        return Ok(None);
    }
    all.extend(given);
    let mut directory = None;
    let mut options = Options::new();
    for (name, value) in all {
        if name == "datadir" {
            directory = value;
            continue;
        }
        options = options.argument(&match value {
            Some(value) => format!("--{name}={value}"),
            None => format!("--{name}"),
        });
    }
    let directory = directory.ok_or("option '--datadir' is needed: the directory of the database")?;
    Ok(Some(ChosenDatabase {
        directory: directory.into(),
        options,
    }))
}

/// Files that options are read from.
#[derive(Debug, Default)]
struct OptionFiles {
    /// The only one: `--defaults-file`.
    only: Option<PathBuf>,
    /// One more: `--defaults-extra-file`.
    extra: Option<PathBuf>,
    /// Whether there are none: `--no-defaults`.
    none: bool,
}

impl OptionFiles {
    fn takes_value(name: &str) -> bool {
        matches!(
            name.replace('_', "-").as_str(),
            "defaults-file" | "defaults-extra-file"
        )
    }

    /// Takes an option that chooses files. Returns whether it is one.
    fn choose(&mut self, name: &str, value: Option<&str>) -> Result<bool, String> {
        let path = || {
            let value = value.filter(|value| !value.is_empty());
            value
                .map(PathBuf::from)
                .ok_or_else(|| format!("option '--{name}' needs a value"))
        };
        match name.replace('_', "-").as_str() {
            "defaults-file" => self.only = Some(path()?),
            "defaults-extra-file" => self.extra = Some(path()?),
            "no-defaults" => self.none = true,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Reads the options of the groups, those with precedence last.
    fn read(&self, groups: &[&str]) -> Result<Vec<FileOption>, String> {
        if self.none {
            return Ok(vec![]);
        }
        let read = |path: &Path| options::read_sections(path, groups).map_err(|error| error.to_string());
        if let Some(path) = &self.only {
            return read(path);
        }
        let (system, user) = usual_files();
        let mut all = vec![];
        for path in system {
            all.extend(read_if_possible(&path, groups));
        }
        if let Some(path) = &self.extra {
            all.extend(read(path)?);
        }
        if let Some(path) = user {
            all.extend(read_if_possible(&path, groups));
        }
        Ok(all)
    }
}

/// Returns the files that MariaDB's programs read: those of the machine, and that of the user.
fn usual_files() -> (Vec<PathBuf>, Option<PathBuf>) {
    let of_variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let mut system = vec![PathBuf::from("/etc/my.cnf"), PathBuf::from("/etc/mysql/my.cnf")];
    if let Some(home) = of_variable("MARIADB_HOME").or_else(|| of_variable("MYSQL_HOME")) {
        system.push(Path::new(&home).join("my.cnf"));
    }
    let user = of_variable("HOME").map(|home| Path::new(&home).join(".my.cnf"));
    (system, user)
}

/// Reads a file that need not exist. One that cannot be read, or that everybody may write, is ignored with a warning.
fn read_if_possible(path: &Path, groups: &[&str]) -> Vec<FileOption> {
    let Ok(file) = path.metadata() else {
        return vec![];
    };
    if file.mode() & WRITABLE_BY_ALL != 0 {
        tracing::warn!(
            "the option file {} is ignored: everybody may write it",
            path.display()
        );
        return vec![];
    }
    options::read_sections(path, groups).unwrap_or_else(|error| {
        tracing::warn!("an option file is ignored: {error}");
        vec![]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn arguments_have_precedence_over_the_groups_of_a_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("my.cnf");
        let text = "[client]\ndatadir=/no\n[embedded]\ndatadir = /a\n[mine]\ndatadir=/b\n";
        std::fs::write(&path, text).unwrap();
        let file = format!("--defaults-file={}", path.display());
        let chosen = |arguments: &[&str], groups: Option<&[String]>| {
            let chosen = read(&texts(arguments), groups).unwrap();
            chosen.map(|chosen| chosen.directory.display().to_string())
        };
        assert_eq!(chosen(&["program", &file], None).as_deref(), Some("/a"));
        let mine = texts(&["mine"]);
        assert_eq!(chosen(&["program", &file], Some(&mine)).as_deref(), Some("/b"));
        let with_own = ["program", &file, "--datadir", "/c"];
        assert_eq!(chosen(&with_own, None).as_deref(), Some("/c"));
        let without = ["program", "--no-defaults", "--datadir=/d"];
        assert_eq!(chosen(&without, None).as_deref(), Some("/d"));
    }

    #[test]
    fn a_server_needs_a_directory() {
        let refused = |arguments: &[&str]| read(&texts(arguments), None).unwrap_err();
        assert_eq!(
            refused(&["program", "--no-defaults", "--sync-binlog=0"]),
            "option '--datadir' is needed: the directory of the database"
        );
        assert_eq!(
            refused(&["program", "datadir"]),
            "unexpected argument 'datadir'; options start with --"
        );
        assert_eq!(
            refused(&["program", "--defaults-file="]),
            "option '--defaults-file' needs a value"
        );
    }
}
