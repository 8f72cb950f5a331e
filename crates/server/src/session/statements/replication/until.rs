//! START SLAVE UNTIL.

use paceline_binlog::GtidPosition;
use paceline_log_stream::source::definition::{Definition, UseGtid};
use paceline_replication::received::SourcePosition;
use paceline_replication::until::Until;
use paceline_syntax::{Error, ReplicationThreads, ReplicationValue, Result};
use paceline_types::error_code::*;

/// Returns the condition of START SLAVE UNTIL.
///
/// # Errors
/// 1277 for an invalid condition; 4193 if it is a GTID without GTIDs; those of the GTID list.
pub fn until_of(
    settings: &[(String, ReplicationValue)],
    threads: ReplicationThreads,
    definition: &Definition,
) -> Result<Option<Until>> {
    let bad = || Error::new(ER_BAD_SLAVE_UNTIL_COND, &[]);
    let mut file = None;
    let mut offset = None;
    let mut gtids = None;
    for (name, value) in settings {
        match (name.as_str(), value) {
            ("MASTER_LOG_FILE", ReplicationValue::Text(text)) => file = Some(text.clone()),
            ("MASTER_LOG_POS", ReplicationValue::Number(number)) => offset = number.parse::<u64>().ok(),
            ("MASTER_GTID_POS", ReplicationValue::Text(text)) => gtids = Some(text.clone()),
            _ => return Err(bad()),
        }
    }
    match (file, offset, gtids) {
        (None, None, None) => Ok(None),
        _ if threads == ReplicationThreads::Io => Err(bad()),
        (None, None, Some(text)) => {
            if threads == ReplicationThreads::Sql {
                return Err(bad());
            }
            if definition.use_gtid == UseGtid::No {
                return Err(Error::new(ER_UNTIL_REQUIRES_USING_GTID, &[]));
            }
            let position: GtidPosition = text.parse().map_err(|error: paceline_binlog::Error| {
                Error::with_message(ErrorCode::from_number(error.code()), error.to_string())
            })?;
            Ok(Some(Until::Gtids(position)))
        }
        (Some(file), Some(offset), None) => Ok(Some(Until::Place(SourcePosition {
            file: file.into(),
            offset,
        }))),
        _ => Err(bad()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn condition(
        settings: &[(&str, ReplicationValue)],
        threads: ReplicationThreads,
        use_gtid: UseGtid,
    ) -> Result<Option<Until>> {
        let settings: Vec<(String, ReplicationValue)> = settings
            .iter()
            .map(|(name, value)| ((*name).to_owned(), value.clone()))
            .collect();
        let definition = Definition {
            use_gtid,
            ..Definition::default()
        };
        until_of(&settings, threads, &definition)
    }

    #[test]
    fn a_condition_is_a_place_or_a_gtid_position() {
        let file = ("MASTER_LOG_FILE", ReplicationValue::Text("bin.1".into()));
        let offset = ("MASTER_LOG_POS", ReplicationValue::Number("900".into()));
        let gtid = ("MASTER_GTID_POS", ReplicationValue::Text("0-1-7".into()));
        let both = ReplicationThreads::Both;
        assert!(matches!(condition(&[], both, UseGtid::No), Ok(None)));
        assert!(matches!(
            condition(&[file.clone(), offset.clone()], both, UseGtid::No),
            Ok(Some(Until::Place(place))) if &*place.file == "bin.1" && place.offset == 900
        ));
        assert!(matches!(
            condition(std::slice::from_ref(&gtid), both, UseGtid::SlavePos),
            Ok(Some(Until::Gtids(_)))
        ));
        let number = |done: Result<Option<Until>>| done.map(|_| ()).unwrap_err().code();
        assert_eq!(
            number(condition(std::slice::from_ref(&gtid), both, UseGtid::No)),
            ER_UNTIL_REQUIRES_USING_GTID
        );
        // A file without an offset, a mixture, and a condition for the receiver, which applies nothing.
        for (settings, threads) in [
            (vec![file.clone()], both),
            (vec![file.clone(), offset.clone(), gtid.clone()], both),
            (vec![file, offset], ReplicationThreads::Io),
            (vec![gtid], ReplicationThreads::Sql),
        ] {
            assert_eq!(
                number(condition(&settings, threads, UseGtid::SlavePos)),
                ER_BAD_SLAVE_UNTIL_COND
            );
        }
    }
}
