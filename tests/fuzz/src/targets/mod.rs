//! The targets, each with its samples.

mod cluster_messages;
mod events;
mod json;
mod log_directory;
mod memcached_requests;
mod packets;
mod row_images;
mod sql;

/// A function that takes any bytes.
pub struct Target {
    /// Name on the command line and in `fuzz/`.
    pub name: &'static str,
    /// Reads the bytes; panics if something is wrong.
    pub run: fn(&[u8]),
    /// Valid inputs.
    pub samples: fn() -> Vec<Vec<u8>>,
    /// Byte sequences that mean something to the target.
    pub words: &'static [&'static [u8]],
}

/// All targets.
pub const TARGETS: &[Target] = &[
    sql::TARGET,
    row_images::TARGET,
    json::TARGET,
    packets::TARGET,
    cluster_messages::TARGET,
    events::TARGET,
    log_directory::TARGET,
    memcached_requests::TARGET,
];

/// Returns the target with this name.
pub fn target(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mutation::Mutator;

    /// Number of changed inputs for each target: the fuzz step of `make test` tries more.
    const INPUTS: usize = 20_000;

    #[test]
    fn samples_and_their_changes_cause_no_panic() {
        for target in TARGETS {
            let samples = (target.samples)();
            samples.iter().for_each(|sample| (target.run)(sample));
            let mut mutator = Mutator::new(&samples, target.words, 20_260);
            for _ in 0..INPUTS {
                (target.run)(&mutator.next_input());
            }
        }
    }
}
