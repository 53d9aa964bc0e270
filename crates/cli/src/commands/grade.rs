//! `chicane grade`: grades a class.

use crate::args::{FormulaArgs, GradeArgs, JudgeArgsError, PaceName};
use crate::grading;
use crate::judge_setting::{self, FindSettingError};
use crate::robot::{self, RobotError};
use crate::terminal_text::printable;
use crate::unit_runs::{self, Place, UnitRunsError};
use crate::version;
use crate::world_source::{self, WorldSourceError};
use chicane_grade::folder::{FolderError, ResultsFolder};
use chicane_grade::formula::{Formula, Scale};
use chicane_grade::plan::{Conditions, Plan, PlannedBox, PlannedJudge, PlannedWorld};
use chicane_grade::planning::{self, PlanRequest, PlanningError};
use chicane_grade::shown_files;
use chicane_session::BoxOptions;
use chicane_store::{LoadError, Sum};
use chicane_wire::{Better, BoxKind, Pace};
use chicane_world::evaluation::Evaluation;
use serde_json::Value;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

/// The files of a world by path.
type Files = BTreeMap<String, Vec<u8>>;

/// Why a class was not graded.
#[derive(Debug, thiserror::Error)]
pub(crate) enum GradeError {
    #[error(transparent)]
    World(#[from] WorldSourceError),
    #[error("{world}: {error}")]
    Load { world: String, error: LoadError },
    #[error("The world {0} has no evaluation, so it can't be graded")]
    NoEvaluation(String),
    #[error("Two worlds have the name {0}. Give each world once")]
    SameWorld(String),
    #[error("--{option} {given}: {why}")]
    Option { option: &'static str, given: String, why: String },
    #[error("-o {} is inside of {}, so it would be taken for a submission. Choose another folder",
        output.display(), submissions.display())]
    Inside { output: PathBuf, submissions: PathBuf },
    #[error(transparent)]
    Robot(#[from] RobotError),
    #[error(transparent)]
    Judge(#[from] JudgeArgsError),
    #[error(transparent)]
    Setting(#[from] FindSettingError),
    /// This machine can't run programs in the box that the options describe.
    #[error("{0}")]
    NoBox(String),
    #[error("the evaluation of a world can't be read: {0}")]
    Json(#[from] serde_json::Error),
    #[error(transparent)]
    Planning(#[from] PlanningError),
    #[error(transparent)]
    Folder(#[from] FolderError),
    #[error(transparent)]
    Runs(#[from] UnitRunsError),
    /// Some units have no result. The reasons were already printed.
    #[error("{0} runs could not be judged. The same command tries them again")]
    NotJudged(usize),
}

impl GradeError {
    /// Whether the command line is wrong: its options, or a file that it names.
    pub(crate) fn is_usage(&self) -> bool {
        match self {
            GradeError::World(_)
            | GradeError::Load { .. }
            | GradeError::NoEvaluation(_)
            | GradeError::SameWorld(_)
            | GradeError::Option { .. }
            | GradeError::Inside { .. }
            | GradeError::Robot(_)
            | GradeError::Judge(_)
            | GradeError::Folder(FolderError::Foreign(_)) => true,
            GradeError::Planning(error) => !matches!(error, PlanningError::Folder(_)),
            GradeError::Setting(_)
            | GradeError::NoBox(_)
            | GradeError::Folder(_)
            | GradeError::Runs(_)
            | GradeError::Json(_)
            | GradeError::NotJudged(_) => false,
        }
    }
}

/// Plans a class, runs its units, and writes the report.
pub(crate) fn run(args: &GradeArgs) -> Result<(), GradeError> {
    let worlds = args.worlds.iter().map(|given| world(given, args)).collect::<Result<Vec<_>, _>>()?;
    let names: Vec<&String> = worlds.iter().map(|(world, _)| &world.name).collect();
    if let Some((_, name)) = names.iter().enumerate().find(|(i, name)| names[..*i].contains(name)) {
        return Err(GradeError::SameWorld((*name).clone()));
    }
    check_output(args)?;
    let student_box = args.student_box.options(BoxKind::Closed);
    let request = PlanRequest {
        submissions: &args.submissions,
        roster: args.roster.as_deref(),
        command: args.command.as_deref(),
        assignment: assignment(&args.formula)?,
        chicane: version::own(),
        profile: &robot::load(&args.robot)?,
        grading: formula(&args.formula, &worlds)?,
        worlds,
        seeds: args.seeds.0.clone(),
        conditions: conditions(args, &student_box)?,
    };
    let folder = ResultsFolder::create(&args.output)?;
    // With `--ray`, the nodes of the cluster run the units, and each node checks whether it can
    // create the box. This machine is checked only if it runs units itself.
    if !args.plan_only && args.ray.is_none() {
        let setting = judge_setting::find(&args.judge)?;
        if let Some(why) = setting.box_problem(&student_box) {
            return Err(GradeError::NoBox(why));
        }
    }
    let plan = planning::make(request, &folder)?;
    print_plan(&plan);
    if args.plan_only {
        println!("plan      {}", folder.plan().display());
        return Ok(());
    }
    let place = match &args.ray {
        Some(address) => Place::Cluster(address),
        None => Place::Machine { jobs: grading::jobs(args.jobs) },
    };
    unit_runs::run(&plan, &folder, &place)?;
    let grades = chicane_grade::report::write(&plan, &folder, grading::jobs(args.jobs))?;
    print!("{}", grading::summary(&grades, folder.path()));
    match grades.not_judged {
        0 => Ok(()),
        number => Err(GradeError::NotJudged(number)),
    }
}

/// Refuses a results folder that is inside the folder with the submissions, because it would be
/// taken for a submission.
fn check_output(args: &GradeArgs) -> Result<(), GradeError> {
    let Ok(submissions) = std::fs::canonicalize(&args.submissions) else { return Ok(()) };
    let absolute = std::path::absolute(&args.output).unwrap_or_else(|_| args.output.clone());
    let existing = absolute.ancestors().find_map(|folder| std::fs::canonicalize(folder).ok());
    if submissions.is_dir() && existing.is_some_and(|folder| folder.starts_with(&submissions)) {
        let (output, submissions) = (args.output.clone(), args.submissions.clone());
        return Err(GradeError::Inside { output, submissions });
    }
    Ok(())
}

/// A world of the plan, and its files.
fn world(given: &str, args: &GradeArgs) -> Result<(PlannedWorld, Files), GradeError> {
    let (library, name) = world_source::find(given, args.data_dir.as_deref())?;
    let failed = |error| GradeError::Load { world: given.to_owned(), error };
    let world = library.load(&name).map_err(failed)?;
    let entry = library.entry(&name).ok_or(LoadError::NotFound).map_err(failed)?;
    let Evaluation { better, time_limit_s, description, script, config_json, .. } =
        world.evaluation.ok_or_else(|| GradeError::NoEvaluation(name.clone()))?;
    let variation = serde_json::from_str::<Value>(&config_json)?["vary"].clone();
    let planned = PlannedWorld {
        display: entry.display,
        world_id: entry.world_id,
        rev: entry.rev,
        folder: PathBuf::new(),
        sha256: library.sha256(&name).unwrap_or_default(),
        judge_sha256: Sum::of(script.as_bytes()).hex(),
        better: match better {
            chicane_world::evaluation::Better::Lower => Better::Lower,
            chicane_world::evaluation::Better::Higher => Better::Higher,
        },
        time_limit_s: args.time_limit.unwrap_or(time_limit_s),
        description,
        variation,
        name: name.clone(),
    };
    Ok((planned, library.files(&name).unwrap_or_default()))
}

fn assignment(args: &FormulaArgs) -> Result<String, GradeError> {
    let name = chicane_grade::names::clean(&args.assignment);
    if name.is_empty() {
        let why = "must be a name of 1 to 200 characters".to_owned();
        return Err(GradeError::Option { option: "assignment", given: args.assignment.clone(), why });
    }
    Ok(name)
}

/// The formula that turns results into a grade, as the options define it.
fn formula(args: &FormulaArgs, worlds: &[(PlannedWorld, Files)]) -> Result<Formula, GradeError> {
    let number = |option: &'static str, given: f64, low: f64| {
        let why = format!("must be a number from {low} to 10000");
        let is_valid = given.is_finite() && (low..=10_000.0).contains(&given);
        if is_valid { Ok(given) } else { Err(GradeError::Option { option, given: given.to_string(), why }) }
    };
    let mut scales = BTreeMap::new();
    for given in &args.points {
        let bad = |why| GradeError::Option { option: "points", given: given.clone(), why };
        let (name, steps) = match given.split_once('=') {
            Some((name, steps)) => (Some(name.trim()), steps),
            None => (None, given.as_str()),
        };
        let of: Vec<&PlannedWorld> = worlds
            .iter()
            .map(|(world, _)| world)
            .filter(|w| name.is_none_or(|name| w.name == name))
            .collect();
        if of.is_empty() {
            return Err(bad(format!("there is no world {}", name.unwrap_or_default())));
        }
        for world in of {
            let scale = Scale::parse(steps, world.better, args.linear).map_err(bad)?;
            scales.insert(world.name.clone(), scale);
        }
    }
    Ok(Formula {
        max_grade: number("max-grade", args.max_grade, 1.0)?,
        seeds: args.seeds_by.into(),
        scales,
        count_timeouts: args.count_timeouts,
        late_penalty: number("late-penalty", args.late_penalty, 0.0)?,
        refused_penalty: number("refused-penalty", args.refused_penalty, 0.0)?,
    })
}

fn conditions(args: &GradeArgs, student_box: &BoxOptions) -> Result<Conditions, GradeError> {
    // This call fails if the options of the judge contradict each other.
    args.judge.engine()?;
    let absolute = |path: &PathBuf| std::path::absolute(path).unwrap_or_else(|_| path.clone());
    let paths: Vec<PathBuf> = student_box.paths.iter().map(absolute).collect();
    let value = |name: &str| std::env::var_os(name).map(OsString::into_encoded_bytes);
    Ok(Conditions {
        pace: args.pace.map_or(Pace::Virtual, |pace: PaceName| pace.into()),
        time_limit_s: args.time_limit,
        wall_limit_s: args.wall_limit,
        program_box: PlannedBox {
            kind: student_box.kind,
            network: student_box.network,
            shown_sha256: shown_files::sha256(&paths, &student_box.environment, value),
            paths,
            environment: student_box.environment.clone(),
            memory: student_box.limits.memory,
            processes: student_box.limits.processes,
            files: student_box.limits.files,
        },
        judge: PlannedJudge { engine: args.judge.name().to_owned(), image: args.judge.image() },
    })
}

fn print_plan(plan: &Plan) {
    let (students, worlds, seeds) = (plan.students.len(), plan.worlds.len(), plan.seeds.len());
    println!("class     {students} students, {worlds} worlds, {seeds} seeds: {} runs", plan.units.len());
    for student in &plan.students {
        if let Some(problem) = &student.problem {
            println!("not run   {}: {}", printable(&student.name), printable(problem));
        }
        if let Some(remark) = &student.remark {
            println!("note      {}: {}", printable(&student.name), printable(remark));
        }
    }
    for name in &plan.ignored {
        println!("note      {} belongs to no student", printable(name));
    }
}
