//! `POST /api/kill`: the page's button that ends a session or its statement.
//!
//! ```text
//!   request ─▶ rules of the web ─▶ session over a socket pair ─▶ login ─▶ KILL ─▶ MariaDB's answer as JSON
//!               origin, type,       a client's session, with the
//!               size, rate          HTTP peer as its host
//! ```
//! The body is `{"user": …, "password": …, "connection": id}`, and `"statement_only": true` for KILL QUERY. The login
//! is not checked here: the request becomes a client of the server, over a pair of sockets, and its session is the same
//! as any other. So all rules of accounts hold without being repeated: host, password, `max_password_errors`, locks,
//! expiry, `REQUIRE …`, roles, `max_connections`; the audit log and the general log see it, and KILL decides itself who
//! may kill what. Two facts are carried over from the HTTP connection, because the socket pair does not have them: the
//! peer's address, and its TLS session. The process at the other end of the pair is this server, so `unix_socket`
//! proves nothing about the client and always fails ([`relayed_session`]).
//!
//! **Rules of the web.** The password is in the body, never in an address, which logs and histories keep. The type must
//! be JSON, which a foreign page cannot send without asking first (and it is told nothing then); an `Origin` or
//! `Sec-Fetch-Site` of another site is refused. The token is needed as for every request that is no probe. The
//! transport is TLS or loopback.
//!
//! **Limits.** 4 KiB of body; 10 s for the whole; 20 requests a minute from an address, and 1,024 addresses a minute.
//!
//! Rejected: a login that lasts (cookies, sessions of HTTP): it would have to be revoked with the account, and a page
//! that can kill without being asked is a target. KILL by the token alone: it is one for all, and names nobody.

use crate::listener::relayed_session;
use crate::server::Server;
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HOST, ORIGIN};
use hyper::{HeaderMap, Request, StatusCode};
use paceline_http_endpoint::{Answer, Requester, json, read_body, text};
use paceline_wire::WireError;
use paceline_wire::client::{Client, ConnectOptions};
use paceline_wire::socket::Socket;
use parking_lot::Mutex;
use serde_json::Value;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Maximum size of a request's body in bytes.
const BODY_MAX: usize = 4 << 10;
/// Time limit for login and KILL.
const PATIENCE: Duration = Duration::from_secs(10);
/// Requests of one address in [`WINDOW`].
const REQUESTS_MAX: u32 = 20;
/// Addresses that are remembered.
const ADDRESSES_MAX: usize = 1024;
/// Time after which an address begins anew.
const WINDOW: Duration = Duration::from_secs(60);

/// Number of requests by address.
#[derive(Debug, Default)]
pub(super) struct RequestLimit(Mutex<HashMap<IpAddr, (Instant, u32)>>);

impl RequestLimit {
    /// Counts a request. Returns whether it is within the limit.
    fn admit(&self, address: IpAddr, now: Instant) -> bool {
        let mut known = self.0.lock();
        if known.len() >= ADDRESSES_MAX && !known.contains_key(&address) {
            known.retain(|_, (begun, _)| now.duration_since(*begun) < WINDOW);
            if known.len() >= ADDRESSES_MAX {
                return false;
            }
        }
        let (begun, count) = known.entry(address).or_insert((now, 0));
        if now.duration_since(*begun) >= WINDOW {
            (*begun, *count) = (now, 0);
        }
        *count += 1;
        *count <= REQUESTS_MAX
    }
}

/// Parsed request.
#[derive(PartialEq, Eq)]
struct KillRequest {
    user: String,
    password: String,
    statement: String,
}

/// Answers a request, which has been checked for the token.
pub(super) async fn kill(
    server: &Arc<Server>,
    limit: &RequestLimit,
    request: Request<Incoming>,
    from: Requester<'_>,
) -> Answer {
    let address = from.address.ip().to_canonical();
    if from.tls.is_none() && !address.is_loopback() {
        return text(StatusCode::FORBIDDEN, "a password needs TLS");
    }
    if let Err((status, said)) = check_headers(request.headers(), from.tls.is_some()) {
        return text(status, said);
    }
    if !limit.admit(address, Instant::now()) {
        return text(StatusCode::TOO_MANY_REQUESTS, "too many requests: wait a minute");
    }
    let body = match read_body(request.into_body(), BODY_MAX).await {
        Ok(body) => body,
        Err(answer) => return answer,
    };
    let Some(wanted) = parse(&body) else {
        return text(
            StatusCode::BAD_REQUEST,
            "the body is {\"user\": TEXT, \"password\": TEXT, \"connection\": NUMBER}, and perhaps \"statement_only\": true",
        );
    };
    let done = tokio::time::timeout(PATIENCE, execute(server, from, &wanted)).await;
    match done {
        Ok(Ok(())) => json(
            StatusCode::OK,
            serde_json::json!({ "done": wanted.statement }).to_string(),
        ),
        Ok(Err(WireError::Server {
            code,
            sqlstate,
            message,
        })) => {
            let error = serde_json::json!({ "number": code, "sqlstate": sqlstate, "text": message });
            json(
                StatusCode::FORBIDDEN,
                serde_json::json!({ "error": error }).to_string(),
            )
        }
        Ok(Err(error)) => {
            tracing::warn!("a KILL over HTTP failed: {error}");
            text(
                StatusCode::SERVICE_UNAVAILABLE,
                "the session ended without an answer",
            )
        }
        Err(_) => text(
            StatusCode::SERVICE_UNAVAILABLE,
            "the server did not answer in time",
        ),
    }
}

/// Checks what a browser says about the page that sends the request. Other programs say nothing.
fn check_headers(headers: &HeaderMap, is_encrypted: bool) -> Result<(), (StatusCode, &'static str)> {
    const FOREIGN: (StatusCode, &str) = (StatusCode::FORBIDDEN, "requests of other sites are refused");
    let one = |name: &str| {
        let mut values = headers.get_all(name).iter();
        match (values.next(), values.next()) {
            (None, _) => Ok(None),
            (Some(value), None) => value.to_str().map(Some).map_err(|_| FOREIGN),
            (Some(_), Some(_)) => Err(FOREIGN),
        }
    };
    if one("sec-fetch-site")?.is_some_and(|site| site != "same-origin") {
        return Err(FOREIGN);
    }
    if let Some(origin) = one(ORIGIN.as_str())? {
        let scheme = if is_encrypted { "https" } else { "http" };
        let own = one(HOST.as_str())?.map(|host| format!("{scheme}://{host}"));
        if own.is_none_or(|own| !own.eq_ignore_ascii_case(origin)) {
            return Err(FOREIGN);
        }
    }
    let media_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let media_type = media_type
        .and_then(|text| text.split(';').next())
        .unwrap_or_default();
    match media_type.trim().eq_ignore_ascii_case("application/json") {
        true => Ok(()),
        false => Err((
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "the body must be application/json",
        )),
    }
}

/// Parses a body; `None` if it is not what is expected.
fn parse(body: &[u8]) -> Option<KillRequest> {
    let Ok(Value::Object(mut fields)) = serde_json::from_slice(body) else {
        return None;
    };
    let mut text = |name: &str| match fields.remove(name) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    };
    let (user, password) = (text("user")?, text("password")?);
    let connection = fields.remove("connection")?.as_u64()?;
    let what = match fields.remove("statement_only") {
        None | Some(Value::Bool(false)) => "CONNECTION",
        Some(Value::Bool(true)) => "QUERY",
        Some(_) => return None,
    };
    fields.is_empty().then(|| KillRequest {
        user,
        password,
        statement: format!("KILL {what} {connection}"),
    })
}

/// Logs in and executes the statement, in a session of its own.
async fn execute(server: &Arc<Server>, from: Requester<'_>, wanted: &KillRequest) -> Result<(), WireError> {
    let client = server.client_host(from.address.ip());
    let host = format!("{}:{}", client.name, from.address.port());
    let (session, far) = relayed_session(server, client, host, from.tls.cloned())?;
    tokio::spawn(session.run());
    let options = ConnectOptions {
        user: wanted.user.clone(),
        password: wanted.password.clone(),
        attributes: vec![("program_name".to_owned(), "paceline page".to_owned())],
        idle_timeout: Some(PATIENCE),
        ..ConnectOptions::default()
    };
    let mut client = Client::handshake(Socket::unix(far), &options).await?;
    let done = client.query(&wanted.statement).await;
    // Also after a refusal: the session must not look like one whose client has vanished.
    let left = client.quit().await;
    done?;
    left
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::header::HeaderName;

    fn check(pairs: &[(&str, &str)], is_encrypted: bool) -> Option<StatusCode> {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(
                HeaderName::from_bytes(name.as_bytes()).unwrap(),
                value.parse().unwrap(),
            );
        }
        check_headers(&headers, is_encrypted)
            .err()
            .map(|(status, _)| status)
    }

    #[test]
    fn requests_of_other_sites_and_types_are_refused() {
        let json = ("content-type", "application/json");
        let host = ("host", "127.0.0.1:9104");
        assert_eq!(check(&[json], false), None);
        assert_eq!(
            check(&[("content-type", "Application/JSON; charset=utf-8")], false),
            None
        );
        assert_eq!(
            check(
                &[
                    json,
                    host,
                    ("origin", "http://127.0.0.1:9104"),
                    ("sec-fetch-site", "same-origin")
                ],
                false
            ),
            None
        );
        for foreign in [
            vec![json, host, ("origin", "http://example.com")],
            vec![json, host, ("origin", "null")],
            vec![json, host, ("origin", "http://127.0.0.1:9105")],
            vec![json, host, ("origin", "https://127.0.0.1:9104")],
            vec![json, ("origin", "http://127.0.0.1:9104")],
            vec![
                json,
                host,
                ("origin", "http://127.0.0.1:9104"),
                ("origin", "http://example.com"),
            ],
            vec![json, host, ("sec-fetch-site", "cross-site")],
            vec![json, host, ("sec-fetch-site", "same-site")],
            vec![json, host, ("sec-fetch-site", "none")],
        ] {
            assert_eq!(check(&foreign, false), Some(StatusCode::FORBIDDEN), "{foreign:?}");
        }
        assert_eq!(
            check(&[json, host, ("origin", "https://127.0.0.1:9104")], true),
            None
        );
        for other in [
            "text/plain",
            "application/x-www-form-urlencoded",
            "application/jsonx",
            "",
        ] {
            let status = check(&[("content-type", other)], false);
            assert_eq!(status, Some(StatusCode::UNSUPPORTED_MEDIA_TYPE), "{other}");
        }
        assert_eq!(check(&[], false), Some(StatusCode::UNSUPPORTED_MEDIA_TYPE));
    }

    #[test]
    fn a_body_has_the_known_fields_and_no_others() {
        let statement = |body: &str| parse(body.as_bytes()).map(|wanted| wanted.statement);
        let is = |statement: &str| Some(statement.to_owned());
        assert_eq!(
            statement(r#"{"user":"u","password":"","connection":7}"#),
            is("KILL CONNECTION 7")
        );
        assert_eq!(
            statement(r#"{"user":"u","password":"p","connection":7,"statement_only":true}"#),
            is("KILL QUERY 7")
        );
        for wrong in [
            "",
            "[]",
            r#"{"user":"u","connection":7}"#,
            r#"{"user":"u","password":"p"}"#,
            r#"{"user":"u","password":"p","connection":"7 OR 1"}"#,
            r#"{"user":"u","password":"p","connection":-1}"#,
            r#"{"user":"u","password":"p","connection":7,"statement_only":1}"#,
            r#"{"user":"u","password":"p","connection":7,"statement":"SHUTDOWN"}"#,
        ] {
            assert_eq!(statement(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn an_address_has_a_number_of_requests_a_minute() {
        let limit = RequestLimit::default();
        let now = Instant::now();
        let address = |number: u32| IpAddr::from(number.to_be_bytes());
        for _ in 0..REQUESTS_MAX {
            assert!(limit.admit(address(1), now));
        }
        assert!(!limit.admit(address(1), now));
        assert!(limit.admit(address(2), now), "others are not affected");
        assert!(limit.admit(address(1), now + WINDOW));
        for number in 3..=ADDRESSES_MAX as u32 {
            assert!(limit.admit(address(number), now));
        }
        assert!(!limit.admit(address(9999), now), "too many addresses");
        assert!(
            limit.admit(address(9999), now + WINDOW),
            "the old ones are forgotten"
        );
    }
}
