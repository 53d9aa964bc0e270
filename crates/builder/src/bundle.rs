//! Builds the files of a bundle from a project. The same project and files give the same bytes.

use crate::check::{Finding, Location, Rule, Severity, check, check_files};
use crate::files::{Files, as_png, decode, picture_ending};
use crate::pictures::Pictures;
use crate::project::{Evaluation, Ground, Project, Script, evaluation_config};
use crate::templates::LAP_TIME;
use crate::track_line::TrackLine;
use crate::{objects, road, shapes};
use chicane_world::spec::{
    CollisionSpec, Geometry, IncludeSpec, LinkSpec, ModelSpec, SdfEntry, Spec, VisualSpec,
};
use chicane_world::{MemoryBundle, collada, sdf};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const SDF_VERSION: &str = "1.7";

/// The findings that prevented the build of a world. At least one finding is an error.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{}", lines(.findings))]
pub struct BuildError {
    /// Errors and warnings.
    pub findings: Vec<Finding>,
}

fn lines(findings: &[Finding]) -> String {
    findings.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// Builds the bundle of a project. Fails if the check finds an error.
pub fn build(project: &Project, files: &dyn Files) -> Result<MemoryBundle, BuildError> {
    let mut findings = check(project);
    findings.extend(check_files(project, files));
    if findings.iter().any(|f| f.severity == Severity::Error) {
        return Err(BuildError { findings });
    }
    let name = project.name.as_str();
    let line = TrackLine::of(&project.track);
    let mut bundle = MemoryBundle::default();
    let pictures = match add_pictures(project, files, &mut bundle) {
        Ok(pictures) => pictures,
        Err(finding) => return Err(BuildError { findings: findings.into_iter().chain([finding]).collect() }),
    };
    for (i, object) in project.objects.iter().enumerate().filter(|(_, o)| objects::has_mesh(&o.kind)) {
        let mesh = shapes::build(&object.name, &object.kind, &pictures);
        bundle.insert(format!("meshes/{name}/object_{i}.dae"), collada::write(&mesh));
    }
    let track = road::build(project, &line, &pictures);
    bundle.insert(format!("meshes/{name}/{name}.dae"), collada::write(&track));
    bundle.insert(format!("worlds/{name}.world"), sdf::write(&world(project)));
    let config = sdf::write_config(&project.display_name, "model.sdf", SDF_VERSION);
    bundle.insert(format!("models/{name}/model.config"), config);
    bundle.insert(format!("models/{name}/model.sdf"), sdf::write_model(&track_model(project), SDF_VERSION));
    bundle.insert(format!("routes/{name}.npy"), line.route().to_npy());
    if let Some(evaluation) = &project.evaluation {
        add_evaluation(name, evaluation, files, &mut bundle);
    }
    Ok(bundle)
}

/// Adds the pictures of objects and decals to the bundle, each picture once and with its original
/// bytes. The picture of the field gets a fixed name and is converted to PNG, if it has another
/// format. Returns the paths of the pictures of objects and decals.
fn add_pictures<'a>(
    project: &'a Project,
    files: &dyn Files,
    bundle: &mut MemoryBundle,
) -> Result<Pictures<'a>, Finding> {
    let folder = format!("meshes/{}", project.name);
    let mut paths = BTreeMap::new();
    for (place, picture) in project.pictures() {
        let is_field = matches!(&project.field.ground, Ground::Picture(p) if p == picture)
            && place.starts_with("field.");
        if !is_field && paths.contains_key(picture) {
            continue;
        }
        let unreadable = |why: String| {
            let message = format!("The picture \"{picture}\" cannot be read: {why}.");
            Rule::PictureUnreadable.finding(Location::File { path: place.clone() }, message)
        };
        let bytes =
            files.read(picture.as_str()).ok_or_else(|| unreadable("the file is missing".to_owned()))?;
        let decoded = decode(&bytes).map_err(|e| unreadable(e.to_string()))?;
        if is_field {
            let png = as_png(bytes, &decoded).map_err(|e| unreadable(e.to_string()))?;
            bundle.insert(format!("{folder}/textures/field.png"), png);
            continue;
        }
        let ending = picture_ending(picture.as_str(), &bytes).map_err(|e| unreadable(e.message))?;
        let path = format!("textures/picture_{}.{ending}", paths.len());
        bundle.insert(format!("{folder}/{path}"), bytes);
        paths.insert(picture, path);
    }
    Ok(Pictures::new(paths))
}

/// The rules of an evaluation: the judging script and its settings.
#[derive(Debug, Clone, PartialEq)]
pub struct Rules {
    /// The judging script.
    pub script: Vec<u8>,
    /// The settings, as in the field `config` of a world's evaluation file.
    pub config: Value,
}

/// The rules of an evaluation; `None` if its script is missing.
pub fn rules(evaluation: &Evaluation, files: &dyn Files) -> Option<Rules> {
    let script = match evaluation.script.as_ref()? {
        Script::File(file) => files.read(file.as_str())?.into_owned(),
        Script::LapTime => LAP_TIME.script.as_bytes().to_vec(),
    };
    Some(Rules { script, config: evaluation_config(evaluation) })
}

fn add_evaluation(name: &str, evaluation: &Evaluation, files: &dyn Files, bundle: &mut MemoryBundle) {
    let Some(Rules { script, config }) = rules(evaluation, files) else { return };
    if let Ok(text) = serde_json::to_string_pretty(&json!({ "version": 1, "config": config })) {
        bundle.insert(format!("evaluations/{name}.json"), text + "\n");
        bundle.insert(format!("evaluations/{name}.py"), script);
    }
}

fn world(project: &Project) -> Spec {
    let include = |uri: String, name: Option<&str>| {
        SdfEntry::Include(IncludeSpec { uri, name: name.map(str::to_owned), ..IncludeSpec::default() })
    };
    let track = format!("model://models/{}", project.name);
    let mut entries = vec![include("model://sun".to_owned(), None), include(track, Some("racetrack"))];
    if let Some(fence) = &project.fence {
        let sides = road::fence_sides(project.field.size).into_iter().enumerate();
        entries.extend(sides.map(|(i, side)| SdfEntry::Model(objects::wall(i, side, fence))));
    }
    entries.extend(project.objects.iter().enumerate().map(|(i, object)| {
        let mesh = || format!("model://meshes/{}/object_{i}.dae", project.name);
        SdfEntry::Model(objects::model(object, objects::has_mesh(&object.kind).then(mesh)))
    }));
    Spec {
        version: SDF_VERSION.to_owned(),
        name: project.name.as_str().to_owned(),
        entries,
        ..Spec::default()
    }
}

/// The model of the track. Its visual is one mesh, and its collision shape is a plane.
fn track_model(project: &Project) -> ModelSpec {
    let uri = format!("model://meshes/{0}/{0}.dae", project.name);
    let link = LinkSpec {
        name: "link".to_owned(),
        collisions: vec![CollisionSpec {
            name: "ground".to_owned(),
            geometry: Geometry::Plane { normal: [0.0, 0.0, 1.0], size: project.field.size },
            ..CollisionSpec::default()
        }],
        visuals: vec![VisualSpec {
            name: "track".to_owned(),
            geometry: Geometry::Mesh { uri, scale: [1.0; 3], submesh: None },
            ..VisualSpec::default()
        }],
        ..LinkSpec::default()
    };
    ModelSpec {
        name: project.name.as_str().to_owned(),
        is_static: true,
        links: vec![link],
        ..ModelSpec::default()
    }
}
