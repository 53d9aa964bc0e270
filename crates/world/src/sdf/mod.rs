//! Readers and writers of SDF world files, SDF model files and `model.config`.
//!
//! [`read()`] supports SDF 1.4 to 1.12, and reads other versions with a warning. The reader ignores
//! elements that Chicane does not use. It adds one warning for each kind of ignored elements,
//! except for kinds that it lists as harmless, such as `<gui>`. If an element that Chicane uses has
//! an invalid value, the result is an error. Reading the output of [`write()`] gives the same
//! [`crate::Spec`], bit for bit.

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

/// The newest supported minor version of SDF 1.
pub const NEWEST: u32 = 12;
/// The oldest supported minor version of SDF 1.
pub const OLDEST: u32 = 4;
/// Maximum length of a name, in characters.
pub const MAX_NAME: usize = 200;
/// Maximum coordinate and size, in metres. Larger values would be useless, because physics loses
/// precision even below this limit.
pub const MAX_METRES: f64 = 1e6;

/// The minor version of an SDF 1 version. For example, `"1.7"` gives 7. The result is `None` if the
/// text is not such a version.
fn minor_version(text: &str) -> Option<u32> {
    let minor = text.trim().strip_prefix("1.")?;
    if minor.is_empty() || minor.len() > 3 || !minor.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    minor.parse().ok()
}
