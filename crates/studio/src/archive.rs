//! Packs a project and its files as a zip file, and unpacks such a file. An archive is untrusted:
//! names and sizes are checked while the files are read.

use crate::picture::FileError;
use chicane_builder::project::MAX_JSON;
use chicane_store::Projects;
use std::collections::BTreeMap;
use std::io::{Cursor, Read, Write};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

/// Largest number of entries of an archive, including folders.
const MAX_ENTRIES: usize = 200;
/// Maximum distance of the end record from the end of an archive, bytes: the record has 22 bytes,
/// and a comment of up to 64 KiB may follow. The record contains the number of entries.
const END_BYTES: usize = (64 << 10) + 22;
/// Folder that macOS adds to archives. It has no files of the project.
const FOLDER_OF_MAC: &str = "__MACOSX/";

/// Why a zip file is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ArchiveError {
    /// The zip file can't be read.
    #[error("the zip file is broken: {0}")]
    Broken(String),
    /// The zip file has too many entries.
    #[error("the zip file has more than {MAX_ENTRIES} entries")]
    TooMany,
    /// The unpacked files are too large together.
    #[error("the zip file unpacks to more than {} MiB", max_total() >> 20)]
    TooLarge,
    /// The zip file needs a password.
    #[error("the zip file needs a password: make it without one")]
    Encrypted,
    /// The zip file has none, or more than one, project document.
    #[error("the zip file must have exactly one project document, NAME.json; it has {0}")]
    Documents(usize),
    /// An entry can't be a file of a project.
    #[error("the zip file has an entry that can't be a file of a project: {0}")]
    Entry(FileError),
}

fn max_total() -> usize {
    Projects::MAX_FILE_BYTES + MAX_JSON
}

/// The content of an archive: the document, and the files beside it.
pub(crate) struct Unpacked {
    pub(crate) document: Vec<u8>,
    pub(crate) files: Vec<(String, Vec<u8>)>,
}

/// Packs a document and its files, without compression.
pub(crate) fn pack(document: (&str, &[u8]), files: &[(String, Vec<u8>)]) -> Result<Vec<u8>, ArchiveError> {
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Stored)
        .last_modified_time(zip::DateTime::default())
        .unix_permissions(0o644);
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    let files = files.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice()));
    for (name, bytes) in std::iter::once(document).chain(files) {
        archive.start_file(name, options).map_err(broken)?;
        archive.write_all(bytes).map_err(|e| ArchiveError::Broken(e.to_string()))?;
    }
    Ok(archive.finish().map_err(broken)?.into_inner())
}

/// Reads an archive. If all files are in one folder, their names are returned without this folder.
pub(crate) fn unpack(bytes: &[u8]) -> Result<Unpacked, ArchiveError> {
    // The zip reader allocates memory for all entries when it opens an archive. Therefore the
    // number of entries in the end record, which starts with `PK`, 5 and 6, is checked first.
    let end = &bytes[bytes.len().saturating_sub(END_BYTES)..];
    let counts = end.windows(12).filter(|w| w.starts_with(b"PK\x05\x06"));
    if counts.map(|w| usize::from(u16::from_le_bytes([w[10], w[11]]))).any(|count| count > MAX_ENTRIES) {
        return Err(ArchiveError::TooMany);
    }
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(broken)?;
    if archive.len() > MAX_ENTRIES {
        return Err(ArchiveError::TooMany);
    }
    let mut entries: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    let mut room = max_total();
    for i in 0..archive.len() {
        let entry = archive.by_index(i).map_err(broken)?;
        let name = entry.name().map_err(broken)?.into_owned();
        if entry.encrypted() {
            return Err(ArchiveError::Encrypted);
        }
        if entry.is_dir() || name.starts_with(FOLDER_OF_MAC) {
            continue;
        }
        if entry.is_symlink() {
            return Err(ArchiveError::Entry(FileError::Name(name.chars().take(80).collect())));
        }
        let mut content = Vec::new();
        let read = entry.take(room as u64 + 1).read_to_end(&mut content);
        read.map_err(|e| ArchiveError::Broken(e.to_string()))?;
        room = room.checked_sub(content.len()).ok_or(ArchiveError::TooLarge)?;
        entries.insert(name, content);
    }
    let folder = common_folder(&entries);
    let mut entries: Vec<(String, Vec<u8>)> =
        entries.into_iter().map(|(name, bytes)| (name[folder..].to_owned(), bytes)).collect();
    let is_document = |name: &str| name.to_ascii_lowercase().ends_with(".json");
    let documents = entries.iter().filter(|(name, _)| is_document(name)).count();
    match entries.iter().position(|(name, _)| is_document(name)) {
        Some(place) if documents == 1 => {
            let (_, document) = entries.remove(place);
            Ok(Unpacked { document, files: entries })
        }
        _ => Err(ArchiveError::Documents(documents)),
    }
}

/// The length of the name of the folder that all entries share, with its slash; 0 if there is no
/// such folder.
fn common_folder(entries: &BTreeMap<String, Vec<u8>>) -> usize {
    let first = entries.keys().next().and_then(|name| name.split_once('/')).map(|(folder, _)| folder);
    let Some(folder) = first else { return 0 };
    let inside = |name: &String| name.split_once('/').is_some_and(|(other, _)| other == folder);
    if entries.keys().all(inside) { folder.len() + 1 } else { 0 }
}

fn broken(error: zip::result::ZipError) -> ArchiveError {
    match error {
        zip::result::ZipError::UnsupportedArchive(why) if why.to_lowercase().contains("password") => {
            ArchiveError::Encrypted
        }
        error => ArchiveError::Broken(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(of: &[(&str, &str)]) -> Vec<(String, Vec<u8>)> {
        of.iter().map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec())).collect()
    }

    #[test]
    fn a_packed_project_is_read_again_also_from_a_folder() {
        let beside = files(&[("judge.py", "x"), ("pictures/a.png", "y")]);
        let packed = pack(("oval.json", b"{}"), &beside).expect("packed");
        assert_eq!(packed, pack(("oval.json", b"{}"), &beside).expect("packed"), "the same bytes");
        let unpacked = unpack(&packed).expect("read");
        assert_eq!((unpacked.document.as_slice(), unpacked.files), (&b"{}"[..], beside));
        let inside = files(&[("top/judge.py", "x"), ("__MACOSX/top/._judge.py", "z")]);
        let unpacked = unpack(&pack(("top/oval.json", b"{}"), &inside).expect("packed")).expect("read");
        assert_eq!(unpacked.files, files(&[("judge.py", "x")]));
    }

    #[test]
    fn hostile_archives_are_refused() {
        let refused = |bytes: &[u8]| unpack(bytes).map(|_| ()).expect_err("refused");
        assert!(matches!(refused(b"PK\x03\x04 nonsense"), ArchiveError::Broken(_)));
        let none = pack(("a.txt", b"x"), &[]).expect("packed");
        assert_eq!(refused(&none), ArchiveError::Documents(0));
        let two = pack(("a.json", b"{}"), &files(&[("b.json", "{}")])).expect("packed");
        assert_eq!(refused(&two), ArchiveError::Documents(2));
        let many: Vec<(String, Vec<u8>)> =
            (0..MAX_ENTRIES).map(|i| (format!("{i}.py"), Vec::new())).collect();
        assert_eq!(refused(&pack(("a.json", b"{}"), &many).expect("packed")), ArchiveError::TooMany);
        // A file of zeros is compressed to a thousandth of its size, so this small archive unpacks
        // to more than the limit.
        let mut bomb = ZipWriter::new(Cursor::new(Vec::new()));
        bomb.start_file("a.png", SimpleFileOptions::default()).expect("started");
        bomb.write_all(&vec![0; max_total() + 1]).expect("written");
        let bomb = bomb.finish().expect("packed").into_inner();
        assert!(bomb.len() < 1 << 20);
        assert_eq!(refused(&bomb), ArchiveError::TooLarge);
    }
}
