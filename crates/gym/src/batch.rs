//! A batch of environments on a pool of threads.

use crate::car::Car;
use crate::course::{Courses, Plan};
use crate::details::Details;
use crate::error::GymError;
use crate::generator::Generator;
use crate::numbers::Numbers;
use crate::observe::{Row, Shapes};
use crate::picture::{Renderers, View};
use crate::settings::Settings;
use chicane_render::Rgb;
use chicane_world::Profile;
use rayon::prelude::*;
use std::sync::Arc;

/// Largest number of environments in a batch.
const MAX_CARS: usize = 65_536;
/// Largest number of threads of a batch.
const MAX_THREADS: usize = 1024;

/// The arrays that [`Batch::reset`], [`Batch::step`] and [`Batch::observe`] fill. An array of
/// observations has one part per environment, in the order of the environments. The array of a kind
/// that is not observed is empty. `numbers` is ordered differently: number k of environment i is at
/// index k · (number of environments) + i.
#[derive(Default)]
pub struct Arrays<'a> {
    /// State vectors.
    pub state: &'a mut [f32],
    /// Ranges of the lidar, m.
    pub lidar: &'a mut [f32],
    /// Pictures, row by row.
    pub camera: &'a mut [u8],
    /// The numbers of [`Numbers`].
    pub numbers: &'a mut [f64],
}

/// A batch of environments.
pub struct Batch {
    plan: Arc<Plan>,
    cars: Vec<Car>,
    shapes: Shapes,
    renderers: Renderers,
    /// The threads, and the id of the process that started them. `None` if the caller's thread does
    /// the work.
    pool: Option<(rayon::ThreadPool, u32)>,
}

impl Batch {
    /// A batch of `count` environments on `threads` threads. The environments have no episode yet:
    /// call [`Batch::seed`] for each of them, and then [`Batch::reset`].
    pub fn new(
        count: usize,
        threads: usize,
        courses: Courses,
        profile: Arc<Profile>,
        settings: Settings,
    ) -> Result<Batch, GymError> {
        if !(1..=MAX_CARS).contains(&count) {
            return Err(GymError::Count { given: count, most: MAX_CARS });
        }
        if !(1..=MAX_THREADS).contains(&threads) {
            return Err(GymError::Threads { given: threads, most: MAX_THREADS });
        }
        let shapes = Shapes::new(&settings, &profile);
        let plan = Arc::new(Plan::new(courses, profile, settings)?);
        // The renderer uses the threads of the pool that it runs in. Without a pool, it would use
        // rayon's global pool, which belongs to the whole process. A batch with pictures therefore
        // has a pool even for one thread.
        let pool = if threads > 1 || plan.settings.keeps_exposures() {
            let threads = rayon::ThreadPoolBuilder::new().num_threads(threads);
            let pool = threads.build().map_err(|error| GymError::Pool(error.to_string()))?;
            Some((pool, std::process::id()))
        } else {
            None
        };
        let mut batch = Batch { plan, cars: Vec::new(), shapes, renderers: Renderers::default(), pool };
        let plan = Arc::clone(&batch.plan);
        let car = |index| Car::new(Arc::clone(&plan), index);
        batch.cars = match &batch.pool {
            Some((pool, _)) => pool.install(|| (0..count).into_par_iter().map(car).collect()),
            None => (0..count).map(car).collect(),
        };
        Ok(batch)
    }

    /// Numbers of elements of one observation.
    pub fn shapes(&self) -> Shapes {
        self.shapes
    }

    /// The settings.
    pub fn settings(&self) -> &Settings {
        &self.plan.settings
    }

    /// The profile of the cars.
    pub fn profile(&self) -> &Profile {
        &self.plan.profile
    }

    /// Number of environments.
    pub fn count(&self) -> usize {
        self.cars.len()
    }

    /// Sets the generator of one environment.
    pub fn seed(&mut self, car: usize, generator: Generator) -> Result<(), GymError> {
        self.car_mut(car)?.generator = Some(generator);
        Ok(())
    }

    /// The generator of one environment; `None` before it was set.
    pub fn generator(&self, car: usize) -> Result<Option<Generator>, GymError> {
        Ok(self.car(car)?.generator)
    }

    /// Starts a new episode in every environment. `start` is the start of the cars, in laps from
    /// the first waypoint. `None` leaves the start to the settings.
    pub fn reset(&mut self, start: Option<f64>, arrays: &mut Arrays<'_>) -> Result<(), GymError> {
        if start.is_some_and(|start| !start.is_finite()) {
            return Err(GymError::Start);
        }
        self.each(arrays, |car, row, renderers| {
            car.reset(start)?;
            car.observe(row, true, renderers)
        })
    }

    /// Steps every environment. `actions` has speed and steering of each environment, in m/s and
    /// rad, or from −1 to 1 with the setting `normalised`. With autoreset, an environment whose
    /// episode has ended starts a new episode, and its action is ignored.
    pub fn step(&mut self, actions: &[f32], arrays: &mut Arrays<'_>) -> Result<(), GymError> {
        let (given, count) = (actions.len(), self.cars.len());
        if given != 2 * count {
            return Err(GymError::Length { name: "actions", expected: 2 * count, given });
        }
        let (actions, _) = actions.as_chunks::<2>();
        let autoreset = self.plan.settings.autoreset;
        for (car, action) in self.cars.iter().zip(actions) {
            if car.episode.started == 0 {
                return Err(GymError::NotReset { car: car.index });
            }
            let is_ignored = autoreset && car.episode.ended;
            if !is_ignored && action.iter().any(|number| !number.is_finite()) {
                return Err(GymError::Action { car: car.index });
            }
        }
        self.each(arrays, |car, row, renderers| {
            let resets = autoreset && car.episode.ended;
            if resets {
                car.reset(None)?;
            } else {
                car.step(actions[car.index]);
            }
            car.observe(row, resets, renderers)
        })
    }

    /// Writes the observations and numbers of the current moment again.
    pub fn observe(&mut self, arrays: &mut Arrays<'_>) -> Result<(), GymError> {
        if let Some(car) = self.cars.iter().find(|car| car.episode.started == 0) {
            return Err(GymError::NotReset { car: car.index });
        }
        self.each(arrays, |car, row, renderers| car.observe_again(row, renderers))
    }

    /// Objects, contacts, lights and waypoints of one environment.
    pub fn details(&self, car: usize) -> Result<Details, GymError> {
        Ok(self.car(car)?.details())
    }

    /// Draws one environment. `size` is width and height in px.
    pub fn draw(&self, car: usize, view: View, size: [usize; 2]) -> Result<Rgb, GymError> {
        let car = self.car(car)?;
        if self.plan.settings.keeps_exposures() && car.episode.started == 0 {
            return Err(GymError::NotReset { car: car.index });
        }
        let draw = || car.draw(view, size, &self.renderers);
        match &self.pool {
            Some((pool, process)) => {
                check_process(*process)?;
                pool.install(draw)
            }
            None => draw(),
        }
    }

    /// Saves one environment as bytes.
    pub fn save(&self, car: usize) -> Result<Vec<u8>, GymError> {
        let saved = self.car(car)?;
        if saved.episode.started == 0 {
            return Err(GymError::NotReset { car });
        }
        saved.save()
    }

    /// Restores one environment from bytes of [`Batch::save`]. After an error, the environment may
    /// have no episode: call [`Batch::reset`].
    pub fn restore(&mut self, car: usize, bytes: &[u8]) -> Result<(), GymError> {
        self.car_mut(car)?.restore(bytes)
    }

    fn car(&self, car: usize) -> Result<&Car, GymError> {
        self.cars.get(car).ok_or(GymError::NoSuchCar { car, count: self.cars.len() })
    }

    fn car_mut(&mut self, car: usize) -> Result<&mut Car, GymError> {
        let count = self.cars.len();
        self.cars.get_mut(car).ok_or(GymError::NoSuchCar { car, count })
    }

    /// Calls `work` for every environment, then copies the numbers of all environments to the array
    /// `numbers`. If an environment fails, no numbers are copied, and the error of the first such
    /// environment is returned.
    fn each(
        &mut self,
        arrays: &mut Arrays<'_>,
        work: impl Fn(&mut Car, Row<'_>, &Renderers) -> Result<(), GymError> + Sync,
    ) -> Result<(), GymError> {
        let rows = self.rows(arrays)?;
        let renderers = &self.renderers;
        match &self.pool {
            Some((pool, process)) => {
                check_process(*process)?;
                let cars = self.cars.par_iter_mut();
                let work = |(car, row)| work(car, row, renderers);
                let done: Vec<Result<(), GymError>> = pool.install(|| cars.zip(rows).map(work).collect());
                done.into_iter().collect::<Result<(), GymError>>()?;
            }
            None => {
                for (car, row) in self.cars.iter_mut().zip(rows) {
                    work(car, row, renderers)?;
                }
            }
        }
        let count = self.cars.len();
        for (i, car) in self.cars.iter().enumerate() {
            for (k, number) in car.numbers.0.iter().enumerate() {
                arrays.numbers[k * count + i] = *number;
            }
        }
        Ok(())
    }

    /// Divides the arrays among the environments.
    fn rows<'a>(&self, arrays: &'a mut Arrays<'_>) -> Result<Vec<Row<'a>>, GymError> {
        let (count, shapes) = (self.cars.len(), self.shapes);
        let sizes = [shapes.state, shapes.lidar, shapes.picture()].map(|size| size * shapes.stack);
        let expect = |name, expected, given| {
            if expected == given { Ok(()) } else { Err(GymError::Length { name, expected, given }) }
        };
        expect("state", count * sizes[0], arrays.state.len())?;
        expect("lidar", count * sizes[1], arrays.lidar.len())?;
        expect("camera", count * sizes[2], arrays.camera.len())?;
        expect("numbers", count * Numbers::COUNT, arrays.numbers.len())?;
        let (mut state, mut lidar, mut camera) =
            (&mut *arrays.state, &mut *arrays.lidar, &mut *arrays.camera);
        let mut rows = Vec::with_capacity(count);
        for _ in 0..count {
            rows.push(Row {
                state: take(&mut state, sizes[0]),
                lidar: take(&mut lidar, sizes[1]),
                camera: take(&mut camera, sizes[2]),
            });
        }
        Ok(rows)
    }
}

/// Takes the first `size` elements of a slice.
fn take<'a, T>(rest: &mut &'a mut [T], size: usize) -> &'a mut [T] {
    let (first, after) = std::mem::take(rest).split_at_mut(size);
    *rest = after;
    first
}

/// Fails in a process that was forked after the threads were started. Threads do not survive a
/// fork, so a call in the new process would wait for them for ever.
fn check_process(of_pool: u32) -> Result<(), GymError> {
    if std::process::id() == of_pool { Ok(()) } else { Err(GymError::Forked) }
}
