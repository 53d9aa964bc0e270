//! `GET /camera`: a picture of the on-board camera, or a stream of pictures.

use super::error::RobotError;
use super::query::Query;
use super::sim_time::{text, with_sim_time};
use crate::state::App;
use axum::body::Body;
use axum::extract::State;
use axum::http::header;
use axum::response::Response;
use bytes::{BufMut, Bytes, BytesMut};
use chicane_host::driver::{Exposure, Published};
use chicane_wire::{Detail, Octets, Waiting};
use futures_util::stream::unfold;
use std::convert::Infallible;
use std::sync::Arc;
use tokio::sync::watch;

const BOUNDARY: &str = "frame";

/// Returns the last camera frame as JPEG, or a stream of frames as multipart MJPEG.
#[utoipa::path(get, path = "/camera", tag = "Camera",
    params(
    ("width" = Option<u64>, Query, description = "Largest width in pixels. The aspect ratio is kept, and the picture is never enlarged",
        minimum = 16, maximum = 1920),
    ("height" = Option<u64>, Query, description = "Largest height in pixels", minimum = 16, maximum = 1080),
    ("stream" = Option<bool>, Query, description = "Multipart MJPEG, 15 frames per simulated second")),
    responses(
    (status = 200, body = Octets, content_type = "image/jpeg"),
    (status = 422, body = Detail, description = "A parameter is invalid"),
    (status = 503, body = Waiting, description = "No frame yet"),
))]
pub(super) async fn camera(State(app): State<App>, query: Query) -> Result<Response, RobotError> {
    let size = app.camera.size(query.whole("width", 16, 1920)?, query.whole("height", 16, 1080)?);
    if query.stream()? {
        return Ok(stream(&app, size));
    }
    let now = app.simulator.now();
    let running = now.running.as_ref().ok_or(RobotError::Waiting("camera"))?;
    let jpeg = app.camera.jpeg(&running.exposure, size, now.brightness).await;
    let jpeg = jpeg.map_err(|_| RobotError::failed("the picture could not be drawn"))?;
    Ok(with_sim_time(running.exposure.snapshot.time_s, ([(header::CONTENT_TYPE, "image/jpeg")], jpeg)))
}

/// A stream that sends the newest frame whenever the client is ready for another frame. Older
/// frames are skipped.
fn stream(app: &App, size: [usize; 2]) -> Response {
    let reader = FrameReader { app: app.clone(), view: app.simulator.watch(), size, last: None };
    let frames = unfold(reader, |mut reader| async move {
        let part = reader.next().await?;
        Some((Ok::<_, Infallible>(part), reader))
    });
    let kind = format!("multipart/x-mixed-replace; boundary={BOUNDARY}");
    let time_s = app.simulator.now().running.as_ref().map_or(0.0, |s| s.exposure.snapshot.time_s);
    with_sim_time(time_s, ([(header::CONTENT_TYPE, kind)], Body::from_stream(frames)))
}

/// The state of one client's stream of frames.
struct FrameReader {
    app: App,
    view: watch::Receiver<Arc<Published>>,
    /// Width and height in pixels.
    size: [usize; 2],
    /// The exposure of the last sent frame, and the bits of the brightness of that frame. `None`
    /// before the first frame.
    last: Option<(Arc<Exposure>, u64)>,
}

impl FrameReader {
    /// The next part of the stream. `None` when the stream ends.
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            let now = self.view.borrow_and_update().clone();
            let brightness = now.brightness;
            let exposure = now.running.as_ref().map(|s| Arc::clone(&s.exposure));
            drop(now);
            let is_new = |e: &Arc<Exposure>| {
                let same = |(last, bright): &(Arc<Exposure>, u64)| {
                    Arc::ptr_eq(last, e) && *bright == brightness.to_bits()
                };
                !self.last.as_ref().is_some_and(same)
            };
            if let Some(exposure) = exposure.filter(is_new) {
                let jpeg = self.app.camera.jpeg(&exposure, self.size, brightness).await.ok()?;
                let part = part(&jpeg, &text(exposure.snapshot.time_s));
                self.last = Some((exposure, brightness.to_bits()));
                return Some(part);
            }
            // An error means that the sim thread has ended. In that case the stream ends too.
            self.view.changed().await.ok()?;
        }
    }
}

fn part(jpeg: &Bytes, time: &str) -> Bytes {
    let head = format!(
        "--{BOUNDARY}\r\nContent-Type: image/jpeg\r\nContent-Length: {}\r\nX-Sim-Time: {time}\r\n\r\n",
        jpeg.len()
    );
    let mut bytes = BytesMut::with_capacity(head.len() + jpeg.len() + 2);
    bytes.put(head.as_bytes());
    bytes.put(jpeg.as_ref());
    bytes.put(&b"\r\n"[..]);
    bytes.freeze()
}
