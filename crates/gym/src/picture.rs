//! Pictures of an environment: what the on-board camera sees, and a view from behind the car.

use crate::car::Car;
use crate::error::GymError;
use chicane_render::{Camera, CarMoment, Moment, Optics, Renderer, Rgb, Stage, looks};
use chicane_sim::{Lamp, Sim};
use chicane_world::{Pose, Profile};
use glam::{DMat3, DQuat, DVec2, DVec3};
use serde::{Deserialize, Serialize};
use std::sync::{Arc, Mutex, PoisonError};

/// Horizontal field of view of the chase camera, rad.
const CHASE_FOV_RAD: f64 = 1.0;
/// Distance of the chase camera behind the car, m.
const BEHIND_M: f64 = 1.1;
/// Height of the chase camera above the car, m.
const ABOVE_M: f64 = 0.55;
/// The chase camera looks at a point this far ahead of the car, m.
const AHEAD_M: f64 = 0.5;

/// From where an environment is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum View {
    /// From the car's own camera, at the tick of its last frame.
    OnBoard,
    /// From behind and above the car, at the current tick.
    Chase,
}

/// The world at the tick of a camera frame.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Exposure {
    frame: u64,
    pose: Pose,
    front_wheels: [f64; 2],
    wheel_angles: [f64; 4],
    camera: [f64; 2],
    objects: Vec<Pose>,
    lamps: Vec<(usize, Lamp)>,
}

/// Renderers that are not in use. A renderer has large buffers, so the environments share the
/// renderers.
#[derive(Default)]
pub(crate) struct Renderers(Mutex<Vec<(Arc<Stage>, Renderer)>>);

/// Largest number of renderers that are kept while they are not in use.
const KEPT_RENDERERS: usize = 8;

impl Exposure {
    pub(crate) fn of(sim: &Sim, frame: u64) -> Exposure {
        let now = sim.snapshot();
        let car = now.vehicle;
        Exposure {
            frame,
            pose: car.pose,
            front_wheels: car.front_wheels,
            wheel_angles: car.wheel_angles,
            camera: [car.pan, car.tilt],
            objects: now.objects,
            lamps: now.lights,
        }
    }

    fn moment(&self) -> Moment {
        let lamp = |lamp: &Lamp| match lamp {
            Lamp::Green => looks::Lamp::Green,
            Lamp::Yellow { .. } => looks::Lamp::Yellow,
            Lamp::Red => looks::Lamp::Red,
        };
        let [pan, tilt] = self.camera;
        Moment {
            car: CarMoment {
                pose: self.pose,
                front_wheels: self.front_wheels,
                wheel_angles: self.wheel_angles,
                pan,
                tilt,
            },
            objects: self.objects.clone(),
            lamps: self.lamps.iter().map(|(i, l)| (*i, lamp(l))).collect(),
        }
    }
}

impl Renderers {
    /// Draws with a renderer of this stage. The lock is not held while the picture is drawn,
    /// because a thread that waits for parts of its picture may start to draw another picture. The
    /// thread would then wait for a lock that it holds itself.
    fn draw(&self, stage: Arc<Stage>, draw: impl FnOnce(&mut Renderer) -> Rgb) -> Rgb {
        let free = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = {
            let mut free = free();
            let known = free.iter().position(|(own, _)| Arc::ptr_eq(own, &stage));
            known.map(|i| free.swap_remove(i))
        };
        let (stage, mut renderer) = kept.unwrap_or_else(|| (Arc::clone(&stage), Renderer::new(stage)));
        let picture = draw(&mut renderer);
        let mut free = free();
        if free.len() >= KEPT_RENDERERS {
            free.remove(0);
        }
        free.push((stage, renderer));
        picture
    }
}

impl Car {
    /// Draws the environment. `size` is width and height in px.
    pub(crate) fn draw(&self, view: View, size: [usize; 2], renderers: &Renderers) -> Result<Rgb, GymError> {
        let exposure = self.exposure.as_ref().ok_or(GymError::NoPicture)?;
        let mut picture = renderers.draw(self.stage(), |renderer| match view {
            View::OnBoard => renderer.on_board(&exposure.moment(), size, self.sim.seed(), exposure.frame),
            View::Chase => {
                let moment = Exposure::of(&self.sim, 0).moment();
                let optics = Optics::pinhole(size[0], size[1], CHASE_FOV_RAD);
                renderer.picture(&Camera { pose: behind(&moment.car.pose), optics }, &moment)
            }
        });
        let brightness = self.varied.as_ref().and_then(|varied| varied.overlay.brightness);
        brighten(&mut picture.bytes, brightness.unwrap_or(1.0));
        Ok(picture)
    }

    /// The world of the episode, prepared for the renderer.
    fn stage(&self) -> Arc<Stage> {
        match &self.varied {
            Some(varied) if varied.overlay.changes_scene() => {
                let make = || Arc::new(Stage::new(self.sim.world(), Arc::clone(self.sim.profile())));
                Arc::clone(varied.stage.get_or_init(make))
            }
            _ => self.course.stage(),
        }
    }
}

/// Width and height of a picture that fits into `most`. The picture keeps the aspect ratio of the
/// camera, and is never larger than the camera's own pictures.
pub(crate) fn fitting_size(profile: &Profile, most: [u32; 2]) -> [usize; 2] {
    let full = [f64::from(profile.camera.width_px), f64::from(profile.camera.height_px)];
    let scale = (f64::from(most[0]) / full[0]).min(f64::from(most[1]) / full[1]).min(1.0);
    full.map(|side| (side * scale).round().max(1.0) as usize)
}

/// The pose of the chase camera.
fn behind(car: &Pose) -> Pose {
    let ahead = (car.rotation * DVec3::X).truncate().normalize_or(DVec2::X).extend(0.0);
    let at = car.position - ahead * BEHIND_M + DVec3::Z * ABOVE_M;
    let x = (car.position + ahead * AHEAD_M - at).normalize_or(DVec3::X);
    let y = DVec3::Z.cross(x).normalize_or(DVec3::Y);
    Pose { position: at, rotation: DQuat::from_mat3(&DMat3::from_cols(x, y, x.cross(y))) }
}

/// Multiplies every channel by `brightness`, then rounds and clamps the result.
fn brighten(bytes: &mut [u8], brightness: f64) {
    if brightness == 1.0 {
        return;
    }
    let table: [u8; 256] = std::array::from_fn(|v| (v as f64 * brightness).round().clamp(0.0, 255.0) as u8);
    bytes.iter_mut().for_each(|byte| *byte = table[usize::from(*byte)]);
}

/// The grey value of a pixel: the luma of its three channels.
pub(crate) fn grey(pixel: &[u8]) -> u8 {
    let [red, green, blue] = [0, 1, 2].map(|i| u32::from(pixel[i]));
    ((77 * red + 150 * green + 29 * blue + 128) >> 8) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_keep_the_aspect_ratio_and_are_never_larger() {
        let profile = Profile::gen1();
        assert_eq!(fitting_size(&profile, [160, 120]), [160, 120]);
        assert_eq!(fitting_size(&profile, [1920, 1080]), [480, 360]);
        assert_eq!(fitting_size(&profile, [480, 120]), [160, 120]);
    }

    #[test]
    fn grey_keeps_black_and_white() {
        assert_eq!([grey(&[0; 3]), grey(&[255; 3]), grey(&[0, 255, 0])], [0, 255, 149]);
    }
}
