//! Simulates a run again from its journal.

use crate::difference::Difference;
use crate::recorded_run::RecordedRun;
use chicane_host::driver::{Due, Exposure, Refused, RunTicks, Running, SoundLog};
use chicane_host::observe::{self, ObservedClock};
use chicane_journal::{Change, Entries, Entry, Head, Sender, SenderKind, state_hashes};
use chicane_robot::{Drive, Stack};
use chicane_sim::Snapshot;
use chicane_wire::{CommandSource, Num, Observation, SentCommand, SentCommands, rounded};
use std::sync::Arc;
use std::time::Instant;

/// Maximum number of ticks that a run may have: 100 hours.
const MAX_TICKS: u64 = 72_000_000;

/// The next point of the simulation that matters to the session.
#[derive(Debug)]
pub(super) enum Reached {
    /// An observation for the judge.
    Observed(Box<Observation>),
    /// The time limit. Holds the simulated seconds of the run.
    Limit(f64),
    /// The session stopped the car.
    Halted,
    /// The journal ends here, because the simulator was killed.
    End,
}

/// How the commands of the judging script are treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum JudgeCommands {
    /// The commands of the journal are applied.
    Applied,
    /// The script has to give the same commands again.
    Expected,
}

/// A run that is simulated again.
pub struct Rerun {
    pub(super) running: Running,
    head: Head,
    entries: Entries<Arc<[u8]>>,
    /// The next entry, if it was already read from the journal.
    next: Option<Entry>,
    files: Vec<Arc<[u8]>>,
    sounds: SoundLog,
    pub(super) brightness: f64,
    /// The ticks of the run; `None` before its start.
    pub(super) run: Option<RunTicks>,
    judge: JudgeCommands,
    /// The commands that the journal counts as interference.
    pub(super) interference: SentCommands,
    /// Number of commands to the world, the clock or the display during the run that neither the
    /// judged program, the script nor the simulator sent.
    foreign: u64,
    /// Whether the last entry was read.
    pub(super) is_over: bool,
    /// Increases when a command places the car.
    pub(super) jumps: u64,
}

impl Rerun {
    /// A run at its start. Fails if the loaded world, the car, the seed or the parts of the state
    /// are not those of the journal.
    pub fn new(run: &RecordedRun) -> Result<Rerun, Difference> {
        Rerun::with(run, JudgeCommands::Applied)
    }

    pub(super) fn with(run: &RecordedRun, judge: JudgeCommands) -> Result<Rerun, Difference> {
        let head = run.journal.head.clone();
        run.check_variation()?;
        let sim = run.served.sim(&run.profile, head.seed);
        let origin = format!("{:016x}", sim.origin());
        if origin != head.origin {
            let what = "the world, the car or the seed is not the one of the journal, or this version loads it \
                        in another way";
            return Err(Difference::at(0, what));
        }
        if chicane_journal::part_names(&sim) != head.parts {
            return Err(Difference::at(0, "this version has other parts of the state than the journal"));
        }
        let brightness = head.brightness;
        Ok(Rerun {
            running: Running::new(sim, Arc::clone(&run.served), Instant::now()),
            head,
            entries: Entries::new(Arc::from(run.journal.changes.as_slice())),
            next: None,
            files: Vec::new(),
            sounds: SoundLog::default(),
            brightness,
            run: None,
            judge,
            interference: SentCommands::default(),
            foreign: 0,
            is_over: false,
            jumps: 0,
        })
    }

    /// The tick of the simulation.
    pub fn tick(&self) -> u64 {
        self.running.sim.tick()
    }

    /// Simulated seconds since the start of the run; 0 before the start.
    pub fn time_s(&self) -> f64 {
        self.run.map_or(0.0, |run| run.time_s(self.tick()))
    }

    /// Whether the run has started.
    pub fn has_started(&self) -> bool {
        self.run.is_some()
    }

    /// Whether the run is over.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// The state of the world.
    pub fn snapshot(&self) -> Snapshot {
        self.running.sim.snapshot()
    }

    /// The current drive command.
    pub fn drive(&self) -> Drive {
        self.running.stack.drive()
    }

    /// The last camera exposure, and the brightness.
    pub fn exposure(&self) -> (Arc<Exposure>, f64) {
        (Arc::clone(&self.running.exposure), self.brightness)
    }

    /// The newest message of each topic of the robot.
    pub fn topics(&self) -> &chicane_robot::Topics {
        self.running.stack.topics()
    }

    /// A counter that increases when a command places the car.
    pub fn jumps(&self) -> u64 {
        self.jumps
    }

    /// Applies the entries of this tick. Returns false at the end of the run. `each` is called for
    /// every entry, with the simulated seconds of the run.
    pub fn apply_entries(&mut self, each: &mut dyn FnMut(f64, &Change)) -> Result<bool, Difference> {
        while let Some(entry) = self.peek()? {
            if entry.tick > self.tick() {
                return Ok(true);
            }
            let Some(entry) = self.next.take() else { break };
            self.carry_out(entry.clone())?;
            each(self.time_s(), &entry.change);
        }
        self.is_over = true;
        Ok(false)
    }

    /// Applies the entries of this tick, then simulates one tick. Returns false at the end of the
    /// run.
    pub fn step(&mut self) -> Result<bool, Difference> {
        let goes_on = self.apply_entries(&mut |_, _| {})?;
        if goes_on {
            self.tick_once()?;
        }
        Ok(goes_on)
    }

    /// Simulates up to the next point that matters to the session.
    pub(super) fn advance(&mut self) -> Result<Reached, Difference> {
        loop {
            let Some(entry) = self.peek()? else {
                self.is_over = true;
                return Ok(Reached::End);
            };
            if entry.tick > self.tick() {
                self.tick_once()?;
                continue;
            }
            let Some(entry) = self.next.take() else { continue };
            if let Some(reached) = self.carry_out(entry)? {
                return Ok(reached);
            }
        }
    }

    /// Applies the commands of other senders up to the next command of the judging script, then
    /// applies the script's command too. The script's command must equal `expected` and belong to
    /// this tick. Returns the reason if the simulation refused the script's command, and `None` if
    /// not.
    pub(super) fn expect_act(&mut self, expected: &Change) -> Result<Option<String>, Difference> {
        loop {
            let tick = self.tick();
            let unknown = || Difference::at(tick, format!("the script gave a new command: {expected:?}"));
            let entry = self.peek()?.filter(|entry| entry.tick == tick).ok_or_else(unknown)?;
            if !is_judges(&entry.change) {
                if matches!(entry.change, Change::Observed { .. } | Change::Halted | Change::LimitPassed) {
                    return Err(unknown());
                }
                let Some(entry) = self.next.take() else { continue };
                self.carry_out(entry)?;
                continue;
            }
            if entry.change != *expected {
                let what = format!("the script commanded {expected:?} instead of {:?}", entry.change);
                return Err(Difference::at(tick, what));
            }
            self.next = None;
            return Ok(self.apply_judges(expected));
        }
    }

    fn peek(&mut self) -> Result<Option<&Entry>, Difference> {
        if self.next.is_none() {
            self.next = self.entries.read().map_err(|damaged| Difference::of(damaged.to_string()))?;
        }
        Ok(self.next.as_ref())
    }

    pub(super) fn tick_once(&mut self) -> Result<(), Difference> {
        let tick = self.tick();
        if let Some(run) = &self.run
            && run.due(tick) != Due::Nothing
        {
            return Err(Difference::at(tick, "the journal has no observation or end at this tick"));
        }
        if tick >= MAX_TICKS {
            return Err(Difference::at(tick, "the journal is longer than any run"));
        }
        self.running.tick();
        Ok(())
    }

    /// Applies an entry of this tick. Returns the point that matters to the session, or `None` if
    /// the entry is no such point.
    fn carry_out(&mut self, entry: Entry) -> Result<Option<Reached>, Difference> {
        let Entry { tick, change } = entry;
        if self.judge == JudgeCommands::Expected && is_judges(&change) {
            return Err(Difference::at(tick, format!("the script did not command {change:?} again")));
        }
        self.count_foreign(&change);
        match change {
            Change::World { sender, command } if sender.kind == SenderKind::Judge => {
                self.apply_judges(&Change::World { sender, command });
            }
            Change::World { sender, command } => {
                self.note_jump(&command);
                let applied = self.running.apply(&sender, command);
                applied
                    .map_err(|refusal| Difference::at(tick, format!("a command is refused: {refusal}")))?;
            }
            Change::Robot { sender, order } => {
                let command = order.command(&self.files);
                let command = command.map_err(|unknown| Difference::at(tick, unknown.to_string()))?;
                let done = self.running.command(&sender, command);
                done.map_err(|refusal| Difference::at(tick, format!("a command is refused: {refusal}")))?;
            }
            Change::File(bytes) => self.files.push(Arc::from(bytes)),
            Change::Brightness { value, .. } => self.brightness = value,
            Change::Overlay { .. } | Change::Clock { .. } => {}
            Change::Started => self.run = Some(RunTicks::new(tick, self.head.time_limit_s)),
            Change::Observed { paused, rtf } => return self.observe(paused, rtf).map(Some),
            Change::LimitPassed => {
                if self.run.is_none_or(|run| run.due(tick) != Due::Limit) {
                    return Err(Difference::at(tick, "the time limit has not passed here"));
                }
                return Ok(Some(Reached::Limit(self.time_s())));
            }
            Change::State(hashes) => self.compare_state(&hashes)?,
            Change::Interfered { sender, values } => self.count_interference(&sender, &values)?,
            Change::Halted => {
                self.is_over = true;
                return Ok(Some(Reached::Halted));
            }
        }
        Ok(None)
    }

    /// Applies a command of the judging script. Returns the reason if the simulation refused it,
    /// and `None` if not.
    fn apply_judges(&mut self, change: &Change) -> Option<String> {
        match change {
            Change::World { sender, command } => {
                let applied = self.running.apply(sender, command.clone());
                if applied.is_ok() {
                    self.note_jump(command);
                }
                applied.err().map(|refusal| Refused::BySimulation(refusal).to_string())
            }
            Change::Brightness { value, .. } => {
                self.brightness = *value;
                None
            }
            _ => None,
        }
    }

    fn note_jump(&mut self, command: &chicane_sim::Command) {
        use chicane_sim::{Command, Who};
        let places = matches!(command, Command::Reset | Command::Place { who: Who::Vehicle, .. });
        self.jumps += u64::from(places);
    }

    fn observe(&mut self, paused: bool, rtf: f64) -> Result<Reached, Difference> {
        let tick = self.tick();
        if let Some(run) = &mut self.run {
            match run.due(tick) {
                Due::Observation => run.observed(tick),
                // While the script pauses the world, it gets several observations of the same tick.
                Due::Nothing if paused => {}
                _ => return Err(Difference::at(tick, "no observation is due at this tick")),
            }
        }
        let events = self.running.stack.take_audio_events();
        self.sounds.keep(&events);
        let clock = ObservedClock { time_s: self.time_s(), paused, rtf, brightness: self.brightness };
        let (playing, sounds) = (self.running.stack.playing(), self.sounds.take());
        let snapshot = self.running.sim.snapshot();
        let observation = observe::observation(&self.running.served, &snapshot, clock, &playing, &sounds);
        Ok(Reached::Observed(Box::new(observation)))
    }

    fn compare_state(&self, hashes: &[u64]) -> Result<(), Difference> {
        let found = state_hashes(&self.running.sim, &self.running.stack);
        let names = self.head.parts.iter();
        let differs = names.zip(&found).enumerate().find(|(i, (_, hash))| hashes.get(*i) != Some(hash));
        match differs {
            Some((_, (part, _))) => {
                Err(Difference::at(self.tick(), format!("the state of {part:?} differs")))
            }
            None if hashes.len() != found.len() => Err(Difference::at(self.tick(), "a hash is missing")),
            None => Ok(()),
        }
    }

    /// Counts a command to the world, the clock or the display during the run, if neither the
    /// judged program, the script nor the simulator sent it. Each of these commands must also be in
    /// the count of interference.
    fn count_foreign(&mut self, change: &Change) {
        let sender = match change {
            Change::World { sender, .. }
            | Change::Brightness { sender, .. }
            | Change::Overlay { sender, .. }
            | Change::Clock { sender, .. } => sender,
            _ => return,
        };
        self.foreign += u64::from(self.run.is_some() && source(sender.kind).is_some());
    }

    /// Whether the count of interference is large enough to include every command in `foreign`.
    pub(super) fn is_all_counted(&self) -> bool {
        self.foreign <= self.interference.count
    }

    fn count_interference(&mut self, sender: &Sender, values: &str) -> Result<(), Difference> {
        let tick = self.tick();
        let wrong = || Difference::at(tick, "an entry about a command of others can't be read");
        let source = source(sender.kind).ok_or_else(wrong)?;
        let values = serde_json::from_str(values).map_err(|_| wrong())?;
        let (time, path) = (Num(self.time_s()), sender.path.clone());
        self.interference.add(|| SentCommand { time, source, path, values: rounded(values) });
        Ok(())
    }
}

/// Whether the judging script gave this command.
fn is_judges(change: &Change) -> bool {
    match change {
        Change::World { sender, .. }
        | Change::Brightness { sender, .. }
        | Change::Overlay { sender, .. }
        | Change::Clock { sender, .. } => sender.kind == SenderKind::Judge,
        _ => false,
    }
}

/// The sender as a record names it; `None` for the judged program, the script and the simulator.
fn source(kind: SenderKind) -> Option<CommandSource> {
    match kind {
        SenderKind::Viewer => Some(CommandSource::Viewer),
        SenderKind::Api => Some(CommandSource::Api),
        SenderKind::Ros => Some(CommandSource::Ros),
        SenderKind::Student | SenderKind::Judge | SenderKind::Program => None,
    }
}

/// The state of a [`Rerun`] at one tick, without its sounds and its counts of commands.
#[derive(Debug, Clone)]
pub(super) struct SavedRerun {
    sim: Vec<u8>,
    stack: Stack,
    exposure: Arc<Exposure>,
    entries: Entries<Arc<[u8]>>,
    next: Option<Entry>,
    files: Vec<Arc<[u8]>>,
    brightness: f64,
    run: Option<RunTicks>,
    tick: u64,
    jumps: u64,
}

impl SavedRerun {
    /// The tick of the simulation.
    pub(super) fn tick(&self) -> u64 {
        self.tick
    }

    /// Simulated seconds since the start of the run; 0 before the start.
    pub(super) fn time_s(&self) -> f64 {
        self.run.map_or(0.0, |run| run.time_s(self.tick))
    }
}

impl Rerun {
    /// Saves the state.
    pub(super) fn save(&self) -> SavedRerun {
        SavedRerun {
            sim: self.running.sim.save(),
            stack: self.running.stack.clone(),
            exposure: Arc::clone(&self.running.exposure),
            entries: self.entries.clone(),
            next: self.next.clone(),
            files: self.files.clone(),
            brightness: self.brightness,
            run: self.run,
            tick: self.tick(),
            jumps: self.jumps,
        }
    }

    /// Restores a state of the same run.
    pub(super) fn restore(&mut self, saved: &SavedRerun) {
        // Restoring never fails here, because this program saved the state in a simulation of the
        // same world.
        if self.running.sim.restore(&saved.sim).is_err() {
            return;
        }
        self.running.stack = saved.stack.clone();
        self.running.exposure = Arc::clone(&saved.exposure);
        (self.entries, self.next) = (saved.entries.clone(), saved.next.clone());
        self.files.clone_from(&saved.files);
        (self.brightness, self.run, self.jumps) = (saved.brightness, saved.run, saved.jumps);
        self.is_over = false;
    }
}
