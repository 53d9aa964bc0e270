//! `chicane evaluate`: evaluates a student's program without a viewer.

use crate::args::{EvaluateArgs, PaceName};
use crate::evaluation::{self, EvaluationError, EvaluationJob, Verdict};
use crate::{drive_file, robot};
use chicane_wire::{BoxKind, StartRequest, StudentNetwork};

/// Runs one evaluation and returns its verdict.
pub(crate) fn run(args: &EvaluateArgs) -> Result<Verdict, EvaluationError> {
    evaluation::run(&job(args)?)
}

/// The evaluation that the arguments describe.
pub(crate) fn job(args: &EvaluateArgs) -> Result<EvaluationJob, EvaluationError> {
    let pace = args.pace.unwrap_or(PaceName::Virtual);
    let student_box = args.student_box.options(BoxKind::Closed);
    // A program with network access follows the wall clock at every pace, because it can't run in
    // virtual time.
    let follows_wall_clock =
        args.command.is_some() && (pace == PaceName::Real || student_box.network != StudentNetwork::None);
    Ok(EvaluationJob {
        world: args.world.clone(),
        resources: args.resources.folders(),
        profile: robot::load(&args.robot)?,
        request: StartRequest {
            files: None,
            command: args.command.clone(),
            time_limit_s: args.time_limit,
            seed: args.seed,
            wall_limit_s: args.wall_limit,
            pace: Some(pace.into()),
            student: args.student.clone(),
        },
        drive: args.drive.as_deref().map(drive_file::read).transpose()?.unwrap_or_default(),
        script: None,
        speed: args.speed.unwrap_or(if follows_wall_clock { 1.0 } else { 0.0 }),
        explain_time: args.explain,
        workspace: args.workspace.clone(),
        data_dir: args.data_dir.clone(),
        save: args.save.clone(),
        save_program: args.save_program,
        json: args.json,
        judge: args.judge.clone(),
        student_box,
    })
}
