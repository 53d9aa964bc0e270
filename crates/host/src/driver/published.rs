//! What anyone may see, at one moment: immutable, shared, replaced as a whole.

use super::served_world::ServedWorld;
use crate::session_status::SessionStatus;
use crate::view;
use bytes::Bytes;
use chicane_robot::audio::{Files, Playing};
use chicane_robot::{Battery, Drive, Imu, Joints, Odom, Scan, Stack};
use chicane_sim::Snapshot;
use chicane_wire::{Num, State, Transition};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// Everything visible at one moment.
#[derive(Debug)]
pub struct Published {
    /// Counts what was published.
    pub serial: u64,
    /// Counts changes that a person would call a change: commands, worlds, lights, contacts.
    pub changes: u64,
    /// The world that is served, and its state.
    pub running: Option<WorldView>,
    pub transition: Option<Transition>,
    /// A world that is being installed beside the running one.
    pub installing: Option<Transition>,
    pub clock: ClockView,
    pub overlay: OverlayView,
    pub brightness: f64,
    /// How often a world was loaded.
    pub assets_version: u64,
    /// How often the car was put elsewhere, or time began anew.
    pub epoch: u64,
    /// The world whose simulation failed, to be loaded again.
    pub lost: Option<Arc<str>>,
    pub status: SessionStatus,
    pub state_json: OnceLock<Bytes>,
}

/// A world and its state at one tick.
#[derive(Debug)]
pub struct WorldView {
    pub served: Arc<ServedWorld>,
    pub snapshot: Snapshot,
    /// When the world was loaded.
    pub since: Instant,
    /// The last frame of the camera, not drawn yet.
    pub exposure: Arc<Exposure>,
    /// What the robot says.
    pub robot: RobotView,
}

/// What the robot says at one moment: the newest of everything. Each is shared until a newer one comes.
#[derive(Debug, Clone, Default)]
pub struct RobotView {
    pub odom: Option<Arc<TopicSample<Odom>>>,
    pub joints: Option<Arc<TopicSample<Joints>>>,
    pub scan: Option<Arc<TopicSample<Scan>>>,
    pub imu: Option<Arc<TopicSample<Imu>>>,
    pub battery: Option<Arc<TopicSample<Battery>>>,
    /// What the actuators are asked for.
    pub command: Drive,
    /// What plays.
    pub playing: Arc<[Playing]>,
    /// Files of sounds that play, and of some that did.
    pub files: Files,
}

/// A sample, and the JSON it is answered with, written once however many ask.
#[derive(Debug)]
pub struct TopicSample<T> {
    sample: T,
    json: OnceLock<Bytes>,
}

impl<T> TopicSample<T> {
    /// The JSON, written by the first who asks. Everyone must ask for the same.
    pub fn json(&self, write: impl FnOnce(&T) -> Bytes) -> Bytes {
        self.json.get_or_init(|| write(&self.sample)).clone()
    }
}

impl<T> std::ops::Deref for TopicSample<T> {
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
fn renew<T: Clone>(shared: &mut Option<Arc<TopicSample<T>>>, newest: Option<&T>, sample: impl Fn(&T) -> u64) {
    if newest.map(&sample) != shared.as_deref().map(|topic| sample(topic)) {
        *shared =
            newest.map(|newest| Arc::new(TopicSample { sample: newest.clone(), json: OnceLock::new() }));
    }
}

/// A frame of the camera before anyone draws it: the world at the very tick.
#[derive(Debug)]
pub struct Exposure {
    pub served: Arc<ServedWorld>,
    /// Of the simulation, for the camera's noise.
    pub seed: u64,
    pub snapshot: Snapshot,
    /// Which frame it is, from 0.
    pub frame: u64,
}

/// The clock at one moment.
#[derive(Debug, Clone, Copy)]
pub struct ClockView {
    /// Whether time is paused.
    pub paused: bool,
    /// Requested real-time factor; 0 is as fast as possible.
    pub speed: f64,
    /// Measured real-time factor over the last second.
    pub rtf: f64,
}

impl ClockView {
    /// The clock before the first tick.
    pub(super) fn starting(speed: f64) -> ClockView {
        ClockView { paused: false, speed, rtf: 0.0 }
    }
}

/// The overlay at one moment.
#[derive(Debug, Clone)]
pub struct OverlayView {
    pub text: Arc<str>,
    pub ttl_s: f64,
    pub size: f64,
    pub seq: u64,
    pub ends: Option<Instant>,
}

impl OverlayView {
    pub fn none() -> OverlayView {
        OverlayView { text: Arc::from(""), ttl_s: 10.0, size: 1.0, seq: 0, ends: None }
    }

    /// How long it will still stay.
    pub fn remaining(&self, now: Instant) -> Duration {
        self.ends.map_or(Duration::ZERO, |ends| ends.saturating_duration_since(now))
    }
}

impl Published {
    /// Name of the world that is ready: none while another is being loaded.
    pub fn current(&self) -> Option<Arc<str>> {
        let seen = self.running.as_ref().filter(|_| self.transition.is_none());
        seen.map(|s| Arc::clone(&s.served.name))
    }

    /// Simulated seconds; 0 before the first world.
    pub fn time_s(&self) -> f64 {
        self.running.as_ref().map_or(0.0, |seen| seen.snapshot.time_s)
    }

    /// The live state.
    pub fn state(&self) -> State {
        let seen = self.running.as_ref();
        State {
            world: seen.map(|s| Arc::clone(&s.served.name)),
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
            contacts: seen.map(WorldView::contacts).unwrap_or_default(),
            objects: seen.map(WorldView::poses).unwrap_or_default(),
            lights: seen.map(WorldView::lights).unwrap_or_default(),
            overlay: Arc::clone(&self.overlay.text),
            overlay_size: Num(self.overlay.size),
            overlay_seq: self.overlay.seq,
            brightness: Num(self.brightness),
            run: self.status.run,
            evaluation: self.status.evaluation.clone(),
        }
    }

    /// The live state as the answer of a step has it: nothing in it counts on over a respawn.
    pub fn stepped_state(&self) -> State {
        State { epoch: None, ..self.state() }
    }

    /// The live state as JSON, written once however many ask.
    pub fn state_json(&self) -> Bytes {
        let write = || Bytes::from(serde_json::to_vec(&self.state()).unwrap_or_default());
        self.state_json.get_or_init(write).clone()
    }
}

impl WorldView {
    fn contacts(&self) -> Vec<Arc<str>> {
        self.snapshot.contacts.iter().map(|&i| Arc::clone(&self.served.names[i])).collect()
    }

    /// Names of what the car touched in the last so many ticks.
    pub fn touched_in(&self, ticks: u64) -> Vec<Arc<str>> {
        let since = self.snapshot.tick.saturating_sub(ticks);
        let touched = self.snapshot.last_contact.iter().map(|last| last.is_some_and(|tick| tick > since));
        self.served
            .names
            .iter()
            .zip(touched)
            .filter(|(_, touched)| *touched)
            .map(|(n, _)| Arc::clone(n))
            .collect()
    }

    fn poses(&self) -> chicane_wire::Named<Arc<str>, chicane_wire::Pose> {
        let poses = self.snapshot.objects.iter().map(view::pose);
        chicane_wire::Named(self.served.names.iter().cloned().zip(poses).collect())
    }

    /// Traffic lights by name.
    pub fn lights(&self) -> Vec<chicane_wire::Light> {
        self.served.lights.iter().filter_map(|&i| self.light(i)).collect()
    }

    /// The light that is this object.
    pub fn light(&self, object: usize) -> Option<chicane_wire::Light> {
        let (_, lamp) = self.snapshot.lights.iter().find(|(i, _)| *i == object)?;
        let name = Arc::clone(&self.served.names[object]);
        let panel = self.served.world.objects[object].panel.as_ref();
        Some(view::light(name, &self.snapshot.objects[object], *lamp, panel))
    }
}
