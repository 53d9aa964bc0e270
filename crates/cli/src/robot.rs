//! The robot that `--robot` names: a built-in generation or a profile file.

use crate::args::RobotArgs;
use crate::file_error::FileError;
use chicane_world::Profile;
use std::io::ErrorKind;

/// Why there is no robot.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RobotError {
    #[error("Unknown robot \"{given}\". Give a profile file or one of: {}", generations())]
    Unknown { given: String },
    #[error(transparent)]
    Read(#[from] FileError),
    /// The profile file is invalid.
    #[error(transparent)]
    Profile(#[from] chicane_world::Error),
}

fn generations() -> String {
    let names: Vec<&str> = Profile::GENERATIONS.iter().map(|generation| generation.name).collect();
    names.join(", ")
}

/// Loads the profile of a robot. If a generation and a file have the same name, the generation is
/// used.
pub(crate) fn load(args: &RobotArgs) -> Result<Profile, RobotError> {
    let given = &args.robot;
    if let Some(profile) = Profile::named(given) {
        return Ok(profile);
    }
    let bytes = std::fs::read(given).map_err(|error| match error.kind() {
        ErrorKind::NotFound => RobotError::Unknown { given: given.clone() },
        _ => FileError::read(given)(error).into(),
    })?;
    Ok(Profile::from_json(given, &bytes)?)
}
