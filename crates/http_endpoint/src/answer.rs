//! Forms of answers.

use crate::access::Refusal;
use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{
    ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderValue, WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS,
};
use hyper::{Response, StatusCode};

/// An answer, whose body is complete.
pub type Answer = Response<Full<Bytes>>;

/// Media type of plain text.
pub const TEXT: &str = "text/plain; charset=utf-8";
/// Media type of JSON.
pub const JSON: &str = "application/json";

/// Returns an answer with a line of text.
pub fn text(status: StatusCode, said: &str) -> Answer {
    respond(status, TEXT, format!("{said}\n"))
}

/// Returns an answer with JSON.
pub fn json(status: StatusCode, value: String) -> Answer {
    respond(status, JSON, value)
}

/// Returns an answer, which no cache may keep and whose type no browser may guess.
pub fn respond(status: StatusCode, media_type: &'static str, body: String) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::from(body)));
    *answer.status_mut() = status;
    let headers = answer.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    answer
}

/// Returns the answer to a request that [`crate::Access::check`] has refused.
pub fn refused(refusal: Refusal) -> Answer {
    match refusal {
        Refusal::Token => {
            let mut answer = text(
                StatusCode::UNAUTHORIZED,
                "the token of --http-token-file is needed",
            );
            let scheme = HeaderValue::from_static("Bearer");
            answer.headers_mut().insert(WWW_AUTHENTICATE, scheme);
            answer
        }
        Refusal::Host => text(
            StatusCode::MISDIRECTED_REQUEST,
            "without a token, requests must be sent to localhost or its address",
        ),
    }
}

/// Returns the answer to a method that a path does not have. `methods` are those that it has.
pub fn only_methods(methods: &'static str) -> Answer {
    let said = match methods.split_once(", ") {
        Some((one, other)) => format!("{one} and {other} are allowed"),
        None => format!("{methods} is allowed"),
    };
    let mut answer = text(StatusCode::METHOD_NOT_ALLOWED, &said);
    answer
        .headers_mut()
        .insert(ALLOW, HeaderValue::from_static(methods));
    answer
}
