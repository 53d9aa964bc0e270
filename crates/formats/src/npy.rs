//! Reads and writes two-dimensional tables of numbers as NumPy `.npy` files.
//!
//! The reader accepts the formats 1.0 to 3.0. Numbers are floats of 4 or 8 bytes, little- or
//! big-endian, in C or Fortran order. The reader checks the header and every number before it
//! allocates memory for the table. Python objects are refused, because unpickling them could run
//! code.

use crate::error::Error;

/// Maximum number of rows.
const MAX_ROWS: u64 = 200_000;
/// Maximum number of columns.
const MAX_COLUMNS: u64 = 16;
/// Maximum size of the header text, in bytes.
const MAX_HEADER: usize = 64 << 10;
/// The first bytes of every `.npy` file.
const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// A table of finite numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Array {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub columns: usize,
    /// The `rows × columns` numbers, row by row.
    pub values: Vec<f64>,
}

impl Array {
    /// The numbers of row `i`.
    pub fn row(&self, i: usize) -> &[f64] {
        &self.values[i * self.columns..(i + 1) * self.columns]
    }
}

/// Reads a table. `file` is the path for error messages.
pub fn read(file: &str, bytes: &[u8]) -> Result<Array, Error> {
    parse(bytes).map_err(|message| Error::file(file, message))
}

/// Writes a table as 8-byte little-endian floats (`<f8`) in format 1.0 and C order. NumPy would
/// write the same bytes.
pub fn write(array: &Array) -> Vec<u8> {
    let dict =
        format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({}, {}), }}", array.rows, array.columns);
    // NumPy reserves space for a row count of 21 digits. Then NumPy pads the header, so that the
    // data starts at a multiple of 64 bytes. This function does the same.
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

/// The parsed header of a file.
struct Header {
    /// Size of one number, in bytes.
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
            "shape ({rows}, {columns}) needs {expected} bytes of data, but the file has {}",
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

/// Splits a file into header text and data.
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
            return Err(format!(
                "version {major}.{minor} of the .npy format is not supported; use 1.0 to 3.0"
            ));
        }
    };
    if length > MAX_HEADER {
        return Err(format!("the header has {length} bytes; at most {MAX_HEADER} are allowed"));
    }
    let (header, data) = rest.split_at_checked(length).ok_or(SHORT)?;
    let header = std::str::from_utf8(header).map_err(|_| "the header is not UTF-8 text")?;
    Ok((header, data))
}

const SHORT: &str = "the file ends inside the header";

/// Parses the header text, which is a Python dict literal.
fn header(text: &str) -> Result<Header, String> {
    let mut scan = HeaderScanner { rest: text };
    let (mut descr, mut fortran, mut shape) = (None, None, None);
    scan.expect('{')?;
    while !scan.take('}') {
        let key = scan.string()?;
        scan.expect(':')?;
        match key {
            "descr" => descr = Some(scan.descr()?),
            "fortran_order" => fortran = Some(scan.boolean()?),
            "shape" => shape = Some(scan.shape()?),
            other => {
                return Err(format!("the header has an unknown key '{}'", crate::xml::excerpt(other)));
            }
        }
        if !scan.take(',') {
            scan.expect('}')?;
            break;
        }
    }
    if !scan.rest.trim().is_empty() {
        return Err("the header continues after its closing }".to_owned());
    }
    let (Some((big_endian, size)), Some(fortran), Some((rows, columns))) = (descr, fortran, shape) else {
        return Err("the header must have the keys 'descr', 'fortran_order' and 'shape'".to_owned());
    };
    Ok(Header { size, big_endian, fortran, rows, columns })
}

/// A cursor over the header text. `rest` is the unread text.
struct HeaderScanner<'a> {
    rest: &'a str,
}

impl<'a> HeaderScanner<'a> {
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
        let (string, rest) =
            self.rest.split_once(quote).ok_or("bad header: a string has no closing quote")?;
        self.rest = rest;
        Ok(string)
    }

    /// Parses the type of the numbers. Returns whether the numbers are big-endian, and the size of
    /// one number in bytes.
    fn descr(&mut self) -> Result<(bool, usize), String> {
        self.rest = self.rest.trim_start();
        if self.rest.starts_with('[') {
            return Err(format!("records are not supported; {SUPPORTED_TYPES}"));
        }
        match self.string()? {
            "<f8" => Ok((false, 8)),
            ">f8" => Ok((true, 8)),
            "<f4" => Ok((false, 4)),
            ">f4" => Ok((true, 4)),
            "|O" | "O" => Err(format!("Python objects are not supported; {SUPPORTED_TYPES}")),
            other => {
                Err(format!("type '{}' is not supported; {SUPPORTED_TYPES}", crate::xml::excerpt(other)))
            }
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

    /// Parses the number of rows and the number of columns. The result is an error if a number
    /// exceeds its limit.
    fn shape(&mut self) -> Result<(usize, usize), String> {
        self.expect('(')?;
        let (text, rest) = self.rest.split_once(')').ok_or("bad header: the shape has no closing )")?;
        self.rest = rest;
        let invalid = || format!("shape ({}) must be two numbers: rows, columns", crate::xml::excerpt(text));
        let mut sides = text.split(',').map(str::trim);
        let (Some(rows), Some(columns)) = (sides.next(), sides.next()) else { return Err(invalid()) };
        // Python allows a comma after the last number.
        if sides.next().is_some_and(|s| !s.is_empty()) || sides.next().is_some() {
            return Err(invalid());
        }
        let (rows, columns) = (dimension(rows).ok_or_else(invalid)?, dimension(columns).ok_or_else(invalid)?);
        if rows > MAX_ROWS {
            return Err(format!("the table has {rows} rows; at most {MAX_ROWS} are allowed"));
        }
        if columns == 0 || columns > MAX_COLUMNS {
            return Err(format!("the table has {columns} columns; 1 to {MAX_COLUMNS} are allowed"));
        }
        Ok((rows as usize, columns as usize))
    }
}

const SUPPORTED_TYPES: &str = "use <f8, >f8, <f4 or >f4";

/// Parses one number of a shape. Python 2 may append the suffix `L`. A number that does not fit in
/// a `u64` becomes `u64::MAX`. The caller refuses this value, because it exceeds the limit on rows
/// or columns. The result is `None` if the text is not a number.
fn dimension(text: &str) -> Option<u64> {
    let digits = text.strip_suffix('L').unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    Some(digits.parse().unwrap_or(u64::MAX))
}
