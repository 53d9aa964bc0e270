//! Pictures of the on-board camera: one, or a stream of them.

use super::error::RobotError;
use crate::app::App;
use crate::driver::{Exposure, Published};
use axum::body::Body;
use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use bytes::{BufMut, Bytes, BytesMut};
use futures_util::stream::unfold;
use std::convert::Infallible;
use std::sync::Arc;
use tokio::sync::watch;

const BOUNDARY: &str = "frame";

/// What a request asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Wanted {
    width: Option<u64>,
    height: Option<u64>,
    stream: bool,
}

impl Wanted {
    fn parse(query: Option<&str>, headers: &HeaderMap) -> Result<Wanted, RobotError> {
        let mut wanted = Wanted::default();
        for pair in query.unwrap_or("").split('&') {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let number = |low: u64, high: u64| value.parse().ok().filter(|v| (low..=high).contains(v));
            match name {
                "width" => {
                    let wrong = RobotError::BadValue("width must be a whole number from 16 to 1920");
                    wanted.width = Some(number(16, 1920).ok_or(wrong)?);
                }
                "height" => {
                    let wrong = RobotError::BadValue("height must be a whole number from 16 to 1080");
                    wanted.height = Some(number(16, 1080).ok_or(wrong)?);
                }
                "stream" => {
                    wanted.stream = match value.to_ascii_lowercase().as_str() {
                        "true" | "1" => true,
                        "false" | "0" => false,
                        _ => return Err(RobotError::BadValue("stream must be true or false")),
                    };
                }
                _ => {}
            }
        }
        let accepts = headers.get(header::ACCEPT).and_then(|v| v.to_str().ok()).unwrap_or("");
        wanted.stream |= accepts.contains("text/event-stream");
        Ok(wanted)
    }
}

/// The last frame as JPEG; with `stream=true` every frame from now on.
pub(super) async fn camera(
    State(app): State<App>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<Response, RobotError> {
    let wanted = Wanted::parse(query.as_deref(), &headers)?;
    let size = app.camera.size(wanted.width, wanted.height);
    if wanted.stream {
        return Ok(stream(&app, size));
    }
    let now = app.simulator.now();
    let seen = now.running.as_ref().ok_or(RobotError::Waiting("camera"))?;
    let jpeg = app.camera.jpeg(&seen.exposure, size, now.brightness).await;
    let jpeg = jpeg.map_err(|_| RobotError::Failed("the picture could not be drawn"))?;
    let headers = [(header::CONTENT_TYPE, "image/jpeg".to_owned())];
    Ok((headers, [("x-sim-time", time_of(&seen.exposure))], jpeg).into_response())
}

fn time_of(exposure: &Exposure) -> String {
    format!("{:.3}", exposure.snapshot.time_s)
}

/// A stream of frames: the newest, whenever its reader is ready for one.
fn stream(app: &App, size: [usize; 2]) -> Response {
    let reader = Reader { app: app.clone(), view: app.simulator.watch(), size, last: None };
    let frames = unfold(reader, |mut reader| async move {
        let part = reader.next().await?;
        Some((Ok::<_, Infallible>(part), reader))
    });
    let kind = format!("multipart/x-mixed-replace; boundary={BOUNDARY}");
    let time = app.simulator.now().running.as_ref().map(|s| time_of(&s.exposure)).unwrap_or_default();
    ([(header::CONTENT_TYPE, kind)], [("x-sim-time", time)], Body::from_stream(frames)).into_response()
}

struct Reader {
    app: App,
    view: watch::Receiver<Arc<Published>>,
    size: [usize; 2],
    last: Option<(Arc<Exposure>, u64)>,
}

impl Reader {
    /// The next part of the stream; `None` at its end.
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
                let part = part(&jpeg, &time_of(&exposure));
                self.last = Some((exposure, brightness.to_bits()));
                return Some(part);
            }
            // The sim thread ends with the program, and the stream with it.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_read_and_nonsense_is_refused() {
        let wanted = |query: &str| Wanted::parse(Some(query), &HeaderMap::new());
        let want = Wanted { width: Some(160), height: None, stream: true };
        assert_eq!(wanted("width=160&stream=true&x=1"), Ok(want));
        assert_eq!(wanted(""), Ok(Wanted::default()));
        for bad in ["width=15", "width=1921", "width=x", "height=1081", "height=", "stream=maybe"] {
            assert!(matches!(wanted(bad), Err(RobotError::BadValue(_))), "{bad}");
        }
    }
}
