//! Writes the messages of ticks as an MCAP file.
//!
//! The file has the profile `ros2`. The messages of ROS 2 topics are CDR, as on a ROS 2 network,
//! and their definitions are part of the file. The state of the simulator is JSON. Times are
//! simulated times. A chunk is complete when it has reached a fixed size, or when
//! [`McapWriter::flush`] is called. Chunks are not compressed, because the compressors of the MCAP
//! library are written in C. Each chunk is written as a whole, so that a reader of an unfinished
//! file gets everything up to the last chunk.

use crate::channels::{self, ChannelDescription};
use chicane_ros::publish::compressed;
use chicane_ros::{Outgoing, Publisher, Sample, Topic, cdr};
use chicane_world::Profile;
use chicane_world::readings::TICKS_PER_SECOND;
use mcap::records::{MessageHeader, Metadata};
use mcap::{McapError, WriteOptions};
use std::collections::BTreeMap;
use std::io::{self, Seek, SeekFrom, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Size at which a chunk is complete, bytes. The incomplete chunk is kept in memory.
const CHUNK_BYTES: u64 = 1 << 20;
/// Size of a message record without the message, bytes.
const MESSAGE_OVERHEAD_BYTES: u64 = 31;
/// Nanoseconds of a tick.
const TICK_NS: u64 = 1_000_000_000 / TICKS_PER_SECOND;

/// Why an MCAP file could not be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteMcapError {
    /// The output failed, for example because the disk is full.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The MCAP library refused a record.
    #[error("{0}")]
    Format(String),
}

impl From<McapError> for WriteMcapError {
    fn from(error: McapError) -> WriteMcapError {
        match error {
            McapError::Io(error) => WriteMcapError::Io(error),
            other => WriteMcapError::Format(other.to_string()),
        }
    }
}

/// Writes ticks to an MCAP file. Equal ticks give equal bytes.
pub struct McapWriter<W: Write + Seek> {
    writer: mcap::Writer<Counted<W>>,
    publisher: Publisher,
    /// Whether the latched messages of `publisher` have to be written before the next tick.
    repeats_latched: bool,
    topics: BTreeMap<Topic, OpenChannel>,
    state: Option<OpenChannel>,
    /// Bytes that were passed to the output.
    written: Arc<AtomicU64>,
    /// The value of `written` when `pending` was last reset to zero.
    flushed: u64,
    /// Bytes in the incomplete chunk.
    pending: u64,
    messages: u64,
}

/// A channel of the file, and the number of its messages.
struct OpenChannel {
    id: u16,
    messages: u32,
}

impl<W: Write + Seek> McapWriter<W> {
    /// Begins a file. `about` is stored as the metadata record `chicane`, for example the name of
    /// the world.
    pub fn new(
        output: W,
        profile: Arc<Profile>,
        about: BTreeMap<String, String>,
    ) -> Result<McapWriter<W>, WriteMcapError> {
        McapWriter::continuing(output, Publisher::new(profile), about)
    }

    /// Begins a file that continues an earlier file. `publisher` is from the writer of the earlier
    /// file. The file begins with the static frames and the epoch, so that it can be read alone.
    pub fn continuing(
        output: W,
        publisher: Publisher,
        about: BTreeMap<String, String>,
    ) -> Result<McapWriter<W>, WriteMcapError> {
        let written = Arc::<AtomicU64>::default();
        let output = Counted { output, written: Arc::clone(&written) };
        let mut writer = WriteOptions::new()
            .profile("ros2")
            .library(concat!("chicane ", env!("CARGO_PKG_VERSION")))
            .compression(None)
            .chunk_size(Some(CHUNK_BYTES))
            // With this option, the library collects a chunk in memory and writes it as a whole.
            .disable_seeking(true)
            .create(output)?;
        writer.write_metadata(&Metadata { name: "chicane".to_owned(), metadata: about })?;
        Ok(McapWriter {
            writer,
            publisher,
            repeats_latched: true,
            topics: BTreeMap::new(),
            state: None,
            flushed: written.load(Relaxed),
            written,
            pending: 0,
            messages: 0,
        })
    }

    /// Writes the messages of a tick. `jpeg` is the camera image of this tick. `state` is the state
    /// of the simulator as JSON. The first tick includes the static frames and the epoch.
    pub fn write(
        &mut self,
        sample: &Sample,
        jpeg: Option<Vec<u8>>,
        state: Option<&[u8]>,
    ) -> Result<(), WriteMcapError> {
        if std::mem::take(&mut self.repeats_latched) {
            for message in self.publisher.latched() {
                self.put(sample.tick, &message)?;
            }
        }
        for message in self.publisher.messages(sample) {
            self.put(sample.tick, &message)?;
        }
        if let Some(jpeg) = jpeg {
            self.write_image(sample.tick, jpeg)?;
        }
        if let Some(state) = state {
            self.write_state(sample.tick, state)?;
        }
        Ok(())
    }

    /// Writes the camera image of a tick. The tick may be earlier than the last written tick.
    pub fn write_image(&mut self, tick: u64, jpeg: Vec<u8>) -> Result<(), WriteMcapError> {
        self.put(tick, &compressed(tick, jpeg))
    }

    /// Completes the current chunk and writes it to the output. A reader can then read everything
    /// that was written before, even if the file is never finished.
    pub fn flush(&mut self) -> Result<(), WriteMcapError> {
        self.writer.flush()?;
        self.count_pending(0);
        Ok(())
    }

    /// Writes the index and ends the file.
    pub fn finish(mut self) -> Result<W, WriteMcapError> {
        self.writer.finish()?;
        let mut output = self.writer.into_inner().output;
        output.flush()?;
        Ok(output)
    }

    /// The publisher after the ticks so far, for [`McapWriter::continuing`].
    pub fn publisher(&self) -> &Publisher {
        &self.publisher
    }

    /// Size of the file so far, bytes. The index at its end is not included.
    pub fn bytes(&self) -> u64 {
        self.written.load(Relaxed) + self.pending
    }

    /// Number of messages so far.
    pub fn messages(&self) -> u64 {
        self.messages
    }

    fn write_state(&mut self, tick: u64, json: &[u8]) -> Result<(), WriteMcapError> {
        let channel = match self.state.take() {
            Some(channel) => channel,
            None => open(&mut self.writer, &channels::of_state())?,
        };
        let channel = self.state.insert(channel);
        let header = channel.next_header(tick);
        self.put_bytes(&header, json)
    }

    fn put(&mut self, tick: u64, message: &Outgoing) -> Result<(), WriteMcapError> {
        let topic = message.topic;
        if !self.topics.contains_key(&topic) {
            let channel = open(&mut self.writer, &channels::of_topic(topic))?;
            self.topics.insert(topic, channel);
        }
        let Some(channel) = self.topics.get_mut(&topic) else { return Ok(()) };
        let header = channel.next_header(tick);
        self.put_bytes(&header, &cdr::encode(&message.message))
    }

    fn put_bytes(&mut self, header: &MessageHeader, data: &[u8]) -> Result<(), WriteMcapError> {
        self.writer.write_to_known_channel(header, data)?;
        self.messages += 1;
        self.count_pending(MESSAGE_OVERHEAD_BYTES + data.len() as u64);
        Ok(())
    }

    /// Counts bytes of the incomplete chunk. The library writes a complete chunk before it adds the
    /// next message. The bytes of the complete chunk are then no longer pending.
    fn count_pending(&mut self, added: u64) {
        let written = self.written.load(Relaxed);
        if written != self.flushed {
            (self.flushed, self.pending) = (written, 0);
        }
        self.pending += added;
    }
}

impl OpenChannel {
    /// The header of the next message.
    fn next_header(&mut self, tick: u64) -> MessageHeader {
        let sequence = self.messages;
        self.messages = self.messages.wrapping_add(1);
        let time_ns = tick.saturating_mul(TICK_NS);
        MessageHeader { channel_id: self.id, sequence, log_time: time_ns, publish_time: time_ns }
    }
}

/// Adds a channel to the file.
fn open<W: Write + Seek>(
    writer: &mut mcap::Writer<W>,
    channel: &ChannelDescription,
) -> Result<OpenChannel, WriteMcapError> {
    let definition = channel.definition.as_bytes();
    let schema = writer.add_schema(channel.schema, channel.schema_encoding, definition)?;
    let id = writer.add_channel(schema, channel.topic, channel.message_encoding, &channel.metadata)?;
    Ok(OpenChannel { id, messages: 0 })
}

/// An output that counts its bytes.
struct Counted<W> {
    output: W,
    written: Arc<AtomicU64>,
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.output.write(bytes)?;
        self.written.fetch_add(count as u64, Relaxed);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}

impl<W: Seek> Seek for Counted<W> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.output.seek(to)
    }
}

#[cfg(test)]
mod tests;
