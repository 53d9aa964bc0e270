//! Motions that the simulator performs: to a pose within a duration, or along a path.

use chicane_world::Pose;
use chicane_world::pose::wrap_angle;
use glam::DVec2;
use serde::{Deserialize, Serialize};

/// Maximum rate at which a body turns into the direction of its path, rad/s.
const TURN_RATE: f64 = 6.0;

/// A motion in progress. The body is upright during the whole motion.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Motion {
    Over { from: UprightPose, to: UprightPose, elapsed_s: f64, duration_s: f64 },
    Along { legs: PathFollower, at: UprightPose, turns: bool },
}

/// Position and heading.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct UprightPose {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) z: f64,
    pub(crate) yaw: f64,
}

impl UprightPose {
    pub(crate) fn of(pose: &Pose) -> UprightPose {
        UprightPose { x: pose.position.x, y: pose.position.y, z: pose.position.z, yaw: pose.yaw() }
    }

    pub(crate) fn pose(&self) -> Pose {
        Pose::from_xyz_yaw(self.x, self.y, self.z, self.yaw)
    }
}

/// A polyline that a body follows at constant speed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct PathFollower {
    points: Vec<DVec2>,
    /// Index of the point that the body moves to.
    next: usize,
    speed: f64,
    repeat: bool,
}

impl Motion {
    pub(crate) fn over(from: UprightPose, to: UprightPose, duration_s: f64) -> Motion {
        Motion::Over { from, to, elapsed_s: 0.0, duration_s }
    }

    /// A motion from `at` to the first point and then along the path. If `turns` is true, the
    /// heading follows the path.
    pub(crate) fn along(at: UprightPose, path: &[[f64; 2]], speed: f64, repeat: bool, turns: bool) -> Motion {
        let points = path.iter().map(|&[x, y]| DVec2::new(x, y)).collect();
        Motion::Along { legs: PathFollower { points, next: 0, speed, repeat }, at, turns }
    }

    /// Advances by `dt` seconds. Returns the new pose and whether the motion has ended.
    pub(crate) fn advance(&mut self, dt: f64) -> (Pose, bool) {
        match self {
            Motion::Over { from, to, elapsed_s, duration_s } => {
                *elapsed_s += dt;
                // The motion ends if less than half a step is left. Otherwise rounding errors of
                // the sum could delay the end by a step.
                if *elapsed_s >= *duration_s - 0.5 * dt {
                    return (to.pose(), true);
                }
                let t = *elapsed_s / *duration_s;
                let at = UprightPose {
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

impl PathFollower {
    /// Advances by `dt` seconds from a position. Returns the new position, the direction of the
    /// last segment (`None` if the position did not change), and whether the end was reached.
    fn walk(&mut self, from: DVec2, dt: f64) -> (DVec2, Option<f64>, bool) {
        let (mut at, mut left, mut heading) = (from, self.speed * dt, None);
        // The number of points that one call can pass is limited. Otherwise a repeated path of
        // equal points would loop for ever.
        for _ in 0..=self.points.len() {
            let Some(&target) = self.points.get(self.next) else {
                return (at, heading, true);
            };
            let offset = target - at;
            let length = offset.length();
            if length > 1e-9 {
                heading = Some(libm::atan2(offset.y, offset.x));
            }
            if length > left {
                return (at + offset * (left / length), heading, false);
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

    fn at(x: f64, y: f64, yaw: f64) -> UprightPose {
        UprightPose { x, y, z: 0.0, yaw }
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
    fn a_motion_over_a_duration_ends_at_the_target_on_time() {
        let mut m = Motion::over(at(0.0, 0.0, 3.0), at(1.0, 2.0, -3.0), 2.0);
        let (half, ended) = run(&mut m, 1.0);
        assert!(!ended && (half.position.x - 0.5).abs() < 1e-9);
        assert!(half.yaw().abs() > 3.0, "turns the short way round");
        let (end, ended) = run(&mut m, 1.0);
        assert!(ended && end == at(1.0, 2.0, -3.0).pose());
    }

    #[test]
    fn a_motion_along_a_path_keeps_its_speed_at_corners() {
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
    fn a_repeated_path_goes_from_the_last_point_to_the_first() {
        let path = [[1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.0, 0.0]];
        let mut m = Motion::along(at(0.0, 0.0, 0.0), &path, 1.0, true, false);
        let (p, ended) = run(&mut m, 4.0 + 1.5);
        assert!(!ended && (p.position.x - 1.0).abs() < 1e-6 && (p.position.y - 0.5).abs() < 1e-6, "{p:?}");
        assert_eq!(p.yaw(), 0.0);
    }

    #[test]
    fn a_repeated_path_of_equal_points_stands_still() {
        let mut m = Motion::along(at(0.0, 0.0, 0.0), &[[1.0, 1.0], [1.0, 1.0]], 1.0, true, true);
        let (p, ended) = run(&mut m, 3.0);
        assert!(!ended && (p.position.x - 1.0).abs() < 1e-9);
    }
}
