//! Asking a member for its state.

use super::outgoing::log_in;
use super::{PeerLogin, REPORT_STATEMENT};
use crate::register::MemberEntry;
use crate::report::{MemberReport, REPORT_BYTES_MAX};
use paceline_wire::WireError;
use std::time::Duration;
use tokio::time::timeout;

/// Command COM_QUERY.
const COM_QUERY: u8 = 3;

/// Asks the member at the address of its entry for its state, for at most `limit`.
///
/// # Errors
/// It does not answer, or another member has the address now.
pub async fn inquire(
    entry: &MemberEntry,
    login: &PeerLogin,
    limit: Duration,
) -> Result<MemberReport, WireError> {
    let answer = async {
        let mut client = log_in(&entry.cluster_host, entry.cluster_port, login).await?;
        client.set_payload_max(REPORT_BYTES_MAX);
        let mut command = vec![COM_QUERY];
        command.extend_from_slice(REPORT_STATEMENT.as_bytes());
        client.command(&command).await
    };
    let answer = timeout(limit, answer).await;
    let answer = answer.map_err(|_| WireError::ReadTimeout(limit))??;
    let report = MemberReport::decode(&answer.info);
    let report = report.map_err(|_| WireError::Malformed("report of a member"))?;
    match report.id == entry.id {
        true => Ok(report),
        false => Err(WireError::Malformed("report: another member has this address")),
    }
}
