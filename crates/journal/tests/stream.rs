//! The reader returns what a recorder wrote, and reports damaged bytes.

use chicane_journal::{
    Change, Entries, FORMAT, Head, Journal, MAX_BYTES, NotAJournal, Recorder, SenderKind, Sink, part_names,
    state_hashes,
};
use chicane_robot::audio::{Clip, Format, Sound, Stream};
use chicane_robot::{Axis, Command as RobotCommand, Stack};
use chicane_sim::{Command, How, Sim, Who};
use chicane_testkit::shipped_world;
use chicane_world::Profile;
use proptest::prelude::*;
use serde_json::Value;
use std::sync::Arc;

/// Changes of every kind except `File` and `Robot`, which have a test of their own.
fn changes() -> Vec<Change> {
    let sender = || SenderKind::Viewer.into();
    let place = Command::Place {
        who: Who::Object("box1".to_owned()),
        x: Some(1.5),
        y: None,
        z: Some(-0.0),
        yaw: Some(0.1 + 0.2),
        how: How::Along { path: vec![[0.0, 1.0], [2.0, 3.0]], speed: 0.5, repeat: true },
    };
    vec![
        Change::World { sender: sender(), command: place },
        Change::World { sender: SenderKind::Judge.into(), command: Command::Reset },
        Change::Brightness { sender: sender(), value: 0.7 },
        Change::Overlay { sender: sender(), text: "Köln".to_owned(), ttl_s: 3.0, size: 1.0 },
        Change::Clock { sender: sender(), paused: Some(true), speed: None },
        Change::Started,
        Change::Observed { paused: false, rtf: 1.0 },
        Change::Interfered { sender: sender(), values: "{\"x\":1}".to_owned() },
        Change::LimitPassed,
        Change::State(vec![1, u64::MAX]),
        Change::Halted,
    ]
}

fn sound(file: &Arc<[u8]>) -> RobotCommand {
    let clip = Clip { format: Format::Wav, sample_rate: 8000, channels: 1, frames: 8000 };
    let source = Arc::from("horn.wav");
    let sound = Sound { clip, file: Arc::clone(file), source, volume: 0.5, looped: true, replace: false };
    RobotCommand::Play(Box::new(sound))
}

/// One command of every kind to the robot.
fn robot_commands() -> Vec<RobotCommand> {
    vec![
        RobotCommand::Speed(1.0),
        RobotCommand::Hold { speed: 1.0, ticks: 200 },
        RobotCommand::Steering(-0.1),
        RobotCommand::Drive { speed: None, steering: Some(0.2) },
        RobotCommand::Twist { linear: 0.5, angular: -0.5 },
        RobotCommand::Pan(0.1),
        RobotCommand::Tilt(0.1),
        RobotCommand::Release { axis: Axis::Steering, serial: 7 },
        RobotCommand::End { axis: Axis::Speed, serial: 8 },
        sound(&Arc::from([1, 2, 3])),
        RobotCommand::Open(Stream { sample_rate: 48000, channels: 2, volume: 1.0 }),
        RobotCommand::Pcm { id: 3, data: Arc::from([0, 255]) },
        RobotCommand::Volume { id: 3, volume: 0.25 },
        RobotCommand::Stop { id: 3 },
        RobotCommand::StopAll,
    ]
}

fn head() -> Head {
    Head {
        format: FORMAT,
        version: "1.0.0".to_owned(),
        commit: None,
        world: "oval".to_owned(),
        world_sha256: None,
        origin: "00".to_owned(),
        profile: Value::Null,
        script: "def evaluate(sim): pass".to_owned(),
        seed: 1,
        variation: Value::Null,
        time_limit_s: 60.0,
        brightness: 1.0,
        command: Some("python3 run.py".to_owned()),
        is_virtual: true,
        parts: vec!["tick".to_owned()],
    }
}

#[test]
fn every_change_is_read_as_it_was_written() {
    let sink = Arc::<Sink>::default();
    let mut recorder = Recorder::new(Arc::clone(&sink));
    for (tick, change) in (0..).step_by(3).zip(&changes()) {
        recorder.put(tick, change);
    }
    let bytes = sink.take();
    let mut entries = Entries::new(bytes.as_slice());
    for (tick, change) in (0..).step_by(3).zip(changes()) {
        let entry = entries.read().expect("read").expect("an entry");
        assert_eq!((entry.tick, entry.change), (tick, change));
    }
    assert_eq!(entries.read(), Ok(None));
}

#[test]
fn every_command_to_the_robot_is_read_as_it_was_written() {
    let sink = Arc::<Sink>::default();
    let mut recorder = Recorder::new(Arc::clone(&sink));
    for command in robot_commands() {
        let order = recorder.order(5, &command);
        recorder.put(5, &Change::Robot { sender: SenderKind::Student.into(), order });
    }
    let bytes = sink.take();
    let (mut entries, mut files, mut read) = (Entries::new(bytes.as_slice()), Vec::new(), Vec::new());
    while let Some(entry) = entries.read().expect("read") {
        match entry.change {
            Change::File(bytes) => files.push(Arc::from(bytes)),
            Change::Robot { order, .. } => read.push(order.command(&files).expect("its file is known")),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(read, robot_commands());
}

#[test]
fn a_sound_file_is_written_once() {
    let sink = Arc::<Sink>::default();
    let mut recorder = Recorder::new(Arc::clone(&sink));
    let long: Arc<[u8]> = Arc::from(vec![7; 100_000]);
    for _ in 0..50 {
        // Each command has its own copy of the same bytes, as commands of separate requests do.
        let copy: Arc<[u8]> = Arc::from(long.to_vec());
        let order = recorder.order(0, &sound(&copy));
        recorder.put(0, &Change::Robot { sender: SenderKind::Student.into(), order });
    }
    let bytes = sink.take().len();
    assert!((100_000..110_000).contains(&bytes), "{bytes}");
}

#[test]
fn a_stream_beyond_the_limit_is_given_up() {
    let sink = Arc::<Sink>::default();
    let mut recorder = Recorder::new(Arc::clone(&sink));
    recorder.put(0, &Change::Started);
    assert!(sink.count(MAX_BYTES - 10) && !sink.is_full());
    recorder.put(1, &Change::File(vec![0; 100]));
    assert!(sink.is_full());
    recorder.put(2, &Change::Halted);
    assert_eq!((sink.take(), sink.count(0)), (Vec::new(), false));
}

#[test]
fn a_journal_is_read_as_it_was_written_and_cuts_are_found() {
    let journal = Journal { head: head(), changes: vec![1, 2, 3], steps: b"\"o\"\n".to_vec() };
    let bytes = journal.encode().expect("encoded");
    assert_eq!(Journal::decode(&bytes).expect("decoded"), journal);
    for cut in 0..bytes.len() {
        assert!(Journal::decode(&bytes[..cut]).is_err(), "cut at {cut}");
    }
    let longer = [bytes.as_slice(), &[0]].concat();
    assert!(matches!(Journal::decode(&longer), Err(NotAJournal::Shape)));
    let other = Journal { head: Head { format: 2, ..head() }, changes: vec![], steps: vec![] };
    let error = Journal::decode(&other.encode().expect("encoded")).expect_err("another format");
    assert_eq!(error.to_string(), "the journal has format 2, and this version reads format 1");
    let mut lying = bytes;
    lying[8..16].copy_from_slice(&u64::MAX.to_le_bytes());
    assert!(matches!(Journal::decode(&lying), Err(NotAJournal::TooLong)));
}

#[test]
fn a_hash_changes_with_the_command_in_force_and_with_the_world() {
    let profile = Arc::new(Profile::gen1());
    let mut sim = Sim::new(Arc::new(shipped_world("oval")), Arc::clone(&profile), 0);
    let mut stack = Stack::new(profile);
    let names = part_names(&sim);
    let before = state_hashes(&sim, &stack);
    assert_eq!(before.len(), names.len());
    assert_eq!(state_hashes(&sim, &stack), before, "the same state has the same hashes");
    stack.apply(RobotCommand::Speed(1.0)).expect("applied");
    let commanded = state_hashes(&sim, &stack);
    let differing: Vec<&str> = names
        .iter()
        .zip(before.iter().zip(&commanded))
        .filter(|(_, (a, b))| a != b)
        .map(|(n, _)| &**n)
        .collect();
    assert_eq!(differing, ["robot"]);
    sim.step(stack.drive());
    assert_ne!(state_hashes(&sim, &stack), commanded);
}

proptest! {
    /// For any bytes, the reader ends, and fails at most with an error.
    #[test]
    fn damaged_bytes_are_refused_or_read(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let mut entries = Entries::new(bytes.as_slice());
        for _ in 0..=bytes.len() {
            match entries.read() {
                Ok(Some(_)) => {}
                Ok(None) | Err(_) => break,
            }
        }
        let _ = Journal::decode(&bytes);
    }
}
