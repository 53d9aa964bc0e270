//! Options of the commands that grade a class.

use super::values::{seeds, student_command, time_limit, wall_limit};
use super::{JudgeArgs, PaceName, RobotArgs, StudentArgs};
use chicane_grade::formula::Combine;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Arguments of `chicane grade`.
#[derive(Debug, Clone, Args)]
pub(crate) struct GradeArgs {
    /// The submissions: a folder with one folder or zip file for each student; or a zip file of
    /// such a folder; or a .csv file with the columns name and path
    pub(crate) submissions: PathBuf,
    /// World of the assignment; can be repeated. A built-in world, a folder with
    /// worlds/NAME.world, a project file NAME.json, or the id of an installed world
    #[arg(long = "world", value_name = "WORLD", required = true)]
    pub(crate) worlds: Vec<String>,
    /// Seeds of the runs, such as 1-3 or 1,5,9
    #[arg(long, value_name = "SEEDS", default_value = "1-3", value_parser = seeds)]
    pub(crate) seeds: Seeds,
    /// Folder for the results. With a folder that has results already, only missing runs and runs
    /// with changed inputs are carried out
    #[arg(short, long, value_name = "FOLDER")]
    pub(crate) output: PathBuf,
    /// Command of submissions without a run.toml [default: python3 main.py]
    #[arg(long, value_name = "COMMAND", value_parser = student_command)]
    pub(crate) command: Option<String>,
    /// A .csv file with the list of students. Its columns are kept in grades.csv
    #[arg(long, value_name = "FILE")]
    pub(crate) roster: Option<PathBuf>,
    /// Number of runs at the same time [default: the number of processors]
    #[arg(short, long, value_name = "NUMBER", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(crate) jobs: Option<u16>,
    /// Run on a Ray cluster: auto for the one of this machine, or an address such as
    /// ray://head:10001. Needs the Python package with Ray, `chicane[ray]`
    #[arg(long, value_name = "ADDRESS", conflicts_with = "jobs")]
    pub(crate) ray: Option<String>,
    /// Write plan.json and the files that its units need, and exit
    #[arg(long)]
    pub(crate) plan_only: bool,
    #[command(flatten)]
    pub(crate) formula: FormulaArgs,
    /// Time limit in simulated seconds [default: the world's time limit]
    #[arg(long, value_name = "SECONDS", value_parser = time_limit)]
    pub(crate) time_limit: Option<f64>,
    /// Limit of a run in real seconds, 1 to 86400 [default: 5 times the time limit, at least 120]
    #[arg(long, value_name = "SECONDS", value_parser = wall_limit)]
    pub(crate) wall_limit: Option<f64>,
    /// Pace of simulated time: it waits for the program, or it follows the wall clock [default:
    /// virtual]
    #[arg(long, value_enum, value_name = "PACE")]
    pub(crate) pace: Option<PaceName>,
    /// Data folder with installed worlds [default: the folder of CHICANE_DATA_DIR, or else the
    /// platform's folder for application data]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) data_dir: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) robot: RobotArgs,
    #[command(flatten)]
    pub(crate) student_box: StudentArgs,
    #[command(flatten)]
    pub(crate) judge: JudgeArgs,
}

/// Seeds, ascending and without repetition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Seeds(pub(crate) Vec<u64>);

/// How results become a grade.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Grades")]
pub(crate) struct FormulaArgs {
    /// Name of the assignment, for the report and for learning platforms
    #[arg(long, value_name = "NAME", default_value = "Chicane")]
    pub(crate) assignment: String,
    /// Points by result, such as 30:100,45:60 for 100 points up to 30 s and 60 up to 45 s. For one of
    /// several worlds: oval=30:100,45:60; can be repeated [default: every result gives all points]
    #[arg(long = "points", value_name = "STEPS")]
    pub(crate) points: Vec<String>,
    /// Interpolate the points between two steps of --points
    #[arg(long)]
    pub(crate) linear: bool,
    /// How the points of the seeds give the points of a world
    #[arg(long = "seeds-by", value_enum, value_name = "HOW", default_value_t = CombineName::Mean)]
    pub(crate) seeds_by: CombineName,
    /// Highest grade, 1 to 10000
    #[arg(long, value_name = "POINTS", default_value_t = 100.0)]
    pub(crate) max_grade: f64,
    /// Count the results of runs that reached the time limit
    #[arg(long)]
    pub(crate) count_timeouts: bool,
    /// Points that a submission loses if the learning platform marks it as late
    #[arg(long, value_name = "POINTS", default_value_t = 0.0)]
    pub(crate) late_penalty: f64,
    /// Points that a run loses if its program sent commands that are not allowed
    #[arg(long, value_name = "POINTS", default_value_t = 0.0)]
    pub(crate) refused_penalty: f64,
}

/// How the points of several seeds are combined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CombineName {
    /// The best seed counts
    Best,
    /// The mean of all seeds
    Mean,
    /// The median of all seeds
    Median,
    /// The worst seed counts
    Worst,
}

impl From<CombineName> for Combine {
    fn from(name: CombineName) -> Combine {
        match name {
            CombineName::Best => Combine::Best,
            CombineName::Mean => Combine::Mean,
            CombineName::Median => Combine::Median,
            CombineName::Worst => Combine::Worst,
        }
    }
}

/// Arguments of `chicane grade-unit`.
#[derive(Debug, Clone, Args)]
pub(crate) struct GradeUnitArgs {
    /// The file plan.json, beside the files that it names
    pub(crate) plan: PathBuf,
    /// Id or hash of the unit
    pub(crate) unit: String,
    /// Folder for the result; it appears when it is complete
    #[arg(short, long, value_name = "FOLDER")]
    pub(crate) output: PathBuf,
    /// End at once when standard input ends
    #[arg(long)]
    pub(crate) lifeline: bool,
}

/// Arguments of `chicane report`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ReportArgs {
    /// Folder with the results of `chicane grade`
    pub(crate) results: PathBuf,
    /// Number of threads [default: the number of processors]
    #[arg(short, long, value_name = "NUMBER", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(crate) jobs: Option<u16>,
}
