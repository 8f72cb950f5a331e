//! The Data Encryption Standard, and the variant of it with a salt that crypt(3) uses. It is no protection today: it
//! exists for values that were made with it.
//!
//! ```text
//!   64-bit block ─ IP ─▶ L, R ─ 16 × (L, R = R, L ⊕ f(R, subkey)) ─▶ R, L ─ IP⁻¹ ─▶ 64-bit block
//!   f(R, subkey): R is expanded to 48 bits ─ halves exchange the bits of the salt ─ ⊕ subkey ─ S-boxes ─ P
//! ```

/// Initial permutation: the number of the source bit, from 1 at the left, for each target bit.
const INITIAL: [u8; 64] = [
    58, 50, 42, 34, 26, 18, 10, 2, 60, 52, 44, 36, 28, 20, 12, 4, 62, 54, 46, 38, 30, 22, 14, 6, 64, 56, 48,
    40, 32, 24, 16, 8, 57, 49, 41, 33, 25, 17, 9, 1, 59, 51, 43, 35, 27, 19, 11, 3, 61, 53, 45, 37, 29, 21,
    13, 5, 63, 55, 47, 39, 31, 23, 15, 7,
];

/// Inverse of [`INITIAL`].
const FINAL: [u8; 64] = [
    40, 8, 48, 16, 56, 24, 64, 32, 39, 7, 47, 15, 55, 23, 63, 31, 38, 6, 46, 14, 54, 22, 62, 30, 37, 5, 45,
    13, 53, 21, 61, 29, 36, 4, 44, 12, 52, 20, 60, 28, 35, 3, 43, 11, 51, 19, 59, 27, 34, 2, 42, 10, 50, 18,
    58, 26, 33, 1, 41, 9, 49, 17, 57, 25,
];

/// Bits of the key that are used: 28 for each half.
const KEY_BITS: [u8; 56] = [
    57, 49, 41, 33, 25, 17, 9, 1, 58, 50, 42, 34, 26, 18, 10, 2, 59, 51, 43, 35, 27, 19, 11, 3, 60, 52, 44,
    36, 63, 55, 47, 39, 31, 23, 15, 7, 62, 54, 46, 38, 30, 22, 14, 6, 61, 53, 45, 37, 29, 21, 13, 5, 28, 20,
    12, 4,
];

/// Bits of the rotated halves that make a subkey.
const SUBKEY_BITS: [u8; 48] = [
    14, 17, 11, 24, 1, 5, 3, 28, 15, 6, 21, 10, 23, 19, 12, 4, 26, 8, 16, 7, 27, 20, 13, 2, 41, 52, 31, 37,
    47, 55, 30, 40, 51, 45, 33, 48, 44, 49, 39, 56, 34, 53, 46, 42, 50, 36, 29, 32,
];

/// Rotation of the key's halves before each subkey.
const ROTATIONS: [u32; 16] = [1, 1, 2, 2, 2, 2, 2, 2, 1, 2, 2, 2, 2, 2, 2, 1];

/// Permutation after the S-boxes.
const PERMUTATION: [u8; 32] = [
    16, 7, 20, 21, 29, 12, 28, 17, 1, 15, 23, 26, 5, 18, 31, 10, 2, 8, 24, 14, 32, 27, 3, 9, 19, 13, 30, 6,
    22, 11, 4, 25,
];

/// The S-boxes, each as four rows of 16.
const S_BOXES: [[u8; 64]; 8] = [
    [
        14, 4, 13, 1, 2, 15, 11, 8, 3, 10, 6, 12, 5, 9, 0, 7, 0, 15, 7, 4, 14, 2, 13, 1, 10, 6, 12, 11, 9, 5,
        3, 8, 4, 1, 14, 8, 13, 6, 2, 11, 15, 12, 9, 7, 3, 10, 5, 0, 15, 12, 8, 2, 4, 9, 1, 7, 5, 11, 3, 14,
        10, 0, 6, 13,
    ],
    [
        15, 1, 8, 14, 6, 11, 3, 4, 9, 7, 2, 13, 12, 0, 5, 10, 3, 13, 4, 7, 15, 2, 8, 14, 12, 0, 1, 10, 6, 9,
        11, 5, 0, 14, 7, 11, 10, 4, 13, 1, 5, 8, 12, 6, 9, 3, 2, 15, 13, 8, 10, 1, 3, 15, 4, 2, 11, 6, 7, 12,
        0, 5, 14, 9,
    ],
    [
        10, 0, 9, 14, 6, 3, 15, 5, 1, 13, 12, 7, 11, 4, 2, 8, 13, 7, 0, 9, 3, 4, 6, 10, 2, 8, 5, 14, 12, 11,
        15, 1, 13, 6, 4, 9, 8, 15, 3, 0, 11, 1, 2, 12, 5, 10, 14, 7, 1, 10, 13, 0, 6, 9, 8, 7, 4, 15, 14, 3,
        11, 5, 2, 12,
    ],
    [
        7, 13, 14, 3, 0, 6, 9, 10, 1, 2, 8, 5, 11, 12, 4, 15, 13, 8, 11, 5, 6, 15, 0, 3, 4, 7, 2, 12, 1, 10,
        14, 9, 10, 6, 9, 0, 12, 11, 7, 13, 15, 1, 3, 14, 5, 2, 8, 4, 3, 15, 0, 6, 10, 1, 13, 8, 9, 4, 5, 11,
        12, 7, 2, 14,
    ],
    [
        2, 12, 4, 1, 7, 10, 11, 6, 8, 5, 3, 15, 13, 0, 14, 9, 14, 11, 2, 12, 4, 7, 13, 1, 5, 0, 15, 10, 3, 9,
        8, 6, 4, 2, 1, 11, 10, 13, 7, 8, 15, 9, 12, 5, 6, 3, 0, 14, 11, 8, 12, 7, 1, 14, 2, 13, 6, 15, 0, 9,
        10, 4, 5, 3,
    ],
    [
        12, 1, 10, 15, 9, 2, 6, 8, 0, 13, 3, 4, 14, 7, 5, 11, 10, 15, 4, 2, 7, 12, 9, 5, 6, 1, 13, 14, 0, 11,
        3, 8, 9, 14, 15, 5, 2, 8, 12, 3, 7, 0, 4, 10, 1, 13, 11, 6, 4, 3, 2, 12, 9, 5, 15, 10, 11, 14, 1, 7,
        6, 0, 8, 13,
    ],
    [
        4, 11, 2, 14, 15, 0, 8, 13, 3, 12, 9, 7, 5, 10, 6, 1, 13, 0, 11, 7, 4, 9, 1, 10, 14, 3, 5, 12, 2, 15,
        8, 6, 1, 4, 11, 13, 12, 3, 7, 14, 10, 15, 6, 8, 0, 5, 9, 2, 6, 11, 13, 8, 1, 4, 10, 7, 9, 5, 0, 15,
        14, 2, 3, 12,
    ],
    [
        13, 2, 8, 4, 6, 15, 11, 1, 10, 9, 3, 14, 5, 0, 12, 7, 1, 15, 13, 8, 10, 3, 7, 4, 12, 5, 6, 11, 0, 14,
        9, 2, 7, 11, 4, 1, 9, 12, 14, 2, 0, 6, 10, 13, 15, 3, 5, 8, 2, 1, 14, 7, 4, 10, 8, 13, 15, 12, 9, 0,
        3, 5, 6, 11,
    ],
];

/// The S-boxes with the permutation after them.
static PERMUTED_S_BOXES: [[u32; 64]; 8] = permuted_s_boxes();

const fn permuted_s_boxes() -> [[u32; 64]; 8] {
    let mut boxes = [[0; 64]; 8];
    let mut number = 0;
    while number < 8 {
        let mut input = 0;
        while input < 64 {
            let row = (input >> 4 & 2) | (input & 1);
            let column = input >> 1 & 15;
            let value = (S_BOXES[number][row * 16 + column] as u64) << (28 - 4 * number);
            boxes[number][input] = permute(value, 32, &PERMUTATION) as u32;
            input += 1;
        }
        number += 1;
    }
    boxes
}

/// Selects bits of a word of `width` bits.
const fn permute(word: u64, width: u32, bits: &[u8]) -> u64 {
    let mut out = 0;
    let mut index = 0;
    while index < bits.len() {
        out = out << 1 | (word >> (width - bits[index] as u32) & 1);
        index += 1;
    }
    out
}

/// Salt of crypt(3): which bits the halves of the expanded block exchange.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Salt(u64);

impl Salt {
    /// Creates the salt of 24 bits, the least significant for the leftmost bit of the block.
    pub(super) fn new(bits: u32) -> Self {
        Salt(u64::from(bits.reverse_bits() >> 8))
    }
}

/// A key of 56 bits.
#[derive(Clone)]
pub(super) struct Des {
    subkeys: [u64; 16],
}

impl Des {
    /// Creates a key. The lowest bit of each byte is not used.
    pub(super) fn new(key: u64) -> Self {
        const HALF: u64 = (1 << 28) - 1;
        let bits = permute(key, 64, &KEY_BITS);
        let (mut left, mut right) = (bits >> 28, bits & HALF);
        let subkeys = ROTATIONS.map(|rotation| {
            left = (left << rotation | left >> (28 - rotation)) & HALF;
            right = (right << rotation | right >> (28 - rotation)) & HALF;
            permute(left << 28 | right, 56, &SUBKEY_BITS)
        });
        Des { subkeys }
    }

    /// Encrypts a block.
    pub(super) fn encrypt(&self, block: u64) -> u64 {
        self.encrypt_often(block, Salt::default(), 1)
    }

    /// Encrypts a block `count` times with a salt.
    pub(super) fn encrypt_often(&self, block: u64, salt: Salt, count: u32) -> u64 {
        let mut block = permute(block, 64, &INITIAL);
        for _ in 0..count {
            block = rounds(block, salt, self.subkeys.iter());
        }
        permute(block, 64, &FINAL)
    }

    /// Decrypts a block.
    pub(super) fn decrypt(&self, block: u64) -> u64 {
        let block = permute(block, 64, &INITIAL);
        permute(
            rounds(block, Salt::default(), self.subkeys.iter().rev()),
            64,
            &FINAL,
        )
    }
}

fn rounds<'k>(block: u64, salt: Salt, subkeys: impl Iterator<Item = &'k u64>) -> u64 {
    let (mut left, mut right) = ((block >> 32) as u32, block as u32);
    for subkey in subkeys {
        (left, right) = (right, left ^ mixed(right, *subkey, salt));
    }
    u64::from(right) << 32 | u64::from(left)
}

/// The function f of the standard.
fn mixed(half: u32, subkey: u64, salt: Salt) -> u32 {
    let mut expanded = 0;
    for group in 0..8 {
        let bits = half.rotate_left(4 * group + 5) & 63;
        expanded = expanded << 6 | u64::from(bits);
    }
    let exchanged = (expanded >> 24 ^ expanded) & salt.0;
    let input = expanded ^ exchanged ^ exchanged << 24 ^ subkey;
    let mut out = 0;
    for (number, table) in PERMUTED_S_BOXES.iter().enumerate() {
        out |= table[(input >> (42 - 6 * number) & 63) as usize];
    }
    out
}

/// Three keys, used one after another (3DES, encrypt-decrypt-encrypt), with cipher block chaining from zero.
#[derive(Clone)]
pub(super) struct TripleDes([Des; 3]);

impl TripleDes {
    /// Creates the keys from 24 bytes.
    pub(super) fn new(key: &[u8; 24]) -> Self {
        let part = |index: usize| {
            let bytes = key[8 * index..][..8].try_into().expect("eight bytes");
            Des::new(u64::from_be_bytes(bytes))
        };
        TripleDes([part(0), part(1), part(2)])
    }

    /// Encrypts whole blocks in place. `before` is the encrypted block before them, 0 at the start.
    ///
    /// Returns the last encrypted block.
    pub(super) fn encrypt(&self, bytes: &mut [u8], before: u64) -> u64 {
        let mut before = before;
        let (blocks, rest) = bytes.as_chunks_mut::<8>();
        assert!(rest.is_empty(), "whole blocks");
        for block in blocks {
            let clear = u64::from_be_bytes(*block) ^ before;
            before = self.0[2].encrypt(self.0[1].decrypt(self.0[0].encrypt(clear)));
            *block = before.to_be_bytes();
        }
        before
    }

    /// Decrypts whole blocks in place. The counterpart of [`TripleDes::encrypt`].
    pub(super) fn decrypt(&self, bytes: &mut [u8], before: u64) -> u64 {
        let mut before = before;
        let (blocks, rest) = bytes.as_chunks_mut::<8>();
        assert!(rest.is_empty(), "whole blocks");
        for block in blocks {
            let encrypted = u64::from_be_bytes(*block);
            let clear = self.0[0].decrypt(self.0[1].encrypt(self.0[2].decrypt(encrypted)));
            *block = (clear ^ before).to_be_bytes();
            before = encrypted;
        }
        before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_encrypted_as_in_the_standard() {
        let des = Des::new(0x1334_5779_9BBC_DFF1);
        assert_eq!(des.encrypt(0x0123_4567_89AB_CDEF), 0x85E8_1354_0F0A_B405);
        assert_eq!(des.decrypt(0x85E8_1354_0F0A_B405), 0x0123_4567_89AB_CDEF);
    }
}
