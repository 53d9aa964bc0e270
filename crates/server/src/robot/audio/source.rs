//! Loads the sound file of a request to play.
//!
//! The file is downloaded, read from the disk, or decoded from base64. Then a blocking thread
//! decodes the whole file (`decode_while` in the crate `robot`). The decoding checks that the file
//! is complete, and measures its duration. The samples are only counted, not kept. Semaphores limit
//! how many files are loaded at a time.

use super::super::error::RobotError;
use super::fetch::Fetcher;
use super::to_wire;
use crate::state::App;
use crate::student::FromStudent;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chicane_host::fetch_address::AddressRule;
use chicane_host::workspace_files::{self, MAX_FILE_BYTES};
use chicane_robot::audio::{Clip, decode_while};
use chicane_wire::{ErrorCode, SoundFormat, SoundSource};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{Semaphore, SemaphorePermit};

/// How many files are read from the disk or decoded at a time. Further requests wait.
static DECODE_PERMITS: Semaphore = Semaphore::const_new(2);
/// How many files from the web are fetched and decoded at a time. The semaphore is separate, so
/// that slow web servers do not block files of other sources.
static FETCH_PERMITS: Semaphore = Semaphore::const_new(4);
/// Longest time that a request waits for a permit.
const PERMIT_TIMEOUT: Duration = Duration::from_secs(20);
/// Longest time for decoding. A file of ten minutes takes one or two seconds.
const DECODE_TIMEOUT: Duration = Duration::from_secs(10);

/// A sound file that can be played.
pub(super) struct LoadedSound {
    pub(super) file: Arc<[u8]>,
    pub(super) clip: Clip,
    /// URL or path of the file, or `data` for a file in the request. `GET /audio` shows this text.
    pub(super) source: Arc<str>,
    /// The permits are held until the sound is passed to the robot. Until then only the permits
    /// limit the memory for files, and afterwards the limits of the robot do.
    _permits: Permits,
}

/// A permit of [`FETCH_PERMITS`] and a permit of [`DECODE_PERMITS`]. The first permit is `None` for
/// a file that is not from the web.
type Permits = [Option<SemaphorePermit<'static>>; 2];

/// The error if too many files are being loaded.
pub(super) fn busy() -> RobotError {
    RobotError::new(ErrorCode::Busy, "too many sound files are being loaded; try again")
}

/// Which files and addresses a client may name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// Files of the workspace, and public addresses.
    Workspace,
    /// Every file that the user of the simulator may read, public addresses, and the loopback
    /// addresses of this machine. A client with this reach could use these files and addresses
    /// without the simulator, too.
    Machine,
}

impl FromRequestParts<App> for Reach {
    type Rejection = Infallible;

    /// If the simulator accepts connections from this machine only and needs no token, its clients
    /// count as programs of its own user. A judged program runs in a jail, and the simulator must
    /// not give the program access to more files and addresses than the jail does.
    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Reach, Infallible> {
        let confined = parts.extensions.get::<FromStudent>().is_some();
        Ok(if app.serves_own_user && !confined { Reach::Machine } else { Reach::Workspace })
    }
}

/// A file before it is decoded.
enum RawSound {
    File(Vec<u8>),
    Base64(String),
}

/// Loads a file and decodes it.
pub(super) async fn load(
    app: &App,
    reach: Reach,
    source: SoundSource,
    format: Option<SoundFormat>,
) -> Result<LoadedSound, RobotError> {
    let mut permits: Permits = [None, None];
    let (source, raw) = match source {
        SoundSource::Url(url) => {
            permits[0] = Some(acquire(&FETCH_PERMITS).await?);
            let file = Fetcher::new(AddressRule::with_loopback(reach == Reach::Machine)).fetch(&url).await;
            let file = file.map_err(|e| RobotError::bad_value(e.to_string()))?;
            permits[1] = Some(acquire(&DECODE_PERMITS).await?);
            (url, RawSound::File(file))
        }
        SoundSource::Path(path) => {
            permits[1] = Some(acquire(&DECODE_PERMITS).await?);
            (path.clone(), RawSound::File(read(app, reach, path).await?))
        }
        SoundSource::Data(text) => {
            permits[1] = Some(acquire(&DECODE_PERMITS).await?);
            ("data".to_owned(), RawSound::Base64(text))
        }
    };
    let (app, format) = (app.clone(), format.map(to_wire::format_from_wire));
    // The blocking thread owns the permits. Otherwise the permits would be freed when the client
    // disconnects, while the thread still works.
    let decoding = tokio::task::spawn_blocking(move || {
        let file = unpack(raw)?;
        let started = Instant::now();
        let go_on = || started.elapsed() < DECODE_TIMEOUT && !app.simulator.is_stopping();
        let clip = decode_while(&file, format, &go_on).map_err(|e| RobotError::bad_value(e.to_string()))?;
        Ok((Arc::from(file), clip, permits))
    });
    let (file, clip, permits) = decoding.await.unwrap_or_else(|error| {
        tracing::warn!(%error, "a decoder failed on a file");
        Err(RobotError::bad_value("the file is damaged: it can't be decoded"))
    })?;
    Ok(LoadedSound { file, clip, source: Arc::from(source), _permits: permits })
}

async fn acquire(permits: &'static Semaphore) -> Result<SemaphorePermit<'static>, RobotError> {
    let permit = tokio::time::timeout(PERMIT_TIMEOUT, permits.acquire()).await.ok().and_then(Result::ok);
    permit.ok_or_else(busy)
}

async fn read(app: &App, reach: Reach, path: String) -> Result<Vec<u8>, RobotError> {
    let folder = app.workspace.clone();
    let read = move || match reach {
        Reach::Machine => workspace_files::read_any(&folder, &path),
        Reach::Workspace => workspace_files::read(&folder, &path),
    };
    let read = tokio::task::spawn_blocking(read).await;
    let read = read.map_err(|_| RobotError::failed("the file could not be read"))?;
    read.map_err(|e| RobotError::bad_value(e.to_string()))
}

fn unpack(raw: RawSound) -> Result<Vec<u8>, RobotError> {
    let file = match raw {
        RawSound::File(file) => file,
        RawSound::Base64(text) => STANDARD
            .decode(text)
            .map_err(|e| RobotError::bad_value(format!("data must be a file in base64: {e}")))?,
    };
    if file.len() > MAX_FILE_BYTES {
        return Err(RobotError::bad_value("the file is larger than 16 MiB"));
    }
    Ok(file)
}
