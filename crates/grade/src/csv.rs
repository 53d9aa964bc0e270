//! Tables as text (CSV): a reader for the files of spreadsheets and learning platforms, and a
//! writer. [`harmless`] keeps spreadsheets from evaluating a cell as a formula.

use std::path::{Path, PathBuf};

/// Largest file that is read, in bytes.
const MAX_BYTES: u64 = 16 << 20;
/// Maximum number of rows of a table, including the row with the names of the columns.
const MAX_ROWS: usize = 20_000;
/// Maximum number of columns of a table.
const MAX_COLUMNS: usize = 500;

/// Why a table can't be read.
#[derive(Debug, thiserror::Error)]
pub enum CsvError {
    /// The file can't be read.
    #[error("can't read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The file is not a usable table.
    #[error("{}: {why}", path.display())]
    Bad {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
}

/// A table: the names of its columns, and its rows. Every row has a cell for each column.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Table {
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// The index of a column. `names` are tried in their order, and the first one that is the name
    /// of a column counts. Case, and blanks around the name of a column, do not matter. `None` if
    /// no column has any of these names.
    pub fn column(&self, names: &[&str]) -> Option<usize> {
        names.iter().find_map(|name| {
            self.columns.iter().position(|column| column.trim().to_lowercase() == name.to_lowercase())
        })
    }
}

/// Reads a file with a table.
pub fn read(path: &Path) -> Result<Table, CsvError> {
    let read = |source| CsvError::Read { path: path.to_owned(), source };
    let bad = |why: &str| CsvError::Bad { path: path.to_owned(), why: why.to_owned() };
    if std::fs::metadata(path).map_err(read)?.len() > MAX_BYTES {
        return Err(bad("the file is larger than 16 MiB, so it is not a list of students"));
    }
    let bytes = std::fs::read(path).map_err(read)?;
    let text =
        String::from_utf8(bytes).map_err(|_| bad("the file is not UTF-8 text. Save it as \"CSV UTF-8\""))?;
    parse(&text).map_err(|why| bad(&why))
}

/// Reads a table. The delimiter is a comma, a semicolon or a tab, whichever is most frequent in the
/// first line. Rows whose cells are all blank are skipped.
pub fn parse(text: &str) -> Result<Table, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let first = text.lines().next().unwrap_or_default();
    let count = |delimiter: char| first.matches(delimiter).count();
    let delimiter = [',', ';', '\t'].into_iter().rev().max_by_key(|d| count(*d)).unwrap_or(',');
    let mut rows = cells(text, delimiter)?.into_iter();
    let columns = rows.next().ok_or("the table is empty. Its first line has to name the columns")?;
    if columns.len() > MAX_COLUMNS {
        return Err(format!("the table has more than {MAX_COLUMNS} columns"));
    }
    let mut table = Table { columns, rows: Vec::new() };
    for (i, mut row) in rows.enumerate() {
        if row.len() > table.columns.len() {
            let (row, columns) = (row.len(), table.columns.len());
            return Err(format!("row {} has {row} cells, and the first line names {columns}", i + 2));
        }
        row.resize(table.columns.len(), String::new());
        table.rows.push(row);
    }
    Ok(table)
}

/// Splits a text into rows of cells.
fn cells(text: &str, delimiter: char) -> Result<Vec<Vec<String>>, String> {
    let (mut rows, mut row, mut cell) = (Vec::new(), Vec::new(), String::new());
    let (mut quoted, mut line) = (false, 1);
    let mut characters = text.chars().peekable();
    let mut end_row = |row: &mut Vec<String>, cell: &mut String| {
        row.push(std::mem::take(cell));
        let row = std::mem::take(row);
        if row.iter().any(|cell| !cell.trim().is_empty()) {
            rows.push(row);
        }
        if rows.len() > MAX_ROWS { Err(format!("the table has more than {MAX_ROWS} rows")) } else { Ok(()) }
    };
    let mut opened = 0;
    while let Some(c) = characters.next() {
        line += usize::from(c == '\n');
        match c {
            '"' if quoted && characters.peek() == Some(&'"') => {
                characters.next();
                cell.push('"');
            }
            '"' if quoted => quoted = false,
            '"' if cell.is_empty() => (quoted, opened) = (true, line),
            c if quoted => cell.push(c),
            c if c == delimiter => row.push(std::mem::take(&mut cell)),
            '\n' => end_row(&mut row, &mut cell)?,
            '\r' if characters.peek() == Some(&'\n') => {}
            c => cell.push(c),
        }
    }
    if quoted {
        return Err(format!("the quotation mark of line {opened} is never closed"));
    }
    end_row(&mut row, &mut cell)?;
    Ok(rows)
}

/// One row of a table as CSV, with its line end. Untrusted text must be passed through [`harmless`]
/// first.
pub fn line<S: AsRef<str>>(cells: &[S]) -> String {
    let cells: Vec<String> = cells.iter().map(|cell| quoted(cell.as_ref())).collect();
    cells.join(",") + "\n"
}

/// A text that no spreadsheet evaluates as a formula. A spreadsheet evaluates a cell that begins
/// with `=`, `+`, `-` or `@`, even if the cell comes from a CSV file. An apostrophe before the text
/// prevents the evaluation. Numbers are returned unchanged.
pub fn harmless(text: &str) -> String {
    let is_formula = text.trim_start().starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠'])
        || text.starts_with(['\t', '\r', '\n']);
    if is_formula && text.trim().parse::<f64>().is_err() { format!("'{text}") } else { text.to_owned() }
}

fn quoted(cell: &str) -> String {
    if cell.contains(['"', ',', ';', '\n', '\r', '\t']) || cell != cell.trim() {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_of_other_programs_are_read() {
        for text in [
            "\u{feff}Full name,ID\r\n\"Doe, \"\"Jane\"\"\",7\r\n\r\nBo,\r\n",
            "Full name;ID\n\"Doe, \"\"Jane\"\"\";7\nBo\n",
            "Full name\tID\n\"Doe, \"\"Jane\"\"\"\t7\nBo\t",
        ] {
            let table = parse(text).expect("a table");
            assert_eq!(table.columns, ["Full name", "ID"]);
            assert_eq!(table.rows, [["Doe, \"Jane\"", "7"], ["Bo", ""]]);
            assert_eq!(table.column(&["name", "full NAME"]), Some(0));
        }
        assert_eq!(parse("a,b\n\"two\nlines\",x\n").expect("a table").rows, [["two\nlines", "x"]]);
    }

    #[test]
    fn damaged_tables_say_what_is_wrong() {
        assert!(parse("").unwrap_err().contains("empty"));
        assert!(parse("a\n\"b\n").unwrap_err().contains("line 2 is never closed"));
        assert!(parse("a,b\n1,2,3\n").unwrap_err().contains("row 2 has 3 cells"));
        assert!(parse(&"x\n".repeat(MAX_ROWS + 2)).unwrap_err().contains("rows"));
    }

    #[test]
    fn no_cell_becomes_a_formula() {
        for bad in ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(1)", " =1", "\t=1", "\r=1", "＝1"] {
            assert!(harmless(bad).starts_with('\''), "{bad:?}");
        }
        for good in ["", "Ada", "-3.5", "+4", "1e-3", "a=b", "O'Neil"] {
            assert_eq!(harmless(good), good);
        }
        assert_eq!(line(&["a,b", "c\"d", " e", "f"]), "\"a,b\",\"c\"\"d\",\" e\",f\n");
    }
}
