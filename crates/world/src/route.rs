//! Waypoints: the centre line and the borders of the road.

use crate::error::Error;
use crate::npy;
use glam::DVec2;

/// An axis-aligned rectangle on the ground.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    /// Metres.
    pub min: DVec2,
    /// Metres.
    pub max: DVec2,
}

/// A route. Row i of the borders belongs to row i of the centre line. A closed loop repeats its
/// first point at the end.
#[derive(Debug, Clone, PartialEq)]
pub struct Route {
    /// Centre line; at least two distinct points.
    pub centre: Vec<DVec2>,
    /// Inner and outer border: the inner one encloses the smaller area.
    pub borders: Option<Borders>,
}

/// The two borders of a road.
#[derive(Debug, Clone, PartialEq)]
pub struct Borders {
    /// Encloses the smaller area.
    pub inner: Vec<DVec2>,
    /// Encloses the larger area.
    pub outer: Vec<DVec2>,
}

impl Route {
    /// Reads a waypoint file.
    pub fn from_npy(file: &str, bytes: &[u8]) -> Result<Route, Error> {
        let _ = npy::read(file, bytes)?;
        Err(Error::file(file, "routes can't be read yet"))
    }

    /// Writes a waypoint file.
    pub fn to_npy(&self) -> Vec<u8> {
        Vec::new()
    }
}
