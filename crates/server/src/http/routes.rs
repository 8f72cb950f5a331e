//! The answers to requests.

use super::state::{Phase, ServerSite};
use super::{api, kill, page};
use crate::cluster::ReplicaTime;
use crate::metrics::{Sample, exposition};
use crate::server::Server;
use crate::variables::Variable;
use hyper::body::Incoming;
use hyper::header::{CONTENT_SECURITY_POLICY, HeaderValue, REFERRER_POLICY};
use hyper::{Method, Request, StatusCode};
use paceline_http_endpoint::{
    Answer, EXPOSITION_MEDIA_TYPE, Requester, only_methods, refused, respond, text,
};
use paceline_replication::status::ReceiverState;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// Answers a request.
pub(super) async fn answer(site: &ServerSite, request: Request<Incoming>, from: Requester<'_>) -> Answer {
    let path = request.uri().path();
    let method = request.method();
    if !is_known(path) {
        return text(StatusCode::NOT_FOUND, "there is nothing here");
    }
    let phase = &*site.phase.load_full();
    if path == KILL {
        return answer_kill(site, phase, request, from).await;
    }
    if method != Method::GET && method != Method::HEAD {
        return only_methods("GET, HEAD");
    }
    // The page itself tells nothing about this server.
    if let Some(file) = page::file(path) {
        return page_file(file);
    }
    if let Some(verdict) = probe(path, request.uri().query(), phase) {
        return match verdict {
            Ok(said) => text(StatusCode::OK, said),
            Err(Negative::NotNow(said)) => text(StatusCode::SERVICE_UNAVAILABLE, said),
            Err(Negative::Malformed(said)) => text(StatusCode::BAD_REQUEST, said),
        };
    }
    if let Err(refusal) = from.access.check(request.headers()) {
        return refused(refusal);
    }
    match phase {
        Phase::Running(server) => match path {
            "/api/overview" => json(&api::overview(server)),
            "/api/slow-statements" => json(&api::slow_statements(server)),
            "/api/statements" => json(&api::statements(server)),
            "/api/transactions" => json(&api::transactions(server)),
            _ => metrics(server),
        },
        Phase::Starting => text(StatusCode::SERVICE_UNAVAILABLE, STARTING),
        Phase::Stopping => text(StatusCode::SERVICE_UNAVAILABLE, STOPPING),
    }
}

/// Path of KILL, the only one that changes anything.
const KILL: &str = "/api/kill";

async fn answer_kill(
    site: &ServerSite,
    phase: &Phase,
    request: Request<Incoming>,
    from: Requester<'_>,
) -> Answer {
    if request.method() != Method::POST {
        return only_methods("POST");
    }
    if let Err(refusal) = from.access.check(request.headers()) {
        return refused(refusal);
    }
    match phase {
        Phase::Running(server) => kill::kill(server, &site.kills, request, from).await,
        Phase::Starting => text(StatusCode::SERVICE_UNAVAILABLE, STARTING),
        Phase::Stopping => text(StatusCode::SERVICE_UNAVAILABLE, STOPPING),
    }
}

const STARTING: &str = "starting";
const STOPPING: &str = "stopping";

fn is_known(path: &str) -> bool {
    const PATHS: [&str; 10] = [
        "/metrics",
        "/health",
        "/ready",
        "/primary",
        "/replica",
        "/api/overview",
        "/api/slow-statements",
        "/api/statements",
        "/api/transactions",
        KILL,
    ];
    PATHS.contains(&path) || page::file(path).is_some()
}

/// Negative answer to a probe.
#[derive(Debug, PartialEq, Eq)]
enum Negative {
    /// The server is not what the probe asks for.
    NotNow(&'static str),
    /// The probe itself is wrong.
    Malformed(&'static str),
}

/// Answers a probe; `None` for another path.
fn probe(path: &str, query: Option<&str>, phase: &Phase) -> Option<Result<&'static str, Negative>> {
    let running = || match phase {
        Phase::Running(server) => Ok(server),
        Phase::Starting => Err(Negative::NotNow(STARTING)),
        Phase::Stopping => Err(Negative::NotNow(STOPPING)),
    };
    Some(match path {
        "/health" => Ok(match phase {
            Phase::Starting => STARTING,
            Phase::Running(_) => "running",
            Phase::Stopping => STOPPING,
        }),
        "/ready" => running().map(|_| "ready"),
        "/primary" => running().and_then(is_primary),
        "/replica" => max_lag(query).and_then(|max_lag| is_replica(running()?, max_lag)),
        _ => return None,
    })
}

/// Parses `max_lag=SECONDS`.
fn max_lag(query: Option<&str>) -> Result<Option<u64>, Negative> {
    let Some(query) = query else {
        return Ok(None);
    };
    let seconds = query
        .strip_prefix("max_lag=")
        .and_then(|value| value.parse().ok());
    match seconds {
        Some(seconds) => Ok(Some(seconds)),
        None => Err(Negative::Malformed(
            "the only parameter is max_lag=SECONDS, a whole number",
        )),
    }
}

/// A server that follows another is no primary, even if somebody forgot to set `read_only`: writes to it would not
/// reach the others.
fn is_primary(server: &Arc<Server>) -> Result<&'static str, Negative> {
    if server.globals.get(Variable::ReadOnly).as_u64() != 0 {
        return Err(Negative::NotNow("read_only is not OFF"));
    }
    if server
        .cluster
        .as_ref()
        .is_some_and(|cluster| !cluster.reads.holds(ReplicaTime::NONE))
    {
        return Err(Negative::NotNow("it has lost the quorum of its cluster"));
    }
    match server.follows_another() {
        true => Err(Negative::NotNow("it is a replica")),
        false => Ok("primary"),
    }
}

/// Every connection has to run and be near enough: a reader does not know from which of them its rows come.
fn is_replica(server: &Arc<Server>, max_lag: Option<u64>) -> Result<&'static str, Negative> {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
        .as_secs();
    let mut followed = 0;
    for connection in server.replicas().all() {
        let status = connection.status();
        if status.definition.host.is_empty() {
            continue;
        }
        followed += 1;
        if !status.applier_runs || status.receiver.state != ReceiverState::Connected {
            return Err(Negative::NotNow("replication does not run"));
        }
        if let Some(max_lag) = max_lag
            && status.seconds_behind(now).is_none_or(|lag| lag > max_lag)
        {
            return Err(Negative::NotNow("it is further behind its primary than max_lag"));
        }
    }
    match followed {
        0 => Err(Negative::NotNow("it is not a replica")),
        _ => Ok("replica"),
    }
}

fn metrics(server: &Arc<Server>) -> Answer {
    let text = exposition(&Sample::of_server(server));
    respond(StatusCode::OK, EXPOSITION_MEDIA_TYPE, text)
}

fn json(value: &serde_json::Value) -> Answer {
    paceline_http_endpoint::json(StatusCode::OK, value.to_string())
}

/// Returns a file of the page. It may load nothing from elsewhere and run nothing that is not in it.
fn page_file(file: &page::PageFile) -> Answer {
    const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; \
                          img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
    let mut answer = respond(StatusCode::OK, file.media_type, file.content.to_owned());
    let headers = answer.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_starting_server_is_alive_and_not_ready() {
        let say = |path| probe(path, None, &Phase::Starting).unwrap();
        assert_eq!(say("/health"), Ok(STARTING));
        for path in ["/ready", "/primary", "/replica"] {
            assert_eq!(say(path), Err(Negative::NotNow(STARTING)), "{path}");
        }
        assert_eq!(
            probe("/ready", None, &Phase::Stopping),
            Some(Err(Negative::NotNow(STOPPING)))
        );
        assert_eq!(probe("/metrics", None, &Phase::Starting), None);
    }

    #[test]
    fn a_lag_is_a_whole_number_of_seconds() {
        assert_eq!(max_lag(None), Ok(None));
        assert_eq!(max_lag(Some("max_lag=5")), Ok(Some(5)));
        for wrong in [
            "max_lag=",
            "max_lag=-1",
            "max_lag=1.5",
            "lag=1",
            "max_lag=1&x=2",
            "",
        ] {
            assert!(max_lag(Some(wrong)).is_err(), "{wrong}");
        }
    }
}
