//! An object store in memory that fails as services do, for tests of everything that keeps objects.
//!
//! Each request has a number, from 1. A test runs its work once without failures, and then once for each request and
//! [`Failure`], as [`SimulatedStore::fail_at`] says. Afterwards it checks the contents of the store.
//!
//! Like `simulated_disk` it is a crate of its own and only a dev-dependency of others, so no server contains it.
#![forbid(unsafe_code)]

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::stream::{self, BoxStream};
use futures_util::{StreamExt, TryStreamExt};
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, GetResultPayload, ListResult, MultipartUpload, ObjectMeta,
    ObjectStore, ObjectStoreExt, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result, UploadPart,
};
use parking_lot::Mutex;
use std::fmt;
use std::sync::Arc;

/// Kind of failure of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Failure {
    /// The service does not execute it. Only the beginning of a content or a listing arrives.
    Refused,
    /// The service executes it, but its answer is lost.
    AnswerLost,
}

/// An object store in memory. All clones are the same store.
#[derive(Clone, Debug, Default)]
pub struct SimulatedStore {
    objects: Arc<InMemory>,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    /// Requests since the last [`SimulatedStore::take_requests`], each as a verb and the name of the object.
    requests: Vec<String>,
    /// Number of requests up to now.
    count: usize,
    failure: Option<(usize, Failure)>,
    has_failed: bool,
}

/// Decision about a request that was executed.
struct Answer {
    is_lost: bool,
}

impl Answer {
    fn deliver<T>(&self, done: Result<T>) -> Result<T> {
        match self.is_lost {
            true => Err(failed()),
            false => done,
        }
    }
}

fn failed() -> Error {
    Error::Generic {
        store: "simulated",
        source: "the service has failed".into(),
    }
}

impl SimulatedStore {
    /// Creates an empty store that does not fail.
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes one request fail; 1 is the next one.
    pub fn fail_at(&self, request: usize, failure: Failure) {
        let mut state = self.state.lock();
        state.failure = Some((state.count + request, failure));
        state.has_failed = false;
    }

    /// Lets all requests from now on succeed.
    pub fn repair(&self) {
        self.state.lock().failure = None;
    }

    /// Returns whether the request that was to fail was made.
    pub fn has_failed(&self) -> bool {
        self.state.lock().has_failed
    }

    /// Returns the requests since the last call, each as a verb and the name of the object: `put a/b`.
    pub fn take_requests(&self) -> Vec<String> {
        std::mem::take(&mut self.state.lock().requests)
    }

    /// Returns the names of the finished objects, sorted.
    pub async fn names(&self) -> Vec<String> {
        let listed: Result<Vec<ObjectMeta>> = self.objects.list(None).try_collect().await;
        let objects = listed.expect("memory does not fail");
        let mut names: Vec<String> = objects
            .into_iter()
            .map(|object| object.location.to_string())
            .collect();
        names.sort();
        names
    }

    /// Replaces the content of an object, as damage or another program would.
    pub async fn replace(&self, name: &str, content: impl Into<Bytes>) {
        let payload = PutPayload::from_bytes(content.into());
        let put = self.objects.put(&Path::from(name), payload).await;
        put.expect("memory does not fail");
    }

    fn request(&self, verb: &str, location: &str) -> Result<Answer> {
        let mut state = self.state.lock();
        state.requests.push(format!("{verb} {location}"));
        state.count += 1;
        let failure = match state.failure {
            Some((number, failure)) if number == state.count => failure,
            _ => return Ok(Answer { is_lost: false }),
        };
        state.has_failed = true;
        match failure {
            Failure::Refused => Err(failed()),
            Failure::AnswerLost => Ok(Answer { is_lost: true }),
        }
    }

    /// Replaces the content of an answer by a stream that may fail in the middle.
    async fn content(&self, location: &Path, result: GetResult) -> Result<GetResult> {
        let (meta, range, attributes, extensions) = (
            result.meta.clone(),
            result.range.clone(),
            result.attributes.clone(),
            result.extensions.clone(),
        );
        let bytes = result.bytes().await?;
        let half = bytes.len() / 2;
        let mut chunks = vec![Ok(bytes.slice(..half))];
        chunks.push(match self.request("content", location.as_ref()) {
            Ok(Answer { is_lost: false }) => Ok(bytes.slice(half..)),
            Ok(Answer { is_lost: true }) | Err(_) => Err(failed()),
        });
        Ok(GetResult {
            payload: GetResultPayload::Stream(stream::iter(chunks).boxed()),
            meta,
            range,
            attributes,
            extensions,
        })
    }
}

impl fmt::Display for SimulatedStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("simulated store")
    }
}

#[async_trait]
impl ObjectStore for SimulatedStore {
    async fn put_opts(&self, location: &Path, payload: PutPayload, options: PutOptions) -> Result<PutResult> {
        let answer = self.request("put", location.as_ref())?;
        answer.deliver(self.objects.put_opts(location, payload, options).await)
    }

    async fn put_multipart_opts(
        &self,
        location: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        let answer = self.request("upload", location.as_ref())?;
        let upload = answer.deliver(self.objects.put_multipart_opts(location, options).await)?;
        Ok(Box::new(SimulatedUpload {
            store: self.clone(),
            location: location.clone(),
            upload,
        }))
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        let is_head = options.head;
        let answer = self.request(if is_head { "head" } else { "get" }, location.as_ref())?;
        let result = answer.deliver(self.objects.get_opts(location, options).await)?;
        match is_head {
            true => Ok(result),
            false => self.content(location, result).await,
        }
    }

    fn delete_stream(&self, locations: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        let store = self.clone();
        let deleted = locations.and_then(move |location| {
            let store = store.clone();
            async move {
                let answer = store.request("delete", location.as_ref())?;
                answer.deliver(store.objects.delete(&location).await)?;
                Ok(location)
            }
        });
        deleted.boxed()
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        let shown = prefix.map_or_else(String::new, ToString::to_string);
        let failure = match self.request("list", &shown) {
            Ok(Answer { is_lost: false }) => return self.objects.list(prefix),
            Ok(Answer { is_lost: true }) => usize::MAX,
            Err(_) => 1,
        };
        let begin = self.objects.list(prefix).take(failure);
        begin.chain(stream::iter([Err(failed())])).boxed()
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.objects.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.objects.copy_opts(from, to, options).await
    }
}

/// An upload, of which each part and the end is a request.
#[derive(Debug)]
struct SimulatedUpload {
    store: SimulatedStore,
    location: Path,
    upload: Box<dyn MultipartUpload>,
}

#[async_trait]
impl MultipartUpload for SimulatedUpload {
    fn put_part(&mut self, data: PutPayload) -> UploadPart {
        let answer = self.store.request("part", self.location.as_ref());
        let part = self.upload.put_part(data);
        Box::pin(async move { answer?.deliver(part.await) })
    }

    async fn complete(&mut self) -> Result<PutResult> {
        let answer = self.store.request("complete", self.location.as_ref())?;
        answer.deliver(self.upload.complete().await)
    }

    async fn abort(&mut self) -> Result<()> {
        let answer = self.store.request("abort", self.location.as_ref())?;
        answer.deliver(self.upload.abort().await)
    }
}
