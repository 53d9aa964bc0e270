//! Saves an environment as bytes, and restores it.
//!
//! The bytes are a header and the encoded [`Saved`]. The header has a checksum, and a hash of the
//! world's name, the car and the settings, so that another environment refuses the bytes. The
//! simulation itself checks the content of the world. The program must have the same version too,
//! because the encoding of [`Saved`] has no version number.

use crate::car::{Car, Episode};
use crate::error::GymError;
use crate::generator::Generator;
use crate::numbers::Numbers;
use crate::observe::History;
use crate::picture::Exposure;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

const MAGIC: &[u8; 8] = b"chicaneE";
const HEADER: usize = 8 + 8 + 8;

/// Everything that an environment needs to continue.
#[derive(Serialize, Deserialize)]
struct Saved {
    track_number: usize,
    seed: u64,
    is_varied: bool,
    generator: Option<Generator>,
    episode: Episode,
    numbers: Vec<f64>,
    exposure: Option<Exposure>,
    history: History,
    sim: Vec<u8>,
}

impl Car {
    pub(crate) fn save(&self) -> Result<Vec<u8>, GymError> {
        let saved = Saved {
            track_number: self.track_number,
            seed: self.sim.seed(),
            is_varied: self.varied.is_some(),
            generator: self.generator,
            episode: self.episode,
            numbers: self.numbers.0.to_vec(),
            exposure: self.exposure.clone(),
            history: self.history.clone(),
            sim: self.sim.save(),
        };
        let mut bytes = MAGIC.to_vec();
        bytes.extend(self.fingerprint().to_le_bytes());
        bytes.extend([0; 8]);
        let mut bytes = postcard::to_extend(&saved, bytes).map_err(|_| GymError::Damaged)?;
        let check = xxh3_64(&bytes[HEADER..]).to_le_bytes();
        bytes[16..HEADER].copy_from_slice(&check);
        Ok(bytes)
    }

    /// Restores a saved environment of the same worlds and settings. The checksum detects damage,
    /// but not forged bytes: restore only bytes from a trusted source.
    pub(crate) fn restore(&mut self, bytes: &[u8]) -> Result<(), GymError> {
        let (header, body) = bytes.split_at_checked(HEADER).ok_or(GymError::NotASave)?;
        if &header[..8] != MAGIC {
            return Err(GymError::NotASave);
        }
        if xxh3_64(body).to_le_bytes() != header[16..] {
            return Err(GymError::Damaged);
        }
        if self.fingerprint().to_le_bytes() != header[8..16] {
            return Err(GymError::OtherSettings);
        }
        let saved: Saved = postcard::from_bytes(body).map_err(|_| GymError::Damaged)?;
        let numbers: [f64; Numbers::COUNT] = saved.numbers.try_into().map_err(|_| GymError::Damaged)?;
        let tracks = self.plan.random;
        if tracks.is_some_and(|tracks| !(1..=tracks.count).contains(&saved.track_number)) {
            return Err(GymError::Damaged);
        }
        // If one of the next steps fails, the environment has no episode until it is reset.
        self.episode.started = 0;
        if tracks.is_some() {
            self.enter(saved.track_number)?;
        }
        self.respawn(saved.seed);
        if self.varied.is_some() != saved.is_varied
            || saved.episode.position.behind >= self.course.track.len()
        {
            return Err(GymError::Damaged);
        }
        self.sim.restore(&saved.sim)?;
        self.generator = saved.generator;
        self.episode = saved.episode;
        self.numbers = Numbers(numbers);
        self.exposure = saved.exposure;
        self.history = saved.history;
        Ok(())
    }

    /// Hash of the world's name, the car and the settings that a saved environment belongs to.
    fn fingerprint(&self) -> u64 {
        xxh3_64(self.plan.identity(self.index).as_bytes())
    }
}
