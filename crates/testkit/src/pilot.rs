//! A driver who sees everything: follows a closed route by pure pursuit.

use chicane_world::{Pose, Profile, Route};
use glam::DVec2;

/// How far ahead it looks: seconds, and least metres.
const LOOK_S: f64 = 0.35;
const LOOK_M: f64 = 0.25;

/// Follows a route and counts how far it came.
pub struct Pilot {
    route: Route,
    length: f64,
    wheelbase: f64,
    look: f64,
    done: f64,
    last: f64,
}

impl Pilot {
    /// One who drives this fast, m/s.
    pub fn new(route: &Route, profile: &Profile, speed: f64) -> Pilot {
        Pilot {
            length: route.length(),
            route: route.clone(),
            wheelbase: profile.wheelbase_m,
            look: LOOK_M.max(LOOK_S * speed),
            done: 0.0,
            last: 0.0,
        }
    }

    /// The steering angle for a car that is here.
    pub fn steer(&mut self, pose: &Pose) -> f64 {
        let along = self.route.project(pose.position.truncate()).distance_along;
        // The short way round, so that the start line does not count as a lap.
        self.done += (along - self.last + 1.5 * self.length).rem_euclid(self.length) - 0.5 * self.length;
        self.last = along;
        let (target, _) = self.route.point_at(along + self.look);
        let local = pose.inverse().point(DVec2::extend(target, 0.0));
        libm::atan(2.0 * self.wheelbase * local.y / (local.x * local.x + local.y * local.y).max(1e-6))
    }

    /// Laps done so far.
    pub fn laps(&self) -> f64 {
        self.done / self.length
    }

    /// Metres of the route done so far.
    pub fn distance(&self) -> f64 {
        self.done
    }
}
