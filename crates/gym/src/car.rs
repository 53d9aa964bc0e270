//! One environment: a simulation and the episode in it.

use crate::course::{Course, Plan};
use crate::error::GymError;
use crate::generator::Generator;
use crate::layout::scatter;
use crate::numbers::Numbers;
use crate::observe::History;
use crate::picture::Exposure;
use crate::track::{TrackPosition, micro, rounded};
use chicane_render::Stage;
use chicane_sim::{Checkpoint, Command, Drive, How, Overlay, Sim, Who, sample_at, sample_tick};
use chicane_vary::Start;
use std::f64::consts::TAU;
use std::sync::{Arc, OnceLock};

/// One environment.
pub(crate) struct Car {
    pub(crate) plan: Arc<Plan>,
    pub(crate) index: usize,
    pub(crate) course: Arc<Course>,
    /// Number of the random track; 0 without random tracks.
    pub(crate) track_number: usize,
    pub(crate) sim: Sim,
    /// What the seed changed; `None` if the world is as published.
    pub(crate) varied: Option<Varied>,
    pub(crate) generator: Option<Generator>,
    pub(crate) episode: Episode,
    pub(crate) numbers: Numbers,
    /// The world at the last tick with a camera frame; `None` if the environment keeps no pictures
    /// or was never reset.
    pub(crate) exposure: Option<Exposure>,
    pub(crate) history: History,
}

/// The changes of a seed, and the changed scene. The scene is prepared when the first picture needs
/// it.
pub(crate) struct Varied {
    pub(crate) overlay: Overlay,
    pub(crate) stage: OnceLock<Arc<Stage>>,
}

/// The progress of an episode.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Episode {
    pub(crate) position: TrackPosition,
    /// Metres along the centre line since the start.
    pub(crate) done_m: f64,
    pub(crate) steps: u64,
    /// The tick at which the episode started; 0 if the environment has no episode.
    pub(crate) started: u64,
    /// Speed and steering of the last action, m/s and rad.
    pub(crate) action: [f64; 2],
    /// Whether the episode has ended.
    pub(crate) ended: bool,
}

/// The state at the start of an episode whose car stands at the first waypoint. The first such
/// episode of a course stores this state. Later episodes of the course rewind to it.
pub(crate) struct PreparedStart {
    checkpoint: Checkpoint,
    episode: Episode,
    exposure: Option<Exposure>,
}

impl Car {
    pub(crate) fn new(plan: Arc<Plan>, index: usize) -> Car {
        let course = Arc::clone(plan.course(index));
        let sim = new_sim(&plan, &course);
        let [x, y, _] = course.track.at(0.0, 0.0);
        let position = course.track.locate(x, y, None);
        let episode = Episode { position, done_m: 0.0, steps: 0, started: 0, action: [0.0; 2], ended: false };
        Car {
            track_number: usize::from(plan.random.is_some()),
            plan,
            index,
            course,
            sim,
            varied: None,
            generator: None,
            episode,
            numbers: Numbers::default(),
            exposure: None,
            history: History::default(),
        }
    }

    /// Starts an episode. `start` is the start of the car, in laps from the first waypoint. `None`
    /// leaves the start to the settings.
    pub(crate) fn reset(&mut self, start: Option<f64>) -> Result<(), GymError> {
        let car = self.index;
        let plan = Arc::clone(&self.plan);
        let mut random = self.generator.ok_or(GymError::NotSeeded { car })?;
        // Until the new episode has started, the environment has no episode.
        self.episode.started = 0;
        let outcome = self.start_episode(start, &plan, &mut random);
        // The generator keeps its new state even if the episode cannot start, as in the Python
        // package.
        self.generator = Some(random);
        outcome
    }

    fn start_episode(
        &mut self,
        start: Option<f64>,
        plan: &Plan,
        random: &mut Generator,
    ) -> Result<(), GymError> {
        if let Some(tracks) = plan.random {
            self.enter(1 + random.below(tracks.count))?;
        }
        let drawn = if plan.settings.random_start { random.next_f64() } else { 0.0 };
        let along = self.course.track.length() * start.unwrap_or(drawn);
        let seed = random.seed();
        let is_plain = self.course.vary.is_none() && !plan.settings.obstacles && self.scan_is_fresh();
        if is_plain && start.is_none() && !plan.settings.random_start {
            self.begin_prepared(seed)
        } else {
            self.begin(along, seed, random)
        }
    }

    /// Simulates one step. The action is speed and steering, in m/s and rad, or from −1 to 1 with
    /// the setting `normalised`.
    pub(crate) fn step(&mut self, action: [f32; 2]) {
        let settings = &self.plan.settings;
        let [speed, steering] = action.map(f64::from);
        let [fastest, lock] = settings.action_limits(&self.plan.profile);
        let [speed, steering] = match settings.normalised {
            true => [(speed + 1.0) / 2.0 * fastest, steering * lock],
            false => [speed, steering],
        };
        let action = [micro(speed.max(0.0).min(fastest)), micro(steering.max(-lock).min(lock))];
        let ticks = settings.step_ticks();
        self.run(ticks, action);
        self.episode.action = action;
        self.episode.steps += 1;
        self.measure(ticks);
        self.numbers.judge(self.plan.settings.time_limit_s);
        self.episode.ended = self.numbers.has_ended();
    }

    /// Switches to the random track with this number.
    pub(crate) fn enter(&mut self, number: usize) -> Result<(), GymError> {
        if number != self.track_number || self.varied.is_some() {
            self.course = self.plan.random_course(number)?;
            self.track_number = number;
            self.varied = None;
            self.sim = new_sim(&self.plan, &self.course);
        }
        Ok(())
    }

    /// Whether a rewind to the prepared start gives the lidar scan of the new seed. This holds if
    /// no lidar is observed, or if a scan is due in the tick of the prepared start. The rewind
    /// measures this scan again with the noise of the new seed. An older scan keeps its old noise.
    fn scan_is_fresh(&self) -> bool {
        let settings = &self.plan.settings;
        let rate = self.course.profile.lidar.rate_hz;
        !settings.observed.lidar || sample_at(settings.settle_ticks(), rate).is_some()
    }

    fn begin_prepared(&mut self, seed: u64) -> Result<(), GymError> {
        let course = Arc::clone(&self.course);
        let Some(prepared) = course.prepared.get() else {
            let mut unused = Generator { state: 0, increment: 1 };
            self.begin(0.0, seed, &mut unused)?;
            let prepared = PreparedStart {
                checkpoint: self.sim.checkpoint(),
                episode: self.episode,
                exposure: self.exposure.clone(),
            };
            // This call has no effect if another thread has stored a start first. Both starts give
            // the same episodes, because a rewind sets the seed.
            let _ = course.prepared.set(prepared);
            return Ok(());
        };
        self.sim.rewind(&prepared.checkpoint, seed);
        self.episode = prepared.episode;
        self.exposure.clone_from(&prepared.exposure);
        self.measure_start();
        Ok(())
    }

    fn begin(&mut self, along: f64, seed: u64, random: &mut Generator) -> Result<(), GymError> {
        self.respawn(seed);
        let (along, offset, turn) = self.varied_start(along);
        let course = Arc::clone(&self.course);
        if self.plan.settings.obstacles {
            for place in scatter(&course.track, self.sim.world(), along, random)? {
                self.place(Who::Object(place.name), [place.x, place.y, place.yaw])?;
            }
        }
        let [x, y, heading] = course.track.at(along, offset);
        let [x, y, yaw] = [x, y, heading + turn].map(micro);
        self.place(Who::Vehicle, [x, y, yaw])?;
        self.run(self.plan.settings.settle_ticks(), [0.0; 2]);
        self.episode = Episode {
            position: course.track.locate(x, y, None),
            done_m: 0.0,
            steps: 0,
            started: self.sim.tick(),
            action: [0.0; 2],
            ended: false,
        };
        self.measure_start();
        Ok(())
    }

    /// Starts the simulation of the world again, with the changes of this seed.
    pub(crate) fn respawn(&mut self, seed: u64) {
        let course = Arc::clone(&self.course);
        let overlay = course.vary.as_ref().map(|vary| Overlay::draw(&course.world, vary, seed));
        if let Some(overlay) = overlay.filter(|overlay| !overlay.is_none()) {
            let world = Arc::new(overlay.world(&course.world));
            let profile = Arc::new(overlay.profile(&course.profile));
            self.sim = Sim::varied(world, profile, seed, &overlay);
            self.sim.measure_lidar(self.plan.settings.observed.lidar);
            self.varied = Some(Varied { overlay, stage: OnceLock::new() });
        } else {
            if self.varied.take().is_some() {
                self.sim = new_sim(&self.plan, &course);
            }
            self.sim.rewind(&course.start, seed);
        }
        self.exposure = self.plan.settings.keeps_exposures().then(|| Exposure::of(&self.sim, 0));
    }

    /// Where an episode starts: metres along the road, metres to the left of its centre line, and
    /// the angle from the direction of the road to that of the car, rad. `along` is the requested
    /// distance along the road. If seeds do not vary the start, the result is `along`, 0 and 0.
    /// Otherwise the spawn pose that the seed has shifted gives the result: its distance from the
    /// first waypoint is added to `along`, and its offset and its angle are returned unchanged.
    fn varied_start(&self, along: f64) -> (f64, f64, f64) {
        if self.course.vary.as_ref().is_none_or(|vary| vary.start == Start::default()) {
            return (along, 0.0, 0.0);
        }
        let (pose, track) = (self.sim.vehicle().pose, &self.course.track);
        let at = track.locate(rounded(pose.position.x), rounded(pose.position.y), None);
        let turn = libm::remainder(rounded(pose.yaw()) - at.heading, TAU);
        (along + track.advance(0.0, at.along), at.offset, turn)
    }

    fn place(&mut self, who: Who, [x, y, yaw]: [f64; 3]) -> Result<(), GymError> {
        let how = How::AtOnce;
        self.sim.apply(Command::Place { who, x: Some(x), y: Some(y), z: None, yaw: Some(yaw), how })?;
        Ok(())
    }

    /// Simulates a number of ticks with the same speed and steering.
    fn run(&mut self, ticks: u64, [speed, steering]: [f64; 2]) {
        let limits = &self.plan.profile.drive;
        let drive = Drive {
            speed: speed.clamp(-limits.max_speed_mps, limits.max_speed_mps),
            steering: steering.clamp(-limits.max_steering_rad, limits.max_steering_rad),
            ..Drive::default()
        };
        let (rate, end) = (self.course.profile.camera.rate_hz, self.sim.tick() + ticks);
        let exposes = self.plan.settings.keeps_exposures();
        for _ in 0..ticks {
            self.sim.step(drive);
            let frame = sample_at(self.sim.tick(), rate).filter(|_| exposes);
            // Only the last frame of the step can be drawn later, so the earlier frames need no
            // exposure.
            if let Some(frame) = frame.filter(|frame| sample_tick(frame + 1, rate) > end) {
                self.exposure = Some(Exposure::of(&self.sim, frame));
            }
        }
    }

    /// Computes the numbers at the start of an episode. The progress starts at 0.
    fn measure_start(&mut self) {
        self.measure(self.plan.settings.settle_ticks());
        self.episode.done_m = 0.0;
        self.numbers.0[Numbers::PROGRESS] = 0.0;
        for end in [Numbers::REWARD, Numbers::TERMINATED, Numbers::TRUNCATED, Numbers::ENDED] {
            self.numbers.0[end] = 0.0;
        }
    }

    /// Computes all numbers except reward and end. If the car touched an object in the last `ticks`
    /// ticks, the car has crashed.
    fn measure(&mut self, ticks: u64) {
        let car = self.sim.vehicle();
        let track = &self.course.track;
        let (x, y) = (rounded(car.pose.position.x), rounded(car.pose.position.y));
        let position = track.locate(x, y, Some(self.episode.position.behind));
        let advance = track.advance(self.episode.position.along, position.along);
        self.episode.done_m += advance;
        self.episode.position = position;
        let progress = self.episode.done_m / track.length();
        let since = self.sim.tick().saturating_sub(ticks);
        let crashed = self.sim.last_contacts().iter().any(|last| last.is_some_and(|tick| tick > since));
        let flag = |is: bool| f64::from(u8::from(is));
        // A tick is 5,000 µs. The microseconds are exact and divided once, so the result is the
        // floating-point number nearest to the decimal number of seconds.
        let time = ((self.sim.tick() - self.episode.started) * 5000) as f64 / 1e6;
        let [action_speed, action_steering] = self.episode.action;
        self.numbers.0 = [
            0.0,
            0.0,
            0.0,
            0.0,
            progress,
            time,
            rounded(car.speed),
            position.offset.abs(),
            x,
            y,
            rounded(car.pose.yaw()),
            rounded(car.steering),
            action_speed,
            action_steering,
            advance,
            flag(position.offset > 0.0),
            position.heading,
            position.width_left + position.width_right,
            track.length(),
            flag(position.off_track()),
            flag(crashed),
            flag(progress >= self.plan.settings.laps),
            position.behind as f64,
            self.episode.steps as f64,
        ];
    }
}

/// A simulation of the world without the changes of a seed.
pub(crate) fn new_sim(plan: &Plan, course: &Course) -> Sim {
    let mut sim = Sim::new(Arc::clone(&course.world), Arc::clone(&course.profile), 0);
    sim.measure_lidar(plan.settings.observed.lidar);
    sim
}
