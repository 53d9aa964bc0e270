//! The student's program in a run file.
//!
//! Each file is a part with the name `program/KIND/PATH`. `KIND` is one letter for the kind of the
//! file.

use crate::recorded_run::RunError;
use chicane_session::jail::program_files::{self, FileKind, ProgramFile};
use chicane_store::run_file::Parts;
use chicane_wire::Record;
use std::path::{Component, Path};

const FOLDER: &str = "program/";

/// Adds the program in a folder to the parts of a run file. The program must be the one that was
/// judged.
pub fn add_program(parts: &mut Parts, record: &Record, folder: &Path) -> Result<(), RunError> {
    let recorded = record.identity.program.as_ref().ok_or(RunError::NoProgram)?;
    let (found, files) = program_files::read(folder)?;
    if found.sha256 != recorded.sha256 {
        let folder = folder.display().to_string();
        return Err(RunError::OtherProgram {
            folder,
            found: found.sha256,
            recorded: recorded.sha256.clone(),
        });
    }
    parts.extend(files.into_iter().map(|file| {
        let name = format!("{FOLDER}{}/{}", char::from(file.kind.letter()), file.path);
        (name, file.content)
    }));
    Ok(())
}

/// The files of the program among the parts of a run file.
pub(super) fn program_of(parts: &Parts) -> Result<Vec<ProgramFile>, RunError> {
    let named = parts.iter().filter_map(|(name, content)| Some((name.strip_prefix(FOLDER)?, content)));
    named
        .map(|(name, content)| {
            let wrong = || RunError::ProgramFile(name.to_owned());
            let (letter, path) = name.split_once('/').ok_or_else(wrong)?;
            let kind = FileKind::ALL.into_iter().find(|kind| letter.as_bytes() == [kind.letter()]);
            let is_inside = Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
            let kind = kind.filter(|_| is_inside && !path.is_empty()).ok_or_else(wrong)?;
            Ok(ProgramFile { path: path.to_owned(), kind, content: content.clone() })
        })
        .collect()
}
