//! Finds the world that a command line names: a world folder, a project file, a world file, a
//! built-in world, or a world that is installed in a data folder. The commands that open a world
//! use this module to find it.

use crate::data_dir;
use crate::project::{self, ProjectError};
use crate::world_folder::{self, FoundWorld, WorldFolderError};
use chicane_store::{FolderBundle, Library, LoadError};
use chicane_wire::WorldId;
use chicane_world::{Assets, World};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Why a world can't be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WorldSourceError {
    #[error(
        "Unknown world \"{given}\". Give a project file, a folder, the id of an installed world, or one of: {}",
        known.join(", ")
    )]
    Unknown { given: String, known: Vec<String> },
    #[error(
        "World {id} is not installed in {}. Install it with `chicane worlds install {id}`, or give the \
         data folder that has it with --data-dir",
        folder.display()
    )]
    NotInstalled { id: WorldId, folder: PathBuf },
    #[error(transparent)]
    Project(#[from] ProjectError),
    /// A single world file or one of the files that it uses is invalid.
    #[error(transparent)]
    File(#[from] WorldFolderError),
    /// A file of the world is invalid.
    #[error(transparent)]
    World(#[from] chicane_world::Error),
}

impl WorldSourceError {
    /// Whether the command line names a world that does not exist.
    pub(crate) fn is_unknown(&self) -> bool {
        matches!(
            self,
            WorldSourceError::Unknown { .. }
                | WorldSourceError::NotInstalled { .. }
                | WorldSourceError::Project(ProjectError::NotFound { .. })
        )
    }
}

/// Returns a library that contains the given world, and the name of the world in that library.
/// Looks for installed worlds in `data_dir`. If `data_dir` is `None`, looks in the folder of
/// `CHICANE_DATA_DIR`, or else in the platform's default folder.
pub(crate) fn find(given: &str, data_dir: Option<&Path>) -> Result<(Library, String), WorldSourceError> {
    find_with(given, data_dir, &[])
}

/// Like [`find`]. Also searches the folders of `resources` for the models of a world file.
pub(crate) fn find_with(
    given: &str,
    data_dir: Option<&Path>,
    resources: &[PathBuf],
) -> Result<(Library, String), WorldSourceError> {
    let library = Library::built_in();
    let path = Path::new(given);
    let name = given.strip_suffix(".world").unwrap_or(given);
    // If a folder has the name of a built-in world and no subfolder `worlds`, the name means the
    // built-in world.
    if path.is_dir() && (path.join("worlds").is_dir() || library.entry(name).is_none()) {
        let bundle = FolderBundle::new(given);
        let name = World::load(&Assets::of(&bundle))?.name;
        return Ok((library.with_bundle(&name, Arc::new(bundle)), name));
    }
    if path.is_file() && world_folder::has_world_extension(path) {
        let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let world = FoundWorld { file: path.to_owned(), name: stem };
        let name = world_folder::plain_name(&world.name);
        let files = world_folder::read_used(&world, None, resources, &name)?;
        return Ok((library.with_bundle(&name, Arc::new(files.bundle)), name));
    }
    if path.is_file() {
        let world = project::bundle(given)?;
        let library = library.with_project(&world.name, &world.display, world.bundle);
        return Ok((library, world.name));
    }
    if library.entry(name).is_some() {
        return Ok((library, name.to_owned()));
    }
    find_installed(given, name, data_dir, library)
}

/// Adds an installed world to a library. `name` is the id, the name or the alias of the world.
fn find_installed(
    given: &str,
    name: &str,
    data_dir: Option<&Path>,
    library: Library,
) -> Result<(Library, String), WorldSourceError> {
    let unknown = |library: &Library| unknown(given, library);
    let Ok(folder) = data_dir::resolve_or_environment(data_dir) else { return Err(unknown(&library)) };
    let Some(id) = WorldId::parse(name.strip_prefix("custom_").unwrap_or(name)) else {
        let installed = installed_in(&folder);
        let alias = installed.as_ref().and_then(|installed| Some((installed, installed.entry(name)?)));
        let Some((installed, entry)) = alias else { return Err(unknown(&library)) };
        return Ok((library.with_world_of(installed, &entry.name), entry.name));
    };
    let name = format!("custom_{id}");
    if let Some(installed) = installed_in(&folder).filter(|installed| installed.entry(&name).is_some()) {
        return Ok((library.with_world_of(&installed, &name), name));
    }
    Err(WorldSourceError::NotInstalled { id, folder })
}

/// The worlds that are installed in a data folder. `None` if the folder has no subfolder `worlds`.
/// A folder without this subfolder is not opened, because looking for a world must not create
/// files.
fn installed_in(folder: &Path) -> Option<Library> {
    folder.join("worlds").is_dir().then(|| Library::default().with_installed(folder))
}

/// Loads the given world. Takes the same parameters as [`find_with`].
pub(crate) fn load(
    given: &str,
    data_dir: Option<&Path>,
    resources: &[PathBuf],
) -> Result<World, WorldSourceError> {
    let (library, name) = find_with(given, data_dir, resources)?;
    library.load(&name).map_err(|error| match error {
        LoadError::NotFound => unknown(given, &library),
        LoadError::Broken(error) => error.into(),
    })
}

fn unknown(given: &str, library: &Library) -> WorldSourceError {
    let known = library.entries().into_iter().map(|entry| entry.name).collect();
    WorldSourceError::Unknown { given: given.to_owned(), known }
}
