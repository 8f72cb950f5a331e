//! Packed locations of a write set's keys and values: a transaction of millions of rows has one entry for each
//! of its keys.

/// Location in the arena, or in the file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Slot {
    pub start: usize,
    pub length: u32,
}

/// Bit of a slot's start that marks a location in the file.
pub(super) const IN_FILE: usize = 1 << 63;

impl Slot {
    /// # Panics
    /// If it is longer than 4 GiB.
    pub fn new(start: usize, length: usize) -> Self {
        Slot {
            start,
            length: u32::try_from(length).expect("a row is below 4 GiB"),
        }
    }

    /// Returns the offset in the file, if it is there.
    pub fn in_file(self) -> Option<u64> {
        (self.start & IN_FILE != 0).then_some((self.start & !IN_FILE) as u64)
    }
}

/// Location of a key in the arena: start (35 bits), length (28), whether it ends with a row id whose version is
/// not known yet (1).
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct KeySlot(u64);

const KEY_LENGTH_BITS: u32 = 28;

impl KeySlot {
    /// # Panics
    /// If the key has 256 MiB or more, or more than 32 GiB of others precede it; keys are always in memory.
    pub fn new(slot: Slot, row_id_at_end: bool) -> Self {
        assert!(slot.length < 1 << KEY_LENGTH_BITS, "a key is below 256 MiB");
        assert!(
            slot.start >> (63 - KEY_LENGTH_BITS) == 0,
            "keys are below 32 GiB together"
        );
        let start = (slot.start as u64) << (KEY_LENGTH_BITS + 1);
        KeySlot(start | u64::from(slot.length) << 1 | u64::from(row_id_at_end))
    }

    pub fn slot(self) -> Slot {
        Slot {
            start: (self.0 >> (KEY_LENGTH_BITS + 1)) as usize,
            length: (self.0 >> 1) as u32 & ((1 << KEY_LENGTH_BITS) - 1),
        }
    }

    pub fn row_id_at_end(self) -> bool {
        self.0 & 1 != 0
    }
}

/// Location of a value, or the information that the key is deleted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct ValueSlot {
    /// Start of the slot, and the bits below.
    start: u64,
    length: u32,
}

const PRESENT: u64 = 1 << 62;
const ROW_ID_AT_END: u64 = 1 << 61;

impl ValueSlot {
    /// Value slot of a deleted key.
    pub const DELETED: ValueSlot = ValueSlot { start: 0, length: 0 };

    pub fn new(slot: Slot, row_id_at_end: bool) -> Self {
        let start = slot.start as u64;
        assert!(
            start & (PRESENT | ROW_ID_AT_END) == 0,
            "values are below 2 EiB together"
        );
        let row_id = if row_id_at_end { ROW_ID_AT_END } else { 0 };
        ValueSlot {
            start: start | PRESENT | row_id,
            length: slot.length,
        }
    }

    /// Returns `None` if the key is deleted.
    pub fn slot(self) -> Option<Slot> {
        (self.start & PRESENT != 0).then_some(Slot {
            start: (self.start & !(PRESENT | ROW_ID_AT_END)) as usize,
            length: self.length,
        })
    }

    /// Returns whether the value ends with a row id whose version is not known yet.
    pub fn row_id_at_end(self) -> bool {
        self.start & ROW_ID_AT_END != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_slots_are_read_back() {
        for start in [0, 1, 4711, (1 << 35) - 1] {
            for length in [0, 1, (1 << 28) - 1] {
                let slot = Slot::new(start, length);
                for row_id in [false, true] {
                    let key = KeySlot::new(slot, row_id);
                    assert_eq!((key.slot(), key.row_id_at_end()), (slot, row_id));
                    for start in [start, start | IN_FILE] {
                        let slot = Slot { start, ..slot };
                        let value = ValueSlot::new(slot, row_id);
                        assert_eq!((value.slot(), value.row_id_at_end()), (Some(slot), row_id));
                    }
                }
            }
        }
        assert_eq!(ValueSlot::DELETED.slot(), None);
        assert!(!ValueSlot::DELETED.row_id_at_end());
        assert_eq!(Slot::new(7 | IN_FILE, 1).in_file(), Some(7));
        assert_eq!(Slot::new(7, 1).in_file(), None);
    }

    #[test]
    #[should_panic(expected = "below 256 MiB")]
    fn a_key_beyond_its_limit_panics() {
        KeySlot::new(Slot::new(0, 1 << 28), false);
    }
}
