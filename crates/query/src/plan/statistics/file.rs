//! File that keeps statistics over a restart, so that plans do not change.
//!
//! It is derived from the tables, and nothing depends on it. A missing or damaged file, or one of another version,
//! counts as empty. The statistics of a table are collected again if its definition has changed, or its rows have,
//! according to a quick survey. The file is replaced as a whole.
//!
//! ```text
//!   paceline statistics 1 8f3c11d0        version, CRC-32 of what follows
//!   [{"index":1031,"definition":…,"rows":600572.0,"quick_rows":…,"rows_per_key":[[4.0,1.0],…]},…]
//! ```

use std::fs;
use std::io;
use std::path::Path;

use paceline_storage::TableSchema;
use serde::{Deserialize, Serialize};

/// Start of the first line.
const HEAD: &str = "paceline statistics 1 ";
/// Maximum size of the file in bytes. A larger one was not written by this server.
const BYTES_MAX: u64 = 64 << 20;

/// Statistics of one table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct StoredStatistics {
    /// Number of the clustered index.
    pub index: u32,
    /// Hash of the definition.
    pub definition: u32,
    pub rows: f64,
    pub quick_rows: f64,
    pub rows_per_key: Vec<Vec<f64>>,
}

/// Returns a hash of a table's columns and indexes.
pub(super) fn definition_number(schema: &TableSchema) -> u32 {
    crc32fast::hash(format!("{:?} {:?}", schema.columns(), schema.indexes()).as_bytes())
}

/// Returns the contents of a file.
pub(super) fn read(path: &Path) -> Vec<StoredStatistics> {
    let is_sane = fs::metadata(path).is_ok_and(|metadata| metadata.len() <= BYTES_MAX);
    let text = if is_sane {
        fs::read_to_string(path)
    } else {
        Ok(String::new())
    };
    text.ok().and_then(|text| parse(&text)).unwrap_or_default()
}

fn parse(text: &str) -> Option<Vec<StoredStatistics>> {
    let (head, rest) = text.split_once('\n')?;
    let sum = u32::from_str_radix(head.strip_prefix(HEAD)?, 16).ok()?;
    if sum != crc32fast::hash(rest.as_bytes()) {
        return None;
    }
    let found: Vec<StoredStatistics> = serde_json::from_str(rest).ok()?;
    let figures = |stored: &StoredStatistics| {
        let mut all = stored
            .rows_per_key
            .iter()
            .flatten()
            .chain([&stored.rows, &stored.quick_rows]);
        all.all(|figure| figure.is_finite() && *figure >= 0.0)
    };
    found.iter().all(figures).then_some(found)
}

/// Replaces a file. It is not synced: the checksum reveals damage by a crash.
///
/// # Errors
/// If it cannot be written.
pub(super) fn write(path: &Path, all: &[StoredStatistics]) -> io::Result<()> {
    let rest = serde_json::to_string(all).map_err(io::Error::other)?;
    let next = path.with_extension("next");
    fs::write(
        &next,
        format!("{HEAD}{:08x}\n{rest}", crc32fast::hash(rest.as_bytes())),
    )?;
    fs::rename(&next, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damaged_file_counts_as_empty() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("statistics");
        assert_eq!(read(&path), []);
        let all = [StoredStatistics {
            index: 1031,
            definition: 7,
            rows: 600_572.0,
            quick_rows: 598_001.5,
            rows_per_key: vec![vec![4.0, 1.0], vec![]],
        }];
        write(&path, &all).unwrap();
        assert_eq!(read(&path), all);
        let whole = fs::read(&path).unwrap();
        for place in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[place] ^= 4;
            fs::write(&path, &damaged).unwrap();
            assert_eq!(read(&path), [], "byte {place}");
            fs::write(&path, &whole[..place]).unwrap();
            assert_eq!(read(&path), [], "{place} bytes");
        }
    }
}
