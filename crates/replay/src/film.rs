//! Pictures of a run from a camera that follows the car.

use crate::difference::Difference;
use crate::recorded_run::RecordedRun;
use crate::simulation::Rerun;
use chicane_host::camera::{brighten, moment};
use chicane_render::{Camera, Optics, Renderer, Rgb};
use chicane_world::Pose;
use glam::{DMat3, DQuat, DVec2, DVec3};
use std::sync::Arc;

/// Horizontal field of view, rad.
const HORIZONTAL_FOV_RAD: f64 = 1.0;
/// Distance of the camera behind the car, m.
const BEHIND_M: f64 = 1.1;
/// Height of the camera above the origin of the car, m.
const ABOVE_M: f64 = 0.55;
/// The camera looks at a point this far ahead of the car, m.
const AHEAD_M: f64 = 0.5;
/// Time constant of the camera's turning, in simulated seconds: in this time the camera turns 63 %
/// of the way.
const TURN_S: f64 = 0.35;

/// A film of a run: pictures at a fixed rate of simulated time.
pub struct Film {
    rerun: Rerun,
    renderer: Renderer,
    optics: Optics,
    /// Simulated seconds between two pictures.
    interval_s: f64,
    pictures: u64,
    /// The horizontal direction in which the camera looks, a unit vector; `None` before the first
    /// picture.
    direction: Option<DVec2>,
    /// Value of [`Rerun::jumps`] at the last picture.
    jumps: u64,
}

impl Film {
    /// A film with pictures of `size` (width and height in px), `rate` per simulated second.
    pub fn new(run: &RecordedRun, size: [usize; 2], rate: u32) -> Result<Film, Difference> {
        let stage = run.served.stage(&run.profile);
        Ok(Film {
            rerun: Rerun::new(run)?,
            renderer: Renderer::new(Arc::clone(&stage)),
            optics: Optics::pinhole(size[0], size[1], HORIZONTAL_FOV_RAD),
            interval_s: 1.0 / f64::from(rate.max(1)),
            pictures: 0,
            direction: None,
            jumps: 0,
        })
    }

    /// Simulated seconds of the run so far.
    pub fn time_s(&self) -> f64 {
        self.rerun.time_s()
    }

    /// The next picture; `None` at the end of the run.
    pub fn next_picture(&mut self) -> Result<Option<Rgb>, Difference> {
        let due = self.pictures as f64 * self.interval_s;
        while !self.rerun.has_started() || self.rerun.time_s() + 1e-9 < due {
            if !self.rerun.step()? {
                return Ok(None);
            }
        }
        self.pictures += 1;
        let snapshot = self.rerun.snapshot();
        let camera = Camera { pose: self.follow(&snapshot.vehicle.pose), optics: self.optics };
        let mut picture = self.renderer.picture(&camera, &moment(&snapshot));
        brighten(&mut picture.bytes, self.rerun.brightness);
        Ok(Some(picture))
    }

    /// The pose of the camera behind the car. The camera turns with a delay. After a command has
    /// placed the car, the camera takes the direction of the car at once.
    fn follow(&mut self, car: &Pose) -> Pose {
        let ahead = car.rotation * DVec3::X;
        let ahead = ahead.truncate().normalize_or(DVec2::X);
        let jumped = std::mem::replace(&mut self.jumps, self.rerun.jumps()) != self.rerun.jumps();
        let turned = 1.0 - libm::exp(-self.interval_s / TURN_S);
        let direction = match self.direction.filter(|_| !jumped) {
            Some(before) => (before + (ahead - before) * turned).normalize_or(ahead),
            None => ahead,
        };
        self.direction = Some(direction);
        let at = car.position - direction.extend(0.0) * BEHIND_M + DVec3::Z * ABOVE_M;
        let target = car.position + direction.extend(0.0) * AHEAD_M;
        let x = (target - at).normalize_or(DVec3::X);
        let y = DVec3::Z.cross(x).normalize_or(DVec3::Y);
        let rotation = DQuat::from_mat3(&DMat3::from_cols(x, y, x.cross(y)));
        Pose { position: at, rotation }
    }
}
