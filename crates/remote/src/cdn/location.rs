//! Functions for the command line: install a published world in this process, and list the worlds
//! of a CDN.

use super::CDN_TIMEOUT;
use super::installer::{Installed, Installer, ProgressCallback};
use super::source::CdnSource;
use crate::Token;
use chicane_store::{InstallError, Library, MAX_META};
use chicane_wire::WorldId;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::watch;

/// Limit of the size of a list of worlds, in bytes.
const MAX_LIST: usize = 16 * MAX_META;

/// Why a world was not installed, or the worlds of a CDN could not be listed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CdnError {
    /// The address of the CDN is not a URL.
    #[error("\"{0}\" is not the address of a CDN; give a URL such as https://example.org/cdn")]
    InvalidUrl(String),
    /// The CDN at this address has no list of worlds.
    #[error("{0} has no list of worlds; only the /cdn of a simulator has one")]
    NoList(String),
    /// The world was not installed, or the CDN failed while its worlds were listed.
    #[error(transparent)]
    Install(#[from] InstallError),
}

/// Where published worlds are read from.
#[derive(Debug, Clone)]
pub enum CdnLocation {
    /// The URL of a web server, and the token that the server requires, if any.
    Web(String, Option<Token>),
    /// A folder that worlds were published to.
    Folder(PathBuf),
}

impl CdnLocation {
    fn source(&self) -> Result<CdnSource, CdnError> {
        match self {
            CdnLocation::Web(url, token) => {
                CdnSource::web(url, token.as_ref().map(|t| t.secret().to_owned()), CDN_TIMEOUT)
            }
            CdnLocation::Folder(folder) => Ok(CdnSource::Folder(folder.clone())),
        }
    }
}

/// Installs a published world into a data folder. A simulator may use the folder at the same time.
/// `progress` is called with the finished fraction of the work, from 0 to 1.
pub async fn install_world(
    data_dir: &Path,
    id: &WorldId,
    from: &CdnLocation,
    require_verified: bool,
    progress: impl Fn(f64) + Send + Sync + 'static,
) -> Result<Installed, CdnError> {
    let library = Arc::new(Library::default().with_installed(data_dir));
    // The installer reports `None` at the end of every job, even if the job failed. Therefore
    // `None` is not passed on to `progress`.
    let progress: ProgressCallback = Arc::new(move |_, share| {
        if let Some(share) = share {
            progress(share);
        }
    });
    // `_stop` must live until the job ends, because the installer stops when the channel closes.
    let (_stop, stopped) = watch::channel(false);
    let installer = Installer::new(library, from.source()?, require_verified, progress, stopped);
    Ok(installer.install(id).await?)
}

/// Returns the worlds that a CDN lists, as JSON. Only simulators have such a list; other web
/// servers have none.
pub async fn list_worlds(url: &str, token: Option<Token>) -> Result<Value, CdnError> {
    let source = CdnLocation::Web(url.to_owned(), token).source()?;
    let no_list = || CdnError::NoList(url.to_owned());
    let bytes = source.document("worlds", MAX_LIST).await?.ok_or_else(no_list)?;
    serde_json::from_slice(&bytes).map_err(|_| no_list())
}
