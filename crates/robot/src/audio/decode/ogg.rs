//! Ogg files: pages with checksums, and the packets in them. Only files with one stream are
//! supported.

use super::clip::{DecodeError, Format};
use super::crc::CRC_32;

const CONTINUED: u8 = 1;
const FIRST: u8 = 2;
const LAST: u8 = 4;
const TRUNCATED: DecodeError = DecodeError::Truncated(Format::Ogg);
const SEVERAL: &str = "it contains several streams; only one Vorbis stream is supported";

pub(super) fn damaged(what: &'static str) -> DecodeError {
    DecodeError::Damaged { format: Format::Ogg, what }
}

pub(super) fn unsupported(what: &'static str) -> DecodeError {
    DecodeError::Unsupported { format: Format::Ogg, what }
}

/// A page of an Ogg file.
pub(super) struct Page<'a> {
    flags: u8,
    /// Position of the stream at the end of the page, in samples; −1 if no packet ends in the page.
    pub(super) position: i64,
    serial: u32,
    number: u32,
    /// Lengths of the segments. A packet continues after a segment with a length of 255.
    laces: &'a [u8],
    body: &'a [u8],
}

impl<'a> Page<'a> {
    /// Reads the page at the start of `bytes`. Returns the page and the remaining bytes.
    fn read(bytes: &'a [u8]) -> Result<(Page<'a>, &'a [u8]), DecodeError> {
        let (head, after) = bytes.split_first_chunk::<27>().ok_or(TRUNCATED)?;
        if !head.starts_with(b"OggS\0") {
            return Err(damaged("there is unknown data between its pages"));
        }
        let four = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let (laces, after) = after.split_at_checked(usize::from(head[26])).ok_or(TRUNCATED)?;
        let length = laces.iter().map(|lace| usize::from(*lace)).sum();
        let (body, after) = after.split_at_checked(length).ok_or(TRUNCATED)?;
        let mut blank = *head;
        blank[22..26].fill(0);
        if [&blank[..], laces, body].iter().fold(0, |sum, part| CRC_32.add(sum, part)) != four(22) {
            return Err(damaged("the checksum of a page is wrong"));
        }
        let position = i64::from(four(6)) | i64::from(four(10)) << 32;
        Ok((Page { flags: head[5], position, serial: four(14), number: four(18), laces, body }, after))
    }

    pub(super) fn is_last(&self) -> bool {
        self.flags & LAST != 0
    }
}

/// Iterates over the pages and packets of a file.
pub(super) struct Pages<'a> {
    rest: &'a [u8],
    /// Serial number of the stream, and number of the next page; `None` before the first page.
    next: Option<(u32, u32)>,
    over: bool,
    /// The start of a packet that continues in the next page; `None` if no packet continues.
    partial: Option<Vec<u8>>,
}

impl<'a> Pages<'a> {
    pub(super) fn new(file: &'a [u8]) -> Pages<'a> {
        Pages { rest: file, next: None, over: false, partial: None }
    }

    /// Reads the next page. Returns `None` after the last page.
    pub(super) fn next(&mut self) -> Result<Option<Page<'a>>, DecodeError> {
        if self.over {
            if self.rest.starts_with(b"OggS") {
                return Err(unsupported(SEVERAL));
            }
            return Ok(None);
        }
        let (page, rest) = Page::read(self.rest)?;
        if page.flags & FIRST != 0 && self.next.is_some() || self.next.is_some_and(|(s, _)| s != page.serial)
        {
            return Err(unsupported(SEVERAL));
        }
        if self.next.is_some_and(|(_, number)| number != page.number) {
            return Err(damaged("a page is missing"));
        }
        if (page.flags & CONTINUED != 0) != self.partial.is_some() {
            return Err(damaged("a packet is incomplete"));
        }
        self.next = Some((page.serial, page.number.wrapping_add(1)));
        (self.rest, self.over) = (rest, page.is_last());
        Ok(Some(page))
    }

    /// Calls `each` with every packet that ends in this page.
    pub(super) fn packets(
        &mut self,
        page: &Page<'_>,
        mut each: impl FnMut(&[u8]) -> Result<(), DecodeError>,
    ) -> Result<(), DecodeError> {
        let mut body = page.body;
        let mut length = 0;
        for lace in page.laces {
            length += usize::from(*lace);
            if *lace == 255 {
                continue;
            }
            let (piece, after) = body.split_at(length);
            match self.partial.take() {
                Some(mut packet) => {
                    packet.extend_from_slice(piece);
                    each(&packet)?;
                }
                None => each(piece)?,
            }
            (body, length) = (after, 0);
        }
        if page.laces.last() == Some(&255) {
            self.partial.get_or_insert_default().extend_from_slice(body);
        }
        Ok(())
    }

    /// Whether the last packet so far is incomplete.
    pub(super) fn has_partial_packet(&self) -> bool {
        self.partial.is_some()
    }
}
