//! The file and the paper of `chicane print`.

use chicane_wire::Paper;
use clap::ValueEnum;
use std::path::{Path, PathBuf};

/// The file to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PrintFile {
    pub(crate) path: PathBuf,
    pub(crate) kind: PrintKind,
}

/// The format of a print.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PrintKind {
    /// One JPEG image.
    Jpeg,
    /// A PDF document with one page for each sheet.
    Pdf,
}

/// Accepts a file name. Its extension decides the format.
pub(super) fn print_file(text: &str) -> Result<PrintFile, String> {
    let extension = Path::new(text).extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase);
    let kind = match extension.as_deref() {
        Some("jpg" | "jpeg") => PrintKind::Jpeg,
        Some("pdf") => PrintKind::Pdf,
        _ => return Err("must end with .jpg or .pdf".to_owned()),
    };
    Ok(PrintFile { path: PathBuf::from(text), kind })
}

/// Paper of a PDF document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PaperName {
    /// Sheets of 210 × 297 mm
    #[value(name = "A4")]
    A4,
    /// Sheets of 297 × 420 mm
    #[value(name = "A3")]
    A3,
    /// One page as large as the floor
    Banner,
}

impl From<PaperName> for Paper {
    fn from(name: PaperName) -> Paper {
        match name {
            PaperName::A4 => Paper::A4,
            PaperName::A3 => Paper::A3,
            PaperName::Banner => Paper::Banner,
        }
    }
}
