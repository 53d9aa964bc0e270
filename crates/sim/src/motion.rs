//! Motions that the simulator carries out: over a duration, or along a path.

use chicane_world::Pose;
use chicane_world::pose::wrap_angle;
use glam::DVec2;
use serde::{Deserialize, Serialize};

/// How fast a body turns into the next leg of its path, rad/s.
const TURN_RATE: f64 = 6.0;

/// A pose that is reached step by step. Whoever moves is upright all the way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Motion {
    Over { from: Upright, to: Upright, elapsed_s: f64, duration_s: f64 },
    Along { legs: Legs, at: Upright, turns: bool },
}

/// Position and heading.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Upright {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) z: f64,
    pub(crate) yaw: f64,
}

impl Upright {
    pub(crate) fn of(pose: &Pose) -> Upright {
        Upright { x: pose.position.x, y: pose.position.y, z: pose.position.z, yaw: pose.yaw() }
    }

    pub(crate) fn pose(&self) -> Pose {
        Pose::from_xyz_yaw(self.x, self.y, self.z, self.yaw)
    }
}

/// A polyline that is walked at an even speed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Legs {
    points: Vec<DVec2>,
    /// The point walked to.
    next: usize,
    speed: f64,
    repeat: bool,
}

impl Motion {
    pub(crate) fn over(from: Upright, to: Upright, duration_s: f64) -> Motion {
        Motion::Over { from, to, elapsed_s: 0.0, duration_s }
    }

    /// Walks from `at` to the first point and on. `turns`: the heading follows the path.
    pub(crate) fn along(at: Upright, path: &[[f64; 2]], speed: f64, repeat: bool, turns: bool) -> Motion {
        let points = path.iter().map(|&[x, y]| DVec2::new(x, y)).collect();
        Motion::Along { legs: Legs { points, next: 0, speed, repeat }, at, turns }
    }

    /// Goes on by `dt`; gives the new pose, and whether this was the end.
    pub(crate) fn advance(&mut self, dt: f64) -> (Pose, bool) {
        match self {
            Motion::Over { from, to, elapsed_s, duration_s } => {
                *elapsed_s += dt;
                // Half a step of slack: sums of steps must not miss the end by a rounding.
                if *elapsed_s >= *duration_s - 0.5 * dt {
                    return (to.pose(), true);
                }
                let t = *elapsed_s / *duration_s;
                let at = Upright {
                    x: from.x + (to.x - from.x) * t,
                    y: from.y + (to.y - from.y) * t,
                    z: from.z + (to.z - from.z) * t,
                    yaw: from.yaw + wrap_angle(to.yaw - from.yaw) * t,
                };
                (at.pose(), false)
            }
            Motion::Along { legs, at, turns } => {
                let here = DVec2::new(at.x, at.y);
                let (there, heading, ended) = legs.walk(here, dt);
                (at.x, at.y) = (there.x, there.y);
                if let (true, Some(heading)) = (*turns, heading) {
                    let most = TURN_RATE * dt;
                    at.yaw = wrap_angle(at.yaw + wrap_angle(heading - at.yaw).clamp(-most, most));
                }
                (at.pose(), ended)
            }
        }
    }
}

impl Legs {
    /// Walks for `dt` from a place; gives the new place, the direction of the last leg walked,
    /// and whether the end was reached.
    fn walk(&mut self, from: DVec2, dt: f64) -> (DVec2, Option<f64>, bool) {
        let (mut at, mut left, mut heading) = (from, self.speed * dt, None);
        // A lap of equal points must not loop for ever: each point is passed once at most.
        for _ in 0..=self.points.len() {
            let Some(&target) = self.points.get(self.next) else {
                return (at, heading, true);
            };
            let way = target - at;
            let length = way.length();
            if length > 1e-9 {
                heading = Some(libm::atan2(way.y, way.x));
            }
            if length > left {
                return (at + way * (left / length), heading, false);
            }
            left -= length;
            at = target;
            self.next += 1;
            if self.repeat && self.next == self.points.len() {
                self.next = 0;
            }
        }
        (at, heading, !self.repeat)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DT: f64 = 0.0025;

    fn at(x: f64, y: f64, yaw: f64) -> Upright {
        Upright { x, y, z: 0.0, yaw }
    }

    fn run(motion: &mut Motion, seconds: f64) -> (Pose, bool) {
        let steps = libm::round(seconds / DT) as usize;
        let mut last = (Pose::IDENTITY, false);
        for _ in 0..steps {
            last = motion.advance(DT);
            if last.1 {
                break;
            }
        }
        last
    }

    #[test]
    fn over_a_duration_ends_at_the_target_on_time() {
        let mut m = Motion::over(at(0.0, 0.0, 3.0), at(1.0, 2.0, -3.0), 2.0);
        let (half, ended) = run(&mut m, 1.0);
        assert!(!ended && (half.position.x - 0.5).abs() < 1e-9);
        assert!(half.yaw().abs() > 3.0, "turns the short way round");
        let (end, ended) = run(&mut m, 1.0);
        assert!(ended && end == at(1.0, 2.0, -3.0).pose());
    }

    #[test]
    fn along_a_path_keeps_its_speed_round_corners() {
        let mut m = Motion::along(at(0.0, 0.0, 0.0), &[[1.0, 0.0], [1.0, 1.0]], 0.5, false, true);
        let (p, ended) = run(&mut m, 3.0);
        assert!(
            !ended
                && (p.position.y - 0.5).abs() < 1e-6
                && (p.yaw() - std::f64::consts::FRAC_PI_2).abs() < 1e-3,
            "{p:?}"
        );
        let (p, ended) = run(&mut m, 1.1);
        assert!(ended && (p.position.y - 1.0).abs() < 1e-9);
    }

    #[test]
    fn a_loop_goes_from_the_last_point_to_the_first() {
        let path = [[1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.0, 0.0]];
        let mut m = Motion::along(at(0.0, 0.0, 0.0), &path, 1.0, true, false);
        let (p, ended) = run(&mut m, 4.0 + 1.5);
        assert!(!ended && (p.position.x - 1.0).abs() < 1e-6 && (p.position.y - 0.5).abs() < 1e-6, "{p:?}");
        assert_eq!(p.yaw(), 0.0);
    }

    #[test]
    fn a_loop_of_equal_points_stands_still() {
        let mut m = Motion::along(at(0.0, 0.0, 0.0), &[[1.0, 1.0], [1.0, 1.0]], 1.0, true, true);
        let (p, ended) = run(&mut m, 3.0);
        assert!(!ended && (p.position.x - 1.0).abs() < 1e-9);
    }
}
