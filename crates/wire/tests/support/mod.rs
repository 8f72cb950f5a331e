//! The beginning of every test server.

use paceline_wire::authentication::{NATIVE_PASSWORD, Scramble};
use paceline_wire::framing::{PacketReader, PacketWriter};
use paceline_wire::handshake::Greeting;
use paceline_wire::socket::Socket;
use paceline_wire::{Capabilities, WireResult};

/// Greets a connected client. Returns the reader and the writer for its answer, and the scramble that it was sent.
pub async fn greet(
    socket: &mut Socket,
    capabilities: Capabilities,
) -> WireResult<(PacketReader, PacketWriter, Scramble)> {
    let mut reader = PacketReader::new(1 << 25);
    let mut writer = PacketWriter::new();
    let scramble = Scramble::random();
    Greeting {
        server_version: "5.5.5-10.11.19-MariaDB".into(),
        connection_id: 1,
        scramble,
        capabilities,
        collation: 45,
        status: 2,
        plugin: NATIVE_PASSWORD.into(),
    }
    .encode(writer.begin());
    writer.end();
    writer.flush(socket).await?;
    reader.set_sequence(writer.sequence());
    Ok((reader, writer, scramble))
}
