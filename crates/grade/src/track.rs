//! The driven line of a run, reduced to what a map shows.

use chicane_replay::{RecordedRun, Tracks};
use glam::DVec2;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::Path;

/// A driven line is thinned to at most this many points. The points after jumps and the last point
/// are kept in addition.
const MAX_POINTS: usize = 700;
/// Maximum number of points of the centre line and of each border of a road.
const MAX_ROAD: usize = 400;
/// Name of the file that caches a line beside the result of its unit.
const FILE: &str = "track.json";
const VERSION: u32 = 1;

/// The driven line of a run.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Track {
    /// The version of this format.
    version: u32,
    /// Positions x and y in the frame of the world, in metres, with the absolute speed in m/s.
    pub points: Vec<(f64, f64, f64)>,
    /// Indices of points to which the car was moved by other means than driving.
    pub jumps: Vec<usize>,
}

/// The road of a world, in metres.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Road {
    /// Centre line.
    pub centre: Vec<DVec2>,
    /// Inner and outer border.
    pub borders: Option<(Vec<DVec2>, Vec<DVec2>)>,
    /// Whether the road is a loop.
    pub closed: bool,
}

impl Track {
    /// The driven line of a stored unit. The line is computed once and cached beside the result.
    /// `None` if there is no file of the run, or if the run can't be simulated again.
    pub fn of_unit(folder: &Path) -> Option<Track> {
        let file = folder.join(FILE);
        let kept = std::fs::read(&file).ok().and_then(|bytes| serde_json::from_slice::<Track>(&bytes).ok());
        if let Some(track) = kept.filter(|track| track.version == VERSION) {
            return Some(track);
        }
        let run = RecordedRun::read(&std::fs::read(folder.join(crate::unit_result::RUN)).ok()?).ok()?;
        let track = Track::of_run(&run)?;
        let text = serde_json::to_vec(&track).ok()?;
        // If the file can't be written, the line is computed again next time.
        let _ = crate::folder::write_whole(&file, &text);
        Some(track)
    }

    fn of_run(run: &RecordedRun) -> Option<Track> {
        let tracks = Tracks::of(run).ok()?;
        let (header, data) = split(&tracks.bytes)?;
        let column = |name: &str| column(&header, data, name);
        let (x, y, speed) = (column("x")?, column("y")?, column("speed")?);
        let times = column("time")?;
        let jumps: Vec<f64> =
            header["jumps"].as_array().into_iter().flatten().filter_map(Value::as_f64).collect();
        let step = x.len().div_ceil(MAX_POINTS).max(1);
        let mut track = Track { version: VERSION, ..Track::default() };
        let mut next = 0;
        for i in 0..x.len() {
            let jumped = jumps.get(next).is_some_and(|jump| *jump <= times[i]);
            while jumps.get(next).is_some_and(|jump| *jump <= times[i]) {
                next += 1;
            }
            if jumped {
                track.jumps.push(track.points.len());
            }
            if jumped || i % step == 0 || i + 1 == x.len() {
                let round = |value: f64| (value * 1e3).round() / 1e3;
                track.points.push((round(x[i]), round(y[i]), round(speed[i].abs())));
            }
        }
        Some(track)
    }
}

/// Splits the bytes of [`Tracks`] into the header and the data of all columns. `None` if the bytes
/// are too short, or if the header is not JSON.
fn split(bytes: &[u8]) -> Option<(Value, &[u8])> {
    let length = u32::from_le_bytes(bytes.get(8..12)?.try_into().ok()?) as usize;
    let header = serde_json::from_slice(bytes.get(12..12 + length)?).ok()?;
    Some((header, bytes.get(12 + length..)?))
}

/// The values of the column with this name. `None` if there is no such column, or if its data are
/// missing.
fn column(header: &Value, data: &[u8], name: &str) -> Option<Vec<f64>> {
    let column = header["columns"].as_array()?.iter().find(|column| column["name"] == name)?;
    let number = |key: &str| column[key].as_u64().and_then(|number| usize::try_from(number).ok());
    let (offset, count) = (number("offset")?, number("count")?);
    let wide = column["type"] == "f64";
    let size = if wide { 8 } else { 4 };
    let bytes = data.get(offset..offset.checked_add(count.checked_mul(size)?)?)?;
    let read = |bytes: &[u8]| match bytes {
        [a, b, c, d] => f64::from(f32::from_le_bytes([*a, *b, *c, *d])),
        bytes => bytes.try_into().map_or(0.0, f64::from_le_bytes),
    };
    Some(bytes.chunks_exact(size).map(read).collect())
}

impl Road {
    /// The road of a world in a folder. Empty if the world has no road or can't be loaded.
    pub fn of_world(folder: &Path) -> Road {
        let bundle = chicane_store::FolderBundle::new(folder);
        let world = chicane_world::World::load(&chicane_world::Assets::of(&bundle)).ok();
        let Some(route) = world.and_then(|world| world.route) else { return Road::default() };
        let thinned = |points: &[DVec2]| {
            let step = points.len().div_ceil(MAX_ROAD).max(1);
            points.iter().copied().step_by(step).collect::<Vec<_>>()
        };
        let borders =
            route.borders.as_ref().map(|borders| (thinned(&borders.inner), thinned(&borders.outer)));
        Road { centre: thinned(&route.centre), borders, closed: route.is_closed() }
    }
}
