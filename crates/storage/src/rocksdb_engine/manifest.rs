//! Repair of a MANIFEST whose end was torn by a power failure.
//!
//! RocksDB appends changes of its list of files to the MANIFEST, in one or several records, and syncs it before
//! a change counts: until then no file is deleted and no position is durable. If the power fails in between,
//! one of these records may be torn although the file has its full length, or although a later record exists
//! already. RocksDB treats a missing record as the end, but refuses to open the tables if a record is torn.
//!
//! The part before the damage is a list that was once complete: a state that the tables have had, with its own
//! position, from which the log is replayed. The file is therefore cut there, and the original is kept beside
//! it. If the damage is not a torn end but bit rot, a file of that older list may have been deleted since, and
//! RocksDB reports it; or the log does not reach back so far, and recovery reports it.
//!
//! The format: <https://github.com/facebook/rocksdb/wiki/Write-Ahead-Log-File-Format>.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use crate::error::{Error, Result};

const BLOCK_BYTES: usize = 32 * 1024;
/// Checksum (4), length (2), type (1).
const HEADER_BYTES: usize = 7;
/// Added to a rotated checksum before it is stored.
const MASK_DELTA: u32 = 0xa282_ead8;

/// Returns whether RocksDB could not open the tables because of their MANIFEST.
pub(super) fn is_damaged(error: &rocksdb::Error) -> bool {
    error.kind() == rocksdb::ErrorKind::Corruption && error.as_ref().contains("MANIFEST-")
}

/// Cuts the current MANIFEST of these tables before its first damaged record. Returns whether it was cut; if
/// not, the file is unchanged.
///
/// # Errors
/// If the file cannot be read or written.
pub(super) fn cut_damage(tables: &Path) -> Result<bool> {
    let current = tables.join("CURRENT");
    let name = fs::read_to_string(&current).map_err(Error::file(&current))?;
    let path = tables.join(name.trim_end());
    let content = fs::read(&path).map_err(Error::file(&path))?;
    let whole = whole_bytes(&content);
    if whole == content.len() || whole == 0 {
        return Ok(false);
    }
    let aside = path.with_file_name(format!("{}.damaged", name.trim_end()));
    let keep = || {
        let mut file = File::create(&aside)?;
        file.write_all(&content)?;
        file.sync_all()
    };
    keep().map_err(Error::file(&aside))?;
    let cut = || {
        let file = File::options().write(true).open(&path)?;
        file.set_len(whole as u64)?;
        file.sync_all()
    };
    cut().map_err(Error::file(&path))?;
    tracing::warn!(
        "{}: cut from {} to {whole} bytes, in front of a damaged record; as it was: {}",
        path.display(),
        content.len(),
        aside.display()
    );
    Ok(true)
}

/// Returns the length of the intact records at the beginning, in bytes.
fn whole_bytes(content: &[u8]) -> usize {
    let mut at = 0;
    // End of the last complete record: not of a first or middle part.
    let mut whole = 0;
    while let Some(header) = content.get(at..at + HEADER_BYTES) {
        let left = BLOCK_BYTES - at % BLOCK_BYTES;
        if left < HEADER_BYTES {
            at += left;
            continue;
        }
        let stored = u32::from_le_bytes([header[0], header[1], header[2], header[3]]);
        let length = usize::from(u16::from_le_bytes([header[4], header[5]]));
        let kind = header[6];
        let Some(summed) = content.get(at + 6..at + HEADER_BYTES + length) else {
            break;
        };
        if HEADER_BYTES + length > left || masked(crc_fast::crc32_iscsi(summed)) != stored {
            break;
        }
        at += HEADER_BYTES + length;
        match kind {
            FULL | LAST => whole = at,
            FIRST | MIDDLE => {}
            _ => break,
        }
    }
    whole
}

const FULL: u8 = 1;
const FIRST: u8 = 2;
const MIDDLE: u8 = 3;
const LAST: u8 = 4;

fn masked(checksum: u32) -> u32 {
    checksum.rotate_right(15).wrapping_add(MASK_DELTA)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rocksdb_engine::{RocksDbConfig, RocksDbEngine};

    fn manifest(tables: &Path) -> std::path::PathBuf {
        tables.join(fs::read_to_string(tables.join("CURRENT")).unwrap().trim_end())
    }

    fn tables() -> tempfile::TempDir {
        let directory = tempfile::tempdir().unwrap();
        for _ in 0..3 {
            drop(RocksDbEngine::open(directory.path(), &RocksDbConfig::default()).unwrap());
        }
        directory
    }

    #[test]
    fn a_manifest_written_by_rocksdb_is_intact() {
        let directory = tables();
        let content = fs::read(manifest(directory.path())).unwrap();
        assert!(content.len() > 50);
        assert_eq!(whole_bytes(&content), content.len());
        assert!(!cut_damage(directory.path()).unwrap());
    }

    #[test]
    fn a_torn_record_is_cut_off_and_kept_aside() {
        let directory = tables();
        let path = manifest(directory.path());
        let sound = fs::read(&path).unwrap();
        let record = |body: &[u8]| {
            let mut record = masked(crc_fast::crc32_iscsi(&[&[FULL], body].concat()))
                .to_le_bytes()
                .to_vec();
            record.extend_from_slice(&(body.len() as u16).to_le_bytes());
            record.push(FULL);
            record.extend_from_slice(body);
            record
        };
        let mut torn = record(&[7; 80]);
        torn[40..].fill(0);
        // The record after it is intact.
        let damaged = [&sound[..], &torn, &record(&[9; 9])].concat();
        fs::write(&path, &damaged).unwrap();
        drop(RocksDbEngine::open(directory.path(), &RocksDbConfig::default()).unwrap());
        let aside = path.with_file_name(format!("{}.damaged", path.file_name().unwrap().to_str().unwrap()));
        assert_eq!(fs::read(aside).unwrap(), damaged);
    }

    #[test]
    fn nothing_is_cut_if_the_first_record_is_damaged() {
        let directory = tables();
        let path = manifest(directory.path());
        let mut content = fs::read(&path).unwrap();
        content[10] ^= 1;
        fs::write(&path, &content).unwrap();
        assert!(matches!(
            RocksDbEngine::open(directory.path(), &RocksDbConfig::default()),
            Err(Error::Open { .. })
        ));
        assert_eq!(fs::read(&path).unwrap(), content);
    }

    #[test]
    fn a_record_split_over_blocks_counts_as_one() {
        let piece = |kind: u8, body: &[u8]| {
            let mut piece = masked(crc_fast::crc32_iscsi(&[&[kind], body].concat()))
                .to_le_bytes()
                .to_vec();
            piece.extend_from_slice(&(body.len() as u16).to_le_bytes());
            piece.push(kind);
            piece.extend_from_slice(body);
            piece
        };
        let first = piece(FIRST, &vec![1; BLOCK_BYTES - HEADER_BYTES]);
        let whole = [&first[..], &piece(LAST, &[2; 5])].concat();
        assert_eq!(whole_bytes(&whole), whole.len());
        // A beginning without its end does not count.
        let cut = [&piece(FULL, &[3; 5])[..], &piece(FIRST, &[1; 20])].concat();
        assert_eq!(whole_bytes(&cut), HEADER_BYTES + 5);
    }
}
