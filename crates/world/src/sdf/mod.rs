//! SDF: world files, model files and `model.config`, read and written.
//!
//! [`read()`] takes what Gazebo users have (SDF 1.4 to 1.12) as far as it means something here:
//! what it does not know is passed over with a warning, what it knows must be right. [`write()`]
//! goes the other way, and reading what it wrote gives the same [`crate::Spec`], bit for bit.

mod config;
mod parts;
mod read;
mod value;
mod write;
mod write_parts;

pub use config::{read_config, write_config};
pub(crate) use read::read_included;
pub use read::{read, read_model};
pub use write::{write, write_model};

/// The newest minor version of SDF 1 that is read and written.
pub const NEWEST: u32 = 12;
/// The oldest one.
pub const OLDEST: u32 = 4;
/// Longest name, in characters.
pub const MAX_NAME: usize = 200;
/// Farthest position and largest size, metres. Physics loses its precision long before.
pub const MAX_METRES: f64 = 1e6;

/// `"1.7"` → 7; `None` for anything that is not a version of SDF 1.
fn minor_version(text: &str) -> Option<u32> {
    let minor = text.trim().strip_prefix("1.")?;
    if minor.is_empty() || minor.len() > 3 || !minor.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    minor.parse().ok()
}
