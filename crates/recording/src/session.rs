//! The thread of one recording. It takes the ticks from a tap and writes their messages.
//!
//! A file ends at its size limit. It also ends when time restarts at a switch of worlds, a respawn
//! or the start of an evaluation. The next file continues the recording. Once per second the thread
//! completes the current chunk, so that a killed simulator loses at most the last second. A
//! recording ends by itself (`EndReason`) if a file can't be written or the disk is nearly full.

use crate::folder::{self, FolderError, NewFile};
use crate::images::{DrawnImage, Frame, Images};
use crate::options::RecordingOptions;
use crate::status::Status;
use crate::writer::{McapWriter, WriteMcapError};
use chicane_host::driver::{Published, Tap, TappedTick};
use chicane_ros::{Publisher, Sample};
use chicane_wire::RecordingRequest;
use chicane_world::Profile;
use std::collections::BTreeMap;
use std::fs::File;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Instant, MissedTickBehavior, interval, timeout_at};

/// Interval at which the current chunk is completed.
const FLUSH_INTERVAL: Duration = Duration::from_secs(1);
/// Timeout at the end of a recording for images that are still being drawn.
const IMAGE_TIMEOUT: Duration = Duration::from_secs(1);
/// The limits of the folder are checked each time the file has grown by this many bytes. The value
/// is much less than the default of [`RecordingOptions::min_free_bytes`], so that the disk is not
/// full before the next check.
const BYTES_BETWEEN_CHECKS: u64 = 32 << 20;

/// Why a recording ended by itself.
#[derive(Debug, thiserror::Error)]
pub(crate) enum EndReason {
    #[error(transparent)]
    Folder(#[from] FolderError),
    #[error("{file} can't be written: {error}")]
    Write { file: String, error: WriteMcapError },
}

/// What a recording needs.
pub(crate) struct SessionParts {
    pub(crate) options: RecordingOptions,
    pub(crate) request: RecordingRequest,
    pub(crate) profile: Arc<Profile>,
    pub(crate) tap: Tap,
    /// `None` if no images are recorded.
    pub(crate) images: Option<Images>,
    pub(crate) status: Status,
}

/// A recording in progress.
pub(crate) struct Session {
    parts: SessionParts,
    /// The file that is being written; `None` before the first state or tick is written.
    file: Option<OpenFile>,
    /// Name of the running world.
    world: Arc<str>,
    /// Version of the running world, see [`Published::assets_version`].
    assets_version: u64,
    /// Epoch and tick of the last sample; `None` before the first one.
    last: Option<(u64, u64)>,
    /// Number of times that time has restarted since the start of the recording.
    run: u64,
    /// Number of frames that were ordered and whose images have not arrived yet.
    images_ordered: u64,
}

/// A file that is being written.
struct OpenFile {
    name: String,
    writer: McapWriter<File>,
    /// Size of the file when the limits of the folder were last checked, bytes.
    checked_bytes: u64,
}

impl Session {
    /// A recording that begins with the next tick.
    pub(crate) fn new(parts: SessionParts) -> Session {
        let (file, last, assets_version, run, images_ordered) = Default::default();
        Session { parts, file, world: Arc::from(""), assets_version, last, run, images_ordered }
    }

    /// Begins with the current state. When the call returns, the first file exists.
    pub(crate) fn begin_with(&mut self, now: &Arc<Published>) -> Result<(), EndReason> {
        let tick = now.running.as_ref().map_or(0, |running| running.snapshot.tick);
        self.write(&Sample::epoch_only(tick, now.epoch), Some(now))?;
        self.update_status();
        Ok(())
    }

    /// Records until `stop` is set or the recording fails. Blocks the thread while it writes.
    pub(crate) async fn record(mut self, stop: watch::Receiver<bool>) {
        let status = self.parts.status.clone();
        let ended = match self.record_ticks(stop).await {
            Ok(()) => self.end().await,
            Err(reason) => {
                // The result is ignored. If the file can't be written, finishing it fails for the
                // same reason.
                let _ = self.finish_file();
                Err(reason)
            }
        };
        self.update_status();
        if let Err(reason) = ended {
            tracing::error!("the recording ended: {reason}");
            status.lock().failure = Some(reason.to_string());
        }
    }

    async fn record_ticks(&mut self, mut stop: watch::Receiver<bool>) -> Result<(), EndReason> {
        let mut flush = interval(FLUSH_INTERVAL);
        flush.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                ticks = self.parts.tap.take() => {
                    for tick in ticks {
                        self.take(&tick)?;
                    }
                }
                image = next_image(&mut self.parts.images) => self.write_image(image)?,
                _ = flush.tick() => self.flush()?,
                _ = stop.wait_for(|stop| *stop) => return Ok(()),
            }
            self.update_status();
        }
    }

    /// Writes the waiting ticks and images, and ends the file.
    async fn end(&mut self) -> Result<(), EndReason> {
        for tick in self.parts.tap.take_waiting() {
            self.take(&tick)?;
        }
        if let Some(mut images) = self.parts.images.take() {
            images.close();
            let deadline = Instant::now() + IMAGE_TIMEOUT;
            while let Ok(Some(image)) = timeout_at(deadline, images.next()).await {
                self.write_image(image)?;
            }
            self.parts.status.lock().skipped_images += self.images_ordered;
        }
        self.finish_file()
    }

    /// Writes a tick of the tap, and orders its image.
    fn take(&mut self, tick: &TappedTick) -> Result<(), EndReason> {
        let at = (tick.sample.epoch, tick.sample.tick);
        // The tap is opened before the first state is read, so it can contain earlier ticks. These
        // ticks are skipped.
        if self.last.is_some_and(|last| at <= last) {
            return Ok(());
        }
        self.write(&tick.sample, tick.state.as_ref())?;
        if let (Some(images), Some((exposure, brightness))) = (&self.parts.images, &tick.frame) {
            let (exposure, brightness) = (Arc::clone(exposure), *brightness);
            let frame = Frame { run: self.run, tick: tick.sample.tick, exposure, brightness };
            match images.order(frame) {
                true => self.images_ordered += 1,
                false => self.parts.status.lock().skipped_images += 1,
            }
        }
        Ok(())
    }

    fn write(&mut self, sample: &Sample, state: Option<&Arc<Published>>) -> Result<(), EndReason> {
        let loaded = state.is_some_and(|state| state.assets_version != self.assets_version);
        let restarts = self.last.is_some_and(|(_, tick)| loaded || sample.tick < tick);
        if let Some(state) = state {
            self.assets_version = state.assets_version;
            if let Some(running) = &state.running {
                self.world = Arc::clone(&running.served.name);
            }
        }
        self.last = Some((sample.epoch, sample.tick));
        if restarts {
            self.run += 1;
            self.finish_file()?;
        }
        if self.file.is_none() {
            let publisher = Publisher::new(Arc::clone(&self.parts.profile));
            self.open_file(sample.tick, publisher)?;
        }
        let json = state.filter(|_| self.parts.request.state).map(|state| state.state_json());
        self.write_with(|writer| writer.write(sample, None, json.as_deref()))?;
        // Tick 0 is the state before the first tick. It is not counted, because no time has passed.
        self.parts.status.lock().ticks += u64::from(sample.stepped && sample.tick > 0);
        self.keep_limits(sample.tick)
    }

    fn write_image(&mut self, image: DrawnImage) -> Result<(), EndReason> {
        self.images_ordered = self.images_ordered.saturating_sub(1);
        // An image from before the last restart of time does not belong in the current file.
        let Some(jpeg) = image.jpeg.filter(|_| image.run == self.run) else {
            self.parts.status.lock().skipped_images += 1;
            return Ok(());
        };
        self.write_with(|writer| writer.write_image(image.tick, jpeg.to_vec()))
    }

    fn flush(&mut self) -> Result<(), EndReason> {
        self.write_with(McapWriter::flush)
    }

    /// Writes to the current file, if there is one.
    fn write_with(
        &mut self,
        write: impl FnOnce(&mut McapWriter<File>) -> Result<(), WriteMcapError>,
    ) -> Result<(), EndReason> {
        let Some(file) = &mut self.file else { return Ok(()) };
        write(&mut file.writer).map_err(|error| EndReason::Write { file: file.name.clone(), error })
    }

    /// Begins the next file when the current file has reached its size limit. Checks the limits of
    /// the folder regularly.
    fn keep_limits(&mut self, tick: u64) -> Result<(), EndReason> {
        let options = &self.parts.options;
        let Some(file) = &mut self.file else { return Ok(()) };
        let bytes = file.writer.bytes();
        if bytes >= options.max_file_bytes.min(options.max_folder_bytes) {
            let publisher = file.writer.publisher().clone();
            self.finish_file()?;
            // The next file begins with the next tick.
            return self.open_file(tick + 1, publisher);
        }
        if bytes >= file.checked_bytes + BYTES_BETWEEN_CHECKS {
            file.checked_bytes = bytes;
            folder::enforce_limits(options, Some((&file.name, bytes)))?;
        }
        Ok(())
    }

    fn open_file(&mut self, tick: u64, publisher: Publisher) -> Result<(), EndReason> {
        let NewFile { name, file } = folder::create_file(&self.parts.options, &self.world, tick)?;
        let about = BTreeMap::from([
            ("world".to_owned(), self.world.to_string()),
            ("robot".to_owned(), self.parts.profile.generation.clone()),
        ]);
        let writer = McapWriter::continuing(file, publisher, about)
            .map_err(|error| EndReason::Write { file: name.clone(), error })?;
        let mut status = self.parts.status.lock();
        (status.file, status.files) = (Some(name.clone()), status.files + 1);
        drop(status);
        self.file = Some(OpenFile { name, writer, checked_bytes: 0 });
        Ok(())
    }

    fn finish_file(&mut self) -> Result<(), EndReason> {
        let Some(OpenFile { name, writer, .. }) = self.file.take() else { return Ok(()) };
        let messages = writer.messages();
        let file = writer.finish().map_err(|error| EndReason::Write { file: name, error })?;
        let bytes = file.metadata().map_or(0, |metadata| metadata.len());
        let mut status = self.parts.status.lock();
        status.finished_bytes += bytes;
        status.finished_messages += messages;
        (status.file_bytes, status.file_messages) = (0, 0);
        Ok(())
    }

    fn update_status(&self) {
        let mut status = self.parts.status.lock();
        status.dropped_ticks = self.parts.tap.dropped();
        if let Some(file) = &self.file {
            (status.file_bytes, status.file_messages) = (file.writer.bytes(), file.writer.messages());
        }
    }
}

/// Waits for the next image. Waits forever if no image will come.
async fn next_image(images: &mut Option<Images>) -> DrawnImage {
    if let Some(images) = images
        && let Some(image) = images.next().await
    {
        return image;
    }
    std::future::pending().await
}
