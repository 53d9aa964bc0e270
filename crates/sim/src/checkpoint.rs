//! Checkpoints: a simulation goes back to an earlier state of its own, with another seed.
//!
//! A training environment starts thousands of episodes from the same state. [`Sim::new`] would build
//! the engine each time, and [`Sim::restore`] would decode it. [`Sim::rewind`] copies the state. If
//! the engine did not step since the checkpoint, only the car has moved, and only the car is copied.

use crate::physics::Solver;
use crate::sim::Sim;
use crate::state::State;
use std::sync::Arc;

/// A state to which [`Sim::rewind`] goes back.
pub struct Checkpoint {
    state: State,
    /// Identifies the engine of this state. `None` if the next change of the car would also change
    /// the engine's lists of changed bodies, so that the whole engine has to be copied.
    engine: Option<EngineMark>,
}

/// Identifies the content of an engine, except the body of the car. Two marks are equal if they are
/// the same allocation.
pub(crate) type EngineMark = Arc<()>;

impl Sim {
    /// The current state, to go back to it.
    pub fn checkpoint(&mut self) -> Checkpoint {
        // After a tick of the isolated car, the car is in the engine's lists of changed bodies.
        let engine = self.moved_alone.then(|| Arc::clone(self.engine_mark.get_or_insert_default()));
        Checkpoint { state: self.state.clone(), engine }
    }

    /// Goes back to a checkpoint of a simulation of the same world, profile and overlay, and goes on
    /// with this seed. A scan of the current tick is measured again, so that it has the noise of the
    /// seed. An older scan, and the last sample of the IMU, stay as they were.
    pub fn rewind(&mut self, to: &Checkpoint, seed: u64) {
        let same_engine = match (&self.engine_mark, &to.engine) {
            (Some(own), Some(mark)) => Arc::ptr_eq(own, mark),
            _ => false,
        };
        if same_engine {
            self.state.copy_all_but_engine(&to.state);
            self.state.engine.copy_car(&to.state.engine);
        } else {
            self.state = to.state.clone();
            // The solver is replaced, because the old solver caches data about the replaced bodies.
            self.solver = Solver::new(self.world.gravity);
            self.engine_mark.clone_from(&to.engine);
        }
        self.moved_alone = to.engine.is_some();
        self.set_seed(seed);
        self.clear_events();
        self.sense_scan();
    }
}

impl State {
    /// Copies everything but the engine, without an allocation. Both states are of the same world.
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
        // 0.3 s without contact, then 3 s with a collision.
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
        // The box falls asleep in these 4 s. After that, only the car moves.
        (0..800).for_each(|_| drop(one.step(Drive::default())));
        let start = one.checkpoint();
        drive(&mut one, 60);
        assert!(one.engine_mark.is_some(), "the car was alone");
        one.rewind(&start, 7);
        let mut other = sim(7);
        other.rewind(&start, 7);
        assert_eq!(one.digests(), other.digests());
        assert_eq!(future(&mut one, 700), future(&mut other, 700));
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
        assert!(sim.engine_mark.is_none());
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
