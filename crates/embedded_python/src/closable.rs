//! Objects that a close of their database ends.

use parking_lot::Mutex;
use std::sync::{Arc, Weak};

/// Number of objects from which on the list is cleared of those that are no more.
const OBJECTS_MIN: usize = 64;

/// An object that needs the open database: a session, or a stream.
pub trait Closable: Send + Sync {
    /// Ends the call that another thread makes with it, soon, and refuses others.
    fn begin_close(&self);

    /// Waits for that call, and lets go of the database.
    fn close(&self);
}

/// Objects of a database.
pub struct ObjectList(Mutex<WeakObjects>);

struct WeakObjects {
    objects: Vec<Weak<dyn Closable>>,
    /// Length from which on it is cleared of those that are no more.
    clear_at: usize,
    is_closed: bool,
}

impl ObjectList {
    pub fn new() -> ObjectList {
        ObjectList(Mutex::new(WeakObjects {
            objects: Vec::new(),
            clear_at: OBJECTS_MIN,
            is_closed: false,
        }))
    }

    /// Adds an object; closes it at once if the database is closed.
    pub fn add<C: Closable + 'static>(&self, object: &Arc<C>) {
        let weak: Weak<C> = Arc::downgrade(object);
        let mut list = self.0.lock();
        if list.is_closed {
            object.close();
            return;
        }
        list.objects.push(weak);
        if list.objects.len() >= list.clear_at {
            list.objects.retain(|object| object.strong_count() > 0);
            list.clear_at = OBJECTS_MIN.max(2 * list.objects.len());
        }
    }

    /// Ends what the objects do, and takes the database from them.
    pub fn close(&self) {
        let objects = {
            let mut list = self.0.lock();
            list.is_closed = true;
            std::mem::take(&mut list.objects)
        };
        let objects: Vec<_> = objects.iter().filter_map(Weak::upgrade).collect();
        // All of them first: one may wait for a lock of another.
        objects.iter().for_each(|object| object.begin_close());
        objects.iter().for_each(|object| object.close());
    }
}
