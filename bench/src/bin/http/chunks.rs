//! A parser for the event stream. It parses only the first bytes of each event, so that thousands
//! of readers need little processor time.

use chicane_bench::BenchError;
use chicane_bench::client::{find, number};

/// Number of bytes at the start of an event that are parsed. They contain the id and the time of
/// the event.
const FRAME_HEAD: usize = 256;

/// Splits a stream into HTTP chunks. Each chunk is an event, of which only the first bytes are
/// parsed.
#[derive(Default)]
pub(crate) struct Chunks {
    /// Whether the head of the response has been read.
    begun: bool,
    /// Number of bytes to skip until the next chunk.
    skip: usize,
    /// The received part of a head or a chunk that is not complete yet.
    part: Vec<u8>,
}

impl Chunks {
    /// Parses received bytes, and calls `note` with the id and time of every state event.
    pub(crate) fn take(&mut self, new: &[u8], mut note: impl FnMut(u64, f64)) -> Result<(), BenchError> {
        let skipped = self.skip.min(new.len());
        self.skip -= skipped;
        let mut rest = &new[skipped..];
        let joined;
        if !self.part.is_empty() {
            self.part.extend_from_slice(rest);
            joined = std::mem::take(&mut self.part);
            rest = &joined;
        }
        while !rest.is_empty() {
            let Some(used) = self.one(rest, &mut note)? else {
                self.part = rest.to_vec();
                break;
            };
            self.skip = used.saturating_sub(rest.len());
            rest = &rest[used.min(rest.len())..];
        }
        Ok(())
    }

    /// Parses the head of the response or one chunk. Returns the length of the head or chunk, or
    /// `None` if more bytes are needed. The length of a chunk may exceed the length of `bytes`.
    fn one(&mut self, bytes: &[u8], note: &mut impl FnMut(u64, f64)) -> Result<Option<usize>, BenchError> {
        if !self.begun {
            let Some(end) = find(bytes, b"\r\n\r\n") else { return Ok(None) };
            if !bytes.starts_with(b"HTTP/1.1 200 ") {
                return Err(format!("unexpected response: {}", String::from_utf8_lossy(bytes)).into());
            }
            self.begun = true;
            return Ok(Some(end + 4));
        }
        let Some(line) = find(&bytes[..bytes.len().min(20)], b"\r\n") else { return Ok(None) };
        let length = usize::from_str_radix(std::str::from_utf8(&bytes[..line])?, 16)?;
        let data = &bytes[line + 2..];
        if data.len() < length.min(FRAME_HEAD) {
            return Ok(None);
        }
        if let Some((id, time)) = id_and_time(&data[..length.min(FRAME_HEAD)]) {
            note(id, time);
        }
        Ok(Some(line + 2 + length + 2))
    }
}

/// Id and simulated time of a state event; `None` for a heartbeat.
fn id_and_time(event: &[u8]) -> Option<(u64, f64)> {
    let id = number(event.strip_prefix(b"id: ")?)?;
    let value = &event[find(event, b"\"time\":")? + 7..];
    let end = value.iter().position(|b| *b == b',')?;
    Some((id, std::str::from_utf8(&value[..end]).ok()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_can_be_split_at_any_byte() {
        let mut stream = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n".to_vec();
        for (id, padding) in [(7, 0), (8, 1000), (10, 300)] {
            let padding = "x".repeat(padding);
            let event =
                format!("id: {id}\nevent: state\ndata: {{\"time\":{id}.5,\"more\":\"{padding}\"}}\n\n");
            stream.extend(format!("{:X}\r\n{event}\r\n4\r\n: \n\n\r\n", event.len()).bytes());
        }
        for cut in 0..stream.len() {
            let (mut chunks, mut seen) = (Chunks::default(), Vec::new());
            for part in [&stream[..cut], &stream[cut..]] {
                chunks.take(part, |id, time| seen.push((id, time))).expect("a stream");
            }
            assert_eq!(seen, [(7, 7.5), (8, 8.5), (10, 10.5)], "cut at {cut}");
        }
    }
}
