//! From what a client gives to a file that can be played: fetched, read or unpacked, then decoded to its
//! end, off the threads that answer requests, and only a few at a time.

use super::super::error::RobotError;
use super::fetch::Fetcher;
use super::{MAX_FILE, view, workspace};
use crate::state::App;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chicane_robot::audio::{Clip, decode_while};
use chicane_wire::{SoundFormat, SoundSource};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{Semaphore, SemaphorePermit};

/// Files that are read or unpacked and decoded at a time; more wait before there is anything to keep.
static DECODING: Semaphore = Semaphore::const_new(2);
/// Files that are fetched and decoded at a time. Slow servers hold up no others.
static FETCHED: Semaphore = Semaphore::const_new(4);
/// How long a request waits for its turn.
const WAIT: Duration = Duration::from_secs(20);
/// Decoding ends here. A file of ten minutes takes one or two seconds.
const DECODE_TIME: Duration = Duration::from_secs(10);

/// A file that can be played.
pub(super) struct Ready {
    pub(super) file: Arc<[u8]>,
    pub(super) clip: Clip,
    /// Where it came from, for people.
    pub(super) source: Arc<str>,
    /// Held until the sound is where it belongs.
    _places: Places,
}

type Places = [Option<SemaphorePermit<'static>>; 2];

/// A file, or text that stands for one.
enum Raw {
    File(Vec<u8>),
    Base64(String),
}

/// Gets a file and decodes it.
pub(super) async fn ready(
    app: &App,
    source: SoundSource,
    format: Option<SoundFormat>,
) -> Result<Ready, RobotError> {
    let mut places: Places = [None, None];
    let (source, raw) = match source {
        SoundSource::Url(url) => {
            places[0] = Some(place(&FETCHED).await?);
            let file = Fetcher::default().fetch(&url).await;
            let file = file.map_err(|e| RobotError::bad_value(e.to_string()))?;
            places[1] = Some(place(&DECODING).await?);
            (url, Raw::File(file))
        }
        SoundSource::Path(path) => {
            places[1] = Some(place(&DECODING).await?);
            (path.clone(), Raw::File(read(app, path).await?))
        }
        SoundSource::Data(text) => {
            places[1] = Some(place(&DECODING).await?);
            ("data".to_owned(), Raw::Base64(text))
        }
    };
    let (app, said) = (app.clone(), format.map(view::said));
    // The places go along: a client that hangs up frees them when the work is done, not before.
    let decoding = tokio::task::spawn_blocking(move || {
        let file = unpack(raw)?;
        let started = Instant::now();
        let go_on = || started.elapsed() < DECODE_TIME && !app.simulator.is_stopping();
        let clip = decode_while(&file, said, &go_on).map_err(|e| RobotError::bad_value(e.to_string()))?;
        Ok((Arc::from(file), clip, places))
    });
    let (file, clip, places) = decoding.await.unwrap_or_else(|error| {
        tracing::warn!(%error, "a decoder failed on a file");
        Err(RobotError::bad_value("the file is damaged: no decoder can make sense of it"))
    })?;
    Ok(Ready { file, clip, source: Arc::from(source), _places: places })
}

async fn place(of: &'static Semaphore) -> Result<SemaphorePermit<'static>, RobotError> {
    let place = tokio::time::timeout(WAIT, of.acquire()).await.ok().and_then(Result::ok);
    place.ok_or_else(super::play::busy)
}

async fn read(app: &App, path: String) -> Result<Vec<u8>, RobotError> {
    let folder = app.workspace.clone();
    let read = tokio::task::spawn_blocking(move || workspace::read(&folder, &path)).await;
    let read = read.map_err(|_| RobotError::failed("the file could not be read"))?;
    read.map_err(|e| RobotError::bad_value(e.to_string()))
}

fn unpack(raw: Raw) -> Result<Vec<u8>, RobotError> {
    let file = match raw {
        Raw::File(file) => file,
        Raw::Base64(text) => STANDARD
            .decode(text)
            .map_err(|e| RobotError::bad_value(format!("data must be a file in base64: {e}")))?,
    };
    if file.len() > MAX_FILE {
        return Err(RobotError::bad_value("the file is larger than 16 MiB"));
    }
    Ok(file)
}
