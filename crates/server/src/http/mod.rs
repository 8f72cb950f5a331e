//! The HTTP address (`--http-address`): statistics for Prometheus, and probes for load balancers and orchestrators.
//!
//! | path | answer |
//! |---|---|
//! | `/` | the page for people: topology, plots, statements, waits |
//! | `/api/overview`, `/api/statements`, `/api/transactions` | its data as JSON; they change with the page |
//! | `POST /api/kill` | ends a session or its statement, for an account that may: [`kill`] |
//! | `/metrics` | the statistics in Prometheus' text format |
//! | `/health` | 200 while the process answers, also during a long recovery |
//! | `/ready` | 200 if clients can connect; 503 while the server starts or stops |
//! | `/primary` | 200 if clients can write here; else 503 |
//! | `/replica?max_lag=SECONDS` | 200 if this is a replica whose receiver and applier run, at most so far behind; else 503 |
//!
//! The listener begins before recovery, because recovery may take long: an orchestrator has to see a server that is
//! alive and not ready yet, instead of one that is dead. `Phase` says how far the server is.
//!
//! Access, TLS and limits are those of every endpoint ([`paceline_http_endpoint`]). The page itself and the probes are
//! open to all; everything else is checked. Answers are made without waiting for locks of transactions or disks.

mod api;
mod kill;
mod page;
mod routes;
mod state;

use crate::options::OfferTls;
use crate::server::Server;
use crate::tls;
use crate::variables::{Globals, Variable};
use arc_swap::ArcSwap;
use kill::RequestLimit;
use paceline_http_endpoint::{Answer, Endpoint, EndpointOptions, Request, Requester, Site};
use paceline_wire::tls::ServerTls;
use state::{Phase, ServerSite};
use std::sync::Arc;

/// The HTTP server, which ends when this is dropped.
pub struct Http {
    site: Arc<ServerSite>,
    endpoint: Endpoint,
}

impl Site for ServerSite {
    async fn answer(&self, request: Request<hyper::body::Incoming>, from: Requester<'_>) -> Answer {
        routes::answer(self, request, from).await
    }

    /// Returns what `FLUSH SSL` has read last.
    fn tls(&self) -> Option<ServerTls> {
        match &**self.phase.load() {
            Phase::Running(server) => server.tls.current(),
            Phase::Starting | Phase::Stopping => None,
        }
    }
}

impl Http {
    /// Begins to listen, if the variables name an address.
    ///
    /// # Errors
    /// Those of [`Endpoint::start`].
    pub async fn start(globals: &Globals, offer_tls: OfferTls) -> Result<Option<Http>, String> {
        let text = |variable: Variable| globals.get(variable).as_str().to_owned();
        let options = EndpointOptions {
            address: text(Variable::PacelineHttpAddress),
            token_file: text(Variable::PacelineHttpTokenFile),
        };
        if options.address.is_empty() {
            return Ok(None);
        }
        let site = Arc::new(ServerSite {
            phase: ArcSwap::from_pointee(Phase::Starting),
            kills: RequestLimit::default(),
        });
        let make_tls = || tls::make(globals);
        let endpoint = match offer_tls {
            OfferTls::Yes => Endpoint::start(&options, Some(&make_tls), site.clone()).await?,
            OfferTls::No => Endpoint::start(&options, None, site.clone()).await?,
        };
        // With port 0 the system has chosen one.
        globals.set_text(Variable::PacelineHttpAddress, endpoint.address().to_string());
        Ok(Some(Http { site, endpoint }))
    }

    /// Returns the address for people.
    pub fn addresses(&self) -> &str {
        self.endpoint.url()
    }

    /// Records that the server accepts clients.
    pub fn running(&self, server: &Arc<Server>) {
        self.site.phase.store(Arc::new(Phase::Running(server.clone())));
    }

    /// Records that the server is shutting down.
    pub fn stopping(&self) {
        self.site.phase.store(Arc::new(Phase::Stopping));
    }
}
