//! Client and server against each other over a socket pair: login with a switch of the authentication method, result
//! sets, errors, limits.

mod support;

use paceline_wire::authentication::{NATIVE_PASSWORD, NativePassword, Scramble};
use paceline_wire::bytes::put_lenenc_bytes;
use paceline_wire::client::{Client, ConnectOptions, QueryResult};
use paceline_wire::column::{ColumnDefinition, Metadata, field_type, write_column_count};
use paceline_wire::command::Command;
use paceline_wire::framing::PacketReader;
use paceline_wire::handshake::{HandshakeResponse, encode_authentication_switch};
use paceline_wire::response::{
    OkKind, OkPacket, Status, write_end_of_columns, write_end_of_rows, write_error,
};
use paceline_wire::session_state::StateChange;
use paceline_wire::socket::Socket;
use paceline_wire::{Capabilities, WireError, WireResult};
use support::greet;
use tokio::net::UnixStream;

/// Runs a server that accepts the password `secret` and answers each query with its text.
async fn serve(mut socket: Socket) -> WireResult<()> {
    let (mut reader, mut writer, _) = greet(&mut socket, Capabilities::SERVER).await?;
    let login = HandshakeResponse::decode(reader.read(&mut socket).await?)?;
    let capabilities = Capabilities(login.capabilities.0 & Capabilities::SERVER.0);
    let again = Scramble::random();
    writer.set_sequence(reader.sequence());
    encode_authentication_switch(writer.begin(), NATIVE_PASSWORD, &again);
    writer.end();
    writer.flush(&mut socket).await?;
    reader.set_sequence(writer.sequence());
    let right = NativePassword::of("secret").verify(&again, reader.read(&mut socket).await?);
    writer.set_sequence(reader.sequence());
    if !right {
        write_error(&mut writer, 1045, "28000", "Access denied");
        return writer.flush(&mut socket).await;
    }
    OkPacket::default().write(&mut writer, OkKind::Command, capabilities);
    writer.flush(&mut socket).await?;
    loop {
        reader.set_sequence(0);
        match reader.advance(&mut socket).await {
            Err(WireError::Closed) => return Ok(()),
            other => other?,
        }
        let command = Command::parse(reader.payload())?;
        writer.set_sequence(reader.sequence());
        match command {
            Command::Quit => return Ok(()),
            Command::Query(b"fail") => write_error(&mut writer, 1146, "42S02", "Table 'd.t' doesn't exist"),
            Command::Query(text) => {
                let text = text.to_vec();
                write_column_count(&mut writer, 1, Metadata::Follows, capabilities);
                let column = ColumnDefinition {
                    schema: "",
                    table: "",
                    original_table: "",
                    name: "text",
                    original_name: "",
                    collation: 45,
                    length: 0,
                    field_type: field_type::VAR_STRING,
                    flags: 0,
                    decimals: 39,
                    format: "",
                    type_name: "",
                };
                column.write(&mut writer, capabilities);
                write_end_of_columns(&mut writer, Status::default(), capabilities);
                put_lenenc_bytes(writer.begin(), &text);
                writer.end();
                writer.packet(&[0xFB]);
                let end = OkPacket {
                    status: Status::MORE_RESULTS,
                    ..OkPacket::default()
                };
                write_end_of_rows(&mut writer, &end, capabilities);
                let mut state = vec![];
                StateChange::Schema("there".into()).encode(&mut state);
                let ok = OkPacket {
                    affected_rows: 5,
                    state: &state,
                    ..OkPacket::default()
                };
                ok.write(&mut writer, OkKind::Command, capabilities);
            }
            _ => OkPacket::default().write(&mut writer, OkKind::Command, capabilities),
        }
        writer.flush(&mut socket).await?;
    }
}

async fn connect(password: &str, capabilities: Capabilities) -> WireResult<Client> {
    let (ours, theirs) = UnixStream::pair()?;
    tokio::spawn(serve(Socket::unix(theirs)));
    let options = ConnectOptions {
        user: "root".into(),
        password: password.into(),
        capabilities,
        ..ConnectOptions::default()
    };
    Client::handshake(Socket::unix(ours), &options).await
}

#[tokio::test]
async fn a_session_logs_in_and_receives_results_and_errors() {
    for extra in [Capabilities::NONE, Capabilities::MARIADB_EXTENDED_METADATA] {
        let mut client = connect("secret", extra).await.unwrap();
        client.ping().await.unwrap();
        let results = client.query("SELECT 1").await.unwrap();
        let [QueryResult::Rows(set), QueryResult::Ok(ok)] = &results[..] else {
            panic!("{results:?}")
        };
        assert_eq!(set.columns[0].name, "text");
        assert_eq!(set.rows, [vec![Some(b"SELECT 1".to_vec())], vec![None]]);
        assert_eq!(ok.affected_rows, 5);
        assert_eq!(ok.state, [StateChange::Schema("there".into())]);
        let Err(WireError::Server { code, sqlstate, .. }) = client.query("fail").await else {
            panic!()
        };
        assert_eq!((code, sqlstate.as_str()), (1146, "42S02"));
        client.quit().await.unwrap();
    }
}

#[tokio::test]
async fn a_query_may_be_longer_than_a_packet() {
    let mut client = connect("secret", Capabilities::NONE).await.unwrap();
    let text = "x".repeat((1 << 24) + 1000);
    let results = client.query(&text).await.unwrap();
    let QueryResult::Rows(set) = &results[0] else {
        panic!()
    };
    assert_eq!(set.rows[0][0].as_ref().unwrap().len(), text.len());
    client.ping().await.unwrap();
}

#[tokio::test]
async fn a_wrong_password_is_refused() {
    let Err(WireError::Server { code, .. }) = connect("wrong", Capabilities::NONE).await else {
        panic!()
    };
    assert_eq!(code, 1045);
}

/// `KILL` and shutdown end a session that sleeps in a read.
#[tokio::test]
async fn reading_can_be_ended_from_elsewhere() {
    let (mut ours, theirs) = {
        let (a, b) = UnixStream::pair().unwrap();
        (Socket::unix(a), Socket::unix(b))
    };
    let handle = ours.handle().unwrap();
    let reading = tokio::spawn(async move {
        let mut reader = PacketReader::new(100);
        let ended = matches!(reader.read(&mut ours).await, Err(WireError::Closed));
        ours.send(b"still heard").await.unwrap();
        ended
    });
    // Most often the read has begun by then.
    tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    handle.stop_reading();
    assert!(reading.await.unwrap());
    let mut theirs = theirs;
    let mut buffer = [0; 20];
    assert_eq!(theirs.receive(&mut buffer).await.unwrap(), 11);
}
