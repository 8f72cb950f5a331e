//! Wait of a committing session: it sleeps in its task until the pipeline notifies it directly.

use parking_lot::Mutex;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

/// Notification to a waiting session.
#[derive(Debug)]
pub(crate) enum Notification<T> {
    /// The session is asked to lead the next group.
    LeadershipOffered,
    /// The commit has ended.
    Completed(T),
}

enum State<T> {
    Waiting(Option<Waker>),
    LeadershipOffered,
    Done(T),
    Taken,
    /// The session is gone.
    Abandoned,
}

/// Wait of one session for its commit. Shared by the session and the pipeline.
pub(crate) struct Ticket<T> {
    state: Mutex<State<T>>,
}

impl<T> Ticket<T> {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Ticket {
            state: Mutex::new(State::Waiting(None)),
        })
    }

    /// Delivers the result. If the session is gone, the result is dropped.
    pub(crate) fn deliver(&self, result: T) {
        let mut state = self.state.lock();
        match &mut *state {
            State::Abandoned => {}
            State::Waiting(waker) => {
                let waker = waker.take();
                *state = State::Done(result);
                drop(state);
                if let Some(waker) = waker {
                    waker.wake();
                }
            }
            State::LeadershipOffered => panic!("a session that was asked to lead has not led"),
            State::Done(_) | State::Taken => panic!("a commit has one result"),
        }
    }

    /// Asks the session to lead the next group. Returns false if it is gone: the caller must lead.
    pub(crate) fn offer_leadership(&self) -> bool {
        let mut state = self.state.lock();
        match &mut *state {
            State::Abandoned => false,
            State::Waiting(waker) => {
                let waker = waker.take();
                *state = State::LeadershipOffered;
                drop(state);
                if let Some(waker) = waker {
                    waker.wake();
                }
                true
            }
            State::LeadershipOffered | State::Done(_) | State::Taken => {
                panic!("leadership is offered before the end, once at a time")
            }
        }
    }

    /// Marks the session as gone. Returns whether it was asked to lead and has not.
    pub(crate) fn abandon(&self) -> bool {
        let state = std::mem::replace(&mut *self.state.lock(), State::Abandoned);
        matches!(state, State::LeadershipOffered)
    }

    /// Checks for a notification; registers the task if there is none.
    pub(crate) fn poll(&self, context: &mut Context<'_>) -> Poll<Notification<T>> {
        let mut state = self.state.lock();
        match &mut *state {
            State::Waiting(waker) => {
                match waker {
                    Some(known) => known.clone_from(context.waker()),
                    None => *waker = Some(context.waker().clone()),
                }
                Poll::Pending
            }
            State::LeadershipOffered => {
                *state = State::Waiting(None);
                Poll::Ready(Notification::LeadershipOffered)
            }
            State::Done(_) => match std::mem::replace(&mut *state, State::Taken) {
                State::Done(result) => Poll::Ready(Notification::Completed(result)),
                _ => unreachable!("it was just seen"),
            },
            State::Taken | State::Abandoned => panic!("a commit was polled after its end"),
        }
    }
}

/// Runs a future to completion in this thread, letting a tokio runtime continue meanwhile.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(std::thread::Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    crate::lock::owner::blocking(|| {
        let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
        let mut context = Context::from_waker(&waker);
        let mut future = std::pin::pin!(future);
        loop {
            match future.as_mut().poll(&mut context) {
                Poll::Ready(output) => return output,
                Poll::Pending => std::thread::park(),
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ticket_delivers_an_offer_and_then_the_result() {
        let ticket = Ticket::new();
        let waiting = ticket.clone();
        let thread = std::thread::spawn(move || {
            let mut offers = 0;
            let result = block_on(std::future::poll_fn(|context| {
                loop {
                    match std::task::ready!(waiting.poll(context)) {
                        Notification::LeadershipOffered => offers += 1,
                        Notification::Completed(result) => return Poll::Ready(result),
                    }
                }
            }));
            (offers, result)
        });
        assert!(ticket.offer_leadership());
        // Most often the thread has seen the offer by then.
        std::thread::sleep(std::time::Duration::from_millis(30));
        ticket.deliver(7);
        assert_eq!(thread.join().unwrap(), (1, 7));
    }
}
