//! Whose directory it is: a new server is not begun among the files of another program.
//!
//! A path that was mistyped may lead to a MariaDB's data directory, or to an archive's. What a server makes there would look as if it were part of
//! that, and the server would be empty.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

/// What a MariaDB or MySQL server has in its data directory.
const OF_MARIADB: &str = "ibdata1";
/// Where our tables are.
const TABLES: &str = "tables";

/// Refuses a directory in which a server would begin anew, beside what is another's; for people.
pub fn refuse_anothers(directory: &Path, log_bin: &str) -> Result<(), String> {
    let index = format!("{log_bin}.index");
    if directory.join(TABLES).exists() || directory.join(&index).exists() {
        return Ok(());
    }
    let shown = directory.display();
    if directory.join(OF_MARIADB).exists() {
        return Err(format!(
            "{shown} is the data directory of a MariaDB or MySQL server; a Paceline needs one of its own, which `paceline join` makes of a running \
             MariaDB"
        ));
    }
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(format!("cannot read {shown}: {error}")),
    };
    let names = entries.flatten().map(|entry| entry.file_name());
    let other = names
        .filter_map(|name| name.into_string().ok())
        .find(|name| name.ends_with(".index"));
    match other {
        None => Ok(()),
        Some(other) => Err(format!(
            "{shown} has a binary log ('{other}'), no tables, and no '{index}': it is an archive's, or a server's with another --log-bin; a new \
             server needs a directory of its own"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_programs_directory_is_left_alone() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path();
        let refused = |file: &str| {
            fs::write(path.join(file), "").unwrap();
            let refused = refuse_anothers(path, "binlog").unwrap_err();
            fs::remove_file(path.join(file)).unwrap();
            refused
        };
        refuse_anothers(&path.join("not there"), "binlog").unwrap();
        fs::write(path.join("server.pem"), "").unwrap();
        refuse_anothers(path, "binlog").unwrap();
        assert!(refused("ibdata1").contains("of a MariaDB"));
        assert!(refused("archive.index").contains("('archive.index'), no tables"));
        // Its own: the log alone, and tables.
        fs::write(path.join("archive.index"), "").unwrap();
        refuse_anothers(path, "archive").unwrap();
        fs::create_dir(path.join("tables")).unwrap();
        refuse_anothers(path, "binlog").unwrap();
    }
}
