//! The published state of the simulator. The state is immutable, shared by all readers, and
//! replaced as a whole.

use crate::served_world::ServedWorld;
use crate::session_status::SessionStatus;
use crate::view;
use bytes::Bytes;
use chicane_robot::audio::{Files, Playing};
use chicane_robot::{Battery, Drive, Imu, Joints, Odom, Scan, Stack};
use chicane_sim::Snapshot;
use chicane_wire::{Num, State, Transition};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// The state of the simulator at one time.
#[derive(Debug)]
pub struct Published {
    /// Serial number of the publication.
    pub serial: u64,
    /// Number of changes so far. Commands to the world, the clock and the display count, and
    /// changes of worlds, lights, contacts and the status of the evaluation. Motion, time and
    /// commands to the robot do not count.
    pub(crate) changes: u64,
    /// The running world and its state; `None` if no world runs.
    pub running: Option<WorldView>,
    /// The world that is being loaded; `None` if there is none.
    pub transition: Option<Transition>,
    /// The world that is being installed while another world runs; `None` if there is none.
    pub(crate) installing: Option<Transition>,
    /// The clock.
    pub clock: ClockView,
    /// The text on the screen.
    pub overlay: OverlayView,
    /// Every channel of a shown pixel is multiplied by this factor.
    pub brightness: f64,
    /// The brightness that worlds have unless their seed changes it.
    pub(crate) usual_brightness: f64,
    /// Number of simulations that became the running world so far. A respawn and the start of a
    /// session count too.
    pub assets_version: u64,
    /// A counter that increases when the car is moved by other means than driving: placed, reset,
    /// or replaced by the car of a new simulation.
    pub epoch: u64,
    /// Name of the world whose simulation panicked; `None` again when the next world is loaded.
    pub(crate) lost: Option<Arc<str>>,
    /// The status of the evaluation.
    pub(crate) status: SessionStatus,
    /// The live state as JSON, written on the first request.
    pub(super) state_json: OnceLock<Bytes>,
}

/// A world and its state at one tick.
#[derive(Debug)]
pub struct WorldView {
    /// The parts of the world that do not change.
    pub served: Arc<ServedWorld>,
    /// The state of the simulation.
    pub snapshot: Snapshot,
    /// When the simulation became the running world.
    pub since: Instant,
    /// The world at the last tick with a camera frame.
    pub exposure: Arc<Exposure>,
    /// The robot's topics.
    pub robot: RobotView,
}

/// The robot as clients see it: the newest sample of each topic (`None` before the first sample),
/// the drive command and the sounds. All published values share a sample until a newer sample
/// replaces it.
#[derive(Debug, Clone, Default)]
pub struct RobotView {
    /// Odometry.
    pub odom: Option<Arc<TopicSample<Odom>>>,
    /// States of the joints.
    pub joints: Option<Arc<TopicSample<Joints>>>,
    /// Scan of the lidar.
    pub scan: Option<Arc<TopicSample<Scan>>>,
    /// Sample of the inertial measurement unit.
    pub imu: Option<Arc<TopicSample<Imu>>>,
    /// State of the battery.
    pub battery: Option<Arc<TopicSample<Battery>>>,
    /// The drive command in force.
    pub command: Drive,
    /// The sounds that play.
    pub playing: Arc<[Playing]>,
    /// Files of the sounds that play, and of some sounds that have ended.
    pub files: Files,
}

/// A sample of a topic and its JSON, which is written once for all readers.
#[derive(Debug)]
pub struct TopicSample<T> {
    sample: T,
    json: OnceLock<Bytes>,
}

impl<T> TopicSample<T> {
    /// The JSON of the sample. Only the first call runs `write`, so all callers have to pass the
    /// same function.
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
    /// Takes the newest samples from the robot's stack.
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

/// Replaces the shared sample if the stack has a newer sample.
fn renew<T: Clone>(shared: &mut Option<Arc<TopicSample<T>>>, newest: Option<&T>, sample: impl Fn(&T) -> u64) {
    if newest.map(&sample) != shared.as_deref().map(|topic| sample(topic)) {
        *shared =
            newest.map(|newest| Arc::new(TopicSample { sample: newest.clone(), json: OnceLock::new() }));
    }
}

/// The data from which a camera frame is drawn: the world at the tick of the frame.
#[derive(Debug)]
pub struct Exposure {
    /// The parts of the world that do not change.
    pub(crate) served: Arc<ServedWorld>,
    /// Seed of the simulation, for the camera's noise.
    pub(crate) seed: u64,
    /// The state of the simulation.
    pub snapshot: Snapshot,
    /// Number of the frame, from 0.
    pub frame: u64,
}

/// The state of the simulation clock when a value was published.
#[derive(Debug, Clone, Copy)]
pub struct ClockView {
    /// Whether time is paused.
    pub paused: bool,
    /// Requested real-time factor; 0 is as fast as possible.
    pub speed: f64,
    /// Measured real-time factor over the last second. In virtual time it is 1, because the clock
    /// of the student's program shows simulated time.
    pub rtf: f64,
    /// Whether a session runs in virtual time.
    pub is_virtual: bool,
}

impl ClockView {
    /// The clock in the initial value, which readers get until the first publication.
    pub(super) fn starting(speed: f64) -> ClockView {
        ClockView { paused: false, speed, rtf: 0.0, is_virtual: false }
    }
}

/// The text on the screen at one time.
#[derive(Debug, Clone)]
pub struct OverlayView {
    /// The text; empty if there is none.
    pub text: Arc<str>,
    /// Real seconds for which the text is shown.
    pub ttl_s: f64,
    /// The font size is multiplied by this factor.
    pub size: f64,
    /// Number of the text. The number increases with every text, so that viewers notice a new text
    /// even if it is equal to the last text.
    pub seq: u64,
    /// When the text is removed; `None` if there is no text.
    pub ends: Option<Instant>,
}

impl OverlayView {
    /// No text.
    pub fn none() -> OverlayView {
        OverlayView { text: Arc::from(""), ttl_s: 10.0, size: 1.0, seq: 0, ends: None }
    }

    /// Real time until the text is removed.
    pub fn remaining(&self, now: Instant) -> Duration {
        self.ends.map_or(Duration::ZERO, |ends| ends.saturating_duration_since(now))
    }
}

/// The parts of a replay's state that change and do not come from its world.
/// [`Published::replayed`] sets the constant parts.
pub struct ReplayedDisplay {
    /// The text on the screen.
    pub overlay: OverlayView,
    /// Brightness factor.
    pub brightness: f64,
    /// The epoch: see [`Published::epoch`].
    pub epoch: u64,
    /// The status of the evaluation.
    pub status: SessionStatus,
}

impl Published {
    /// The state of a replay. Its clock always shows a real-time factor of 1, so that equal runs
    /// have equal states.
    pub fn replayed(running: WorldView, display: ReplayedDisplay) -> Published {
        let ReplayedDisplay { overlay, brightness, epoch, status } = display;
        Published {
            serial: 0,
            changes: 0,
            running: Some(running),
            transition: None,
            installing: None,
            clock: ClockView { paused: false, speed: 1.0, rtf: 1.0, is_virtual: false },
            overlay,
            brightness,
            usual_brightness: brightness,
            assets_version: 1,
            epoch,
            lost: None,
            status,
            state_json: OnceLock::new(),
        }
    }

    /// Name of the running world; `None` if no world runs, and while a world is being loaded.
    pub fn current(&self) -> Option<Arc<str>> {
        let seen = self.running.as_ref().filter(|_| self.transition.is_none());
        seen.map(|s| Arc::clone(&s.served.name))
    }

    /// Simulated time, s; 0 if no world runs.
    pub fn time_s(&self) -> f64 {
        self.running.as_ref().map_or(0.0, |seen| seen.snapshot.time_s)
    }

    /// The live state, `GET /state`.
    fn state(&self) -> State {
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

    /// The live state in the response to a step, without the epoch. A repeated run must get equal
    /// responses, but the epoch continues to count after a respawn.
    pub fn stepped_state(&self) -> State {
        State { epoch: None, ..self.state() }
    }

    /// The live state as JSON, written once for all readers.
    pub fn state_json(&self) -> Bytes {
        let write = || Bytes::from(serde_json::to_vec(&self.state()).unwrap_or_default());
        self.state_json.get_or_init(write).clone()
    }
}

impl WorldView {
    /// Names of the objects that the car touches.
    fn contacts(&self) -> Vec<Arc<str>> {
        self.snapshot.contacts.iter().map(|&i| Arc::clone(&self.served.names[i])).collect()
    }

    /// Names of the objects that the car touched in the last `ticks` ticks.
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

    /// Poses of all objects by name.
    fn poses(&self) -> chicane_wire::Named<Arc<str>, chicane_wire::Pose> {
        let poses = self.snapshot.objects.iter().map(view::pose);
        chicane_wire::Named(self.served.names.iter().cloned().zip(poses).collect())
    }

    /// All traffic lights, sorted by name.
    pub fn lights(&self) -> Vec<chicane_wire::Light> {
        self.served.lights.iter().filter_map(|&i| self.light(i)).collect()
    }

    /// The traffic light with this object index; `None` if the object is not a light.
    pub fn light(&self, object: usize) -> Option<chicane_wire::Light> {
        let (_, lamp) = self.snapshot.lights.iter().find(|(i, _)| *i == object)?;
        let name = Arc::clone(&self.served.names[object]);
        let panel = self.served.world.objects[object].panel.as_ref();
        Some(view::light(name, &self.snapshot.objects[object], *lamp, panel))
    }
}
