//! The class `Batch`.

use crate::arguments::Arguments;
use crate::memory::{self, Outputs};
use chicane_gym::{Generator, GymError, View};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::sync::{Mutex, TryLockError};

/// A batch of training environments. `chicane.gym` has the environments for users.
#[pyclass(frozen, module = "chicane.native")]
pub(crate) struct Batch(Mutex<Option<chicane_gym::Batch>>);

/// An object: name, kind, pose (x, y and z in m, yaw in rad), size in m, whether the object is
/// static (physics never moves it), whether a client may move it.
type Thing = (String, &'static str, [f64; 4], [f64; 3], bool, bool);
/// Objects, names of touched objects, lights with their colours, points of the centre line in m.
type Details = (Vec<Thing>, Vec<String>, Vec<(String, &'static str)>, Vec<[f64; 2]>);

fn to_python(error: GymError) -> PyErr {
    match error {
        GymError::NotReset { .. }
        | GymError::NotSeeded { .. }
        | GymError::Forked
        | GymError::Pool(_)
        | GymError::NoPicture => PyRuntimeError::new_err(error.to_string()),
        _ => PyValueError::new_err(error.to_string()),
    }
}

impl Batch {
    /// Releases the interpreter while `work` runs. Fails if another thread uses the batch, if the
    /// batch is closed, or if an earlier call panicked.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut chicane_gym::Batch) -> Result<T, GymError> + Send,
    ) -> PyResult<T> {
        let done = py.detach(|| match self.0.try_lock() {
            Ok(mut batch) => match batch.as_mut() {
                Some(batch) => Ok(work(batch)),
                None => Err("this environment is closed: create another one"),
            },
            Err(TryLockError::WouldBlock) => {
                Err("another thread uses this environment: give each thread an environment of its own")
            }
            Err(TryLockError::Poisoned(_)) => Err("this environment failed before: create another one"),
        });
        done.map_err(PyRuntimeError::new_err)?.map_err(to_python)
    }
}

#[pymethods]
impl Batch {
    /// Creates `num_envs` environments on `threads` threads.
    #[new]
    #[pyo3(signature = (num_envs, threads, **settings))]
    fn new(
        py: Python<'_>,
        num_envs: usize,
        threads: usize,
        settings: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Batch> {
        let Arguments { courses, profile, settings } = match settings {
            Some(settings) => Arguments::read(settings)?,
            None => Arguments::read(&PyDict::new(py))?,
        };
        let made = py.detach(|| chicane_gym::Batch::new(num_envs, threads, courses, profile, settings));
        Ok(Batch(Mutex::new(Some(made.map_err(to_python)?))))
    }

    /// Shapes of the observations and limits of the car, by name.
    fn about<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (shapes, limits, beams, range, camera) = self.with(py, |batch| {
            let profile = batch.profile();
            let camera = [profile.camera.width_px, profile.camera.height_px];
            let limits = batch.settings().action_limits(profile);
            Ok((batch.shapes(), limits, profile.lidar.beams, profile.lidar.range_max_m, camera))
        })?;
        let about = PyDict::new(py);
        about.set_item("state", shapes.state)?;
        about.set_item("lidar", shapes.lidar)?;
        about.set_item("camera", shapes.camera)?;
        about.set_item("max_speed", limits[0])?;
        about.set_item("max_steering", limits[1])?;
        about.set_item("beams", beams)?;
        about.set_item("range_max", chicane_gym::track::rounded(range))?;
        about.set_item("picture", camera)?;
        Ok(about)
    }

    /// Sets the random generator of one environment: state and increment of a PCG64, 16 bytes each,
    /// little endian.
    fn seed(&self, py: Python<'_>, car: usize, generator: &[u8]) -> PyResult<()> {
        let wrong = || PyValueError::new_err("a generator must be 32 bytes: state and increment");
        let (state, increment) = generator.split_at_checked(16).ok_or_else(wrong)?;
        let number = |bytes: &[u8]| bytes.try_into().map(u128::from_le_bytes).map_err(|_| wrong());
        let generator = Generator { state: number(state)?, increment: number(increment)? };
        self.with(py, |batch| batch.seed(car, generator))
    }

    /// The random generator of one environment, in the form that `seed` takes; None before it was
    /// set.
    fn generator<'py>(&self, py: Python<'py>, car: usize) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let generator = self.with(py, |batch| batch.generator(car))?;
        Ok(generator.map(|generator| {
            let bytes = [generator.state.to_le_bytes(), generator.increment.to_le_bytes()].concat();
            PyBytes::new(py, &bytes)
        }))
    }

    /// Starts new episodes, and fills the arrays. `start` is the start position of the cars, in
    /// laps from the first waypoint. None leaves the start position to the settings.
    fn reset(
        &self,
        py: Python<'_>,
        start: Option<f64>,
        state: Option<&Bound<'_, PyAny>>,
        lidar: Option<&Bound<'_, PyAny>>,
        camera: Option<&Bound<'_, PyAny>>,
        numbers: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let mut outputs = Outputs::new([state, lidar, camera, numbers])?;
        let mut arrays = outputs.arrays();
        self.with(py, |batch| batch.reset(start, &mut arrays))
    }

    /// Steps all environments with an array of actions, and fills the arrays.
    fn step(
        &self,
        py: Python<'_>,
        actions: &Bound<'_, PyAny>,
        state: Option<&Bound<'_, PyAny>>,
        lidar: Option<&Bound<'_, PyAny>>,
        camera: Option<&Bound<'_, PyAny>>,
        numbers: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let actions = memory::copied::<f32>(actions, "actions")?;
        let mut outputs = Outputs::new([state, lidar, camera, numbers])?;
        let mut arrays = outputs.arrays();
        self.with(py, |batch| batch.step(&actions, &mut arrays))
    }

    /// Fills the arrays with the current observations.
    fn observe(
        &self,
        py: Python<'_>,
        state: Option<&Bound<'_, PyAny>>,
        lidar: Option<&Bound<'_, PyAny>>,
        camera: Option<&Bound<'_, PyAny>>,
        numbers: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let mut outputs = Outputs::new([state, lidar, camera, numbers])?;
        let mut arrays = outputs.arrays();
        self.with(py, |batch| batch.observe(&mut arrays))
    }

    /// Objects, contacts, lights and waypoints of one environment.
    fn details(&self, py: Python<'_>, car: usize) -> PyResult<Details> {
        let details = self.with(py, |batch| batch.details(car))?;
        let things = details.objects.into_iter();
        let things = things.map(|t| (t.name, t.kind, t.pose, t.size, t.is_static, t.movable));
        Ok((things.collect(), details.contacts, details.lights, details.waypoints))
    }

    /// Draws one environment into an array of height × width × 3 bytes. `view`: car or chase.
    fn draw(
        &self,
        py: Python<'_>,
        car: usize,
        view: &str,
        size: (usize, usize),
        picture: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let view = match view {
            "car" => View::OnBoard,
            "chase" => View::Chase,
            _ => return Err(PyValueError::new_err(format!("view must be car or chase, not '{view}'"))),
        };
        let (width, height) = size;
        if !(1..=1920).contains(&width) || !(1..=1080).contains(&height) {
            return Err(PyValueError::new_err("a picture must be from 1 by 1 to 1920 by 1080 pixels"));
        }
        let drawn = self.with(py, |batch| batch.draw(car, view, [width, height]))?;
        memory::fill(picture, "picture", &drawn.bytes)
    }

    /// Saves one environment.
    fn save<'py>(&self, py: Python<'py>, car: usize) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.with(py, |batch| batch.save(car))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Restores one environment from the bytes of `save`.
    fn restore(&self, py: Python<'_>, car: usize, bytes: &[u8]) -> PyResult<()> {
        self.with(py, |batch| batch.restore(car, bytes))
    }

    /// Frees the environments. Further calls raise an exception. Raises `RuntimeError` while another
    /// thread uses the environments.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        // The call does not wait for the lock. In a forked process, the thread that holds the lock
        // may not exist, so the lock would never be released.
        let is_closed = py.detach(|| match self.0.try_lock() {
            Ok(mut batch) => {
                *batch = None;
                true
            }
            Err(TryLockError::Poisoned(batch)) => {
                *batch.into_inner() = None;
                true
            }
            Err(TryLockError::WouldBlock) => false,
        });
        if is_closed {
            return Ok(());
        }
        Err(PyRuntimeError::new_err("another thread uses this environment: close it after the call"))
    }
}
