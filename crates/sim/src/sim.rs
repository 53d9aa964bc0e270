//! `Sim`: the one door in, the one way on, the one window out.

use crate::imu::ImuState;
use crate::lidar::Lidar;
use crate::lights::Lamp;
use crate::physics::{Car, CarModel, Engine, Fault, Moving, SUBSTEP_S, SUBSTEPS, Solver};
use crate::snapshot::{Snapshot, VehicleState};
use crate::state::State;
use crate::{TICK_S, sample_at};
use chicane_world::readings::{BatterySample, Drive, ImuSample, Readings, Scan};
use chicane_world::{Profile, World};
use glam::DVec3;
use std::sync::Arc;

/// A running world.
pub struct Sim {
    pub(crate) world: Arc<World>,
    profile: Arc<Profile>,
    seed: u64,
    pub(crate) state: State,
    /// The engine as it was at the start: what a reset goes back to.
    pub(crate) pristine: Engine,
    pub(crate) solver: Solver,
    model: CarModel,
    lidar: Lidar,
    /// Fingerprint of world, profile and seed.
    pub(crate) origin: u64,
    /// What the last tick brought, for readers until the next one.
    recent: Recent,
}

/// Results of the last tick, with room made once.
struct Recent {
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
            lamps: world.lights().map(|_| Lamp::Green).collect(),
            car_motion: None,
            motions: vec![None; objects],
            touched: vec![false; objects],
            last_contact: vec![None; objects],
            imu: ImuState::default(),
            scan: lidar.empty_scan(),
            imu_sample: ImuSample::default(),
        };
        let recent = Recent {
            faults: Vec::with_capacity(objects + 1),
            events: Vec::with_capacity(3 * objects + 3),
            ranges: vec![f64::INFINITY; profile.lidar.beams as usize],
        };
        let model = CarModel::new(&profile, -world.gravity.z, world.ground.z);
        let origin = crate::state::origin(&world, &profile, seed);
        let mut sim = Sim { world, profile, seed, state, pristine, solver, model, lidar, origin, recent };
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

    /// What every random stream starts from.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Ticks since the start.
    pub fn tick(&self) -> u64 {
        self.state.tick
    }

    /// Bodies that physics moves at the moment: the car, unless a motion carries it, and objects
    /// that are not at rest.
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
        self.state.touched.fill(false);
        let alone = !self.anything_carried() && self.state.engine.is_alone(&self.model);
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

    /// The battery holds what it has: a run does not depend on how long the ones before it took.
    fn battery(&self, tick: u64) -> Option<BatterySample> {
        let battery = &self.profile.battery;
        let sample = sample_at(tick, battery.rate_hz)?;
        let (voltage, percentage, current) = (battery.voltage_v, battery.percentage, battery.current_a);
        Some(BatterySample { sample, voltage, percentage, current })
    }

    /// The last scan and IMU sample, however old.
    pub fn last_readings(&self) -> (&Scan, &ImuSample) {
        (&self.state.scan, &self.state.imu_sample)
    }

    /// What there is to see now.
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

    /// Takes every carried body one sub-step on.
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
                self.recent.events.push(Event::MotionEnded(object));
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
            if !engine.coast(&push, self.world.gravity) {
                self.recent.faults.push(Fault::Car);
                self.quarantine();
            }
            return;
        }
        self.advance_motions();
        if self.state.car_motion.is_some() {
            let speed = self.vehicle().speed;
            self.state.car.be_carried(&self.model, speed, drive);
        } else {
            let State { car, engine, touched, .. } = &mut self.state;
            let push = car.drive(&self.model, engine, drive, false, touched);
            engine.press(&push);
        }
        self.state.engine.step(&mut self.solver, &mut self.recent.faults);
        self.state.engine.mark_touched(&mut self.state.touched);
    }

    /// Events of a tick that is no longer the last one.
    pub(crate) fn forget_events(&mut self) {
        self.recent.events.clear();
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
            self.teleport(object, &origin);
            self.recent.events.push(Event::Quarantined(object));
        }
    }

    fn tick_lamps(&mut self) {
        for (lamp, (i, _)) in self.state.lamps.iter_mut().zip(self.world.lights()) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use chicane_testkit::Yard;

    #[test]
    fn what_goes_non_finite_is_put_back_and_named() {
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
            sim.state.engine.poison(poisoned);
            sim.step(Drive::default());
            assert_eq!(sim.events(), [Event::Quarantined(poisoned)]);
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
        assert!((s.objects[1].position - ball.position).length() < 1e-4, "the ball noticed nothing");
        for _ in 0..200 {
            sim.step(Drive { speed: 1.0, ..Drive::default() });
        }
        assert!(sim.vehicle().speed > 0.9, "and the car drives again");
    }
}
