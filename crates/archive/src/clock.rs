//! Current time.

use std::time::{SystemTime, UNIX_EPOCH};

/// Returns the current time in seconds since 1970.
pub fn unix_seconds() -> u32 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
        .as_secs() as u32
}
