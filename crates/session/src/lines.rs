//! Splits the output of a program into lines, with limits on their length and rate.

use std::time::{Duration, Instant};

/// Maximum length of a line, characters.
const MAX_CHARS: usize = 2000;

/// Splits a byte stream into lines. A line that is too long is truncated.
#[derive(Debug, Default)]
pub(crate) struct LineSplitter {
    unfinished: Vec<u8>,
    /// Whether the current line was truncated, because it is too long.
    cut: bool,
}

/// A line of output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OutputLine {
    /// The text without the line end.
    pub(crate) text: String,
    /// Whether the line was truncated.
    pub(crate) cut: bool,
}

impl LineSplitter {
    /// Takes bytes and returns the lines that they complete.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> Vec<OutputLine> {
        let mut lines = Vec::new();
        for piece in bytes.split_inclusive(|b| *b == b'\n') {
            let (text, ends) = match piece.split_last() {
                Some((b'\n', text)) => (text, true),
                _ => (piece, false),
            };
            // A character has at most four bytes in UTF-8, so `MAX_CHARS` characters always fit.
            let room = (4 * MAX_CHARS).saturating_sub(self.unfinished.len());
            self.cut |= text.len() > room;
            self.unfinished.extend_from_slice(&text[..text.len().min(room)]);
            if ends {
                lines.push(self.take());
            }
        }
        lines
    }

    /// The unfinished line at the end of the output; `None` if the output ended with a line end.
    pub(crate) fn finish(&mut self) -> Option<OutputLine> {
        (!self.unfinished.is_empty() || self.cut).then(|| self.take())
    }

    fn take(&mut self) -> OutputLine {
        let bytes = std::mem::take(&mut self.unfinished);
        let text = String::from_utf8_lossy(&bytes);
        let text = text.strip_suffix('\r').unwrap_or(&text);
        let end = text.char_indices().nth(MAX_CHARS).map_or(text.len(), |(i, _)| i);
        let cut = std::mem::take(&mut self.cut) || end < text.len();
        OutputLine { text: text[..end].to_owned(), cut }
    }
}

/// A rate limit for lines. It counts the dropped lines and reports their number once a second.
#[derive(Debug)]
pub(crate) struct LineRateLimit {
    /// Lines per second.
    max: u32,
    /// Start of the current second. `None` until the next line comes.
    since: Option<Instant>,
    passed: u32,
    dropped: u64,
}

impl LineRateLimit {
    pub(crate) fn new(max: u32) -> LineRateLimit {
        LineRateLimit { max, since: None, passed: 0, dropped: 0 }
    }

    /// Counts a new line. The first value is the result of `take_dropped`. The second value is true
    /// if the new line may pass.
    pub(crate) fn pass(&mut self, now: Instant) -> (Option<u64>, bool) {
        let dropped = self.take_dropped(now);
        if self.since.is_none() {
            self.since = Some(now);
        }
        if self.passed < self.max {
            self.passed += 1;
            return (dropped, true);
        }
        self.dropped += 1;
        (dropped, false)
    }

    /// If the current second is over, ends it and returns the number of lines that were dropped in
    /// it. `None` if the second is not over yet, or if no line was dropped.
    pub(crate) fn take_dropped(&mut self, now: Instant) -> Option<u64> {
        if self.since.is_some_and(|since| now.duration_since(since) >= Duration::from_secs(1)) {
            (self.since, self.passed) = (None, 0);
            return self.take_rest();
        }
        None
    }

    /// Returns the number of dropped lines that were not reported yet. `None` if there are none.
    pub(crate) fn take_rest(&mut self) -> Option<u64> {
        Some(std::mem::take(&mut self.dropped)).filter(|n| *n > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(lines: Vec<OutputLine>) -> Vec<String> {
        lines.into_iter().map(|line| line.text).collect()
    }

    #[test]
    fn lines_are_the_same_for_every_chunk_size() {
        let text = "eins\nzw\u{f6}lf\r\n\nlast";
        for size in 1..text.len() {
            let mut lines = LineSplitter::default();
            let mut got = Vec::new();
            for piece in text.as_bytes().chunks(size) {
                got.extend(lines.feed(piece));
            }
            got.extend(lines.finish());
            assert_eq!(texts(got), ["eins", "zw\u{f6}lf", "", "last"]);
        }
    }

    #[test]
    fn long_lines_are_truncated_and_not_buffered() {
        let mut lines = LineSplitter::default();
        for _ in 0..1000 {
            assert!(lines.feed(&[b'x'; 10_000]).is_empty());
            assert!(lines.unfinished.len() <= 4 * MAX_CHARS);
        }
        let got = lines.feed(b"\nnext\n");
        assert_eq!((got[0].text.len(), got[0].cut), (MAX_CHARS, true));
        assert_eq!(got[1], OutputLine { text: "next".to_owned(), cut: false });
        assert_eq!(texts(lines.feed(b"\xff\xfe\n")), ["\u{fffd}\u{fffd}"]);
    }

    #[test]
    fn dropped_lines_are_reported_once_a_second() {
        let mut limit = LineRateLimit::new(200);
        let start = Instant::now();
        let passed = (0..1000).filter(|_| limit.pass(start).1).count();
        assert_eq!(passed, 200);
        assert_eq!(limit.take_dropped(start + Duration::from_millis(999)), None);
        assert_eq!(limit.pass(start + Duration::from_millis(1001)), (Some(800), true));
        assert_eq!(limit.take_rest(), None);
    }
}
