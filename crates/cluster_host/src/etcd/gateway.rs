//! Requests to etcd's JSON gateway.

use crate::register::RegisterError;
use parking_lot::Mutex;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE};
use reqwest::{Certificate, Client, Identity, Response, Url};
use serde_json::{Value, json};
use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::time::timeout;

/// Maximum number of bytes of an answer.
pub const ANSWER_BYTES_MAX: usize = 4 << 20;
/// Maximum number of URLs.
const URLS_MAX: usize = 16;
/// Number of gRPC's code for a token that is no longer valid.
const CODE_UNAUTHENTICATED: u64 = 16;
/// Codes after which another URL may answer: deadline exceeded, resource exhausted, internal, unavailable.
const CODES_OF_THE_SERVER: [u64; 4] = [4, 8, 13, 14];

/// How etcd is reached.
#[derive(Clone)]
pub struct EtcdSettings {
    /// URLs of its members, `http://HOST:PORT` or `https://HOST:PORT`; without a scheme, `http`.
    pub urls: Vec<String>,
    /// File with the authorities that have signed its certificate. `None`: those of the system.
    pub authority: Option<PathBuf>,
    /// Files of this client's certificate and key.
    pub certificate: Option<(PathBuf, PathBuf)>,
    /// User and password.
    pub user: Option<(String, String)>,
    /// Time limit of a request to one URL.
    pub timeout: Duration,
}

impl EtcdSettings {
    /// Returns settings without TLS and login, with the default time limit.
    pub fn of_urls(urls: Vec<String>) -> Self {
        EtcdSettings {
            urls,
            authority: None,
            certificate: None,
            user: None,
            timeout: Duration::from_secs(1),
        }
    }
}

impl fmt::Debug for EtcdSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let user = self.user.as_ref().map(|(user, _)| user);
        f.debug_struct("EtcdSettings")
            .field("urls", &self.urls)
            .field("authority", &self.authority)
            .field("certificate", &self.certificate)
            .field("user", &user)
            .field("timeout", &self.timeout)
            .finish()
    }
}

/// Failure of a request to etcd.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum EtcdError {
    #[error("the settings of etcd: {0}")]
    Settings(String),
    #[error("etcd does not answer: {0}")]
    Away(String),
    #[error("etcd refuses the request: {0}")]
    Refused(String),
    #[error("etcd's answer is malformed: {0}")]
    Malformed(&'static str),
    #[error("etcd has an impossible value: {0}")]
    Register(#[from] RegisterError),
    #[error("etcd: others change the same key all the time")]
    Contended,
    #[error("etcd knows no cluster of this name")]
    NotFounded,
}

/// Answer of one URL that is no result.
enum Failure {
    /// The server, or the way to it, has failed: another may answer.
    Server(String),
    Unauthenticated(String),
    Refused(String),
}

/// Client of the gateway.
pub(super) struct Gateway {
    client: Client,
    urls: Vec<Url>,
    /// Index of the URL that answered last.
    preferred: AtomicUsize,
    user: Option<(String, String)>,
    token: Mutex<Option<String>>,
    timeout: Duration,
}

impl Gateway {
    pub(super) fn new(settings: &EtcdSettings) -> Result<Gateway, EtcdError> {
        let problem = |text: String| EtcdError::Settings(text);
        if settings.urls.is_empty() || settings.urls.len() > URLS_MAX {
            return Err(problem(format!("1 to {URLS_MAX} URLs are needed")));
        }
        let urls = settings.urls.iter().map(|url| parsed_url(url));
        let urls = urls.collect::<Result<Vec<_>, _>>()?;
        // If a provider is installed already, it stays.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut builder = Client::builder()
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(settings.timeout)
            .pool_max_idle_per_host(4)
            .tcp_nodelay(true);
        let read = |path: &PathBuf| {
            std::fs::read(path).map_err(|error| problem(format!("{}: {error}", path.display())))
        };
        if let Some(path) = &settings.authority {
            let pem = read(path)?;
            let authorities = Certificate::from_pem_bundle(&pem)
                .map_err(|error| problem(format!("{}: {error}", path.display())))?;
            builder = builder.tls_certs_only(authorities);
        }
        if let Some((certificate, key)) = &settings.certificate {
            let pem = [read(key)?, vec![b'\n'], read(certificate)?].concat();
            let identity = Identity::from_pem(&pem)
                .map_err(|error| problem(format!("{}: {error}", certificate.display())))?;
            builder = builder.identity(identity);
        }
        Ok(Gateway {
            client: builder.build().map_err(|error| problem(described(&error)))?,
            urls,
            preferred: AtomicUsize::new(0),
            user: settings.user.clone(),
            token: Mutex::new(None),
            timeout: settings.timeout,
        })
    }

    /// Sends a request to the URLs in turn until one answers.
    pub(super) async fn call(&self, path: &str, body: &Value) -> Result<Value, EtcdError> {
        let first = self.preferred.load(Ordering::Relaxed);
        let mut reasons = Vec::new();
        for turn in 0..self.urls.len() {
            let at = (first + turn) % self.urls.len();
            match self.call_one(&self.urls[at], path, body).await {
                Ok(answer) => {
                    self.preferred.store(at, Ordering::Relaxed);
                    return Ok(answer);
                }
                Err(Failure::Server(reason)) => reasons.push(reason),
                Err(Failure::Refused(reason) | Failure::Unauthenticated(reason)) => {
                    return Err(EtcdError::Refused(reason));
                }
            }
        }
        Err(EtcdError::Away(reasons.join("; ")))
    }

    /// Opens a stream of answers at the preferred URL. Each call of [`Response::chunk`] waits for more.
    pub(super) async fn stream(&self, path: &str, body: &Value) -> Result<Response, EtcdError> {
        let url = &self.urls[self.preferred.load(Ordering::Relaxed) % self.urls.len()];
        let open = self.send(url, path, body);
        let response = match timeout(self.timeout, open).await {
            Ok(response) => response.map_err(|reason| EtcdError::Away(described(&reason)))?,
            Err(_) => return Err(EtcdError::Away(format!("{url}: no answer in {:?}", self.timeout))),
        };
        match response.status().is_success() {
            true => Ok(response),
            false => Err(EtcdError::Refused(format!("{url}: {}", response.status()))),
        }
    }

    async fn call_one(&self, url: &Url, path: &str, body: &Value) -> Result<Value, Failure> {
        self.log_in_once(url).await?;
        match self.call_limited(url, path, body).await {
            Err(Failure::Unauthenticated(_)) if self.user.is_some() => {
                *self.token.lock() = None;
                self.log_in_once(url).await?;
                self.call_limited(url, path, body).await
            }
            other => other,
        }
    }

    /// Gets a token if a login is needed and there is none.
    async fn log_in_once(&self, url: &Url) -> Result<(), Failure> {
        let Some((user, password)) = &self.user else {
            return Ok(());
        };
        if self.token.lock().is_some() {
            return Ok(());
        }
        let body = json!({"name": user, "password": password});
        let answer = self.call_limited(url, "/v3/auth/authenticate", &body).await?;
        let token = answer["token"].as_str();
        let token = token.ok_or_else(|| Failure::Server(format!("{url}: no token")))?;
        *self.token.lock() = Some(token.to_owned());
        Ok(())
    }

    async fn call_limited(&self, url: &Url, path: &str, body: &Value) -> Result<Value, Failure> {
        let call = async {
            let response = self
                .send(url, path, body)
                .await
                .map_err(|error| described(&error))?;
            let status = response.status();
            let bytes = received(response).await?;
            serde_json::from_slice::<Value>(&bytes).map_err(|_| format!("status {status}, and no JSON"))
        };
        let answer = match timeout(self.timeout, call).await {
            Ok(answer) => answer.map_err(|reason| Failure::Server(format!("{url}: {reason}")))?,
            Err(_) => return Err(Failure::Server(format!("{url}: no answer in {:?}", self.timeout))),
        };
        // A stream's answer is packed once more.
        let error = match answer.get("error") {
            None => return Ok(answer),
            Some(Value::Object(error)) => Value::Object(error.clone()),
            Some(_) => answer,
        };
        let text = error["message"].as_str().or_else(|| error["error"].as_str());
        let reason = format!("{url}: {}", text.unwrap_or("an error without a text"));
        let code = error["code"].as_u64().or_else(|| error["grpc_code"].as_u64());
        Err(match code {
            Some(CODE_UNAUTHENTICATED) => Failure::Unauthenticated(reason),
            Some(code) if CODES_OF_THE_SERVER.contains(&code) => Failure::Server(reason),
            _ => Failure::Refused(reason),
        })
    }

    async fn send(&self, url: &Url, path: &str, body: &Value) -> reqwest::Result<Response> {
        let mut target = url.clone();
        target.set_path(path);
        let mut request = self
            .client
            .post(target)
            .header(CONTENT_TYPE, "application/json")
            .body(body.to_string());
        if let Some(token) = &*self.token.lock() {
            request = request.header(AUTHORIZATION, token);
        }
        request.send().await
    }
}

fn parsed_url(text: &str) -> Result<Url, EtcdError> {
    let problem = |reason: &str| EtcdError::Settings(format!("{text}: {reason}"));
    let whole = match text.contains("://") {
        true => text.to_owned(),
        false => format!("http://{text}"),
    };
    let url = Url::parse(&whole).map_err(|error| problem(&error.to_string()))?;
    // Not repeated in the error: it is a secret.
    if !url.username().is_empty() || url.password().is_some() {
        return Err(EtcdError::Settings(
            "a URL must not contain a user or a password: they have options of their own".to_owned(),
        ));
    }
    if !["http", "https"].contains(&url.scheme()) || url.host_str().is_none() {
        return Err(problem("not http://HOST:PORT or https://HOST:PORT"));
    }
    if !["", "/"].contains(&url.path()) {
        return Err(problem("a URL of etcd has no path"));
    }
    Ok(url)
}

/// Reads an answer up to its limit.
async fn received(mut response: Response) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| described(&error))? {
        if bytes.len() + chunk.len() > ANSWER_BYTES_MAX {
            return Err(format!("the answer is longer than {ANSWER_BYTES_MAX} bytes"));
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

/// Returns the error's text with those of its causes, without the URL.
fn described(error: &reqwest::Error) -> String {
    let mut text = String::new();
    let mut cause: Option<&dyn std::error::Error> = std::error::Error::source(error);
    while let Some(error) = cause {
        if !text.is_empty() {
            text.push_str(": ");
        }
        text.push_str(&error.to_string());
        cause = error.source();
    }
    match text.is_empty() {
        true => error.to_string(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_checked_and_secrets_are_not_shown() {
        assert_eq!(
            parsed_url("10.0.0.1:2379").unwrap().as_str(),
            "http://10.0.0.1:2379/"
        );
        assert_eq!(parsed_url("https://a:2379").unwrap().as_str(), "https://a:2379/");
        for wrong in ["ftp://a", "http://a/path", "http://"] {
            assert!(parsed_url(wrong).is_err(), "{wrong}");
        }
        let error = parsed_url("http://root:geheim@a:2379").unwrap_err();
        assert!(!error.to_string().contains("geheim"), "{error}");
        let settings = EtcdSettings {
            user: Some(("root".to_owned(), "geheim".to_owned())),
            ..EtcdSettings::of_urls(vec!["a".to_owned()])
        };
        assert!(!format!("{settings:?}").contains("geheim"));
    }

    #[test]
    fn settings_that_cannot_work_are_refused() {
        let settings = EtcdSettings::of_urls(vec![]);
        assert!(matches!(Gateway::new(&settings), Err(EtcdError::Settings(_))));
        let settings = EtcdSettings {
            authority: Some("/nonexistent".into()),
            ..EtcdSettings::of_urls(vec!["https://a:1".to_owned()])
        };
        assert!(matches!(Gateway::new(&settings), Err(EtcdError::Settings(_))));
    }
}
