//! Reads world folders, including folders of the simulator Gazebo. Only files that a published
//! world may have are read.

use chicane_store::{FilePath, FolderBundle};
use chicane_world::{Bundle, MemoryBundle};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Largest number of bytes that are read from a folder. A larger folder exceeds the size limit of a
/// world anyway.
const MAX_READ: u64 = 300 << 20;
/// How many skipped files are listed by name for each reason.
const MAX_LISTED: usize = 10;
/// Name of the world in the bundle. When the world is published, its id replaces this name.
const STEM: &str = "imported";

/// Why a folder has no usable world.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WorldFolderError {
    #[error("{} is not a folder. Give a folder with a file worlds/NAME.world", .0.display())]
    NotAFolder(PathBuf),
    #[error("{} has no world file worlds/{name}.world", folder.display())]
    NoWorld { folder: PathBuf, name: String },
    #[error(
        "{} has several worlds: {}. `chicane worlds import` takes one of them with --world",
        folder.display(), names.join(", ")
    )]
    SeveralWorlds { folder: PathBuf, names: Vec<String> },
    #[error("{} is larger than the limit of a world, 256 MiB", .0.display())]
    TooLarge(PathBuf),
}

/// The files of a world folder.
pub(crate) struct WorldFolder {
    pub(crate) bundle: MemoryBundle,
    /// Name of the world file without extension.
    pub(crate) name: String,
    /// One line for each skipped file. If many files are skipped for the same reason, the last line
    /// for that reason gives the number of further files.
    pub(crate) skipped: Vec<String>,
}

/// Reads a world folder. If the folder has several worlds, `world` must name one of these worlds.
pub(crate) fn read(folder: &Path, world: Option<&str>) -> Result<WorldFolder, WorldFolderError> {
    if !folder.is_dir() {
        return Err(WorldFolderError::NotAFolder(folder.to_owned()));
    }
    let files = FolderBundle::new(folder);
    let paths = files.list("");
    let (world_file, name) = choose(folder, &paths, world)?;
    let mut bundle = MemoryBundle::default();
    let mut skipped: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut total_bytes = 0;
    for path in &paths {
        let to = if *path == world_file {
            format!("worlds/{STEM}.world")
        } else if world_stem(path).is_some() {
            skipped.entry("another world of the folder").or_default().push(path);
            continue;
        } else {
            renamed(path, &name)
        };
        if FilePath::parse(&to).is_err() {
            skipped.entry("not a file of a world, or its name can't be published").or_default().push(path);
            continue;
        }
        let Some(bytes) = files.read(path) else {
            skipped.entry("can't be read, or is larger than 64 MiB").or_default().push(path);
            continue;
        };
        total_bytes += bytes.len() as u64;
        if total_bytes > MAX_READ {
            return Err(WorldFolderError::TooLarge(folder.to_owned()));
        }
        bundle.insert(to, bytes);
    }
    Ok(WorldFolder { bundle, name, skipped: describe_skipped(skipped) })
}

fn describe_skipped(skipped: BTreeMap<&str, Vec<&str>>) -> Vec<String> {
    let lines = skipped.into_iter().flat_map(|(reason, paths)| {
        let more = paths.len().saturating_sub(MAX_LISTED);
        let listed =
            paths.into_iter().take(MAX_LISTED).map(move |path| format!("{path} is skipped: {reason}"));
        listed.chain((more > 0).then(|| format!("{more} more files are skipped: {reason}")))
    });
    lines.collect()
}

/// The path and the text of the judging script of a bundle. `None` if the bundle has no script.
pub(crate) fn script_of(bundle: &MemoryBundle) -> Option<(String, String)> {
    let is_script = |path: &String| path.starts_with("evaluations/") && path.ends_with(".py");
    let path = bundle.list("evaluations/").into_iter().find(is_script)?;
    let bytes = bundle.read(&path)?.into_owned();
    Some((path, String::from_utf8(bytes).ok()?))
}

/// The name of a world file without its extension. The extension is `.world`, or `.sdf` as in some
/// Gazebo folders. `None` if the path is not a world file.
fn world_stem(path: &str) -> Option<&str> {
    let file = path.strip_prefix("worlds/").filter(|f| !f.contains('/'))?;
    file.strip_suffix(".world").or_else(|| file.strip_suffix(".sdf"))
}

/// The path of the chosen world file, and its name without extension.
fn choose(
    folder: &Path,
    paths: &[String],
    wanted: Option<&str>,
) -> Result<(String, String), WorldFolderError> {
    let mut worlds: Vec<(&str, &String)> = paths.iter().filter_map(|p| Some((world_stem(p)?, p))).collect();
    let wanted = wanted.map(|name| name.trim_end_matches(".world").trim_end_matches(".sdf"));
    if let Some(wanted) = wanted {
        worlds.retain(|(stem, _)| *stem == wanted);
    }
    let folder = folder.to_owned();
    match worlds[..] {
        [(stem, path)] => Ok((path.clone(), stem.to_owned())),
        [] => Err(WorldFolderError::NoWorld { folder, name: wanted.unwrap_or("NAME").to_owned() }),
        _ => {
            let names = worlds.iter().map(|(stem, _)| (*stem).to_owned()).collect();
            Err(WorldFolderError::SeveralWorlds { folder, names })
        }
    }
}

/// The path that a file of the folder gets in the bundle. In names of files, [`STEM`] replaces the
/// name of the world, because that name may contain characters that can't be published.
fn renamed(path: &str, world: &str) -> String {
    let named =
        [("routes", "npy"), ("evaluations", "json"), ("evaluations", "py"), ("track_iconography", "png")];
    let own = named.iter().find(|(folder, extension)| path == format!("{folder}/{world}.{extension}"));
    own.map_or_else(|| path.to_owned(), |(folder, extension)| format!("{folder}/{STEM}.{extension}"))
}
