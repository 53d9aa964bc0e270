//! What a session sees of the simulator: the world it judges, and everyone who listens.

use super::journal::Journal;
use super::observe;
use super::session::Current;
use crate::driver::{Badge, DriveAt, Entry, Loaded, Place, Simulator, Wish};
use crate::error::ApiError;
use crate::feed::Feed;
use crate::keeper::Keeper;
use crate::view;
use chicane_session::{Note, Notes, Phase, SessionHost, SessionHostError};
use chicane_sim::{Command, Refusal, Sim, Who};
use chicane_store::{Data, SessionResult};
use chicane_wire::{
    EvaluationEvent, EvaluationKind, JudgeAct, Num, Observation, RunEvent, RunState, Statics, StoryEvent,
};
use chicane_world::Profile;
use glam::DVec2;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel, sync_channel};
use std::time::{Duration, Instant};

/// How far behind the start line the front bumper stands.
const BEHIND_LINE: f64 = 0.05;
/// How long the sim thread may take for something that takes microseconds.
const PATIENCE: Duration = Duration::from_secs(5);
/// How often how things stand is written down, at most.
const STAND: Duration = Duration::from_millis(200);

/// The simulator, for one session.
pub(super) struct Stage {
    pub(super) id: String,
    pub(super) script: String,
    pub(super) place: Arc<Place>,
    pub(super) profile: Arc<Profile>,
    pub(super) seed: u64,
    pub(super) time_limit_s: f64,
    pub(super) drive: Arc<[DriveAt]>,
    pub(super) simulator: Simulator,
    pub(super) keeper: Keeper,
    pub(super) feed: Feed,
    pub(super) data: Arc<Data>,
    pub(super) runtime: tokio::runtime::Handle,
    pub(super) notes: Notes<Note>,
    pub(super) current: Arc<Current>,
    pub(super) journal: Journal,
    pub(super) wishes: Option<Sender<Wish>>,
    pub(super) stood: Instant,
}

#[derive(Serialize)]
struct Kept<'a> {
    time: Num,
    #[serde(flatten)]
    kind: &'a EvaluationKind,
}

/// An event as it is kept.
pub(super) fn written(time_s: f64, kind: &EvaluationKind) -> String {
    serde_json::to_string(&Kept { time: Num(time_s), kind }).unwrap_or_default()
}

impl Stage {
    fn wish(&self, wish: Wish) -> Result<(), SessionHostError> {
        let gone = SessionHostError::SimulationGone;
        self.wishes.as_ref().ok_or(gone.clone())?.send(wish).map_err(|_| gone)?;
        self.simulator.look();
        Ok(())
    }

    fn apply(&self, command: Command) -> Result<(), SessionHostError> {
        let (reply, done) = sync_channel(1);
        self.wish(Wish::Apply(command, reply))?;
        let done: Result<(), Refusal> = done.recv_timeout(PATIENCE).map_err(|_| SessionHostError::Timeout)?;
        done.map_err(|refusal| SessionHostError::Refused(ApiError::from(refusal).text.into_owned()))
    }

    /// Keeps an event for ever.
    fn keep(&mut self, time_s: f64, kind: &EvaluationKind) {
        let must = matches!(kind, EvaluationKind::Phase { .. });
        if !self.journal.line(written(time_s, kind), must) {
            self.journal.line(written(time_s, &EvaluationKind::Truncated {}), true);
        }
    }

    /// Says it to everyone who listens.
    pub(super) fn announce(&mut self, time_s: f64, kind: EvaluationKind) {
        self.keep(time_s, &kind);
        // A phase is on disk, with all that was before it, when it is told.
        if matches!(&kind, EvaluationKind::Phase { phase } if phase != "ended") {
            self.journal.settle();
        }
        self.tell_everyone(time_s, kind);
    }

    /// Tells whoever listens now.
    pub(super) fn tell_everyone(&self, time_s: f64, kind: EvaluationKind) {
        let event = EvaluationEvent { session: self.id.clone(), time: Num(time_s), kind };
        self.feed.tell(&StoryEvent::Evaluation(event));
    }

    /// Writes down the end. All is on disk when this returns.
    pub(super) fn close(
        self,
        time_s: f64,
        end: &EvaluationKind,
        result: SessionResult,
    ) -> Result<(), String> {
        self.journal.end(written(time_s, end), result)
    }

    /// Shows everyone how things stand.
    fn show(&self, change: impl FnOnce(&mut Badge)) {
        self.current.show(change);
        self.simulator.look();
    }
}

impl SessionHost for Stage {
    fn place(&mut self) -> Result<(Statics, Observation), SessionHostError> {
        let statics =
            observe::statics(&self.place, &self.script, self.seed).map_err(SessionHostError::Refused)?;
        let sim = Sim::new(Arc::clone(&self.place.world), Arc::clone(&self.profile), self.seed);
        let loaded = Loaded { sim, place: Arc::clone(&self.place), keep_lights: false };
        // Its lights are green, and after a restart they are too.
        let red: BTreeMap<String, bool> = loaded.red_lights();
        let kept = self.runtime.block_on(self.keeper.world(&self.place.name, red));
        kept.map_err(|e| SessionHostError::Refused(e.to_string()))?;
        let (wishes, queue) = channel();
        let at = start_pose(&self.place, &self.profile);
        let entry =
            Entry { loaded, at, notes: self.notes.clone(), wishes: queue, drive: Arc::clone(&self.drive) };
        let answer = self.runtime.block_on(self.simulator.judge(entry));
        let (seen, _) =
            answer.map_err(|refused| SessionHostError::Refused(ApiError::from(refused).text.into_owned()))?;
        self.wishes = Some(wishes);
        Ok((statics, *seen.ok_or(SessionHostError::WorldGone)?))
    }

    fn run(&mut self) {
        let _ = self.wish(Wish::Run { limit_s: self.time_limit_s });
    }

    fn resume(&mut self) {
        let _ = self.wish(Wish::Go);
    }

    fn halt(&mut self) -> f64 {
        let (reply, time) = sync_channel(1);
        let asked = self.wish(Wish::Halt(reply)).is_ok();
        self.wishes = None;
        if asked { time.recv_timeout(PATIENCE).unwrap_or(0.0) } else { 0.0 }
    }

    fn act(&mut self, act: JudgeAct) -> Result<(), SessionHostError> {
        match act {
            JudgeAct::Teleport(request) => self.apply(view::place_command(Who::Vehicle, request)),
            JudgeAct::MoveObject(name, _) if name == "vehicle" || name == self.profile.model_name => {
                Err(SessionHostError::Refused("use teleport for the vehicle".to_owned()))
            }
            JudgeAct::MoveObject(name, request) => {
                self.apply(view::place_command(Who::Object(name), request))
            }
            JudgeAct::SetLight(name, request) => {
                self.apply(Command::SetLight { name, red: request.is_red() })
            }
            JudgeAct::Overlay(request) => self.wish(Wish::Overlay(request.text, request.ttl, request.size)),
            JudgeAct::SetBrightness(request) => {
                // Stored before it is seen, as ever.
                let stored = self.data.settings().set_brightness(request.value);
                stored.map_err(|e| SessionHostError::Refused(e.to_string()))?;
                self.wish(Wish::Brightness(request.value))
            }
            JudgeAct::Pause(paused) => self.wish(Wish::Pause(paused)),
        }
    }

    fn enter(&mut self, phase: Phase) {
        self.current.update(|session| session.phase = phase.name());
        self.show(|badge| badge.evaluation.phase = Some(phase.name().to_owned()));
    }

    fn publish(&mut self, time_s: f64, kind: EvaluationKind) {
        if let EvaluationKind::Log { line } = &kind {
            self.current.log(line);
        }
        if let EvaluationKind::Command { .. } = kind {
            self.keep(time_s, &kind);
        } else {
            self.announce(time_s, kind);
        }
    }

    fn time(&mut self, time_s: f64) {
        let write = self.stood.elapsed() >= STAND;
        let mut record = None;
        self.current.update(|session| {
            session.elapsed_s = Num(time_s);
            record = write.then(|| session.record.to_string());
        });
        if let Some(record) = record {
            self.stood = Instant::now();
            self.journal.stand(record, time_s);
        }
    }

    fn record(&mut self, record: &Value) {
        self.current.update(|session| session.record = record.clone());
    }

    fn publish_run(&mut self, time_s: f64, event: RunEvent) {
        let run = serde_json::to_value(&event).unwrap_or_default();
        self.feed.tell(&StoryEvent::Run(event));
        self.keep(time_s, &EvaluationKind::Run { run });
    }

    fn show_run(&mut self, run: RunState) {
        self.current.update(|session| session.run = run);
        self.show(|badge| badge.run = run);
    }
}

/// Where a car starts: its front bumper a little behind the line across the first waypoint, heading to the second.
fn start_pose(place: &Place, profile: &Profile) -> Option<[f64; 3]> {
    let line = &place.world.route.as_ref()?.centre;
    let first = *line.first()?;
    let next = line.iter().copied().find(|p| (*p - first).length() > 1e-9)?;
    let ahead: DVec2 = (next - first).normalize();
    let front = profile.body.centre_m[0] + profile.body.size_m[0] / 2.0;
    let at = first - ahead * (front + BEHIND_LINE);
    Some([at.x, at.y, libm::atan2(ahead.y, ahead.x)])
}
