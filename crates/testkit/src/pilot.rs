//! A driver for tests. The driver knows the pose of the car and follows a closed route: it always
//! steers towards a target point that is a fixed distance ahead on the route.

use chicane_world::{Pose, Profile, Route};
use glam::DVec2;

/// Time that the car needs to reach the target point, s.
const LOOK_AHEAD_S: f64 = 0.35;
/// Minimum distance of the target point from the car, m.
const LOOK_AHEAD_MIN_M: f64 = 0.25;

/// A driver that follows a route and measures the driven distance.
pub struct Pilot {
    route: Route,
    length: f64,
    wheelbase: f64,
    look_ahead: f64,
    distance: f64,
    last_along: f64,
}

impl Pilot {
    /// A driver for a car that drives at this speed, m/s.
    pub fn new(route: &Route, profile: &Profile, speed: f64) -> Pilot {
        Pilot {
            length: route.length(),
            route: route.clone(),
            wheelbase: profile.wheelbase_m,
            look_ahead: LOOK_AHEAD_MIN_M.max(LOOK_AHEAD_S * speed),
            distance: 0.0,
            last_along: 0.0,
        }
    }

    /// The steering angle for a car at this pose, rad. Also updates the driven distance.
    pub fn steer(&mut self, pose: &Pose) -> f64 {
        let along = self.route.project(pose.position.truncate()).distance_along;
        // `along` jumps by a whole lap at the start line. The shorter way around the route is
        // added, so that the jump does not change the driven distance.
        self.distance +=
            (along - self.last_along + 1.5 * self.length).rem_euclid(self.length) - 0.5 * self.length;
        self.last_along = along;
        let (target, _) = self.route.point_at(along + self.look_ahead);
        let local = pose.inverse().point(DVec2::extend(target, 0.0));
        libm::atan(2.0 * self.wheelbase * local.y / (local.x * local.x + local.y * local.y).max(1e-6))
    }

    /// Laps driven so far, counted from the start of the route.
    pub fn laps(&self) -> f64 {
        self.distance / self.length
    }

    /// Distance driven along the route so far, counted from the start of the route, m.
    pub fn distance(&self) -> f64 {
        self.distance
    }
}
