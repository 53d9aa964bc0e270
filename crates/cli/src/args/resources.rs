//! The option `--resource-path`, for world files that are not in a world folder.

use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Clone, Args)]
pub(crate) struct ResourceArgs {
    /// Folder to search for the models of a world file; can be repeated, or name several folders
    /// separated by colons
    #[arg(long, value_name = "FOLDER", env = "GZ_SIM_RESOURCE_PATH", value_delimiter = ':')]
    pub(crate) resource_path: Vec<String>,
}

impl ResourceArgs {
    /// The folders that are given. Empty names are left out, because environment variables often
    /// start or end with a colon.
    pub(crate) fn folders(&self) -> Vec<PathBuf> {
        self.resource_path.iter().filter(|folder| !folder.is_empty()).map(PathBuf::from).collect()
    }
}
