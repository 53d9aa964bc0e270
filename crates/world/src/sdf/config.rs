//! Reads and writes `model.config` files. A `model.config` contains the name of the SDF file of a
//! model folder.

use super::{NEWEST, minor_version};
use crate::error::Error;
use crate::xml::{Document, MAX_SDF, escape};

/// Reads the name of the model file. If the config names several model files, the file with the
/// newest supported SDF version is used.
pub fn read_config(file: &str, bytes: &[u8]) -> Result<String, Error> {
    let doc = Document::parse(file, bytes, MAX_SDF)?;
    let mut best: Option<(u32, &str)> = None;
    for sdf in doc.root.all("sdf").filter(|s| !s.text.is_empty()) {
        let minor = sdf.attribute("version").and_then(minor_version).unwrap_or(0);
        // A file with an unsupported newer version is only used if there is no other file.
        let rank = if minor > NEWEST { 0 } else { minor + 1 };
        if best.is_none_or(|(b, _)| rank > b) {
            best = Some((rank, &sdf.text));
        }
    }
    match best {
        Some((_, name)) => Ok(name.to_owned()),
        None => {
            Err(doc.error(&doc.root, "model.config needs an <sdf> element with the name of the model file"))
        }
    }
}

/// Writes a `model.config`.
pub fn write_config(name: &str, sdf_file: &str, version: &str) -> String {
    format!(
        "<?xml version=\"1.0\"?>\n<model>\n  <name>{}</name>\n  <version>1.0</version>\n  \
         <sdf version=\"{}\">{}</sdf>\n</model>\n",
        escape(name),
        escape(version),
        escape(sdf_file)
    )
}
