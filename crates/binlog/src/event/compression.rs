//! The compressed form of rows and of a Query event's text (`log_bin_compress`).
//!
//! ```text
//! bit 7: 1, bits 4-6: algorithm (0 = zlib), bits 0-2: n (1) | uncompressed length (n, big endian) | zlib stream
//! ```
//! This is MariaDB's `binlog_buf_compress`.

use crate::error::{Error, Result};
use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use std::io::{Read, Write};

/// Maximum uncompressed length: MariaDB's `MAX_MAX_ALLOWED_PACKET`.
const UNCOMPRESSED_LENGTH_MAX: usize = 1 << 30;

/// Returns the uncompressed content of `bytes`.
pub(super) fn decompress(event: &'static str, bytes: &[u8]) -> Result<Vec<u8>> {
    let malformed = |problem| Error::Malformed { event, problem };
    let (first, rest) = bytes
        .split_first()
        .ok_or_else(|| malformed("its compressed part is empty"))?;
    if first & 0xF0 != 0x80 {
        return Err(malformed("its compression algorithm is not known"));
    }
    let length_bytes = usize::from(first & 7);
    if !(1..=4).contains(&length_bytes) {
        return Err(malformed("its uncompressed length has no length"));
    }
    let (length, stream) = rest
        .split_at_checked(length_bytes)
        .ok_or_else(|| malformed("it is too short"))?;
    let length = length
        .iter()
        .fold(0, |length, byte| length << 8 | usize::from(*byte));
    if length > UNCOMPRESSED_LENGTH_MAX {
        return Err(malformed("it claims to be longer than any event"));
    }
    // The claimed length is not allocated in advance: zlib compresses up to about 1000 to 1.
    let mut out = Vec::with_capacity(length.min(stream.len().saturating_mul(8)));
    let mut decoder = ZlibDecoder::new(stream).take(length as u64 + 1);
    decoder
        .read_to_end(&mut out)
        .map_err(|_| malformed("its compressed part is damaged"))?;
    if out.len() != length {
        return Err(malformed("its uncompressed length is not what it says"));
    }
    Ok(out)
}

/// Appends the compressed form of `bytes`.
pub(super) fn compress(out: &mut Vec<u8>, bytes: &[u8]) {
    let length = (bytes.len() as u32).to_be_bytes();
    let skipped = length.iter().take(3).take_while(|byte| **byte == 0).count();
    out.push(0x80 | (4 - skipped) as u8);
    out.extend_from_slice(&length[skipped..]);
    let mut encoder = ZlibEncoder::new(out, Compression::default());
    encoder
        .write_all(bytes)
        .and_then(|()| encoder.finish())
        .expect("writing to memory does not fail");
}
