//! A connection to a server through a UNIX socket: as much of the protocol as an experiment needs.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;

/// A connection of root, which has no password.
pub struct Connection {
    socket: UnixStream,
    packet: Vec<u8>,
    request: Vec<u8>,
}

/// Capabilities: protocol 4.1, secure connection, plugin authentication.
const CAPABILITIES: u32 = 0x0000_0200 | 0x0000_8000 | 0x0008_0000;
const PACKET_MAX: u32 = 16 << 20;
const UTF8MB4_GENERAL_CI: u8 = 45;
const COM_QUERY: u8 = 3;
const ERROR: u8 = 0xFF;
const SWITCH_OF_AUTHENTICATION: u8 = 0xFE;
const END_OF_ROWS: u8 = 0xFE;
/// Values of this many bytes and more have a longer form of length.
const SHORT_VALUE: u8 = 251;

impl Connection {
    /// Connects and logs in.
    ///
    /// # Errors
    /// Those of the socket, and that of the server as text.
    pub fn open(socket: &Path) -> io::Result<Self> {
        let mut connection = Connection {
            socket: UnixStream::connect(socket)?,
            packet: vec![],
            request: vec![],
        };
        connection.read()?;
        let mut login = vec![];
        login.extend_from_slice(&CAPABILITIES.to_le_bytes());
        login.extend_from_slice(&PACKET_MAX.to_le_bytes());
        login.push(UTF8MB4_GENERAL_CI);
        login.extend_from_slice(&[0; 23]);
        login.extend_from_slice(b"root\0\0mysql_native_password\0");
        connection.write(1, &[&login])?;
        connection.read()?;
        if connection.packet.first() == Some(&SWITCH_OF_AUTHENTICATION) {
            // Whatever the method: there is no password.
            connection.write(3, &[])?;
            connection.read()?;
        }
        Ok(connection)
    }

    /// Executes a statement that returns no rows.
    ///
    /// # Errors
    /// Those of the socket, and that of the server as text.
    pub fn execute(&mut self, statement: &str) -> io::Result<()> {
        self.write(0, &[&[COM_QUERY], statement.as_bytes()])?;
        self.read()
    }

    /// Executes a statement that returns one short value, and returns it.
    ///
    /// # Errors
    /// Those of the socket, that of the server as text, and if the answer is another one.
    pub fn value(&mut self, statement: &str) -> io::Result<String> {
        self.execute(statement)?;
        if self.packet != [1] {
            return Err(io::Error::other(format!("not one column: {statement}")));
        }
        // The column and the end of columns, then the row.
        for _ in 0..3 {
            self.read()?;
        }
        let value = match self.packet.split_first() {
            Some((&length, value)) if length < SHORT_VALUE && value.len() == usize::from(length) => {
                String::from_utf8_lossy(value).into_owned()
            }
            _ => return Err(io::Error::other(format!("no short value: {statement}"))),
        };
        self.read()?;
        match self.packet.first() {
            Some(&END_OF_ROWS) => Ok(value),
            _ => Err(io::Error::other(format!("more than one row: {statement}"))),
        }
    }

    fn write(&mut self, sequence: u8, payload: &[&[u8]]) -> io::Result<()> {
        let length: usize = payload.iter().map(|part| part.len()).sum();
        let mut header = u32::try_from(length).map_err(io::Error::other)?.to_le_bytes();
        header[3] = sequence;
        self.request.clear();
        self.request.extend_from_slice(&header);
        payload
            .iter()
            .for_each(|part| self.request.extend_from_slice(part));
        self.socket.write_all(&self.request)
    }

    /// Reads a packet, which is not the error of the server.
    fn read(&mut self) -> io::Result<()> {
        let mut header = [0; 4];
        self.socket.read_exact(&mut header)?;
        let length = u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize;
        self.packet.resize(length, 0);
        self.socket.read_exact(&mut self.packet)?;
        match self.packet.split_first() {
            Some((&ERROR, error)) => Err(io::Error::other(String::from_utf8_lossy(error).into_owned())),
            Some(_) => Ok(()),
            None => Err(io::Error::other("an empty packet")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixListener;
    use std::thread;

    /// Returns a packet with this payload.
    fn packet(sequence: u8, payload: &[u8]) -> Vec<u8> {
        let length = u8::try_from(payload.len()).unwrap();
        [&[length, 0, 0, sequence], payload].concat()
    }

    #[test]
    fn values_and_errors_of_statements_are_returned() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("s");
        let listener = UnixListener::bind(&path).unwrap();
        let server = thread::spawn(move || {
            let (mut socket, _) = listener.accept().unwrap();
            socket.write_all(&packet(0, b"\x0a5.5.5")).unwrap();
            let mut request = [0; 512];
            assert!(socket.read(&mut request).unwrap() > 0);
            socket
                .write_all(&packet(2, b"\xFEmysql_native_password\0"))
                .unwrap();
            assert_eq!(socket.read(&mut request).unwrap(), 4);
            socket.write_all(&packet(4, &[0; 7])).unwrap();
            let count = socket.read(&mut request).unwrap();
            assert_eq!(request[..count], packet(0, b"\x03DO 1"));
            socket.write_all(&packet(1, &[0; 7])).unwrap();
            assert!(socket.read(&mut request).unwrap() > 0);
            socket.write_all(&packet(1, b"\xFF\x28\x04#42000wrong")).unwrap();
            for rows in [&[&b"\x0242"[..]][..], &[], &[b"\x017", b"\x018"]] {
                assert!(socket.read(&mut request).unwrap() > 0);
                let end = b"\xFE\0\0\x02\0";
                let packets = [&[1][..], b"\x03def", end];
                for payload in packets.iter().chain(rows).chain([&&end[..]]) {
                    socket.write_all(&packet(1, payload)).unwrap();
                }
            }
        });
        let mut connection = Connection::open(&path).unwrap();
        connection.execute("DO 1").unwrap();
        let error = connection.execute("nonsense").unwrap_err();
        assert!(error.to_string().ends_with("wrong"), "{error}");
        assert_eq!(connection.value("SELECT 42").unwrap(), "42");
        let error = connection.value("SELECT no row").unwrap_err();
        assert!(error.to_string().starts_with("no short value"), "{error}");
        let error = connection.value("SELECT two rows").unwrap_err();
        assert!(error.to_string().starts_with("more than one row"), "{error}");
        server.join().unwrap();
    }
}
