//! INSTALL and UNINSTALL of plugins and of the libraries that contain them.

use super::parser::Parser;
use crate::error::Result;
use crate::statement::{PluginStatement, Statement};

impl Parser<'_> {
    /// Parses INSTALL or UNINSTALL.
    pub(super) fn plugin_statement(&mut self) -> Result<Statement> {
        let installs = self.accept_word("INSTALL");
        if !installs {
            self.expect_word("UNINSTALL")?;
        }
        let of_library = self.accept_word("SONAME");
        if !of_library {
            self.expect_word("PLUGIN")?;
        }
        Ok(Statement::Plugin(match (installs, of_library) {
            (true, true) => PluginStatement::InstallLibrary(self.text()?),
            (true, false) => {
                let if_not_exists = self.accept_phrase(&["IF", "NOT", "EXISTS"])?;
                let name = self.identifier_or_text()?;
                self.expect_word("SONAME")?;
                PluginStatement::Install {
                    name,
                    library: self.text()?,
                    if_not_exists,
                }
            }
            (false, true) => PluginStatement::UninstallLibrary {
                if_exists: self.accept_phrase(&["IF", "EXISTS"])?,
                library: self.text()?,
            },
            (false, false) => PluginStatement::Uninstall {
                if_exists: self.accept_phrase(&["IF", "EXISTS"])?,
                name: self.identifier_or_text()?,
            },
        }))
    }
}
