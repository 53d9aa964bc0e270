//! `GET /lidar`: the last scan, in degrees, as finely as asked for.

use super::error::RobotError;
use super::query::Query;
use super::sensors::robot;
use super::stream::{Reading, Stamp, answer};
use super::view;
use crate::state::App;
use axum::extract::State;
use axum::response::Response;
use bytes::Bytes;
use chicane_host::driver::Published;
use chicane_host::view::sample_time;
use chicane_robot::Scan;
use chicane_wire::{Detail, LIDAR_STEP, LidarScan, Named, Num, ScanMeta, Waiting};
use chicane_world::Profile;
use std::sync::Arc;

/// Degrees from key to key, if nothing is asked for: those scans are written once for all.
const USUAL_STEP: f64 = 1.0;

/// The last scan, every so many degrees.
pub(super) struct Lidar {
    step: f64,
}

impl Lidar {
    pub(super) fn asked(query: &Query) -> Result<Lidar, RobotError> {
        Ok(Lidar { step: query.number("step", LIDAR_STEP)?.unwrap_or(USUAL_STEP) })
    }

    /// The words for a scan.
    pub(super) fn view(&self, scan: &Scan, profile: &Profile) -> LidarScan {
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
            },
        }
    }
}

/// The beam nearest to every multiple of a step, from −180 up to but not including 180 degrees.
fn ranges(step: f64, beams: &[f32]) -> Vec<(String, Option<Num>)> {
    let n = beams.len();
    let last = (180.0 / step) as i64 + 1;
    // What is added and multiplied in binary is no decimal; adding 0 turns −0 into 0.
    let degrees = (-last..=last).map(|k| (k as f64 * step * 1e6).round() / 1e6 + 0.0);
    let shown = degrees.filter(|d| (-180.0..180.0).contains(d));
    let beam = |d: f64| beams.get(((d + 180.0) / 360.0 * n as f64).round() as usize % n.max(1));
    let range = |r: &f32| r.is_finite().then(|| Num((f64::from(*r) * 1e3).round() / 1e3));
    shown.map(|d| (d.to_string(), beam(d).and_then(range))).collect()
}

impl Reading for Lidar {
    const NAME: &'static str = "scan";

    fn stamp(&self, app: &App, now: &Published) -> Option<Stamp> {
        let scan = robot(now)?.scan.as_ref()?;
        Some(Stamp::new(now, scan.sample, sample_time(scan.sample, app.profile.lidar.rate_hz)))
    }

    async fn json(&self, app: &App, now: &Arc<Published>) -> Result<Bytes, RobotError> {
        let scan = robot(now).and_then(|r| r.scan.as_ref()).ok_or(RobotError::Waiting(Self::NAME))?;
        let write = |scan: &Scan| view::json(&self.view(scan, &app.profile));
        Ok(if self.step == USUAL_STEP { scan.json(write) } else { write(scan) })
    }
}

/// The last laser scan. Keys are degrees, + is left.
#[utoipa::path(get, path = "/lidar", tag = "Sensors",
    params(
    ("step" = Option<f64>, Query, description = "Degrees from key to key; 1 if omitted", minimum = 0.5, maximum = 30),
    ("stream" = Option<bool>, Query, description = "Server-sent events, 10 a simulated second")),
    responses(
    (status = 200, body = LidarScan),
    (status = 422, body = Detail, description = "A parameter makes no sense"),
    (status = 503, body = Waiting, description = "No reading yet"),
))]
pub(super) async fn lidar(State(app): State<App>, query: Query) -> Result<Response, RobotError> {
    answer(&app, &query, Lidar::asked(&query)?).await
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keys for a step, with beams whose range is their own number.
    fn keys(step: f64, beams: usize) -> Vec<(String, f64)> {
        let beams: Vec<f32> = (0..beams).map(|i| i as f32).collect();
        ranges(step, &beams).into_iter().map(|(k, v)| (k, v.map_or(-1.0, |v| v.0))).collect()
    }

    #[test]
    fn keys_are_the_shortest_decimals_and_zero_is_always_there() {
        let one = keys(1.0, 720);
        assert_eq!((one.len(), one[0].0.as_str(), one[359].0.as_str()), (360, "-180", "179"));
        let half = keys(0.5, 720);
        assert_eq!((half.len(), half[1].0.as_str(), half[361].0.as_str()), (720, "-179.5", "0.5"));
        for (step, count, first) in [(30.0, 12, "-180"), (0.7, 515, "-179.9"), (7.0, 51, "-175")] {
            let all = keys(step, 720);
            assert_eq!((all.len(), all[0].0.as_str()), (count, first), "{step}");
            assert!(all.iter().any(|(k, _)| k == "0"), "{step}");
            assert!(all.iter().all(|(k, _)| k.len() <= 6), "{step}: {all:?}");
        }
        let sevenths = keys(180.0 / 7.0, 720);
        assert_eq!((sevenths.len(), sevenths[0].0.as_str()), (14, "-180"));
    }

    #[test]
    fn each_key_shows_the_nearest_beam() {
        let one = keys(1.0, 720);
        assert_eq!((one[0].1, one[180].1, one[359].1), (0.0, 360.0, 718.0));
        let half = keys(0.5, 100);
        assert_eq!(half[719].1, 0.0, "179.5 is nearest to the beam that looks back");
        assert!(ranges(1.0, &[]).iter().all(|(_, v)| v.is_none()));
    }

    #[test]
    fn ranges_have_three_decimals_and_nothing_is_null() {
        let all = ranges(30.0, &[1.234_56, f32::INFINITY]);
        assert_eq!(serde_json::to_string(&Named(all[..1].to_vec())).expect("json"), r#"{"-180":1.235}"#);
        assert_eq!(all[6].1, None);
    }
}
