//! Finds what each student handed in: in a folder, in one zip file with all submissions, or by a
//! list.

use crate::archive::{self, ArchiveError};
use crate::csv::{self, CsvError};
use crate::names::{self, UploadName};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Maximum number of submissions of a class.
pub const MAX_STUDENTS: usize = 20_000;
/// Files and folders that operating systems and archivers leave behind.
const JUNK: [&str; 4] = ["__MACOSX", ".DS_Store", "Thumbs.db", "desktop.ini"];

/// Why [`find`] fails.
#[derive(Debug, thiserror::Error)]
pub enum SubmissionsError {
    /// The path does not exist or can't be read.
    #[error("can't read {}: {source}", path.display())]
    Read {
        /// The folder or file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The file is neither an archive nor a list.
    #[error("{} is neither a folder, nor a zip file, nor a list .csv of submissions", .0.display())]
    Kind(PathBuf),
    /// The archive with all submissions can't be unpacked.
    #[error("{}: {error}", path.display())]
    Archive {
        /// The archive.
        path: PathBuf,
        /// What is wrong with it.
        error: ArchiveError,
    },
    /// The list can't be read.
    #[error(transparent)]
    List(#[from] CsvError),
    /// The list has no column with the names, or none with the paths.
    #[error("{} needs a column \"name\" and a column \"path\"", .0.display())]
    Columns(PathBuf),
    /// There is no submission.
    #[error("{} has no submission: give a folder with one folder or zip file for each student", .0.display())]
    Empty(PathBuf),
    /// There are too many submissions.
    #[error("{} has more than {MAX_STUDENTS} submissions", .0.display())]
    TooMany(PathBuf),
}

/// What one student handed in.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Submission {
    /// Name of the student.
    pub name: String,
    /// Number of the student in the learning platform or in the list; `None` if there is none.
    pub id: Option<String>,
    /// Whether the submission was late.
    pub late: bool,
    /// Name of the uploaded file or folder, for messages and the report.
    pub source: String,
    /// Paths of the uploaded files and folders, each with its file name in the unpacked submission.
    /// If a learning platform put a prefix before the student's file name, the prefix is removed.
    /// A Python file that a list names, or that no learning platform named, becomes `main.py`. A
    /// single folder or zip file does not keep its name, because only its content is unpacked.
    pub parts: Vec<(PathBuf, String)>,
    /// Why the submission can't be used; `None` if no problem was found so far.
    pub problem: Option<String>,
}

/// The submissions, sorted by name, and the names of files that are not submissions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Found {
    /// The submissions.
    pub submissions: Vec<Submission>,
    /// Names of files that were ignored, and of entries of an archive that were left out and belong
    /// to no submission.
    pub ignored: Vec<String>,
}

/// Finds the submissions at a path. An archive with all submissions is unpacked to `scratch`, which
/// must not exist.
pub fn find(path: &Path, scratch: &Path) -> Result<Found, SubmissionsError> {
    let read = |source| SubmissionsError::Read { path: path.to_owned(), source };
    let metadata = std::fs::metadata(path).map_err(read)?;
    let has_extension =
        |wanted: &str| path.extension().is_some_and(|found| found.eq_ignore_ascii_case(wanted));
    let mut found = if metadata.is_dir() {
        in_folder(path).map_err(read)?
    } else if has_extension("zip") {
        let archive = |error| SubmissionsError::Archive { path: path.to_owned(), error };
        let left_out = archive::unpack_class(path, scratch, archive::CLASS).map_err(archive)?;
        let folder = only_folder(scratch);
        let mut found = in_folder(&folder).map_err(read)?;
        for (entry, why) in left_out {
            refuse(&mut found, &folder, scratch, &entry, &why);
        }
        found
    } else if has_extension("csv") {
        in_list(path)?
    } else {
        return Err(SubmissionsError::Kind(path.to_owned()));
    };
    match found.submissions.len() {
        0 => return Err(SubmissionsError::Empty(path.to_owned())),
        number if number > MAX_STUDENTS => return Err(SubmissionsError::TooMany(path.to_owned())),
        _ => {}
    }
    mark_same_names(&mut found.submissions);
    found.submissions.sort_by(|a, b| (&a.name, &a.id, &a.source).cmp(&(&b.name, &b.id, &b.source)));
    found.ignored.sort();
    Ok(found)
}

/// Records that an entry of an archive was left out: the submission that the entry belongs to gets
/// the problem `why`. If nothing else of this submission was unpacked, the submission is not in
/// `found` yet. It is then added, unless the entry is junk or a stray file. `entry` is relative to
/// `scratch`. The submissions are in `folder`, which is `scratch` or a folder in it.
fn refuse(found: &mut Found, folder: &Path, scratch: &Path, entry: &Path, why: &ArchiveError) {
    let whole = scratch.join(entry);
    let is_of =
        |submission: &&mut Submission| submission.parts.iter().any(|(part, _)| whole.starts_with(part));
    if let Some(submission) = found.submissions.iter_mut().find(is_of) {
        submission.problem.get_or_insert_with(|| why.to_string());
        return;
    }
    // The entry may be outside of `folder`. In this case, the first part of its path below
    // `scratch` is the name of the upload.
    let (root, below) = whole.strip_prefix(folder).map_or((scratch, entry), |below| (folder, below));
    let Some(name) = below.components().next().and_then(|part| part.as_os_str().to_str()) else {
        // If the first part of a name is unsafe, `entry` is empty, so no student can be derived
        // from it.
        found.ignored.push(match why {
            ArchiveError::Name(name) => name.clone(),
            _ => entry.display().to_string(),
        });
        return;
    };
    if name.starts_with('.') || is_junk(name) {
        return;
    }
    let is_folder = below.components().count() > 1;
    let upload = UploadName::parse(name, is_folder);
    // A refused link may have pointed to the folder of a student. It therefore becomes a submission
    // with a problem, and is not ignored like a stray file.
    let is_file = !is_folder && !matches!(why, ArchiveError::Link(_));
    if !upload.of_platform && is_file && !is_program_or_archive(name) {
        found.ignored.push(name.to_owned());
        return;
    }
    found.submissions.push(Submission {
        name: upload.student,
        id: upload.id,
        late: upload.late,
        source: name.to_owned(),
        parts: vec![(root.join(name), name.to_owned())],
        problem: Some(why.to_string()),
    });
}

/// Whether a file or folder is never part of a submission.
pub(crate) fn is_junk(name: &str) -> bool {
    JUNK.contains(&name) || name.starts_with("._")
}

/// The only folder inside this folder, or the folder itself. Many archives have a single folder
/// with everything in it.
fn only_folder(folder: &Path) -> PathBuf {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let entries: Vec<_> =
        entries.filter(|entry| entry.file_name().to_str().is_none_or(|name| !is_junk(name))).collect();
    match &entries[..] {
        // If a learning platform made the name of the single folder, or if the folder contains a
        // program, it is the submission of the only student, and not a folder around all
        // submissions.
        [only] if only.file_type().is_ok_and(|kind| kind.is_dir()) => {
            let name = only.file_name().to_string_lossy().into_owned();
            let has_program = ["main.py", "run.toml"].iter().any(|file| only.path().join(file).is_file());
            if UploadName::parse(&name, true).of_platform || has_program {
                folder.to_owned()
            } else {
                only.path()
            }
        }
        _ => folder.to_owned(),
    }
}

fn in_folder(folder: &Path) -> std::io::Result<Found> {
    let mut groups: BTreeMap<(String, Option<String>), Vec<Submission>> = BTreeMap::new();
    let mut found = Found::default();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let Ok(name) = entry.file_name().into_string() else {
            let name = entry.file_name().to_string_lossy().into_owned();
            found.submissions.push(Submission {
                name: names::clean(&name),
                source: name,
                problem: Some("the name of the upload is not UTF-8 text".to_owned()),
                ..Submission::default()
            });
            continue;
        };
        if name.starts_with('.') || is_junk(&name) {
            continue;
        }
        let kind = entry.file_type()?;
        let upload = UploadName::parse(&name, kind.is_dir());
        if !upload.of_platform && kind.is_file() && !is_program_or_archive(&name) {
            found.ignored.push(name);
            continue;
        }
        let (key, submission) = submission(upload, name, entry.path(), kind);
        groups.entry(key).or_default().push(submission);
    }
    for ((_, id), mut group) in groups {
        group.sort_by(|a, b| a.source.cmp(&b.source));
        match id {
            // Only a learning platform sets an id, and it gives all files of one student the same
            // id. The files are therefore joined.
            Some(_) => found.submissions.push(joined(group)),
            None => found.submissions.extend(group),
        }
    }
    Ok(found)
}

fn submission(
    upload: UploadName,
    name: String,
    path: PathBuf,
    kind: std::fs::FileType,
) -> ((String, Option<String>), Submission) {
    let UploadName { student, id, late, file, of_platform } = upload;
    let problem = if student.is_empty() {
        Some("the name of the upload has no name of a student".to_owned())
    } else if kind.is_symlink() {
        Some("the upload is a symbolic link, which is not followed".to_owned())
    } else {
        None
    };
    // A Python file whose name does not come from a learning platform is a whole submission. It is
    // stored as main.py, whatever its name, so that it can be started.
    let is_plain_program = !of_platform && kind.is_file() && name.to_lowercase().ends_with(".py");
    let own_name = if is_plain_program { "main.py".to_owned() } else { file.unwrap_or_else(|| name.clone()) };
    let key = (student.clone(), id.clone());
    (key, Submission { name: student, id, late, source: name, parts: vec![(path, own_name)], problem })
}

fn is_program_or_archive(name: &str) -> bool {
    let name = name.to_lowercase();
    [".py", ".zip", ".rar", ".7z", ".tar", ".gz", ".tgz", ".xz", ".bz2"].iter().any(|end| name.ends_with(end))
}

/// Joins several uploads of one student into one submission.
fn joined(group: Vec<Submission>) -> Submission {
    let mut all = group.into_iter();
    let mut first = all.next().unwrap_or_default();
    for other in all {
        first.late |= other.late;
        first.problem = first.problem.or(other.problem);
        first.parts.extend(other.parts);
    }
    // A text that the student typed into the platform is not a program, so it is ignored if there
    // are files.
    let is_text = |path: &Path| path.to_string_lossy().contains("_assignsubmission_onlinetext");
    if first.parts.iter().any(|(path, _)| !is_text(path)) {
        first.parts.retain(|(path, _)| !is_text(path));
    }
    first
}

fn in_list(path: &Path) -> Result<Found, SubmissionsError> {
    let table = csv::read(path)?;
    let name = table.column(&["name", "student", "full name"]);
    let place = table.column(&["path", "submission", "file", "folder"]);
    let (Some(name), Some(place)) = (name, place) else {
        return Err(SubmissionsError::Columns(path.to_owned()));
    };
    let id = table.column(&["id", "student id", "id number"]);
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut found = Found::default();
    for row in &table.rows {
        let given = row[place].trim();
        let file = folder.join(given);
        let problem = if names::clean(&row[name]).is_empty() {
            Some("the list has no name for this submission".to_owned())
        } else if given.is_empty() {
            Some("no submission".to_owned())
        } else if !file.exists() {
            Some(format!("the list names {given}, which does not exist"))
        } else {
            None
        };
        let base = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let own_name = if file.is_file() && base.ends_with(".py") { "main.py".to_owned() } else { base };
        found.submissions.push(Submission {
            name: names::clean(&row[name]),
            id: id.map(|id| row[id].trim().to_owned()).filter(|id| !id.is_empty()),
            source: given.to_owned(),
            parts: vec![(file, own_name)],
            problem,
            late: false,
        });
    }
    Ok(found)
}

/// Marks submissions whose students can't be told apart: they have the same name and no id, or the
/// same id.
fn mark_same_names(submissions: &mut [Submission]) {
    let mut by_name: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    let mut by_id: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (i, submission) in submissions.iter().enumerate() {
        match &submission.id {
            Some(id) => by_id.entry(id.clone()).or_default().push(i),
            None => by_name.entry(names::normal(&submission.name)).or_default().push(i),
        }
    }
    for same in by_name.into_values().filter(|same| same.len() > 1) {
        mark_same(submissions, &same, |submission| format!("name {:?}", submission.name));
    }
    for (id, same) in by_id.into_iter().filter(|(_, same)| same.len() > 1) {
        let first = names::normal(&submissions[same[0]].name);
        let have_one_name = same.iter().all(|&i| names::normal(&submissions[i].name) == first);
        mark_same(submissions, &same, |submission| {
            if have_one_name { format!("name {:?}", submission.name) } else { format!("number {id}") }
        });
    }
}

fn mark_same(submissions: &mut [Submission], same: &[usize], what: impl Fn(&Submission) -> String) {
    let sources: Vec<String> = same.iter().map(|&i| submissions[i].source.clone()).collect();
    for &i in same {
        let other = sources.iter().find(|other| **other != submissions[i].source);
        let reason = format!(
            "two submissions have the {} (the other: {}): rename one of them",
            what(&submissions[i]),
            other.map_or("the same path", String::as_str)
        );
        submissions[i].problem.get_or_insert(reason);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(folder: &str, entry: &str, why: &ArchiveError) -> Found {
        let mut found = Found::default();
        for _ in 0..2 {
            refuse(&mut found, Path::new(folder), Path::new("/scratch"), Path::new(entry), why);
        }
        found
    }

    #[test]
    fn a_reason_was_listed_as_the_name_of_a_file_that_belongs_to_no_student() {
        let why = ArchiveError::Name("../evil.py".to_owned());
        for folder in ["/scratch", "/scratch/class"] {
            let found = refused(folder, "", &why);
            assert_eq!(found.ignored[0], "../evil.py", "{folder}");
            assert!(found.submissions.is_empty(), "{found:?}");
        }
    }

    #[test]
    fn an_entry_beside_the_only_folder_became_a_submission_of_the_student_slash() {
        let found = refused("/scratch/class", "bo/main.py", &ArchiveError::Encrypted);
        assert_eq!((found.submissions.len(), found.submissions[0].source.as_str()), (1, "bo"));
        let found = refused("/scratch/class", "class/bo/main.py", &ArchiveError::Encrypted);
        assert_eq!((found.submissions.len(), found.submissions[0].source.as_str()), (1, "bo"));
    }

    #[test]
    fn a_readme_that_was_not_unpacked_became_a_submission() {
        for folder in ["/scratch", "/scratch/class"] {
            let found = refused(folder, "README.txt", &ArchiveError::Encrypted);
            assert_eq!(found.ignored[0], "README.txt", "{folder}");
            assert!(found.submissions.is_empty(), "{found:?}");
            let found = refused(folder, "bo.py", &ArchiveError::Encrypted);
            assert_eq!(found.submissions[0].name, "bo", "{found:?}");
        }
    }
}
