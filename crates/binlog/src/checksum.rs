//! CRC-32, and how its linearity lets the leader place an event without reading it.
//!
//! Every event ends with the CRC-32 of all bytes before it (zlib's polynomial). A session encodes its events with end
//! position 0 and the checksum for that. The real position is known only at commit, when the leader must write four
//! bytes at offset 13 of each header and correct the checksum. CRC is linear over GF(2): the difference (xor) of two
//! messages of the same length determines the difference of their CRCs, whatever else the messages contain. With `p`
//! the end position and `n` the number of bytes between it and the checksum,
//!
//! ```text
//! crc(event with p) = crc(event with 0)  xor  p · x^(8n + 32)  mod P
//! ```
//!
//! The encoder computes the [`Shift`] `x^(8n + 32) mod P`. The leader does one multiplication of polynomials mod P
//! for each event: about ten nanoseconds, whatever the event's length.
//!
//! As usual with this polynomial, bits are reflected: the most significant bit of a `u32` is x^0.

/// The generator polynomial, reflected.
const POLYNOMIAL: u32 = 0xEDB8_8320;

/// Returns the CRC-32 of `bytes`.
#[inline]
pub fn crc32(bytes: &[u8]) -> u32 {
    crc32fast::hash(bytes)
}

/// Effect of a change of a `u32` field on its event's CRC: x^(8n + 32) mod P for the n bytes that follow the field.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shift(u32);

/// Shifts for fewer than this many bytes after the field come from a table.
const TABLED_SHIFTS: usize = 1024;

/// x^(8n + 32) for n from 0; enough for most events.
static SHIFTS: [u32; TABLED_SHIFTS] = {
    let mut table = [0; TABLED_SHIFTS];
    let mut power = x_to(32);
    let mut n = 0;
    while n < TABLED_SHIFTS {
        table[n] = power;
        power = times_x8(power);
        n += 1;
    }
    table
};

/// x^(8 · 2^k) for k from 0.
static SQUARES: [u32; 32] = {
    let mut table = [0; 32];
    let mut power = x_to(8);
    let mut k = 0;
    while k < 32 {
        table[k] = power;
        power = multiply_slowly(power, power);
        k += 1;
    }
    table
};

/// Remainders of b · x^(32 + 8k): the four tables that reduce a product.
static REDUCE: [[u32; 256]; 4] = {
    let mut table = [[0; 256]; 4];
    let mut byte = 0;
    while byte < 256 {
        let mut remainder = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            remainder = times_x(remainder);
            bit += 1;
        }
        table[0][byte] = remainder;
        byte += 1;
    }
    let mut k = 1;
    while k < 4 {
        let mut byte = 0;
        while byte < 256 {
            let below = table[k - 1][byte];
            table[k][byte] = (below >> 8) ^ table[0][(below & 0xFF) as usize];
            byte += 1;
        }
        k += 1;
    }
    table
};

impl Shift {
    /// Returns the shift for a field with `bytes` bytes between it and the checksum.
    pub fn for_bytes_after(bytes: usize) -> Self {
        if let Some(power) = SHIFTS.get(bytes) {
            return Self(*power);
        }
        let mut power = x_to(32);
        let mut rest = bytes;
        let mut k = 0;
        while rest != 0 {
            if rest & 1 != 0 {
                power = multiply(power, SQUARES[k]);
            }
            rest >>= 1;
            k += 1;
        }
        Self(power)
    }

    /// Returns the value to xor into the CRC when the field changes from 0 to `value`.
    #[inline]
    pub fn apply(self, value: u32) -> u32 {
        // A little-endian number in the message has its bits in the polynomial's reflected order: it needs no
        // conversion.
        multiply(value, self.0)
    }
}

/// Returns a · x mod P.
const fn times_x(a: u32) -> u32 {
    (a >> 1) ^ (if a & 1 != 0 { POLYNOMIAL } else { 0 })
}

/// Returns a · x^8 mod P.
const fn times_x8(mut a: u32) -> u32 {
    let mut bit = 0;
    while bit < 8 {
        a = times_x(a);
        bit += 1;
    }
    a
}

/// Returns x^n mod P, for a small n.
const fn x_to(n: u32) -> u32 {
    let mut power = 1 << 31;
    let mut step = 0;
    while step < n {
        power = times_x(power);
        step += 1;
    }
    power
}

/// Returns a · b mod P, bit by bit. Makes the tables and checks [`multiply`].
const fn multiply_slowly(a: u32, mut b: u32) -> u32 {
    let mut product = 0;
    let mut bit = 32;
    while bit > 0 {
        bit -= 1;
        if a >> bit & 1 != 0 {
            product ^= b;
        }
        b = times_x(b);
    }
    product
}

/// Returns a · b mod P.
#[inline]
fn multiply(a: u32, b: u32) -> u32 {
    // The reflected 63-bit product, shifted so that its most significant bit is x^0: the high half holds x^0 to x^31,
    // the low half x^32 to x^63.
    let product = carryless_product(a, b) << 1;
    let [b0, b1, b2, b3] = (product as u32).to_le_bytes();
    (product >> 32) as u32
        ^ REDUCE[3][usize::from(b0)]
        ^ REDUCE[2][usize::from(b1)]
        ^ REDUCE[1][usize::from(b2)]
        ^ REDUCE[0][usize::from(b3)]
}

/// Returns the product of two polynomials over GF(2), computed by integer multiplication of numbers whose significant
/// bits are separated by three zero bits, so that no carry reaches a significant bit (Pornin, BearSSL,
/// "ghash_ctmul64"). As fast as the carry-less multiply instruction plus a call, and the same on every processor.
#[inline]
fn carryless_product(a: u32, b: u32) -> u64 {
    const M0: u64 = 0x1111_1111_1111_1111;
    const M1: u64 = M0 << 1;
    const M2: u64 = M0 << 2;
    const M3: u64 = M0 << 3;
    let (a, b) = (u64::from(a), u64::from(b));
    let (a0, a1, a2, a3) = (a & M0, a & M1, a & M2, a & M3);
    let (b0, b1, b2, b3) = (b & M0, b & M1, b & M2, b & M3);
    let product = |x: u64, y: u64| x.wrapping_mul(y);
    let z0 = product(a0, b0) ^ product(a1, b3) ^ product(a2, b2) ^ product(a3, b1);
    let z1 = product(a0, b1) ^ product(a1, b0) ^ product(a2, b3) ^ product(a3, b2);
    let z2 = product(a0, b2) ^ product(a1, b1) ^ product(a2, b0) ^ product(a3, b3);
    let z3 = product(a0, b3) ^ product(a1, b2) ^ product(a2, b1) ^ product(a3, b0);
    (z0 & M0) | (z1 & M1) | (z2 & M2) | (z3 & M3)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn multiplication_by_one_changes_nothing() {
        for a in [0, 1, 1 << 31, POLYNOMIAL, u32::MAX] {
            assert_eq!(multiply(a, 1 << 31), a);
            assert_eq!(multiply(1 << 31, a), a);
        }
    }

    proptest! {
        #[test]
        fn fast_and_slow_multiplication_agree(a: u32, b: u32) {
            prop_assert_eq!(multiply(a, b), multiply_slowly(a, b));
        }

        #[test]
        fn a_patched_checksum_equals_a_recomputed_one(
            before in prop::collection::vec(any::<u8>(), 0..40),
            after in prop::collection::vec(any::<u8>(), 0..5000),
            value: u32,
        ) {
            let message = |value: u32| [&before[..], &value.to_le_bytes(), &after[..]].concat();
            let shift = Shift::for_bytes_after(after.len());
            prop_assert_eq!(crc32(&message(0)) ^ shift.apply(value), crc32(&message(value)));
        }
    }
}
