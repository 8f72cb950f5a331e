//! Rules of single variables: additional restrictions of their values, and warnings on assignment.

use super::definition::Definition;
use super::store::Globals;
use super::table::Variable;
use super::value::VariableValue;
use paceline_catalog::TableEngine;
use paceline_expression::session::SessionContext;
use paceline_syntax::Error;
use paceline_types::error_code::*;
use paceline_wire::proxy_header::ProxyNetworks;

/// Storage engines beside this server's own that CREATE TABLE accepts, with MariaDB's spelling.
const OTHER_ENGINES: [(&str, &str); 3] = [("HEAP", "MEMORY"), ("MyISAM", "MyISAM"), ("Aria", "Aria")];

/// Variables that are deprecated in MariaDB 10.11, with their replacements.
const DEPRECATED: [(Variable, Option<&str>); 11] = [
    (Variable::BigTables, None),
    (Variable::InnodbChangeBuffering, None),
    (Variable::InnodbLogSpinWaitDelay, None),
    (Variable::InnodbLruFlushSize, None),
    (Variable::InnodbPrefixIndexClusterOptimization, None),
    (Variable::InnodbPurgeRsegTruncateFrequency, None),
    (Variable::MaxTmpTables, None),
    (Variable::Old, Some("@@old_mode")),
    (Variable::OldAlterTable, Some("@@alter_algorithm")),
    (Variable::SecureAuth, None),
    (Variable::StorageEngine, Some("@@default_storage_engine")),
];

impl Variable {
    /// Returns whether DEFAULT cannot be assigned.
    pub fn has_no_default(self) -> bool {
        matches!(
            self,
            Variable::GtidSlavePos
                | Variable::GtidBinlogState
                | Variable::LastInsertId
                | Variable::Identity
                | Variable::RandSeed1
                | Variable::RandSeed2
        )
    }
}

impl Definition {
    /// Checks a setting of the variable's kind. Returns the setting to store.
    ///
    /// # Errors
    /// 1231, and errors of single variables, as in MariaDB.
    pub fn admit(
        &self,
        setting: VariableValue,
        globals: &Globals,
        is_global: bool,
    ) -> Result<VariableValue, Error> {
        let refused = || Err(self.wrong_value(&self.show(&setting).unwrap_or_else(|| "NULL".to_owned())));
        match self.variable {
            Variable::DefaultStorageEngine | Variable::StorageEngine => engine(setting),
            Variable::DefaultTmpStorageEngine | Variable::EnforceStorageEngine if setting != VariableValue::Null => {
                engine(setting)
            }
            Variable::GtidPosAutoEngines if !setting.as_str().is_empty() => {
                for name in setting.as_str().split(',') {
                    engine(VariableValue::Text(name.trim().into()))?;
                }
                Ok(setting)
            }
            // There are no tables of stop words and no counters that these could name.
            Variable::InnodbFtAuxTable
            | Variable::InnodbFtServerStopwordTable
            | Variable::InnodbFtUserStopwordTable
            | Variable::InnodbMonitorDisable
            | Variable::InnodbMonitorEnable
            | Variable::InnodbMonitorReset
            | Variable::InnodbMonitorResetAll
                if setting != VariableValue::Null && setting != self.default_setting() =>
            {
                refused()
            }
            Variable::InnodbTmpdir if !setting.as_str().is_empty() => {
                match std::path::Path::new(setting.as_str()).is_dir() {
                    true => Ok(setting),
                    false => refused(),
                }
            }
            Variable::FtBooleanSyntax if setting != self.default_setting() => refused(),
            Variable::GeneralLogFile
            | Variable::SlowQueryLogFile
            | Variable::LogSlowQueryFile
            | Variable::ServerAuditFilePath
                // The name of a file in the data directory must not be chosen: the log would be written into it.
                if !setting.as_str().ends_with(".log") =>
            {
                refused()
            }
            Variable::LogOutput if setting.as_u64() == 0 => refused(),
            Variable::SessionTrackSystemVariables => {
                let names = setting.as_str().split(',').map(str::trim);
                let mut unknown = names.filter(|name| {
                    !name.is_empty() && *name != "*" && Variable::by_name(&name.to_lowercase()).is_none()
                });
                match unknown.next() {
                    Some(name) => Err(Error::new(ER_UNKNOWN_SYSTEM_VARIABLE, &[&name])),
                    None => Ok(setting),
                }
            }
            Variable::ProxyProtocolNetworks => match ProxyNetworks::parse(setting.as_str()) {
                Ok(_) => Ok(setting),
                Err(wrong) => {
                    let message = format!("Error parsing proxy_protocol_networks parameter, near '{wrong}'");
                    Err(Error::with_message(ER_PARSE_ERROR, message))
                }
            },
            Variable::EventScheduler => match self.show(&setting).as_deref() {
                Some("DISABLED") => refused(),
                Some("ORIGINAL") => Ok(self.default_setting()),
                _ => Ok(setting),
            },
            // Algorithms that Debian's build does not have either.
            Variable::InnodbCompressionAlgorithm
                if !matches!(self.show(&setting).as_deref(), Some("none" | "zlib")) =>
            {
                refused()
            }
            Variable::InnodbEncryptTables if setting != self.default_setting() => refused(),
            Variable::OptimizerSwitch if !self.has_flag(&setting, &["in_to_exists", "materialization"]) => {
                Err(Error::new(ER_ILLEGAL_SUBQUERY_OPTIMIZER_SWITCHES, &[]))
            }
            Variable::QueryCacheMinResUnit => Ok(VariableValue::Unsigned(setting.as_u64().max(512))),
            Variable::QueryCacheType
                if !is_global && setting.as_u64() > 0 && globals.number(Variable::QueryCacheType) == 0 =>
            {
                Err(Error::new(ER_QUERY_CACHE_IS_GLOBALY_DISABLED, &[]))
            }
            Variable::MaxDelayedThreads | Variable::MaxInsertDelayedThreads
                if !is_global
                    && setting.as_u64() > 0
                    && setting.as_u64() != globals.number(self.variable) =>
            {
                refused()
            }
            _ => Ok(setting),
        }
    }

    /// Warns that a variable is deprecated in MariaDB.
    pub fn warn_deprecated(&self, session: &mut SessionContext) {
        let Some((_, instead)) = DEPRECATED.iter().find(|(known, _)| *known == self.variable) else {
            return;
        };
        let name = format!("@@{}", self.name);
        let message = match instead {
            Some(instead) => ER_WARN_DEPRECATED_SYNTAX.message(&[&name, &format_args!("'{instead}'")]),
            None => format!("'{name}' is deprecated and will be removed in a future release"),
        };
        session.diagnostics.warn(ER_WARN_DEPRECATED_SYNTAX, message);
    }

    /// Adds MariaDB's warnings about a valid value.
    pub fn warn_assigned(&self, session: &mut SessionContext, setting: &VariableValue, globals: &Globals) {
        let below = match self.variable {
            Variable::MaxAllowedPacket => setting.as_u64() < globals.number(Variable::NetBufferLength),
            Variable::NetBufferLength => setting.as_u64() > globals.number(Variable::MaxAllowedPacket),
            _ => false,
        };
        if below {
            let message = WARN_OPTION_BELOW_LIMIT.message(&[&"max_allowed_packet", &"net_buffer_length"]);
            session.diagnostics.warn(WARN_OPTION_BELOW_LIMIT, message);
        }
    }

    /// Returns whether one of these flags is on.
    fn has_flag(&self, setting: &VariableValue, flags: &[&str]) -> bool {
        let shown = self.show(setting).unwrap_or_default();
        shown
            .split(',')
            .filter_map(|part| part.split_once('='))
            .any(|(name, state)| state == "on" && flags.contains(&name))
    }
}

/// Returns a storage engine's name in MariaDB's spelling; 1286 for an unknown one.
fn engine(setting: VariableValue) -> Result<VariableValue, Error> {
    let name = setting.as_str();
    let other = || {
        let found = OTHER_ENGINES
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, shown)| *shown)
    };
    match TableEngine::of_name(name).map(TableEngine::name).or_else(other) {
        Some(shown) => Ok(VariableValue::Text(shown.into())),
        None => Err(Error::new(ER_UNKNOWN_STORAGE_ENGINE, &[&name])),
    }
}
