//! Hasher of addresses, for maps of parts of a plan or a program that live as long as the map.

use std::hash::{BuildHasherDefault, Hasher};

/// Makes hashers of addresses.
pub(crate) type HashAddress = BuildHasherDefault<AddressHasher>;

/// Hasher of addresses, which differ in all but their lowest bits.
#[derive(Default)]
pub(crate) struct AddressHasher(u64);

impl Hasher for AddressHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_usize(usize::from(*byte));
        }
    }

    fn write_usize(&mut self, address: usize) {
        self.0 = (self.0 ^ address as u64)
            .wrapping_mul(0x9E37_79B9_7F4A_7C15)
            .rotate_left(32);
    }
}
