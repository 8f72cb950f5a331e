//! TLS client and server against each other: which servers and clients are trusted, and the errors otherwise.

mod support;

use paceline_wire::authentication::NativePassword;
use paceline_wire::client::{Client, ConnectOptions, QueryResult};
use paceline_wire::command::Command;
use paceline_wire::handshake::{HandshakeResponse, is_tls_request};
use paceline_wire::response::{OkKind, OkPacket};
use paceline_wire::socket::Socket;
use paceline_wire::tls::proof::proof;
use paceline_wire::tls::{ClientTls, ClusterKey, ServerTls, TlsParameters, TlsSession, VerifyServer};
use paceline_wire::{Capabilities, WireError, WireResult};
use support::greet;
use tokio::net::{TcpListener, TcpStream};

const PASSWORD: &str = "secret";

fn file(name: &str) -> String {
    // Cargo runs tests in the directory of their crate. The directory at build time is not used: another clone may
    // run a test that this one has built.
    format!("../../tests/support/certificates/{name}")
}

fn shows(name: &str) -> TlsParameters {
    TlsParameters {
        certificate: file(&format!("{name}.pem")),
        key: file(&format!("{name}.key")),
        ..TlsParameters::default()
    }
}

#[derive(Debug, Clone, Default)]
struct ClientSettings {
    parameters: TlsParameters,
    verify: VerifyServer,
}

impl ClientSettings {
    fn tls(&self) -> ClientTls {
        ClientTls::new(&self.parameters, self.verify).unwrap()
    }
}

fn trusting(ca: &str) -> ClientSettings {
    ClientSettings {
        parameters: TlsParameters {
            ca: file(ca),
            ..TlsParameters::default()
        },
        verify: VerifyServer::Yes,
    }
}

/// TLS session of a client that has logged in, as the server has seen it.
type Seen = Option<TlsSession>;

/// Runs a server that offers TLS if it is given parameters, and answers every query with its length.
async fn serve(mut socket: Socket, tls: Option<ServerTls>, knows: &str) -> WireResult<Seen> {
    let offered = if tls.is_some() {
        Capabilities::SSL
    } else {
        Capabilities::NONE
    };
    let capabilities = Capabilities::SERVER | offered;
    let (mut reader, mut writer, scramble) = greet(&mut socket, capabilities).await?;
    reader.advance(&mut socket).await?;
    if let Some(tls) = tls.as_ref().filter(|_| is_tls_request(reader.payload())) {
        socket = socket.accept_tls(tls, reader.take_buffered()).await?;
        reader.advance(&mut socket).await?;
    }
    let login = HandshakeResponse::decode(reader.payload())?;
    let known = NativePassword::of(knows);
    assert!(NativePassword::of(PASSWORD).verify(&scramble, &login.answer) || login.answer.is_empty());
    let info = match (known, &tls) {
        (NativePassword::Hash(kept), Some(tls)) => proof(&kept, &scramble, tls.certificate()),
        _ => String::new(),
    };
    let ok = OkPacket {
        info: &info,
        ..OkPacket::default()
    };
    writer.set_sequence(reader.sequence());
    ok.write(&mut writer, OkKind::Command, login.capabilities & capabilities);
    writer.flush(&mut socket).await?;
    let seen = socket.tls().cloned();
    loop {
        reader.set_sequence(0);
        reader.advance(&mut socket).await?;
        writer.set_sequence(reader.sequence());
        match Command::parse(reader.payload())? {
            Command::Query(text) => {
                let ok = OkPacket {
                    affected_rows: text.len() as u64,
                    ..OkPacket::default()
                };
                ok.write(&mut writer, OkKind::Command, login.capabilities & capabilities);
                writer.flush(&mut socket).await?;
            }
            _ => return Ok(seen),
        }
    }
}

/// Connects a client to a server over TCP. Returns both results.
async fn connect(
    server: Option<TlsParameters>,
    client: Option<ClientSettings>,
    password: &str,
) -> (WireResult<Client>, WireResult<Seen>) {
    connect_to(server, client, password, PASSWORD).await
}

async fn connect_to(
    server: Option<TlsParameters>,
    client: Option<ClientSettings>,
    password: &str,
    server_knows: &'static str,
) -> (WireResult<Client>, WireResult<Seen>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let tls = server.map(|options| ServerTls::new(&options).unwrap());
    let serving = tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        serve(Socket::tcp(stream).unwrap(), tls, server_knows).await
    });
    let options = ConnectOptions {
        user: "u".into(),
        password: password.into(),
        tls: client.map(|settings| settings.tls()),
        ..ConnectOptions::default()
    };
    let mut connected = Client::connect_tcp(&address.to_string(), &options).await;
    if let Ok(client) = &mut connected {
        // More than a TLS record, and more than the buffers of rustls.
        let text = "x".repeat(3_000_000);
        let [QueryResult::Ok(ok)] = &client.query(&text).await.unwrap()[..] else {
            panic!()
        };
        assert_eq!(ok.affected_rows, 3_000_000);
        client.send(&[1]).await.unwrap();
    }
    (connected, serving.await.unwrap())
}

fn error(outcome: WireResult<Client>) -> String {
    match outcome.unwrap_err() {
        WireError::Tls(text) => text,
        other => panic!("{other}"),
    }
}

#[tokio::test]
async fn connections_are_encrypted_with_tls_1_2_and_1_3() {
    for version in ["TLSv1.2", "TLSv1.3"] {
        for (name, ca) in [("server", "ca.pem"), ("alone", "alone.pem"), ("old", "ca.pem")] {
            let server = TlsParameters {
                versions: version.into(),
                ..shows(name)
            };
            let mut client = trusting(ca);
            if name != "server" {
                // The certificate's common name is localhost; the client connects to 127.0.0.1.
                client.verify = VerifyServer::No;
            }
            let (connected, seen) = connect(Some(server), Some(client), PASSWORD).await;
            let connected = connected.unwrap_or_else(|error| panic!("{name} {version}: {error}"));
            assert_eq!(connected.tls().unwrap().version, version);
            let seen = seen.unwrap().unwrap();
            assert_eq!(seen.cipher, connected.tls().unwrap().cipher);
            assert_eq!(seen.peer, None);
        }
    }
}

#[tokio::test]
async fn a_host_is_accepted_by_its_common_name() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("localhost:{}", listener.local_addr().unwrap().port());
    let tls = ServerTls::new(&shows("old")).unwrap();
    let serving = tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        serve(Socket::tcp(stream).unwrap(), Some(tls), PASSWORD).await
    });
    let options = ConnectOptions {
        user: "u".into(),
        tls: Some(trusting("ca.pem").tls()),
        ..ConnectOptions::default()
    };
    let client = Client::connect_tcp(&address, &options).await.unwrap();
    client.quit().await.unwrap();
    serving.await.unwrap().unwrap();
}

#[tokio::test]
async fn untrusted_servers_are_refused() {
    for (server, ca, reason) in [
        ("server", "other-ca.pem", "not trusted"),
        ("stranger", "ca.pem", "not trusted"),
        ("alone", "ca.pem", "not trusted"),
        ("old", "other-ca.pem", "not trusted"),
        ("elsewhere", "ca.pem", "Hostname verification failed"),
        ("expired", "ca.pem", "valid until Jan  1 00:00:00 2021 GMT"),
        ("client", "ca.pem", "Peer certificate verification failed"),
    ] {
        let (connected, seen) = connect(Some(shows(server)), Some(trusting(ca)), PASSWORD).await;
        let said = error(connected);
        assert!(said.contains(reason), "{server}: {said}");
        assert!(seen.is_err(), "{server}: the server must not see a login");
    }
    // Without verification the authority matters, but not the name.
    let mut client = trusting("ca.pem");
    client.verify = VerifyServer::No;
    connect(Some(shows("elsewhere")), Some(client.clone()), PASSWORD)
        .await
        .0
        .unwrap();
    let (connected, _) = connect(Some(shows("stranger")), Some(client.clone()), PASSWORD).await;
    assert!(error(connected).contains("not trusted"));
    client.parameters.crl = file("revocations.pem");
    connect(Some(shows("server")), Some(client.clone()), PASSWORD)
        .await
        .0
        .unwrap();
    let (connected, _) = connect(Some(shows("revoked")), Some(client), PASSWORD).await;
    assert!(error(connected).contains("revoked"));
    // Nothing is sent in clear text.
    let (connected, seen) = connect(None, Some(ClientSettings::default()), PASSWORD).await;
    assert_eq!(
        error(connected),
        "SSL is required, but the server does not support it"
    );
    assert!(matches!(seen, Err(WireError::Closed)));
}

#[tokio::test]
async fn a_self_signed_server_is_trusted_if_it_knows_the_password() {
    let verify = ClientSettings {
        verify: VerifyServer::Yes,
        ..ClientSettings::default()
    };
    let own = Some(TlsParameters::default());
    let (connected, _) = connect(own.clone(), Some(verify.clone()), PASSWORD).await;
    let subject = connected.unwrap().tls().unwrap().peer.clone().unwrap();
    assert_eq!(subject.subject_text(), "/CN=Paceline Server");
    let (connected, _) = connect_to(own.clone(), Some(verify.clone()), PASSWORD, "another").await;
    assert!(error(connected).contains("not trusted"));
    let (connected, _) = connect_to(own.clone(), Some(verify.clone()), PASSWORD, "").await;
    assert!(error(connected).contains("not trusted"));
    // Nothing can be proved to a client without a password, so it does not log in.
    let (connected, seen) = connect(own.clone(), Some(verify.clone()), "").await;
    assert!(error(connected).contains("not trusted"));
    assert!(seen.is_err());
    // A client that does not verify gets encryption.
    connect(own, Some(ClientSettings::default()), "").await.0.unwrap();
}

#[tokio::test]
async fn client_certificates_are_checked_if_shown() {
    let server = || {
        Some(TlsParameters {
            ca: file("ca.pem"),
            crl: file("revocations.pem"),
            ..shows("server")
        })
    };
    let client = |name: &str| {
        Some(ClientSettings {
            parameters: TlsParameters {
                ca: file("ca.pem"),
                ..shows(name)
            },
            verify: VerifyServer::Yes,
        })
    };
    let (connected, seen) = connect(server(), client("client"), PASSWORD).await;
    connected.unwrap();
    let peer = seen.unwrap().unwrap().peer.unwrap();
    assert_eq!(peer.subject_text(), "/C=DE/O=Paceline/CN=client");
    assert_eq!(peer.issuer_text(), "/C=DE/O=Paceline/CN=Test Authority");
    for name in ["stranger", "expired", "revoked", "server"] {
        let (connected, seen) = connect(server(), client(name), PASSWORD).await;
        assert!(connected.is_err(), "{name}");
        assert!(matches!(seen, Err(WireError::Tls(_))), "{name}: {seen:?}");
    }
    // A server without authorities requests no certificate.
    let (connected, seen) = connect(Some(shows("server")), client("stranger"), PASSWORD).await;
    connected.unwrap();
    assert_eq!(seen.unwrap().unwrap().peer, None);
}

#[tokio::test]
async fn without_a_common_version_or_suite_the_handshake_fails() {
    let server = || {
        Some(TlsParameters {
            versions: "TLSv1.3".into(),
            cipher: "TLS_AES_128_GCM_SHA256".into(),
            ..shows("server")
        })
    };
    let client = |versions: &str, cipher: &str| {
        let mut settings = trusting("ca.pem");
        settings.parameters.versions = versions.into();
        settings.parameters.cipher = cipher.into();
        Some(settings)
    };
    for other in [client("TLSv1.2", ""), client("", "TLS_CHACHA20_POLY1305_SHA256")] {
        let (connected, seen) = connect(server(), other, PASSWORD).await;
        error(connected);
        assert!(matches!(seen, Err(WireError::Tls(_))));
    }
    let (connected, _) = connect(server(), client("", ""), PASSWORD).await;
    assert_eq!(connected.unwrap().tls().unwrap().cipher, "TLS_AES_128_GCM_SHA256");
}

#[tokio::test]
async fn an_invalid_handshake_ends_the_connection() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let request = [
        &[32u8, 0, 0, 1][..],
        &(Capabilities::CLIENT | Capabilities::SSL).lower().to_le_bytes(),
        &[0; 28],
    ]
    .concat();
    for garbage in [
        &b""[..],
        b"\x16\x03\x01\xff\xff",
        b"GET / HTTP/1.0\r\n\r\n",
        &[0xFF; 20_000],
        b"\x05\0\0\0\x03SHOW",
    ] {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let tls = ServerTls::new(&shows("server")).unwrap();
        let serving = tokio::spawn(async move {
            let (stream, _) = listener.accept().await.unwrap();
            serve(Socket::tcp(stream).unwrap(), Some(tls), PASSWORD).await
        });
        let mut stream = TcpStream::connect(address).await.unwrap();
        // The request and the bytes after it may arrive together.
        stream.write_all(&[&request[..], garbage].concat()).await.unwrap();
        stream.shutdown().await.unwrap();
        let mut rest = vec![];
        let _ = stream.read_to_end(&mut rest).await;
        let seen = serving.await.unwrap();
        assert!(matches!(seen, Err(WireError::Tls(_))), "{seen:?}");
    }
}

#[test]
fn unusable_settings_are_refused() {
    let wrong = |change: fn(&mut TlsParameters)| {
        let mut options = shows("server");
        change(&mut options);
        match ServerTls::new(&options) {
            Err(WireError::Tls(text)) => text,
            other => panic!("{other:?}"),
        }
    };
    for (said, expected) in [
        (
            wrong(|o| o.certificate = "/nonexistent".into()),
            "Unable to get certificate",
        ),
        (wrong(|o| o.certificate = o.key.clone()), "it holds none"),
        (
            wrong(|o| o.key = "/nonexistent".into()),
            "Unable to get private key",
        ),
        (
            wrong(|o| o.key = o.certificate.clone()),
            "Unable to get private key",
        ),
        (wrong(|o| o.key = file("client.key")), "does not match"),
        (wrong(|o| o.ca = file("server.key")), "it holds none"),
        (wrong(|o| o.crl = file("ca.pem")), "it holds none"),
        (wrong(|o| o.cipher = "NONE".into()), "Failed to set ciphers"),
        (wrong(|o| o.versions = "TLSv1.1".into()), "tls_version"),
        (
            wrong(|o| o.ca_path = "/nonexistent".into()),
            "Unable to get certificates",
        ),
    ] {
        assert!(said.contains(expected), "{said}");
    }
}

#[test]
fn unreadable_revocation_lists_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("list.pem");
    let server = || {
        let parameters = TlsParameters {
            ca: file("ca.pem"),
            crl_path: directory.path().to_str().unwrap().into(),
            ..shows("server")
        };
        match ServerTls::new(&parameters) {
            Err(WireError::Tls(text)) => Err(text),
            other => Ok(other.unwrap()),
        }
    };
    let list = std::fs::read(file("revocations.pem")).unwrap();
    std::fs::write(directory.path().join("README"), "no list").unwrap();
    std::fs::write(&path, &list).unwrap();
    server().unwrap();
    // A list that exists and cannot be read is not one that revokes nothing.
    std::fs::write(&path, &list[..list.len() / 2]).unwrap();
    assert!(server().unwrap_err().contains("Unable to get revocation list"));
    let damaged = String::from_utf8(list.clone()).unwrap().replace("MIH9", "MIJ9");
    std::fs::write(&path, damaged).unwrap();
    assert!(server().unwrap_err().contains("A revocation list cannot be used"));
    let long = [vec![b'\n'; 16 << 20], list].concat();
    std::fs::write(&path, long).unwrap();
    assert!(server().unwrap_err().contains("it is longer than 16 MiB"));
}

/// Connects a client with these TLS settings to a server with these. Returns the client, or the error's text.
async fn meet(server: ServerTls, client: ClientTls) -> Result<Client, String> {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let serving = tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        serve(Socket::tcp(stream).unwrap(), Some(server), PASSWORD).await
    });
    let options = ConnectOptions {
        user: "u".into(),
        password: PASSWORD.into(),
        tls: Some(client),
        ..ConnectOptions::default()
    };
    let connected = Client::connect_tcp(&address, &options).await;
    if connected.is_err() {
        assert!(serving.await.unwrap().is_err(), "the server has got no login");
    }
    connected.map_err(|error| error.to_string())
}

#[tokio::test]
async fn members_of_a_cluster_trust_its_key_and_other_clients_see_the_servers_own_certificate() {
    let key = |secret| ClusterKey::derive("shop", secret).unwrap();
    let own = ServerTls::new(&shows("server")).unwrap();
    let both = || own.clone().with_cluster(&key("one secret")).unwrap();
    let members_only = ServerTls::of_cluster(&key("one secret")).unwrap();
    let member = |secret| ClientTls::of_cluster(key(secret)).unwrap();
    for server in [both(), members_only] {
        let connected = meet(server.clone(), member("one secret")).await.unwrap();
        assert_eq!(connected.tls().unwrap().version, "TLSv1.3");
        let refused = meet(server, member("another secret")).await.unwrap_err();
        assert!(
            refused.contains("does not have the cluster's secret"),
            "{refused}"
        );
    }
    // Neither a trusted certificate nor knowledge of the password replaces the key.
    let refused = meet(own.clone(), member("one secret")).await.unwrap_err();
    assert!(
        refused.contains("does not have the cluster's secret"),
        "{refused}"
    );
    let mut verifying = trusting("ca.pem");
    verifying.verify = VerifyServer::No;
    meet(both(), verifying.tls()).await.unwrap();
}
