//! From bytes that a program writes to lines that people read, with every bound there is.

use std::time::{Duration, Instant};

/// Longest line, in characters.
const MAX_CHARS: usize = 2000;

/// Takes bytes apart into lines. What is too long is cut; the rest of such a line is dropped.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    unfinished: Vec<u8>,
    /// The line at hand is longer than can be kept.
    cut: bool,
}

/// A line, and whether something of it is missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) text: String,
    pub(crate) cut: bool,
}

impl Lines {
    /// Takes bytes in; gives the lines that they complete.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> Vec<Line> {
        let mut lines = Vec::new();
        for piece in bytes.split_inclusive(|b| *b == b'\n') {
            let (text, ends) = match piece.split_last() {
                Some((b'\n', text)) => (text, true),
                _ => (piece, false),
            };
            // Four bytes are enough for any character.
            let room = (4 * MAX_CHARS).saturating_sub(self.unfinished.len());
            self.cut |= text.len() > room;
            self.unfinished.extend_from_slice(&text[..text.len().min(room)]);
            if ends {
                lines.push(self.take());
            }
        }
        lines
    }

    /// The last line, if it was never ended.
    pub(crate) fn finish(&mut self) -> Option<Line> {
        (!self.unfinished.is_empty() || self.cut).then(|| self.take())
    }

    fn take(&mut self) -> Line {
        let bytes = std::mem::take(&mut self.unfinished);
        let text = String::from_utf8_lossy(&bytes);
        let text = text.strip_suffix('\r').unwrap_or(&text);
        let end = text.char_indices().nth(MAX_CHARS).map_or(text.len(), |(i, _)| i);
        let cut = std::mem::take(&mut self.cut) || end < text.len();
        Line { text: text[..end].to_owned(), cut }
    }
}

/// Lets only so many lines a second through, and then says once a second that there were more.
#[derive(Debug)]
pub(crate) struct Sieve {
    most: u32,
    since: Option<Instant>,
    passed: u32,
    dropped: u64,
}

impl Sieve {
    pub(crate) fn new(most: u32) -> Sieve {
        Sieve { most, since: None, passed: 0, dropped: 0 }
    }

    /// Whether a line may pass. What was dropped before it comes first.
    pub(crate) fn pass(&mut self, now: Instant) -> (Option<u64>, bool) {
        let told = self.tell(now);
        if self.since.is_none() {
            self.since = Some(now);
        }
        if self.passed < self.most {
            self.passed += 1;
            return (told, true);
        }
        self.dropped += 1;
        (told, false)
    }

    /// How many were dropped, once their second is over.
    pub(crate) fn tell(&mut self, now: Instant) -> Option<u64> {
        if self.since.is_some_and(|since| now.duration_since(since) >= Duration::from_secs(1)) {
            (self.since, self.passed) = (None, 0);
            return self.rest();
        }
        None
    }

    /// How many were dropped and not told of.
    pub(crate) fn rest(&mut self) -> Option<u64> {
        Some(std::mem::take(&mut self.dropped)).filter(|n| *n > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(lines: Vec<Line>) -> Vec<String> {
        lines.into_iter().map(|line| line.text).collect()
    }

    #[test]
    fn lines_come_whole_however_the_bytes_come() {
        let text = "eins\nzw\u{f6}lf\r\n\nlast";
        for size in 1..text.len() {
            let mut lines = Lines::default();
            let mut got = Vec::new();
            for piece in text.as_bytes().chunks(size) {
                got.extend(lines.feed(piece));
            }
            got.extend(lines.finish());
            assert_eq!(texts(got), ["eins", "zw\u{f6}lf", "", "last"]);
        }
    }

    #[test]
    fn long_lines_are_cut_and_take_no_room() {
        let mut lines = Lines::default();
        for _ in 0..1000 {
            assert!(lines.feed(&[b'x'; 10_000]).is_empty());
            assert!(lines.unfinished.len() <= 4 * MAX_CHARS);
        }
        let got = lines.feed(b"\nnext\n");
        assert_eq!((got[0].text.len(), got[0].cut), (MAX_CHARS, true));
        assert_eq!(got[1], Line { text: "next".to_owned(), cut: false });
        assert_eq!(texts(lines.feed(b"\xff\xfe\n")), ["\u{fffd}\u{fffd}"]);
    }

    #[test]
    fn too_many_lines_become_one_a_second() {
        let mut sieve = Sieve::new(200);
        let start = Instant::now();
        let passed = (0..1000).filter(|_| sieve.pass(start).1).count();
        assert_eq!(passed, 200);
        assert_eq!(sieve.tell(start + Duration::from_millis(999)), None);
        assert_eq!(sieve.pass(start + Duration::from_millis(1001)), (Some(800), true));
        assert_eq!(sieve.rest(), None);
    }
}
