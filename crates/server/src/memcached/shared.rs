//! State that all connections share.

use super::containers::Containers;
use super::item_row::CasSource;

/// State that all connections share.
#[derive(Default)]
pub struct Memcached {
    pub containers: Containers,
    pub cas: CasSource,
}
