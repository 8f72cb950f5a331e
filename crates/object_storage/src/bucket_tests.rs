//! Buckets: the requests that a service with S3's protocol gets, and what its answers become.

use crate::place::open_bucket;
use crate::{Error, ObjectStorage, Overwrite};
use object_store::aws::AmazonS3Builder;
use object_store::{BackoffConfig, RetryConfig};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use url::Url;

/// Maximum number of entries in one page of a listing.
const PAGE: usize = 3;

/// A request as the service got it.
#[derive(Clone, Debug)]
struct Request {
    method: String,
    /// Key of the object, or the prefix of a listing.
    key: String,
    query: HashMap<String, String>,
    headers: HashMap<String, String>,
    body: Vec<u8>,
}

/// The way in which the service treats one request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Treatment {
    /// This status, with this code and message. The request is not executed.
    Refuse(u16, &'static str, &'static str),
    /// The connection ends without an answer; the request is executed.
    LoseAnswer,
}

/// An overloaded service, which clients ask again.
const SLOW_DOWN: Treatment = Treatment::Refuse(503, "SlowDown", "Reduce your rate.");

#[derive(Default)]
struct State {
    objects: BTreeMap<String, Vec<u8>>,
    uploads: HashMap<String, BTreeMap<u32, Vec<u8>>>,
    /// Treatments of the next requests.
    next: VecDeque<Treatment>,
    requests: Vec<Request>,
}

/// A service in this process.
#[derive(Clone, Default)]
struct Service(Arc<Mutex<State>>);

impl Service {
    /// Starts the service, and opens a place in it.
    async fn start(place: &str) -> (Service, ObjectStorage) {
        let service = Service::default();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let serving = service.clone();
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                tokio::spawn(serving.clone().serve(socket));
            }
        });
        let client = AmazonS3Builder::new()
            .with_endpoint(endpoint)
            .with_allow_http(true)
            .with_region("here")
            .with_access_key_id("id")
            .with_secret_access_key("secret")
            .with_retry(RetryConfig {
                backoff: BackoffConfig {
                    init_backoff: Duration::from_millis(1),
                    max_backoff: Duration::from_millis(2),
                    base: 2.0,
                },
                max_retries: 4,
                retry_timeout: Duration::from_secs(30),
            });
        let opened = open_bucket(place, &Url::parse(place).unwrap(), client).unwrap();
        let storage = ObjectStorage::at(opened, place);
        (service, storage)
    }

    fn treat_next(&self, treatments: impl IntoIterator<Item = Treatment>) {
        self.0.lock().unwrap().next.extend(treatments);
    }

    fn take_requests(&self) -> Vec<Request> {
        std::mem::take(&mut self.0.lock().unwrap().requests)
    }

    fn objects(&self) -> Vec<String> {
        self.0.lock().unwrap().objects.keys().cloned().collect()
    }

    async fn serve(self, mut socket: TcpStream) {
        while let Some(request) = read_request(&mut socket).await {
            let treatment = {
                let mut state = self.0.lock().unwrap();
                state.requests.push(request.clone());
                state.next.pop_front()
            };
            let (status, headers, body) = match treatment {
                Some(Treatment::Refuse(status, code, message)) => refusal(status, code, message),
                Some(Treatment::LoseAnswer) => {
                    self.answer(&request);
                    return;
                }
                None => self.answer(&request),
            };
            let mut head = format!("HTTP/1.1 {status} X\r\n");
            if request.method != "HEAD" {
                head += &format!("content-length: {}\r\n", body.len());
            }
            for (name, value) in headers {
                head += &format!("{name}: {value}\r\n");
            }
            let mut bytes = (head + "\r\n").into_bytes();
            if request.method != "HEAD" {
                bytes.extend_from_slice(&body);
            }
            if socket.write_all(&bytes).await.is_err() {
                return;
            }
        }
    }

    /// Executes a request.
    fn answer(&self, request: &Request) -> Answer {
        let mut state = self.0.lock().unwrap();
        let has = |name: &str| request.query.contains_key(name);
        match request.method.as_str() {
            "GET" if has("list-type") => list(&state.objects, request),
            "GET" | "HEAD" => match state.objects.get(&request.key) {
                None => refusal(404, "NoSuchKey", "There is none."),
                Some(content) => object(content, request),
            },
            "PUT" if has("partNumber") => {
                let number = request.query["partNumber"].parse().unwrap();
                let upload = state.uploads.get_mut(&request.query["uploadId"]).unwrap();
                upload.insert(number, request.body.clone());
                (200, vec![("etag", format!("\"{number}\""))], vec![])
            }
            "PUT" => {
                let is_new = !state.objects.contains_key(&request.key);
                if request
                    .headers
                    .get("if-none-match")
                    .is_some_and(|etags| etags == "*")
                    && !is_new
                {
                    return refusal(412, "PreconditionFailed", "It is there.");
                }
                state.objects.insert(request.key.clone(), request.body.clone());
                (200, vec![("etag", "\"1\"".to_owned())], vec![])
            }
            "POST" if has("uploads") => {
                let id = format!("upload-{}", state.uploads.len());
                state.uploads.insert(id.clone(), BTreeMap::new());
                let body = format!(
                    "<InitiateMultipartUploadResult><UploadId>{id}</UploadId></InitiateMultipartUploadResult>"
                );
                (200, vec![], body.into_bytes())
            }
            "POST" if has("uploadId") => {
                let parts = state.uploads.remove(&request.query["uploadId"]).unwrap();
                let content = parts.into_values().flatten().collect();
                state.objects.insert(request.key.clone(), content);
                let body =
                    "<CompleteMultipartUploadResult><ETag>\"1\"</ETag></CompleteMultipartUploadResult>";
                (200, vec![], body.into())
            }
            "DELETE" if has("uploadId") => {
                state.uploads.remove(&request.query["uploadId"]);
                (204, vec![], vec![])
            }
            other => panic!("an unexpected request: {other} {request:?}"),
        }
    }
}

/// Status, headers and body.
type Answer = (u16, Vec<(&'static str, String)>, Vec<u8>);

fn refusal(status: u16, code: &str, message: &str) -> Answer {
    let body = format!("<Error><Code>{code}</Code><Message>{message}</Message></Error>");
    (status, vec![], body.into_bytes())
}

fn object(content: &[u8], request: &Request) -> Answer {
    let mut headers = vec![
        ("etag", "\"1\"".to_owned()),
        ("last-modified", "Thu, 01 Jan 2026 00:00:00 GMT".to_owned()),
    ];
    let range = request.headers.get("range").map(|range| {
        let (from, to) = range.strip_prefix("bytes=").unwrap().split_once('-').unwrap();
        (from.parse::<usize>().unwrap(), to.parse::<usize>().unwrap())
    });
    match range {
        _ if request.method == "HEAD" => {
            headers.push(("content-length", content.len().to_string()));
            (200, headers, vec![])
        }
        None => (200, headers, content.to_vec()),
        Some((from, _)) if from >= content.len() => refusal(416, "InvalidRange", "Beyond the end."),
        Some((from, to)) => {
            let to = to.min(content.len() - 1);
            headers.push(("content-range", format!("bytes {from}-{to}/{}", content.len())));
            (206, headers, content[from..=to].to_vec())
        }
    }
}

fn list(objects: &BTreeMap<String, Vec<u8>>, request: &Request) -> Answer {
    let prefix = request.query.get("prefix").map_or("", String::as_str);
    let after = request.query.get("continuation-token").map_or("", String::as_str);
    let mut left = objects
        .iter()
        .filter(|(key, _)| key.starts_with(prefix) && key.as_str() > after);
    let page: Vec<_> = left.by_ref().take(PAGE).collect();
    let is_truncated = left.next().is_some();
    let mut body = format!("<ListBucketResult><IsTruncated>{is_truncated}</IsTruncated>");
    for (key, content) in &page {
        body += &format!(
            "<Contents><Key>{key}</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified><ETag>\"1\"</ETag>\
             <Size>{}</Size></Contents>",
            content.len()
        );
    }
    if is_truncated {
        let last = page[page.len() - 1].0;
        body += &format!("<NextContinuationToken>{last}</NextContinuationToken>");
    }
    (200, vec![], (body + "</ListBucketResult>").into_bytes())
}

/// Returns `None` when the client closes the connection.
async fn read_request(socket: &mut TcpStream) -> Option<Request> {
    let mut bytes = Vec::new();
    let head_length = loop {
        if let Some(at) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break at;
        }
        if socket.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8(bytes[..head_length].to_vec()).unwrap();
    let mut lines = head.lines();
    let mut words = lines.next()?.split(' ');
    let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
    let headers: HashMap<String, String> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_lowercase(), value.to_owned()))
        .collect();
    let length = headers
        .get("content-length")
        .map_or(0, |length| length.parse().unwrap());
    let mut body = bytes[head_length + 4..].to_vec();
    while body.len() < length {
        if socket.read_buf(&mut body).await.ok()? == 0 {
            return None;
        }
    }
    let url = Url::parse(&format!("http://service{target}")).unwrap();
    let query = url.query_pairs().into_owned().collect();
    let key = url
        .path()
        .trim_start_matches('/')
        .split_once('/')
        .map_or("", |(_, key)| key);
    Some(Request {
        method,
        key: key.to_owned(),
        query,
        headers,
        body,
    })
}

fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(future)
}

#[test]
fn a_listing_has_the_objects_of_all_pages() {
    run(async {
        let (service, storage) = Service::start("s3://bucket/base").await;
        let names: Vec<String> = (0..10).map(|number| format!("log/{number:02}")).collect();
        for name in names.iter().rev() {
            storage.put(name, name.clone(), Overwrite::No).await.unwrap();
        }
        storage.put("logs", "x", Overwrite::No).await.unwrap();
        assert!(service.objects().iter().all(|key| key.starts_with("base/log")));
        service.take_requests();
        let listed = storage.list("log").await.unwrap();
        let listed: Vec<String> = listed.into_iter().map(|object| object.name).collect();
        assert_eq!(listed, names);
        assert_eq!(service.take_requests().len(), 4);
        // A later page fails: what came before is not returned as the listing.
        service.treat_next([Treatment::Refuse(403, "AccessDenied", "No more.")]);
        let error = storage.list("log").await.unwrap_err().to_string();
        assert_eq!(
            error,
            "s3://bucket/base: cannot list 'log': AccessDenied: No more."
        );
    });
}

#[test]
fn only_a_write_that_must_not_replace_is_conditional() {
    run(async {
        let (service, storage) = Service::start("s3://bucket").await;
        storage.put("m", "one", Overwrite::No).await.unwrap();
        storage.put("m", "two", Overwrite::Yes).await.unwrap();
        let again = storage.put("m", "three", Overwrite::No).await;
        assert!(matches!(again, Err(Error::AlreadyThere { .. })), "{again:?}");
        let conditions: Vec<Option<String>> = service
            .take_requests()
            .into_iter()
            .map(|mut request| request.headers.remove("if-none-match"))
            .collect();
        assert_eq!(conditions, [Some("*".to_owned()), None, Some("*".to_owned())]);
        assert_eq!(storage.get("m").await.unwrap(), "two");
    });
}

#[test]
fn a_service_that_is_temporarily_unavailable_is_asked_again() {
    run(async {
        let (service, storage) = Service::start("s3://bucket").await;
        service.treat_next([SLOW_DOWN, SLOW_DOWN]);
        storage.put("m", "content", Overwrite::Yes).await.unwrap();
        assert_eq!(service.take_requests().len(), 3);
        service.treat_next([SLOW_DOWN]);
        assert_eq!(storage.read("m", 2..5).await.unwrap(), "nte");
        service.treat_next([SLOW_DOWN]);
        assert_eq!(storage.describe("m").await.unwrap().length, 7);
        service.treat_next([SLOW_DOWN]);
        assert_eq!(storage.list("").await.unwrap().len(), 1);
        service.treat_next([Treatment::LoseAnswer]);
        assert_eq!(storage.get("m").await.unwrap(), "content");
        // It does not recover.
        service.take_requests();
        service.treat_next([SLOW_DOWN; 20]);
        let error = storage.get("m").await.unwrap_err().to_string();
        assert!(
            error.starts_with("s3://bucket: cannot read 'm': SlowDown"),
            "{error}"
        );
        assert_eq!(service.take_requests().len(), 5);
    });
}

#[test]
fn what_the_service_refuses_for_good_is_not_asked_again() {
    run(async {
        let (service, storage) = Service::start("s3://bucket").await;
        service.treat_next([Treatment::Refuse(403, "AccessDenied", "You may not.")]);
        let denied = storage
            .put("m", "x", Overwrite::Yes)
            .await
            .unwrap_err()
            .to_string();
        assert_eq!(
            denied,
            "s3://bucket: cannot write 'm': AccessDenied: You may not."
        );
        assert_eq!(service.take_requests().len(), 1);
        let missing = Treatment::Refuse(404, "NoSuchBucket", "There is no bucket.");
        service.treat_next([missing, missing, missing]);
        assert!(matches!(storage.get("m").await, Err(Error::NoBucket { .. })));
        assert!(matches!(storage.list("").await, Err(Error::NoBucket { .. })));
        let put = storage.put("m", "x", Overwrite::Yes).await;
        assert!(matches!(put, Err(Error::NoBucket { .. })), "{put:?}");
        assert!(matches!(storage.get("m").await, Err(Error::NotFound { .. })));
        assert!(storage.list("").await.unwrap().is_empty());
    });
}

#[test]
fn the_end_of_an_object_is_told_whether_the_service_refuses_the_range_or_shortens_it() {
    run(async {
        let (_service, storage) = Service::start("s3://bucket").await;
        storage.put("m", "five!", Overwrite::No).await.unwrap();
        for range in [3..9, 5..9, 7..9] {
            let short = storage.read("m", range.clone()).await;
            assert!(
                matches!(
                    short,
                    Err(Error::Short {
                        end: 5,
                        wanted: 9,
                        ..
                    })
                ),
                "{range:?} {short:?}"
            );
        }
        assert!(matches!(
            storage.read("n", 3..9).await,
            Err(Error::NotFound { .. })
        ));
    });
}

#[test]
fn the_parts_of_an_upload_are_joined_in_their_order_however_often_one_is_sent() {
    run(async {
        let (service, storage) = Service::start("s3://bucket/base").await;
        let content: Vec<u8> = (0..20_000_000u32).map(|number| (number >> 8) as u8).collect();
        let mut upload = storage.upload("long").await.unwrap();
        service.treat_next([SLOW_DOWN, Treatment::LoseAnswer, SLOW_DOWN]);
        for chunk in content.chunks(1 << 20) {
            upload.write(chunk.to_vec()).await.unwrap();
        }
        assert!(matches!(
            storage.describe("long").await,
            Err(Error::NotFound { .. })
        ));
        upload.finish().await.unwrap();
        assert_eq!(service.objects(), ["base/long"]);
        assert!(storage.get("long").await.unwrap() == content);

        let mut cancelled = storage.upload("cancelled").await.unwrap();
        cancelled.write(content[..9 << 20].to_vec()).await.unwrap();
        cancelled.abort().await.unwrap();
        assert_eq!(service.objects(), ["base/long"]);
        assert!(service.0.lock().unwrap().uploads.is_empty());
    });
}
