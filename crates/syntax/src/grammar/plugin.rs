//! INSTALL PLUGIN and INSTALL SONAME: nothing is ever loaded, but scripts begin with them for methods that are there.

use super::parser::Parser;
use crate::error::{Error, Result};
use crate::statement::Statement;
use paceline_types::error_code::ER_PLUGIN_INSTALLED;

/// Plugins that MariaDB loads from a library and that are part of this server, with the library's name.
const BUILT_IN: [(&str, &str); 3] = [
    ("ed25519", "auth_ed25519"),
    ("unix_socket", "auth_socket"),
    ("caching_sha2_password", "caching_sha2_password"),
];

impl Parser<'_> {
    /// Parses INSTALL or UNINSTALL. What is there already is installed without effect, as in MariaDB.
    ///
    /// # Errors
    /// 1968 for INSTALL PLUGIN of a plugin that is there.
    pub(super) fn plugin_statement(&mut self) -> Result<Statement> {
        let unsupported = Ok(Statement::Unsupported("INSTALL PLUGIN"));
        if !self.accept_word("INSTALL") {
            return unsupported;
        }
        if self.accept_word("SONAME") {
            let library = self.text()?;
            let library = library.strip_suffix(".so").unwrap_or(&library);
            return match BUILT_IN.iter().any(|(_, name)| *name == library) {
                true => Ok(Statement::Empty),
                false => unsupported,
            };
        }
        self.expect_word("PLUGIN")?;
        let if_not_exists = self.accept_phrase(&["IF", "NOT", "EXISTS"])?;
        let name = self.identifier_or_text()?;
        self.expect_word("SONAME")?;
        self.text()?;
        match BUILT_IN.iter().any(|(known, _)| name.eq_ignore_ascii_case(known)) {
            true if if_not_exists => Ok(Statement::Empty),
            true => Err(Error::new(ER_PLUGIN_INSTALLED, &[&name])),
            false => unsupported,
        }
    }
}
