//! The beginning and end of the printed script, and its statement delimiter.

use super::error::Result;
use super::options::Options;
use std::io::Write;

/// Delimiter of statements. It allows semicolons in statements.
pub const DELIMITER: &str = "/*!*/;";

/// Writes the text before the first file.
pub fn write_prologue(options: &Options, out: &mut dyn Write) -> Result<()> {
    out.write_all(b"/*!50530 SET @@SESSION.PSEUDO_SLAVE_MODE=1*/;\n")?;
    out.write_all(b"/*!40019 SET @@session.max_delayed_threads=0*/;\n")?;
    if options.disable_log_bin {
        out.write_all(b"/*!32316 SET @OLD_SQL_LOG_BIN=@@SQL_LOG_BIN, SQL_LOG_BIN=0*/;\n")?;
    }
    out.write_all(b"/*!50003 SET @OLD_COMPLETION_TYPE=@@COMPLETION_TYPE,COMPLETION_TYPE=0*/;\n")?;
    if let Some(charset) = &options.set_charset {
        out.write_all(
            b"\n/*!40101 SET @OLD_CHARACTER_SET_CLIENT=@@CHARACTER_SET_CLIENT */;\n\
              /*!40101 SET @OLD_CHARACTER_SET_RESULTS=@@CHARACTER_SET_RESULTS */;\n\
              /*!40101 SET @OLD_COLLATION_CONNECTION=@@COLLATION_CONNECTION */;\n",
        )?;
        writeln!(out, "/*!40101 SET NAMES {charset} */;")?;
    }
    Ok(())
}

/// Whether GTIDs decided what is printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Selection {
    /// They did: at the end the session's own ids are restored.
    ByGtid,
    /// They did not.
    Other,
}

/// Writes the text after the last file.
pub fn write_epilogue(options: &Options, selection: Selection, out: &mut dyn Write) -> Result<()> {
    out.write_all(b"# End of log file\nROLLBACK /* added by mysqlbinlog */;\n")?;
    out.write_all(b"/*!50003 SET COMPLETION_TYPE=@OLD_COMPLETION_TYPE*/;\n")?;
    if options.disable_log_bin {
        out.write_all(b"/*!32316 SET SQL_LOG_BIN=@OLD_SQL_LOG_BIN*/;\n")?;
    }
    if options.set_charset.is_some() {
        out.write_all(
            b"/*!40101 SET CHARACTER_SET_CLIENT=@OLD_CHARACTER_SET_CLIENT */;\n\
              /*!40101 SET CHARACTER_SET_RESULTS=@OLD_CHARACTER_SET_RESULTS */;\n\
              /*!40101 SET COLLATION_CONNECTION=@OLD_COLLATION_CONNECTION */;\n",
        )?;
    }
    out.write_all(b"/*!50530 SET @@SESSION.PSEUDO_SLAVE_MODE=0*/;\n")?;
    if selection == Selection::ByGtid {
        out.write_all(b"/*!100001 SET @@SESSION.SERVER_ID=@@GLOBAL.SERVER_ID */;\n")?;
        out.write_all(b"/*!100001 SET @@SESSION.GTID_DOMAIN_ID=@@GLOBAL.GTID_DOMAIN_ID */;\n")?;
    }
    Ok(())
}
