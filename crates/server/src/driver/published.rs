//! What anyone may see, at one moment: immutable, shared, replaced as a whole.

use super::place::Place;
use crate::view;
use bytes::Bytes;
use chicane_robot::audio::{Files, Playing};
use chicane_robot::{Battery, Drive, Imu, Joints, Odom, Scan, Stack};
use chicane_sim::Snapshot;
use chicane_wire::{EvaluationState, Num, RunState, State, Transition};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// Everything visible at one moment.
#[derive(Debug)]
pub(crate) struct Published {
    /// Counts what was published.
    pub(crate) serial: u64,
    /// Counts changes that a person would call a change: commands, worlds, lights, contacts.
    pub(crate) changes: u64,
    /// The world that is served, and its state.
    pub(crate) running: Option<Seen>,
    pub(crate) transition: Option<Transition>,
    /// A world that is being installed beside the running one.
    pub(crate) installing: Option<Transition>,
    pub(crate) clock: ClockView,
    pub(crate) overlay: OverlayView,
    pub(crate) brightness: f64,
    /// How often a world was loaded.
    pub(crate) assets_version: u64,
    /// How often the car was put elsewhere, or time began anew.
    pub(crate) epoch: u64,
    /// The world whose simulation failed, to be loaded again.
    pub(crate) lost: Option<Arc<str>>,
    pub(crate) badge: Badge,
    pub(crate) state_json: OnceLock<Bytes>,
}

/// What everyone sees of an evaluation.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Badge {
    pub(crate) run: RunState,
    pub(crate) evaluation: EvaluationState,
}

/// A world and its state at one tick.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) place: Arc<Place>,
    pub(crate) snapshot: Snapshot,
    /// When the world was loaded.
    pub(crate) since: Instant,
    /// The last frame of the camera, not drawn yet.
    pub(crate) exposure: Arc<Exposure>,
    /// What the robot says.
    pub(crate) robot: RobotView,
}

/// What the robot says at one moment: the newest of everything. Each is shared until a newer one comes.
#[derive(Debug, Clone, Default)]
pub(crate) struct RobotView {
    pub(crate) odom: Option<Arc<Topic<Odom>>>,
    pub(crate) joints: Option<Arc<Topic<Joints>>>,
    pub(crate) scan: Option<Arc<Topic<Scan>>>,
    pub(crate) imu: Option<Arc<Topic<Imu>>>,
    pub(crate) battery: Option<Arc<Topic<Battery>>>,
    /// What the actuators are asked for.
    pub(crate) command: Drive,
    /// What plays.
    pub(crate) playing: Arc<[Playing]>,
    /// Files of sounds that play, and of some that did.
    pub(crate) files: Files,
}

/// A sample, and the JSON it is answered with, written once however many ask.
#[derive(Debug)]
pub(crate) struct Topic<T> {
    sample: T,
    json: OnceLock<Bytes>,
}

impl<T> Topic<T> {
    /// The JSON, written by the first who asks. Everyone must ask for the same.
    pub(crate) fn json(&self, write: impl FnOnce(&T) -> Bytes) -> Bytes {
        self.json.get_or_init(|| write(&self.sample)).clone()
    }
}

impl<T> std::ops::Deref for Topic<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.sample
    }
}

impl RobotView {
    /// Takes in what is new.
    pub(super) fn update(&mut self, stack: &Stack) {
        let topics = stack.topics();
        renew(&mut self.odom, topics.odom.as_ref(), |o| o.sample);
        renew(&mut self.joints, topics.joints.as_ref(), |j| j.sample);
        renew(&mut self.scan, topics.scan.as_ref(), |s| s.sample);
        renew(&mut self.imu, topics.imu.as_ref(), |i| i.sample);
        renew(&mut self.battery, topics.battery.as_ref(), |b| b.sample);
        self.command = stack.drive();
        if !(stack.player().is_silent() && self.playing.is_empty()) {
            self.playing = Arc::from(stack.playing());
        }
        if !Arc::ptr_eq(&self.files, stack.player().files()) {
            self.files = Arc::clone(stack.player().files());
        }
    }
}

/// Shares a newer one, and leaves an old one where it is.
fn renew<T: Clone>(shared: &mut Option<Arc<Topic<T>>>, newest: Option<&T>, sample: impl Fn(&T) -> u64) {
    if newest.map(&sample) != shared.as_deref().map(|topic| sample(topic)) {
        *shared = newest.map(|newest| Arc::new(Topic { sample: newest.clone(), json: OnceLock::new() }));
    }
}

/// A frame of the camera before anyone draws it: the world at the very tick.
#[derive(Debug)]
pub(crate) struct Exposure {
    pub(crate) place: Arc<Place>,
    /// Of the simulation, for the camera's noise.
    pub(crate) seed: u64,
    pub(crate) snapshot: Snapshot,
    /// Which frame it is, from 0.
    pub(crate) frame: u64,
}

/// The clock at one moment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ClockView {
    pub(crate) paused: bool,
    pub(crate) speed: f64,
    pub(crate) rtf: f64,
}

/// The overlay at one moment.
#[derive(Debug, Clone)]
pub(crate) struct OverlayView {
    pub(crate) text: Arc<str>,
    pub(crate) ttl_s: f64,
    pub(crate) size: f64,
    pub(crate) seq: u64,
    pub(crate) ends: Option<Instant>,
}

impl OverlayView {
    pub(crate) fn none() -> OverlayView {
        OverlayView { text: Arc::from(""), ttl_s: 10.0, size: 1.0, seq: 0, ends: None }
    }

    /// How long it will still stay.
    pub(crate) fn remaining(&self, now: Instant) -> Duration {
        self.ends.map_or(Duration::ZERO, |ends| ends.saturating_duration_since(now))
    }
}

impl Published {
    /// Name of the world that is ready: none while another is being loaded.
    pub(crate) fn current(&self) -> Option<Arc<str>> {
        let seen = self.running.as_ref().filter(|_| self.transition.is_none());
        seen.map(|s| Arc::clone(&s.place.name))
    }

    /// Simulated seconds; 0 before the first world.
    pub(crate) fn time_s(&self) -> f64 {
        self.running.as_ref().map_or(0.0, |seen| seen.snapshot.time_s)
    }

    /// The live state.
    pub(crate) fn state(&self) -> State {
        let seen = self.running.as_ref();
        State {
            world: seen.map(|s| Arc::clone(&s.place.name)),
            current: self.current(),
            running: seen.is_some(),
            websocket: true,
            switching: self.transition.is_some(),
            transition: self.transition.clone().or_else(|| self.installing.clone()),
            time: seen.map(|s| Num(s.snapshot.time_s)),
            paused: self.clock.paused,
            rtf: Num(self.clock.rtf),
            epoch: Some(self.epoch),
            vehicle: seen.map(|s| view::vehicle(&s.snapshot.vehicle)),
            contacts: seen.map(Seen::contacts).unwrap_or_default(),
            objects: seen.map(Seen::poses).unwrap_or_default(),
            lights: seen.map(Seen::lights).unwrap_or_default(),
            overlay: Arc::clone(&self.overlay.text),
            overlay_size: Num(self.overlay.size),
            overlay_seq: self.overlay.seq,
            brightness: Num(self.brightness),
            run: self.badge.run,
            evaluation: self.badge.evaluation.clone(),
        }
    }

    /// The live state as the answer of a step has it: nothing in it counts on over a respawn.
    pub(crate) fn stepped_state(&self) -> State {
        State { epoch: None, ..self.state() }
    }

    /// The live state as JSON, written once however many ask.
    pub(crate) fn state_json(&self) -> Bytes {
        let write = || Bytes::from(serde_json::to_vec(&self.state()).unwrap_or_default());
        self.state_json.get_or_init(write).clone()
    }
}

impl Seen {
    fn contacts(&self) -> Vec<Arc<str>> {
        self.snapshot.contacts.iter().map(|&i| Arc::clone(&self.place.names[i])).collect()
    }

    /// Names of what the car touched in the last so many ticks.
    pub(crate) fn touched_in(&self, ticks: u64) -> Vec<Arc<str>> {
        let since = self.snapshot.tick.saturating_sub(ticks);
        let touched = self.snapshot.last_contact.iter().map(|last| last.is_some_and(|tick| tick > since));
        self.place
            .names
            .iter()
            .zip(touched)
            .filter(|(_, touched)| *touched)
            .map(|(n, _)| Arc::clone(n))
            .collect()
    }

    fn poses(&self) -> chicane_wire::Named<Arc<str>, chicane_wire::Pose> {
        let poses = self.snapshot.objects.iter().map(view::pose);
        chicane_wire::Named(self.place.names.iter().cloned().zip(poses).collect())
    }

    /// Traffic lights by name.
    pub(crate) fn lights(&self) -> Vec<chicane_wire::Light> {
        self.place.lights.iter().filter_map(|&i| self.light(i)).collect()
    }

    /// The light that is this object.
    pub(crate) fn light(&self, object: usize) -> Option<chicane_wire::Light> {
        let (_, lamp) = self.snapshot.lights.iter().find(|(i, _)| *i == object)?;
        let name = Arc::clone(&self.place.names[object]);
        let panel = self.place.world.objects[object].panel.as_ref();
        Some(view::light(name, &self.snapshot.objects[object], *lamp, panel))
    }
}
