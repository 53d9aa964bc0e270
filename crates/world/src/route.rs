//! The route: the centre line and the borders of the road, as waypoints.
//!
//! The reader normalises a waypoint file. It closes a loop by appending a copy of the first row.
//! The border that encloses the smaller area becomes the inner border. [`RouteFile::route`] has no
//! repeated points. Clients get [`RouteFile::rows`], which keeps the repeated points, because their
//! programs refer to waypoints by the number of a row.
//!
//! Distances across the road are measured to the border polylines. The two border points in a row
//! of the file are not used for these distances, because in real files they do not lie
//! perpendicular to the centre line.

use crate::error::Error;
use crate::npy::{self, Array};
use glam::DVec2;

mod measure;

pub use measure::{Lateral, Projection};

/// Maximum absolute value of a coordinate, in metres. Below this limit, the rounding error of an
/// `f64` length is less than a micrometre.
const MAX_COORDINATE_M: f64 = 1e6;
/// Points count as equal if their distance is at most this fraction of the diagonal of the centre
/// line's bounding rectangle.
const SAME_POINT: f64 = 1e-6;
/// The route is a loop if the gap between its last and first point is small. The maximum gap is
/// `CLOSING_STEPS` times the median distance between neighbouring waypoints.
const CLOSING_STEPS: f64 = 3.0;

/// An axis-aligned rectangle on the ground.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    /// Smallest x and y, in metres.
    pub min: DVec2,
    /// Largest x and y, in metres.
    pub max: DVec2,
}

/// A route. Point i of each border belongs to point i of the centre line. If the route is closed,
/// its last point equals its first point.
#[derive(Debug, Clone, PartialEq)]
pub struct Route {
    /// Centre line in metres, with at least two distinct points.
    pub centre: Vec<DVec2>,
    /// The two borders; `None` if the waypoint file has no borders.
    pub borders: Option<Borders>,
}

/// The two borders of a road, in metres. The enclosed area of an open border is computed as if a
/// straight line from its end to its start closed the border.
#[derive(Debug, Clone, PartialEq)]
pub struct Borders {
    /// The border that encloses the smaller area.
    pub inner: Vec<DVec2>,
    /// The border that encloses the larger area.
    pub outer: Vec<DVec2>,
}

/// A waypoint file.
#[derive(Debug, Clone, PartialEq)]
pub struct RouteFile {
    /// The route without repeated points.
    pub route: Route,
    /// The route with every row of the file, including repeated rows. Two neighbouring rows may
    /// therefore have the same centre point. A loop that the file leaves open is closed, and the
    /// borders are ordered as in `route`.
    pub rows: Route,
}

impl RouteFile {
    /// Reads a waypoint file. See [`Route::from_npy`] for its format.
    pub fn read(file: &str, bytes: &[u8]) -> Result<RouteFile, Error> {
        let (mut rows, same) = Route::raw(file, bytes)?;
        let mut route = rows.clone();
        route.drop_duplicates(same);
        if route.centre.len() < 2 {
            let message = format!(
                "the {} rows have fewer than two different points; a route needs two",
                rows.centre.len()
            );
            return Err(Error::file(file, message));
        }
        // The normalised route decides whether the file describes a loop, because repeated points
        // change the median distance between neighbouring points.
        route.close(same);
        if route.is_closed() && rows.lines_mut().any(|line| line.first() != line.last()) {
            rows.close_at_end(same);
        }
        if route.order_borders() {
            rows.swap_borders();
        }
        Ok(RouteFile { route, rows })
    }
}

impl Route {
    /// Reads a waypoint file. The file has 2 columns (centre x and y) or 6 columns (x and y of
    /// centre, inner border and outer border). The route may be open or closed. The order of the
    /// waypoints is kept, because it is the direction of travel.
    pub fn from_npy(file: &str, bytes: &[u8]) -> Result<Route, Error> {
        RouteFile::read(file, bytes).map(|read| read.route)
    }

    /// Reads the rows of a waypoint file without any change. Also returns the distance below which
    /// two points are equal.
    fn raw(file: &str, bytes: &[u8]) -> Result<(Route, f64), Error> {
        let array = npy::read(file, bytes)?;
        if array.columns != 2 && array.columns != 6 {
            let message = format!(
                "the table has {} columns; waypoints need 2 (centre x, y) or 6 (centre, inner and outer x, y)",
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
        let route = Route {
            centre: column(0),
            borders: (array.columns == 6).then(|| Borders { inner: column(2), outer: column(4) }),
        };
        let same = SAME_POINT * extent(&route.centre);
        Ok((route, same))
    }

    /// Writes a waypoint file. The file has 6 columns if the route has borders, and otherwise 2
    /// columns.
    pub fn to_npy(&self) -> Vec<u8> {
        let mut lines = vec![&self.centre];
        if let Some(borders) = &self.borders {
            lines.extend([&borders.inner, &borders.outer]);
        }
        let rows = lines.iter().map(|l| l.len()).min().unwrap_or(0);
        let values = (0..rows).flat_map(|r| lines.iter().flat_map(move |l| l[r].to_array())).collect();
        npy::write(&Array { rows, columns: 2 * lines.len(), values })
    }

    /// Removes every row whose centre point equals the centre point of the last kept row. Two
    /// points are equal if their distance is at most `same`.
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

    /// If the route is a loop, appends a copy of the first row. Two points are equal if their
    /// distance is at most `same`.
    fn close(&mut self, same: f64) {
        let (first, last) = (self.centre[0], self.centre[self.centre.len() - 1]);
        let gap = first.distance(last);
        if gap <= same {
            // The route ends at its start. Remove the last rows that equal the first row except for
            // rounding, because the exact first row is appended below.
            let rows = self.centre.iter().rposition(|p| first.distance(*p) > same).map_or(1, |i| i + 1);
            self.lines_mut().for_each(|line| line.truncate(rows));
        } else {
            let mut steps: Vec<f64> = self.centre.windows(2).map(|w| w[0].distance(w[1])).collect();
            let length: f64 = steps.iter().sum();
            steps.sort_by(f64::total_cmp);
            let median = steps[steps.len() / 2];
            // A straight line of up to four evenly spaced points also has a gap of at most
            // `CLOSING_STEPS` times the median distance. Such a line is not a loop, because its gap
            // is as long as the line.
            let is_line = gap > 0.5 * length * (1.0 + 1e-9);
            if self.centre.len() < 3 || gap > CLOSING_STEPS * median || is_line {
                return;
            }
        }
        for line in self.lines_mut() {
            line.extend(line.first().copied());
        }
    }

    /// Closes a loop without removing rows. If the last row equals the first row except for
    /// rounding, the last row gets the exact values of the first row. Otherwise a copy of the first
    /// row is appended.
    fn close_at_end(&mut self, same: f64) {
        let (Some(&first), Some(&last)) = (self.centre.first(), self.centre.last()) else { return };
        let replaces = first.distance(last) <= same;
        for line in self.lines_mut() {
            if replaces {
                line.pop();
            }
            line.extend(line.first().copied());
        }
    }

    /// Swaps the borders if the inner border encloses the larger area. Returns whether the borders
    /// were swapped.
    fn order_borders(&mut self) -> bool {
        let swap = self.borders.as_ref().is_some_and(|borders| {
            let (inner, outer) = (enclosed_area(&borders.inner), enclosed_area(&borders.outer));
            // The two borders of an open straight road enclose equal areas. Without the tolerance,
            // rounding errors could cause a swap.
            inner > outer * (1.0 + 1e-9) + 1e-9
        });
        if swap {
            self.swap_borders();
        }
        swap
    }

    fn swap_borders(&mut self) {
        if let Some(borders) = &mut self.borders {
            std::mem::swap(&mut borders.inner, &mut borders.outer);
        }
    }

    fn lines_mut(&mut self) -> impl Iterator<Item = &mut Vec<DVec2>> {
        let borders = self.borders.iter_mut().flat_map(|b| [&mut b.inner, &mut b.outer]);
        std::iter::once(&mut self.centre).chain(borders)
    }

    /// Whether the last point of the route equals its first point.
    pub fn is_closed(&self) -> bool {
        self.centre.len() > 2 && self.centre.first() == self.centre.last()
    }

    /// The bounding rectangle of the centre line and the borders.
    pub fn bounds(&self) -> Bounds {
        let borders = self.borders.iter().flat_map(|b| b.inner.iter().chain(&b.outer));
        let mut points = self.centre.iter().chain(borders).copied();
        let first = points.next().unwrap_or_default();
        points.fold(Bounds { min: first, max: first }, |b, p| Bounds { min: b.min.min(p), max: b.max.max(p) })
    }
}

/// Length of the diagonal of the points' bounding rectangle.
fn extent(points: &[DVec2]) -> f64 {
    let Some(&first) = points.first() else { return 0.0 };
    let (min, max) = points.iter().fold((first, first), |(min, max), &p| (min.min(p), max.max(p)));
    min.distance(max)
}

/// The area of the polygon with the outline `line`. The direction of the line does not matter. If
/// the line is open, a straight line from its end to its start closes the polygon.
pub fn enclosed_area(line: &[DVec2]) -> f64 {
    let Some(&origin) = line.first() else { return 0.0 };
    // Subtract the first point, because products of large coordinates would have large rounding
    // errors. The closing edge ends at the first point, so its product is 0 and can be left out.
    let twice: f64 = line.windows(2).map(|w| (w[0] - origin).perp_dot(w[1] - origin)).sum();
    0.5 * twice.abs()
}
