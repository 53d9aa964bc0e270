//! Builder projects on disk, and the worlds that are built from them.

use crate::args::JudgeArgs;
use crate::file_error::FileError;
use crate::judge_script::{self, InvalidScript};
use crate::progress::Progress;
use chicane_builder::project::{MAX_JSON, Script, WorldName};
use chicane_builder::{
    BuildError, Files, Finding, Project, ReadError, Severity, build as build_bundle, check, check_files,
};
use chicane_render::thumbnail;
use chicane_store::FolderBundle;
use chicane_world::{Assets, Bundle, MemoryBundle, Profile, World};
use std::borrow::Cow;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

/// Why a project can't be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ProjectError {
    #[error("Unknown project \"{path}\". Give a project file, NAME.json")]
    NotFound { path: String },
    #[error("{path} is too large for a project: {bytes} bytes, at most {MAX_JSON}")]
    TooLarge { path: String, bytes: u64 },
    #[error(transparent)]
    File(#[from] FileError),
    /// The file is not a valid project document.
    #[error("{path}: {source}")]
    Read { path: String, source: ReadError },
    /// The project has errors. The text lists them, one per line.
    #[error("{path} can't be built:\n{source}")]
    Build { path: String, source: BuildError },
    /// The builder wrote a world that the loader refuses.
    #[error("the world of {path} can't be loaded: {source}")]
    World { path: String, source: chicane_world::Error },
    #[error(transparent)]
    Script(#[from] InvalidScript),
}

/// The files in the folder of a project. Symbolic links are not followed.
pub(crate) struct ProjectFiles(FolderBundle);

impl Files for ProjectFiles {
    fn read(&self, name: &str) -> Option<Cow<'_, [u8]>> {
        self.0.read(name)
    }
}

/// Reads a project. Also returns the files of its folder.
pub(crate) fn open(path: &str) -> Result<(Project, ProjectFiles), ProjectError> {
    let metadata = std::fs::metadata(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => ProjectError::NotFound { path: path.to_owned() },
        _ => FileError::read(path)(error).into(),
    })?;
    if metadata.len() > MAX_JSON as u64 {
        return Err(ProjectError::TooLarge { path: path.to_owned(), bytes: metadata.len() });
    }
    let bytes = std::fs::read(path).map_err(FileError::read(path))?;
    let project =
        Project::read(&bytes).map_err(|source| ProjectError::Read { path: path.to_owned(), source })?;
    let folder = Path::new(path).parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Ok((project, ProjectFiles(FolderBundle::new(folder))))
}

/// The name and the text of a project's own judging script. `None` if the project has no script, if
/// the script can't be read, or if the script is a template. A template needs no check.
pub(crate) fn own_script(project: &Project, files: &ProjectFiles) -> Option<(String, String)> {
    let Some(Script::File(name)) = &project.evaluation.as_ref()?.script else { return None };
    let bytes = files.read(name.as_str())?;
    Some((name.to_string(), String::from_utf8(bytes.into_owned()).ok()?))
}

/// The number of errors among the findings.
pub(crate) fn error_count(findings: &[Finding]) -> usize {
    findings.iter().filter(|f| f.severity == Severity::Error).count()
}

/// A world that was built from a project.
pub(crate) struct Built {
    pub(crate) project: Project,
    /// All files of the world, with its thumbnail.
    pub(crate) bundle: MemoryBundle,
    pub(crate) warnings: Vec<Finding>,
}

/// The world of a project, built in memory.
pub(crate) struct ProjectWorld {
    pub(crate) bundle: MemoryBundle,
    /// Name of the world.
    pub(crate) name: String,
    /// Display name of the project.
    pub(crate) display: String,
}

/// Builds the world of a project in memory.
pub(crate) fn bundle(path: &str) -> Result<ProjectWorld, ProjectError> {
    let (project, files) = open(path)?;
    let (bundle, world) = build_and_load(path, &project, &files)?;
    Ok(ProjectWorld { bundle, name: world.name, display: project.display_name })
}

fn build_and_load(
    path: &str,
    project: &Project,
    files: &ProjectFiles,
) -> Result<(MemoryBundle, World), ProjectError> {
    let bundle = build_bundle(project, files)
        .map_err(|source| ProjectError::Build { path: path.to_owned(), source })?;
    let world = World::load(&Assets::of(&bundle))
        .map_err(|source| ProjectError::World { path: path.to_owned(), source })?;
    Ok((bundle, world))
}

/// Builds the world of a project, with a thumbnail. If `name` is given, it replaces the name of the
/// world in all files of the world. An invalid judging script is refused.
pub(crate) fn build(path: &str, name: Option<WorldName>, judge: &JudgeArgs) -> Result<Built, ProjectError> {
    let (mut project, files) = open(path)?;
    // If the project has errors, its script is not checked. The build below reports the errors.
    if error_count(&check(&project)) == 0
        && let Some((file, script)) = own_script(&project, &files)
    {
        judge_script::require_valid(judge, &format!("{path}: {file}"), &script)?;
    }
    let mut progress = Progress::new(format!("building {}", project.name));
    project.name = name.unwrap_or(project.name);
    let (mut bundle, world) = build_and_load(path, &project, &files)?;
    progress.set_text(format!("drawing {}", project.display_name));
    progress.set(0.4);
    let picture = thumbnail(&world, Arc::new(Profile::gen1()));
    bundle.insert(format!("track_iconography/{}.png", project.name), picture);
    progress.finish();
    let mut warnings = check(&project);
    warnings.extend(check_files(&project, &files));
    Ok(Built { project, bundle, warnings })
}
