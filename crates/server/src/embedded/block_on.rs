//! Waiting for a future on a thread that may belong to another runtime.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use tokio::runtime::Handle;

struct ThreadWaker(Thread);

impl Wake for ThreadWaker {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Polls a future of the server on the caller's thread until it is ready. Its timers and tasks are those of the
/// server's runtime.
///
/// tokio's own `block_on` panics on a thread of another runtime. This one blocks it, as the caller has asked for.
pub fn block_on<F: Future>(runtime: &Handle, future: F) -> F::Output {
    let _entered = runtime.enter();
    let mut future = pin!(future);
    // The first poll is most often the last: reads and changes within a transaction wait for nothing.
    if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        return output;
    }
    let waker = Waker::from(Arc::new(ThreadWaker(std::thread::current())));
    let mut context = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
        std::thread::park();
    }
}
