//! Every request of every operation fails once, in both ways: an object is whole or absent, and no answer is wrong.

use paceline_object_storage::{Bytes, Error, ObjectStorage, Overwrite, Result};
use paceline_simulated_store::{Failure, SimulatedStore};
use std::sync::Arc;

/// More requests than any of the operations below sends.
const REQUESTS_MAX: usize = 100;

fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(future)
}

fn open(store: &SimulatedStore) -> ObjectStorage {
    ObjectStorage::of_store(Arc::new(store.clone()), "there")
}

/// Calls `work` with a store for each request that `work` sends and for each kind of failure. Returns the number of
/// requests. `work` prepares the store, makes one of its requests fail with the given closure, and checks the result.
fn at_each_request<F: Future<Output = ()>>(
    mut work: impl FnMut(SimulatedStore, usize, Failure) -> F,
) -> usize {
    for request in 1..REQUESTS_MAX {
        for failure in [Failure::Refused, Failure::AnswerLost] {
            let store = SimulatedStore::new();
            run(work(store.clone(), request, failure));
            if !store.has_failed() {
                return request - 1;
            }
        }
    }
    panic!("the work never ends");
}

/// Content of several parts of an upload.
fn long() -> Vec<u8> {
    (0..20_000_000u32).map(|number| (number >> 8) as u8).collect()
}

#[test]
fn an_upload_that_fails_at_any_request_leaves_the_whole_object_or_none() {
    let content = long();
    let requests = at_each_request(async |store, request, failure| {
        let storage = open(&store);
        store.fail_at(request, failure);
        let upload = async {
            let mut upload = storage.upload("a/long").await?;
            for chunk in content.chunks(3 << 20) {
                upload.write(chunk.to_vec()).await?;
            }
            upload.finish().await
        };
        let uploaded: Result<()> = upload.await;
        assert_eq!(uploaded.is_err(), store.has_failed(), "{request} {failure:?}");
        let names = store.names().await;
        let is_complete = uploaded.is_ok() || (request == 5 && failure == Failure::AnswerLost);
        assert_eq!(
            names,
            ["a/long"][..usize::from(is_complete)],
            "{request} {failure:?}"
        );
        if is_complete {
            store.repair();
            assert!(storage.get("a/long").await.unwrap() == content);
        }
    });
    // Begin, three parts, end.
    assert_eq!(requests, 5);
}

#[test]
fn a_cancelled_upload_leaves_nothing_also_when_cancelling_fails() {
    at_each_request(async |store, request, failure| {
        let storage = open(&store);
        let mut upload = storage.upload("x").await.unwrap();
        upload.write("content").await.unwrap();
        store.fail_at(request, failure);
        let aborted = upload.abort().await;
        assert_eq!(aborted.is_err(), store.has_failed());
        assert!(store.names().await.is_empty());
    });
}

#[test]
fn a_failed_conditional_write_does_not_replace_an_object() {
    let requests = at_each_request(async |store, request, failure| {
        let storage = open(&store);
        store.fail_at(request, failure);
        let put = storage.put("m", "first", Overwrite::No).await;
        store.repair();
        let is_there = !store.has_failed() || failure == Failure::AnswerLost;
        assert_eq!(put.is_ok(), !store.has_failed());
        assert!(!matches!(put, Err(Error::AlreadyThere { .. })));
        // The next attempt tells which of the two it was.
        match storage.put("m", "second", Overwrite::No).await {
            Ok(()) => assert!(!is_there),
            Err(error) => assert!(is_there && matches!(error, Error::AlreadyThere { .. }), "{error}"),
        }
        let expected = if is_there { "first" } else { "second" };
        assert_eq!(storage.get("m").await.unwrap(), expected);
        storage.put("m", "third", Overwrite::Yes).await.unwrap();
        assert_eq!(storage.get("m").await.unwrap(), "third");
    });
    assert_eq!(requests, 1);
}

/// Stores one object of 1,000 bytes.
async fn with_one_object(store: &SimulatedStore) -> (ObjectStorage, Vec<u8>) {
    let content: Vec<u8> = (0..1000u32).map(|number| (number % 251) as u8).collect();
    let storage = open(store);
    storage.put("a/b", content.clone(), Overwrite::No).await.unwrap();
    (storage, content)
}

#[test]
fn a_read_returns_exactly_the_bytes_or_fails() {
    for range in [0..1000, 3..10, 999..1000, 990..1001, 1000..1001, 5000..5001] {
        let expected = (range.end <= 1000).then_some(range.start as usize..range.end as usize);
        let requests = at_each_request(async |store, request, failure| {
            let (storage, content) = with_one_object(&store).await;
            store.fail_at(request, failure);
            let read: Result<Bytes> = storage.read("a/b", range.clone()).await;
            match (&expected, read) {
                (Some(expected), Ok(bytes)) => assert_eq!(bytes, content[expected.clone()]),
                (None, Ok(bytes)) => panic!("{} bytes of {range:?}", bytes.len()),
                (None, Err(Error::Short { end, wanted, .. })) => assert_eq!((end, wanted), (1000, range.end)),
                (_, Err(error)) => assert!(store.has_failed(), "{error}"),
            }
        });
        assert!(requests >= 2, "{range:?} takes {requests}");
    }
}

#[test]
fn a_whole_object_is_never_returned_in_part() {
    let requests = at_each_request(async |store, request, failure| {
        let (storage, content) = with_one_object(&store).await;
        store.fail_at(request, failure);
        let got = storage.get("a/b").await;
        assert_eq!(got.is_err(), store.has_failed());
        assert!(got.is_err() || got.unwrap() == content);
    });
    assert_eq!(requests, 2);
    let requests = at_each_request(async |store, request, failure| {
        let (storage, content) = with_one_object(&store).await;
        store.fail_at(request, failure);
        let download = async {
            let mut download = storage.download("a/b").await?;
            let mut bytes = Vec::new();
            while let Some(chunk) = download.next().await? {
                bytes.extend_from_slice(&chunk);
            }
            assert_eq!(bytes.len() as u64, download.length());
            Ok::<_, Error>(bytes)
        };
        let downloaded = download.await;
        assert_eq!(downloaded.is_err(), store.has_failed());
        assert!(downloaded.is_err() || downloaded.unwrap() == content);
    });
    assert_eq!(requests, 2);
}

#[test]
fn a_listing_is_complete_or_fails() {
    let requests = at_each_request(async |store, request, failure| {
        let storage = open(&store);
        for name in ["log/b", "log/a", "logs", "log2/c", "log/deep/d"] {
            storage.put(name, name, Overwrite::No).await.unwrap();
        }
        store.fail_at(request, failure);
        match storage.list("log").await {
            Ok(objects) => {
                let names: Vec<&str> = objects.iter().map(|object| object.name.as_str()).collect();
                assert_eq!(names, ["log/a", "log/b", "log/deep/d"]);
                assert!(
                    objects
                        .iter()
                        .all(|object| object.length == object.name.len() as u64)
                );
                assert!(!store.has_failed());
            }
            Err(_) => assert!(store.has_failed()),
        }
    });
    assert_eq!(requests, 1);
}

#[test]
fn a_failed_deletion_can_be_repeated() {
    let requests = at_each_request(async |store, request, failure| {
        let (storage, _) = with_one_object(&store).await;
        store.fail_at(request, failure);
        let deleted = storage.delete("a/b").await;
        assert_eq!(deleted.is_err(), store.has_failed());
        store.repair();
        storage.delete("a/b").await.unwrap();
        assert!(store.names().await.is_empty());
    });
    assert_eq!(requests, 1);
}

#[test]
fn a_failure_names_the_place_the_operation_and_the_object() {
    let store = SimulatedStore::new();
    run(async {
        let (storage, _) = with_one_object(&store).await;
        let mut failures = Vec::new();
        let fail = || store.fail_at(1, Failure::Refused);
        fail();
        failures.push((
            storage.put("a/b", "x", Overwrite::Yes).await.unwrap_err(),
            "write 'a/b'",
        ));
        fail();
        failures.push((storage.upload("a/c").await.map(drop).unwrap_err(), "write 'a/c'"));
        fail();
        failures.push((
            storage.describe("a/b").await.map(drop).unwrap_err(),
            "look at 'a/b'",
        ));
        fail();
        failures.push((storage.get("a/b").await.map(drop).unwrap_err(), "read 'a/b'"));
        fail();
        failures.push((storage.download("a/b").await.map(drop).unwrap_err(), "read 'a/b'"));
        fail();
        failures.push((storage.list("a").await.map(drop).unwrap_err(), "list 'a'"));
        fail();
        failures.push((storage.delete("a/b").await.unwrap_err(), "delete 'a/b'"));
        for (error, operation) in failures {
            let text = error.to_string();
            assert!(
                text.starts_with(&format!("there: cannot {operation}: ")),
                "{text}"
            );
            assert!(text.contains("the service has failed"), "{text}");
        }
    });
}
