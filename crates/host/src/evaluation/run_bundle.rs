//! The files of a world, packed to be stored with a run.

use chicane_store::{Library, Sum, run_file};
use chicane_world::MemoryBundle;
use std::borrow::Cow;

/// Folder of the world's files inside a run file (`run.chicane`).
const FOLDER: &str = "world/";

/// The checksum of a world's files, and the packed files; `None` if the world is not in the
/// library.
pub fn pack(library: &Library, name: &str) -> Option<(String, Vec<u8>)> {
    let files = library.files(name)?;
    let sum =
        Sum::of_files(files.iter().map(|(path, bytes)| (path.as_str(), Some(Cow::Borrowed(&bytes[..])))));
    let parts = files.into_iter().map(|(path, bytes)| (format!("{FOLDER}{path}"), bytes)).collect();
    Some((sum.hex(), run_file::pack_quickly(&parts)))
}

/// Whether a part of a run file is a file of the world.
pub fn is_world(name: &str) -> bool {
    name.starts_with(FOLDER)
}

/// The world's files among the parts of a run file, and their checksum.
pub fn world_of(parts: &run_file::Parts) -> (String, MemoryBundle) {
    let mut bundle = MemoryBundle::default();
    for (name, bytes) in parts {
        if let Some(path) = name.strip_prefix(FOLDER) {
            bundle.insert(path, bytes.clone());
        }
    }
    let files = bundle.files.iter().map(|(path, bytes)| (path.as_str(), Some(Cow::Borrowed(&bytes[..]))));
    (Sum::of_files(files).hex(), bundle)
}
