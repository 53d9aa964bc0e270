//! Judges the drive of a recorded run by other rules.

use crate::difference::Difference;
use crate::judge_again::{JudgedEnd, Judging, WALL_LIMIT_S, judge};
use crate::recorded_run::RecordedRun;
use crate::simulation::JudgeCommands;
use chicane_session::{Note, Notes, NotesOut, Setting, Step, StopCause, notes};
use chicane_wire::Outcome;
use serde_json::Value;

/// The result of judging the drive of an earlier run by a script.
#[derive(Debug, Clone, PartialEq)]
pub struct Rejudged {
    /// How the session ended.
    pub outcome: Outcome,
    /// The last record that the script made.
    pub record: Value,
    /// Why the session ended; `None` if the outcome needs no explanation.
    pub reason: Option<String>,
    /// Simulated seconds from the start of the run to the end of the new judging.
    pub elapsed_s: f64,
    /// The new events, JSON.
    pub events: Vec<String>,
}

/// The rules that judge a drive, with a limit of real time and a way to stop.
pub struct Rejudging {
    /// The judging script.
    pub script: String,
    /// The settings for the script, JSON; `None` for the settings of the recorded world.
    pub config: Option<String>,
    /// Real seconds after which the judging is stopped.
    pub wall_limit_s: f64,
    stop: Option<NotesOut<Note>>,
}

/// Stops the judging when it is dropped. Dropping it after the judging has ended has no effect.
pub struct StopRejudging(Notes<Note>);

impl Drop for StopRejudging {
    fn drop(&mut self) {
        self.0.send(Note::Stop(StopCause::Asked));
    }
}

impl Rejudging {
    /// Judges by this script, with the settings of the recorded world and a limit of one day of
    /// real time.
    pub fn new(script: impl Into<String>) -> Rejudging {
        Rejudging { script: script.into(), config: None, wall_limit_s: WALL_LIMIT_S, stop: None }
    }

    /// Makes the judging stoppable.
    pub fn stoppable(mut self) -> std::io::Result<(Rejudging, StopRejudging)> {
        let (send, receive) = notes()?;
        self.stop = Some(receive);
        Ok((self, StopRejudging(send)))
    }

    /// Judges the drive of a run. The world behaves as in the recorded run, so the script's
    /// commands to the world have no effect.
    pub fn judge(&self, run: &RecordedRun, setting: &Setting) -> Result<Rejudged, Difference> {
        let judging = Judging {
            script: &self.script,
            config: self.config.as_deref(),
            steps: steps(run),
            judge: JudgeCommands::Applied,
            expected: None,
            wall_limit_s: self.wall_limit_s,
            stop: self.stop.as_ref(),
        };
        let JudgedEnd { host, end } = judge(run, judging, setting)?;
        if let Some(difference) = host.difference {
            return Err(difference);
        }
        Ok(Rejudged {
            outcome: end.ending.outcome(),
            record: end.record,
            reason: end.ending.reason(run.journal.head.time_limit_s),
            elapsed_s: end.time_s,
            events: host.events,
        })
    }
}

/// The steps of the run, without the steps of its own script. Otherwise the steps of its own script
/// would decide when the new script ends. If neither a stop nor the time limit ended the run, a
/// stop at the end of the drive is added.
fn steps(run: &RecordedRun) -> Vec<Step> {
    let is_kept = |step: &Step| !matches!(step, Step::JudgeEnded(_) | Step::Answered);
    let mut steps: Vec<Step> = run.steps.iter().filter(|step| is_kept(step)).cloned().collect();
    for step in &mut steps {
        if let Step::Stop { heard, .. } = step {
            *heard = 0;
        }
    }
    if !steps.iter().any(|step| matches!(step, Step::Stop { .. } | Step::LimitPassed)) {
        steps.push(Step::Stop { cause: StopCause::DriveOver, heard: 0 });
    }
    steps
}
