//! `chicane build`: builds the world of a project into a folder.

use crate::args::BuildArgs;
use crate::file_error::FileError;
use crate::project::{self, Built, ProjectError};
use chicane_store::FolderBundle;
use chicane_world::{Bundle, MemoryBundle};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Why no world was built.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BuildCommandError {
    #[error(transparent)]
    Project(#[from] ProjectError),
    #[error("{} is not empty and contains something other than {world}", folder.display())]
    NotEmpty { folder: PathBuf, world: String },
    #[error(transparent)]
    File(#[from] FileError),
}

pub(crate) fn run(args: &BuildArgs) -> Result<(), BuildCommandError> {
    let folder = &args.output;
    let Built { project, bundle, warnings } = project::build(&args.project, None, &args.judge)?;
    prepare_folder(project.name.as_str(), folder)?;
    write(&bundle, folder)?;
    for warning in warnings {
        eprintln!("{warning}");
    }
    println!("{}: {} files of the world {}", folder.display(), bundle.files.len(), project.name);
    Ok(())
}

/// Creates the folder. An existing folder is accepted only if it is empty or this world is its only
/// world. Removes the meshes, the judging script and the evaluation config of an earlier build,
/// because the new build may not have these files and would leave the old ones in the folder.
fn prepare_folder(world: &str, folder: &Path) -> Result<(), BuildCommandError> {
    std::fs::create_dir_all(folder).map_err(FileError::write(folder))?;
    if std::fs::read_dir(folder).map_err(FileError::read(folder))?.next().is_none() {
        return Ok(());
    }
    if FolderBundle::new(folder).list("worlds/") != [format!("worlds/{world}.world")] {
        return Err(BuildCommandError::NotEmpty { folder: folder.to_owned(), world: world.to_owned() });
    }
    let allow_missing = |removed: std::io::Result<()>| match removed {
        Err(e) if e.kind() != ErrorKind::NotFound => Err(FileError::write(folder)(e)),
        _ => Ok(()),
    };
    allow_missing(std::fs::remove_dir_all(folder.join("meshes").join(world)))?;
    for extension in ["json", "py"] {
        let file = folder.join("evaluations").join(format!("{world}.{extension}"));
        allow_missing(std::fs::remove_file(file))?;
    }
    Ok(())
}

fn write(bundle: &MemoryBundle, folder: &Path) -> Result<(), FileError> {
    for (path, bytes) in &bundle.files {
        let file = folder.join(path);
        if let Some(parent) = file.parent() {
            std::fs::create_dir_all(parent).map_err(FileError::write(&file))?;
        }
        std::fs::write(&file, bytes).map_err(FileError::write(&file))?;
    }
    Ok(())
}
