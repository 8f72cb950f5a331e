//! Holders of one lock. Most locks have one: a transaction of a million rows has millions of such locks, so a
//! single holder must be small. Some have two; the lock of a table that every session uses has a thousand.

use super::mode::Mode;
use super::owner::LockOwner;
use hashbrown::HashMap;
use smallvec::SmallVec;
use std::sync::Arc;

/// Number of holders from which on an index replaces the linear search.
const INDEXED_FROM: usize = 16;

const MODES: [Mode; 4] = [Mode::Read, Mode::Write, Mode::ReadOnly, Mode::Exclusive];

pub(super) struct Holder {
    pub(super) owner: Arc<LockOwner>,
    pub(super) mode: Mode,
}

/// Holders of a lock.
#[derive(Default)]
pub(super) enum Holders {
    #[default]
    Nobody,
    One(Holder),
    /// Also after all but one of several have been removed.
    Several(Box<HolderList>),
}

/// Several holders with a count for each mode: checking a request against all of them costs the same for two
/// and for a thousand.
#[derive(Default)]
pub(super) struct HolderList {
    list: Vec<Holder>,
    counts: [u32; 4],
    /// Owner id to position in the list. Only for long lists.
    index: Option<HashMap<u64, usize>>,
}

impl HolderList {
    fn position(&self, owner: &Arc<LockOwner>) -> Option<usize> {
        match &self.index {
            Some(index) => index.get(&owner.id()).copied(),
            None => self
                .list
                .iter()
                .position(|holder| Arc::ptr_eq(&holder.owner, owner)),
        }
    }

    fn are_compatible_with(&self, mode: Mode, own: Option<Mode>) -> bool {
        MODES.into_iter().all(|held| {
            let others = self.counts[held as usize] - u32::from(own == Some(held));
            others == 0 || mode.is_compatible_with(held)
        })
    }

    fn add(&mut self, holder: Holder) {
        self.counts[holder.mode as usize] += 1;
        if let Some(index) = &mut self.index {
            index.insert(holder.owner.id(), self.list.len());
        }
        self.list.push(holder);
        if self.index.is_none() && self.list.len() >= INDEXED_FROM {
            let places = self
                .list
                .iter()
                .enumerate()
                .map(|(at, holder)| (holder.owner.id(), at));
            self.index = Some(places.collect());
        }
    }

    fn change(&mut self, at: usize, mode: Mode) {
        self.counts[self.list[at].mode as usize] -= 1;
        self.counts[mode as usize] += 1;
        self.list[at].mode = mode;
    }

    fn remove(&mut self, at: usize) {
        let holder = self.list.swap_remove(at);
        self.counts[holder.mode as usize] -= 1;
        if let Some(index) = &mut self.index {
            index.remove(&holder.owner.id());
            if let Some(moved) = self.list.get(at) {
                index.insert(moved.owner.id(), at);
            }
        }
    }
}

impl Holders {
    fn list(&self) -> &[Holder] {
        match self {
            Holders::Nobody => &[],
            Holders::One(holder) => std::slice::from_ref(holder),
            Holders::Several(list) => &list.list,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.list().is_empty()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Holder> {
        self.list().iter()
    }

    /// Returns the mode in which an owner holds the lock.
    pub(super) fn mode_of(&self, owner: &Arc<LockOwner>) -> Option<Mode> {
        match self {
            Holders::Nobody => None,
            Holders::One(holder) => Arc::ptr_eq(&holder.owner, owner).then_some(holder.mode),
            Holders::Several(list) => list.position(owner).map(|at| list.list[at].mode),
        }
    }

    /// Returns whether `mode` is compatible with all holders except one that holds it in the mode `own`.
    pub(super) fn are_compatible_with(&self, mode: Mode, own: Option<Mode>) -> bool {
        match self {
            Holders::Nobody => true,
            Holders::One(holder) => own == Some(holder.mode) || mode.is_compatible_with(holder.mode),
            Holders::Several(list) => list.are_compatible_with(mode, own),
        }
    }

    /// Adds a holder. The owner must not hold the lock yet.
    pub(super) fn add(&mut self, owner: Arc<LockOwner>, mode: Mode) {
        let holder = Holder { owner, mode };
        *self = match std::mem::take(self) {
            Holders::Nobody => Holders::One(holder),
            Holders::One(first) => {
                let mut list = Box::<HolderList>::default();
                list.add(first);
                list.add(holder);
                Holders::Several(list)
            }
            Holders::Several(mut list) => {
                list.add(holder);
                Holders::Several(list)
            }
        };
    }

    /// Changes the mode in which an owner holds the lock.
    ///
    /// # Panics
    /// If the owner does not hold it.
    pub(super) fn change(&mut self, owner: &Arc<LockOwner>, mode: Mode) {
        match self {
            Holders::One(holder) if Arc::ptr_eq(&holder.owner, owner) => holder.mode = mode,
            Holders::Nobody | Holders::One(_) => panic!("an owner that changes a lock's mode holds it"),
            Holders::Several(list) => {
                let at = list
                    .position(owner)
                    .expect("an owner that changes a lock's mode holds it");
                list.change(at, mode);
            }
        }
    }

    /// Removes the holders that conflict with `mode` and may be undone; appends them to `doomed`.
    pub(super) fn doom_conflicting(
        &mut self,
        mode: Mode,
        asking: &Arc<LockOwner>,
        doomed: &mut SmallVec<[Arc<LockOwner>; 4]>,
    ) {
        let conflicts =
            |holder: &Holder| !mode.is_compatible_with(holder.mode) && !Arc::ptr_eq(&holder.owner, asking);
        let victims: SmallVec<[Arc<LockOwner>; 4]> = self
            .iter()
            .filter(|holder| conflicts(holder) && holder.owner.doom())
            .map(|holder| holder.owner.clone())
            .collect();
        for victim in victims {
            self.remove(&victim);
            doomed.push(victim);
        }
    }

    /// Removes a holder. Does nothing for an owner whose lock was taken from it.
    ///
    /// # Panics
    /// If the owner does not hold the lock and is not doomed.
    pub(super) fn remove(&mut self, owner: &Arc<LockOwner>) {
        match self {
            Holders::One(holder) if Arc::ptr_eq(&holder.owner, owner) => *self = Holders::Nobody,
            Holders::Nobody | Holders::One(_) => released_twice_by(owner),
            Holders::Several(list) => match list.position(owner) {
                Some(at) => list.remove(at),
                None => released_twice_by(owner),
            },
        }
    }
}

fn released_twice_by(owner: &Arc<LockOwner>) {
    assert!(owner.is_doomed(), "an owner that releases a lock holds it");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interrupt::Interrupt;
    use rand::Rng;

    #[test]
    fn a_single_holder_takes_no_extra_room() {
        assert_eq!(size_of::<Holders>(), size_of::<Holder>());
    }

    #[test]
    fn holders_match_a_model_with_and_without_the_index() {
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
                .all(|(id, held)| *id == owner.id() || mode.is_compatible_with(*held));
            assert_eq!(
                holders.are_compatible_with(mode, model.get(&owner.id()).copied()),
                expected
            );
        }
    }
}
