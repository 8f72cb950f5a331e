//! MariaDB's own cipher of ENCODE() and DECODE(), and the hash of OLD_PASSWORD() that it is seeded with. It protects
//! nothing.

use crate::session::RandomGenerator;

/// Returns the hash of passwords before 4.1: two numbers of 31 bits. Blanks and tabulators do not count.
pub(super) fn old_password_hash(password: &[u8]) -> (u32, u32) {
    let (mut first, mut second, mut sum) = (1_345_345_333_u32, 0x1234_5671_u32, 7_u32);
    for byte in password.iter().filter(|byte| !b" \t".contains(byte)) {
        let byte = u32::from(*byte);
        first ^= (first & 63)
            .wrapping_add(sum)
            .wrapping_mul(byte)
            .wrapping_add(first << 8);
        second = second.wrapping_add(second << 8 ^ first);
        sum = sum.wrapping_add(byte);
    }
    (first & 0x7FFF_FFFF, second & 0x7FFF_FFFF)
}

/// State of the cipher: a permutation of bytes, and random numbers for the place in the text.
pub(super) struct EncodeCipher {
    random: RandomGenerator,
    /// Substitution of bytes when decoding.
    decoded: [u8; 256],
    /// Substitution of bytes when encoding: the inverse.
    encoded: [u8; 256],
    shift: u8,
}

impl EncodeCipher {
    /// Creates the cipher for a password.
    pub(super) fn new(password: &[u8]) -> Self {
        let (first, second) = old_password_hash(password);
        let mut random = RandomGenerator::new(u64::from(first), u64::from(second));
        let mut decoded: [u8; 256] = std::array::from_fn(|index| index as u8);
        for index in 0..256 {
            decoded.swap(index, usize::from(random_byte(&mut random)));
        }
        let mut encoded = [0; 256];
        for (index, byte) in decoded.iter().enumerate() {
            encoded[usize::from(*byte)] = index as u8;
        }
        EncodeCipher {
            random,
            decoded,
            encoded,
            shift: 0,
        }
    }

    /// Encodes the bytes in place.
    pub(super) fn encode(mut self, bytes: &mut [u8]) {
        for byte in bytes {
            self.shift ^= random_byte(&mut self.random);
            let clear = *byte;
            *byte = self.encoded[usize::from(clear)] ^ self.shift;
            self.shift ^= clear;
        }
    }

    /// Decodes the bytes in place.
    pub(super) fn decode(mut self, bytes: &mut [u8]) {
        for byte in bytes {
            self.shift ^= random_byte(&mut self.random);
            let clear = self.decoded[usize::from(*byte ^ self.shift)];
            *byte = clear;
            self.shift ^= clear;
        }
    }
}

fn random_byte(random: &mut RandomGenerator) -> u8 {
    (random.next_f64() * 255.0) as u8
}
