//! Full and quick forms of an experiment.

/// How thoroughly an experiment is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// With the published axes.
    Full,
    /// In about a second, with shortened axes: for tests.
    Quick,
}

impl Scale {
    /// Returns one of two numbers.
    pub fn choose<T>(self, full: T, quick: T) -> T {
        match self {
            Scale::Full => full,
            Scale::Quick => quick,
        }
    }
}
