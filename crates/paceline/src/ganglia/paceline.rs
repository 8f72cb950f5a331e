//! Paceline's own values. The table is the server's: every statistic is declared there with its kind and unit.

use super::error::Result;
use super::module::{Kind, Reading, Server};

const GROUP: &str = "paceline";

/// The statistics that are Paceline's own; MariaDB's names are the other module's.
const STATEMENT: &str = "SELECT NAME, VALUE, KIND, UNIT FROM information_schema.PACELINE_METRICS \
                         WHERE NAME LIKE 'Paceline\\_%' AND KIND <> 'text'";

/// Reads all values.
///
/// # Errors
/// Fails if the server does not answer or lacks this table.
pub async fn read(server: &mut Server) -> Result<Vec<Reading>> {
    let rows = server.rows(STATEMENT).await?;
    Ok(rows.iter().filter_map(|row| reading(row)).collect())
}

/// Returns the reading of a row. Of a histogram, the number of values is a counter, and the rest goes up and down.
fn reading(row: &[String]) -> Option<Reading> {
    let [name, value, kind, unit] = row else {
        return None;
    };
    let lower = name.to_ascii_lowercase();
    let is_counter = kind == "counter" || kind == "histogram" && lower.ends_with("_count");
    Some(Reading {
        kind: if is_counter { Kind::Counter } else { Kind::Gauge },
        unit: unit.clone(),
        group: GROUP,
        value: value.parse().ok()?,
        name: lower,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_the_servers() {
        let kind = |name: &str, kind: &str| {
            let row = [name, "1", kind, "count"].map(str::to_owned);
            reading(&row).map(|reading| reading.kind)
        };
        assert_eq!(kind("Paceline_checkpoints", "counter"), Some(Kind::Counter));
        assert_eq!(kind("Paceline_open_transactions", "gauge"), Some(Kind::Gauge));
        assert_eq!(
            kind("Paceline_commit_usec_count", "histogram"),
            Some(Kind::Counter)
        );
        assert_eq!(kind("Paceline_commit_usec_p99", "histogram"), Some(Kind::Gauge));
        assert_eq!(reading(&["too short".to_owned()]), None);
    }
}
