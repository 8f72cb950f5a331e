//! Makes a member's [`JoinRequest`], while the member runs and however long etcd is away. A task of the start alone
//! ended when the tables were opened.

use crate::commands::{self, CommandError};
use crate::etcd::Store;
use crate::join_file::JoinRequest;
use crate::register::{KindText, MemberEntry};
use std::sync::Arc;
use std::time::Duration;

/// Time between two attempts.
const PAUSE: Duration = Duration::from_millis(500);

/// Asks to become a log holder until etcd has it. A server founds the cluster if there is none.
pub(crate) async fn join(request: JoinRequest, store: Arc<Store>, entry: MemberEntry) {
    let mut told = String::new();
    while let Err(error) = try_join(&store, &entry).await {
        let text = error.to_string();
        if text != told {
            tracing::warn!("cluster: this member cannot be entered: {text}");
            told = text;
        }
        tokio::time::sleep(PAUSE).await;
    }
    request.end();
}

async fn try_join(store: &Store, entry: &MemberEntry) -> Result<(), CommandError> {
    if entry.kind == KindText::Server {
        store.found(entry).await?;
    }
    store.enter(entry).await?;
    commands::add(store, entry.member()).await.map(drop)
}
