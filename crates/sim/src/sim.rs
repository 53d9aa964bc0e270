//! [`Sim`]: construction, steps, readings and snapshots. Commands are in `apply.rs`.

use crate::checkpoint::EngineVersion;
use crate::imu::ImuState;
use crate::lidar::Lidar;
use crate::lights::Lamp;
use crate::physics::{BodyState, Car, CarModel, Engine, Fault, SUBSTEP_S, SUBSTEPS, Solver};
use crate::snapshot::{Snapshot, VehicleState};
use crate::state::{State, VariedState};
use crate::vary::Overlay;
use chicane_world::readings::{BatterySample, Drive, ImuSample, Readings, Scan, TICK_S, sample_at};
use chicane_world::{Pose, Profile, World};
use glam::DVec3;
use std::sync::Arc;

/// A simulation of one world with one car.
pub struct Sim {
    pub(crate) world: Arc<World>,
    profile: Arc<Profile>,
    seed: u64,
    pub(crate) state: State,
    pub(crate) initial: Arc<InitialEngine>,
    pub(crate) solver: Solver,
    model: CarModel,
    lidar: Lidar,
    /// Hash of world, profile, seed and overlay.
    pub(crate) origin: u64,
    /// The value of `origin` before any rewind changed the seed.
    first_origin: u64,
    /// Identifies the engine of the current state.
    pub(crate) engine_version: EngineVersion,
    /// Whether the lidar measures.
    measures_lidar: bool,
    /// Results of the last tick. The next tick overwrites these results.
    last_tick: TickResults,
}

/// The engine at tick 0. A reset goes back to this engine.
pub(crate) struct InitialEngine {
    pub(crate) engine: Engine,
    pub(crate) version: EngineVersion,
}

/// Results of the last tick. The buffers are allocated once.
struct TickResults {
    faults: Vec<Fault>,
    events: Vec<SimEvent>,
    ranges: Vec<f64>,
}

/// An event of the last tick that is not the direct effect of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SimEvent {
    /// The state of the vehicle (`None`) or of an object was not finite, so the body was reset to
    /// its initial pose.
    Quarantined(Option<usize>),
    /// The motion of the vehicle (`None`) or of an object reached its end.
    MotionEnded(Option<usize>),
    /// The light with this index in `World::objects` turned red.
    TurnedRed(usize),
}

impl Sim {
    /// A simulation at tick 0: all objects at rest and the car at its spawn pose.
    pub fn new(world: Arc<World>, profile: Arc<Profile>, seed: u64) -> Sim {
        Sim::varied(world, profile, seed, &Overlay::default())
    }

    /// A simulation with an overlay. `world` and `profile` must be the results of
    /// [`Overlay::world`] and [`Overlay::profile`].
    pub fn varied(world: Arc<World>, profile: Arc<Profile>, seed: u64, overlay: &Overlay) -> Sim {
        let mut solver = Solver::new(world.gravity);
        let engine = Engine::build(&world, &profile, &mut solver);
        let lidar = Lidar::new(&world, &profile);
        let objects = world.objects.len();
        let state = State {
            tick: 0,
            engine: engine.clone(),
            car: Car::default(),
            lamps: world.lights().map(|_| Lamp::Green).collect(),
            varied: VariedState::new(&world, overlay),
            car_motion: None,
            motions: vec![None; objects],
            touched: vec![false; objects],
            last_contact: vec![None; objects],
            imu: ImuState::default(),
            scan: lidar.empty_scan(),
            imu_sample: ImuSample::default(),
        };
        let last_tick = TickResults {
            faults: Vec::with_capacity(objects + 1),
            events: Vec::with_capacity(3 * objects + 3),
            ranges: vec![f64::INFINITY; profile.lidar.beams as usize],
        };
        let model = CarModel::new(&profile, -world.gravity.z, world.ground.z);
        let origin = crate::state::origin(&world, &profile, seed, overlay);
        let mut engine_version = EngineVersion::default();
        let initial = Arc::new(InitialEngine { engine, version: engine_version.of_copy() });
        let mut sim = Sim {
            world,
            profile,
            seed,
            state,
            initial,
            solver,
            model,
            lidar,
            origin,
            first_origin: origin,
            engine_version,
            measures_lidar: true,
            last_tick,
        };
        for (lamp, ticks) in sim.state.lamps.iter_mut().zip(&sim.state.varied.red_ticks) {
            *lamp = if *ticks > 0 { Lamp::Red } else { Lamp::Green };
        }
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

    /// The seed of the random streams.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Switches the lidar on or off. While the lidar is off, its last scan does not change, and the
    /// readings repeat this scan when a scan is due. The rest of the simulation is the same,
    /// because the noise of a sensor does not depend on other samples.
    pub fn measure_lidar(&mut self, measures: bool) {
        self.measures_lidar = measures;
    }

    /// Sets the seed of the random streams. Also updates the origin, which contains the seed.
    pub(crate) fn set_seed(&mut self, seed: u64) {
        self.seed = seed;
        self.origin = crate::state::with_seed(self.first_origin, seed);
    }

    /// Hash of world, profile, seed and overlay. Simulations of equal origin are equal if they get
    /// equal commands at the same ticks.
    pub fn origin(&self) -> u64 {
        self.origin
    }

    /// Ticks since the start.
    pub fn tick(&self) -> u64 {
        self.state.tick
    }

    /// Number of bodies that the physics engine currently moves: the car and the objects that are
    /// not at rest. A body that a motion carries does not count.
    pub fn awake(&self) -> usize {
        self.state.engine.awake()
    }

    /// The events of the last tick.
    pub fn events(&self) -> &[SimEvent] {
        &self.last_tick.events
    }

    /// Simulates one tick of 5 ms and returns the readings of the new tick.
    pub fn step(&mut self, drive: Drive) -> Readings<'_> {
        let drive = self.state.varied.delayed(finite(drive), self.state.tick);
        self.last_tick.events.clear();
        self.last_tick.faults.clear();
        self.state.touched.fill(false);
        let alone = !self.anything_carried() && self.state.engine.is_car_isolated(&self.model);
        for _ in 0..SUBSTEPS {
            self.substep(drive, alone);
        }
        self.state.tick += 1;
        self.quarantine();
        self.tick_lamps();
        let State { tick, last_contact, touched, .. } = &mut self.state;
        for (last, _) in last_contact.iter_mut().zip(touched).filter(|(_, touched)| **touched) {
            *last = Some(*tick);
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
            battery: self.battery(tick),
        }
    }

    /// The battery sample of this tick, if one is due. The charge is constant, so that a run does
    /// not depend on the duration of earlier runs.
    fn battery(&self, tick: u64) -> Option<BatterySample> {
        let battery = &self.profile.battery;
        let sample = sample_at(tick, battery.rate_hz)?;
        let (voltage, percentage, current) = (battery.voltage_v, battery.percentage, battery.current_a);
        Some(BatterySample { sample, voltage, percentage, current })
    }

    /// The most recent scan and IMU sample. Both are also available at ticks without a new sample.
    pub fn last_readings(&self) -> (&Scan, &ImuSample) {
        (&self.state.scan, &self.state.imu_sample)
    }

    /// The visible state of the current tick.
    pub fn snapshot(&self) -> Snapshot {
        let state = &self.state;
        let indices = |flags: &mut dyn Iterator<Item = bool>| -> Vec<usize> {
            flags.enumerate().filter(|(_, f)| *f).map(|(i, _)| i).collect()
        };
        Snapshot {
            tick: state.tick,
            time_s: state.tick as f64 * TICK_S,
            vehicle: self.vehicle(),
            objects: (0..self.world.objects.len()).map(|i| state.engine.object_pose(i)).collect(),
            lights: self.world.lights().map(|(i, _)| i).zip(state.lamps.iter().copied()).collect(),
            contacts: indices(&mut self.state.touched.iter().copied()),
            last_contact: state.last_contact.clone(),
            carried: indices(&mut state.motions.iter().map(Option::is_some)),
        }
    }

    /// Pose of an object; `None` if there is no object with this index.
    pub fn object_pose(&self, object: usize) -> Option<Pose> {
        (object < self.world.objects.len()).then(|| self.state.engine.object_pose(object))
    }

    /// The tick in which the car last touched each object; `None` if the car never touched the
    /// object.
    pub fn last_contacts(&self) -> &[Option<u64>] {
        &self.state.last_contact
    }

    /// Indices of the objects and walls that the car touched in the current tick, ascending.
    pub fn contacts(&self) -> Vec<usize> {
        let touched = self.state.touched.iter().enumerate();
        touched.filter(|(_, touched)| **touched).map(|(i, _)| i).collect()
    }

    /// The state of the car in the current tick.
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

    /// Advances the motion of every carried body by one sub-step.
    fn advance_motions(&mut self) {
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
                self.last_tick.events.push(SimEvent::MotionEnded(object));
            } else {
                self.state.engine.carry_to(object, &pose);
            }
        }
    }

    fn anything_carried(&self) -> bool {
        self.state.car_motion.is_some() || self.state.motions.iter().any(Option::is_some)
    }

    fn substep(&mut self, drive: Drive, alone: bool) {
        if alone && self.state.engine.is_on_wheels(&self.model) {
            let State { car, engine, touched, .. } = &mut self.state;
            let push = car.drive(&self.model, engine, drive, true, touched);
            self.engine_version.move_alone();
            if !engine.integrate_car(&push, self.world.gravity) {
                self.last_tick.faults.push(Fault::Car);
                self.quarantine();
            }
            return;
        }
        self.engine_changed();
        self.advance_motions();
        if self.state.car_motion.is_some() {
            let speed = self.vehicle().speed;
            self.state.car.roll_carried(&self.model, speed, drive);
        } else {
            let State { car, engine, touched, .. } = &mut self.state;
            let push = car.drive(&self.model, engine, drive, false, touched);
            engine.apply_tyre_force(&push);
        }
        self.state.engine.step(&mut self.solver, &mut self.last_tick.faults);
        self.state.engine.mark_touched(&mut self.state.touched);
    }

    /// Records that the engine changed in another way than by a sub-step of the isolated car.
    pub(crate) fn engine_changed(&mut self) {
        self.engine_version = EngineVersion::default();
    }

    /// Clears the events, because after a restore the old events belong to another tick.
    pub(crate) fn clear_events(&mut self) {
        self.last_tick.events.clear();
    }

    /// Resets every body with a non-finite state to its initial pose.
    fn quarantine(&mut self) {
        while let Some(fault) = self.last_tick.faults.pop() {
            let object = match fault {
                Fault::Car => None,
                Fault::Object(i) => Some(i),
            };
            match object {
                None => self.state.car_motion = None,
                Some(i) => self.state.motions[i] = None,
            }
            let origin = object.map_or(self.world.spawn, |i| self.world.objects[i].origin);
            self.teleport(object, &origin);
            self.last_tick.events.push(SimEvent::Quarantined(object));
        }
    }

    fn tick_lamps(&mut self) {
        for (lamp, (i, _)) in self.state.lamps.iter_mut().zip(self.world.lights()) {
            let next = lamp.tick();
            if next != *lamp && next == Lamp::Red {
                self.last_tick.events.push(SimEvent::TurnedRed(i));
            }
            *lamp = next;
        }
        for (lamp, ticks) in self.state.lamps.iter_mut().zip(&mut self.state.varied.red_ticks) {
            if *ticks == 1 {
                *lamp = Lamp::Green;
            }
            *ticks = ticks.saturating_sub(1);
        }
    }

    /// Measures a scan if one is due in this tick and the lidar is on.
    pub(crate) fn sense_scan(&mut self) {
        let state = &mut self.state;
        let due = sample_at(state.tick, self.profile.lidar.rate_hz);
        if let Some(k) = due.filter(|_| self.measures_lidar) {
            let pose = state.engine.car().pose;
            let exact = &mut self.last_tick.ranges;
            self.lidar.scan(&state.engine, &pose, k, self.seed, exact, &mut state.scan);
        }
    }

    /// Takes the sensor samples that are due in this tick.
    fn sense(&mut self) {
        self.sense_scan();
        let state = &mut self.state;
        let car = state.engine.car();
        if let Some(k) = sample_at(state.tick, self.profile.imu.rate_hz) {
            let centre = DVec3::from_array(self.profile.centre_of_mass_m);
            let imu = &self.profile.imu;
            state.imu_sample = state.imu.sample(k, self.seed, imu, &car, centre, self.world.gravity);
        }
    }

    fn origin_velocity(&self, car: &BodyState) -> DVec3 {
        let arm = car.pose.rotation * -DVec3::from_array(self.profile.centre_of_mass_m);
        car.linear + car.angular.cross(arm)
    }
}

/// Replaces non-finite inputs by zero.
fn finite(drive: Drive) -> Drive {
    let or_zero = |v: f64| if v.is_finite() { v } else { 0.0 };
    Drive {
        speed: or_zero(drive.speed),
        steering: or_zero(drive.steering),
        pan: or_zero(drive.pan),
        tilt: or_zero(drive.tilt),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chicane_testkit::Yard;

    #[test]
    fn a_body_with_a_non_finite_state_is_reset_and_reported() {
        let yard = Yard::new().block("box1", [1.0, 1.0, 0.1], [0.2; 3], 0.5).ball(
            "ball1",
            [2.0, 1.0, 0.11],
            0.11,
            0.2,
        );
        let mut sim = Sim::new(yard.build(), Arc::new(Profile::gen1()), 0);
        for _ in 0..100 {
            sim.step(Drive { speed: 1.0, ..Drive::default() });
        }
        let ball = sim.snapshot().objects[1];
        for poisoned in [Some(0), None] {
            sim.state.engine.set_nan_velocity(poisoned);
            sim.step(Drive::default());
            assert_eq!(sim.events(), [SimEvent::Quarantined(poisoned)]);
            for _ in 0..200 {
                sim.step(Drive::default());
                let s = sim.snapshot();
                assert!(s.objects.iter().all(|p| p.is_finite()) && s.vehicle.pose.is_finite());
            }
        }
        let s = sim.snapshot();
        assert!(
            (s.objects[0].position - sim.world.objects[0].origin.position).length() < 1e-3,
            "box at its origin"
        );
        assert!(s.vehicle.pose.position.length() < 1e-3, "car at its spawn pose");
        assert!((s.objects[1].position - ball.position).length() < 1e-4, "the ball is unaffected");
        for _ in 0..200 {
            sim.step(Drive { speed: 1.0, ..Drive::default() });
        }
        assert!(sim.vehicle().speed > 0.9, "and the car drives again");
    }
}
