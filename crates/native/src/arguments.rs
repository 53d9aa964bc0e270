//! Reads the settings of a batch from a Python dictionary.

use crate::worlds;
use chicane_builder::RandomTrackOptions;
use chicane_gym::{Courses, Observed, RandomTracks, Settings, VaryChoice};
use chicane_vary::Vary;
use chicane_world::Profile;
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Arc;

/// The settings of a batch.
pub(crate) struct Arguments {
    pub(crate) courses: Courses,
    pub(crate) profile: Arc<Profile>,
    pub(crate) settings: Settings,
}

/// A dictionary whose entries are taken one after another. An entry that remains at the end is an
/// unknown argument.
struct Entries<'py>(Bound<'py, PyDict>);

impl<'py> Entries<'py> {
    /// Takes an entry. Returns `None` if the entry is missing or is Python's None.
    fn take<T>(&self, name: &str) -> PyResult<Option<T>>
    where
        T: for<'a> FromPyObject<'a, 'py>,
    {
        let Some(value) = self.0.get_item(name)? else { return Ok(None) };
        self.0.del_item(name)?;
        if value.is_none() {
            return Ok(None);
        }
        value.extract::<T>().map(Some).map_err(|error| {
            let error: PyErr = error.into();
            if error.is_instance_of::<PyOverflowError>(value.py()) {
                return PyValueError::new_err(format!("{name} is out of range: {value:?}"));
            }
            PyTypeError::new_err(format!("{name} has a wrong type: {value:?}"))
        })
    }

    fn set<T>(&self, name: &str, to: &mut T) -> PyResult<()>
    where
        T: for<'a> FromPyObject<'a, 'py>,
    {
        if let Some(value) = self.take(name)? {
            *to = value;
        }
        Ok(())
    }
}

impl Arguments {
    pub(crate) fn read(given: &Bound<'_, PyDict>) -> PyResult<Arguments> {
        let entries = Entries(given.copy()?);
        let robot: Option<String> = entries.take("robot")?;
        let robot = robot.as_deref().unwrap_or(Profile::DEFAULT_GENERATION);
        let profile = worlds::robot(robot).map_err(PyValueError::new_err)?;
        let mut settings = Settings { observed: observed(&entries)?, ..Settings::default() };
        entries.set("obstacles", &mut settings.obstacles)?;
        entries.set("step_s", &mut settings.step_s)?;
        entries.set("time_limit_s", &mut settings.time_limit_s)?;
        entries.set("laps", &mut settings.laps)?;
        entries.set("max_speed", &mut settings.max_speed)?;
        entries.set("random_start", &mut settings.random_start)?;
        entries.set("grey", &mut settings.grey)?;
        entries.set("frame_stack", &mut settings.frame_stack)?;
        entries.set("normalised_actions", &mut settings.normalised)?;
        entries.set("autoreset", &mut settings.autoreset)?;
        entries.set("rendered", &mut settings.rendered)?;
        settings.beams = entries.take("beams")?;
        if let Some((width, height)) = entries.take("camera_size")? {
            settings.camera_size = [width, height];
        }
        settings.vary = vary(&entries)?;
        let courses = courses(&entries)?;
        if let Some(name) = entries.0.keys().iter().next() {
            return Err(PyTypeError::new_err(format!("unknown argument '{name}'")));
        }
        Ok(Arguments { courses, profile: Arc::new(profile), settings })
    }
}

fn observed(entries: &Entries<'_>) -> PyResult<Observed> {
    let kinds: Vec<String> = entries.take("observation")?.unwrap_or_else(|| vec!["state".to_owned()]);
    let wrong = kinds.iter().find(|kind| !["state", "lidar", "camera"].contains(&kind.as_str()));
    if let Some(kind) = wrong {
        let text = format!("observation must be one or more of state, lidar, camera, not '{kind}'");
        return Err(PyValueError::new_err(text));
    }
    let has = |name: &str| kinds.iter().any(|kind| kind == name);
    Ok(Observed { state: has("state"), lidar: has("lidar"), camera: has("camera") })
}

/// What a seed changes: a document as JSON text, or the text "own", which stands for the document
/// in the evaluation of the world.
fn vary(entries: &Entries<'_>) -> PyResult<VaryChoice> {
    let text: Option<String> = entries.take("vary")?;
    Ok(match text.as_deref() {
        None => VaryChoice::Nothing,
        Some("own") => VaryChoice::Own,
        Some(text) => {
            let vary = Vary::parse_json(text).map_err(|error| PyValueError::new_err(error.to_string()))?;
            VaryChoice::Document(Box::new(vary))
        }
    })
}

fn courses(entries: &Entries<'_>) -> PyResult<Courses> {
    let names: Option<Vec<String>> = entries.take("worlds")?;
    let count: usize = entries.take("random_tracks")?.unwrap_or_default();
    let mut options = RandomTrackOptions::default();
    if let Some((width, height)) = entries.take("track_field")? {
        options.field = [width, height];
    }
    entries.set("track_width", &mut options.width)?;
    entries.set("track_tightness", &mut options.tightness)?;
    if count > 0 {
        return Ok(Courses::Random(RandomTracks { count, options }));
    }
    let names = names.unwrap_or_else(|| vec!["oval".to_owned()]);
    let worlds = names.iter().map(|name| worlds::load(name)).collect::<Result<Vec<_>, _>>();
    Ok(Courses::Worlds(worlds.map_err(PyValueError::new_err)?))
}
