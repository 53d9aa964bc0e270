//! The pictures of a project in its bundle.

use crate::project::FileName;
use std::collections::BTreeMap;

/// Path of each picture of a project, relative to the mesh folder. The key is the file name.
pub(crate) struct Pictures<'a> {
    paths: BTreeMap<&'a FileName, String>,
}

impl<'a> Pictures<'a> {
    pub(crate) fn new(paths: BTreeMap<&'a FileName, String>) -> Pictures<'a> {
        Pictures { paths }
    }

    /// Path of a picture relative to the mesh folder.
    pub(crate) fn path(&self, name: &FileName) -> Option<String> {
        self.paths.get(name).cloned()
    }
}
