//! NumPy's `.npy` files, as far as tables of numbers need them.
//!
//! Reads little- and big-endian floats of 4 and 8 bytes in C and Fortran order, format 1.0 to
//! 3.0. The header and every number are checked before anything is allocated. Python objects are
//! refused: they are programs, not numbers.

use crate::error::Error;

/// Rows of a table.
const MAX_ROWS: u64 = 200_000;
/// Columns of a table.
const MAX_COLUMNS: u64 = 16;
/// Bytes of a header.
const MAX_HEADER: usize = 64 << 10;
const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// A table of finite numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Array {
    /// How many rows.
    pub rows: usize,
    /// How many columns.
    pub columns: usize,
    /// Row after row; `rows × columns` of them.
    pub values: Vec<f64>,
}

impl Array {
    /// One row.
    pub fn row(&self, i: usize) -> &[f64] {
        &self.values[i * self.columns..(i + 1) * self.columns]
    }
}

/// Reads a table.
pub fn read(file: &str, bytes: &[u8]) -> Result<Array, Error> {
    parse(bytes).map_err(|message| Error::file(file, message))
}

/// Writes a table as NumPy itself does: `<f8`, format 1.0, C order.
pub fn write(array: &Array) -> Vec<u8> {
    let dict =
        format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({}, {}), }}", array.rows, array.columns);
    // NumPy leaves room to grow the row count in place, then pads to a multiple of 64.
    let spare = 21usize.saturating_sub(array.rows.to_string().len());
    let used = MAGIC.len() + 4 + dict.len() + spare + 1;
    let padding = spare + 64 - used % 64;
    let header = dict.len() + padding + 1;
    let mut out = Vec::with_capacity(MAGIC.len() + 4 + header + array.values.len() * 8);
    out.extend_from_slice(MAGIC);
    out.extend_from_slice(&[1, 0]);
    out.extend_from_slice(&(header as u16).to_le_bytes());
    out.extend_from_slice(dict.as_bytes());
    out.resize(out.len() + padding, b' ');
    out.push(b'\n');
    for value in &array.values {
        out.extend_from_slice(&value.to_le_bytes());
    }
    out
}

/// What a header says.
struct Header {
    /// Bytes of a number.
    size: usize,
    big_endian: bool,
    fortran: bool,
    rows: usize,
    columns: usize,
}

fn parse(bytes: &[u8]) -> Result<Array, String> {
    let (text, data) = split(bytes)?;
    let header = header(text)?;
    let Header { size, big_endian, fortran, rows, columns } = header;
    let expected = rows * columns * size;
    if data.len() != expected {
        return Err(format!(
            "shape ({rows}, {columns}) needs {expected} bytes of data, the file holds {}",
            data.len()
        ));
    }
    let number = |row: usize, column: usize| {
        let i = if fortran { column * rows + row } else { row * columns + column };
        let raw = &data[i * size..(i + 1) * size];
        let mut le = [0u8; 8];
        le[..size].copy_from_slice(raw);
        if big_endian {
            le[..size].reverse();
        }
        if size == 4 {
            f64::from(f32::from_le_bytes([le[0], le[1], le[2], le[3]]))
        } else {
            f64::from_le_bytes(le)
        }
    };
    for row in 0..rows {
        for column in 0..columns {
            let value = number(row, column);
            if !value.is_finite() {
                return Err(format!("row {row}, column {column} (from 0) is not a finite number: {value}"));
            }
        }
    }
    let mut values = Vec::with_capacity(rows * columns);
    for row in 0..rows {
        values.extend((0..columns).map(|column| number(row, column)));
    }
    Ok(Array { rows, columns, values })
}

/// Takes a file apart: header text, data.
fn split(bytes: &[u8]) -> Result<(&str, &[u8]), String> {
    let rest = bytes.strip_prefix(MAGIC).ok_or("not a .npy file: it does not start with \\x93NUMPY")?;
    let (version, rest) = rest.split_first_chunk::<2>().ok_or(SHORT)?;
    let (length, rest) = match version {
        [1, 0] => {
            let (n, rest) = rest.split_first_chunk::<2>().ok_or(SHORT)?;
            (usize::from(u16::from_le_bytes(*n)), rest)
        }
        [2 | 3, 0] => {
            let (n, rest) = rest.split_first_chunk::<4>().ok_or(SHORT)?;
            (u32::from_le_bytes(*n) as usize, rest)
        }
        [major, minor] => {
            return Err(format!("version {major}.{minor} of the .npy format is not known; 1.0 to 3.0 are"));
        }
    };
    if length > MAX_HEADER {
        return Err(format!("header of {length} bytes is longer than {MAX_HEADER}"));
    }
    let (header, data) = rest.split_at_checked(length).ok_or(SHORT)?;
    let header = std::str::from_utf8(header).map_err(|_| "header is not text")?;
    Ok((header, data))
}

const SHORT: &str = "file ends inside the header";

/// Reads the Python dict that a header is.
fn header(text: &str) -> Result<Header, String> {
    let mut scan = Scan { rest: text };
    let (mut descr, mut fortran, mut shape) = (None, None, None);
    scan.expect('{')?;
    while !scan.take('}') {
        let key = scan.string()?;
        scan.expect(':')?;
        match key {
            "descr" => descr = Some(scan.descr()?),
            "fortran_order" => fortran = Some(scan.boolean()?),
            "shape" => shape = Some(scan.shape()?),
            other => return Err(format!("header holds an unknown key '{}'", crate::xml::excerpt(other))),
        }
        if !scan.take(',') {
            scan.expect('}')?;
            break;
        }
    }
    if !scan.rest.trim().is_empty() {
        return Err("header goes on after its closing }".to_owned());
    }
    let (Some((big_endian, size)), Some(fortran), Some((rows, columns))) = (descr, fortran, shape) else {
        return Err("header must hold 'descr', 'fortran_order' and 'shape'".to_owned());
    };
    Ok(Header { size, big_endian, fortran, rows, columns })
}

/// A cursor over the header text.
struct Scan<'a> {
    rest: &'a str,
}

impl<'a> Scan<'a> {
    fn take(&mut self, c: char) -> bool {
        self.rest = self.rest.trim_start();
        match self.rest.strip_prefix(c) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, c: char) -> Result<(), String> {
        if self.take(c) {
            return Ok(());
        }
        Err(format!("bad header: expected {c} before '{}'", crate::xml::excerpt(self.rest)))
    }

    fn string(&mut self) -> Result<&'a str, String> {
        let quote = if self.take('"') {
            '"'
        } else {
            self.expect('\'')?;
            '\''
        };
        let (string, rest) = self.rest.split_once(quote).ok_or("bad header: a string does not end")?;
        self.rest = rest;
        Ok(string)
    }

    /// The type of the numbers: big-endian, bytes.
    fn descr(&mut self) -> Result<(bool, usize), String> {
        self.rest = self.rest.trim_start();
        if self.rest.starts_with('[') {
            return Err(format!("records are not supported; {RIGHT_TYPES}"));
        }
        match self.string()? {
            "<f8" => Ok((false, 8)),
            ">f8" => Ok((true, 8)),
            "<f4" => Ok((false, 4)),
            ">f4" => Ok((true, 4)),
            "|O" | "O" => Err(format!("Python objects are not supported; {RIGHT_TYPES}")),
            other => Err(format!("type '{}' is not supported; {RIGHT_TYPES}", crate::xml::excerpt(other))),
        }
    }

    fn boolean(&mut self) -> Result<bool, String> {
        self.rest = self.rest.trim_start();
        for (word, value) in [("True", true), ("False", false)] {
            if let Some(rest) = self.rest.strip_prefix(word) {
                self.rest = rest;
                return Ok(value);
            }
        }
        Err("'fortran_order' must be True or False".to_owned())
    }

    /// Rows and columns, both within bounds.
    fn shape(&mut self) -> Result<(usize, usize), String> {
        self.expect('(')?;
        let (text, rest) = self.rest.split_once(')').ok_or("bad header: the shape does not end")?;
        self.rest = rest;
        let wrong = || format!("shape ({}) is not that of a table: two numbers", crate::xml::excerpt(text));
        let mut sides = text.split(',').map(str::trim);
        let (Some(rows), Some(columns)) = (sides.next(), sides.next()) else { return Err(wrong()) };
        // A comma may follow the last number.
        if sides.next().is_some_and(|s| !s.is_empty()) || sides.next().is_some() {
            return Err(wrong());
        }
        let (rows, columns) = (side(rows).ok_or_else(wrong)?, side(columns).ok_or_else(wrong)?);
        if rows > MAX_ROWS {
            return Err(format!("{rows} rows are more than {MAX_ROWS}"));
        }
        if columns == 0 || columns > MAX_COLUMNS {
            return Err(format!("{columns} columns; 1 to {MAX_COLUMNS} are right"));
        }
        Ok((rows as usize, columns as usize))
    }
}

const RIGHT_TYPES: &str = "<f8, >f8, <f4 and >f4 are";

/// One number of a shape. Python 2 wrote an L behind some. Too large for `u64` is simply large.
fn side(text: &str) -> Option<u64> {
    let digits = text.strip_suffix('L').unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    Some(digits.parse().unwrap_or(u64::MAX))
}
