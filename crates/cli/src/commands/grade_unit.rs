//! `chicane grade-unit`: evaluates one unit of a plan and stores its result.
//!
//! `chicane grade` starts this command for each unit that has no result yet. Other programs can
//! start it on other machines. Such a machine needs the same version of `chicane`, the plan with
//! the files beside it, and the paths that the plan shows to programs (`--student-path`).

use crate::args::{GradeUnitArgs, JudgeArgs, RobotArgs};
use crate::evaluation::{self, EvaluationError, EvaluationJob, Verdict};
use crate::robot;
use chicane_grade::plan::{Conditions, Plan, PlanError, PlannedBox, Unit};
use chicane_grade::program::{self, ProgramError};
use chicane_grade::unit_result::{StoreResultError, UnitResult};
use chicane_session::{BoxLimits, BoxOptions};
use chicane_wire::{Pace, Record, StartRequest};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Why a unit has no result.
#[derive(Debug, thiserror::Error)]
pub(crate) enum GradeUnitError {
    #[error(transparent)]
    Plan(#[from] PlanError),
    #[error("{} has no unit \"{unit}\"", plan.display())]
    NoUnit { plan: PathBuf, unit: String },
    #[error("the plan was made by version {planned} of chicane, and this is {own}: make the plan again")]
    Version { planned: String, own: String },
    #[error(transparent)]
    Program(#[from] ProgramError),
    #[error("the submission in {} is not the one of the plan", .0.display())]
    Changed(PathBuf),
    #[error(transparent)]
    Evaluation(#[from] EvaluationError),
    /// The run used another world, another car or another judging script than the plan.
    #[error("{what} of the run is not the one of the plan")]
    Differs { what: &'static str },
    #[error("the simulator failed")]
    Fault,
    #[error("the run was stopped")]
    Stopped,
    #[error("the record can't be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
    #[error(transparent)]
    Store(#[from] StoreResultError),
}

impl GradeUnitError {
    /// Whether the command line is wrong.
    pub(crate) fn is_usage(&self) -> bool {
        matches!(
            self,
            GradeUnitError::Plan(_) | GradeUnitError::NoUnit { .. } | GradeUnitError::Version { .. }
        )
    }
}

/// Evaluates a unit, unless its result exists already.
pub(crate) fn run(args: &GradeUnitArgs) -> Result<(), GradeUnitError> {
    if args.lifeline {
        end_with_input();
    }
    let plan = Plan::read(&args.plan)?;
    let unit = plan
        .unit(&args.unit)
        .ok_or_else(|| GradeUnitError::NoUnit { plan: args.plan.clone(), unit: args.unit.clone() })?;
    if UnitResult::load(&args.output, unit).is_some() {
        return Ok(());
    }
    let own = crate::version::own();
    if own != plan.chicane {
        let text = |version: &chicane_wire::ProgramVersion| {
            format!("{} ({})", version.version, version.commit.as_deref().unwrap_or("unknown commit"))
        };
        return Err(GradeUnitError::Version { planned: text(&plan.chicane), own: text(&own) });
    }
    let base = args.plan.parent().unwrap_or(Path::new(""));
    let job = job(&plan, unit, base)?;
    let evaluated = evaluation::run_unseen(&job)?;
    let (record, verdict) = (&evaluated.record, evaluated.verdict);
    match verdict {
        Verdict::Fault => return Err(GradeUnitError::Fault),
        Verdict::Stopped if !is_wall_limit(record) => return Err(GradeUnitError::Stopped),
        _ => {}
    }
    compare(&plan, unit, record)?;
    let line = verdict.reason(record, last_log(record).as_deref());
    let result = UnitResult::new(unit, verdict.label(), &line, serde_json::to_value(record)?);
    let run = evaluated.run.ok_or_else(|| "the run was not kept".to_owned());
    let run = run.and_then(|run| evaluation::pack(record, run, None).map_err(|error| error.to_string()));
    Ok(result.store(&args.output, run.as_deref().map_err(Clone::clone))?)
}

/// Ends this process when standard input ends, because then the process that wanted the result has
/// ended. The kernel then ends the jails of this process.
fn end_with_input() {
    std::thread::spawn(|| {
        let _ = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
        std::process::exit(1);
    });
}

fn job(plan: &Plan, unit: &Unit, base: &Path) -> Result<EvaluationJob, GradeUnitError> {
    let missing = || GradeUnitError::NoUnit { plan: base.join("plan.json"), unit: unit.id.clone() };
    let world = plan.world(&unit.world).ok_or_else(missing)?;
    let student = plan.student(&unit.student).ok_or_else(missing)?;
    let program = student.program.as_ref().ok_or_else(missing)?;
    let workspace = base.join(&program.folder);
    if program::identity(&workspace)? != program.identity {
        return Err(GradeUnitError::Changed(workspace));
    }
    let Conditions { pace, time_limit_s, wall_limit_s, program_box, judge } = &plan.conditions;
    let profile = base.join(&plan.profile.file).to_string_lossy().into_owned();
    let follows_wall_clock = *pace == Pace::Real || program_box.network != chicane_wire::StudentNetwork::None;
    Ok(EvaluationJob {
        world: base.join(&world.folder).to_string_lossy().into_owned(),
        resources: Vec::new(),
        profile: robot::load(&RobotArgs { robot: profile }).map_err(EvaluationError::from)?,
        request: StartRequest {
            files: None,
            command: Some(program.command.clone()),
            time_limit_s: *time_limit_s,
            seed: unit.seed,
            wall_limit_s: *wall_limit_s,
            pace: Some(*pace),
            student: Some(student.name.clone()),
        },
        drive: Vec::new(),
        script: None,
        speed: if follows_wall_clock { 1.0 } else { 0.0 },
        explain_time: false,
        workspace,
        data_dir: None,
        save: None,
        save_program: false,
        json: false,
        judge: JudgeArgs::named(&judge.engine, judge.image.clone()),
        student_box: box_options(program_box),
    })
}

fn box_options(planned: &PlannedBox) -> BoxOptions {
    BoxOptions {
        network: planned.network,
        paths: planned.paths.clone(),
        environment: planned.environment.clone(),
        limits: BoxLimits { memory: planned.memory, processes: planned.processes, files: planned.files },
        ..BoxOptions::new(planned.kind)
    }
}

/// Whether the wall-clock limit stopped the run. False if the run ended in another way, for example
/// because a signal stopped it.
fn is_wall_limit(record: &Record) -> bool {
    record.reason.as_deref().is_some_and(|reason| reason.starts_with("wall-clock limit"))
}

/// Checks that the run used the world, the car and the judging script of the plan.
fn compare(plan: &Plan, unit: &Unit, record: &Record) -> Result<(), GradeUnitError> {
    let world = plan.world(&unit.world);
    let identity = &record.identity;
    let checks = [
        ("the world", identity.world_sha256.as_deref() == world.map(|world| world.sha256.as_str())),
        ("the car", identity.profile_sha256.as_ref() == Some(&plan.profile.sha256)),
        ("the judging script", world.is_some_and(|world| record.judge.sha256 == world.judge_sha256)),
    ];
    match checks.into_iter().find(|(_, same)| !same) {
        Some((what, _)) => Err(GradeUnitError::Differs { what }),
        None => Ok(()),
    }
}

/// The last line that the judging script printed.
fn last_log(record: &Record) -> Option<String> {
    let events = record.events.as_ref()?.iter().rev();
    let mut events = events.filter_map(|event| serde_json::from_str::<Value>(event.get()).ok());
    events.find(|event| event["kind"] == "log")?["line"].as_str().map(str::to_owned)
}
