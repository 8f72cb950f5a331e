//! INSTALL and UNINSTALL.

/// Installs or removes a plugin, or all plugins of a library.
#[derive(Debug, Clone, PartialEq)]
pub enum PluginStatement {
    /// `INSTALL PLUGIN name SONAME 'library'`.
    Install {
        name: String,
        library: String,
        if_not_exists: bool,
    },
    /// `INSTALL SONAME 'library'`.
    InstallLibrary(String),
    /// `UNINSTALL PLUGIN name`.
    Uninstall { name: String, if_exists: bool },
    /// `UNINSTALL SONAME 'library'`.
    UninstallLibrary { library: String, if_exists: bool },
}
