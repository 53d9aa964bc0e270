//! `chicane new`: writes a project with a random track.

use crate::args::NewArgs;
use crate::file_error::FileError;
use chicane_builder::{RandomError, RandomTrackOptions, random};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Why no project was written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NewError {
    #[error("the system gives no random numbers: {0}")]
    Seed(getrandom::Error),
    #[error(transparent)]
    Track(#[from] RandomError),
    #[error("{} already exists. Choose another name, or remove the file first", .0.display())]
    Exists(PathBuf),
    #[error(transparent)]
    File(#[from] FileError),
}

pub(crate) fn run(args: &NewArgs) -> Result<(), NewError> {
    let seed = match args.seed {
        Some(seed) => seed,
        None => u64::from(getrandom::u32().map_err(NewError::Seed)?),
    };
    let text = random::track(&RandomTrackOptions {
        seed,
        field: args.field,
        width: args.width,
        tightness: args.tightness,
        length: args.length,
    })?
    .to_json();
    let Some(path) = &args.output else {
        print!("{text}");
        return Ok(());
    };
    create(path, &text).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => NewError::Exists(path.clone()),
        _ => FileError::write(path)(error).into(),
    })?;
    println!("{}: random_{seed}", path.display());
    Ok(())
}

fn create(path: &Path, text: &str) -> std::io::Result<()> {
    std::fs::File::create_new(path)?.write_all(text.as_bytes())
}
