//! Installing without a simulator: for the command line.

use super::CDN_TIMEOUT;
use super::installer::{Installed, Installer, Report};
use super::source::Source;
use crate::Token;
use chicane_store::{Library, MAX_META};
use chicane_wire::WorldId;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::watch;

/// Where published worlds are.
#[derive(Debug, Clone)]
pub enum Where {
    /// A web server, and its token.
    Web(String, Option<Token>),
    /// A folder that was published to.
    Folder(PathBuf),
}

impl Where {
    fn source(&self) -> Result<Source, String> {
        match self {
            Where::Web(url, token) => {
                Source::web(url, token.as_ref().map(|t| t.secret().to_owned()), CDN_TIMEOUT)
            }
            Where::Folder(folder) => Ok(Source::Folder(folder.clone())),
        }
    }
}

/// Installs a published world into a data folder, which a simulator may be using. Says how far it is, 0
/// to 1.
pub async fn install_here(
    data_dir: &Path,
    id: &WorldId,
    from: &Where,
    require_verified: bool,
    progress: impl Fn(f64) + Send + Sync + 'static,
) -> Result<Installed, String> {
    let library = Arc::new(Library::default().with_installed(data_dir));
    let report: Report = Arc::new(move |_, part| progress(part.unwrap_or(1.0)));
    let (_run, stop) = watch::channel(false);
    let installer = Installer::new(library, from.source()?, require_verified, report, stop);
    installer.install(id).await.map_err(|e| e.to_string())
}

/// The worlds that a CDN lists. Only simulators do so; other hosts have no list.
pub async fn listed(url: &str, token: Option<Token>) -> Result<Value, String> {
    const MOST: usize = 16 * MAX_META;
    let source = Where::Web(url.to_owned(), token).source()?;
    let bytes = source.document("worlds", MOST).await.map_err(|e| e.to_string())?;
    let bytes = bytes.ok_or_else(|| format!("{url} has no list of worlds"))?;
    serde_json::from_slice(&bytes).map_err(|_| format!("{url} has no list of worlds"))
}
