//! A simulation as bytes, and fingerprints of its parts.

use crate::physics::Solver;
use crate::sim::Sim;
use crate::state::State;
use xxhash_rust::xxh3::xxh3_64;

const MAGIC: &[u8; 8] = b"chicane1";
const HEADER: usize = 8 + 8 + 8;

/// Why bytes can't be restored. The simulation was left as it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RestoreError {
    /// Not written by [`Sim::save`] of this version.
    #[error("these bytes are not a saved simulation of this version")]
    NotASave,
    /// Cut off or changed on the way.
    #[error("the saved simulation is damaged")]
    Damaged,
    /// Saved from another world, profile or seed.
    #[error("the simulation was saved from another world, vehicle or seed")]
    OtherWorld,
}

/// A fingerprint of one part of a simulation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Digest {
    /// Which part.
    pub part: &'static str,
    /// Equal bytes give equal numbers.
    pub hash: u64,
}

impl Sim {
    /// Everything that changes, as bytes.
    pub fn save(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(128 << 10);
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&self.origin.to_le_bytes());
        bytes.extend_from_slice(&[0; 8]);
        let mut bytes = encode(&self.state, bytes);
        let check = xxh3_64(&bytes[HEADER..]).to_le_bytes();
        bytes[16..HEADER].copy_from_slice(&check);
        bytes
    }

    /// Goes back (or on) to a saved state of the same world, profile and seed. Damage on the way
    /// is found out; bytes forged with a right checksum are not: restore only what you saved.
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
        self.solver = Solver::new(self.world.gravity);
        self.forget_events();
        Ok(())
    }

    /// Fingerprints of the parts of the state, to name what differs.
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
        digests
    }
}

fn digest(part: &'static str, value: &dyn erased::Encode) -> Digest {
    Digest { part, hash: xxh3_64(&value.encode()) }
}

fn encode(value: &impl serde::Serialize, bytes: Vec<u8>) -> Vec<u8> {
    // It can only fail for sequences of unknown length, and the state has none.
    postcard::to_extend(value, bytes).expect("the state has a length")
}

/// Serialisable values behind a pointer, so that the engine can hand out its parts one by one.
pub(crate) mod erased {
    pub(crate) trait Encode {
        fn encode(&self) -> Vec<u8>;
    }

    impl<T: serde::Serialize> Encode for T {
        fn encode(&self) -> Vec<u8> {
            super::encode(self, Vec::new())
        }
    }
}
