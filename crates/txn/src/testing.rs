//! What the tests of this crate share: actors whose waits can be told from their work.

use crate::lock::owner::LockOwner;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

type Job<S> = Box<dyn FnOnce(&mut S) -> String + Send>;

struct Actor<S> {
    owner: Arc<LockOwner>,
    jobs: Sender<Job<S>>,
    results: Receiver<String>,
    is_busy: bool,
}

/// Named threads, each with its own state, of which a script knows at every moment whether they wait for a lock.
pub(crate) struct Actors<S> {
    actors: BTreeMap<String, Actor<S>>,
}

/// How long a step may take that waits for no lock.
const PATIENCE: Duration = Duration::from_secs(20);

impl<S: Send + 'static> Actors<S> {
    pub(crate) fn new() -> Self {
        Actors { actors: BTreeMap::new() }
    }

    pub(crate) fn contains(&self, name: &str) -> bool {
        self.actors.contains_key(name)
    }

    pub(crate) fn add(&mut self, name: &str, owner: Arc<LockOwner>, mut state: S) {
        let (jobs, queue) = channel::<Job<S>>();
        let (done, results) = channel();
        std::thread::spawn(move || {
            while let Ok(job) = queue.recv() {
                let result = job(&mut state);
                if done.send(result).is_err() {
                    break;
                }
            }
        });
        self.actors.insert(name.to_owned(), Actor { owner, jobs, results, is_busy: false });
    }

    /// Has an actor do something; its result, or `None` if it waits for a lock now.
    pub(crate) fn run(
        &mut self,
        name: &str,
        job: impl FnOnce(&mut S) -> String + Send + 'static,
    ) -> Option<String> {
        let actor = self.actors.get_mut(name).expect("an actor of that name");
        assert!(!actor.is_busy, "{name} still waits");
        actor.jobs.send(Box::new(job)).expect("the actor's thread runs");
        actor.is_busy = true;
        actor.settle()
    }

    /// What has become of those who waited.
    pub(crate) fn news(&mut self) -> Vec<(String, String)> {
        let busy = self.actors.iter_mut().filter(|(_, actor)| actor.is_busy);
        busy.filter_map(|(name, actor)| actor.settle().map(|result| (name.clone(), result))).collect()
    }

    /// Those who still wait.
    pub(crate) fn waiting(&self) -> Vec<&str> {
        self.actors.iter().filter(|(_, actor)| actor.is_busy).map(|(name, _)| name.as_str()).collect()
    }
}

impl<S> Actor<S> {
    /// Waits until the actor is idle (its result) or waits for a lock.
    fn settle(&mut self) -> Option<String> {
        let start = Instant::now();
        loop {
            // Looked at first: an actor that is not parked now may have finished by the next look.
            let is_parked = self.owner.is_parked();
            if let Ok(result) = self.results.recv_timeout(Duration::from_micros(200)) {
                self.is_busy = false;
                return Some(result);
            }
            if is_parked && self.owner.is_parked() {
                return None;
            }
            assert!(start.elapsed() < PATIENCE, "an actor neither finishes nor waits for a lock");
        }
    }
}
