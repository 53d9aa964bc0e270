//! The on-board camera. The first request for a frame causes the frame to be drawn. Clients that
//! request the same frame share the result, which is cached.
//!
//! The sim thread keeps an [`Exposure`], which contains the world at the tick of the frame. A drawn
//! frame depends only on its exposure, its size and the brightness. One frame is drawn at a time,
//! on all cores.

use crate::driver::Exposure;
use bytes::Bytes;
use chicane_pace::Work;
use chicane_render::{CarMoment, Jpeg, Moment, Renderer, Rgb, Stage, looks};
use chicane_sim::{Lamp, Snapshot};
use chicane_world::Profile;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Weak};
use tokio::sync::{Mutex, oneshot};

/// JPEG quality, 1 to 100.
const JPEG_QUALITY: u8 = 80;
/// Maximum number of drawn frames in the cache.
const CACHED_FRAMES: usize = 8;

/// Draws frames of the on-board camera. Clones share one renderer and one cache.
#[derive(Clone)]
pub struct Camera {
    profile: Arc<Profile>,
    frames: DrawnFrames,
    /// Counts the server's unfinished work for a student's program. In virtual time, simulated time
    /// waits until this work is done. Every drawing counts, because the camera does not know which
    /// client requested the frame.
    work: Arc<Work>,
}

/// A renderer and a cache of frames, for one camera or for several. Clones share the renderer and
/// the cache.
#[derive(Clone, Default)]
pub struct DrawnFrames(Arc<Mutex<FrameCache>>);

/// The renderer that was used last, and the frames that were drawn last.
#[derive(Default)]
struct FrameCache {
    renderer: Option<(Arc<Stage>, Renderer)>,
    /// The frames, the oldest first.
    frames: VecDeque<DrawnFrame>,
}

/// A frame that was drawn.
struct DrawnFrame {
    /// The exposure of the frame. The reference is weak, so that the cache does not keep an old
    /// world alive.
    exposure: Weak<Exposure>,
    /// Width and height, px.
    size: [usize; 2],
    /// Brightness factor in millionths.
    brightness: u64,
    rgb: Arc<Rgb>,
    /// The frame as JPEG; `None` before the first request for a JPEG.
    jpeg: Option<Bytes>,
}

/// A frame could not be drawn: the renderer panicked, or the JPEG encoder failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotDrawn;

impl Camera {
    /// A camera of this car, with an empty cache.
    pub fn new(profile: Arc<Profile>, work: Arc<Work>) -> Camera {
        Camera::with_frames(profile, DrawnFrames::default(), work)
    }

    /// A camera of this car that shares its renderer and its cache with other cameras. Only one of
    /// these cameras draws at a time.
    pub fn with_frames(profile: Arc<Profile>, frames: DrawnFrames, work: Arc<Work>) -> Camera {
        Camera { profile, frames, work }
    }

    /// Width and height in px of the largest frame that fits into the requested width and height.
    /// `None` stands for no limit. A frame keeps the camera's aspect ratio and is never larger than
    /// the camera's own size.
    pub fn size(&self, width: Option<u64>, height: Option<u64>) -> [usize; 2] {
        let camera = &self.profile.camera;
        let (full_w, full_h) = (f64::from(camera.width_px), f64::from(camera.height_px));
        let ratio = |requested: Option<u64>, full: f64| requested.map_or(1.0, |v| v as f64 / full);
        let scale = ratio(width, full_w).min(ratio(height, full_h)).min(1.0);
        [(full_w * scale).round().max(1.0) as usize, (full_h * scale).round().max(1.0) as usize]
    }

    /// Draws a frame as RGB pixels, or takes it from the cache. `size` is width and height in px;
    /// every channel is multiplied by `brightness`.
    pub async fn rgb(
        &self,
        exposure: &Arc<Exposure>,
        size: [usize; 2],
        brightness: f64,
    ) -> Result<Arc<Rgb>, NotDrawn> {
        self.draw(exposure, size, brightness, |frame| Arc::clone(&frame.rgb)).await
    }

    /// Like [`Camera::rgb`], but encoded as JPEG.
    pub async fn jpeg(
        &self,
        exposure: &Arc<Exposure>,
        size: [usize; 2],
        brightness: f64,
    ) -> Result<Bytes, NotDrawn> {
        self.draw(exposure, size, brightness, DrawnFrame::jpeg).await?.ok_or(NotDrawn)
    }

    async fn draw<T: Send + 'static>(
        &self,
        exposure: &Arc<Exposure>,
        size: [usize; 2],
        brightness: f64,
        take: impl FnOnce(&mut DrawnFrame) -> T + Send + 'static,
    ) -> Result<T, NotDrawn> {
        let _job = self.work.job();
        let mut cache = Arc::clone(&self.frames.0).lock_owned().await;
        let (exposure, profile) = (Arc::clone(exposure), Arc::clone(&self.profile));
        let (send, drawn) = oneshot::channel();
        // The drawing runs on a rayon thread. A thread outside rayon's pool would have to pass each
        // parallel part of the drawing to the pool and wait for its result.
        rayon::spawn(move || {
            let work = || take(cache.frame(exposure, size, brightness, &profile));
            // If the drawing panics, the sender is dropped and the receiver returns `NotDrawn`.
            if let Ok(taken) = catch_unwind(AssertUnwindSafe(work)) {
                let _ = send.send(taken);
            }
        });
        drawn.await.map_err(|_| NotDrawn)
    }
}

impl FrameCache {
    /// The frame of this exposure with this size and brightness. The frame is drawn if it is not in
    /// the cache.
    fn frame(
        &mut self,
        exposure: Arc<Exposure>,
        size: [usize; 2],
        brightness: f64,
        profile: &Arc<Profile>,
    ) -> &mut DrawnFrame {
        let bright = (brightness * 1e6).round() as u64;
        let same = |f: &DrawnFrame| {
            std::ptr::eq(f.exposure.as_ptr(), Arc::as_ptr(&exposure))
                && f.size == size
                && f.brightness == bright
        };
        let known = self.frames.iter().position(same);
        let index = known.unwrap_or_else(|| {
            let stage = exposure.served.stage(profile);
            let mut rgb = self.renderer(stage).on_board(
                &moment(&exposure.snapshot),
                size,
                exposure.seed,
                exposure.frame,
            );
            brighten(&mut rgb.bytes, brightness);
            if self.frames.len() >= CACHED_FRAMES {
                self.frames.pop_front();
            }
            let exposure = Arc::downgrade(&exposure);
            self.frames.push_back(DrawnFrame {
                exposure,
                size,
                brightness: bright,
                rgb: Arc::new(rgb),
                jpeg: None,
            });
            self.frames.len() - 1
        });
        &mut self.frames[index]
    }

    /// The renderer of this stage. A renderer of another stage is dropped before the new renderer
    /// is created.
    fn renderer(&mut self, stage: Arc<Stage>) -> &mut Renderer {
        let is_current = self.renderer.as_ref().is_some_and(|(s, _)| Arc::ptr_eq(s, &stage));
        if !is_current {
            self.renderer = None;
        }
        let (_, renderer) = self.renderer.get_or_insert_with(|| (Arc::clone(&stage), Renderer::new(stage)));
        renderer
    }
}

impl DrawnFrame {
    /// The frame as JPEG; `None` if the encoder fails.
    fn jpeg(&mut self) -> Option<Bytes> {
        if self.jpeg.is_none() {
            self.jpeg = Some(Bytes::from(Jpeg::new(JPEG_QUALITY).encode(&self.rgb).ok()?));
        }
        self.jpeg.clone()
    }
}

/// Multiplies every channel by `brightness`, then rounds and clamps the result to 0..=255.
pub fn brighten(bytes: &mut [u8], brightness: f64) {
    if brightness == 1.0 {
        return;
    }
    let table: [u8; 256] = std::array::from_fn(|v| (v as f64 * brightness).round().clamp(0.0, 255.0) as u8);
    for byte in bytes {
        *byte = table[usize::from(*byte)];
    }
}

/// The parts of a snapshot that the renderer needs.
pub fn moment(snapshot: &Snapshot) -> Moment {
    let car = &snapshot.vehicle;
    let lamp = |lamp: &Lamp| match lamp {
        Lamp::Green => looks::Lamp::Green,
        Lamp::Yellow { .. } => looks::Lamp::Yellow,
        Lamp::Red => looks::Lamp::Red,
    };
    Moment {
        car: CarMoment {
            pose: car.pose,
            front_wheels: car.front_wheels,
            wheel_angles: car.wheel_angles,
            pan: car.pan,
            tilt: car.tilt,
        },
        objects: snapshot.objects.clone(),
        lamps: snapshot.lights.iter().map(|(i, l)| (*i, lamp(l))).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_keep_the_aspect_ratio_and_are_never_larger() {
        let camera = Camera::new(Arc::new(Profile::gen1()), Arc::default());
        assert_eq!(camera.size(None, None), [480, 360]);
        assert_eq!(camera.size(Some(160), None), [160, 120]);
        assert_eq!(camera.size(Some(1920), Some(1080)), [480, 360]);
        assert_eq!(camera.size(Some(480), Some(120)), [160, 120]);
        assert_eq!(camera.size(Some(16), Some(1080)), [16, 12]);
    }

    #[test]
    fn a_frame_is_drawn_once_and_does_not_keep_its_world_alive() {
        let profile = Arc::new(Profile::gen1());
        let world = Arc::new(chicane_testkit::shipped_world("oval"));
        let entry = chicane_store::LibraryEntry {
            name: "oval".to_owned(),
            display: "Oval".to_owned(),
            world_id: None,
            rev: None,
            official: true,
            deletable: false,
            verified: true,
        };
        let served =
            Arc::new(crate::driver::ServedWorld::new(entry, Arc::clone(&world), None).expect("valid world"));
        let snapshot = chicane_sim::Sim::new(world, Arc::clone(&profile), 0).snapshot();
        let exposure = Arc::new(Exposure { served: Arc::clone(&served), seed: 0, snapshot, frame: 0 });
        let mut cache = FrameCache::default();
        let mut draw = || Arc::clone(&cache.frame(Arc::clone(&exposure), [16, 12], 1.0, &profile).rgb);
        assert!(Arc::ptr_eq(&draw(), &draw()));
        let weak = Arc::downgrade(&served);
        drop((exposure, served));
        assert!(weak.upgrade().is_none(), "the cache keeps an old world alive");
    }

    #[test]
    fn brightness_multiplies_rounds_and_clamps() {
        let mut bytes = vec![0, 1, 10, 100, 200, 255];
        brighten(&mut bytes, 1.5);
        assert_eq!(bytes, [0, 2, 15, 150, 255, 255]);
        brighten(&mut bytes, 0.2);
        assert_eq!(bytes, [0, 0, 3, 30, 51, 51]);
    }
}
