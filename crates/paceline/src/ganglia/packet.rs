//! Packets of Ganglia 3.1 and later: a metric's description, and its value. Both are XDR (RFC 4506).
//!
//! Source: `lib/gm_protocol.x` of monitor-core.

use super::module::Reading;

/// `gmetadata_full`: description.
const DESCRIPTION: u32 = 128;
/// `gmetric_string`: a value as text.
const VALUE: u32 = 128 + 5;
/// `GANGLIA_SLOPE_BOTH`: the value goes up and down, which differences do too.
const SLOPE_BOTH: u32 = 3;

/// Returns the packets of a value.
pub fn packets(
    reading: &Reading,
    value: f64,
    interval_seconds: u32,
    maximum_age_seconds: u32,
) -> [Vec<u8>; 2] {
    let mut description = Xdr::new(DESCRIPTION, &reading.name);
    description
        .text("double")
        .text(&reading.name)
        .text(&reading.unit)
        .number(SLOPE_BOTH)
        .number(interval_seconds)
        .number(maximum_age_seconds)
        // One pair of extra data.
        .number(1)
        .text("GROUP")
        .text(reading.group);
    let mut data = Xdr::new(VALUE, &reading.name);
    data.text("%s").text(&value.to_string());
    [description.0, data.0]
}

/// Bytes of a packet.
struct Xdr(Vec<u8>);

impl Xdr {
    /// Begins a packet about a metric of the host that sends it.
    fn new(kind: u32, name: &str) -> Self {
        let mut packet = Xdr(Vec::with_capacity(256));
        // No name of a host, and no spoofed one.
        packet.number(kind).text("").text(name).number(0);
        packet
    }

    fn number(&mut self, number: u32) -> &mut Self {
        self.0.extend_from_slice(&number.to_be_bytes());
        self
    }

    /// Adds a text: its length, its bytes, and zeros up to a multiple of four.
    fn text(&mut self, text: &str) -> &mut Self {
        self.number(text.len() as u32);
        self.0.extend_from_slice(text.as_bytes());
        self.0.resize(self.0.len().next_multiple_of(4), 0);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::super::module::Kind;
    use super::*;

    #[test]
    fn texts_are_padded_to_four_bytes() {
        let reading = Reading {
            name: "m_rows".into(),
            kind: Kind::Gauge,
            unit: "rows".into(),
            group: "m",
            value: 0.0,
        };
        let [description, value] = packets(&reading, 1.5, 15, 60);
        assert_eq!(
            value,
            [
                &[0, 0, 0, 133, 0, 0, 0, 0, 0, 0, 0, 6][..],
                b"m_rows\0\0",
                &[0, 0, 0, 0, 0, 0, 0, 2],
                b"%s\0\0",
                &[0, 0, 0, 3],
                b"1.5\0",
            ]
            .concat()
        );
        assert_eq!(description.len() % 4, 0);
        assert!(description.ends_with(&[b'G', b'R', b'O', b'U', b'P', 0, 0, 0, 0, 0, 0, 1, b'm', 0, 0, 0]));
    }
}
