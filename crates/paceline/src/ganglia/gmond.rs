//! A gmond that receives values over UDP.

use super::error::{Error, Result};
use super::module::Reading;
use super::packet;
use paceline_wire::{AddressError, TcpAddress};
use std::io::{self, ErrorKind};
use tokio::net::UdpSocket;

/// Number of intervals after which gmond forgets a value that was not sent again.
const EXPIRY_INTERVALS: u32 = 4;
/// Default port.
const PORT: u16 = 8649;

/// Parses the address of a gmond.
///
/// # Errors
/// [`AddressError`].
pub fn address(text: &str) -> Result<TcpAddress, AddressError> {
    TcpAddress::with_default_port(text, PORT)
}

/// A socket that is connected to a gmond.
pub struct Gmond {
    socket: UdpSocket,
    interval_seconds: u32,
}

impl Gmond {
    /// Looks the address up and opens a socket.
    ///
    /// # Errors
    /// [`Error::Gmond`] if the name has no address, or one to which there is no route.
    pub async fn open(address: &TcpAddress, interval_seconds: u32) -> Result<Gmond> {
        let cannot = |error: io::Error| Error::Gmond(address.clone(), error);
        let host = (address.host.as_str(), address.port);
        let mut found = tokio::net::lookup_host(host).await.map_err(cannot)?;
        let no_address = || cannot(io::Error::other("the name has no address"));
        let target = found.next().ok_or_else(no_address)?;
        let own = match target.is_ipv4() {
            true => "0.0.0.0:0",
            false => "[::]:0",
        };
        let socket = UdpSocket::bind(own).await.map_err(cannot)?;
        socket.connect(target).await.map_err(cannot)?;
        Ok(Gmond {
            socket,
            interval_seconds,
        })
    }

    /// Sends a value with its description. A gmond that is not there shows only on some later packet, and may return,
    /// so a refused packet is not an error.
    ///
    /// # Errors
    /// [`Error::Send`].
    pub async fn send(&self, reading: &Reading, value: f64) -> Result<()> {
        let maximum_age = self.interval_seconds * EXPIRY_INTERVALS;
        for packet in packet::packets(reading, value, self.interval_seconds, maximum_age) {
            match self.socket.send(&packet).await {
                Err(error) if error.kind() != ErrorKind::ConnectionRefused => return Err(Error::Send(error)),
                _ => {}
            }
        }
        Ok(())
    }
}
