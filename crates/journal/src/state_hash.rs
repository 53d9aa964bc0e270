//! Hashes of the whole state of a simulation: the parts of the world, and the robot's stack.

use chicane_robot::Stack;
use chicane_sim::Sim;
use std::fmt::{self, Write};
use xxhash_rust::xxh3::Xxh3;

/// Name of the robot's part. It follows the parts of [`Sim::digests`].
const ROBOT: &str = "robot";

/// The names of the hashed parts, in the order of [`state_hashes`].
pub fn part_names(sim: &Sim) -> Vec<String> {
    sim.digests().iter().map(|digest| digest.part.to_owned()).chain([ROBOT.to_owned()]).collect()
}

/// The hashes of all parts of the state.
pub fn state_hashes(sim: &Sim, stack: &Stack) -> Vec<u64> {
    let mut robot = HashWriter(Xxh3::new());
    // Writing to a hash never fails.
    let _ = stack.write_state(&mut robot);
    sim.digests().iter().map(|digest| digest.hash).chain([robot.0.digest()]).collect()
}

/// Hashes text.
struct HashWriter(Xxh3);

impl Write for HashWriter {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.update(text.as_bytes());
        Ok(())
    }
}
