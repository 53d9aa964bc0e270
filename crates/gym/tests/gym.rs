//! Tests of batches: any number of threads, prepared starts, saves, random tracks, wrong input.

use chicane_gym::{
    Arrays, Batch, Courses, Generator, GymError, Numbers, Observed, RandomTracks, Settings, VaryChoice, View,
};
use chicane_testkit::shipped_world;
use chicane_vary::Vary;
use chicane_world::Profile;
use std::sync::Arc;

fn worlds(names: &[&str]) -> Courses {
    Courses::Worlds(names.iter().map(|name| Arc::new(shipped_world(name))).collect())
}

fn lidar() -> Settings {
    Settings { observed: Observed { state: true, lidar: true, camera: false }, ..Settings::default() }
}

/// A batch with its arrays.
struct Running {
    batch: Batch,
    state: Vec<f32>,
    lidar: Vec<f32>,
    camera: Vec<u8>,
    numbers: Vec<f64>,
}

impl Running {
    fn new(count: usize, threads: usize, courses: Courses, settings: Settings) -> Running {
        let profile = Arc::new(Profile::gen1());
        let mut batch = Batch::new(count, threads, courses, profile, settings).expect("a batch");
        for car in 0..count {
            let generator = Generator { state: 1000 + car as u128, increment: 2 * car as u128 + 1 };
            batch.seed(car, generator).expect("a car");
        }
        let shapes = batch.shapes();
        let room = |one: usize| count * shapes.stack * one;
        Running {
            state: vec![0.0; room(shapes.state)],
            lidar: vec![0.0; room(shapes.lidar)],
            camera: vec![0; room(shapes.picture())],
            numbers: vec![0.0; count * Numbers::COUNT],
            batch,
        }
    }

    fn call(&mut self, work: impl FnOnce(&mut Batch, &mut Arrays<'_>) -> Result<(), GymError>) -> Vec<u64> {
        let Running { batch, state, lidar, camera, numbers } = self;
        work(batch, &mut Arrays { state, lidar, camera, numbers }).expect("valid input");
        let floats = self.state.iter().chain(&self.lidar).map(|v| u64::from(v.to_bits()));
        let bytes = self.camera.iter().map(|v| u64::from(*v));
        floats.chain(bytes).chain(self.numbers.iter().map(|v| v.to_bits())).collect()
    }

    fn reset(&mut self, start: Option<f64>) -> Vec<u64> {
        self.call(|batch, arrays| batch.reset(start, arrays))
    }

    /// Steps with actions that depend on the number of the step and on the car, so that some cars
    /// leave the road.
    fn step(&mut self, step: usize) -> Vec<u64> {
        let turn = |i: usize| 0.3 * (((7 * step + 13 * i) % 11) as f32 / 5.0 - 1.0);
        let actions: Vec<f32> = (0..self.batch.count()).flat_map(|i| [1.2, turn(i)]).collect();
        self.call(|batch, arrays| batch.step(&actions, arrays))
    }

    fn number(&self, number: usize, car: usize) -> f64 {
        self.numbers[number * self.batch.count() + car]
    }
}

#[test]
fn the_number_of_threads_does_not_change_a_byte() {
    let settings = || Settings {
        observed: Observed { state: true, lidar: true, camera: true },
        obstacles: true,
        camera_size: [32, 24],
        ..Settings::default()
    };
    let story = |threads: usize| {
        let mut running = Running::new(5, threads, worlds(&["slalom"]), settings());
        let mut seen = vec![running.reset(None)];
        seen.extend((0..60).map(|step| running.step(step)));
        seen
    };
    let one = story(1);
    assert!(one == story(2) && one == story(4));
    assert_ne!(one[0], one[60]);
}

#[test]
fn the_step_after_an_end_resets_only_that_car() {
    let mut running = Running::new(2, 1, worlds(&["oval"]), Settings::default());
    running.reset(None);
    let actions = [1.5, 0.34, 0.2, 0.0];
    for _ in 0..200 {
        running.call(|batch, arrays| batch.step(&actions, arrays));
        if running.number(Numbers::TERMINATED, 0) == 1.0 {
            break;
        }
    }
    assert_eq!(Numbers::ENDS[running.number(Numbers::ENDED, 0) as usize], "off_track");
    let time = running.number(Numbers::TIME, 1);
    running.call(|batch, arrays| batch.step(&[f32::NAN, 0.0, 0.2, 0.0], arrays));
    assert_eq!(running.number(Numbers::TIME, 0), 0.0, "the action of an ended car is ignored");
    assert_eq!((running.number(Numbers::REWARD, 0), running.number(Numbers::ENDED, 0)), (0.0, 0.0));
    assert!((running.number(Numbers::TIME, 1) - time - 0.1).abs() < 1e-9);
}

#[test]
fn a_prepared_start_is_the_same_as_a_simulated_one() {
    let settings = || Settings { random_start: false, ..lidar() };
    let mut prepared = Running::new(2, 1, worlds(&["oval"]), settings());
    let mut simulated = Running::new(2, 1, worlds(&["oval"]), settings());
    for episode in 0..4 {
        assert!(prepared.reset(None) == simulated.reset(Some(0.0)), "episode {episode}");
        for step in 0..25 {
            assert!(prepared.step(step) == simulated.step(step), "episode {episode}, step {step}");
        }
    }
}

#[test]
fn a_restored_car_continues_like_the_first_time() {
    let vary = Vary::parse_json(r#"{"friction": [0.7, 1.1], "objects": {"scatter": [2, 4]}}"#);
    let random = RandomTracks { count: 3, options: Default::default() };
    let stacked = Settings { frame_stack: 3, ..lidar() };
    let varied = Settings { vary: VaryChoice::Document(Box::new(vary.expect("a document"))), ..lidar() };
    for (courses, settings) in [
        (worlds(&["oval", "technical"]), stacked),
        (worlds(&["oval"]), varied),
        (Courses::Random(random), Settings::default()),
    ] {
        let mut running = Running::new(2, 1, courses, settings);
        running.reset(None);
        (0..12).for_each(|step| drop(running.step(step)));
        let saved: Vec<Vec<u8>> = (0..2).map(|car| running.batch.save(car).expect("a save")).collect();
        let future = |running: &mut Running| -> Vec<_> { (12..60).map(|s| running.step(s)).collect() };
        let first = future(&mut running);
        for (car, bytes) in saved.iter().enumerate() {
            running.batch.restore(car, bytes).expect("bytes of the same environment");
        }
        assert!(future(&mut running) == first);
        let mut damaged = saved[0].clone();
        damaged[100] ^= 1;
        assert_eq!(running.batch.restore(0, &damaged), Err(GymError::Damaged));
        assert_eq!(running.batch.restore(0, b"chicaneE"), Err(GymError::NotASave));
    }
    let mut other = Running::new(1, 1, worlds(&["oval"]), lidar());
    other.reset(None);
    let bytes = other.batch.save(0).expect("a save");
    let mut running = Running::new(1, 1, worlds(&["technical"]), lidar());
    assert_eq!(running.batch.restore(0, &bytes), Err(GymError::OtherSettings));
}

#[test]
fn every_episode_draws_a_random_track() {
    let random = RandomTracks { count: 50, options: Default::default() };
    let mut running = Running::new(1, 1, Courses::Random(random), Settings::default());
    let lengths: Vec<u64> = (0..6)
        .map(|_| {
            running.reset(None);
            let points = running.batch.details(0).expect("a car").waypoints;
            points.iter().flatten().map(|v| v.to_bits()).fold(0, |sum, bits| sum ^ bits.rotate_left(7))
        })
        .collect();
    let mut different = lengths.clone();
    different.sort_unstable();
    different.dedup();
    assert!(different.len() >= 4, "{lengths:?}");
}

#[test]
fn both_views_show_the_world() {
    let settings = Settings { rendered: true, ..Settings::default() };
    let mut running = Running::new(1, 2, worlds(&["oval"]), settings);
    running.reset(None);
    for view in [View::OnBoard, View::Chase] {
        let picture = running.batch.draw(0, view, [64, 48]).expect("a picture");
        let different: std::collections::BTreeSet<&[u8]> = picture.bytes.chunks(3).collect();
        assert!(picture.bytes.len() == 64 * 48 * 3 && different.len() > 20, "{view:?}");
    }
    let plain = Running::new(1, 1, worlds(&["oval"]), Settings::default());
    assert_eq!(plain.batch.draw(0, View::Chase, [64, 48]), Err(GymError::NoPicture));
}

#[test]
fn wrong_input_is_an_error_and_changes_nothing() {
    let profile = || Arc::new(Profile::gen1());
    let refused = |settings: Settings| {
        Batch::new(1, 1, worlds(&["oval"]), profile(), settings).err().map(|error| error.to_string())
    };
    let beams = refused(Settings { beams: Some(7), ..lidar() });
    assert_eq!(beams.as_deref(), Some("beams must divide 720, the number of the lidar's beams; 7 does not"));
    for settings in [
        Settings { step_s: f64::NAN, ..lidar() },
        Settings { laps: 0.0, ..lidar() },
        Settings { camera_size: [8, 8], ..lidar() },
        Settings { frame_stack: 0, ..lidar() },
        Settings { observed: Observed { state: false, lidar: false, camera: false }, ..lidar() },
    ] {
        assert!(refused(settings.clone()).is_some(), "{settings:?}");
    }
    let mut running = Running::new(2, 1, worlds(&["oval"]), Settings::default());
    let mut numbers = vec![0.0; 2 * Numbers::COUNT];
    let mut short = vec![0.0; 3];
    let mut arrays = Arrays { state: &mut short, numbers: &mut numbers, ..Arrays::default() };
    let wrong = GymError::Length { name: "state", expected: 18, given: 3 };
    assert_eq!(running.batch.reset(None, &mut arrays), Err(wrong));
    assert_eq!(running.batch.reset(Some(f64::NAN), &mut arrays), Err(GymError::Start));
    assert_eq!(running.batch.step(&[0.0; 4], &mut arrays), Err(GymError::NotReset { car: 0 }));
    running.reset(None);
    let before = running.batch.save(1).expect("a save");
    let Running { batch, state, numbers, .. } = &mut running;
    let mut arrays = Arrays { state, numbers, ..Arrays::default() };
    assert_eq!(batch.step(&[0.0, 0.0, f32::INFINITY, 0.0], &mut arrays), Err(GymError::Action { car: 1 }));
    assert!(matches!(batch.step(&[0.0; 3], &mut arrays), Err(GymError::Length { name: "actions", .. })));
    assert!(batch.save(1).expect("a save") == before);
    assert_eq!(batch.details(2), Err(GymError::NoSuchCar { car: 2, count: 2 }));
}

#[test]
fn a_reset_without_a_seed_asked_for_a_reset() {
    let profile = Arc::new(Profile::gen1());
    let mut batch = Batch::new(1, 1, worlds(&["oval"]), profile, Settings::default()).expect("a batch");
    let (mut state, mut numbers) = ([0.0; 9], [0.0; Numbers::COUNT]);
    let mut arrays = Arrays { state: &mut state, numbers: &mut numbers, ..Arrays::default() };
    assert_eq!(batch.reset(None, &mut arrays), Err(GymError::NotSeeded { car: 0 }));
}
