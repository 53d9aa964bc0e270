//! Saves and restores a simulation as bytes, and computes hashes of its parts.

use crate::encode::{self, Encode};
use crate::physics::Solver;
use crate::sim::Sim;
use crate::state::State;
use xxhash_rust::xxh3::xxh3_64;

const MAGIC: &[u8; 8] = b"chicane2";
const HEADER: usize = 8 + 8 + 8;

/// The reason why bytes cannot be restored. The simulation stays unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RestoreError {
    /// The bytes were not written by [`Sim::save`] of this version.
    #[error("these bytes are not a saved simulation of this version")]
    NotASave,
    /// The bytes are truncated or modified.
    #[error("the saved simulation is damaged")]
    Damaged,
    /// The bytes were saved from another world, profile, seed or overlay.
    #[error("the simulation was saved from another world, vehicle or seed")]
    OtherWorld,
}

/// A hash of one part of a simulation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Digest {
    /// Name of the part.
    pub part: &'static str,
    /// Hash of the part's bytes.
    pub hash: u64,
}

impl Sim {
    /// Returns the complete state as bytes.
    pub fn save(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(128 << 10);
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&self.origin.to_le_bytes());
        bytes.extend_from_slice(&[0; 8]);
        let mut bytes = encode::append(&self.state, bytes);
        let check = xxh3_64(&bytes[HEADER..]).to_le_bytes();
        bytes[16..HEADER].copy_from_slice(&check);
        bytes
    }

    /// Restores a saved state of the same world, profile, seed and overlay. The checksum detects
    /// damage, but not forged bytes: restore only bytes from a trusted source.
    pub fn restore(&mut self, bytes: &[u8]) -> Result<(), RestoreError> {
        let (header, body) = bytes.split_at_checked(HEADER).ok_or(RestoreError::NotASave)?;
        if &header[..8] != MAGIC {
            return Err(RestoreError::NotASave);
        }
        if xxh3_64(body).to_le_bytes() != header[16..] {
            return Err(RestoreError::Damaged);
        }
        if self.origin.to_le_bytes() != header[8..16] {
            return Err(RestoreError::OtherWorld);
        }
        let state: State = postcard::from_bytes(body).map_err(|_| RestoreError::Damaged)?;
        if !state.fits(&self.state) {
            return Err(RestoreError::Damaged);
        }
        self.state = state;
        self.engine_changed();
        self.solver = Solver::new(self.world.gravity);
        self.clear_events();
        Ok(())
    }

    /// Hashes of the parts of the state, so that a comparison of two states can name the part that
    /// differs.
    pub fn digests(&self) -> Vec<Digest> {
        let state = &self.state;
        let mut digests = vec![
            Digest { part: "tick", hash: state.tick },
            digest("car", &state.car),
            digest("lamps", &state.lamps),
            digest("motions", &(&state.car_motion, &state.motions)),
            digest("contacts", &(&state.touched, &state.last_contact)),
            digest("imu", &(&state.imu, &state.imu_sample)),
            digest("lidar", &state.scan),
        ];
        digests.extend(state.engine.parts(digest));
        // This part exists only if the overlay has a delay or red lights. For all other
        // simulations, the list of parts is therefore the same as in versions without overlays. A
        // replay refuses a journal whose list of parts differs.
        if !state.varied.is_empty() {
            digests.push(digest("variation", &state.varied));
        }
        digests
    }
}

fn digest(part: &'static str, value: &dyn Encode) -> Digest {
    Digest { part, hash: xxh3_64(&value.encode()) }
}
