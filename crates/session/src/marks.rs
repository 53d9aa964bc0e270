//! Marks of the harness in the output of a script.
//!
//! A container engine forwards the script's output and the harness' messages on two separate
//! streams, so their order is lost. The harness therefore writes a mark to the output at the end of
//! every call, for instance `NUL name printed 7` and a line end. There `name` is the container's
//! name, and 7 is the number of the mark. Process 1 of the container reports with another mark,
//! `NUL name exited code`, how the script's process ended. Marks are removed from the output before
//! it is split into lines. A script that forges a mark can only end its own session or mix up the
//! order of its own output.

/// Maximum length of a mark, bytes.
const MAX_MARK: usize = 200;

/// Removes marks from a byte stream and stores their values.
#[derive(Debug)]
pub(crate) struct Marks {
    /// The bytes that every mark begins with.
    start: Vec<u8>,
    /// Bytes that may turn out to be a mark.
    pending: Vec<u8>,
    /// Number of the last `printed` mark. All output before that mark has arrived.
    pub(crate) printed: u64,
    /// Exit code of the script's process. `None` until a mark reports it.
    pub(crate) exited: Option<i32>,
}

impl Marks {
    pub(crate) fn new(name: &str) -> Marks {
        Marks { start: format!("\0{name} ").into_bytes(), pending: Vec::new(), printed: 0, exited: None }
    }

    /// Takes bytes and returns those that are not part of a mark.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut plain = Vec::with_capacity(bytes.len());
        for byte in bytes {
            if self.pending.is_empty() && *byte != 0 {
                plain.push(*byte);
                continue;
            }
            self.pending.push(*byte);
            let begins = self.pending.iter().zip(&self.start).all(|(a, b)| a == b);
            let whole = begins && *byte == b'\n' && self.take();
            if !whole && (!begins || *byte == b'\n' || self.pending.len() > MAX_MARK) {
                self.pending.pop();
                plain.append(&mut self.pending);
                // This byte rules out a mark in `pending`, but it may be the first byte of the next
                // mark.
                if *byte == 0 {
                    self.pending.push(0);
                } else {
                    plain.push(*byte);
                }
            }
        }
        plain
    }

    /// Reads the complete mark in `pending`. False if it is not a known mark.
    fn take(&mut self) -> bool {
        let text = self.pending.get(self.start.len()..).unwrap_or_default();
        let text = std::str::from_utf8(text).unwrap_or_default().trim_end();
        match text.split_once(' ') {
            Some(("printed", number)) => match number.parse() {
                Ok(number) => self.printed = number,
                Err(_) => return false,
            },
            Some(("exited", code)) => match code.parse() {
                Ok(code) => self.exited = Some(code),
                Err(_) => return false,
            },
            _ => return false,
        }
        self.pending.clear();
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_removed_for_every_chunk_size() {
        let text = b"one\ntw\0\0box printed 7\no\n\0box exited -9\nx\0y\0box printed no\n\0other printed 8\n";
        for size in 1..text.len() {
            let mut marks = Marks::new("box");
            let plain: Vec<u8> = text.chunks(size).flat_map(|piece| marks.feed(piece)).collect();
            assert_eq!(plain, b"one\ntw\0o\nx\0y\0box printed no\n\0other printed 8\n", "{size}");
            assert_eq!((marks.printed, marks.exited), (7, Some(-9)));
        }
    }

    #[test]
    fn bytes_without_a_line_end_are_not_a_mark() {
        let mut marks = Marks::new("box");
        let long = [b"\0box ".as_slice(), &[b'x'; 1000]].concat();
        assert_eq!(marks.feed(&long), long);
    }
}
