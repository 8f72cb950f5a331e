//! SHOW ENGINE.

use crate::information_schema::{Scope, has_engine};
use crate::metrics::status_variables;
use crate::session::protocol::Output;
use crate::session::services::SessionServices;
use paceline_expression::session::Privilege;
use paceline_syntax::{Error, Result};
use paceline_types::Value;
use paceline_types::error_code::ER_UNKNOWN_STORAGE_ENGINE;

/// Returns SHOW ENGINE … STATUS, MUTEX or LOGS.
///
/// # Errors
/// 1227; 1286 for an unknown engine.
pub fn status(engine: &str, what: &str, services: &SessionServices) -> Result<Output> {
    services.require_any(&[Privilege::Process])?;
    if !engine.eq_ignore_ascii_case("ALL") && !has_engine(engine) {
        return Err(Error::new(ER_UNKNOWN_STORAGE_ENGINE, &[&engine]));
    }
    let mut output = Output::new();
    output.text("Type", 10).text("Name", 512).text("Status", 65_535);
    // Its mutexes and its log have no data.
    let is_innodb = ["InnoDB", "ALL"]
        .iter()
        .any(|name| engine.eq_ignore_ascii_case(name));
    if is_innodb && what == "STATUS" {
        let status = status_variables(&services.sample(Scope::Global));
        let lines = status
            .iter()
            .filter(|(name, _)| name.starts_with("Paceline_") || name.starts_with("Innodb_"));
        let text: String = lines.map(|(name, value)| format!("{name} {value}\n")).collect();
        output.row(vec![
            Value::Text("InnoDB".into()),
            Value::Text(String::new()),
            Value::Text(text),
        ]);
    }
    Ok(output)
}
