//! The archive's HTTP address (`--http-address`).
//!
//! | path | answer |
//! |---|---|
//! | `/metrics` | the statistics in Prometheus' text format |
//! | `/health` | 200 while the process answers, also while it opens its log |
//! | `/ready` | 200 if replicas can connect; 503 while the archive starts or stops |
//!
//! Access, TLS and limits are those of every endpoint ([`paceline_http_endpoint`]), so also a server's.

use crate::archive::Archive;
use crate::error::{Error, Result};
use crate::options::ArchiveOptions;
use crate::statistics::exposition;
use hyper::body::Incoming;
use paceline_http_endpoint::{
    Answer, EXPOSITION_MEDIA_TYPE, Endpoint, EndpointOptions, Method, Request, Requester, Site, StatusCode,
    only_methods, refused, respond, text,
};
use paceline_wire::tls::{ServerTls, TlsParameters};
use parking_lot::Mutex;
use std::sync::Arc;

/// The HTTP server, which ends when this is dropped.
pub struct Http {
    site: Arc<ArchiveSite>,
    endpoint: Endpoint,
}

/// Phase of the archive's life.
#[derive(Clone)]
enum Phase {
    /// It opens its log.
    Starting,
    /// It accepts replicas.
    Running(Arc<Archive>),
    /// It writes what it has received.
    Stopping,
}

struct ArchiveSite {
    phase: Mutex<Phase>,
}

impl Site for ArchiveSite {
    async fn answer(&self, request: Request<Incoming>, from: Requester<'_>) -> Answer {
        let phase = self.phase.lock().clone();
        let path = request.uri().path();
        if !matches!(path, "/metrics" | "/health" | "/ready") {
            return text(StatusCode::NOT_FOUND, "there is nothing here");
        }
        if request.method() != Method::GET && request.method() != Method::HEAD {
            return only_methods("GET, HEAD");
        }
        if path == "/health" {
            return text(StatusCode::OK, phase.name());
        }
        match (path, phase) {
            ("/ready", Phase::Running(_)) => text(StatusCode::OK, "ready"),
            ("/ready", phase) => text(StatusCode::SERVICE_UNAVAILABLE, phase.name()),
            (_, phase) => match (from.access.check(request.headers()), phase) {
                (Err(refusal), _) => refused(refusal),
                (Ok(()), Phase::Running(archive)) => {
                    respond(StatusCode::OK, EXPOSITION_MEDIA_TYPE, exposition(&archive))
                }
                (Ok(()), phase) => text(StatusCode::SERVICE_UNAVAILABLE, phase.name()),
            },
        }
    }
}

impl Phase {
    fn name(&self) -> &'static str {
        match self {
            Phase::Starting => "starting",
            Phase::Running(_) => "running",
            Phase::Stopping => "stopping",
        }
    }
}

impl Http {
    /// Begins to listen if the archive has an HTTP address, and logs it. TLS is that for clients of the archive.
    ///
    /// # Errors
    /// Those of [`Endpoint::start`], as [`Error::Option`].
    pub async fn start(options: &ArchiveOptions) -> Result<Option<Http>> {
        let Some(endpoint) = &options.http else {
            return Ok(None);
        };
        let http = Self::listen(endpoint, options.tls.as_ref())
            .await
            .map_err(Error::Option)?;
        tracing::info!("statistics and probes: {}", http.endpoint.url());
        Ok(Some(http))
    }

    async fn listen(
        options: &EndpointOptions,
        tls: Option<&TlsParameters>,
    ) -> std::result::Result<Http, String> {
        let site = Arc::new(ArchiveSite {
            phase: Mutex::new(Phase::Starting),
        });
        let endpoint = match tls {
            Some(tls) => {
                let make_tls = || ServerTls::new(tls).map_err(|error| error.to_string());
                Endpoint::start(options, Some(&make_tls), site.clone()).await?
            }
            None => Endpoint::start(options, None, site.clone()).await?,
        };
        Ok(Http { site, endpoint })
    }

    /// Records that the archive accepts replicas.
    pub fn running(&self, archive: &Arc<Archive>) {
        *self.site.phase.lock() = Phase::Running(archive.clone());
    }

    /// Records that the archive is shutting down.
    pub fn stopping(&self) {
        *self.site.phase.lock() = Phase::Stopping;
    }
}
