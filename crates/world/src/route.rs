//! Waypoints: the centre line and the borders of the road.
//!
//! Reading brings any waypoint file into one form: no point twice in a row, a loop closed by its
//! first row at the end, the inner border the one that encloses less. Measuring along and across
//! the road is done on the polylines, never by pairing rows: real files have rows that don't
//! stand square to the road.

use crate::error::Error;
use crate::npy::{self, Array};
use glam::DVec2;

mod measure;

pub use measure::{Lateral, Projection};

/// Points farther from the origin than this are refused: lengths stay exact to a micrometre.
const MAX_COORDINATE_M: f64 = 1e6;
/// Points closer than this part of the route's extent are the same point.
const SAME_POINT: f64 = 1e-6;
/// A gap of at most this many usual steps between the last and the first point closes a loop.
const CLOSING_STEPS: f64 = 3.0;

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
    /// Reads a waypoint file: 2 columns (centre x, y) or 6 (centre, inner, outer), closed or
    /// open, in either direction, which is kept.
    pub fn from_npy(file: &str, bytes: &[u8]) -> Result<Route, Error> {
        let array = npy::read(file, bytes)?;
        if array.columns != 2 && array.columns != 6 {
            let message = format!(
                "{} columns; waypoints have 2 (centre x, y) or 6 (centre, inner and outer x, y)",
                array.columns
            );
            return Err(Error::file(file, message));
        }
        if let Some(i) = array.values.iter().position(|v| v.abs() > MAX_COORDINATE_M) {
            let (row, column) = (i / array.columns, i % array.columns);
            let message = format!(
                "row {row}, column {column} (from 0) is farther than {MAX_COORDINATE_M} m from the origin"
            );
            return Err(Error::file(file, message));
        }
        let column = |i: usize| -> Vec<DVec2> {
            (0..array.rows).map(|r| DVec2::new(array.row(r)[i], array.row(r)[i + 1])).collect()
        };
        let mut route = Route {
            centre: column(0),
            borders: (array.columns == 6).then(|| Borders { inner: column(2), outer: column(4) }),
        };
        let same = SAME_POINT * extent(&route.centre);
        route.drop_duplicates(same);
        if route.centre.len() < 2 {
            let message = format!("{} rows hold fewer than two different points", array.rows);
            return Err(Error::file(file, message));
        }
        route.close(same);
        route.tell_borders_apart();
        Ok(route)
    }

    /// Writes a waypoint file: 6 columns where there are borders, else 2.
    pub fn to_npy(&self) -> Vec<u8> {
        let mut lines = vec![&self.centre];
        if let Some(borders) = &self.borders {
            lines.extend([&borders.inner, &borders.outer]);
        }
        let rows = lines.iter().map(|l| l.len()).min().unwrap_or(0);
        let values = (0..rows).flat_map(|r| lines.iter().flat_map(move |l| l[r].to_array())).collect();
        npy::write(&Array { rows, columns: 2 * lines.len(), values })
    }

    /// Drops rows whose centre repeats the row before.
    fn drop_duplicates(&mut self, same: f64) {
        let mut keep = vec![true; self.centre.len()];
        let mut last: Option<DVec2> = None;
        for (keep, &point) in keep.iter_mut().zip(&self.centre) {
            *keep = last.is_none_or(|last| last.distance(point) > same);
            if *keep {
                last = Some(point);
            }
        }
        for line in self.lines_mut() {
            let mut row = keep.iter();
            line.retain(|_| row.next().copied().unwrap_or(true));
        }
    }

    /// Repeats the first row at the end if the route is a loop.
    fn close(&mut self, same: f64) {
        let (first, last) = (self.centre[0], self.centre[self.centre.len() - 1]);
        let gap = first.distance(last);
        if gap <= same {
            // It came back: whatever rounding left between the rows goes.
            let rows = self.centre.iter().rposition(|p| first.distance(*p) > same).map_or(1, |i| i + 1);
            self.lines_mut().for_each(|line| line.truncate(rows));
        } else {
            let mut steps: Vec<f64> = self.centre.windows(2).map(|w| w[0].distance(w[1])).collect();
            let length: f64 = steps.iter().sum();
            steps.sort_by(f64::total_cmp);
            let usual = steps[steps.len() / 2];
            // An even straight of four points has such a gap too, but it leads all the way back.
            let leads_back = gap > 0.5 * length * (1.0 + 1e-9);
            if self.centre.len() < 3 || gap > CLOSING_STEPS * usual || leads_back {
                return;
            }
        }
        for line in self.lines_mut() {
            line.extend(line.first().copied());
        }
    }

    /// Swaps the borders if the inner one encloses more.
    fn tell_borders_apart(&mut self) {
        if let Some(borders) = &mut self.borders {
            let (inner, outer) = (enclosed_area(&borders.inner), enclosed_area(&borders.outer));
            // Of an open straight neither border encloses more: rounding must not decide.
            if inner > outer * (1.0 + 1e-9) + 1e-9 {
                std::mem::swap(&mut borders.inner, &mut borders.outer);
            }
        }
    }

    fn lines_mut(&mut self) -> impl Iterator<Item = &mut Vec<DVec2>> {
        let borders = self.borders.iter_mut().flat_map(|b| [&mut b.inner, &mut b.outer]);
        std::iter::once(&mut self.centre).chain(borders)
    }

    /// Whether it leads back to its first point.
    pub fn is_closed(&self) -> bool {
        self.centre.len() > 2 && self.centre.first() == self.centre.last()
    }

    /// The rectangle round the centre line and the borders.
    pub fn bounds(&self) -> Bounds {
        let borders = self.borders.iter().flat_map(|b| b.inner.iter().chain(&b.outer));
        let mut points = self.centre.iter().chain(borders).copied();
        let first = points.next().unwrap_or_default();
        points.fold(Bounds { min: first, max: first }, |b, p| Bounds { min: b.min.min(p), max: b.max.max(p) })
    }
}

/// Diagonal of the rectangle round some points.
fn extent(points: &[DVec2]) -> f64 {
    let Some(&first) = points.first() else { return 0.0 };
    let (min, max) = points.iter().fold((first, first), |(min, max), &p| (min.min(p), max.max(p)));
    min.distance(max)
}

/// Area inside a line whose ends are joined, whichever way it runs.
pub fn enclosed_area(line: &[DVec2]) -> f64 {
    let Some(&origin) = line.first() else { return 0.0 };
    // Measured from the first point: far from the origin the products would swallow the area.
    let twice: f64 = line.windows(2).map(|w| (w[0] - origin).perp_dot(w[1] - origin)).sum();
    0.5 * twice.abs()
}
