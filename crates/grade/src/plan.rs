//! `plan.json`: who is graded, where, and how.
//!
//! A unit needs the plan, the files beside it, and the further files that a closed box shows to the
//! program (`--student-path`). The paths of these further files are absolute. All other paths are
//! relative to the folder of the plan, so the folder can be copied to another machine. The plan
//! contains no wall-clock time and no name of a machine, so the same submissions and options give
//! the same bytes.

use crate::formula::Formula;
use chicane_store::Sum;
use chicane_wire::{Better, BoxKind, Pace, ProgramIdentity, ProgramVersion, StudentNetwork};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The version of the format of plans and results. Results of other versions are ignored.
pub const FORMAT: u32 = 1;
/// Largest plan, in bytes.
pub(crate) const MAX_PLAN: u64 = 64 << 20;

/// Who is graded, where, and how.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The version of the format.
    pub format: u32,
    /// Name of the assignment.
    pub assignment: String,
    /// The version of the simulator that made the plan.
    pub chicane: ProgramVersion,
    /// The car.
    pub profile: PlannedProfile,
    /// The conditions that are the same for all units.
    pub conditions: Conditions,
    /// The worlds.
    pub worlds: Vec<PlannedWorld>,
    /// The seeds, ascending.
    pub seeds: Vec<u64>,
    /// How results become a grade.
    pub grading: Formula,
    /// The students, sorted by name.
    pub students: Vec<PlannedStudent>,
    /// Names of the roster's columns; empty without a roster.
    pub roster: Vec<String>,
    /// Names of uploaded files that belong to no student.
    pub ignored: Vec<String>,
    /// The units: each student with a program, in each world, with each seed.
    pub units: Vec<Unit>,
}

/// The profile of the car.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedProfile {
    /// Name of the car's generation.
    pub generation: String,
    /// Path of the file with the profile, relative to the folder of the plan.
    pub file: PathBuf,
    /// SHA-256 of the profile, the same value as in records.
    pub sha256: String,
}

/// The conditions that are the same for all units.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Conditions {
    /// How simulated time advances.
    pub pace: Pace,
    /// Time limit in simulated seconds; null if the time limit of each world applies.
    pub time_limit_s: Option<f64>,
    /// Limit of a run in real seconds; null for the default of evaluations.
    pub wall_limit_s: Option<f64>,
    /// The isolation of programs.
    #[serde(rename = "box")]
    pub program_box: PlannedBox,
    /// The isolation of judging scripts: the jail of the simulator, or a container.
    pub judge: PlannedJudge,
}

/// The isolation of programs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedBox {
    /// The kind of box.
    pub kind: BoxKind,
    /// What the program can reach over the network besides the simulator.
    pub network: StudentNetwork,
    /// Further files and folders that a closed box shows.
    pub paths: Vec<PathBuf>,
    /// Names of further environment variables that the program gets.
    pub environment: Vec<String>,
    /// SHA-256 of the content of `paths` and `environment`; `None` if both are empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown_sha256: Option<String>,
    /// Limit of memory in bytes.
    pub memory: u64,
    /// Limit of processes and threads.
    pub processes: u64,
    /// Limit of all files in the box, in bytes.
    pub files: u64,
}

/// The isolation of judging scripts: the jail of the simulator, or a container.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedJudge {
    /// `own` for the jail of the simulator, `podman` or `docker` for a container.
    pub engine: String,
    /// Image of the container; null for the default.
    pub image: Option<String>,
}

/// A world.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlannedWorld {
    /// Name of the world.
    pub name: String,
    /// Display name.
    pub display: String,
    /// Id of the world, if it was published.
    pub world_id: Option<String>,
    /// Revision, if the world was published.
    pub rev: Option<String>,
    /// Path of the folder with the world's files, relative to the folder of the plan.
    pub folder: PathBuf,
    /// SHA-256 of the world's files.
    pub sha256: String,
    /// SHA-256 of the judging script.
    pub judge_sha256: String,
    /// Whether a lower or a higher result is better.
    pub better: Better,
    /// Time limit of a run in simulated seconds.
    pub time_limit_s: f64,
    /// Description of the task.
    pub description: String,
    /// What a seed varies in the world; null if a seed varies nothing.
    pub variation: Value,
}

/// A student.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlannedStudent {
    /// The name of the student in paths. It is unique among the students with a program.
    pub key: String,
    /// Name of the student.
    pub name: String,
    /// Number in the learning platform or in the list of submissions; null if there is none.
    pub id: Option<String>,
    /// Name of the uploaded file or folder; null if there is none.
    pub submission: Option<String>,
    /// Whether the submission was late.
    pub late: bool,
    /// The program; null if it can't be run.
    pub program: Option<PlannedProgram>,
    /// Why there is no program; null if there is one.
    pub problem: Option<String>,
    /// A remark for the teacher, such as a missing row in the roster.
    pub remark: Option<String>,
    /// The cells of the student's row in the roster; empty if the student has no row.
    pub roster: Vec<String>,
}

/// The program of a student.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedProgram {
    /// Path of the folder with the program, relative to the folder of the plan.
    pub folder: PathBuf,
    /// The command that starts the program.
    pub command: String,
    /// Hash, number and size of the program's files.
    #[serde(flatten)]
    pub identity: ProgramIdentity,
}

/// One run of the plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unit {
    /// `<key of the student>/<world>/<seed>`.
    pub id: String,
    /// Key of the student.
    pub student: String,
    /// Name of the world.
    pub world: String,
    /// The seed.
    pub seed: u64,
    /// SHA-256 of everything that the result depends on: student, program, command, world, judging
    /// script, profile, seed, variation, conditions and version.
    pub hash: String,
}

/// Everything that the result of a unit depends on.
#[derive(Serialize)]
struct Dependencies<'a> {
    format: u32,
    chicane: &'a ProgramVersion,
    student: &'a str,
    name: &'a str,
    program_sha256: &'a str,
    command: &'a str,
    world: &'a str,
    world_sha256: &'a str,
    judge_sha256: &'a str,
    variation: &'a Value,
    profile_sha256: &'a str,
    seed: u64,
    conditions: &'a Conditions,
}

/// Why a plan can't be used.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// The file can't be read.
    #[error("can't read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The file is not a plan.
    #[error("{} is not a plan of chicane grade: {why}", path.display())]
    Bad {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
}

impl Plan {
    /// Reads a plan.
    pub fn read(path: &Path) -> Result<Plan, PlanError> {
        let read = |source| PlanError::Read { path: path.to_owned(), source };
        let bad = |why: String| PlanError::Bad { path: path.to_owned(), why };
        if std::fs::metadata(path).map_err(read)?.len() > MAX_PLAN {
            return Err(bad("it is larger than 64 MiB".to_owned()));
        }
        let bytes = std::fs::read(path).map_err(read)?;
        #[derive(Deserialize)]
        struct Head {
            format: u32,
        }
        let head: Head = serde_json::from_slice(&bytes).map_err(|error| bad(error.to_string()))?;
        if head.format != FORMAT {
            return Err(bad(format!("its format is {}, and this version reads {FORMAT}", head.format)));
        }
        serde_json::from_slice(&bytes).map_err(|error| bad(error.to_string()))
    }

    /// Adds the units of all students that have a program.
    pub(crate) fn add_units(&mut self) {
        let mut units = Vec::new();
        for student in &self.students {
            let Some(program) = &student.program else { continue };
            for world in &self.worlds {
                for &seed in &self.seeds {
                    units.push(Unit {
                        id: format!("{}/{}/{seed}", student.key, world.name),
                        student: student.key.clone(),
                        world: world.name.clone(),
                        seed,
                        hash: self.hash(student, program, world, seed),
                    });
                }
            }
        }
        self.units = units;
    }

    fn hash(
        &self,
        student: &PlannedStudent,
        program: &PlannedProgram,
        world: &PlannedWorld,
        seed: u64,
    ) -> String {
        let dependencies = Dependencies {
            format: FORMAT,
            chicane: &self.chicane,
            student: &student.key,
            name: &student.name,
            program_sha256: &program.identity.sha256,
            command: &program.command,
            world: &world.name,
            world_sha256: &world.sha256,
            judge_sha256: &world.judge_sha256,
            variation: &world.variation,
            profile_sha256: &self.profile.sha256,
            seed,
            conditions: &self.conditions,
        };
        // All map keys are text, so the value can always be written as JSON.
        Sum::of(&serde_json::to_vec(&dependencies).unwrap_or_default()).hex()
    }

    /// The unit with this id or this hash.
    pub fn unit(&self, id: &str) -> Option<&Unit> {
        self.units.iter().find(|unit| unit.id == id || unit.hash == id)
    }

    /// The student with this key.
    pub fn student(&self, key: &str) -> Option<&PlannedStudent> {
        self.students.iter().find(|student| student.key == key)
    }

    /// The world with this name.
    pub fn world(&self, name: &str) -> Option<&PlannedWorld> {
        self.worlds.iter().find(|world| world.name == name)
    }
}

impl Unit {
    /// The path of the run's file, relative to the folder of results.
    pub fn run_file(&self) -> String {
        format!("runs/{}/{}-seed-{}.chicane", self.student, self.world, self.seed)
    }
}
