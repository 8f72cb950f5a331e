//! Names of slots, for messages that are made while an expression is evaluated.

use paceline_types::Value;

/// Names of the slots of a block's rows.
pub trait SlotNames {
    /// Appends the text of the expression whose value is in the slot. Appends nothing for a slot that it does not know.
    fn append_slot(&self, slot: usize, parameters: &[Value], out: &mut String);

    /// Returns the name of the item of the select list whose expression is at this place in memory.
    fn item_name(&self, place: usize) -> Option<&str>;

    /// Appends the name of the stored column in the slot. Returns whether there is one.
    fn append_column(&self, slot: usize, out: &mut String) -> bool;
}
