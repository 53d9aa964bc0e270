//! The world and the car as binary glTF files for the viewer.
//!
//! Each file is made on the first request. Its URL contains a hash of its content, so browsers may
//! cache the file without expiry.

use bytes::Bytes;
use chicane_world::Profile;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::hash::{DefaultHasher, Hasher};
use std::io::Write;
use std::sync::{Arc, OnceLock};

/// A binary glTF file.
#[derive(Debug)]
pub struct SceneFile {
    /// Hash of the content, 16 hex digits.
    pub version: String,
    /// The content.
    pub glb: Bytes,
    /// The content compressed with gzip; empty if the compression failed.
    pub gzipped: Bytes,
}

/// The glTF file of the car, made on the first request.
#[derive(Default)]
pub struct CarFile(OnceLock<Arc<SceneFile>>);

impl CarFile {
    /// The file of the car. The first call blocks while the file is made.
    pub fn file(&self, profile: &Profile) -> Arc<SceneFile> {
        Arc::clone(self.0.get_or_init(|| Arc::new(SceneFile::new(chicane_render::glb::car(profile)))))
    }
}

impl SceneFile {
    /// Hashes and compresses the content of a file.
    pub fn new(glb: Vec<u8>) -> SceneFile {
        // `DefaultHasher::new` has fixed keys, so equal content has the same URL after a restart.
        let mut hasher = DefaultHasher::new();
        hasher.write(&glb);
        let mut encoder = GzEncoder::new(Vec::with_capacity(glb.len() / 2), Compression::default());
        // A write to memory cannot fail. If the write failed, the file would be sent uncompressed.
        let gzipped = encoder.write_all(&glb).and_then(|()| encoder.finish()).unwrap_or_default();
        SceneFile {
            version: format!("{:016x}", hasher.finish()),
            glb: Bytes::from(glb),
            gzipped: Bytes::from(gzipped),
        }
    }
}
