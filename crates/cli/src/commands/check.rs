//! `chicane check`: describes and validates a world or a builder project.

use crate::args::{CheckArgs, JudgeArgs, ResourceArgs};
use crate::judge_script::{self, InvalidScript};
use crate::project::{self, ProjectError};
use crate::world_folder;
use crate::world_source::{self, WorldSourceError};
use chicane_builder::{Project, TrackLine, check, check_files};
use chicane_world::World;
use std::collections::BTreeMap;
use std::path::Path;

/// Why a world or a project is not valid.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CheckError {
    #[error(transparent)]
    World(#[from] WorldSourceError),
    #[error(transparent)]
    Project(#[from] ProjectError),
    /// The project has errors. Each error was already printed.
    #[error("{path} has {}", counted(*errors))]
    Invalid { path: String, errors: usize },
    #[error(transparent)]
    Script(#[from] InvalidScript),
}

fn counted(errors: usize) -> String {
    if errors == 1 { "an error".to_owned() } else { format!("{errors} errors") }
}

pub(crate) fn run(args: &CheckArgs) -> Result<(), CheckError> {
    let path = Path::new(&args.path);
    if path.is_file() && !world_folder::has_world_extension(path) {
        check_project(&args.path, &args.judge)
    } else {
        check_world(&args.path, &args.resources, &args.judge)
    }
}

fn check_world(path: &str, resources: &ResourceArgs, judge: &JudgeArgs) -> Result<(), CheckError> {
    let world = world_source::load(path, None, &resources.folders())?;
    print!("{}", describe_world(&world));
    if let Some(evaluation) = &world.evaluation {
        print!("{}", judge_script::describe(judge, path, &evaluation.script)?);
    }
    Ok(())
}

fn describe_world(world: &World) -> String {
    let mut text = format!("world      {}\n", world.name);
    let bounds = world.ground.bounds.map_or("none".to_owned(), |b| {
        format!("({:.2}, {:.2}) to ({:.2}, {:.2}) m", b.min.x, b.min.y, b.max.x, b.max.y)
    });
    text += &format!("bounds     {bounds}\n");
    text += &match world.published_route() {
        Some(r) => format!("route      {} waypoints, {:.2} m\n", r.centre.len(), r.length()),
        None => "route      none\n".to_owned(),
    };
    let kinds = counts(world.objects.iter().map(|object| object.kind.name()));
    text += &format!("objects    {} ({kinds})\n", world.objects.len());
    let evaluation = world.evaluation.as_ref().map_or("none", |e| e.description.as_str());
    text += &format!("evaluation {evaluation}\n");
    text += &varied(world.evaluation.iter().flat_map(|evaluation| evaluation.vary.lines()));
    let corners: usize = world.scene.meshes.iter().map(|m| m.positions.len()).sum();
    text += &format!(
        "scene      {} instances, {} meshes with {corners} corners, {} textures\n",
        world.scene.instances.len(),
        world.scene.meshes.len(),
        world.scene.textures.len()
    );
    for warning in &world.warnings {
        text += &format!("warning    {warning}\n");
    }
    text
}

fn check_project(path: &str, judge: &JudgeArgs) -> Result<(), CheckError> {
    let (project, files) = project::open(path)?;
    let mut findings = check(&project);
    findings.extend(check_files(&project, &files));
    let mut text = describe_project(&project);
    findings.iter().for_each(|f| text += &format!("{f}\n"));
    print!("{text}");
    let errors = project::error_count(&findings);
    if errors > 0 {
        return Err(CheckError::Invalid { path: path.to_owned(), errors });
    }
    if let Some((file, script)) = project::own_script(&project, &files) {
        print!("{}", judge_script::describe(judge, &format!("{path}: {file}"), &script)?);
    }
    Ok(())
}

fn describe_project(project: &Project) -> String {
    let line = TrackLine::of(&project.track);
    let bend = line.samples.iter().map(|s| s.curvature.abs()).fold(0.0, f64::max);
    let [w, h] = project.field.size;
    let shape = if line.closed { "closed" } else { "open" };
    let kinds = counts(project.objects.iter().map(|object| object.kind.name()));
    let kinds = if kinds.is_empty() { String::new() } else { format!(" ({kinds})") };
    let vary = varied(project.evaluation.iter().flat_map(|evaluation| evaluation.vary.lines()));
    let radius = if bend > 1e-3 { format!("{:.2} m", 1.0 / bend) } else { "none".to_owned() };
    format!(
        "project    {} ({})\nfield      {w} × {h} m\ntrack      {shape}, {:.2} m, tightest radius {radius}\nobjects    {}{kinds}\n{vary}",
        project.name,
        project.display_name,
        line.length,
        project.objects.len()
    )
}

/// Puts the label `seed` before each line that describes what a seed changes.
fn varied(lines: impl Iterator<Item = String>) -> String {
    lines.map(|line| format!("seed       {line}\n")).collect()
}

/// The number of objects of each kind, such as `1 box, 4 wall`.
fn counts<'a>(kinds: impl Iterator<Item = &'a str>) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for kind in kinds {
        *counts.entry(kind).or_default() += 1;
    }
    let counts: Vec<String> = counts.iter().map(|(kind, n)| format!("{n} {kind}")).collect();
    counts.join(", ")
}
