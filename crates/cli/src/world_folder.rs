//! Reads worlds from folders, including folders of the simulator Gazebo, and from single world
//! files. A collection is a folder that may have several worlds and other files. Of a collection,
//! only the chosen world and the files that it uses are put into the bundle.

use chicane_store::{FilePath, FolderBundle};
use chicane_world::bundle::bundle_path;
use chicane_world::{Assets, Bundle, MemoryBundle, World};
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Largest number of bytes that are read from a folder. A larger folder exceeds the size limit of a
/// world anyway.
const MAX_READ: u64 = 300 << 20;
/// Largest number of skipped files that are listed by name for each reason.
const MAX_LISTED: usize = 10;
/// Name of a world in the bundle that is made to import or publish the world. `Package` replaces
/// this name with `custom_` and the id of the world.
pub(crate) const STEM: &str = "imported";
/// Largest number of files and folders that are searched for world files.
const MAX_SEARCHED: usize = 200_000;
/// Number of levels of subfolders that are searched for world files.
const MAX_DEPTH: usize = 8;
/// Largest world file, in bytes.
const MAX_WORLD: u64 = 8 << 20;

/// Why a folder has no usable world.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WorldFolderError {
    #[error("{} is not a folder. Give a folder with a file worlds/NAME.world", .0.display())]
    NotAFolder(PathBuf),
    #[error("{} has no world file worlds/{name}.world", folder.display())]
    NoWorld { folder: PathBuf, name: String },
    #[error(
        "{} has several worlds: {}. `chicane worlds import` takes one of them with --world, or all with --all",
        folder.display(), names.join(", ")
    )]
    SeveralWorlds { folder: PathBuf, names: Vec<String> },
    #[error("{} is larger than the limit of a world, 256 MiB", .0.display())]
    TooLarge(PathBuf),
    #[error("{} can't be read, or is larger than 8 MiB", .0.display())]
    Unreadable(PathBuf),
    #[error(transparent)]
    World(#[from] chicane_world::Error),
}

/// The files of a world.
pub(crate) struct WorldFolder {
    pub(crate) bundle: MemoryBundle,
    /// Name of the world file without extension.
    pub(crate) name: String,
    /// One line for each skipped file. If many files are skipped for the same reason, the last line
    /// for that reason gives the number of further files.
    pub(crate) skipped: Vec<String>,
}

/// Reads those files of a world folder that a published world may have, and lists the others as
/// skipped.
pub(crate) fn read_all(folder: &Path) -> Result<WorldFolder, WorldFolderError> {
    if !folder.is_dir() {
        return Err(WorldFolderError::NotAFolder(folder.to_owned()));
    }
    let files = FolderBundle::new(folder);
    let paths = files.list("");
    let (world_file, name) = choose_in_worlds(folder, &paths)?;
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
            renamed(path, &name, STEM)
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

/// A world file of a collection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FoundWorld {
    pub(crate) file: PathBuf,
    /// Name of the file without extension.
    pub(crate) name: String,
}

/// Finds the world files of a collection, sorted by path. Skips links, hidden entries, and folders
/// deeper than [`MAX_DEPTH`]. A file `.world` always counts. A file `.sdf` counts only if it is in
/// a folder `worlds` or contains a `<world>`, because models have this extension too.
pub(crate) fn find_worlds(folder: &Path) -> Result<Vec<FoundWorld>, WorldFolderError> {
    if !folder.is_dir() {
        return Err(WorldFolderError::NotAFolder(folder.to_owned()));
    }
    let mut found = Vec::new();
    let mut pending = vec![(folder.to_owned(), 0)];
    let mut searched = 0;
    while let Some((inside, depth)) = pending.pop() {
        for entry in std::fs::read_dir(&inside).into_iter().flatten().flatten() {
            searched += 1;
            let hidden = entry.file_name().to_string_lossy().starts_with('.');
            // Links are skipped, because a link could lead out of the folder or into a loop.
            let Ok(kind) = entry.file_type() else { continue };
            if searched > MAX_SEARCHED || hidden {
                continue;
            }
            let file = entry.path();
            if kind.is_dir() && depth < MAX_DEPTH {
                pending.push((file, depth + 1));
            } else if kind.is_file() && is_world(&file) {
                let name = file.file_stem().map(|stem| stem.to_string_lossy().into_owned());
                found.push(FoundWorld { file, name: name.unwrap_or_default() });
            }
        }
    }
    found.sort_by(|a, b| a.file.cmp(&b.file));
    Ok(found)
}

/// Whether a path has the extension of a world file.
pub(crate) fn has_world_extension(path: &Path) -> bool {
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or("");
    extension.eq_ignore_ascii_case("world") || extension.eq_ignore_ascii_case("sdf")
}

fn is_world(path: &Path) -> bool {
    let is_sdf = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("sdf"));
    let in_worlds = path.parent().and_then(Path::file_name).is_some_and(|name| name == "worlds");
    has_world_extension(path)
        && (!is_sdf || in_worlds || read_world(path).is_ok_and(|b| b.windows(6).any(|w| w == b"<world")))
}

fn read_world(file: &Path) -> Result<Vec<u8>, WorldFolderError> {
    let unreadable = || WorldFolderError::Unreadable(file.to_owned());
    let is_small = std::fs::metadata(file).is_ok_and(|m| m.is_file() && m.len() <= MAX_WORLD);
    if !is_small {
        return Err(unreadable());
    }
    std::fs::read(file).map_err(|_| unreadable())
}

/// The world of a collection that a command names. `wanted` is the name of a world file, or its
/// path in the collection. If `wanted` is `None`, the collection must have exactly one world.
pub(crate) fn choose(folder: &Path, wanted: Option<&str>) -> Result<FoundWorld, WorldFolderError> {
    let mut worlds = find_worlds(folder)?;
    let stem = wanted.map(|name| name.strip_suffix(".world").or(name.strip_suffix(".sdf")).unwrap_or(name));
    if let Some((wanted, stem)) = wanted.zip(stem) {
        let by_path = folder.join(wanted);
        match worlds.iter().position(|world| world.file == by_path) {
            Some(i) => worlds = vec![worlds.swap_remove(i)],
            None => worlds.retain(|world| world.name == stem),
        }
    }
    let folder = folder.to_owned();
    match worlds.len() {
        1 => Ok(worlds.swap_remove(0)),
        0 => Err(WorldFolderError::NoWorld { folder, name: stem.unwrap_or("NAME").to_owned() }),
        _ => {
            let shown = |w: &FoundWorld| {
                let twice = worlds.iter().filter(|other| other.name == w.name).count() > 1;
                let path = w.file.strip_prefix(&folder).unwrap_or(&w.file);
                if twice { path.display().to_string() } else { w.name.clone() }
            };
            let names = worlds.iter().map(shown).collect();
            Err(WorldFolderError::SeveralWorlds { folder, names })
        }
    }
}

/// Reads a world and the files that it uses. Looks for these files in the folder of the world file,
/// in the collection, and in the folders of `resources`. If the name of the world file's folder
/// contains `world`, looks in the parent of this folder first, unless the parent is outside of the
/// collection. The world gets the name `stem` in the bundle.
pub(crate) fn read_used(
    world: &FoundWorld,
    collection: Option<&Path>,
    resources: &[PathBuf],
    stem: &str,
) -> Result<WorldFolder, WorldFolderError> {
    let own = world.file.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut roots: Vec<&Path> = Vec::new();
    // In the usual layout, the world file is in a folder `worlds` beside the folders `models` and
    // `meshes`.
    let beside =
        own.parent().filter(|_| own.file_name().is_some_and(|n| n.to_string_lossy().contains("world")));
    let beside = beside.map(|p| if p.as_os_str().is_empty() { Path::new(".") } else { p });
    roots.extend(beside.filter(|p| collection.is_none_or(|c| p.starts_with(c))));
    roots.push(own);
    roots.extend(collection);
    roots.extend(resources.iter().map(PathBuf::as_path));
    let source = UsedFiles {
        world: read_world(&world.file)?,
        name: &world.name,
        stem,
        roots: roots.into_iter().map(FolderBundle::new).collect(),
        used: RefCell::new(BTreeMap::new()),
    };
    World::load(&Assets::of(&source))?;
    let icon = format!("track_iconography/{stem}.png");
    let _ = source.read(&icon);
    let mut bundle = MemoryBundle::default();
    let mut skipped = Vec::new();
    bundle.insert(format!("worlds/{stem}.world"), source.world);
    for (path, bytes) in source.used.into_inner() {
        let to = bundle_path(&path);
        if bundle.files.get(&to).is_some_and(|other| *other != bytes) {
            skipped.push(format!("{path} is skipped: another file has the name {to} in the bundle"));
        } else {
            bundle.insert(to, bytes);
        }
    }
    let total_bytes: u64 = bundle.files.values().map(|bytes| bytes.len() as u64).sum();
    if total_bytes > MAX_READ {
        return Err(WorldFolderError::TooLarge(world.file.clone()));
    }
    Ok(WorldFolder { bundle, name: world.name.clone(), skipped })
}

/// The name that a world gets in a library if it is opened without being imported. It is also the
/// alias of a world that is imported with `--all`. The name has the first 100 characters of the
/// name of the file. All characters except `A-Z`, `a-z`, `0-9`, `_` and `-` become underscores.
pub(crate) fn plain_name(name: &str) -> String {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    name.chars().take(100).map(|c| if allowed(c) { c } else { '_' }).collect()
}

/// The files of a world in several folders. Remembers which files were read.
struct UsedFiles<'a> {
    world: Vec<u8>,
    /// Name of the world file without extension, as in the folder.
    name: &'a str,
    /// Name of the world file without extension, as in the bundle.
    stem: &'a str,
    roots: Vec<FolderBundle>,
    used: RefCell<BTreeMap<String, Vec<u8>>>,
}

impl Bundle for UsedFiles<'_> {
    fn read(&self, path: &str) -> Option<Cow<'_, [u8]>> {
        if path == format!("worlds/{}.world", self.stem) {
            return Some(Cow::Borrowed(&self.world));
        }
        if let Some(known) = self.used.borrow().get(path) {
            return Some(Cow::Owned(known.clone()));
        }
        // The loader asks for `routes/STEM.npy`, for example. In the folder, such a file has the
        // name of the world file instead.
        let from = renamed(path, self.stem, self.name);
        let bytes = self.roots.iter().find_map(|root| root.read(&from).map(Cow::into_owned))?;
        self.used.borrow_mut().insert(path.to_owned(), bytes.clone());
        Some(Cow::Owned(bytes))
    }

    fn list(&self, folder: &str) -> Vec<String> {
        let world = format!("worlds/{}.world", self.stem);
        if world.starts_with(folder) { vec![world] } else { Vec::new() }
    }
}

/// The name of a world file in the folder `worlds`, without its extension. `None` if the path is not
/// such a file.
fn world_stem(path: &str) -> Option<&str> {
    let file = path.strip_prefix("worlds/").filter(|f| !f.contains('/'))?;
    file.strip_suffix(".world").or_else(|| file.strip_suffix(".sdf"))
}

/// The path of the only world file in the folder `worlds`, and its name without extension.
fn choose_in_worlds(folder: &Path, paths: &[String]) -> Result<(String, String), WorldFolderError> {
    let worlds: Vec<(&str, &String)> = paths.iter().filter_map(|p| Some((world_stem(p)?, p))).collect();
    let folder = folder.to_owned();
    match worlds[..] {
        [(stem, path)] => Ok((path.clone(), stem.to_owned())),
        [] => Err(WorldFolderError::NoWorld { folder, name: "NAME".to_owned() }),
        _ => {
            let names = worlds.iter().map(|(stem, _)| (*stem).to_owned()).collect();
            Err(WorldFolderError::SeveralWorlds { folder, names })
        }
    }
}

/// The path of a file after its world was renamed from `before` to `after`. Only files that are
/// named after the world are renamed. The new name is needed, because the old name may contain
/// characters that can't be published.
fn renamed(path: &str, before: &str, after: &str) -> String {
    let named =
        [("routes", "npy"), ("evaluations", "json"), ("evaluations", "py"), ("track_iconography", "png")];
    let own = named.iter().find(|(folder, extension)| path == format!("{folder}/{before}.{extension}"));
    own.map_or_else(|| path.to_owned(), |(folder, extension)| format!("{folder}/{after}.{extension}"))
}
