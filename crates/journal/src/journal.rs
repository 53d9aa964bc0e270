//! A whole journal as bytes.
//!
//! ```text
//! "CHJOURN1", then head (JSON), stream of the simulation (postcard), stream of the session (JSON
//! lines), each after its length as a little-endian 64-bit number
//! ```

use crate::head::{FORMAT, Head};
use crate::recorder::MAX_BYTES;

const MAGIC: &[u8; 8] = b"CHJOURN1";
/// Maximum size of a head, bytes. A head contains the judging script and the profile.
const MAX_HEAD: usize = 8 << 20;

/// Why bytes are not a journal.
#[derive(Debug, thiserror::Error)]
pub enum NotAJournal {
    /// The bytes do not begin like a journal, or end too early or too late.
    #[error("this is not a journal, or it is cut off")]
    Shape,
    /// A part is longer than a journal may be.
    #[error("the journal is too long")]
    TooLong,
    /// The head can't be read.
    #[error("the head of the journal can't be read: {0}")]
    Head(#[from] serde_json::Error),
    /// The journal has another format.
    #[error("the journal has format {0}, and this version reads format {FORMAT}")]
    Format(u32),
}

/// A journal.
#[derive(Debug, Clone, PartialEq)]
pub struct Journal {
    /// What is constant during the run.
    pub head: Head,
    /// The stream of the simulation.
    pub changes: Vec<u8>,
    /// The stream of the session.
    pub steps: Vec<u8>,
}

impl Journal {
    /// The journal as bytes.
    pub fn encode(&self) -> serde_json::Result<Vec<u8>> {
        Ok(encode(&serde_json::to_vec(&self.head)?, &self.changes, &self.steps))
    }

    /// Reads a journal.
    pub fn decode(bytes: &[u8]) -> Result<Journal, NotAJournal> {
        let mut rest = bytes.strip_prefix(MAGIC).ok_or(NotAJournal::Shape)?;
        let head = part(&mut rest, MAX_HEAD)?;
        let changes = part(&mut rest, MAX_BYTES)?.to_vec();
        let steps = part(&mut rest, MAX_BYTES)?.to_vec();
        if !rest.is_empty() {
            return Err(NotAJournal::Shape);
        }
        let format: FormatOnly = serde_json::from_slice(head)?;
        if format.format != FORMAT {
            return Err(NotAJournal::Format(format.format));
        }
        Ok(Journal { head: serde_json::from_slice(head)?, changes, steps })
    }
}

/// The field of a head that every version of the format has.
#[derive(serde::Deserialize)]
struct FormatOnly {
    format: u32,
}

fn encode(head: &[u8], changes: &[u8], steps: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(MAGIC.len() + 24 + head.len() + changes.len() + steps.len());
    bytes.extend_from_slice(MAGIC);
    for part in [head, changes, steps] {
        bytes.extend_from_slice(&(part.len() as u64).to_le_bytes());
        bytes.extend_from_slice(part);
    }
    bytes
}

/// Takes the next part from the front of `rest`. The length of the part stands before its bytes.
fn part<'a>(rest: &mut &'a [u8], max: usize) -> Result<&'a [u8], NotAJournal> {
    let (length, after) = rest.split_first_chunk().ok_or(NotAJournal::Shape)?;
    let length = usize::try_from(u64::from_le_bytes(*length)).map_err(|_| NotAJournal::TooLong)?;
    if length > max {
        return Err(NotAJournal::TooLong);
    }
    let (part, after) = after.split_at_checked(length).ok_or(NotAJournal::Shape)?;
    *rest = after;
    Ok(part)
}
