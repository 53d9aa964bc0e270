//! What viewers draw: the world and the car as binary glTF, each made once, under an address that
//! changes with its bytes.

use bytes::Bytes;
use chicane_world::Profile;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::hash::{DefaultHasher, Hasher};
use std::io::Write;
use std::sync::{Arc, OnceLock};

/// A file for viewers.
#[derive(Debug)]
pub struct SceneFile {
    /// 16 hex digits of its bytes.
    pub version: String,
    pub glb: Bytes,
    pub gzipped: Bytes,
}

/// The car, made when someone first asks for it.
#[derive(Default)]
pub struct CarFile(OnceLock<Arc<SceneFile>>);

impl CarFile {
    pub fn file(&self, profile: &Profile) -> Arc<SceneFile> {
        Arc::clone(self.0.get_or_init(|| Arc::new(SceneFile::new(chicane_render::glb::car(profile)))))
    }
}

impl SceneFile {
    pub fn new(glb: Vec<u8>) -> SceneFile {
        // Fixed keys: the same bytes have the same address as long as this program serves them.
        let mut hasher = DefaultHasher::new();
        hasher.write(&glb);
        let mut encoder = GzEncoder::new(Vec::with_capacity(glb.len() / 2), Compression::default());
        // Into memory nothing can fail; were it so, the file would go out as it is.
        let gzipped = encoder.write_all(&glb).and_then(|()| encoder.finish()).unwrap_or_default();
        SceneFile {
            version: format!("{:016x}", hasher.finish()),
            glb: Bytes::from(glb),
            gzipped: Bytes::from(gzipped),
        }
    }
}
