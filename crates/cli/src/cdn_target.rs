//! The CDN that worlds are published to: a folder or a bucket.
//!
//! The default is the folder `cdn` of the data folder. The folder `cdn` has a lock of its own, so
//! worlds can also be published while a simulator uses the data folder. That simulator serves the
//! new worlds at once.

use crate::data_dir::{self, DataDirError};
use chicane_remote::{BucketError, open_bucket};
use chicane_store::{Cdn, PublishError};
use std::path::{Path, PathBuf};

/// The warning if a published world is private and `--to` names the CDN. The web server of such a
/// CDN may not restrict access.
pub(crate) const PRIVATE_WARNING: &str = "only a simulator restricts access to private worlds; \
     elsewhere everyone who can read the files can install the world";

/// Why a CDN can't be used. The error texts do not quote the given address, because an address may
/// contain a password.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CdnTargetError {
    #[error("file:// needs an absolute path, such as file:///srv/worlds")]
    RelativeFile,
    #[error(
        "a web address can't be published to. Give a bucket, s3://BUCKET/FOLDER, with AWS_ENDPOINT \
         for a server other than Amazon's, or a folder that the web server serves"
    )]
    WebAddress,
    #[error("only s3://BUCKET/FOLDER, file:///FOLDER and folders can be published to")]
    Scheme,
    /// The address or the settings of a bucket are invalid.
    #[error(transparent)]
    Bucket(#[from] BucketError),
    #[error(transparent)]
    DataDir(#[from] DataDirError),
    #[error(transparent)]
    Folder(#[from] PublishError),
}

/// A place that worlds are published to.
pub(crate) enum CdnTarget {
    Folder(PathBuf),
    Bucket(Cdn),
}

impl CdnTarget {
    /// Parses the value of `--to`.
    pub(crate) fn parse(to: &str) -> Result<CdnTarget, CdnTargetError> {
        match to.split_once("://") {
            None => Ok(CdnTarget::Folder(to.into())),
            Some(("file", path)) if path.starts_with('/') => Ok(CdnTarget::Folder(path.into())),
            Some(("file", _)) => Err(CdnTargetError::RelativeFile),
            Some(("s3", _)) => Ok(CdnTarget::Bucket(open_bucket(to)?)),
            Some(("http" | "https", _)) => Err(CdnTargetError::WebAddress),
            Some(_) => Err(CdnTargetError::Scheme),
        }
    }
}

/// Opens the given CDN for writing. Without `to`, opens the CDN folder of the data folder.
pub(crate) fn open(to: Option<&str>, data_dir: Option<&Path>) -> Result<Cdn, CdnTargetError> {
    let folder = match to.map(CdnTarget::parse).transpose()? {
        Some(CdnTarget::Bucket(cdn)) => return Ok(cdn),
        Some(CdnTarget::Folder(folder)) => folder,
        None => {
            let data_dir = data_dir::resolve(data_dir)?;
            data_dir::create(&data_dir)?;
            data_dir.join("cdn")
        }
    };
    Ok(Cdn::folder(&folder)?)
}
