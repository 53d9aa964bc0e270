//! The pictures of a project in its bundle.

use crate::project::FileName;
use std::collections::BTreeMap;

/// The paths of the pictures in the bundle, relative to the mesh folder. The key is the file name
/// in the project.
pub(crate) struct Pictures<'a> {
    paths: BTreeMap<&'a FileName, String>,
}

impl<'a> Pictures<'a> {
    pub(crate) fn new(paths: BTreeMap<&'a FileName, String>) -> Pictures<'a> {
        Pictures { paths }
    }

    /// Path of a picture relative to the mesh folder; `None` if the picture is not in the bundle.
    pub(crate) fn path(&self, name: &FileName) -> Option<String> {
        self.paths.get(name).cloned()
    }
}
