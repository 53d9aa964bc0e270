//! Checksums of files, and the world id that is derived from them.
//!
//! The id of a world is part of its file names and of its file contents, and is computed from the
//! checksums of these files. For the id, files are therefore hashed in a neutral form, in which
//! every occurrence of the id is replaced with 32 zeros. The id does not detect one kind of change:
//! a CDN can replace the id in a file with 32 zeros, or 32 zeros with the id. Both versions of the
//! file have the same neutral checksum.

use chicane_wire::WorldId;
use ring::digest::{Context, SHA256, digest};
use std::borrow::Cow;
use std::io::{ErrorKind, Read};

/// The text that replaces the id in the neutral form.
pub(crate) const ZEROS: &str = "00000000000000000000000000000000";

/// A SHA-256 checksum.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Sum([u8; 32]);

impl Sum {
    /// The checksum of bytes.
    pub fn of(bytes: &[u8]) -> Sum {
        Sum::from_ring(digest(&SHA256, bytes))
    }

    /// The checksum of all bytes of a reader.
    pub fn of_reader(mut reader: impl Read) -> std::io::Result<Sum> {
        let (mut sum, mut piece) = (RunningSum::default(), vec![0; 64 << 10]);
        loop {
            match reader.read(&mut piece) {
                Ok(0) => return Ok(sum.end()),
                Ok(length) => sum.add(&piece[..length]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// The checksum over paths and contents. Both are preceded by their length, so that no two
    /// lists of files have the same bytes.
    pub fn of_files<'a>(files: impl Iterator<Item = (&'a str, Option<Cow<'a, [u8]>>)>) -> Sum {
        let mut context = Context::new(&SHA256);
        for (path, bytes) in files {
            let bytes = bytes.unwrap_or_default();
            for part in [path.as_bytes(), &bytes] {
                context.update(&(part.len() as u64).to_le_bytes());
                context.update(part);
            }
        }
        Sum::from_ring(context.finish())
    }

    fn from_ring(digest: ring::digest::Digest) -> Sum {
        let mut sum = [0; 32];
        sum.copy_from_slice(digest.as_ref());
        Sum(sum)
    }

    /// Reads 64 lower-case hex digits. `None` for any other text.
    pub fn parse(text: &str) -> Option<Sum> {
        let digit = |b: u8| match b {
            b'0'..=b'9' => Some(b - b'0'),
            b'a'..=b'f' => Some(b - b'a' + 10),
            _ => None,
        };
        let text = text.as_bytes();
        let mut sum = [0; 32];
        if text.len() != 64 {
            return None;
        }
        for (byte, pair) in sum.iter_mut().zip(text.chunks_exact(2)) {
            *byte = digit(pair[0])? << 4 | digit(pair[1])?;
        }
        Some(Sum(sum))
    }

    /// The bytes of the checksum.
    pub fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// 64 lower-case hex digits.
    pub fn hex(&self) -> String {
        self.0.iter().map(|b| format!("{b:02x}")).collect()
    }
}

impl std::fmt::Debug for Sum {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.hex())
    }
}

/// A checksum of bytes that arrive in pieces.
pub(crate) struct RunningSum(Context);

impl Default for RunningSum {
    fn default() -> RunningSum {
        RunningSum(Context::new(&SHA256))
    }
}

impl RunningSum {
    /// Adds bytes.
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The checksum of all bytes.
    pub(crate) fn end(self) -> Sum {
        Sum::from_ring(self.0.finish())
    }
}

/// Replaces every occurrence of a text with another text of the same length.
pub(crate) fn replaced<'a>(bytes: &'a [u8], from: &str, to: &str) -> Cow<'a, [u8]> {
    let (from, to) = (from.as_bytes(), to.as_bytes());
    let mut at = match find(bytes, from, 0) {
        Some(at) if from.len() == to.len() => at,
        _ => return Cow::Borrowed(bytes),
    };
    let mut out = bytes.to_vec();
    loop {
        out[at..at + to.len()].copy_from_slice(to);
        match find(bytes, from, at + from.len()) {
            Some(next) => at = next,
            None => return Cow::Owned(out),
        }
    }
}

fn find(bytes: &[u8], what: &[u8], from: usize) -> Option<usize> {
    let rest = bytes.get(from..)?;
    rest.windows(what.len()).position(|w| w == what).map(|at| from + at)
}

/// The checksum of the neutral form of a file.
pub(crate) fn neutral(bytes: &[u8], id: &str) -> Sum {
    Sum::of(&replaced(bytes, id, ZEROS))
}

/// The id and the revision of a world, from the checksum of its manifest in neutral form. The id is
/// the first 128 bits of the checksum, and the revision is the next 64 bits.
pub(crate) fn names_of(sum: Sum) -> (Option<WorldId>, String) {
    let hex = sum.hex();
    (WorldId::parse(&hex[..32]), hex[32..48].to_owned())
}

/// Why no random numbers could be generated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RandomError {
    /// The operating system failed.
    #[error("no random numbers: {0}")]
    System(getrandom::Error),
}

/// 32 random hex digits.
pub fn random_hex() -> Result<String, RandomError> {
    let mut bytes = [0u8; 16];
    getrandom::fill(&mut bytes).map_err(RandomError::System)?;
    Ok(bytes.iter().map(|b| format!("{b:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_are_sha256() {
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(Sum::of(b"").hex(), empty);
        assert_eq!(Sum::parse(empty), Some(Sum::of(b"")));
        let mut sum = RunningSum::default();
        sum.add(b"a");
        sum.add(b"bc");
        assert_eq!(sum.end(), Sum::of(b"abc"));
        for wrong in ["", "e3", &empty.to_uppercase(), &format!("{empty}0"), &"g".repeat(64), &"é".repeat(32)]
        {
            assert_eq!(Sum::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn every_occurrence_of_a_text_is_replaced() {
        let id = "0123456789abcdef0123456789abcdef";
        let text = format!("{id}x{id}{id} {}", &id[1..]);
        let neutral_text = format!("{ZEROS}x{ZEROS}{ZEROS} {}", &id[1..]);
        assert_eq!(replaced(text.as_bytes(), id, ZEROS).as_ref(), neutral_text.as_bytes());
        assert_eq!(replaced(neutral_text.as_bytes(), ZEROS, id).as_ref(), text.as_bytes());
        assert!(matches!(replaced(b"short", id, ZEROS), Cow::Borrowed(b"short")));
        assert_eq!(neutral(text.as_bytes(), id), Sum::of(neutral_text.as_bytes()));
    }
}
