//! The on-board camera: frames are drawn when someone wants them, once for all who do.
//!
//! The sim thread keeps the world as it was at the tick of each frame; what is drawn from that here
//! depends on nothing else. One picture is drawn at a time, on all cores.

use crate::driver::Exposure;
use bytes::Bytes;
use chicane_render::{CarMoment, Moment, Renderer, Rgb, Stage, looks};
use chicane_sim::{Lamp, Snapshot};
use chicane_world::Profile;
use jpeg_encoder::{ColorType, Encoder, SamplingFactor};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Weak};
use tokio::sync::{Mutex, oneshot};

/// Quality of the JPEG pictures.
const JPEG_QUALITY: u8 = 80;
/// Pictures that are kept for those who ask for the same.
const CACHED_FRAMES: usize = 8;

/// Draws frames of the camera.
#[derive(Clone)]
pub struct Camera {
    profile: Arc<Profile>,
    cache: Arc<Mutex<FrameCache>>,
}

/// What can be drawn with, and what was drawn last.
#[derive(Default)]
struct FrameCache {
    renderer: Option<(Arc<Stage>, Renderer)>,
    frames: VecDeque<DrawnFrame>,
}

/// A frame that was drawn.
struct DrawnFrame {
    /// Nobody asks for a moment again that nobody has any more; and a world that is gone is not kept for its pictures.
    exposure: Weak<Exposure>,
    size: [usize; 2],
    /// In steps of a millionth.
    brightness: u64,
    rgb: Arc<Rgb>,
    jpeg: Option<Bytes>,
}

/// A frame could not be drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotDrawn;

impl Camera {
    pub fn new(profile: Arc<Profile>) -> Camera {
        Camera { profile, cache: Arc::default() }
    }

    /// The size of a picture that was asked for: not larger than the camera's own, with its shape.
    pub fn size(&self, width: Option<u64>, height: Option<u64>) -> [usize; 2] {
        let camera = &self.profile.camera;
        let (full_w, full_h) = (f64::from(camera.width_px), f64::from(camera.height_px));
        let part = |asked: Option<u64>, full: f64| asked.map_or(1.0, |v| v as f64 / full);
        let scale = part(width, full_w).min(part(height, full_h)).min(1.0);
        [(full_w * scale).round().max(1.0) as usize, (full_h * scale).round().max(1.0) as usize]
    }

    /// A frame as pixels.
    pub async fn rgb(
        &self,
        exposure: &Arc<Exposure>,
        size: [usize; 2],
        brightness: f64,
    ) -> Result<Arc<Rgb>, NotDrawn> {
        self.draw(exposure, size, brightness, |frame| Arc::clone(&frame.rgb)).await
    }

    /// A frame as JPEG.
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
        let mut cache = Arc::clone(&self.cache).lock_owned().await;
        let (exposure, profile) = (Arc::clone(exposure), Arc::clone(&self.profile));
        let (send, drawn) = oneshot::channel();
        // On one of the threads that draw: from any other, each part of a picture would be handed to them and back.
        rayon::spawn(move || {
            let work = || take(cache.frame(exposure, size, brightness, &profile));
            // Whoever waits learns from the silence that it failed.
            if let Ok(taken) = catch_unwind(AssertUnwindSafe(work)) {
                let _ = send.send(taken);
            }
        });
        drawn.await.map_err(|_| NotDrawn)
    }
}

impl FrameCache {
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

    fn renderer(&mut self, stage: Arc<Stage>) -> &mut Renderer {
        let fits = self.renderer.as_ref().is_some_and(|(s, _)| Arc::ptr_eq(s, &stage));
        if !fits {
            self.renderer = None;
        }
        let (_, renderer) = self.renderer.get_or_insert_with(|| (Arc::clone(&stage), Renderer::new(stage)));
        renderer
    }
}

impl DrawnFrame {
    fn jpeg(&mut self) -> Option<Bytes> {
        if self.jpeg.is_none() {
            let mut bytes = Vec::with_capacity(self.rgb.bytes.len() / 8);
            let mut encoder = Encoder::new(&mut bytes, JPEG_QUALITY);
            encoder.set_sampling_factor(SamplingFactor::F_2_2);
            let (width, height) = (self.rgb.width as u16, self.rgb.height as u16);
            encoder.encode(&self.rgb.bytes, width, height, ColorType::Rgb).ok()?;
            self.jpeg = Some(Bytes::from(bytes));
        }
        self.jpeg.clone()
    }
}

/// Every channel multiplied, rounded, clamped.
fn brighten(bytes: &mut [u8], brightness: f64) {
    if brightness == 1.0 {
        return;
    }
    let table: [u8; 256] = std::array::from_fn(|v| (v as f64 * brightness).round().clamp(0.0, 255.0) as u8);
    for byte in bytes {
        *byte = table[usize::from(*byte)];
    }
}

/// What the renderer wants to know of a tick.
fn moment(snapshot: &Snapshot) -> Moment {
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
    fn sizes_keep_the_shape_and_are_never_larger() {
        let camera = Camera::new(Arc::new(Profile::gen1()));
        assert_eq!(camera.size(None, None), [480, 360]);
        assert_eq!(camera.size(Some(160), None), [160, 120]);
        assert_eq!(camera.size(Some(1920), Some(1080)), [480, 360]);
        assert_eq!(camera.size(Some(480), Some(120)), [160, 120]);
        assert_eq!(camera.size(Some(16), Some(1080)), [16, 12]);
    }

    #[test]
    fn a_picture_is_drawn_once_and_keeps_no_world() {
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
            Arc::new(crate::driver::ServedWorld::new(entry, Arc::clone(&world)).expect("valid world"));
        let snapshot = chicane_sim::Sim::new(world, Arc::clone(&profile), 0).snapshot();
        let exposure = Arc::new(Exposure { served: Arc::clone(&served), seed: 0, snapshot, frame: 0 });
        let mut cache = FrameCache::default();
        let mut draw = || Arc::clone(&cache.frame(Arc::clone(&exposure), [16, 12], 1.0, &profile).rgb);
        assert!(Arc::ptr_eq(&draw(), &draw()));
        let kept = Arc::downgrade(&served);
        drop((exposure, served));
        assert!(kept.upgrade().is_none(), "a world that is gone is kept for its pictures");
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
