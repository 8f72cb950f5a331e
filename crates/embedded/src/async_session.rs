//! Sessions for asynchronous programs.

use crate::error::Result;
use crate::session::Session;
use paceline_server::embedded::EmbeddedServer;
use std::sync::Arc;

/// A session whose calls do not block the program's runtime: they run on the server's threads. The futures may be
/// awaited in any runtime.
///
/// ```
/// # use paceline_embedded::{Database, Options};
/// # let directory = tempfile::tempdir()?;
/// # let database = Database::open(directory.path(), Options::new())?;
/// # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
/// # runtime.block_on(async {
/// let mut session = database.async_session()?;
/// session.call(|session| session.execute("CREATE DATABASE music", ())).await?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct AsyncSession {
    /// `None` while a call runs, and after one was dropped or has panicked.
    session: Option<Session>,
    server: Arc<EmbeddedServer>,
}

impl AsyncSession {
    pub(crate) fn new(server: &Arc<EmbeddedServer>) -> Result<AsyncSession> {
        Ok(AsyncSession {
            session: Some(Session::new(server)?),
            server: server.clone(),
        })
    }

    /// Runs a function with the session. Row locks, commits and scans wait on a thread of the server.
    ///
    /// If the future is dropped, the function runs to its end nevertheless, and its session ends with it. The next call
    /// begins another one.
    ///
    /// # Errors
    /// Those of the function, and of a new session.
    pub async fn call<T: Send + 'static>(
        &mut self,
        function: impl FnOnce(&mut Session) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let mut session = match self.session.take() {
            Some(session) => session,
            None => Session::new(&self.server)?,
        };
        let called = self.server.runtime().spawn_blocking(move || {
            let done = function(&mut session);
            (session, done)
        });
        match called.await {
            Ok((session, done)) => {
                self.session = Some(session);
                done
            }
            Err(error) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                Err(error) => Err(crate::Error::Connect(error.to_string())),
            },
        }
    }
}
