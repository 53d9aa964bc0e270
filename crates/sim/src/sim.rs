//! `Sim`: the one door in, the one way on, the one window out.

use crate::command::{Applied, Command, How, NotMovableWhy, Refusal, Who};
use crate::imu::ImuState;
use crate::lidar::Lidar;
use crate::lights::Lamp;
use crate::motion::{Motion, Upright};
use crate::physics::{Car, CarModel, Engine, Fault, Moving, SUBSTEP_S, SUBSTEPS, Solver};
use crate::readings::{Drive, ImuSample, Readings, Scan};
use crate::snapshot::{Snapshot, VehicleState};
use crate::{TICK_S, sample_at};
use chicane_world::world::ObjectType;
use chicane_world::{Pose, Profile, World};
use glam::DVec3;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A running world.
pub struct Sim {
    pub(crate) world: Arc<World>,
    pub(crate) profile: Arc<Profile>,
    pub(crate) seed: u64,
    pub(crate) state: State,
    /// The engine as it was at the start: what a reset goes back to.
    pristine: Engine,
    pub(crate) solver: Solver,
    model: CarModel,
    lidar: Lidar,
    /// What the last tick brought, for readers until the next one.
    recent: Recent,
}

/// Everything that changes and must be saved.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct State {
    pub(crate) tick: u64,
    pub(crate) engine: Engine,
    pub(crate) car: Car,
    pub(crate) lamps: Vec<Lamp>,
    pub(crate) car_motion: Option<Motion>,
    /// One slot an object.
    pub(crate) motions: Vec<Option<Motion>>,
    pub(crate) last_contact: Vec<Option<u64>>,
    pub(crate) imu: ImuState,
    pub(crate) scan: Scan,
    pub(crate) imu_sample: ImuSample,
}

/// Results of the last tick, with room made once.
#[derive(Default)]
struct Recent {
    touched: Vec<bool>,
    faults: Vec<Fault>,
    events: Vec<Event>,
    ranges: Vec<f64>,
}

/// Something that happened in the last tick by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// A state that was not finite; the vehicle (`None`) or object was put back to its origin.
    Quarantined(Option<usize>),
    /// A motion reached its end: of the vehicle (`None`) or an object.
    MotionEnded(Option<usize>),
    /// The light of this object turned red.
    TurnedRed(usize),
}

impl Sim {
    /// A world at rest with the car at its spawn pose, at tick 0.
    pub fn new(world: Arc<World>, profile: Arc<Profile>, seed: u64) -> Sim {
        let mut solver = Solver::new(world.gravity);
        let pristine = Engine::build(&world, &profile, &mut solver);
        let lidar = Lidar::new(&world, &profile);
        let objects = world.objects.len();
        let state = State {
            tick: 0,
            engine: pristine.clone(),
            car: Car::default(),
            lamps: world
                .objects
                .iter()
                .filter(|o| o.object_type == ObjectType::Light)
                .map(|_| Lamp::Green)
                .collect(),
            car_motion: None,
            motions: vec![None; objects],
            last_contact: vec![None; objects],
            imu: ImuState::default(),
            scan: lidar.empty_scan(),
            imu_sample: ImuSample::default(),
        };
        let recent = Recent {
            touched: vec![false; objects],
            faults: Vec::with_capacity(objects + 1),
            events: Vec::with_capacity(3 * objects + 3),
            ranges: vec![f64::INFINITY; profile.lidar.beams as usize],
        };
        let model = CarModel::new(&profile, -world.gravity.z, world.ground.z);
        let mut sim = Sim { world, profile, seed, state, pristine, solver, model, lidar, recent };
        sim.sense();
        sim
    }

    /// The world.
    pub fn world(&self) -> &Arc<World> {
        &self.world
    }

    /// The vehicle's profile.
    pub fn profile(&self) -> &Arc<Profile> {
        &self.profile
    }

    /// Ticks since the start.
    pub fn tick(&self) -> u64 {
        self.state.tick
    }

    /// Bodies that physics moves at the moment; the car is always one.
    pub fn awake(&self) -> usize {
        self.state.engine.awake()
    }

    /// What happened in the last tick by itself.
    pub fn events(&self) -> &[Event] {
        &self.recent.events
    }

    /// One tick of 5 ms.
    pub fn step(&mut self, drive: Drive) -> Readings<'_> {
        let drive = finite(drive);
        self.recent.events.clear();
        self.recent.faults.clear();
        self.recent.touched.fill(false);
        for _ in 0..SUBSTEPS {
            self.carry();
            self.push_car(drive);
            self.state.engine.step(&mut self.solver, &mut self.recent.faults);
            self.state.engine.mark_touched(&mut self.recent.touched);
        }
        self.state.tick += 1;
        self.quarantine();
        self.tick_lamps();
        for (last, _) in self.state.last_contact.iter_mut().zip(&self.recent.touched).filter(|(_, t)| **t) {
            *last = Some(self.state.tick);
        }
        self.state.imu.tick();
        self.sense();
        self.readings()
    }

    /// The readings of the current tick.
    pub fn readings(&self) -> Readings<'_> {
        let tick = self.state.tick;
        Readings {
            tick,
            lidar: sample_at(tick, self.profile.lidar.rate_hz).map(|_| &self.state.scan),
            imu: sample_at(tick, self.profile.imu.rate_hz).map(|_| self.state.imu_sample),
            wheels: self.state.car.wheels(),
        }
    }

    /// The last scan and IMU sample, however old.
    pub fn last_readings(&self) -> (&Scan, &ImuSample) {
        (&self.state.scan, &self.state.imu_sample)
    }

    /// What there is to see now.
    pub fn snapshot(&self) -> Snapshot {
        let state = &self.state;
        let lights =
            self.world.objects.iter().enumerate().filter(|(_, o)| o.object_type == ObjectType::Light);
        let indices = |flags: &mut dyn Iterator<Item = bool>| -> Vec<usize> {
            flags.enumerate().filter(|(_, f)| *f).map(|(i, _)| i).collect()
        };
        Snapshot {
            tick: state.tick,
            time_s: state.tick as f64 * TICK_S,
            vehicle: self.vehicle(),
            objects: (0..self.world.objects.len()).map(|i| state.engine.object_pose(i)).collect(),
            lights: lights.map(|(i, _)| i).zip(state.lamps.iter().copied()).collect(),
            contacts: indices(&mut self.recent.touched.iter().copied()),
            last_contact: state.last_contact.clone(),
            carried: indices(&mut state.motions.iter().map(Option::is_some)),
        }
    }

    /// The car now.
    pub fn vehicle(&self) -> VehicleState {
        let (moving, car) = (self.state.engine.car(), &self.state.car);
        let velocity = self.origin_velocity(&moving);
        VehicleState {
            pose: moving.pose,
            velocity,
            angular_velocity: moving.angular,
            speed: velocity.dot(moving.pose.rotation * DVec3::X),
            steering: car.steering,
            front_wheels: std::array::from_fn(|i| self.model.wheel_angle(i, car.steering)),
            wheel_angles: car.angle,
            pan: car.pan,
            tilt: car.tilt,
            carried: self.state.car_motion.is_some(),
        }
    }

    /// Applies a command as a whole, or refuses it and changes nothing.
    pub fn apply(&mut self, command: Command) -> Result<Applied, Refusal> {
        command.check()?;
        match command {
            Command::Reset => Ok(Applied::Reset(self.reset())),
            Command::SetLight { name, red } => self.set_light(name, red),
            Command::Place { who, x, y, z, yaw, how } => {
                let object = match who {
                    Who::Vehicle => None,
                    Who::Object(name) => Some(self.movable(name)?),
                };
                let from = self.upright(object);
                let to = self.on_ground(
                    object,
                    Upright {
                        x: x.unwrap_or(from.x),
                        y: y.unwrap_or(from.y),
                        z: z.unwrap_or(from.z),
                        yaw: yaw.map_or(from.yaw, chicane_world::pose::wrap_angle),
                    },
                );
                Ok(Applied::Placed(self.place(object, self.on_ground(object, from), to, how, yaw.is_some())))
            }
        }
    }

    /// Takes over what the lights of an earlier simulation of this world showed, by name; a
    /// yellow one becomes red.
    pub fn keep_lights_of(&mut self, earlier: &Sim) {
        let lamps = |sim: &Sim| -> Vec<(String, Lamp)> {
            let lights = sim.world.objects.iter().filter(|o| o.object_type == ObjectType::Light);
            lights.map(|o| o.name.clone()).zip(sim.state.lamps.iter().copied()).collect()
        };
        let (own, old) = (lamps(self), lamps(earlier));
        for (lamp, (name, _)) in self.state.lamps.iter_mut().zip(own) {
            if let Some((_, was)) = old.iter().find(|(n, _)| *n == name) {
                *lamp = was.after_respawn();
            }
        }
    }

    fn reset(&mut self) -> Vec<usize> {
        let state = &mut self.state;
        state.engine = self.pristine.clone();
        // The solver keeps notes about bodies that are gone now.
        self.solver = Solver::new(self.world.gravity);
        state.car = Car { pan: state.car.pan, tilt: state.car.tilt, ..Car::default() };
        state.imu.settle();
        state.lamps.fill(Lamp::Green);
        state.car_motion = None;
        state.motions.fill(None);
        self.recent.touched.fill(false);
        let objects = self.world.objects.iter().enumerate();
        objects.filter(|(_, o)| o.movable).map(|(i, _)| i).collect()
    }

    fn set_light(&mut self, name: String, red: bool) -> Result<Applied, Refusal> {
        let mut lights = self.world.objects.iter().filter(|o| o.object_type == ObjectType::Light);
        let Some(i) = lights.position(|o| o.name == name) else {
            return Err(Refusal::NoSuchLight { name });
        };
        match self.state.lamps[i].ask(red) {
            Ok(lamp) => {
                self.state.lamps[i] = lamp;
                Ok(Applied::Light(lamp))
            }
            Err(_) => Err(Refusal::YellowPhase { name }),
        }
    }

    fn movable(&self, name: String) -> Result<usize, Refusal> {
        if let Some(i) = self.world.object(&name) {
            let why = NotMovableWhy::Wall;
            return if self.world.objects[i].movable {
                Ok(i)
            } else {
                Err(Refusal::NotMovable { name, why })
            };
        }
        match self.world.fixed_names.iter().find(|f| f.name == name) {
            Some(f) if f.is_track => Err(Refusal::NotMovable { name, why: NotMovableWhy::Track }),
            Some(_) => Err(Refusal::NotMovable { name, why: NotMovableWhy::Scenery }),
            None => Err(Refusal::NoSuchObject { name }),
        }
    }

    fn upright(&self, object: Option<usize>) -> Upright {
        Upright::of(&match object {
            None => self.state.engine.car().pose,
            Some(i) => self.state.engine.object_pose(i),
        })
    }

    /// The car stands on the ground; an object that would be sunk in it is lifted onto it.
    fn on_ground(&self, object: Option<usize>, mut at: Upright) -> Upright {
        let ground = self.world.ground.z;
        at.z = match object.map(|i| &self.world.objects[i]) {
            None => ground,
            Some(o) => at.z.max(ground - (o.centre.z - 0.5 * o.size.z)),
        };
        at
    }

    fn place(
        &mut self,
        object: Option<usize>,
        from: Upright,
        to: Upright,
        how: How,
        yaw_given: bool,
    ) -> Pose {
        let motion = match how {
            How::Over { duration_s } if duration_s > SUBSTEP_S => Some(Motion::over(from, to, duration_s)),
            How::AtOnce | How::Over { .. } => None,
            How::Along { path, speed, repeat } => Some(Motion::along(to, &path, speed, repeat, !yaw_given)),
        };
        let start = match motion {
            Some(Motion::Over { .. }) => from.pose(),
            _ => to.pose(),
        };
        self.put(object, &start);
        if motion.is_some() {
            self.state.engine.carry(object);
        }
        match object {
            None => self.state.car_motion = motion,
            Some(i) => self.state.motions[i] = motion,
        }
        start
    }

    /// Puts the car or an object somewhere at rest.
    fn put(&mut self, object: Option<usize>, pose: &Pose) {
        match object {
            None => {
                self.state.engine.put_car(pose);
                self.state.car.settle();
                self.state.imu.settle();
            }
            Some(i) => self.state.engine.put_object(i, pose, self.world.objects[i].is_static),
        }
    }

    /// Takes every carried body one sub-step on.
    fn carry(&mut self) {
        for object in std::iter::once(None).chain((0..self.state.motions.len()).map(Some)) {
            let slot = match object {
                None => &mut self.state.car_motion,
                Some(i) => &mut self.state.motions[i],
            };
            let Some(motion) = slot else {
                continue;
            };
            let (pose, ended) = motion.advance(SUBSTEP_S);
            if ended {
                *slot = None;
                self.put(object, &pose);
                self.recent.events.push(Event::MotionEnded(object));
            } else {
                self.state.engine.carry_to(object, &pose);
            }
        }
    }

    fn push_car(&mut self, drive: Drive) {
        let state = &mut self.state;
        if state.car_motion.is_some() {
            let speed = self.vehicle().speed;
            self.state.car.be_carried(&self.model, speed, drive);
        } else {
            state.car.push(&self.model, &mut state.engine, drive, &mut self.recent.touched);
        }
    }

    /// Contacts and events of a tick that is no longer the last one.
    pub(crate) fn forget_recent(&mut self) {
        let tick = self.state.tick;
        self.recent.events.clear();
        for (touched, last) in self.recent.touched.iter_mut().zip(&self.state.last_contact) {
            *touched = *last == Some(tick) && tick > 0;
        }
    }

    /// Whatever went non-finite goes back to where it began.
    fn quarantine(&mut self) {
        while let Some(fault) = self.recent.faults.pop() {
            let object = match fault {
                Fault::Car => None,
                Fault::Object(i) => Some(i),
            };
            match object {
                None => self.state.car_motion = None,
                Some(i) => self.state.motions[i] = None,
            }
            let origin = object.map_or(self.world.spawn, |i| self.world.objects[i].origin);
            self.put(object, &origin);
            self.recent.events.push(Event::Quarantined(object));
        }
    }

    fn tick_lamps(&mut self) {
        let lights =
            self.world.objects.iter().enumerate().filter(|(_, o)| o.object_type == ObjectType::Light);
        for (lamp, (i, _)) in self.state.lamps.iter_mut().zip(lights) {
            let next = lamp.tick();
            if next != *lamp && next == Lamp::Red {
                self.recent.events.push(Event::TurnedRed(i));
            }
            *lamp = next;
        }
    }

    /// Takes the samples that fall on this tick.
    fn sense(&mut self) {
        let state = &mut self.state;
        let car = state.engine.car();
        if let Some(k) = sample_at(state.tick, self.profile.lidar.rate_hz) {
            self.lidar.scan(&state.engine, &car.pose, k, self.seed, &mut self.recent.ranges, &mut state.scan);
        }
        if let Some(k) = sample_at(state.tick, self.profile.imu.rate_hz) {
            let centre = DVec3::from_array(self.profile.centre_of_mass_m);
            let imu = &self.profile.imu;
            state.imu_sample = state.imu.sample(k, self.seed, imu, &car, centre, self.world.gravity);
        }
    }

    fn origin_velocity(&self, car: &Moving) -> DVec3 {
        let arm = car.pose.rotation * -DVec3::from_array(self.profile.centre_of_mass_m);
        car.linear + car.angular.cross(arm)
    }
}

/// A command that is not a number asks for nothing.
fn finite(drive: Drive) -> Drive {
    let or_zero = |v: f64| if v.is_finite() { v } else { 0.0 };
    Drive {
        speed: or_zero(drive.speed),
        steering: or_zero(drive.steering),
        pan: or_zero(drive.pan),
        tilt: or_zero(drive.tilt),
    }
}
