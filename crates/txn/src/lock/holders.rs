//! Those who hold one lock. One or two for most; a thousand for the table that everybody uses.

use super::mode::Mode;
use super::owner::LockOwner;
use smallvec::SmallVec;
use std::collections::HashMap;
use std::sync::Arc;

/// From so many holders on they are found by an index instead of a search.
const INDEXED_FROM: usize = 16;

const MODES: [Mode; 4] = [Mode::Read, Mode::Write, Mode::ReadOnly, Mode::Exclusive];

pub(super) struct Holder {
    pub(super) owner: Arc<LockOwner>,
    pub(super) mode: Mode,
}

/// The holders of a lock, with a count for each mode: whether a request goes with all of them costs the same for one and
/// for a thousand.
#[derive(Default)]
pub(super) struct Holders {
    list: SmallVec<[Holder; 1]>,
    counts: [u32; 4],
    /// Owner's number to place in the list; only for long lists. Boxed: most locks never have one, and entries are moved
    /// about.
    #[allow(clippy::box_collection)]
    index: Option<Box<HashMap<u64, usize>>>,
}

impl Holders {
    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Holder> {
        self.list.iter()
    }

    fn position(&self, owner: &Arc<LockOwner>) -> Option<usize> {
        match &self.index {
            Some(index) => index.get(&owner.id()).copied(),
            None => self
                .list
                .iter()
                .position(|holder| Arc::ptr_eq(&holder.owner, owner)),
        }
    }

    /// The mode in which an owner holds the lock.
    pub(super) fn mode_of(&self, owner: &Arc<LockOwner>) -> Option<Mode> {
        self.position(owner).map(|at| self.list[at].mode)
    }

    /// Whether `mode` goes with all holders but the one that holds it in the mode `own`.
    pub(super) fn go_with(&self, mode: Mode, own: Option<Mode>) -> bool {
        MODES.into_iter().all(|held| {
            let others = self.counts[held as usize] - u32::from(own == Some(held));
            others == 0 || mode.goes_with(held)
        })
    }

    /// Adds a holder, who is none yet.
    pub(super) fn add(&mut self, owner: Arc<LockOwner>, mode: Mode) {
        self.counts[mode as usize] += 1;
        if let Some(index) = &mut self.index {
            index.insert(owner.id(), self.list.len());
        }
        self.list.push(Holder { owner, mode });
        if self.index.is_none() && self.list.len() >= INDEXED_FROM {
            let places = self
                .list
                .iter()
                .enumerate()
                .map(|(at, holder)| (holder.owner.id(), at));
            self.index = Some(Box::new(places.collect()));
        }
    }

    /// Changes the mode in which an owner holds the lock.
    ///
    /// # Panics
    /// If he does not.
    pub(super) fn change(&mut self, owner: &Arc<LockOwner>, mode: Mode) {
        let at = self.position(owner).expect("who changes a lock's mode holds it");
        self.counts[self.list[at].mode as usize] -= 1;
        self.counts[mode as usize] += 1;
        self.list[at].mode = mode;
    }

    /// Takes away those who stand against `mode` and may be undone; puts them into `doomed`.
    pub(super) fn doom_conflicting(
        &mut self,
        mode: Mode,
        asking: &Arc<LockOwner>,
        doomed: &mut SmallVec<[Arc<LockOwner>; 4]>,
    ) {
        let stands_against =
            |holder: &Holder| !mode.goes_with(holder.mode) && !Arc::ptr_eq(&holder.owner, asking);
        let victims: SmallVec<[Arc<LockOwner>; 4]> = self
            .list
            .iter()
            .filter(|holder| stands_against(holder) && holder.owner.doom())
            .map(|holder| holder.owner.clone())
            .collect();
        for victim in victims {
            self.remove(&victim);
            doomed.push(victim);
        }
    }

    /// Takes a holder away. One whose lock was taken from him is none any more.
    ///
    /// # Panics
    /// If he is none otherwise.
    pub(super) fn remove(&mut self, owner: &Arc<LockOwner>) {
        let Some(at) = self.position(owner) else {
            assert!(owner.is_doomed(), "who releases a lock holds it");
            return;
        };
        let holder = self.list.swap_remove(at);
        self.counts[holder.mode as usize] -= 1;
        if let Some(index) = &mut self.index {
            index.remove(&owner.id());
            if let Some(moved) = self.list.get(at) {
                index.insert(moved.owner.id(), at);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interrupt::Interrupt;
    use rand::Rng;

    #[test]
    fn many_holders_are_found_as_few_are() {
        let owners: Vec<_> = (0..100).map(|id| LockOwner::new(id, Interrupt::new())).collect();
        let mut holders = Holders::default();
        let mut model: HashMap<u64, Mode> = HashMap::new();
        let mut rng = rand::rng();
        for _ in 0..20_000 {
            let owner = &owners[rng.random_range(0..owners.len())];
            let mode = MODES[rng.random_range(0..4)];
            match (model.contains_key(&owner.id()), rng.random_range(0..3)) {
                (false, _) => {
                    holders.add(owner.clone(), mode);
                    model.insert(owner.id(), mode);
                }
                (true, 0) => {
                    holders.change(owner, mode);
                    model.insert(owner.id(), mode);
                }
                (true, _) => {
                    holders.remove(owner);
                    model.remove(&owner.id());
                }
            }
            assert_eq!(holders.mode_of(owner), model.get(&owner.id()).copied());
            let expected = model
                .iter()
                .all(|(id, held)| *id == owner.id() || mode.goes_with(*held));
            assert_eq!(holders.go_with(mode, model.get(&owner.id()).copied()), expected);
        }
    }
}
