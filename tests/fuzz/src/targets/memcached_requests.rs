//! Bytes of a memcached client.
//!
//! Whatever the pieces in which they come, the requests are the same, and the reader keeps no more than a line or a
//! value.

use super::Target;
use paceline_memcached::{LINE_BYTES_MAX, ProtocolError, Request, RequestReader};

const VALUE_BYTES_MAX: usize = 1000;

pub(super) const TARGET: Target = Target {
    name: "memcached_requests",
    run,
    samples,
    words: &[
        b"get ",
        b"gets ",
        b"gat ",
        b"set ",
        b"cas ",
        b"append ",
        b"incr ",
        b"touch ",
        b"delete ",
        b"mg ",
        b"ms ",
        b"md ",
        b"ma ",
        b"me ",
        b"mn",
        b" noreply",
        b"\r\n",
        b" b",
        b" v",
        b" q",
        b" N0",
        b" 4294967296",
        b" 18446744073709551615",
        b" -1",
    ],
};

fn samples() -> Vec<Vec<u8>> {
    let texts: [&[u8]; 6] = [
        b"set a 1 0 5\r\nhello\r\nget a b\r\ngat 5 a\r\n",
        b"cas a 1 -1 2 77 noreply\r\n\r\n\r\nincr n 5\r\ntouch a 3 noreply\r\n",
        b"ms YWJj 2 b k Oxy T30 F7 MA N0 c\r\nhi\r\nmg YWJj b k v t f s c q\r\n",
        b"ma n N0 J13 D2 MD v t\r\nmd n C5 q k\r\nme n\r\nmn\r\n",
        b"set a 0 0 2000\r\nxx\r\nversion\r\nstats items\r\nflush_all 0\r\nquit\r\n",
        b"delete a 0 noreply\r\nverbosity 1\r\nprepend a 0 0 0\r\n\r\n",
    ];
    texts.iter().map(|text| text.to_vec()).collect()
}

fn run(bytes: &[u8]) {
    let whole = requests(bytes, bytes.len().max(1));
    assert_eq!(requests(bytes, 3), whole);
}

/// Reads bytes that come in pieces of this length.
fn requests(bytes: &[u8], piece_bytes: usize) -> Vec<Result<Request, ProtocolError>> {
    let mut reader = RequestReader::new(VALUE_BYTES_MAX);
    let mut found = Vec::new();
    for piece in bytes.chunks(piece_bytes) {
        let buffer = reader.buffer();
        assert!(buffer.len() <= LINE_BYTES_MAX + VALUE_BYTES_MAX + 2);
        buffer.extend_from_slice(piece);
        loop {
            match reader.next_request() {
                Ok(None) => break,
                Ok(Some(request)) => found.push(Ok(request)),
                Err(error) => {
                    found.push(Err(error));
                    if error.ends_connection() {
                        return found;
                    }
                }
            }
        }
    }
    found
}
