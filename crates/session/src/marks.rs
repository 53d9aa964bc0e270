//! Words of the harness among what a script prints, where the two come by different ways.
//!
//! In an engine's container the harness ends every call with a mark where the script prints: `NUL name printed 7`, and the first
//! process tells in the same way how the script's process ended. Marks are taken out of the bytes before those become
//! lines. Whoever forges one ends its own session, or tells apart worse what it printed when.

/// Bytes of a mark; what is longer is none.
const LONGEST: usize = 200;

/// Takes marks out of bytes.
#[derive(Debug)]
pub(crate) struct Marks {
    start: Vec<u8>,
    /// What may become a mark.
    open: Vec<u8>,
    /// The last call whose prints are all here.
    pub(crate) printed: u64,
    /// How the script's process ended.
    pub(crate) exited: Option<i32>,
}

impl Marks {
    pub(crate) fn new(name: &str) -> Marks {
        Marks { start: format!("\0{name} ").into_bytes(), open: Vec::new(), printed: 0, exited: None }
    }

    /// Takes bytes in; gives those that were printed.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut plain = Vec::with_capacity(bytes.len());
        for byte in bytes {
            if self.open.is_empty() && *byte != 0 {
                plain.push(*byte);
                continue;
            }
            self.open.push(*byte);
            let begins = self.open.iter().zip(&self.start).all(|(a, b)| a == b);
            let whole = begins && *byte == b'\n' && self.take();
            if !whole && (!begins || *byte == b'\n' || self.open.len() > LONGEST) {
                self.open.pop();
                plain.append(&mut self.open);
                // What ends one may begin the next.
                if *byte == 0 {
                    self.open.push(0);
                } else {
                    plain.push(*byte);
                }
            }
        }
        plain
    }

    /// A whole mark. False if it makes no sense.
    fn take(&mut self) -> bool {
        let text = self.open.get(self.start.len()..).unwrap_or_default();
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
        self.open.clear();
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_taken_out_however_the_bytes_come() {
        let text = b"one\ntw\0\0box printed 7\no\n\0box exited -9\nx\0y\0box printed no\n\0other printed 8\n";
        for size in 1..text.len() {
            let mut marks = Marks::new("box");
            let plain: Vec<u8> = text.chunks(size).flat_map(|piece| marks.feed(piece)).collect();
            assert_eq!(plain, b"one\ntw\0o\nx\0y\0box printed no\n\0other printed 8\n", "{size}");
            assert_eq!((marks.printed, marks.exited), (7, Some(-9)));
        }
    }

    #[test]
    fn what_never_ends_is_no_mark() {
        let mut marks = Marks::new("box");
        let long = [b"\0box ".as_slice(), &[b'x'; 1000]].concat();
        assert_eq!(marks.feed(&long), long);
    }
}
