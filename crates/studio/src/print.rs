//! Prints of a project's floor: size, sheets, and the file as JPEG or PDF.

use crate::built::BuiltWorld;
use crate::pdf::{self, Layout};
use chicane_render::{Jpeg, Print, PrintError, Rgb, STRIP_ROWS};
use chicane_wire::{Paper, PrintRequest, PrintSize};
use chicane_world::World;
use std::io::{Error, Write};

/// Largest number of sheets of a PDF file.
const MAX_SHEETS: usize = 1000;
/// Margin of a sheet, mm. Office printers can't print nearer to the edge than about 5 mm.
const MARGIN_MM: f64 = 10.0;
/// Length of an inch, mm.
const INCH_MM: f64 = 25.4;
/// The size of the file is estimated from this many samples in each direction.
const SAMPLES: usize = 3;
/// Width and height of a sample, pixels.
const SAMPLE_PIXELS: usize = 256;
/// JPEG quality of the samples, 1 to 100. A print has the same quality.
const QUALITY: u8 = 90;
/// Estimate of the bytes of a sheet in the PDF file besides its picture.
const SHEET_BYTES: u64 = 1500;

/// The format of a print.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PrintFormat {
    /// One JPEG picture.
    Jpg,
    /// A PDF file with one page for each sheet.
    Pdf,
}

/// Why a project can't be printed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PrintJobError {
    /// The floor can't be printed.
    #[error("{0}")]
    Print(PrintError),
    /// The area is not on the floor.
    #[error("area must overlap the field")]
    Area,
    /// The print would need too many sheets.
    #[error(
        "the print would have {0} sheets, at most {MAX_SHEETS} are possible: choose larger paper or a smaller area"
    )]
    TooManySheets(usize),
}

/// A print that is ready to be drawn.
pub struct PrintJob {
    print: Print,
    layout: Layout,
    title: String,
}

impl PrintJob {
    /// Prepares the print of a built world.
    pub fn new(built: &BuiltWorld, request: &PrintRequest) -> Result<PrintJob, PrintJobError> {
        let whole = Print::new(&built.world, request.dpi).map_err(PrintJobError::Print)?;
        let print = match request.area {
            None => whole,
            Some(area) => {
                let [left, top] = whole.pixel_of(area.x, area.y + area.height);
                let [right, bottom] = whole.pixel_of(area.x + area.width, area.y);
                let (width, height) = (whole.width() as f64, whole.height() as f64);
                let [left, right] = [left, right].map(|x| x.round().clamp(0.0, width));
                let [top, bottom] = [top, bottom].map(|y| y.round().clamp(0.0, height));
                if right - left < 1.0 || bottom - top < 1.0 {
                    return Err(PrintJobError::Area);
                }
                let pixels = [left, top, right - left, bottom - top].map(|v| v as usize);
                whole.part(pixels[0], pixels[1], pixels[2], pixels[3])
            }
        };
        let layout = layout(&print, request.paper);
        Ok(PrintJob { print, layout, title: built.project.name.as_str().to_owned() })
    }

    /// Prepares the print of the whole floor of a world. Characters of the title other than
    /// letters, digits, dashes and underscores are removed.
    pub fn of_world(world: &World, title: &str, dpi: u16, paper: Paper) -> Result<PrintJob, PrintJobError> {
        let print = Print::new(world, dpi).map_err(PrintJobError::Print)?;
        let layout = layout(&print, paper);
        // The label is a text in brackets in the PDF file. An unescaped bracket or backslash would
        // make the file invalid.
        let is_plain = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        Ok(PrintJob { print, layout, title: title.chars().filter(is_plain).collect() })
    }

    /// The picture of the whole print.
    pub fn print(&self) -> &Print {
        &self.print
    }

    /// Number of sheets of a PDF file.
    pub fn sheets(&self) -> usize {
        self.layout.sheets()
    }

    /// Refuses a PDF file with too many sheets.
    pub fn check_sheets(&self) -> Result<(), PrintJobError> {
        let sheets = self.layout.sheets();
        if sheets > MAX_SHEETS { Err(PrintJobError::TooManySheets(sheets)) } else { Ok(()) }
    }

    /// The size of the print in pixels, sheets and bytes. Samples are drawn to estimate the bytes.
    pub fn size(&self) -> PrintSize {
        let (width, height) = (self.print.width(), self.print.height());
        let (mut bytes, mut pixels) = (0, 0);
        for i in 0..SAMPLES * SAMPLES {
            let place = |length: usize, k: usize| length.saturating_sub(SAMPLE_PIXELS) * k / (SAMPLES - 1);
            let (left, top) = (place(width, i % SAMPLES), place(height, i / SAMPLES));
            let part = self.print.part(left, top, SAMPLE_PIXELS, SAMPLE_PIXELS);
            let (mut picture, mut strip) = (Vec::new(), Vec::new());
            for row in (0..part.height()).step_by(STRIP_ROWS) {
                part.strip(row, &mut strip);
                picture.extend_from_slice(&strip);
            }
            pixels += part.width() * part.height();
            let sample = Rgb { width: part.width(), height: part.height(), bytes: picture };
            bytes += Jpeg::new(QUALITY).encode(&sample).map_or(0, |file| file.len());
        }
        let per_pixel = bytes as f64 / pixels.max(1) as f64;
        let sheets = self.layout.sheets();
        PrintSize {
            width_px: width as u32,
            height_px: height as u32,
            bytes_estimate: (per_pixel * width as f64 * height as f64) as u64 + SHEET_BYTES * sheets as u64,
            sheets: u32::try_from(sheets).unwrap_or(u32::MAX),
        }
    }

    /// Name of the file.
    pub fn file_name(&self, format: PrintFormat) -> String {
        let ending = if format == PrintFormat::Jpg { "jpg" } else { "pdf" };
        format!("{}-{}dpi.{ending}", self.title, self.print.dpi())
    }

    /// Draws the print into a file. Returns the first error of the writer.
    pub fn write(&self, format: PrintFormat, to: &mut dyn Write) -> Result<(), Error> {
        self.write_with_progress(format, to, &mut |_| {})
    }

    /// Like [`PrintJob::write`]. Calls `progress` with the finished fraction, 0 to 1.
    pub fn write_with_progress(
        &self,
        format: PrintFormat,
        to: &mut dyn Write,
        progress: &mut dyn FnMut(f64),
    ) -> Result<(), Error> {
        match format {
            PrintFormat::Jpg => self.print.write_jpeg_with_progress(to, progress),
            PrintFormat::Pdf => pdf::write(&self.print, &self.layout, &self.title, to, progress),
        }
    }
}

/// Divides a print into sheets, with the orientation of the paper that needs fewer sheets.
fn layout(print: &Print, paper: Paper) -> Layout {
    let per_mm = f64::from(print.dpi()) / INCH_MM;
    let (width, height) = (print.width(), print.height());
    let sheet = |page_mm: [f64; 2]| {
        let tile = page_mm.map(|side| (((side - 2.0 * MARGIN_MM) * per_mm) as usize).max(1));
        let (columns, rows) = (width.div_ceil(tile[0]), height.div_ceil(tile[1]));
        Layout { columns, rows, tile, page_mm, margin_mm: MARGIN_MM }
    };
    let portrait = match paper {
        Paper::A4 => [210.0, 297.0],
        Paper::A3 => [297.0, 420.0],
        Paper::Banner => {
            let page_mm = [width, height].map(|side| side as f64 / per_mm + 2.0 * MARGIN_MM);
            return Layout { columns: 1, rows: 1, tile: [width, height], page_mm, margin_mm: MARGIN_MM };
        }
    };
    let (upright, lying) = (sheet(portrait), sheet([portrait[1], portrait[0]]));
    if lying.sheets() < upright.sheets() { lying } else { upright }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chicane_builder::Project;
    use chicane_store::BuiltIn;
    use chicane_wire::PrintArea;

    fn oval() -> BuiltWorld {
        let shipped = BuiltIn::all().find(|world| world.name() == "oval").expect("shipped");
        let project = Project::read(shipped.project()).expect("a project");
        BuiltWorld { revision: 1, project, world: chicane_testkit::shipped_world("oval") }
    }

    fn job(dpi: u16, area: Option<[f64; 4]>, paper: Paper) -> Result<PrintJob, PrintJobError> {
        let area = area.map(|numbers| PrintArea::of(numbers).expect("an area"));
        PrintJob::new(&oval(), &PrintRequest { dpi, area, paper })
    }

    fn file(job: &PrintJob, format: PrintFormat) -> Vec<u8> {
        let mut bytes = Vec::new();
        job.write(format, &mut bytes).expect("written");
        bytes
    }

    /// The number of times that a text occurs in a file.
    fn count(file: &[u8], text: &str) -> usize {
        file.windows(text.len()).filter(|part| *part == text.as_bytes()).count()
    }

    #[test]
    fn sheets_cover_the_floor_and_their_number_is_announced() {
        // The field is 8 m × 6 m, and the picture on an A4 sheet is 190 mm × 277 mm: 29 × 32 sheets
        // in landscape, 43 × 22 in portrait.
        let print = job(10, None, Paper::A4).expect("a print");
        let size = print.size();
        assert_eq!((size.width_px, size.height_px), (3150, 2362));
        assert!((900..=960).contains(&size.sheets), "{}", size.sheets);
        let pdf = file(&print, PrintFormat::Pdf);
        assert_eq!(count(&pdf, "/Type /Page "), size.sheets as usize);
        assert_eq!(count(&pdf, "/DCTDecode"), size.sheets as usize);
        assert_eq!(count(&pdf, " l S\n"), 8 * size.sheets as usize, "eight cutting marks on each sheet");
        let ratio = pdf.len() as f64 / size.bytes_estimate as f64;
        assert!((0.3..4.0).contains(&ratio), "{} bytes, estimated {}", pdf.len(), size.bytes_estimate);
    }

    #[test]
    fn the_table_of_a_pdf_points_to_its_objects() {
        let pdf = file(&job(20, Some([1.0, 1.0, 0.6, 0.5]), Paper::A4).expect("a print"), PrintFormat::Pdf);
        let text = String::from_utf8_lossy(&pdf);
        assert!(text.starts_with("%PDF-1.6\n") && text.ends_with("%%EOF\n"));
        let table: usize = text
            .rsplit("startxref\n")
            .next()
            .and_then(|t| t.lines().next())
            .expect("a place")
            .parse()
            .expect("a number");
        let table = std::str::from_utf8(&pdf[table..]).expect("text");
        let mut lines = table.lines();
        assert_eq!(lines.next(), Some("xref"));
        let objects = lines
            .next()
            .and_then(|line| line.strip_prefix("0 "))
            .expect("a count")
            .parse()
            .expect("a number");
        for number in 1..objects {
            let line = lines.clone().nth(number).expect("a line");
            assert_eq!(line.len() + 1, 20, "{line:?}");
            let offset: usize = line[..10].parse().expect("an offset");
            let head = format!("{number} 0 obj\n");
            assert!(pdf[offset..].starts_with(head.as_bytes()), "object {number}");
        }
    }

    #[test]
    fn an_area_is_printed_alone() {
        let print = job(100, Some([1.0, 1.0, 2.54, 1.27]), Paper::Banner).expect("a print");
        let size = print.size();
        assert_eq!((size.width_px, size.height_px, size.sheets), (10_000, 5000, 1));
        let small = job(10, Some([1.0, 1.0, 2.54, 1.27]), Paper::Banner).expect("a print");
        let jpeg = image::load_from_memory(&file(&small, PrintFormat::Jpg)).expect("a picture");
        assert_eq!((jpeg.width(), jpeg.height()), (1000, 500));
        assert_eq!(small.file_name(PrintFormat::Jpg), "oval-10dpi.jpg");
        assert_eq!(job(10, Some([50.0, 50.0, 1.0, 1.0]), Paper::A4).err(), Some(PrintJobError::Area));
        let banner = file(&job(10, None, Paper::Banner).expect("a print"), PrintFormat::Pdf);
        assert_eq!(count(&banner, "/UserUnit 2 "), 1, "a page of 8 m needs larger units");
    }
}
