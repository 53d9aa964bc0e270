//! Draws the camera frames of a recording.
//!
//! Drawing a frame takes longer than writing a tick. Therefore a task draws the frames, and the
//! other messages do not wait for images. At most [`MAX_WAITING_FRAMES`] frames wait. A further
//! frame is skipped, and the session counts it.

use bytes::Bytes;
use chicane_host::camera::Camera;
use chicane_host::driver::Exposure;
use std::sync::Arc;
use tokio::sync::mpsc;

/// Maximum number of frames that wait to be drawn: enough for half a second at 15 frames per
/// second.
const MAX_WAITING_FRAMES: usize = 8;

/// A frame to draw.
pub(crate) struct Frame {
    /// Number of times that time had restarted since the start of the recording when the frame was
    /// taken. An image from before the last restart does not belong in the current file.
    pub(crate) run: u64,
    pub(crate) tick: u64,
    pub(crate) exposure: Arc<Exposure>,
    /// Every channel of a pixel is multiplied by this factor.
    pub(crate) brightness: f64,
}

/// A drawn frame.
pub(crate) struct DrawnImage {
    pub(crate) run: u64,
    pub(crate) tick: u64,
    /// The image; `None` if it could not be drawn.
    pub(crate) jpeg: Option<Bytes>,
}

/// The input and output of the task that draws frames. The task ends when `frames` is dropped.
pub(crate) struct Images {
    /// `None` after [`Images::close`].
    frames: Option<mpsc::Sender<Frame>>,
    drawn: mpsc::Receiver<DrawnImage>,
}

impl Images {
    /// Starts the task. Must be called inside a Tokio runtime.
    pub(crate) fn start(camera: Camera) -> Images {
        let (frames, mut waiting) = mpsc::channel::<Frame>(MAX_WAITING_FRAMES);
        let (out, drawn) = mpsc::channel(MAX_WAITING_FRAMES);
        tokio::spawn(async move {
            let size = camera.size(None, None);
            while let Some(Frame { run, tick, exposure, brightness }) = waiting.recv().await {
                let jpeg = camera.jpeg(&exposure, size, brightness).await.ok();
                if out.send(DrawnImage { run, tick, jpeg }).await.is_err() {
                    return;
                }
            }
        });
        Images { frames: Some(frames), drawn }
    }

    /// Requests the drawing of a frame. Returns false if too many frames wait, or after `close`.
    pub(crate) fn order(&self, frame: Frame) -> bool {
        self.frames.as_ref().is_some_and(|frames| frames.try_send(frame).is_ok())
    }

    /// Waits for the next image. Returns `None` after the last image.
    pub(crate) async fn next(&mut self) -> Option<DrawnImage> {
        self.drawn.recv().await
    }

    /// Accepts no further frames. [`Images::next`] still returns the images of the waiting frames,
    /// then `None`.
    pub(crate) fn close(&mut self) {
        self.frames = None;
    }
}
