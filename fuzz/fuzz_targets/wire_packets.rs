//! Whatever a peer sends, reading it ends in a value or an error. The first byte says what the rest is read as.
#![no_main]

use libfuzzer_sys::fuzz_target;
use paceline_wire::Capabilities;
use paceline_wire::column::ColumnReceived;
use paceline_wire::command::Command;
use paceline_wire::framing::PacketReader;
use paceline_wire::handshake::{Greeting, Login, decode_authentication_switch};
use paceline_wire::prepared::{Parameters, PreparedReceived};
use paceline_wire::response::{OkReceived, decode_error};
use paceline_wire::session_state::StateChange;
use paceline_wire::tls::Certificate;

fuzz_target!(|input: &[u8]| {
    let Some((choice, bytes)) = input.split_first() else { return };
    let capabilities = if choice & 0x80 == 0 { Capabilities::SERVER } else { Capabilities::CLIENT };
    match choice & 0x7F {
        0 => drop(Login::decode(bytes)),
        1 => drop(Login::decode_change_user(bytes, capabilities)),
        2 => drop(Greeting::decode(bytes)),
        3 => drop(Command::parse(bytes)),
        4 => drop(OkReceived::decode(bytes, capabilities)),
        5 => drop(ColumnReceived::decode(bytes, capabilities)),
        6 => drop(StateChange::decode_all(bytes)),
        7 => drop(decode_authentication_switch(bytes)),
        8 => drop(PreparedReceived::decode(bytes)),
        9 => drop(decode_error(bytes)),
        10 => {
            if let Some((count, payload)) = bytes.split_first() {
                let mut types = vec![];
                if let Ok(parameters) = Parameters::parse(payload, usize::from(*count), &mut types) {
                    (0..usize::from(*count)).for_each(|index| drop(parameters.is_null(index)));
                }
            }
        }
        11 => {
            if let Some(certificate) = Certificate::read(&bytes.into()) {
                drop((certificate.subject_text(), certificate.issuer_text(), certificate.common_names()));
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
});
