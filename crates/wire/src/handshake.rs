//! The beginning of a connection: the server's greeting, the client's answer, and the packets that change the
//! authentication method or the user. Formats: MariaDB knowledge base, "Connection".

use crate::authentication::Scramble;
use crate::bytes::{Cursor, put_lenenc_bytes, put_lenenc_int, put_null_terminated};
use crate::capability::Capabilities;
use crate::error::{WireError, WireResult};

/// Maximum total length of connection attributes, in bytes. Longer ones are dropped, as MariaDB drops attributes that
/// do not fit into its performance schema.
const ATTRIBUTES_MAX: usize = 64 * 1024;

/// The server's first packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Greeting {
    /// `version` with the prefix `5.5.5-`: replicas and connectors from the time of MySQL 5.5 do not understand a
    /// major version of two digits. MariaDB's servers send the prefix up to 10.11, and its clients remove it.
    pub server_version: String,
    /// Id of the connection.
    pub connection_id: u32,
    /// The scramble that the client must answer.
    pub scramble: Scramble,
    /// Capabilities of the server.
    pub capabilities: Capabilities,
    /// Default collation of the server: the lower byte of its id.
    pub collation: u8,
    /// The status flags.
    pub status: u16,
    /// Default authentication method.
    pub plugin: String,
}

impl Greeting {
    /// Appends the payload of the packet.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let scramble = self.scramble.bytes();
        out.push(10);
        put_null_terminated(out, self.server_version.as_bytes());
        out.extend_from_slice(&self.connection_id.to_le_bytes());
        out.extend_from_slice(&scramble[..8]);
        out.push(0);
        out.extend_from_slice(&self.capabilities.lower().to_le_bytes()[..2]);
        out.push(self.collation);
        out.extend_from_slice(&self.status.to_le_bytes());
        out.extend_from_slice(&self.capabilities.lower().to_le_bytes()[2..]);
        out.push(21);
        out.extend_from_slice(&[0; 6]);
        out.extend_from_slice(&self.capabilities.extended().to_le_bytes());
        out.extend_from_slice(&scramble[8..]);
        out.push(0);
        put_null_terminated(out, self.plugin.as_bytes());
    }

    /// Decodes the packet.
    pub fn decode(payload: &[u8]) -> WireResult<Greeting> {
        let mut cursor = Cursor::new(payload, "greeting");
        if cursor.u8()? != 10 {
            return Err(WireError::BadHandshake);
        }
        let server_version = String::from_utf8_lossy(cursor.null_terminated()?).into_owned();
        let connection_id = cursor.u32()?;
        let mut scramble = [0; 20];
        scramble[..8].copy_from_slice(cursor.take(8)?);
        cursor.take(1)?;
        let mut capabilities = u64::from(cursor.u16()?);
        let collation = cursor.u8()?;
        let status = cursor.u16()?;
        capabilities |= u64::from(cursor.u16()?) << 16;
        cursor.take(1 + 6)?;
        let extended = cursor.u32()?;
        if capabilities & Capabilities::MYSQL.0 == 0 {
            capabilities |= u64::from(extended) << 32;
        }
        scramble[8..].copy_from_slice(cursor.take(12)?);
        cursor.take(1)?;
        let plugin = match cursor.is_empty() {
            true => String::new(),
            false => String::from_utf8_lossy(cursor.null_terminated()?).into_owned(),
        };
        Ok(Greeting {
            server_version,
            connection_id,
            scramble: Scramble::from_bytes(scramble),
            capabilities: Capabilities(capabilities),
            collation,
            status,
            plugin,
        })
    }
}

/// Length of a TLS request, in bytes: the beginning of a [`HandshakeResponse`], up to the user name.
const TLS_REQUEST: usize = 32;

/// Returns whether a client's first packet is a TLS request (SSLRequest). The TLS handshake follows it, and the
/// [`HandshakeResponse`] comes inside of TLS.
pub fn is_tls_request(payload: &[u8]) -> bool {
    let lower = payload
        .first_chunk::<4>()
        .map_or(0, |bytes| u32::from_le_bytes(*bytes));
    Capabilities(u64::from(lower)).has(Capabilities::SSL | Capabilities::PROTOCOL_41)
}

/// The identity of a client: its answer to the greeting, or `COM_CHANGE_USER`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandshakeResponse {
    /// Capabilities of the client. In `COM_CHANGE_USER`, those from the beginning of the connection.
    pub capabilities: Capabilities,
    /// Maximum length of a packet that the client accepts, in bytes; 0 if it is not stated.
    pub packet_max: u32,
    /// Id of the collation for the connection.
    pub collation: u16,
    /// Name of the user.
    pub user: String,
    /// Answer to the scramble, for the method in `plugin`.
    pub answer: Vec<u8>,
    /// Default database, if there is one.
    pub database: Option<String>,
    /// Authentication method of `answer`; `None` if the client states none.
    pub plugin: Option<String>,
    /// The connection attributes (`_client_name`, `program_name`, …).
    pub attributes: Vec<(String, String)>,
}

impl HandshakeResponse {
    /// Decodes a client's answer to the greeting.
    ///
    /// # Errors
    /// [`WireError::BadHandshake`] (1043) for the protocol before 4.1 and for any malformed packet, including an
    /// unexpected TLS request ([`is_tls_request`]).
    pub fn decode(payload: &[u8]) -> WireResult<HandshakeResponse> {
        Self::decode_response(payload).map_err(|_| WireError::BadHandshake)
    }

    fn decode_response(payload: &[u8]) -> WireResult<HandshakeResponse> {
        let mut cursor = Cursor::new(payload, "handshake response");
        let lower = cursor.u32()?;
        let mut capabilities = u64::from(lower);
        if !Capabilities(capabilities).has(Capabilities::PROTOCOL_41) {
            return Err(WireError::BadHandshake);
        }
        let packet_max = cursor.u32()?;
        let collation = u16::from(cursor.u8()?);
        cursor.take(19)?;
        let extended = cursor.u32()?;
        if capabilities & Capabilities::MYSQL.0 == 0 {
            capabilities |= u64::from(extended) << 32;
        }
        let capabilities = Capabilities(capabilities);
        let user = utf8(cursor.null_terminated()?);
        let answer = if capabilities.has(Capabilities::PLUGIN_AUTH_LENENC) {
            cursor.lenenc_bytes()?
        } else if capabilities.has(Capabilities::SECURE_CONNECTION) {
            let length = cursor.u8()?;
            cursor.take(usize::from(length))?
        } else {
            cursor.null_terminated()?
        };
        let answer = answer.to_vec();
        // Some clients set the flag and send no name.
        let database = match capabilities.has(Capabilities::CONNECT_WITH_DB) && !cursor.is_empty() {
            true => Some(utf8(cursor.null_terminated()?)).filter(|name| !name.is_empty()),
            false => None,
        };
        let plugin = match capabilities.has(Capabilities::PLUGIN_AUTH) && !cursor.is_empty() {
            true => Some(utf8(cursor.null_terminated()?)),
            false => None,
        };
        let attributes = decode_attributes(&mut cursor, capabilities)?;
        Ok(HandshakeResponse {
            capabilities,
            packet_max,
            collation,
            user,
            answer,
            database,
            plugin,
            attributes,
        })
    }

    /// Decodes the payload of `COM_CHANGE_USER` after the command byte, from a client with these `capabilities`.
    pub fn decode_change_user(payload: &[u8], capabilities: Capabilities) -> WireResult<HandshakeResponse> {
        let mut cursor = Cursor::new(payload, "COM_CHANGE_USER");
        let user = utf8(cursor.null_terminated()?);
        let length = cursor.u8()?;
        let answer = cursor.take(usize::from(length))?.to_vec();
        let database = Some(utf8(cursor.null_terminated()?)).filter(|name| !name.is_empty());
        let collation = if cursor.is_empty() { 0 } else { cursor.u16()? };
        let plugin = match capabilities.has(Capabilities::PLUGIN_AUTH) && !cursor.is_empty() {
            true => Some(utf8(cursor.null_terminated()?)),
            false => None,
        };
        let attributes = decode_attributes(&mut cursor, capabilities)?;
        Ok(HandshakeResponse {
            capabilities,
            packet_max: 0,
            collation,
            user,
            answer,
            database,
            plugin,
            attributes,
        })
    }

    /// Appends a TLS request. The login itself follows inside of TLS, with the same flags.
    pub fn encode_tls_request(&self, out: &mut Vec<u8>) {
        let at = out.len();
        self.encode(out);
        out.truncate(at + TLS_REQUEST);
    }

    /// Appends the answer to a greeting.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.capabilities.lower().to_le_bytes());
        out.extend_from_slice(&self.packet_max.to_le_bytes());
        out.push(self.collation.min(255) as u8);
        out.extend_from_slice(&[0; 19]);
        out.extend_from_slice(&self.capabilities.extended().to_le_bytes());
        put_null_terminated(out, self.user.as_bytes());
        if self.capabilities.has(Capabilities::PLUGIN_AUTH_LENENC) {
            put_lenenc_bytes(out, &self.answer);
        } else {
            out.push(self.answer.len() as u8);
            out.extend_from_slice(&self.answer);
        }
        if self.capabilities.has(Capabilities::CONNECT_WITH_DB) {
            put_null_terminated(out, self.database.as_deref().unwrap_or("").as_bytes());
        }
        if self.capabilities.has(Capabilities::PLUGIN_AUTH) {
            put_null_terminated(out, self.plugin.as_deref().unwrap_or("").as_bytes());
        }
        self.encode_attributes(out);
    }

    /// Appends `COM_CHANGE_USER` with its command byte.
    pub fn encode_change_user(&self, out: &mut Vec<u8>) {
        out.push(crate::command::COM_CHANGE_USER);
        put_null_terminated(out, self.user.as_bytes());
        out.push(self.answer.len() as u8);
        out.extend_from_slice(&self.answer);
        put_null_terminated(out, self.database.as_deref().unwrap_or("").as_bytes());
        out.extend_from_slice(&self.collation.to_le_bytes());
        if self.capabilities.has(Capabilities::PLUGIN_AUTH) {
            put_null_terminated(out, self.plugin.as_deref().unwrap_or("").as_bytes());
        }
        self.encode_attributes(out);
    }

    fn encode_attributes(&self, out: &mut Vec<u8>) {
        if self.capabilities.has(Capabilities::CONNECT_ATTRS) {
            let mut attributes = vec![];
            for (name, value) in &self.attributes {
                put_lenenc_bytes(&mut attributes, name.as_bytes());
                put_lenenc_bytes(&mut attributes, value.as_bytes());
            }
            put_lenenc_int(out, attributes.len() as u64);
            out.extend_from_slice(&attributes);
        }
    }
}

fn decode_attributes(
    cursor: &mut Cursor<'_>,
    capabilities: Capabilities,
) -> WireResult<Vec<(String, String)>> {
    let mut attributes = vec![];
    if !capabilities.has(Capabilities::CONNECT_ATTRS) || cursor.is_empty() {
        return Ok(attributes);
    }
    let all = cursor.lenenc_bytes()?;
    if all.len() > ATTRIBUTES_MAX {
        return Ok(attributes);
    }
    let mut cursor = Cursor::new(all, "connection attributes");
    while !cursor.is_empty() {
        let name = utf8(cursor.lenenc_bytes()?);
        attributes.push((name, utf8(cursor.lenenc_bytes()?)));
    }
    Ok(attributes)
}

fn utf8(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Appends the server's request to authenticate by `plugin` instead, with a scramble. The client's answer is a packet
/// that contains only the answer to the scramble.
pub fn encode_authentication_switch(out: &mut Vec<u8>, plugin: &str, scramble: &Scramble) {
    encode_authentication_request(out, plugin, scramble.bytes());
    out.push(0);
}

/// Appends such a request for a method that needs other data than a scramble.
pub fn encode_authentication_request(out: &mut Vec<u8>, plugin: &str, data: &[u8]) {
    out.push(0xFE);
    put_null_terminated(out, plugin.as_bytes());
    out.extend_from_slice(data);
}

/// Decodes such a request, without its first byte: the method's name and its data.
///
/// # Errors
/// [`WireError::Malformed`] if the name does not end.
pub fn decode_authentication_request(payload: &[u8]) -> WireResult<(String, &[u8])> {
    let mut cursor = Cursor::new(payload, "authentication switch");
    let plugin = utf8(cursor.null_terminated()?);
    Ok((plugin, cursor.remaining()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mysql_common::constants::CapabilityFlags;
    use mysql_common::io::ParseBuf;
    use mysql_common::packets::HandshakePacket;
    use mysql_common::proto::MyDeserialize;

    fn login() -> HandshakeResponse {
        HandshakeResponse {
            capabilities: Capabilities::CLIENT | Capabilities::CONNECT_WITH_DB,
            packet_max: 1 << 24,
            collation: 45,
            user: "sb".into(),
            answer: vec![7; 20],
            database: Some("sbtest".into()),
            plugin: Some("mysql_native_password".into()),
            attributes: vec![
                ("_client_name".into(), "test".into()),
                ("program_name".into(), "x".repeat(300)),
            ],
        }
    }

    #[test]
    fn a_greeting_is_understood_by_another_implementation() {
        let greeting = Greeting {
            server_version: "5.5.5-10.11.19-MariaDB-paceline".into(),
            connection_id: 77,
            scramble: Scramble::random(),
            capabilities: Capabilities::SERVER,
            collation: 45,
            status: 2,
            plugin: "mysql_native_password".into(),
        };
        let mut out = vec![];
        greeting.encode(&mut out);
        assert_eq!(Greeting::decode(&out).unwrap(), greeting);
        let theirs = HandshakePacket::deserialize((), &mut ParseBuf(&out)).unwrap();
        assert_eq!(theirs.connection_id(), 77);
        assert_eq!(theirs.server_version_ref(), b"5.5.5-10.11.19-MariaDB-paceline");
        assert!(
            theirs
                .capabilities()
                .contains(CapabilityFlags::CLIENT_DEPRECATE_EOF)
        );
        assert!(!theirs.capabilities().contains(CapabilityFlags::CLIENT_SSL));
        let mut nonce = theirs.nonce();
        nonce.truncate(20);
        assert_eq!(nonce, greeting.scramble.bytes());
        assert_eq!(theirs.auth_plugin_name_ref(), Some(&b"mysql_native_password"[..]));
    }

    /// The greeting of a MariaDB 10.11 server.
    #[test]
    fn mariadbs_greeting_is_decoded() {
        let payload = b"\n5.5.5-10.11.19-MariaDB-0+deb12u1-log\x00\x05\x00\x00\x00!;C!x[>a\x00\xfe\xf7\x08\x02\x00\xff\x81\x15\x00\x00\x00\x00\x00\x00\x1d\x00\x00\x00QQ$]+Yba>Sd}\x00mysql_native_password\x00";
        let greeting = Greeting::decode(payload).unwrap();
        assert_eq!(greeting.connection_id, 5);
        assert_eq!(greeting.capabilities.0, 0x1d_81ff_f7fe);
        let mut again = vec![];
        greeting.encode(&mut again);
        assert_eq!(again, payload);
        // Our capabilities are a subset of MariaDB's.
        assert!(greeting.capabilities.has(Capabilities::SERVER));
    }

    #[test]
    fn logins_round_trip() {
        let login = login();
        let mut out = vec![];
        login.encode(&mut out);
        assert_eq!(HandshakeResponse::decode(&out).unwrap(), login);
        let mut out = vec![];
        login.encode_change_user(&mut out);
        let changed = HandshakeResponse::decode_change_user(&out[1..], login.capabilities).unwrap();
        assert_eq!(
            changed,
            HandshakeResponse {
                packet_max: 0,
                ..login
            }
        );
    }

    #[test]
    fn a_tls_request_is_the_beginning_of_a_login() {
        let login = HandshakeResponse {
            capabilities: login().capabilities | Capabilities::SSL,
            ..login()
        };
        let (mut request, mut whole) = (vec![], vec![]);
        login.encode_tls_request(&mut request);
        login.encode(&mut whole);
        assert_eq!(request, whole[..32]);
        assert!(is_tls_request(&request));
        assert!(HandshakeResponse::decode(&request).is_err());
        // Truncated, or for the protocol before 4.1.
        assert!(!is_tls_request(&request[..3]));
        assert!(!is_tls_request(&(Capabilities::SSL.0 as u32).to_le_bytes()));
    }

    #[test]
    fn a_truncated_login_is_refused_or_is_a_shorter_login() {
        let login = login();
        let mut out = vec![];
        login.encode(&mut out);
        for length in 0..out.len() {
            if let Ok(shorter) = HandshakeResponse::decode(&out[..length]) {
                assert!(shorter.attributes.is_empty());
            }
        }
        assert!(matches!(
            HandshakeResponse::decode(b"\x05\x00\x00\x00\x00old"),
            Err(WireError::BadHandshake)
        ));
    }
}
