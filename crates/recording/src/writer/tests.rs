//! Tests of the files that the writer makes. The MCAP library reads them back; the tests in
//! `clients/recordings` read them with other programs.

use super::*;
use chicane_ros::messages::{Clock, LaserScan, Time};
use chicane_world::readings::{Scan, sample_at};
use std::io::Cursor;

/// A tick. Ten ticks per second have a scan, and 15 have a camera frame.
fn sample(tick: u64) -> Sample {
    let scan = sample_at(tick, 10).map(|sample| Scan { sample, ranges: vec![2.0; 720] });
    Sample { tick, epoch: 3, stepped: true, scan, frame: sample_at(tick, 15).is_some(), ..Sample::default() }
}

fn begin() -> McapWriter<Cursor<Vec<u8>>> {
    let about = BTreeMap::from([("world".to_owned(), "oval".to_owned())]);
    McapWriter::new(Cursor::default(), Arc::new(Profile::gen1()), about).expect("a writer")
}

fn recorded(ticks: std::ops::Range<u64>) -> Vec<u8> {
    let mut writer = begin();
    for tick in ticks {
        let sample = sample(tick);
        let state = format!("{{\"time\":{tick}}}");
        let jpeg = sample.frame.then(|| vec![tick as u8; 20_000]);
        writer.write(&sample, jpeg, Some(state.as_bytes())).expect("written");
    }
    writer.finish().expect("finished").into_inner()
}

/// Topic, time in ns and bytes of every message.
fn messages(file: &[u8]) -> Vec<(String, u64, Vec<u8>)> {
    let stream = mcap::MessageStream::new(file).expect("an MCAP file");
    let messages = stream.map(|message| message.expect("a message"));
    messages.map(|m| (m.channel.topic.clone(), m.log_time, m.data.into_owned())).collect()
}

#[test]
fn every_message_is_written_with_its_simulated_time() {
    let all = messages(&recorded(200..400));
    let count = |topic: &str| all.iter().filter(|(name, _, _)| name == topic).count();
    let counts =
        ["/clock", "/scan", "/camera/image_raw/compressed", "/sim/state", "/tf_static", "/sim/epoch"];
    assert_eq!(counts.map(count), [200, 10, 15, 200, 1, 1]);
    let of = |topic: &str| all.iter().filter(|(name, _, _)| name == topic).nth(1).expect("a second message");
    let (_, time_ns, bytes) = of("/clock");
    assert_eq!(*time_ns, 1_005_000_000);
    let clock = Clock { clock: Time { sec: 1, nanosec: 5_000_000 } };
    assert_eq!(cdr::decode::<Clock>(bytes), Ok(clock));
    let scan: LaserScan = cdr::decode(&of("/scan").2).expect("a scan");
    assert_eq!((scan.header.stamp, scan.ranges.len()), (Time { sec: 1, nanosec: 100_000_000 }, 721));
    assert_eq!(of("/sim/state").2, b"{\"time\":201}");
}

#[test]
fn channels_describe_their_messages() {
    let file = recorded(0..100);
    let summary = mcap::Summary::read(&file).expect("a summary").expect("a summary");
    let channel = |topic: &str| {
        let found = summary.channels.values().find(|channel| channel.topic == topic);
        found.unwrap_or_else(|| panic!("no channel {topic}")).clone()
    };
    let scan = channel("/scan");
    let schema = scan.schema.as_ref().expect("a schema");
    assert_eq!((schema.name.as_str(), schema.encoding.as_str()), ("sensor_msgs/msg/LaserScan", "ros2msg"));
    assert!(schema.data.starts_with(b"std_msgs/Header header\n"));
    assert_eq!(scan.message_encoding, "cdr");
    assert!(scan.metadata["offered_qos_profiles"].starts_with("- history: keep_last\n  depth: 5\n"));
    let state = channel("/sim/state");
    assert_eq!(state.message_encoding, "json");
    assert_eq!(
        state.schema.as_ref().map(|s| (s.name.as_str(), s.encoding.as_str())),
        Some(("chicane/State", ""))
    );
    assert_eq!(summary.metadata_indexes.len(), 1);
}

#[test]
fn equal_ticks_give_equal_bytes() {
    let first = recorded(0..1000);
    assert!(first.len() > 1 << 20, "several chunks");
    for _ in 0..5 {
        assert!(recorded(0..1000) == first);
    }
}

#[test]
fn an_unfinished_file_can_be_read_up_to_the_last_chunk() {
    let mut writer = begin();
    for tick in 0..100 {
        writer.write(&sample(tick), None, None).expect("written");
    }
    writer.flush().expect("flushed");
    let complete = writer.messages();
    let bytes = writer.bytes();
    writer.write(&sample(100), None, None).expect("written");
    assert!(writer.bytes() > bytes);
    // A simulator that is killed at this point leaves the first `flushed` bytes of the file.
    let (flushed, _) = (writer.flushed as usize, writer.flush());
    let file = writer.finish().expect("finished").into_inner();
    let options = mcap::read::Options::IgnoreEndMagic;
    let stream = mcap::MessageStream::new_with_options(&file[..flushed], options.into()).expect("a file");
    assert_eq!(stream.map_while(Result::ok).count() as u64, complete);
}

#[test]
fn the_size_is_known_while_the_file_is_written() {
    let mut writer = begin();
    for tick in 0..2000 {
        let image = (tick % 10 == 0).then(|| vec![0; 30_000]);
        writer.write(&sample(tick), image, None).expect("written");
        let known = writer.bytes();
        let written = writer.written.load(Relaxed);
        assert!((written..=written + CHUNK_BYTES + 40_000).contains(&known), "{known} {written}");
    }
    let known = writer.bytes();
    let size = writer.finish().expect("finished").into_inner().len() as u64;
    // The index at the end of the file is not part of `known`.
    assert!((known..known + known / 10).contains(&size), "{known} {size}");
}

#[test]
fn a_continued_file_has_the_static_frames_and_the_epoch() {
    let mut first = begin();
    first.write(&sample(0), None, None).expect("written");
    let publisher = first.publisher().clone();
    let mut next =
        McapWriter::continuing(Cursor::new(Vec::new()), publisher, BTreeMap::new()).expect("a writer");
    for tick in 1..3 {
        next.write(&sample(tick), None, None).expect("written");
    }
    let file = next.finish().expect("finished").into_inner();
    let topics: Vec<_> = messages(&file).into_iter().map(|(topic, time, _)| (topic, time)).collect();
    let at = |topic: &str, ms: u64| (topic.to_owned(), ms * 1_000_000);
    assert_eq!(topics, [at("/tf_static", 5), at("/sim/epoch", 5), at("/clock", 5), at("/clock", 10)]);
}

#[test]
fn a_full_disk_is_an_error() {
    /// An output that fails as soon as it contains more than 2 MiB.
    struct FullDisk(Cursor<Vec<u8>>);

    impl Write for FullDisk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            match self.0.get_ref().len() {
                len if len > 2 << 20 => Err(io::ErrorKind::StorageFull.into()),
                _ => self.0.write(bytes),
            }
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Seek for FullDisk {
        fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
            self.0.seek(to)
        }
    }

    let output = FullDisk(Cursor::new(Vec::new()));
    let mut writer = McapWriter::new(output, Arc::new(Profile::gen1()), BTreeMap::new()).expect("a writer");
    let mut write = |tick| writer.write(&sample(tick), Some(vec![0; 100_000]), None);
    let error = (0..100).find_map(|tick| write(tick).err()).expect("an error");
    assert!(matches!(error, WriteMcapError::Io(e) if e.kind() == io::ErrorKind::StorageFull));
}
