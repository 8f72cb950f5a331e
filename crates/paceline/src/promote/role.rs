//! Roles of servers in a promotion.

/// Role of a server in a promotion.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// It becomes the primary, or follows the new one.
    Replica,
    /// It stores the log, and follows the primary.
    Archive,
    /// It has been the primary until now.
    OldPrimary,
}
