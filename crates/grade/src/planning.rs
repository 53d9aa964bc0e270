//! Makes the plan: unpacks the submissions, finds their programs, and writes `plan.json` with the
//! files that the units need.

use crate::csv::{self, CsvError};
use crate::folder::{self, FolderError, ResultsFolder};
use crate::formula::Formula;
use crate::plan::{
    Conditions, FORMAT, MAX_PLAN, Plan, PlannedProfile, PlannedProgram, PlannedStudent, PlannedWorld,
};
use crate::roster::{Match, Roster};
use crate::submissions::{self, Submission, SubmissionsError};
use crate::{names, program, unpack};
use chicane_store::Sum;
use chicane_wire::ProgramVersion;
use chicane_world::Profile;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Maximum number of units of a plan.
pub const MAX_UNITS: usize = 200_000;
/// The field `problem` of a student without a submission.
pub const NO_SUBMISSION: &str = "no submission";
/// The remark about a student without a row in the roster.
pub const NOT_IN_ROSTER: &str = "this student is not in the roster";
/// The remark about a student whose row in the roster is unknown, because several rows fit.
pub const SEVERAL_IN_ROSTER: &str = "several students of the roster have this name or number";

/// Why there is no plan. A submission that can't be run does not cause an error: its student is in
/// the plan, with the reason and without a program.
#[derive(Debug, thiserror::Error)]
pub enum PlanningError {
    /// The submissions can't be found.
    #[error(transparent)]
    Submissions(#[from] SubmissionsError),
    /// The roster can't be read.
    #[error(transparent)]
    Table(#[from] CsvError),
    /// The roster has no columns with the names of the students.
    #[error("{}: {why}", path.display())]
    Roster {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// There are too many units.
    #[error("the plan has {0} runs; at most {MAX_UNITS} are possible: give fewer worlds or seeds")]
    TooMany(usize),
    /// The plan would be larger than `MAX_PLAN`, so it could not be read again.
    #[error("the plan is larger than 64 MiB: give fewer worlds or seeds, or a roster with fewer columns")]
    TooLarge,
    /// A file can't be written.
    #[error(transparent)]
    Folder(#[from] FolderError),
}

/// What is graded, and how.
pub struct PlanRequest<'a> {
    /// Folder, archive or list with the submissions.
    pub submissions: &'a Path,
    /// The list of students.
    pub roster: Option<&'a Path>,
    /// The command for submissions that have no [`run.toml`](crate::program::RUN_FILE).
    pub command: Option<&'a str>,
    /// Name of the assignment.
    pub assignment: String,
    /// The version of this program.
    pub chicane: ProgramVersion,
    /// The car.
    pub profile: &'a Profile,
    /// The worlds with their files. [`make`] sets the field `folder` of each world.
    pub worlds: Vec<(PlannedWorld, BTreeMap<String, Vec<u8>>)>,
    /// The seeds, ascending.
    pub seeds: Vec<u64>,
    /// How results become a grade.
    pub grading: Formula,
    /// The conditions that are the same for all units.
    pub conditions: Conditions,
}

/// Makes the plan and writes it to the folder.
pub fn make(request: PlanRequest<'_>, folder: &ResultsFolder) -> Result<Plan, PlanningError> {
    let scratch = folder.path().join("scratch");
    folder::remove(&scratch)?;
    folder::make(&scratch)?;
    let planned = make_with(request, folder, &scratch);
    let removed = folder::remove(&scratch);
    let plan = planned?;
    removed?;
    Ok(plan)
}

fn make_with(
    request: PlanRequest<'_>,
    folder: &ResultsFolder,
    scratch: &Path,
) -> Result<Plan, PlanningError> {
    let found = submissions::find(request.submissions, &scratch.join("class"))?;
    let roster = request.roster.map(read_roster).transpose()?;
    let mut students = Vec::new();
    let rows = assign(&found.submissions, roster.as_ref());
    let all = scratch.join("submissions");
    folder::make(&all)?;
    let keys = keys(&found.submissions, &rows, roster.as_ref());
    for ((submission, row), key) in found.submissions.iter().zip(&rows).zip(keys) {
        students.push(named_student(submission, *row, roster.as_ref(), key));
    }
    mark_shared_rows(&mut students, &rows);
    for (student, submission) in students.iter_mut().zip(&found.submissions) {
        add_program(student, submission, request.command, &all, scratch);
    }
    students.extend(without_submission(roster.as_ref(), &rows, &students));
    students.sort_by(|a, b| (names::normal(&a.name), &a.key).cmp(&(names::normal(&b.name), &b.key)));
    let profile = serde_json::to_vec(request.profile).unwrap_or_default();
    let mut plan = Plan {
        format: FORMAT,
        assignment: request.assignment,
        chicane: request.chicane,
        profile: PlannedProfile {
            generation: request.profile.generation.clone(),
            file: "profile.json".into(),
            sha256: Sum::of(&profile).hex(),
        },
        conditions: request.conditions,
        worlds: Vec::new(),
        seeds: request.seeds,
        grading: request.grading,
        students,
        roster: roster.map(|roster| roster.table.columns).unwrap_or_default(),
        ignored: found.ignored,
        units: Vec::new(),
    };
    plan.worlds = write_worlds(request.worlds, &scratch.join("worlds"))?;
    plan.add_units();
    if plan.units.len() > MAX_UNITS {
        return Err(PlanningError::TooMany(plan.units.len()));
    }
    let mut text = serde_json::to_vec_pretty(&plan).unwrap_or_default();
    text.push(b'\n');
    if text.len() as u64 > MAX_PLAN {
        return Err(PlanningError::TooLarge);
    }
    folder.write("profile.json", &profile)?;
    for name in ["worlds", "submissions"] {
        replace(&scratch.join(name), &folder.path().join(name))?;
    }
    folder.write("plan.json", &text)?;
    Ok(plan)
}

fn read_roster(path: &Path) -> Result<Roster, PlanningError> {
    let bad = |why| PlanningError::Roster { path: path.to_owned(), why };
    Roster::new(csv::read(path)?).map_err(bad)
}

/// Finds the row of the roster for each submission.
fn assign(submissions: &[Submission], roster: Option<&Roster>) -> Vec<Match> {
    let find = |one: &Submission| roster.map_or(Match::None, |r| r.find(&one.name, one.id.as_deref()));
    submissions.iter().map(find).collect()
}

/// A key for each student, for use in paths. If several submissions would have the same key, the
/// first digits of a hash are appended to each of these keys. The hash covers the student's name,
/// the student's number and the name of the upload. A counter instead of the hash would depend on
/// the order of the submissions. Two rows of a list with the same three values share a key, but
/// [`submissions::find`] marks such rows as unusable.
fn keys(submissions: &[Submission], rows: &[Match], roster: Option<&Roster>) -> Vec<String> {
    let plain: Vec<String> =
        submissions.iter().zip(rows).map(|(one, row)| names::key(&name_of(one, *row, roster))).collect();
    let count = |key: &String| plain.iter().filter(|other| *other == key).count();
    let unique = submissions.iter().zip(&plain).map(|(one, key)| {
        if count(key) == 1 {
            return key.clone();
        }
        let id = format!("{:?}", (&one.name, &one.id, &one.source));
        format!("{key}-{}", &Sum::of(id.as_bytes()).hex()[..8])
    });
    unique.collect()
}

fn name_of(submission: &Submission, row: Match, roster: Option<&Roster>) -> String {
    let known = match (row, roster) {
        (Match::Row(row), Some(roster)) => Some(roster.name_of(row)),
        _ => None,
    };
    let name = known.filter(|name| !name.is_empty()).unwrap_or_else(|| submission.name.clone());
    if name.is_empty() { submission.source.clone() } else { name }
}

fn named_student(
    submission: &Submission,
    row: Match,
    roster: Option<&Roster>,
    key: String,
) -> PlannedStudent {
    let remark = match (row, roster) {
        (Match::None, Some(_)) => Some(NOT_IN_ROSTER.to_owned()),
        (Match::Several, Some(_)) => Some(SEVERAL_IN_ROSTER.to_owned()),
        _ => None,
    };
    let cells = match (row, roster) {
        (Match::Row(row), Some(roster)) => roster.table.rows[row].clone(),
        _ => Vec::new(),
    };
    PlannedStudent {
        key,
        name: name_of(submission, row, roster),
        id: submission.id.clone(),
        submission: Some(submission.source.clone()),
        late: submission.late,
        program: None,
        problem: submission.problem.clone(),
        remark,
        roster: cells,
    }
}

/// Unpacks a submission, and sets the student's program. If there is none, sets the reason.
fn add_program(
    student: &mut PlannedStudent,
    submission: &Submission,
    command: Option<&str>,
    all: &Path,
    scratch: &Path,
) {
    if student.problem.is_some() {
        return;
    }
    let to = all.join(&student.key);
    let unpacked = unpack::unpack(submission, &to, &scratch.join("one")).map_err(|error| error.to_string());
    let program = unpacked.and_then(|()| {
        let command = program::command(&to, command).map_err(|error| error.to_string())?;
        let identity = program::identity(&to).map_err(|error| error.to_string())?;
        Ok(PlannedProgram { folder: Path::new("submissions").join(&student.key), command, identity })
    });
    match program {
        Ok(program) => student.program = Some(program),
        Err(why) => student.problem = Some(why.replace(&*scratch.to_string_lossy(), "")),
    }
}

/// The students of the roster whose row belongs to no submission.
fn without_submission(
    roster: Option<&Roster>,
    rows: &[Match],
    students: &[PlannedStudent],
) -> Vec<PlannedStudent> {
    let Some(roster) = roster else { return Vec::new() };
    let missing = (0..roster.table.rows.len()).filter(|row| !rows.contains(&Match::Row(*row)));
    let mut all: Vec<PlannedStudent> = Vec::new();
    for row in missing {
        let name = roster.name_of(row);
        let mut key = names::key(&name);
        if students.iter().chain(&all).any(|other| other.key == key) {
            key = format!("{key}-row-{}", row + 1);
        }
        all.push(PlannedStudent {
            key,
            name,
            id: None,
            submission: None,
            late: false,
            program: None,
            problem: Some(NO_SUBMISSION.to_owned()),
            remark: None,
            roster: roster.table.rows[row].clone(),
        });
    }
    all
}

fn write_worlds(
    worlds: Vec<(PlannedWorld, BTreeMap<String, Vec<u8>>)>,
    to: &Path,
) -> Result<Vec<PlannedWorld>, FolderError> {
    folder::make(to)?;
    let mut planned = Vec::new();
    for (world, files) in worlds {
        let folder = to.join(&world.name);
        for (path, bytes) in files {
            let file = folder.join(path);
            folder::make(file.parent().unwrap_or(&folder))?;
            std::fs::write(&file, bytes).map_err(|source| FolderError::Write { path: file, source })?;
        }
        planned.push(PlannedWorld { folder: Path::new("worlds").join(&world.name), ..world });
    }
    Ok(planned)
}

/// Replaces the folder `to` with the folder `from`.
fn replace(from: &Path, to: &Path) -> Result<(), FolderError> {
    folder::remove(to)?;
    std::fs::rename(from, to).map_err(|source| FolderError::Write { path: to.to_owned(), source })
}

/// Marks students whose submissions belong to the same row of the roster, because it is unknown
/// which submission counts.
fn mark_shared_rows(students: &mut [PlannedStudent], rows: &[Match]) {
    for (i, row) in rows.iter().enumerate() {
        let shared = matches!(row, Match::Row(_)) && rows.iter().filter(|other| *other == row).count() > 1;
        if shared {
            let reason = "two submissions belong to this student: remove one of them".to_owned();
            students[i].problem.get_or_insert(reason);
        }
    }
}
