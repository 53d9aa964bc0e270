//! `GET /lidar`: the last scan, with the angular step of the request.

use super::error::RobotError;
use super::query::Query;
use super::sensors::robot;
use super::stream::{Reading, SampleStamp, respond};
use super::to_wire;
use crate::state::App;
use axum::extract::State;
use axum::response::Response;
use bytes::Bytes;
use chicane_host::driver::Published;
use chicane_host::view::sample_time;
use chicane_robot::Scan;
use chicane_wire::{Detail, LIDAR_STEP, LidarScan, Named, Num, ScanMeta, ScanUnits, Waiting};
use chicane_world::Profile;
use std::sync::Arc;

/// Default step between the keys (angles) of a response, in degrees. The JSON for this step is
/// written once per scan, and all readers share it.
const DEFAULT_STEP_DEG: f64 = 1.0;

/// A request for the last scan.
pub(super) struct LidarReading {
    /// Step between keys, in degrees. The keys of the response are angles.
    step: f64,
}

impl LidarReading {
    pub(super) fn from_query(query: &Query) -> Result<LidarReading, RobotError> {
        Ok(LidarReading { step: query.number("step", LIDAR_STEP)?.unwrap_or(DEFAULT_STEP_DEG) })
    }

    /// Converts a scan to its wire type.
    pub(super) fn scan_to_wire(&self, scan: &Scan, profile: &Profile) -> LidarScan {
        let lidar = &profile.lidar;
        let ranges = ranges(self.step, &scan.ranges);
        LidarScan {
            step: Num(self.step),
            count: ranges.len(),
            range_min: Num(lidar.range_min_m),
            range_max: Num(lidar.range_max_m),
            ranges: Named(ranges),
            meta: ScanMeta {
                time: Num(sample_time(scan.sample, lidar.rate_hz)),
                frame_id: "lidar_link",
                beams: lidar.beams,
                angle_increment: Num(360.0 / f64::from(lidar.beams)),
                rate: lidar.rate_hz,
                sample: scan.sample,
                units: ScanUnits { angle: "degrees", range: "metres" },
                orientation: "0 is ahead, positive angles are to the left",
            },
        }
    }
}

/// Each multiple of `step` from −180 to 180 degrees, with the range of the nearest beam in metres.
/// −180 and 180 degrees both point straight back, so both show the same beam. The range is `None`
/// if the beam hit nothing, or nothing within the limits of the lidar.
fn ranges(step: f64, beams: &[f32]) -> Vec<(String, Option<Num>)> {
    let n = beams.len();
    let last = (180.0 / step) as i64 + 1;
    // Rounding removes binary rounding errors, so that keys are short decimals. Adding 0 turns −0
    // into 0.
    let degrees = (-last..=last).map(|k| (k as f64 * step * 1e6).round() / 1e6 + 0.0);
    let shown = degrees.filter(|d| (-180.0..=180.0).contains(d));
    let beam = |d: f64| beams.get(((d + 180.0) / 360.0 * n as f64).round() as usize % n.max(1));
    let range = |r: &f32| r.is_finite().then(|| Num((f64::from(*r) * 1e3).round() / 1e3));
    shown.map(|d| (d.to_string(), beam(d).and_then(range))).collect()
}

impl Reading for LidarReading {
    const NAME: &'static str = "scan";

    fn stamp(&self, app: &App, now: &Published) -> Option<SampleStamp> {
        let scan = robot(now)?.scan.as_ref()?;
        Some(SampleStamp::new(now, scan.sample, sample_time(scan.sample, app.profile.lidar.rate_hz)))
    }

    async fn json(&self, app: &App, now: &Arc<Published>) -> Result<Bytes, RobotError> {
        let scan = robot(now).and_then(|r| r.scan.as_ref()).ok_or(RobotError::Waiting(Self::NAME))?;
        let write = |scan: &Scan| to_wire::json(&self.scan_to_wire(scan, &app.profile));
        Ok(if self.step == DEFAULT_STEP_DEG { scan.json(write) } else { write(scan) })
    }
}

/// Returns the last laser scan. Keys are angles in degrees; positive angles are to the left.
#[utoipa::path(get, path = "/lidar", tag = "Sensors",
    params(
    ("step" = Option<f64>, Query, description = "Step between keys in degrees; 1 if omitted", minimum = 0.5, maximum = 30),
    ("stream" = Option<bool>, Query, description = "Server-sent events, 10 per simulated second")),
    responses(
    (status = 200, body = LidarScan),
    (status = 422, body = Detail, description = "A parameter is invalid"),
    (status = 503, body = Waiting, description = "No reading yet"),
))]
pub(super) async fn lidar(State(app): State<App>, query: Query) -> Result<Response, RobotError> {
    respond(&app, &query, LidarReading::from_query(&query)?).await
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keys and ranges for a step. In this test, the range of each beam is the index of the beam.
    fn keys(step: f64, beams: usize) -> Vec<(String, f64)> {
        let beams: Vec<f32> = (0..beams).map(|i| i as f32).collect();
        ranges(step, &beams).into_iter().map(|(k, v)| (k, v.map_or(-1.0, |v| v.0))).collect()
    }

    #[test]
    fn keys_are_short_decimals_and_include_zero() {
        let one = keys(1.0, 720);
        assert_eq!((one.len(), one[0].0.as_str(), one[360].0.as_str()), (361, "-180", "180"));
        let half = keys(0.5, 720);
        assert_eq!((half.len(), half[1].0.as_str(), half[361].0.as_str()), (721, "-179.5", "0.5"));
        for (step, count, first) in [(30.0, 13, "-180"), (0.7, 515, "-179.9"), (7.0, 51, "-175")] {
            let all = keys(step, 720);
            assert_eq!((all.len(), all[0].0.as_str()), (count, first), "{step}");
            assert!(all.iter().any(|(k, _)| k == "0"), "{step}");
            assert!(all.iter().all(|(k, _)| k.len() <= 6), "{step}: {all:?}");
        }
        let sevenths = keys(180.0 / 7.0, 720);
        assert_eq!((sevenths.len(), sevenths[0].0.as_str()), (15, "-180"));
    }

    #[test]
    fn each_key_shows_the_nearest_beam() {
        let one = keys(1.0, 720);
        assert_eq!((one[0].1, one[180].1, one[359].1), (0.0, 360.0, 718.0));
        assert_eq!(one[360].1, 0.0, "180 and -180 are the beam that looks back");
        let half = keys(0.5, 100);
        assert_eq!(half[719].1, 0.0, "179.5 is nearest to the beam that looks back");
        assert!(ranges(1.0, &[]).iter().all(|(_, v)| v.is_none()));
    }

    #[test]
    fn ranges_have_three_decimals_and_no_hit_is_null() {
        let all = ranges(30.0, &[1.234_56, f32::INFINITY]);
        assert_eq!(serde_json::to_string(&Named(all[..1].to_vec())).expect("json"), r#"{"-180":1.235}"#);
        assert_eq!(all[6].1, None);
    }
}
