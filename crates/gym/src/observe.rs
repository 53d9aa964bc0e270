//! Observations of an agent: one or more of camera picture, lidar ranges, and a vector that
//! describes the car and the road.

use crate::car::Car;
use crate::error::GymError;
use crate::numbers::Numbers;
use crate::picture::{Renderers, View, fitting_size, grey};
use crate::settings::Settings;
use crate::track::{modulo, rounded};
use chicane_world::Profile;
use chicane_world::world::ObjectKind;
use serde::{Deserialize, Serialize};
use std::f64::consts::{PI, TAU};

/// The state vector contains the direction of the road at these distances ahead of the car, m.
const AHEAD_M: [f64; 5] = [0.2, 0.4, 0.7, 1.0, 1.5];
/// Number of objects in the state vector.
const NEAREST: usize = 3;
/// Largest absolute value of a coordinate of an object in the state vector, m. If there are fewer
/// than `NEAREST` objects, this value is also the x of each missing object.
const ABSENT_M: f64 = 10.0;
/// Objects with an x of at most this value in the frame of the car, m, are left out, because they
/// are behind the car.
const BEHIND_M: f64 = -0.3;
/// Largest absolute values of the first four numbers of the state vector: speed in m/s, steering in
/// rad, offset in m, angle in rad.
const BOUNDS: [f32; 4] = [10.0, 1.0, 10.0, PI as f32];

/// Numbers of elements of one observation. A kind that is not observed has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Shapes {
    /// Numbers in the state vector of one frame.
    pub state: usize,
    /// Ranges of one scan.
    pub lidar: usize,
    /// Height, width and channels of a picture.
    pub camera: [usize; 3],
    /// Frames in one observation.
    pub stack: usize,
}

impl Shapes {
    /// The shapes of observations with these settings.
    pub fn new(settings: &Settings, profile: &Profile) -> Shapes {
        let observed = settings.observed;
        let [width, height] = fitting_size(profile, settings.camera_size);
        let objects = if settings.obstacles { 2 * NEAREST } else { 0 };
        let beams = settings.beams.unwrap_or(profile.lidar.beams) as usize;
        let channels = if settings.grey { 1 } else { 3 };
        Shapes {
            state: if observed.state { BOUNDS.len() + AHEAD_M.len() + objects } else { 0 },
            lidar: if observed.lidar { beams } else { 0 },
            camera: if observed.camera { [height, width, channels] } else { [0; 3] },
            stack: settings.frame_stack,
        }
    }

    /// Elements of the picture of one frame.
    pub fn picture(&self) -> usize {
        self.camera.iter().product()
    }
}

/// The arrays of one environment.
pub(crate) struct Row<'a> {
    pub(crate) state: &'a mut [f32],
    pub(crate) lidar: &'a mut [f32],
    pub(crate) camera: &'a mut [u8],
}

/// The frames of the last observation, if an observation has several.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct History {
    state: Vec<f32>,
    lidar: Vec<f32>,
    camera: Vec<u8>,
}

impl Car {
    /// Writes the observation. `first` is true for the first observation of an episode.
    pub(crate) fn observe(
        &mut self,
        row: Row<'_>,
        first: bool,
        renderers: &Renderers,
    ) -> Result<(), GymError> {
        let Row { state, lidar, camera } = row;
        let stack = self.plan.settings.frame_stack;
        let mut history = std::mem::take(&mut self.history);
        if !state.is_empty() {
            let newest = state.len() / stack * (stack - 1);
            self.write_state(&mut state[newest..]);
            add_frame(&mut history.state, state, stack, first);
        }
        if !lidar.is_empty() {
            let newest = lidar.len() / stack * (stack - 1);
            self.write_lidar(&mut lidar[newest..]);
            add_frame(&mut history.lidar, lidar, stack, first);
        }
        if !camera.is_empty() {
            let newest = camera.len() / stack * (stack - 1);
            self.write_camera(&mut camera[newest..], renderers)?;
            add_frame(&mut history.camera, camera, stack, first);
        }
        self.history = history;
        Ok(())
    }

    /// Writes the observation of the current moment again.
    pub(crate) fn observe_again(&mut self, row: Row<'_>, renderers: &Renderers) -> Result<(), GymError> {
        let last = &self.history;
        let sizes = (row.state.len(), row.lidar.len(), row.camera.len());
        if self.plan.settings.frame_stack == 1
            || (last.state.len(), last.lidar.len(), last.camera.len()) != sizes
        {
            return self.observe(row, true, renderers);
        }
        let Row { state, lidar, camera } = row;
        state.copy_from_slice(&last.state);
        lidar.copy_from_slice(&last.lidar);
        camera.copy_from_slice(&last.camera);
        Ok(())
    }

    /// Writes the state vector: speed, steering, offset from the centre line, angle to the road,
    /// and the directions of the road at the distances `AHEAD_M`, relative to its direction at the
    /// car. With obstacles, the positions of the nearest objects follow.
    fn write_state(&self, out: &mut [f32]) {
        let (numbers, position) = (&self.numbers.0, &self.episode.position);
        let angle = libm::remainder(numbers[Numbers::HEADING] - position.heading, TAU);
        let values = [numbers[Numbers::SPEED], numbers[Numbers::STEERING], position.offset, angle];
        for ((out, value), bound) in out.iter_mut().zip(values).zip(BOUNDS) {
            *out = (value as f32).clamp(-bound, bound);
        }
        for (out, ahead) in out[values.len()..].iter_mut().zip(AHEAD_M) {
            let bend = self.course.track.heading(position.along + ahead) - position.heading;
            *out = ((modulo(bend + PI, TAU) - PI) as f32).clamp(-BOUNDS[3], BOUNDS[3]);
        }
        let most = ABSENT_M as f32;
        let objects = &mut out[values.len() + AHEAD_M.len()..];
        if !objects.is_empty() {
            for (out, value) in objects.iter_mut().zip(self.nearest_objects()) {
                *out = (value as f32).clamp(-most, most);
            }
        }
    }

    /// Positions of the nearest objects in the frame of the car: x ahead, y to the left, m. Walls,
    /// and objects with an x of at most `BEHIND_M`, are left out.
    fn nearest_objects(&self) -> [f64; 2 * NEAREST] {
        let number = |i: usize| self.numbers.0[i];
        let heading = number(Numbers::HEADING);
        let (sin, cos) = (libm::sin(heading), libm::cos(heading));
        let objects = self.sim.world().objects.iter().enumerate();
        let mut found: Vec<[f64; 3]> = objects
            .filter(|(_, object)| object.kind != ObjectKind::Wall)
            .filter_map(|(i, _)| {
                let at = self.sim.object_pose(i)?.position;
                let (dx, dy) = (rounded(at.x) - number(Numbers::X), rounded(at.y) - number(Numbers::Y));
                let (x, y) = (dx * cos + dy * sin, dy * cos - dx * sin);
                (x > BEHIND_M).then_some([x * x + y * y, x, y])
            })
            .collect();
        found.sort_by(|a, b| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal));
        let mut out = [ABSENT_M, 0.0].repeat(NEAREST);
        for (out, [_, x, y]) in out.chunks_mut(2).zip(found) {
            out.copy_from_slice(&[x, y]);
        }
        std::array::from_fn(|i| out[i])
    }

    fn write_lidar(&self, out: &mut [f32]) {
        let ranges = &self.sim.last_readings().0.ranges;
        let every = ranges.len() / out.len();
        let reach = rounded(self.course.profile.lidar.range_max_m) as f32;
        // The ranges are clamped, because a beam that hit nothing has an infinite range and noise
        // can exceed the limits.
        for (out, range) in out.iter_mut().zip(ranges.iter().step_by(every)) {
            *out = range.clamp(0.0, reach);
        }
    }

    fn write_camera(&self, out: &mut [u8], renderers: &Renderers) -> Result<(), GymError> {
        let settings = &self.plan.settings;
        let size = fitting_size(&self.course.profile, settings.camera_size);
        let picture = self.draw(View::OnBoard, size, renderers)?;
        if settings.grey {
            for (out, pixel) in out.iter_mut().zip(picture.bytes.chunks_exact(3)) {
                *out = grey(pixel);
            }
        } else {
            out.copy_from_slice(&picture.bytes);
        }
        Ok(())
    }
}

/// Adds the older frames in front of the newest frame, which is already at the end of `out`. At the
/// start of an episode, all frames are copies of the newest frame.
fn add_frame<T: Copy>(history: &mut Vec<T>, out: &mut [T], stack: usize, first: bool) {
    if stack == 1 {
        return;
    }
    let frame = out.len() / stack;
    let (older, newest) = out.split_at_mut(out.len() - frame);
    if first || history.len() != older.len() + frame {
        older.chunks_exact_mut(frame).for_each(|older| older.copy_from_slice(newest));
    } else {
        older.copy_from_slice(&history[frame..]);
    }
    history.clear();
    history.extend_from_slice(out);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_frame_is_last_and_a_new_episode_repeats_its_first_one() {
        let mut history = Vec::new();
        let mut seen = |newest: u8, first: bool| {
            let mut out = [0, 0, 0, 0, newest, newest + 1];
            add_frame(&mut history, &mut out, 3, first);
            out
        };
        assert_eq!(seen(10, true), [10, 11, 10, 11, 10, 11]);
        assert_eq!(seen(20, false), [10, 11, 10, 11, 20, 21]);
        assert_eq!(seen(30, false), [10, 11, 20, 21, 30, 31]);
        assert_eq!(seen(40, true), [40, 41, 40, 41, 40, 41]);
    }
}
