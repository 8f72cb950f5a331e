//! Packets of a peer: reading any bytes ends in a value or an error. The first byte selects how the rest is
//! read.

use super::Target;
use paceline_wire::Capabilities;
use paceline_wire::authentication::Scramble;
use paceline_wire::column::{ColumnDefinition, ReceivedColumn, field_type};
use paceline_wire::command::Command;
use paceline_wire::framing::{PacketReader, PacketWriter};
use paceline_wire::handshake::{Greeting, HandshakeResponse, decode_authentication_request, is_tls_request};
use paceline_wire::prepared::{BulkParameters, Parameters, PrepareReply, bulk_flag, indicator};
use paceline_wire::proxy_header::ProxyHeader;
use paceline_wire::response::{OkKind, OkPacket, ReceivedOk, Status, decode_error};
use paceline_wire::session_state::StateChange;
use paceline_wire::tls::{Certificate, ServerTls, TlsParameters};

pub(super) const TARGET: Target = Target {
    name: "wire_packets",
    run,
    samples,
    words: &[b"mysql_native_password", b"\xfe", b"\xfb", b"\x00"],
};

/// Bits of the first byte that choose the capabilities.
const CAPABILITY_BITS: u8 = 0xC0;

// The other bits: what the bytes are. Larger numbers are a stream, which arrives in pieces of that many bytes.
const LOGIN: u8 = 0;
const CHANGE_USER: u8 = 1;
const GREETING: u8 = 2;
const COMMAND: u8 = 3;
const OK: u8 = 4;
const COLUMN: u8 = 5;
const STATE_CHANGES: u8 = 6;
const AUTHENTICATION_SWITCH: u8 = 7;
const PREPARED: u8 = 8;
const ERROR: u8 = 9;
const PARAMETERS: u8 = 10;
const CERTIFICATE: u8 = 11;
const BULK_PARAMETERS: u8 = 12;
const PROXY_HEADER: u8 = 13;
const LAST_KIND: u8 = PROXY_HEADER;

/// Number of parameters that the count 255 stands for: more than a NULL bitmap of one cache line.
const PARAMETERS_MAX: usize = 300;

fn run(input: &[u8]) {
    let Some((choice, bytes)) = input.split_first() else {
        return;
    };
    let capabilities = match choice & CAPABILITY_BITS {
        0 => Capabilities::SERVER,
        0x80 => Capabilities::CLIENT,
        _ => Capabilities::NONE,
    };
    match choice & !CAPABILITY_BITS {
        LOGIN => {
            let _ = is_tls_request(bytes);
            let _ = HandshakeResponse::decode(bytes);
        }
        CHANGE_USER => drop(HandshakeResponse::decode_change_user(bytes, capabilities)),
        GREETING => drop(Greeting::decode(bytes)),
        COMMAND => drop(Command::parse(bytes)),
        OK => drop(ReceivedOk::decode(bytes, capabilities)),
        COLUMN => drop(ReceivedColumn::decode(bytes, capabilities)),
        STATE_CHANGES => drop(StateChange::decode_all(bytes)),
        AUTHENTICATION_SWITCH => drop(decode_authentication_request(bytes)),
        PREPARED => drop(PrepareReply::decode(bytes)),
        ERROR => drop(decode_error(bytes)),
        PARAMETERS => {
            if let Some((count, payload)) = bytes.split_first() {
                let count = match usize::from(*count) {
                    255 => PARAMETERS_MAX,
                    count => count,
                };
                let mut types = vec![];
                if let Ok(parameters) = Parameters::parse(payload, count, &mut types) {
                    let _ = (0..count).filter(|index| parameters.is_null(*index)).count();
                }
            }
        }
        BULK_PARAMETERS => {
            if let Some((count, payload)) = bytes.split_first() {
                let (flags, count) = (bulk_flag::SEND_TYPES, usize::from(*count));
                let parsed = BulkParameters::parse(payload.to_vec(), flags, count, &mut vec![]);
                if let Ok(mut parameters) = parsed {
                    while let Ok(true) = parameters.advance() {}
                }
            }
        }
        PROXY_HEADER => {
            if let ProxyHeader::Complete(_, length) = ProxyHeader::read(bytes) {
                assert!(length <= bytes.len());
            }
        }
        CERTIFICATE => {
            if let Some(certificate) = Certificate::read(&bytes.into()) {
                drop((
                    certificate.subject_text(),
                    certificate.issuer_text(),
                    certificate.common_names(),
                ));
            }
        }
        length => read_stream(bytes, usize::from(length)),
    }
}

/// Takes packets from a stream that arrives in pieces.
fn read_stream(bytes: &[u8], piece_length: usize) {
    let mut reader = PacketReader::new(1 << 16);
    for piece in bytes.chunks(piece_length) {
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

fn samples() -> Vec<Vec<u8>> {
    let mut samples = Vec::new();
    // Each capability has its own layout.
    let mut add = |kind: u8, payload: &[u8]| {
        for capabilities in [0, 0x80, 0x40] {
            samples.push([&[kind | capabilities], payload].concat());
        }
    };
    let encoded = |encode: &dyn Fn(&mut Vec<u8>)| {
        let mut payload = Vec::new();
        encode(&mut payload);
        payload
    };
    for (capabilities, database) in [(Capabilities::CLIENT, "shop"), (Capabilities::SERVER, "test")] {
        let login = HandshakeResponse {
            capabilities,
            packet_max: 1 << 24,
            collation: 45,
            user: "app".to_owned(),
            answer: vec![7; 20],
            database: Some(database.to_owned()),
            plugin: Some("mysql_native_password".to_owned()),
            attributes: vec![
                ("_os".to_owned(), "Linux".to_owned()),
                ("_pid".to_owned(), "1".to_owned()),
            ],
        };
        add(LOGIN, &encoded(&|out| login.encode(out)));
        add(CHANGE_USER, &encoded(&|out| login.encode_change_user(out))[1..]);
    }
    let greeting = Greeting {
        server_version: "5.5.5-10.11.19-MariaDB".into(),
        connection_id: 1,
        scramble: Scramble::random(),
        capabilities: Capabilities::SERVER,
        collation: 8,
        status: 2,
        plugin: "mysql_native_password".into(),
    };
    add(GREETING, &encoded(&|out| greeting.encode(out)));
    let state = encoded(&|out| {
        StateChange::SystemVariable {
            name: "last_gtid".into(),
            value: "0-1-1".into(),
        }
        .encode(out);
        StateChange::Schema("test".into()).encode(out);
    });
    add(STATE_CHANGES, &state);
    let types = [2, field_type::VAR_STRING, 0, field_type::LONG, 0x80];
    let set = [
        indicator::VALUE,
        1,
        b'x',
        indicator::VALUE,
        7,
        0,
        0,
        0,
        indicator::DEFAULT,
        indicator::NULL,
    ];
    add(BULK_PARAMETERS, &[&types[..], &set].concat());
    add(PROXY_HEADER, b"PROXY TCP4 10.1.2.3 10.9.9.9 4711 3306\r\n");
    add(
        PROXY_HEADER,
        b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c\x0a\x01\x02\x03\x0a\x09\x09\x09\x12\x67\x0c\xea",
    );
    let mut writer = PacketWriter::new();
    OkPacket {
        affected_rows: 1,
        last_insert_id: 1 << 40,
        status: Status::AUTOCOMMIT,
        warnings: 0,
        info: "x",
        state: &state,
    }
    .write(&mut writer, OkKind::Command, Capabilities::SERVER);
    add(OK, &writer.bytes()[4..]);
    let column = ColumnDefinition {
        schema: "s",
        table: "t",
        original_table: "t",
        name: "c",
        original_name: "c",
        collation: 63,
        length: 11,
        field_type: field_type::LONG,
        flags: 0,
        decimals: 0,
        type_name: "",
        format: "",
    };
    add(COLUMN, &encoded(&|out| column.encode(out, Capabilities::SERVER)));
    let server = ServerTls::new(&TlsParameters::default()).expect("a certificate can be made");
    add(CERTIFICATE, server.certificate().der());
    add(PARAMETERS, &[1, 0, 1, field_type::LONG, 0, 1, 0, 0, 0]);
    for count in [0, 1, 7, 8, 9, 255] {
        add(PARAMETERS, &[&[count], &[0; 60][..]].concat());
    }
    add(COMMAND, &[23, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 3, 0, 1, 0, 0, 0]);
    let noise: Vec<u8> = (0..60).map(|byte| byte * 3).collect();
    (LOGIN..=LAST_KIND).for_each(|kind| add(kind, &noise));
    for piece_length in [LAST_KIND + 1, 40] {
        add(piece_length, b"\x09\0\0\0\x03select 1\x01\0\0\0\x0e");
        add(piece_length, writer.bytes());
    }
    samples
}
