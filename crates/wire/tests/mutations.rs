//! Random damage: decoding any bytes results in a value or an error, never in a panic.
//! `fuzz/fuzz_targets/wire_packets.rs` fuzzes the same with coverage.

use paceline_wire::Capabilities;
use paceline_wire::authentication::Scramble;
use paceline_wire::column::{ColumnDefinition, ReceivedColumn, field_type};
use paceline_wire::command::Command;
use paceline_wire::framing::{PacketReader, PacketWriter};
use paceline_wire::handshake::{Greeting, HandshakeResponse, decode_authentication_switch, is_tls_request};
use paceline_wire::prepared::{Parameters, ReceivedPrepared};
use paceline_wire::response::{OkKind, OkPacket, ReceivedOk, Status, decode_error};
use paceline_wire::session_state::StateChange;
use paceline_wire::tls::{Certificate, ServerTls, TlsParameters};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

/// Decodes `bytes` as everything in the protocol.
fn read_as_everything(bytes: &[u8]) {
    for capabilities in [Capabilities::SERVER, Capabilities::CLIENT, Capabilities::NONE] {
        let _ = HandshakeResponse::decode(bytes);
        let _ = HandshakeResponse::decode_change_user(bytes, capabilities);
        let _ = ReceivedOk::decode(bytes, capabilities);
        let _ = ReceivedColumn::decode(bytes, capabilities);
    }
    let _ = Greeting::decode(bytes);
    let _ = is_tls_request(bytes);
    if let Some(certificate) = Certificate::read(&bytes.into()) {
        let _ = (
            certificate.subject_text(),
            certificate.issuer_text(),
            certificate.common_names().len(),
        );
    }
    let _ = decode_authentication_switch(bytes);
    let _ = Command::parse(bytes);
    let _ = decode_error(bytes);
    let _ = StateChange::decode_all(bytes);
    let _ = ReceivedPrepared::decode(bytes);
    for count in [0, 1, 7, 8, 9, 300] {
        let mut types = vec![];
        if let Ok(parameters) = Parameters::parse(bytes, count, &mut types) {
            for index in 0..count {
                parameters.is_null(index);
            }
        }
    }
    let mut reader = PacketReader::new(1 << 16);
    for chunk in bytes.chunks(5) {
        reader.feed(chunk);
        loop {
            match reader.next_buffered() {
                Ok(Some(payload)) => drop(Command::parse(payload)),
                Ok(None) => break,
                Err(_) => return,
            }
        }
    }
}

/// Returns valid payloads of every kind, to be damaged.
fn samples() -> Vec<Vec<u8>> {
    let mut samples = vec![];
    let login = HandshakeResponse {
        capabilities: Capabilities::SERVER,
        packet_max: 1 << 24,
        collation: 45,
        user: "root".into(),
        answer: vec![1; 20],
        database: Some("test".into()),
        plugin: Some("mysql_native_password".into()),
        attributes: vec![("_os".into(), "Linux".into()), ("_pid".into(), "1".into())],
    };
    let mut out = vec![];
    login.encode(&mut out);
    samples.push(out.clone());
    out.clear();
    login.encode_change_user(&mut out);
    samples.push(out[1..].to_vec());
    out.clear();
    Greeting {
        server_version: "5.5.5-10.11.19-MariaDB".into(),
        connection_id: 1,
        scramble: Scramble::random(),
        capabilities: Capabilities::SERVER,
        collation: 8,
        status: 2,
        plugin: "mysql_native_password".into(),
    }
    .encode(&mut out);
    samples.push(out.clone());
    out.clear();
    let mut state = vec![];
    StateChange::SystemVariable {
        name: "last_gtid".into(),
        value: "0-1-1".into(),
    }
    .encode(&mut state);
    StateChange::Schema("test".into()).encode(&mut state);
    samples.push(state.clone());
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
    samples.push(writer.bytes()[4..].to_vec());
    samples.push(writer.bytes().to_vec());
    ColumnDefinition {
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
        format: "",
    }
    .encode(&mut out, Capabilities::SERVER);
    samples.push(out);
    let own = ServerTls::new(&TlsParameters::default()).unwrap();
    samples.push(own.certificate().der().to_vec());
    samples.push(vec![0, 1, field_type::LONG, 0, 1, 0, 0, 0]);
    samples.push(vec![23, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 3, 0, 1, 0, 0, 0]);
    samples
}

#[test]
fn damaged_packets_never_panic() {
    let mut random = StdRng::seed_from_u64(20_260);
    let samples = samples();
    for _ in 0..60_000 {
        let mut bytes = samples[random.random_range(0..samples.len())].clone();
        for _ in 0..random.random_range(1..5) {
            let at = random.random_range(0..=bytes.len());
            match random.random_range(0..4) {
                0 if at < bytes.len() => bytes[at] = random.random(),
                1 => bytes.truncate(at),
                2 => bytes.insert(at, [0, 0xFB, 0xFC, 0xFD, 0xFE, 0xFF][random.random_range(0..6)]),
                _ if at < bytes.len() => bytes[at] ^= 1 << random.random_range(0..8),
                _ => {}
            }
        }
        read_as_everything(&bytes);
    }
}

#[test]
fn noise_never_panics() {
    let mut random = StdRng::seed_from_u64(7);
    for _ in 0..40_000 {
        let bytes: Vec<u8> = (0..random.random_range(0..80)).map(|_| random.random()).collect();
        read_as_everything(&bytes);
    }
}
