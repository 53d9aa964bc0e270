//! Loads a whole bundle in one call.

use super::compile_on;
use super::uri::stem_of;
use crate::bundle::Assets;
use crate::error::{Error, SourceLocation, Warnings};
use crate::evaluation::Evaluation;
use crate::route::RouteFile;
use crate::sdf;
use crate::world::World;
use crate::xml::excerpt;

impl World {
    /// Loads the world of a bundle, together with its route and its evaluation.
    pub fn load(assets: &Assets<'_>) -> Result<World, Error> {
        let path = world_file(assets)?;
        let bundle = assets.bundle();
        let Some(bytes) = bundle.read(&path) else {
            return Err(Error::file(&path, "the world file cannot be read"));
        };
        let mut warnings = Warnings::default();
        let mut spec = sdf::read(&path, &bytes, &mut warnings)?;
        let stem = stem_of(&path);
        if spec.name != stem {
            let message =
                format!("world \"{}\" is renamed to \"{stem}\", the name of its file", excerpt(&spec.name));
            warnings.add(message, || SourceLocation::file(&path));
            spec.name = stem.to_owned();
        }
        let route = format!("routes/{stem}.npy");
        let route = bundle.read(&route).map(|bytes| RouteFile::read(&route, &bytes)).transpose()?;
        let mut world = compile_on(&spec, assets, route, warnings)?;
        let (json, script) = (format!("evaluations/{stem}.json"), format!("evaluations/{stem}.py"));
        world.evaluation = match (bundle.read(&json), bundle.read(&script)) {
            (Some(j), Some(s)) => Some(Evaluation::from_files(&json, &j, &script, &s)?),
            (None, None) => None,
            (Some(_), None) => {
                return Err(Error::file(&json, format!("the evaluation also needs {script}")));
            }
            (None, Some(_)) => {
                return Err(Error::file(&script, format!("the evaluation also needs {json}")));
            }
        };
        Ok(world)
    }
}

/// The path of the world file of a bundle. The result is an error if the bundle has no world file
/// or several world files.
fn world_file(assets: &Assets<'_>) -> Result<String, Error> {
    let is_world = |p: &String| {
        p.strip_prefix("worlds/")
            .and_then(|p| p.strip_suffix(".world"))
            .is_some_and(|stem| !stem.is_empty() && !stem.contains('/'))
    };
    let mut files = assets.bundle().list("worlds/").into_iter().filter(is_world);
    match (files.next(), files.next()) {
        (Some(file), None) => Ok(file),
        (None, _) => Err(Error::file("worlds", "a bundle needs a world file, worlds/<name>.world")),
        (Some(_), Some(second)) => {
            Err(Error::file(&second, "a bundle must have exactly one world file; this is a second one"))
        }
    }
}
