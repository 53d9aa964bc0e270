//! Foreign worlds: a Gazebo-style folder becomes an installed world, with a report of what was passed over.

use crate::cli::JudgeBy;
use chicane_store::{Access, FilePath, FolderBundle, IdPlaceholder, InstalledWorlds, Label, Need, Package};
use chicane_world::{Bundle, MemoryBundle};
use std::collections::BTreeMap;
use std::path::Path;

/// Bytes that are read in all; more is no world that can be installed.
const MAX_READ: u64 = 300 << 20;
/// Names that are told for each reason.
const MAX_TOLD: usize = 10;
/// What the world is called while it is put together.
const STEM: &str = "imported";

pub(crate) fn run(
    data_dir: &Path,
    folder: &Path,
    world: Option<&str>,
    name: Option<String>,
    judge: &JudgeBy,
) -> Result<(), String> {
    let (bundle, stem, passed_over) = read_folder(folder, world)?;
    let stand = IdPlaceholder::new().map_err(|e| e.to_string())?;
    let label = Label { name: name.unwrap_or(stem), access: Access::Unlisted };
    let refused = |e: &dyn std::fmt::Display| format!("{} can't be imported: {e}", folder.display());
    let package = Package::new(&bundle, &stand, &label, Need::World).map_err(|e| refused(&e))?;
    let installed = InstalledWorlds::of(data_dir).install(&package).map_err(|e| refused(&e))?;
    let about_script = script_of(&bundle).and_then(|(_, script)| crate::script::warning(judge, &script));
    println!("{}", installed.record.world_name());
    println!("name       {}", installed.record.name);
    println!("files      {}", package.files.len());
    let loading = installed.warnings.iter().map(ToString::to_string);
    for warning in passed_over.iter().cloned().chain(loading).chain(about_script) {
        println!("warning    {warning}");
    }
    Ok(())
}

/// The files of a world's folder, the name of the world, and what was passed over.
pub(crate) fn read_folder(
    folder: &Path,
    world: Option<&str>,
) -> Result<(MemoryBundle, String, Vec<String>), String> {
    if !folder.is_dir() {
        return Err(format!(
            "{} is not a folder; a world's folder holds worlds/<name>.world",
            folder.display()
        ));
    }
    let files = FolderBundle::new(folder);
    let paths = files.list("");
    let (file, stem) = choose(&paths, world).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut bundle = MemoryBundle::default();
    let mut passed_over: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut read = 0;
    for path in &paths {
        let to = if *path == file {
            format!("worlds/{STEM}.world")
        } else if is_world(path).is_some() {
            passed_over.entry("another world of the folder").or_default().push(path);
            continue;
        } else {
            called(path, &stem)
        };
        if FilePath::parse(&to).is_err() {
            passed_over
                .entry("not a file of a world, or its name can't be published")
                .or_default()
                .push(path);
            continue;
        }
        let Some(bytes) = files.read(path) else {
            passed_over.entry("can't be read, or is larger than 64 MiB").or_default().push(path);
            continue;
        };
        read += bytes.len() as u64;
        if read > MAX_READ {
            return Err(format!("{} is larger than a world may be, 256 MiB", folder.display()));
        }
        bundle.insert(to, bytes);
    }
    let told = passed_over.into_iter().flat_map(|(why, paths)| {
        let more = paths.len().saturating_sub(MAX_TOLD);
        let names = paths.into_iter().take(MAX_TOLD).map(move |path| format!("{path} is passed over: {why}"));
        names.chain((more > 0).then(|| format!("{more} more are passed over: {why}")))
    });
    let told = told.collect();
    Ok((bundle, stem, told))
}

/// The judging script of a bundle, and its file.
pub(crate) fn script_of(bundle: &MemoryBundle) -> Option<(String, String)> {
    let is_script = |path: &String| path.starts_with("evaluations/") && path.ends_with(".py");
    let path = bundle.list("evaluations/").into_iter().find(is_script)?;
    let bytes = bundle.read(&path)?.into_owned();
    Some((path, String::from_utf8(bytes).ok()?))
}

/// The stem of a world file: `worlds/<stem>.world`, or `.sdf` as Gazebo also has it.
fn is_world(path: &str) -> Option<&str> {
    let file = path.strip_prefix("worlds/").filter(|f| !f.contains('/'))?;
    file.strip_suffix(".world").or_else(|| file.strip_suffix(".sdf"))
}

/// The world file that is meant.
fn choose(paths: &[String], wanted: Option<&str>) -> Result<(String, String), String> {
    let mut found: Vec<(&str, &String)> = paths.iter().filter_map(|p| Some((is_world(p)?, p))).collect();
    if let Some(wanted) = wanted {
        let wanted = wanted.trim_end_matches(".world").trim_end_matches(".sdf");
        found.retain(|(stem, _)| *stem == wanted);
    }
    match found[..] {
        [(stem, path)] => Ok((path.clone(), stem.to_owned())),
        [] => Err("there is no such world file, worlds/<name>.world".to_owned()),
        _ => {
            let stems: Vec<&str> = found.iter().map(|(stem, _)| *stem).collect();
            Err(format!("there are several worlds, choose one with --world: {}", stems.join(", ")))
        }
    }
}

/// Files that bear the world's name go with it, whatever letters that has.
fn called(path: &str, stem: &str) -> String {
    let named =
        [("routes", "npy"), ("evaluations", "json"), ("evaluations", "py"), ("track_iconography", "png")];
    let own = named.iter().find(|(folder, ending)| path == format!("{folder}/{stem}.{ending}"));
    own.map_or_else(|| path.to_owned(), |(folder, ending)| format!("{folder}/{STEM}.{ending}"))
}
