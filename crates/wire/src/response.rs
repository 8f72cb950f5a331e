//! The short answers: OK, EOF and ERR packets.

use std::borrow::Cow;

use crate::bytes::{Cursor, put_lenenc_bytes, put_lenenc_int};
use crate::capability::Capabilities;
use crate::error::{WireError, WireResult};
use crate::framing::PacketWriter;
use crate::session_state::StateChange;

/// Status flags in every OK and EOF packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Status(pub u16);

impl Status {
    /// A transaction is open.
    pub const IN_TRANSACTION: Status = Status(0x0001);
    /// `autocommit` is on.
    pub const AUTOCOMMIT: Status = Status(0x0002);
    /// Another result follows.
    pub const MORE_RESULTS: Status = Status(0x0008);
    /// No index was used.
    pub const NO_INDEX_USED: Status = Status(0x0020);
    /// A cursor was opened.
    pub const CURSOR_EXISTS: Status = Status(0x0040);
    /// The cursor has no more rows.
    pub const LAST_ROW_SENT: Status = Status(0x0080);
    /// A database was dropped.
    pub const DATABASE_DROPPED: Status = Status(0x0100);
    /// sql_mode has NO_BACKSLASH_ESCAPES.
    pub const NO_BACKSLASH_ESCAPES: Status = Status(0x0200);
    /// The columns of a prepared statement have changed since it was prepared.
    pub const METADATA_CHANGED: Status = Status(0x0400);
    /// `SERVER_PS_OUT_PARAMS`: the result set has the values of a procedure's OUT parameters.
    pub const PS_OUT_PARAMS: Status = Status(0x1000);
    /// The open transaction is read only.
    pub const IN_READ_ONLY_TRANSACTION: Status = Status(0x2000);
    /// Changes of the session's state follow.
    pub const STATE_CHANGED: Status = Status(0x4000);
    /// sql_mode has ANSI_QUOTES (MariaDB).
    pub const ANSI_QUOTES: Status = Status(0x8000);

    /// Returns whether all flags of `other` are set.
    pub const fn has(self, other: Status) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns the union of both sets.
    #[must_use]
    pub const fn with(self, other: Status) -> Status {
        Status(self.0 | other.0)
    }

    /// Returns this set without the flags of `other`.
    #[must_use]
    pub const fn without(self, other: Status) -> Status {
        Status(self.0 & !other.0)
    }
}

/// Content of an OK packet.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OkPacket<'a> {
    /// Number of rows changed, inserted or deleted.
    pub affected_rows: u64,
    /// First AUTO_INCREMENT value that was generated.
    pub last_insert_id: u64,
    /// The status flags.
    pub status: Status,
    /// Number of warnings.
    pub warnings: u16,
    /// Information such as `Rows matched: 1  Changed: 1  Warnings: 0`; may be empty.
    pub info: &'a str,
    /// Encoded [`StateChange`]s; sent if the client has requested session tracking.
    pub state: &'a [u8],
}

/// Kind of reply that an OK packet ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OkKind {
    /// A command without a result set.
    Command,
    /// The end of a result set, for clients with `CLIENT_DEPRECATE_EOF`.
    EndOfRows,
}

impl OkPacket<'_> {
    /// Writes the packet.
    pub fn write(&self, writer: &mut PacketWriter, kind: OkKind, capabilities: Capabilities) {
        let track = !self.state.is_empty() && capabilities.has(Capabilities::SESSION_TRACK);
        let status = if track {
            self.status.with(Status::STATE_CHANGED)
        } else {
            self.status
        };
        let out = writer.begin();
        out.push(match kind {
            OkKind::Command => 0,
            OkKind::EndOfRows => 0xFE,
        });
        put_lenenc_int(out, self.affected_rows);
        put_lenenc_int(out, self.last_insert_id);
        out.extend_from_slice(&status.0.to_le_bytes());
        out.extend_from_slice(&self.warnings.to_le_bytes());
        if track || !self.info.is_empty() {
            put_lenenc_bytes(out, self.info.as_bytes());
        }
        if track {
            put_lenenc_bytes(out, self.state);
        }
        writer.end();
    }
}

/// Writes the end of the rows of a result set: an EOF packet, or an OK packet for clients with `CLIENT_DEPRECATE_EOF`.
pub fn write_end_of_rows(writer: &mut PacketWriter, ok: &OkPacket<'_>, capabilities: Capabilities) {
    if capabilities.has(Capabilities::DEPRECATE_EOF) {
        ok.write(writer, OkKind::EndOfRows, capabilities);
    } else {
        write_eof(writer, ok.warnings, ok.status);
    }
}

/// Writes the EOF packet between columns and rows; nothing for clients with `CLIENT_DEPRECATE_EOF`.
#[inline]
pub fn write_end_of_columns(writer: &mut PacketWriter, status: Status, capabilities: Capabilities) {
    if !capabilities.has(Capabilities::DEPRECATE_EOF) {
        write_eof(writer, 0, status);
    }
}

/// Writes an EOF packet.
pub fn write_eof(writer: &mut PacketWriter, warnings: u16, status: Status) {
    let out = writer.begin();
    out.push(0xFE);
    out.extend_from_slice(&warnings.to_le_bytes());
    out.extend_from_slice(&status.0.to_le_bytes());
    writer.end();
}

/// Maximum length of the message in an ERR packet, in bytes (MYSQL_ERRMSG_SIZE).
const MESSAGE_MAX: usize = 512;

/// Writes an ERR packet: MariaDB's error number, SQLSTATE, and at most 512 bytes of the message.
pub fn write_error(writer: &mut PacketWriter, code: u16, sqlstate: &str, message: &str) {
    write_error_in(writer, code, sqlstate, message, &|message| {
        Cow::Borrowed(message.as_bytes())
    });
}

/// Writes an ERR packet with the message as `encoded` makes it.
pub fn write_error_in(
    writer: &mut PacketWriter,
    code: u16,
    sqlstate: &str,
    message: &str,
    encoded: &dyn Fn(&str) -> Cow<'_, [u8]>,
) {
    debug_assert_eq!(sqlstate.len(), 5, "SQLSTATE has five characters: {sqlstate:?}");
    write_error_packet(writer, code, &["#", sqlstate], message, encoded);
}

/// Writes an ERR packet without SQLSTATE, for a client that has not yet said which protocol it uses.
pub fn write_early_error(writer: &mut PacketWriter, code: u16, message: &str) {
    write_error_packet(writer, code, &[], message, &|message| {
        Cow::Borrowed(message.as_bytes())
    });
}

fn write_error_packet(
    writer: &mut PacketWriter,
    code: u16,
    state: &[&str],
    message: &str,
    encoded: &dyn Fn(&str) -> Cow<'_, [u8]>,
) {
    let mut end = message.len().min(MESSAGE_MAX);
    while !message.is_char_boundary(end) {
        end -= 1;
    }
    let out = writer.begin();
    out.push(0xFF);
    out.extend_from_slice(&code.to_le_bytes());
    for part in state {
        out.extend_from_slice(part.as_bytes());
    }
    out.extend_from_slice(&encoded(&message[..end]));
    writer.end();
}

/// An OK packet that a client has received.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReceivedOk {
    /// Number of rows changed, inserted or deleted.
    pub affected_rows: u64,
    /// First AUTO_INCREMENT value that was generated.
    pub last_insert_id: u64,
    /// The status flags.
    pub status: Status,
    /// Number of warnings.
    pub warnings: u16,
    /// The information text.
    pub info: String,
    /// Changes of the session's state.
    pub state: Vec<StateChange>,
}

impl ReceivedOk {
    /// Decodes an OK packet (also one with header 0xFE) or an EOF packet.
    pub fn decode(payload: &[u8], capabilities: Capabilities) -> WireResult<ReceivedOk> {
        let mut cursor = Cursor::new(payload, "OK packet");
        let header = cursor.u8()?;
        if header == 0xFE && !capabilities.has(Capabilities::DEPRECATE_EOF) {
            let warnings = cursor.u16()?;
            return Ok(ReceivedOk {
                warnings,
                status: Status(cursor.u16()?),
                ..ReceivedOk::default()
            });
        }
        let affected_rows = cursor.lenenc_int()?;
        let last_insert_id = cursor.lenenc_int()?;
        let status = Status(cursor.u16()?);
        let warnings = cursor.u16()?;
        let mut ok = ReceivedOk {
            affected_rows,
            last_insert_id,
            status,
            warnings,
            ..ReceivedOk::default()
        };
        if !cursor.is_empty() {
            ok.info = cursor.lenenc_text()?;
        }
        if status.has(Status::STATE_CHANGED) && !cursor.is_empty() {
            ok.state = StateChange::decode_all(cursor.lenenc_bytes()?)?;
        }
        Ok(ok)
    }
}

/// Decodes an ERR packet into [`WireError::Server`].
pub fn decode_error(payload: &[u8]) -> WireError {
    let mut cursor = Cursor::new(payload, "ERR packet");
    let (Ok(_), Ok(code)) = (cursor.u8(), cursor.u16()) else {
        return cursor.malformed();
    };
    let mut sqlstate = String::from("HY000");
    let mut rest = cursor.remaining();
    if rest.len() >= 6 && rest[0] == b'#' {
        sqlstate = String::from_utf8_lossy(&rest[1..6]).into_owned();
        rest = &rest[6..];
    }
    WireError::Server {
        code,
        sqlstate,
        message: String::from_utf8_lossy(rest).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ok_packets_round_trip() {
        let mut state = vec![];
        StateChange::Schema("d".into()).encode(&mut state);
        let ok = OkPacket {
            affected_rows: 300,
            last_insert_id: 70_000,
            status: Status::AUTOCOMMIT,
            warnings: 3,
            info: "Records: 2",
            state: &state,
        };
        for kind in [OkKind::Command, OkKind::EndOfRows] {
            let mut writer = PacketWriter::new();
            ok.write(&mut writer, kind, Capabilities::CLIENT);
            let received = ReceivedOk::decode(&writer.bytes()[4..], Capabilities::CLIENT).unwrap();
            assert_eq!(received.affected_rows, 300);
            assert_eq!(received.last_insert_id, 70_000);
            assert_eq!(received.info, "Records: 2");
            assert_eq!(received.status, Status::AUTOCOMMIT.with(Status::STATE_CHANGED));
            assert_eq!(received.state, [StateChange::Schema("d".into())]);
        }
    }

    #[test]
    fn session_state_is_only_sent_on_request() {
        let mut writer = PacketWriter::new();
        OkPacket {
            state: b"\x01\x02\x01d",
            ..OkPacket::default()
        }
        .write(&mut writer, OkKind::Command, Capabilities::PROTOCOL_41);
        assert_eq!(writer.bytes(), [7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn a_long_message_is_cut_between_characters() {
        let mut writer = PacketWriter::new();
        write_error(&mut writer, 1064, "42000", &"é".repeat(400));
        let WireError::Server {
            code,
            sqlstate,
            message,
        } = decode_error(&writer.bytes()[4..])
        else {
            panic!()
        };
        assert_eq!((code, sqlstate.as_str(), message.len()), (1064, "42000", 512));
    }
}
