//! The messages of a run at every tick, for files of other formats, such as MCAP.

use crate::difference::Difference;
use crate::recorded_run::RecordedRun;
use crate::simulation::Rerun;
use bytes::Bytes;
use chicane_host::camera::Camera;
use chicane_host::driver::{OverlayView, Published, ReplayedDisplay, STATE_RATE_HZ};
use chicane_host::session_status::SessionStatus;
use chicane_journal::Change;
use chicane_ros::Sample;
use chicane_sim::{SimEvent, TICKS_PER_SECOND, sample_at};
use chicane_wire::{EvaluationState, Phase, RunState};
use std::collections::VecDeque;
use std::sync::Arc;

/// Why a run has no further messages.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MessagesError {
    /// The simulation differs from the journal.
    #[error("this version simulates the run in another way: {0}")]
    Differs(#[from] Difference),
    /// A camera image could not be drawn.
    #[error("the camera image of tick {0} could not be drawn")]
    NotDrawn(u64),
}

/// What the robot and the simulator publish at one tick.
#[derive(Debug)]
pub struct TickMessages {
    /// The robot's topics.
    pub sample: Sample,
    /// The camera image of this tick, JPEG; `None` if this tick has no image.
    pub jpeg: Option<Bytes>,
    /// The state of the simulator as JSON; `None` if no state is published at this tick.
    pub state: Option<Bytes>,
}

/// Simulates a run and returns the messages of its ticks.
pub struct Messages {
    rerun: Rerun,
    camera: Camera,
    overlay: Overlay,
    session: String,
    /// A counter that increases when the car is moved by a command or a reset.
    epoch: u64,
    /// Messages of this tick that were not returned yet.
    waiting: VecDeque<TickMessages>,
    /// Whether the messages of the state before the first tick were returned.
    has_begun: bool,
}

/// The text on the screen of a replay.
struct Overlay {
    view: OverlayView,
    /// The tick at which the text is removed; `None` if there is no text.
    until: Option<u64>,
}

impl Messages {
    /// The messages of a run from its start.
    pub fn new(run: &RecordedRun) -> Result<Messages, Difference> {
        Ok(Messages {
            rerun: Rerun::new(run)?,
            camera: Camera::new(Arc::clone(&run.profile), Arc::default()),
            overlay: Overlay { view: OverlayView::none(), until: None },
            session: run.session().to_owned(),
            epoch: 1,
            waiting: VecDeque::new(),
            has_begun: false,
        })
    }

    /// Simulated seconds of the run so far.
    pub fn time_s(&self) -> f64 {
        self.rerun.time_s()
    }

    /// The next messages; `None` at the end of the run. If a command moved the car, one tick has
    /// several [`TickMessages`].
    pub async fn next(&mut self) -> Result<Option<TickMessages>, MessagesError> {
        if let Some(waiting) = self.waiting.pop_front() {
            return Ok(Some(waiting));
        }
        if !std::mem::replace(&mut self.has_begun, true) {
            return self.messages_of_tick().await.map(Some);
        }
        if self.rerun.is_over() || !self.apply_entries()? {
            return Ok(self.waiting.pop_front());
        }
        self.rerun.tick_once()?;
        self.notice_reset_of_car();
        let messages = self.messages_of_tick().await?;
        self.waiting.push_back(messages);
        Ok(self.waiting.pop_front())
    }

    async fn messages_of_tick(&mut self) -> Result<TickMessages, MessagesError> {
        let tick = self.rerun.tick();
        let profile = Arc::clone(self.rerun.running.sim.profile());
        let sample = Sample::at(tick, self.epoch, self.rerun.topics(), &profile);
        let jpeg = if sample.frame { Some(self.image(tick).await?) } else { None };
        let state = sample_at(tick, STATE_RATE_HZ).map(|_| self.state_json());
        Ok(TickMessages { sample, jpeg, state })
    }

    /// Applies the commands of this tick. Returns false at the end of the run.
    fn apply_entries(&mut self) -> Result<bool, Difference> {
        let (jumps, tick) = (self.rerun.jumps(), self.rerun.tick());
        let overlay = &mut self.overlay;
        let goes_on = self.rerun.apply_entries(&mut |_, change| overlay.take(tick, change))?;
        self.overlay.remove_if_due(tick);
        if self.rerun.jumps() != jumps {
            self.epoch += self.rerun.jumps() - jumps;
            self.add_epoch();
        }
        Ok(goes_on)
    }

    /// Begins a new epoch if the simulation reset the car. The simulation resets a car whose state
    /// is not finite.
    fn notice_reset_of_car(&mut self) {
        let mut events = self.rerun.running.sim.events().iter();
        let reset = events.any(|event| matches!(event, SimEvent::Quarantined(None)));
        self.epoch += u64::from(reset);
    }

    fn add_epoch(&mut self) {
        let sample = Sample::epoch_only(self.rerun.tick(), self.epoch);
        let state = Some(self.state_json());
        self.waiting.push_back(TickMessages { sample, jpeg: None, state });
    }

    async fn image(&self, tick: u64) -> Result<Bytes, MessagesError> {
        let (exposure, brightness) = self.rerun.exposure();
        let size = self.camera.size(None, None);
        self.camera.jpeg(&exposure, size, brightness).await.map_err(|_| MessagesError::NotDrawn(tick))
    }

    /// The state of the simulator, as `GET /state` shows it during a run in real time.
    fn state_json(&mut self) -> Bytes {
        let is_running = self.rerun.has_started();
        let phase = if is_running { Phase::Running } else { Phase::Starting };
        let session = Some(self.session.clone());
        let evaluation = EvaluationState { active: true, session, phase: Some(phase) };
        let status = SessionStatus { run: RunState { running: is_running, exit_code: None }, evaluation };
        let display = ReplayedDisplay {
            overlay: self.overlay.view.clone(),
            brightness: self.rerun.brightness,
            epoch: self.epoch,
            status,
        };
        Published::replayed(self.rerun.running.view(), display).state_json()
    }
}

impl Overlay {
    /// Shows the text of a change, if the change is a text.
    fn take(&mut self, tick: u64, change: &Change) {
        let Change::Overlay { text, ttl_s, size, .. } = change else { return };
        let seq = self.view.seq + 1;
        let text = Arc::from(text.as_str());
        self.view = OverlayView { text, ttl_s: *ttl_s, size: *size, seq, ends: None };
        // During a run, a text is shown for real seconds. A replay counts simulated seconds
        // instead.
        let ticks = (ttl_s * TICKS_PER_SECOND as f64).max(0.0) as u64;
        self.until = Some(tick.saturating_add(ticks));
    }

    fn remove_if_due(&mut self, tick: u64) {
        if self.until.is_some_and(|until| tick >= until) {
            self.until = None;
            self.view.text = Arc::from("");
        }
    }
}
