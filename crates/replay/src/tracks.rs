//! The drive of a run as numbers, for viewers and for the Python package.
//!
//! ```text
//! "CHTRACK1", length of the header in bytes (32 bits), header (JSON, padded with blanks), columns
//! ```
//! All numbers are little-endian. The blanks are part of the header, so that the columns begin at a
//! multiple of 8 bytes. The header has the offset of each column, counted in bytes from the end of
//! the header.

use crate::difference::Difference;
use crate::recorded_run::RecordedRun;
use crate::simulation::Rerun;
use chicane_journal::Change;
use chicane_sim::{Lamp, Snapshot, TICK_S};
use chicane_world::{Pose, Route};
use glam::DVec2;
use serde::Serialize;
use std::collections::BTreeMap;

const MAGIC: &[u8; 8] = b"CHTRACK1";
/// Ticks between two rows.
const STRIDE: u64 = 4;
/// Rows per simulated second.
const RATE: u32 = 50;
/// Maximum number of rows of the car, and of changes of objects; enough for some hours.
const MAX_ROWS: usize = 2_000_000;
/// The columns of the car that follow the column `time`.
const COLUMNS: [&str; 22] = [
    "x",
    "y",
    "z",
    "qx",
    "qy",
    "qz",
    "qw",
    "speed",
    "steering",
    "steer_left",
    "steer_right",
    "wheel0",
    "wheel1",
    "wheel2",
    "wheel3",
    "pan",
    "tilt",
    "command_speed",
    "command_steering",
    "offset",
    "along",
    "contacts",
];
/// The columns of an object that follow the column `time`.
const POSE_COLUMNS: [&str; 7] = ["x", "y", "z", "qx", "qy", "qz", "qw"];

/// The drive of a run as numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Tracks {
    /// The file for viewers.
    pub bytes: Vec<u8>,
}

#[derive(Serialize)]
struct Header<'a> {
    session: &'a str,
    world: &'a str,
    world_sha256: Option<&'a str>,
    duration: f64,
    complete: bool,
    rate: u32,
    samples: usize,
    columns: Vec<Column>,
    objects: Vec<ObjectTrack>,
    lights: Vec<LightTrack>,
    contacts: Vec<Contact>,
    jumps: Vec<f64>,
    brightness: Vec<At>,
    overlays: Vec<OverlayAt>,
}

#[derive(Serialize)]
struct Column {
    name: &'static str,
    #[serde(rename = "type")]
    kind: &'static str,
    offset: usize,
    count: usize,
}

#[derive(Serialize)]
struct ObjectTrack {
    name: String,
    columns: Vec<Column>,
}

#[derive(Serialize)]
struct LightTrack {
    name: String,
    changes: Vec<LightAt>,
}

#[derive(Serialize)]
struct LightAt {
    time: f64,
    state: &'static str,
}

#[derive(Serialize)]
struct Contact {
    time: f64,
    name: String,
    duration: f64,
}

#[derive(Serialize)]
struct At {
    time: f64,
    value: f64,
}

#[derive(Serialize)]
struct OverlayAt {
    time: f64,
    text: String,
    ttl: f64,
    size: f64,
}

/// A table with the time in its first column.
#[derive(Default)]
struct Table {
    times: Vec<f64>,
    values: Vec<Vec<f32>>,
}

impl Table {
    fn push(&mut self, time_s: f64, row: &[f32]) {
        self.times.push(time_s);
        self.values.resize(row.len(), Vec::new());
        for (column, value) in self.values.iter_mut().zip(row) {
            column.push(*value);
        }
    }

    /// Appends the columns to `data` and describes them.
    fn write(&self, names: &[&'static str], data: &mut Vec<u8>) -> Vec<Column> {
        let align = |data: &mut Vec<u8>| data.resize(data.len().next_multiple_of(8), 0);
        align(data);
        let count = self.times.len();
        let mut columns = vec![Column { name: "time", kind: "f64", offset: data.len(), count }];
        data.extend(self.times.iter().flat_map(|time| time.to_le_bytes()));
        for (name, values) in names.iter().zip(&self.values) {
            align(data);
            columns.push(Column { name, kind: "f32", offset: data.len(), count });
            data.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        }
        columns
    }
}

/// Collects the tracks while a run is simulated.
#[derive(Default)]
struct Collector {
    car: Table,
    /// The tracks of the objects that moved or that the seed changed, by index of the object.
    objects: BTreeMap<usize, Table>,
    /// The poses of the objects at the start of the run (`start`) and at the last row (`last`).
    start: Vec<Pose>,
    last: Vec<Pose>,
    lights: BTreeMap<usize, Vec<LightAt>>,
    contacts: Vec<Contact>,
    /// The contacts that have not ended: index of the object, and position in `contacts`.
    open: BTreeMap<usize, usize>,
    jumps: Vec<f64>,
    brightness: Vec<At>,
    overlays: Vec<OverlayAt>,
    object_rows: usize,
}

impl Tracks {
    /// Simulates a run and collects its tracks.
    pub fn of(run: &RecordedRun) -> Result<Tracks, Difference> {
        let mut rerun = Rerun::new(run)?;
        let mut collector = Collector::default();
        let (mut overlays, mut jumps) = (Vec::new(), 0);
        let route = run.served.world.route.as_ref();
        loop {
            let goes_on = rerun.apply_entries(&mut |time, change| {
                if let Change::Overlay { text, ttl_s, size, .. } = change {
                    overlays.push(OverlayAt { time, text: text.clone(), ttl: *ttl_s, size: *size });
                }
            })?;
            if let Some(since_start) = rerun.run.map(|run| run.since_start(rerun.tick())) {
                if rerun.jumps() != jumps && !collector.car.times.is_empty() {
                    collector.jumps.push(rerun.time_s());
                }
                collector.note_contacts(&rerun, run);
                if since_start.is_multiple_of(STRIDE) || !goes_on {
                    collector.add_row(&rerun, route);
                }
            }
            jumps = rerun.jumps();
            let is_full = collector.car.times.len().max(collector.object_rows) >= MAX_ROWS;
            if !goes_on || is_full {
                break;
            }
            rerun.tick_once()?;
        }
        collector.overlays = overlays;
        let is_complete = rerun.is_over();
        Ok(Tracks { bytes: collector.write(run, rerun.time_s(), is_complete) })
    }
}

impl Collector {
    fn add_row(&mut self, rerun: &Rerun, route: Option<&Route>) {
        let (time_s, snapshot) = (rerun.time_s(), rerun.snapshot());
        if self.car.times.last() == Some(&time_s) {
            return;
        }
        let car = &snapshot.vehicle;
        let drive = rerun.drive();
        let (offset, along) = route.map_or((f64::NAN, f64::NAN), |route| {
            let at = route.project(DVec2::new(car.pose.position.x, car.pose.position.y));
            (at.offset, at.distance_along)
        });
        let [w0, w1, w2, w3] = car.wheel_angles;
        let [left, right] = car.front_wheels;
        let moving = [car.speed, car.steering, left, right, w0, w1, w2, w3, car.pan, car.tilt];
        let others = [drive.speed, drive.steering, offset, along, snapshot.contacts.len() as f64];
        let numbers = moving.into_iter().chain(others).map(|number| number as f32);
        let row: Vec<f32> = pose_row(&car.pose).into_iter().chain(numbers).collect();
        self.car.push(time_s, &row);
        if self.last.is_empty() {
            self.add_changed_objects(&rerun.running.served.changed_objects(), &snapshot);
        }
        self.add_objects(time_s, &snapshot);
        for (object, lamp) in &snapshot.lights {
            let state = lamp_name(*lamp);
            let changes = self.lights.entry(*object).or_default();
            if changes.last().is_none_or(|last| last.state != state) {
                changes.push(LightAt { time: time_s, state });
            }
        }
        let value = rerun.brightness;
        if self.brightness.last().is_none_or(|last| last.value != value) {
            self.brightness.push(At { time: time_s, value });
        }
    }

    /// Adds the objects that the published world does not have or has at other poses, because
    /// viewers can't take the poses of these objects from the published world.
    fn add_changed_objects(&mut self, changed: &[usize], snapshot: &Snapshot) {
        for &i in changed {
            let mut table = Table::default();
            table.push(0.0, &pose_row(&snapshot.objects[i]));
            self.objects.insert(i, table);
        }
    }

    fn add_objects(&mut self, time_s: f64, snapshot: &Snapshot) {
        if self.last.is_empty() {
            (self.start, self.last) = (snapshot.objects.clone(), snapshot.objects.clone());
            return;
        }
        for (i, (pose, last)) in snapshot.objects.iter().zip(&mut self.last).enumerate() {
            if pose == last {
                continue;
            }
            let table = self.objects.entry(i).or_insert_with(|| {
                let mut table = Table::default();
                table.push(0.0, &pose_row(&self.start[i]));
                table
            });
            // If the object has stood still since its last row, its old pose is repeated just
            // before the new row, so that viewers do not interpolate over the whole time.
            let previous = time_s - STRIDE as f64 * TICK_S;
            if table.times.last().is_some_and(|last| *last < previous - TICK_S / 2.0) {
                table.push(previous, &pose_row(last));
            }
            table.push(time_s, &pose_row(pose));
            *last = *pose;
            self.object_rows += 1;
        }
    }

    /// Adds the contacts that begin at this tick, lengthens the contacts that continue, and closes
    /// the contacts that have ended.
    fn note_contacts(&mut self, rerun: &Rerun, run: &RecordedRun) {
        let touched = rerun.running.sim.contacts();
        if touched.is_empty() && self.open.is_empty() {
            return;
        }
        let time = rerun.time_s();
        for &object in &touched {
            let (contacts, names) = (&mut self.contacts, &run.served.names);
            let at = *self.open.entry(object).or_insert_with(|| {
                contacts.push(Contact { time, name: names[object].to_string(), duration: 0.0 });
                contacts.len() - 1
            });
            contacts[at].duration = time - contacts[at].time;
        }
        self.open.retain(|object, _| touched.contains(object));
    }

    fn write(self, run: &RecordedRun, duration: f64, complete: bool) -> Vec<u8> {
        let names = &run.served.names;
        let mut data = Vec::new();
        let columns = self.car.write(&COLUMNS, &mut data);
        let objects = self.objects.iter().map(|(i, table)| ObjectTrack {
            name: names[*i].to_string(),
            columns: table.write(&POSE_COLUMNS, &mut data),
        });
        let objects = objects.collect();
        let lights = self.lights.into_iter();
        let header = Header {
            session: run.session(),
            world: &run.journal.head.world,
            world_sha256: run.journal.head.world_sha256.as_deref(),
            duration,
            complete,
            rate: RATE,
            samples: self.car.times.len(),
            columns,
            objects,
            lights: lights.map(|(i, changes)| LightTrack { name: names[i].to_string(), changes }).collect(),
            contacts: self.contacts,
            jumps: self.jumps,
            brightness: self.brightness,
            overlays: self.overlays,
        };
        // Writing the header as JSON never fails, because the header contains no maps.
        let mut header = serde_json::to_vec(&header).unwrap_or_default();
        let aligned = (MAGIC.len() + 4 + header.len()).next_multiple_of(8);
        header.resize(aligned - MAGIC.len() - 4, b' ');
        let length = (header.len() as u32).to_le_bytes();
        [MAGIC.as_slice(), &length, &header, &data].concat()
    }
}

fn pose_row(pose: &Pose) -> [f32; 7] {
    let ([x, y, z], [qx, qy, qz, qw]) = (pose.position.to_array(), pose.rotation.to_array());
    [x, y, z, qx, qy, qz, qw].map(|number| number as f32)
}

fn lamp_name(lamp: Lamp) -> &'static str {
    match lamp {
        Lamp::Green => "green",
        Lamp::Yellow { .. } => "yellow",
        Lamp::Red => "red",
    }
}
