//! A run in one file, `run.chicane`: its journal, its record, the files of its world and, if the
//! run was saved with it, the student's program.
//!
//! ```text
//! "CHICANE RUN 1\n", then the deflated parts, then the SHA-256 checksum of all bytes before it
//! part: length of the name (32 bits), name, length of the content (64 bits), content
//! ```
//! All lengths are little-endian. The parts are sorted by name, so equal parts give equal bytes.

use crate::sum::Sum;
use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use std::collections::BTreeMap;
use std::io::{self, Read, Write};

const MAGIC: &[u8] = b"CHICANE RUN 1\n";
/// Size of the checksum at the end, bytes.
const SUM: usize = 32;
/// Maximum size of a run file, bytes.
pub const MAX_FILE: u64 = 1 << 30;
/// Maximum size of all parts together, bytes.
const MAX_CONTENT: u64 = 2 << 30;
/// Maximum length of a name, bytes.
const MAX_NAME: u32 = 1024;

/// The parts of a run file by name.
pub type Parts = BTreeMap<String, Vec<u8>>;

/// Why bytes are not a run file.
#[derive(Debug, thiserror::Error)]
pub enum NotARunFile {
    /// The bytes do not begin like a run file.
    #[error("this is not a run file of this version")]
    Kind,
    /// The checksum is wrong.
    #[error("the file is damaged or was changed: its checksum is wrong")]
    Sum,
    /// The parts can't be read.
    #[error("the parts of the file can't be read: {0}")]
    Parts(io::Error),
}

/// Packs parts into the bytes of a run file.
pub fn pack(parts: &Parts) -> Vec<u8> {
    pack_with(parts, Compression::default())
}

/// Packs parts three times as fast as `pack`, into slightly more bytes.
pub fn pack_quickly(parts: &Parts) -> Vec<u8> {
    pack_with(parts, Compression::fast())
}

fn pack_with(parts: &Parts, compression: Compression) -> Vec<u8> {
    let mut out = DeflateEncoder::new(MAGIC.to_vec(), compression);
    // Writing to memory never fails.
    let _ = parts.iter().try_for_each(|(name, content)| {
        out.write_all(&(name.len() as u32).to_le_bytes())?;
        out.write_all(name.as_bytes())?;
        out.write_all(&(content.len() as u64).to_le_bytes())?;
        out.write_all(content)
    });
    let mut bytes = out.finish().unwrap_or_default();
    let sum = Sum::of(&bytes);
    bytes.extend_from_slice(sum.bytes());
    bytes
}

/// Unpacks the bytes of a run file.
pub fn unpack(bytes: &[u8]) -> Result<Parts, NotARunFile> {
    unpack_within(bytes, MAX_CONTENT)
}

/// Unpacks the bytes of a run file whose parts, with their names and lengths, have at most `max`
/// bytes together.
pub fn unpack_within(bytes: &[u8], max: u64) -> Result<Parts, NotARunFile> {
    let (content, sum) = bytes.split_last_chunk::<SUM>().ok_or(NotARunFile::Kind)?;
    let deflated = content.strip_prefix(MAGIC).ok_or(NotARunFile::Kind)?;
    if Sum::of(content).bytes() != sum {
        return Err(NotARunFile::Sum);
    }
    read_parts(deflated, max).map_err(NotARunFile::Parts)
}

fn read_parts(deflated: &[u8], max: u64) -> io::Result<Parts> {
    let mut reader = DeflateDecoder::new(deflated).take(max);
    let mut parts = Parts::new();
    loop {
        let mut length = [0; 4];
        match reader.read(&mut length[..1])? {
            0 => break,
            _ => reader.read_exact(&mut length[1..])?,
        }
        let name = read(&mut reader, u64::from(u32::from_le_bytes(length)), u64::from(MAX_NAME))?;
        let name = String::from_utf8(name).map_err(|_| invalid("a name is not UTF-8"))?;
        let mut length = [0; 8];
        reader.read_exact(&mut length)?;
        let content = read(&mut reader, u64::from_le_bytes(length), max)?;
        if parts.insert(name, content).is_some() {
            return Err(invalid("two parts have the same name"));
        }
    }
    if reader.get_ref().total_in() != deflated.len() as u64 {
        return Err(invalid("it is followed by other bytes"));
    }
    Ok(parts)
}

/// Reads `length` bytes. Allocates memory only for bytes that the reader returns, because a forged
/// file may state a length that is far too large.
fn read(reader: &mut impl Read, length: u64, max: u64) -> io::Result<Vec<u8>> {
    if length > max {
        return Err(invalid("a part is too long"));
    }
    let mut bytes = Vec::new();
    if reader.take(length).read_to_end(&mut bytes)? as u64 != length {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(bytes)
}

fn invalid(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

/// Compresses bytes.
pub fn deflate(bytes: &[u8]) -> Vec<u8> {
    let mut out = DeflateEncoder::new(Vec::new(), Compression::default());
    // Writing to memory never fails.
    let _ = out.write_all(bytes);
    out.finish().unwrap_or_default()
}

/// Decompresses bytes. Fails if the result has more than `max` bytes.
pub fn inflate(bytes: &[u8], max: u64) -> io::Result<Vec<u8>> {
    let mut out = Vec::new();
    if DeflateDecoder::new(bytes).take(max + 1).read_to_end(&mut out)? as u64 > max {
        return Err(invalid("it is too long"));
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts() -> Parts {
        let texts =
            [("journal", "abc".repeat(100)), ("record.json", "{}".to_owned()), ("world/a", String::new())];
        texts.into_iter().map(|(name, text)| (name.to_owned(), text.into_bytes())).collect()
    }

    #[test]
    fn parts_are_packed_and_unpacked() {
        let bytes = pack(&parts());
        assert_eq!(unpack(&bytes).expect("unpacked"), parts());
        assert_eq!(pack(&parts()), bytes, "equal parts give equal bytes");
        assert_eq!(unpack(&pack(&Parts::new())).expect("unpacked"), Parts::new());
    }

    #[test]
    fn parts_that_are_larger_than_the_limit_are_refused() {
        let bytes = pack(&parts());
        assert_eq!(unpack_within(&bytes, 1000).expect("unpacked"), parts());
        assert!(matches!(unpack_within(&bytes, 300), Err(NotARunFile::Parts(_))));
    }

    #[test]
    fn every_changed_byte_and_every_cut_is_found() {
        let bytes = pack(&parts());
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            assert!(unpack(&changed).is_err(), "byte {at} was changed");
            assert!(unpack(&bytes[..at]).is_err(), "cut at {at}");
        }
        let mut longer = bytes.clone();
        longer.push(0);
        assert!(unpack(&longer).is_err());
    }

    #[test]
    fn lengths_that_lie_use_no_memory() {
        let mut out = DeflateEncoder::new(MAGIC.to_vec(), Compression::default());
        out.write_all(&1u32.to_le_bytes()).expect("written");
        out.write_all(b"a").expect("written");
        out.write_all(&(MAX_CONTENT - 100).to_le_bytes()).expect("written");
        let mut bytes = out.finish().expect("finished");
        let sum = Sum::of(&bytes);
        bytes.extend_from_slice(sum.bytes());
        let error = unpack(&bytes).expect_err("it is unpacked");
        assert!(matches!(error, NotARunFile::Parts(_)), "{error}");
    }

    #[test]
    fn compressed_bytes_are_bounded() {
        let bytes = deflate(&[0; 1000]);
        assert_eq!(inflate(&bytes, 1000).expect("inflated"), [0; 1000]);
        assert!(inflate(&bytes, 999).is_err());
    }
}
