//! `chicane judge`: runs a judging script while the car follows a file of drive commands.

use crate::args::JudgeDriveArgs;
use crate::evaluation::{self, EvaluationError, EvaluationJob, Verdict};
use crate::file_error::FileError;
use crate::{drive_file, robot};
use chicane_session::BoxOptions;
use chicane_wire::{BoxKind, StartRequest};

/// Runs one evaluation with the given script and returns its verdict.
pub(crate) fn run(args: &JudgeDriveArgs) -> Result<Verdict, EvaluationError> {
    let script = std::fs::read_to_string(&args.script).map_err(FileError::read(&args.script))?;
    evaluation::run(&EvaluationJob {
        world: args.world.clone(),
        resources: Vec::new(),
        profile: robot::load(&args.robot)?,
        request: StartRequest { time_limit_s: args.time_limit, seed: args.seed, ..StartRequest::default() },
        drive: drive_file::read(&args.drive)?,
        script: Some(script),
        // The simulation runs as fast as possible, because no student's program has to keep up with
        // it.
        speed: 0.0,
        explain_time: false,
        workspace: ".".into(),
        data_dir: None,
        save: None,
        save_program: false,
        json: args.json,
        judge: args.judge.clone(),
        student_box: BoxOptions::new(BoxKind::Closed),
    })
}
