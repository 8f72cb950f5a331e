//! Clients behind a proxy. The PROXY header has the client's address. The server uses it to choose the account, and
//! shows it in the process list.

use crate::accounts::ClientHost;
use crate::session::{Phase, Session};
use crate::variables::Variable;
use paceline_syntax::Error;
use paceline_types::error_code::*;
use paceline_wire::WireResult;
use paceline_wire::proxy_header::{ProxiedClient, ProxyHeader, ProxyNetworks};

/// Outcome of the PROXY header of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Proxied {
    /// The login continues, perhaps with another address.
    Accepted,
    /// The client has got an error, and the session is closing.
    Refused,
}

impl Session {
    /// Reads the PROXY header that precedes the client's first packet, if there is one. A second one is a malformed
    /// packet: it could be from a client that forges its address. (MariaDB accepts it.)
    ///
    /// # Errors
    /// Protocol errors.
    pub(super) async fn heed_proxy_header(&mut self) -> WireResult<Proxied> {
        let connection = &mut self.connection;
        let header = loop {
            match ProxyHeader::read(connection.reader.unread()) {
                ProxyHeader::Incomplete => connection.reader.receive_more(&mut connection.socket).await?,
                header => break header,
            }
        };
        let (client, length) = match header {
            ProxyHeader::Absent | ProxyHeader::Incomplete => return Ok(Proxied::Accepted),
            _ if !self.accepts_proxy_headers() => {
                let from = (self.client.address).map_or("(null)".to_owned(), |address| address.to_string());
                let message = format!("Proxy header is not accepted from {from}");
                return self.refuse_proxied(ER_HOST_NOT_PRIVILEGED, message).await;
            }
            ProxyHeader::Malformed => {
                let message = "Failed to parse proxy header".to_owned();
                return self.refuse_proxied(ER_UNKNOWN_ERROR, message).await;
            }
            ProxyHeader::Complete(client, length) => (client, length),
        };
        self.connection.reader.skip(length);
        // Also a client without an address is not the proxy: the identity of the proxy's process is not the client's.
        self.is_proxied = true;
        let host = match client {
            ProxiedClient::Proxy => return Ok(Proxied::Accepted),
            ProxiedClient::Local => {
                self.client = ClientHost::local();
                self.client.name.clone()
            }
            ProxiedClient::Address(address) => {
                self.client = self.state.server.client_host(address.ip());
                format!("{}:{}", self.client.name, address.port())
            }
        };
        self.state.shared.update(|activity| activity.host = host);
        let errors_max = self.state.server.globals.number(Variable::MaxConnectErrors);
        let host_errors = &self.state.server.host_errors;
        match host_errors.is_blocked(self.client.address, errors_max) {
            false => Ok(Proxied::Accepted),
            true => {
                let message = ER_HOST_IS_BLOCKED.message(&[&self.client.name]);
                self.refuse_proxied(ER_HOST_IS_BLOCKED, message).await
            }
        }
    }

    /// Returns whether `proxy_protocol_networks` has the address from which the connection comes.
    fn accepts_proxy_headers(&self) -> bool {
        let networks = self.state.server.globals.get(Variable::ProxyProtocolNetworks);
        let peer = self.connection.socket.peer_address();
        match networks.as_str() {
            "" => false,
            text => ProxyNetworks::parse(text)
                .is_ok_and(|networks| networks.contain(peer.map(|address| address.ip()))),
        }
    }

    async fn refuse_proxied(
        &mut self,
        code: paceline_types::ErrorCode,
        message: String,
    ) -> WireResult<Proxied> {
        tracing::warn!("connection {}: {message}", self.state.shared.id);
        // The packet answers the client's first one, which is still unread.
        let sequence = self.connection.writer.sequence().wrapping_add(1);
        self.connection.writer.set_sequence(sequence);
        self.replies().error(&Error::with_message(code, message));
        self.connection.flush().await?;
        self.phase = Phase::Closing;
        Ok(Proxied::Refused)
    }
}
