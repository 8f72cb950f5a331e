//! CHANGE MASTER.

use crate::errors::of_replica;
use crate::server::Server;
use crate::variables::Variable;
use paceline_binlog::GtidPosition;
use paceline_binlog::mysql::MySqlGtidSet;
use paceline_expression::session::Diagnostics;
use paceline_log_stream::source::definition::{Definition, HEARTBEAT_PERIOD_MAX, UseGtid};
use paceline_log_stream::source::error::ReplicaError;
use paceline_replication::connection_set::{NewPlace, must_stop};
use paceline_replication::received::SourcePosition;
use paceline_syntax::{ReplicationValue, Result};
use paceline_types::ServerId;
use paceline_types::error_code::*;

/// Maximum of `MASTER_DELAY` in seconds.
const DELAY_SECONDS_MAX: u64 = 2_147_483_647;

/// Warnings, notes and a position that result from CHANGE MASTER.
#[derive(Default)]
struct Remarks {
    warnings: Vec<(ErrorCode, String)>,
    notes: Vec<(ErrorCode, String)>,
    /// `MASTER_GTID_POS='…'`: position that is set before anything else.
    position: Option<GtidPosition>,
}

/// Executes CHANGE MASTER.
///
/// # Errors
/// The errors of its settings and of the connection to the primary: 1198 if it is running.
pub async fn change_master(
    name: &str,
    settings: &[(String, ReplicationValue)],
    server: &Server,
    diagnostics: &mut Diagnostics,
) -> Result<()> {
    let net_timeout = server.globals.number(Variable::SlaveNetTimeout);
    let server_id = ServerId(server.globals.number(Variable::ServerId) as u32);
    let current = server.transactions.current_position(server_id);
    let is_new = server.replicas().get(name).is_err();
    let mut remarks = Remarks::default();
    let running = server.replicas().running();
    let changed = server
            .replicas()
            .change(name, |definition| {
                let before = (definition.host.clone(), definition.port);
                let place = apply_settings(definition, settings, net_timeout, &mut remarks)?;
                let names = |wanted: &str| settings.iter().any(|(setting, _)| setting == wanted);
                let is_elsewhere = is_new || before != (definition.host.clone(), definition.port);
                let names_position = place != NewPlace::Keep
                    || names("MASTER_USE_GTID")
                    || names("MASTER_GTID_POS")
                    || names("MASTER_LOG_POS");
                if let (Some(position), Some(running)) = (&remarks.position, &running) {
                    tracing::debug!("{position} cannot be set while '{}' runs", running.name());
                    return Err(must_stop(running.name()));
                }
                if is_elsewhere && !names_position {
                    if !current.is_empty() && definition.use_gtid != UseGtid::CurrentPos {
                        definition.use_gtid = UseGtid::CurrentPos;
                        remarks.notes.push((
                            ER_UNKNOWN_ERROR,
                            format!(
                                "No position was given, and there is a GTID position: MASTER_USE_GTID=current_pos, from '{current}'"
                            ),
                        ));
                    }
                    return Ok(NewPlace::Forget);
                }
                Ok(place)
            })
            .await;
    changed.map_err(of_replica)?;
    if is_new && name.is_empty() {
        let none = Variable::SqlSlaveSkipCounter.definition().default_setting();
        server.globals.set(Variable::SqlSlaveSkipCounter, none);
    }
    if let Some(position) = &remarks.position {
        set_slave_position(position, server, diagnostics)?;
    }
    for (code, message) in remarks.warnings {
        diagnostics.warn(code, message);
    }
    for (code, message) in remarks.notes {
        diagnostics.note(code, message);
    }
    Ok(())
}

fn set_slave_position(position: &GtidPosition, server: &Server, diagnostics: &mut Diagnostics) -> Result<()> {
    let warnings = server.replicas().set_position(position).map_err(of_replica)?;
    for warning in warnings {
        diagnostics.warn(warning.code, warning.message);
    }
    Ok(())
}

/// Copies CHANGE MASTER's settings to a definition. The parser has checked the kinds of their values.
fn apply_settings(
    definition: &mut Definition,
    settings: &[(String, ReplicationValue)],
    net_timeout_seconds: u64,
    remarks: &mut Remarks,
) -> std::result::Result<NewPlace, ReplicaError> {
    let mut file: Option<String> = None;
    let mut offset: Option<u64> = None;
    let mut names_gtid = false;
    let mut is_elsewhere = false;
    let mut executed = None;
    for (name, value) in settings {
        let text = || match value {
            ReplicationValue::Text(text) | ReplicationValue::Number(text) | ReplicationValue::Word(text) => {
                text.clone()
            }
            ReplicationValue::Numbers(_) => String::new(),
        };
        let number = || text().parse::<u64>().unwrap_or(0);
        let ids = || match value {
            ReplicationValue::Numbers(numbers) => {
                let mut ids: Vec<u32> = numbers
                    .iter()
                    .map(|id| u32::try_from(*id).unwrap_or(u32::MAX))
                    .collect();
                ids.sort_unstable();
                ids.dedup();
                ids
            }
            _ => vec![],
        };
        match name.as_str() {
            "MASTER_HOST" => {
                let host = text();
                check_length(&host, host.chars().count(), "MASTER_HOST", HOST_CHARACTERS_MAX)?;
                if host.is_empty() {
                    return Err(ReplicaError::new(ER_WRONG_ARGUMENTS, &[&"MASTER_HOST"]));
                }
                is_elsewhere |= host != definition.host;
                definition.host = host;
            }
            "MASTER_PORT" => {
                let port = number().min(u64::from(u16::MAX)) as u16;
                is_elsewhere |= port != definition.port;
                definition.port = port;
            }
            "MASTER_USER" => {
                let user = text();
                check_length(&user, user.chars().count(), "MASTER_USER", USER_CHARACTERS_MAX)?;
                definition.user = user;
            }
            "MASTER_PASSWORD" => {
                let password = text();
                check_length(&password, password.len(), "MASTER_PASSWORD", PASSWORD_BYTES_MAX)?;
                definition.password = password.into();
            }
            "MASTER_CONNECT_RETRY" => {
                definition.connect_retry_seconds = u32::try_from(number()).unwrap_or(u32::MAX);
            }
            "MASTER_DELAY" => {
                let seconds = number();
                if seconds > DELAY_SECONDS_MAX {
                    return Err(ReplicaError::new(
                        ER_MASTER_DELAY_VALUE_OUT_OF_RANGE,
                        &[&seconds, &DELAY_SECONDS_MAX],
                    ));
                }
                definition.delay_seconds = seconds as u32;
            }
            "MASTER_HEARTBEAT_PERIOD" => {
                definition.heartbeat_period_ms = Some(heartbeat(&text(), net_timeout_seconds, remarks)?);
            }
            "MASTER_LOG_FILE" => file = Some(text()),
            "MASTER_LOG_POS" => offset = Some(number().max(4)),
            "RELAY_LOG_FILE" | "RELAY_LOG_POS" => {
                return Err(ReplicaError::with_message(
                    ER_RELAY_LOG_INIT,
                    "Failed initializing relay log position: Could not find target log during relay log initialization",
                ));
            }
            "MASTER_USE_GTID" => {
                names_gtid = true;
                definition.use_gtid = match text().to_ascii_lowercase().as_str() {
                    "no" => UseGtid::No,
                    "current_pos" => UseGtid::CurrentPos,
                    _ => UseGtid::SlavePos,
                };
            }
            "MASTER_GTID_POS" => {
                names_gtid = true;
                match value {
                    ReplicationValue::Text(list) => {
                        match (list.parse::<GtidPosition>(), list.parse::<MySqlGtidSet>()) {
                            (Ok(position), _) => remarks.position = Some(position),
                            (Err(_), Ok(gtids)) => executed = Some(gtids),
                            (Err(error), Err(_)) => {
                                return Err(ReplicaError::with_message(
                                    ErrorCode::from_number(error.code()),
                                    error.to_string(),
                                ));
                            }
                        }
                        definition.use_gtid = UseGtid::SlavePos;
                    }
                    _ => definition.use_gtid = UseGtid::CurrentPos,
                }
            }
            "DO_DOMAIN_IDS" => definition.do_domain_ids = ids(),
            "IGNORE_DOMAIN_IDS" => definition.ignore_domain_ids = ids(),
            "IGNORE_SERVER_IDS" => definition.ignore_server_ids = ids(),
            "MASTER_SSL" => definition.tls.enabled = number() != 0,
            "MASTER_SSL_CA" => definition.tls.parameters.ca = text(),
            "MASTER_SSL_CAPATH" => definition.tls.parameters.ca_path = text(),
            "MASTER_SSL_CERT" => definition.tls.parameters.certificate = text(),
            "MASTER_SSL_KEY" => definition.tls.parameters.key = text(),
            "MASTER_SSL_CIPHER" => definition.tls.parameters.cipher = text(),
            "MASTER_SSL_CRL" => definition.tls.parameters.crl = text(),
            "MASTER_SSL_CRLPATH" => definition.tls.parameters.crl_path = text(),
            "MASTER_SSL_VERIFY_SERVER_CERT" => definition.tls.verify_server_certificate = number() != 0,
            "MASTER_DEMOTE_TO_SLAVE" if number() != 0 => {
                names_gtid = true;
                definition.use_gtid = UseGtid::CurrentPos;
            }
            _ => {}
        }
    }
    let has_domains = !definition.do_domain_ids.is_empty() || !definition.ignore_domain_ids.is_empty();
    let has_both = !definition.do_domain_ids.is_empty() && !definition.ignore_domain_ids.is_empty();
    if has_both || (has_domains && definition.use_gtid == UseGtid::No) {
        return Err(ReplicaError::with_message(
            ER_MASTER_INFO,
            "Could not initialize master info structure for ''; more error messages can be found in the MariaDB error log",
        ));
    }
    if (file.is_some() || offset.is_some()) && !names_gtid && definition.use_gtid != UseGtid::No {
        let before = std::mem::replace(&mut definition.use_gtid, UseGtid::No);
        remarks
            .notes
            .push(use_gtid_changes("CHANGE MASTER TO", before, UseGtid::No));
    }
    if let Some(gtids) = executed {
        return Ok(NewPlace::AfterGtids(gtids));
    }
    Ok(match (file, offset) {
        (Some(file), offset) => NewPlace::At(SourcePosition {
            file: file.into(),
            offset: offset.unwrap_or(4),
        }),
        (None, Some(offset)) => NewPlace::At(SourcePosition {
            file: "".into(),
            offset,
        }),
        (None, None) if is_elsewhere => NewPlace::Forget,
        (None, None) => NewPlace::Keep,
    })
}

/// Maximum length of MASTER_HOST in characters.
const HOST_CHARACTERS_MAX: usize = 255;
/// Maximum length of MASTER_USER in characters.
const USER_CHARACTERS_MAX: usize = 128;
/// Maximum length of MASTER_PASSWORD in bytes.
const PASSWORD_BYTES_MAX: usize = 96;

/// Returns 1470 if the length of a text is above `max`.
fn check_length(text: &str, length: usize, name: &str, max: usize) -> std::result::Result<(), ReplicaError> {
    if length > max {
        return Err(ReplicaError::new(ER_WRONG_STRING_LENGTH, &[&text, &name, &max]));
    }
    Ok(())
}

/// Returns the note that a statement changes `Using_Gtid` implicitly.
pub fn use_gtid_changes(statement: &str, before: UseGtid, after: UseGtid) -> (ErrorCode, String) {
    let code = WARN_OPTION_CHANGING;
    let message = code.message(&[&statement, &"Using_Gtid", &before.name(), &after.name()]);
    (code, message)
}

fn heartbeat(
    text: &str,
    net_timeout_seconds: u64,
    remarks: &mut Remarks,
) -> std::result::Result<u64, ReplicaError> {
    let seconds: f64 = text.parse().unwrap_or(-1.0);
    if !(0.0..=HEARTBEAT_PERIOD_MAX.as_secs_f64()).contains(&seconds) {
        return Err(ReplicaError::new(
            ER_SLAVE_HEARTBEAT_VALUE_OUT_OF_RANGE,
            &[&HEARTBEAT_PERIOD_MAX.as_secs()],
        ));
    }
    if seconds > 0.0 && seconds < 0.001 {
        let code = ER_SLAVE_HEARTBEAT_VALUE_OUT_OF_RANGE_MIN;
        remarks.warnings.push((code, code.message(&[])));
        return Ok(0);
    }
    if seconds > net_timeout_seconds as f64 {
        let code = ER_SLAVE_HEARTBEAT_VALUE_OUT_OF_RANGE_MAX;
        remarks.warnings.push((code, code.message(&[])));
    }
    Ok((seconds * 1000.0).round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_disables_gtids_unless_they_are_requested() {
        let place = |settings: &[(&str, ReplicationValue)]| {
            let settings: Vec<(String, ReplicationValue)> = settings
                .iter()
                .map(|(name, value)| ((*name).to_owned(), value.clone()))
                .collect();
            let mut definition = Definition::default();
            let place = apply_settings(&mut definition, &settings, 60, &mut Remarks::default()).unwrap();
            (definition.use_gtid, place)
        };
        let file = ("MASTER_LOG_FILE", ReplicationValue::Text("bin.1".into()));
        let gtid = ("MASTER_USE_GTID", ReplicationValue::Word("slave_pos".into()));
        let at = NewPlace::At(SourcePosition {
            file: "bin.1".into(),
            offset: 4,
        });
        assert_eq!(place(std::slice::from_ref(&file)), (UseGtid::No, at.clone()));
        assert_eq!(place(&[file, gtid]), (UseGtid::SlavePos, at));
        let auto = ("MASTER_GTID_POS", ReplicationValue::Word("auto".into()));
        assert_eq!(place(&[auto]), (UseGtid::CurrentPos, NewPlace::Keep));
        let list = "bfedd796-e63b-11f1-af6b-02fc00000001:1-7";
        let mysql = ("MASTER_GTID_POS", ReplicationValue::Text(list.to_uppercase()));
        let after = NewPlace::AfterGtids(list.parse().unwrap());
        assert_eq!(place(&[mysql]), (UseGtid::SlavePos, after));
    }
}
