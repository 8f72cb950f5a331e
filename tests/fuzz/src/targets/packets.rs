//! Packets of a peer: reading any bytes ends in a value or an error. The first byte selects how the rest is
//! read.

use super::Target;
use paceline_wire::Capabilities;
use paceline_wire::column::ReceivedColumn;
use paceline_wire::command::Command;
use paceline_wire::framing::PacketReader;
use paceline_wire::handshake::{Greeting, HandshakeResponse, decode_authentication_switch};
use paceline_wire::prepared::{Parameters, ReceivedPrepared};
use paceline_wire::response::{ReceivedOk, decode_error};
use paceline_wire::session_state::StateChange;
use paceline_wire::tls::Certificate;

pub(super) const TARGET: Target = Target {
    name: "wire_packets",
    run,
    samples,
    words: &[b"mysql_native_password", b"\xfe", b"\xfb", b"\x00"],
};

fn run(input: &[u8]) {
    let Some((choice, bytes)) = input.split_first() else {
        return;
    };
    let capabilities = if choice & 0x80 == 0 {
        Capabilities::SERVER
    } else {
        Capabilities::CLIENT
    };
    match choice & 0x7F {
        0 => drop(HandshakeResponse::decode(bytes)),
        1 => drop(HandshakeResponse::decode_change_user(bytes, capabilities)),
        2 => drop(Greeting::decode(bytes)),
        3 => drop(Command::parse(bytes)),
        4 => drop(ReceivedOk::decode(bytes, capabilities)),
        5 => drop(ReceivedColumn::decode(bytes, capabilities)),
        6 => drop(StateChange::decode_all(bytes)),
        7 => drop(decode_authentication_switch(bytes)),
        8 => drop(ReceivedPrepared::decode(bytes)),
        9 => drop(decode_error(bytes)),
        10 => {
            if let Some((count, payload)) = bytes.split_first() {
                let mut types = vec![];
                if let Ok(parameters) = Parameters::parse(payload, usize::from(*count), &mut types) {
                    let _ = (0..usize::from(*count))
                        .filter(|index| parameters.is_null(*index))
                        .count();
                }
            }
        }
        11 => {
            if let Some(certificate) = Certificate::read(&bytes.into()) {
                drop((
                    certificate.subject_text(),
                    certificate.issuer_text(),
                    certificate.common_names(),
                ));
            }
        }
        chunk => {
            let mut reader = PacketReader::new(1 << 16);
            for piece in bytes.chunks(usize::from(chunk)) {
                reader.feed(piece);
                loop {
                    match reader.next_buffered() {
                        Ok(Some(payload)) => drop(Command::parse(payload)),
                        Ok(None) => break,
                        Err(_) => return,
                    }
                }
            }
        }
    }
}

fn samples() -> Vec<Vec<u8>> {
    let mut samples = Vec::new();
    let mut add = |choice: u8, encode: &dyn Fn(&mut Vec<u8>)| {
        let mut sample = vec![choice];
        encode(&mut sample);
        samples.push(sample);
    };
    let login = HandshakeResponse {
        capabilities: Capabilities::CLIENT,
        packet_max: 1 << 24,
        collation: 45,
        user: "app".to_owned(),
        answer: vec![7; 20],
        database: Some("shop".to_owned()),
        plugin: Some("mysql_native_password".to_owned()),
        attributes: vec![("_client_name".to_owned(), "test".to_owned())],
    };
    add(0, &|out| login.encode(out));
    add(1, &|out| login.encode_change_user(out));
    for choice in 2..=11 {
        add(choice, &|out| out.extend((0..60).map(|byte| byte * 3)));
    }
    add(40, &|out| {
        out.extend_from_slice(b"\x09\0\0\0\x03select 1\x01\0\0\0\x0e")
    });
    samples
}
