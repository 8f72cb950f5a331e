//! Accepts clients and starts a session for each.

use super::session::{Session, refuse};
use crate::archive::Archive;
use crate::clients::Admission;
use paceline_wire::listener::Listener;
use paceline_wire::socket::Socket;
use std::sync::Arc;

/// Accepts clients until the archive stops.
pub async fn serve(listener: &Listener, archive: &Arc<Archive>) {
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = archive.context.stop_requested() => return,
        };
        match accepted {
            Ok((socket, address)) => {
                let host = address.map_or("localhost".to_owned(), |address| address.ip().to_string());
                begin(archive, socket, host);
            }
            Err(error) => {
                tracing::warn!("a connection could not be accepted: {error}");
                tokio::time::sleep(Listener::PAUSE).await;
            }
        }
    }
}

fn begin(archive: &Arc<Archive>, socket: Socket, host: String) {
    let handle = match socket.handle() {
        Ok(handle) => handle,
        Err(error) => {
            tracing::warn!("a connection could not be kept: {error}");
            return;
        }
    };
    match archive.sessions.add(handle, host) {
        Admission::Admitted(client) => {
            tokio::spawn(Session::new(archive.clone(), client, socket).run());
        }
        Admission::Full(_) => {
            tokio::spawn(refuse(socket));
        }
    }
}
