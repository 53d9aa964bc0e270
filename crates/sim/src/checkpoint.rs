//! Checkpoints: a simulation takes over a saved state of a simulation of the same world, profile
//! and overlay, and continues with another seed.
//!
//! A training environment starts thousands of episodes from the same state. [`Sim::new`] would
//! build the engine each time, and [`Sim::restore`] would decode it. [`Sim::rewind`] is faster,
//! because it only copies the state. An isolated car (see `physics/isolated.rs`) moves without a
//! step of the engine. If the engine has neither stepped nor been changed by a command since the
//! checkpoint, only the car can therefore have moved. In this case `rewind` copies at most the
//! bodies, and not the rest of the engine. A reset goes back to the initial engine in the same way.

use crate::physics::{Engine, Solver};
use crate::sim::Sim;
use crate::state::State;
use std::sync::Arc;

/// A state to which [`Sim::rewind`] goes back.
pub struct Checkpoint {
    state: State,
    version: EngineVersion,
}

/// Identifies the content of an engine.
#[derive(Debug, Clone, Default)]
pub(crate) struct EngineVersion {
    /// Identifies the content of the engine, except the body of the car and the lists of changed
    /// bodies. Two engines whose `id` is the same allocation have the same content. `None` if the
    /// engine was not copied since its last change. A sub-step of the isolated car does not count
    /// as a change.
    id: Option<Arc<()>>,
    /// Whether the isolated car moved after the last step of the engine. The car is then in the
    /// engine's lists of changed bodies.
    moved_alone: bool,
}

impl EngineVersion {
    /// Records a sub-step of the isolated car.
    pub(crate) fn move_alone(&mut self) {
        self.moved_alone = true;
    }

    /// Returns the version for a copy of the engine. Engine and copy have the same id until the
    /// engine changes.
    pub(crate) fn of_copy(&mut self) -> EngineVersion {
        self.id.get_or_insert_default();
        self.clone()
    }

    fn has_same_id(&self, other: &EngineVersion) -> bool {
        match (&self.id, &other.id) {
            (Some(own), Some(other)) => Arc::ptr_eq(own, other),
            _ => false,
        }
    }
}

impl Sim {
    /// Copies the current state, so that [`Sim::rewind`] can go back to it.
    pub fn checkpoint(&mut self) -> Checkpoint {
        Checkpoint { state: self.state.clone(), version: self.engine_version.of_copy() }
    }

    /// Goes back to a checkpoint of a simulation of the same world, profile and overlay, and
    /// continues with this seed. If a scan is due in the checkpoint's tick and the lidar is on, the
    /// lidar measures this scan again with the noise of the new seed. An older scan and the last
    /// IMU sample stay as they are in the checkpoint.
    pub fn rewind(&mut self, to: &Checkpoint, seed: u64) {
        self.state.copy_all_but_engine(&to.state);
        self.restore_engine(&to.state.engine, &to.version);
        self.set_seed(seed);
        self.clear_events();
        self.sense_scan();
    }

    /// Goes back to an earlier engine of the same world. Copies as little as possible.
    pub(crate) fn restore_engine(&mut self, from: &Engine, version: &EngineVersion) {
        if self.engine_version.has_same_id(version) {
            match (self.engine_version.moved_alone, version.moved_alone) {
                (false, false) => {}
                (true, true) => self.state.engine.copy_car(from),
                // Only one of the two engines lists the car as a changed body, so the lists of
                // changed bodies have to be copied with the bodies.
                (true, false) | (false, true) => self.state.engine.copy_bodies(from),
            }
        } else {
            self.state.engine = from.clone();
            // The solver is replaced, because the old solver caches data about the replaced bodies.
            self.solver = Solver::new(self.world.gravity);
        }
        self.engine_version.clone_from(version);
    }
}

impl State {
    /// Copies everything but the engine. Allocates memory only for the path of a motion and for the
    /// state of an overlay. Both states are of the same world.
    fn copy_all_but_engine(&mut self, from: &State) {
        self.tick = from.tick;
        self.car.clone_from(&from.car);
        self.lamps.clone_from(&from.lamps);
        self.car_motion.clone_from(&from.car_motion);
        self.motions.clone_from(&from.motions);
        self.touched.clone_from(&from.touched);
        self.last_contact.clone_from(&from.last_contact);
        self.imu.clone_from(&from.imu);
        self.scan.sample = from.scan.sample;
        self.scan.ranges.clone_from(&from.scan.ranges);
        self.imu_sample = from.imu_sample;
        self.varied.clone_from(&from.varied);
    }
}

#[cfg(test)]
mod tests {
    use crate::{Command, Drive, How, Sim, Who};
    use chicane_testkit::Yard;
    use chicane_world::Profile;
    use std::sync::Arc;

    fn sim(seed: u64) -> Sim {
        let world = Yard::new().block("box1", [2.0, 0.0, 0.1], [0.2; 3], 0.5).build();
        Sim::new(world, Arc::new(Profile::gen1()), seed)
    }

    fn drive(sim: &mut Sim, ticks: u64) {
        for _ in 0..ticks {
            sim.step(Drive { speed: 1.0, ..Drive::default() });
        }
    }

    /// Hashes of the whole state after `ticks` more ticks.
    fn future(sim: &mut Sim, ticks: u64) -> String {
        drive(sim, ticks);
        format!("{:?}", sim.digests())
    }

    #[test]
    fn a_rewound_simulation_continues_like_the_first_time() {
        let mut sim = sim(7);
        drive(&mut sim, 20);
        let start = sim.checkpoint();
        // The run of 60 ticks (0.3 s) has no contact. The run of 600 ticks (3 s) has a collision.
        for ticks in [60, 600] {
            let first = future(&mut sim, ticks);
            sim.rewind(&start, 7);
            assert_eq!(future(&mut sim, ticks), first);
            sim.rewind(&start, 7);
        }
    }

    #[test]
    fn a_quiet_rewind_gives_the_same_bytes_as_a_copy_of_the_engine() {
        let mut one = sim(7);
        // The box sleeps from the start, because it stands alone on the ground. Therefore only the
        // car moves in these 4 s, and in the 60 ticks after the checkpoint.
        for _ in 0..800 {
            one.step(Drive::default());
        }
        let start = one.checkpoint();
        drive(&mut one, 60);
        assert!(one.engine_version.has_same_id(&start.version), "the car was alone");
        one.rewind(&start, 7);
        let mut other = sim(7);
        other.rewind(&start, 7);
        assert_eq!(one.digests(), other.digests());
        assert_eq!(future(&mut one, 700), future(&mut other, 700));
    }

    #[test]
    fn a_start_without_a_tick_gives_the_same_bytes_as_a_copy_of_the_engine() {
        // The world has nothing but a wall, so the car is alone from the first tick on.
        let world = Yard::new().wall("wall1", [5.0, 0.0], 0.0, 1.0, 0.1, 0.3).build();
        let new = || Sim::new(Arc::clone(&world), Arc::new(Profile::gen1()), 7);
        let mut one = new();
        let start = one.checkpoint();
        let first = one.digests();
        one.rewind(&start, 7);
        assert_eq!(one.digests(), first, "nothing happened in between");
        drive(&mut one, 60);
        assert!(one.engine_version.has_same_id(&start.version), "the car was alone");
        let moving = one.checkpoint();
        one.rewind(&start, 7);
        assert_eq!(one.digests(), first);
        one.rewind(&moving, 7);
        let mut other = new();
        other.rewind(&moving, 7);
        assert_eq!(one.digests(), other.digests());
        assert_eq!(future(&mut one, 700), future(&mut other, 700));
    }

    #[test]
    fn a_reset_gives_the_same_bytes_with_and_without_a_copy_of_the_engine() {
        let mut one = sim(7);
        let reset = |sim: &mut Sim| drop(sim.apply(Command::Reset).expect("never refused"));
        reset(&mut one);
        let mut other = sim(7);
        // Because an object was placed, the next reset copies the whole initial engine.
        let who = Who::Object("box1".to_owned());
        let place = Command::Place { who, x: Some(3.0), y: None, z: None, yaw: None, how: How::AtOnce };
        other.apply(place).expect("the box is movable");
        reset(&mut other);
        assert_eq!(one.digests(), other.digests());
        for _ in 0..2 {
            assert_eq!(future(&mut one, 600), future(&mut other, 600));
            reset(&mut one);
            reset(&mut other);
            reset(&mut one);
        }
    }

    #[test]
    fn a_command_or_a_collision_copies_the_whole_engine() {
        let mut sim = sim(7);
        drive(&mut sim, 20);
        let start = sim.checkpoint();
        let first = sim.digests();
        let who = Who::Object("box1".to_owned());
        let place = Command::Place { who, x: Some(3.0), y: None, z: None, yaw: None, how: How::AtOnce };
        sim.apply(place).expect("the box is movable");
        assert!(!sim.engine_version.has_same_id(&start.version));
        sim.rewind(&start, 7);
        assert_eq!(sim.digests(), first);
    }

    #[test]
    fn another_seed_gives_the_noise_of_that_seed() {
        let (mut rewound, mut fresh) = (sim(7), sim(8));
        drive(&mut rewound, 20);
        drive(&mut fresh, 20);
        let start = rewound.checkpoint();
        rewound.rewind(&start, 8);
        assert_eq!(rewound.last_readings().0, fresh.last_readings().0, "a scan is due at tick 20");
        drive(&mut rewound, 20);
        drive(&mut fresh, 20);
        assert_eq!(rewound.digests(), fresh.digests());
    }
}
