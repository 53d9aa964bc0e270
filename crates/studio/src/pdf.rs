//! Writes a print as a PDF file: one page for each sheet, with a JPEG picture, cutting marks and a
//! label.
//!
//! The file is written in one pass, so that it need not be in memory. The length of a picture in
//! bytes is known only after the picture is written. Therefore the length is a separate object
//! after the picture.

use chicane_render::Print;
use std::io::{Error, Write};

/// Length of an inch, mm.
const INCH_MM: f64 = 25.4;
/// PDF units per inch.
const POINTS: f64 = 72.0;
/// Largest side of a page in PDF units. For a larger page, the size of a unit is increased.
const MAX_PAGE_UNITS: f64 = 14_400.0;
/// Distance of a cutting mark from the picture, mm.
const MARK_GAP_MM: f64 = 1.0;
/// Length of a cutting mark, mm.
const MARK_MM: f64 = 5.0;
/// Font size of the label, mm.
const LABEL_MM: f64 = 3.0;
/// Number of PDF objects for each sheet: page, content, picture, length of the picture.
const OBJECTS_PER_SHEET: usize = 4;
/// Number of the first object of the first sheet. Before it are catalogue, page tree and font.
const FIRST_SHEET: usize = 4;

/// How a print is divided into sheets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Layout {
    /// Number of columns of sheets.
    pub(crate) columns: usize,
    /// Number of rows of sheets.
    pub(crate) rows: usize,
    /// Largest width and height of the picture of a sheet, pixels. The pictures of the last column
    /// and of the last row can be smaller.
    pub(crate) tile: [usize; 2],
    /// Width and height of a page, mm.
    pub(crate) page_mm: [f64; 2],
    /// Margin around the picture, mm.
    pub(crate) margin_mm: f64,
}

impl Layout {
    /// Number of sheets.
    pub(crate) fn sheets(&self) -> usize {
        self.columns * self.rows
    }
}

/// Writes a print as a PDF file. `title` appears in the label of each sheet. `progress` is called
/// with the finished fraction, 0 to 1.
pub(crate) fn write(
    print: &Print,
    layout: &Layout,
    title: &str,
    to: &mut dyn Write,
    progress: &mut dyn FnMut(f64),
) -> Result<(), Error> {
    let mut pdf = Pdf { to, at: 0, offsets: vec![0; FIRST_SHEET + OBJECTS_PER_SHEET * layout.sheets()] };
    // The second line has bytes above 127, which tell programs such as mailers that the file is
    // binary.
    pdf.put(b"%PDF-1.6\n%\xe2\xe3\xcf\xd3\n")?;
    pdf.object(1, "<< /Type /Catalog /Pages 2 0 R >>")?;
    let kids: Vec<String> =
        (0..layout.sheets()).map(|i| format!("{} 0 R", FIRST_SHEET + OBJECTS_PER_SHEET * i)).collect();
    pdf.object(2, &format!("<< /Type /Pages /Count {} /Kids [{}] >>", layout.sheets(), kids.join(" ")))?;
    pdf.object(3, "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")?;
    for sheet in 0..layout.sheets() {
        write_sheet(&mut pdf, print, layout, title, sheet)?;
        progress((sheet + 1) as f64 / layout.sheets() as f64);
    }
    pdf.finish()
}

fn write_sheet(
    pdf: &mut Pdf<'_>,
    print: &Print,
    layout: &Layout,
    title: &str,
    sheet: usize,
) -> Result<(), Error> {
    let (column, row) = (sheet % layout.columns, sheet / layout.columns);
    let [tile_width, tile_height] = layout.tile;
    let part = print.part(column * tile_width, row * tile_height, tile_width, tile_height);
    let page = FIRST_SHEET + OBJECTS_PER_SHEET * sheet;
    let (content, picture, length) = (page + 1, page + 2, page + 3);
    let points = layout.page_mm.map(|mm| mm / INCH_MM * POINTS);
    let unit = (points[0].max(points[1]) / MAX_PAGE_UNITS).ceil().max(1.0);
    let [width, height] = points.map(|side| side / unit);
    pdf.object(
        page,
        &format!(
            "<< /Type /Page /Parent 2 0 R /UserUnit {unit:.0} /MediaBox [0 0 {width:.3} {height:.3}] \
             /Resources << /Font << /F 3 0 R >> /XObject << /P {picture} 0 R >> >> /Contents {content} 0 R >>"
        ),
    )?;
    let label =
        format!("{title}   row {} of {}, column {} of {}", row + 1, layout.rows, column + 1, layout.columns);
    let drawing = drawing(&part, layout, height, POINTS / unit, &label);
    pdf.object(content, &format!("<< /Length {} >>\nstream\n{drawing}endstream", drawing.len()))?;
    pdf.begin(picture)?;
    let dictionary = format!(
        "<< /Type /XObject /Subtype /Image /Width {} /Height {} /ColorSpace /DeviceRGB \
         /BitsPerComponent 8 /Filter /DCTDecode /Length {length} 0 R >>\nstream\n",
        part.width(),
        part.height()
    );
    pdf.put(dictionary.as_bytes())?;
    let from = pdf.at;
    part.write_jpeg(&mut *pdf)?;
    let bytes = pdf.at - from;
    pdf.put(b"\nendstream\nendobj\n")?;
    pdf.object(length, &bytes.to_string())
}

/// The drawing commands of a sheet. `per_inch` is the number of units per inch.
fn drawing(part: &Print, layout: &Layout, page_height: f64, per_inch: f64, label: &str) -> String {
    let units = |mm: f64| mm / INCH_MM * per_inch;
    let pixels = |count: usize| count as f64 / f64::from(part.dpi()) * per_inch;
    let (width, height) = (pixels(part.width()), pixels(part.height()));
    let (left, top) = (units(layout.margin_mm), page_height - units(layout.margin_mm));
    let (right, bottom) = (left + width, top - height);
    let mut text = format!("q {width:.4} 0 0 {height:.4} {left:.4} {bottom:.4} cm /P Do Q\n");
    text.push_str(&format!("0.2 G {:.3} w\n", units(0.1)));
    let (near, far) = (units(MARK_GAP_MM), units(MARK_GAP_MM + MARK_MM));
    for (x, out_x) in [(left, -1.0), (right, 1.0)] {
        for (y, out_y) in [(bottom, -1.0), (top, 1.0)] {
            let (x1, x2) = (x + out_x * near, x + out_x * far);
            let (y1, y2) = (y + out_y * near, y + out_y * far);
            text.push_str(&format!("{x1:.3} {y:.3} m {x2:.3} {y:.3} l S\n"));
            text.push_str(&format!("{x:.3} {y1:.3} m {x:.3} {y2:.3} l S\n"));
        }
    }
    let size = units(LABEL_MM);
    let (x, y) = (left + far, bottom - far + size * 0.5);
    // The title has only letters, digits, dashes and underscores, so nothing has to be escaped.
    text.push_str(&format!("BT /F {size:.2} Tf {x:.3} {y:.3} Td ({label}) Tj ET\n"));
    text
}

/// A PDF file that is being written.
struct Pdf<'a> {
    to: &'a mut dyn Write,
    /// Number of bytes written so far.
    at: u64,
    /// Position of each object in the file. Object 0 does not exist.
    offsets: Vec<u64>,
}

impl Pdf<'_> {
    fn put(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.write_all(bytes)
    }

    fn begin(&mut self, number: usize) -> Result<(), Error> {
        if let Some(offset) = self.offsets.get_mut(number) {
            *offset = self.at;
        }
        self.put(format!("{number} 0 obj\n").as_bytes())
    }

    fn object(&mut self, number: usize, text: &str) -> Result<(), Error> {
        self.begin(number)?;
        self.put(format!("{text}\nendobj\n").as_bytes())
    }

    /// Writes the cross-reference table and the trailer.
    fn finish(mut self) -> Result<(), Error> {
        let (table, count) = (self.at, self.offsets.len());
        let mut text = format!("xref\n0 {count}\n0000000000 65535 f \n");
        for offset in &self.offsets[1..] {
            text.push_str(&format!("{offset:010} 00000 n \n"));
        }
        text.push_str(&format!("trailer\n<< /Size {count} /Root 1 0 R >>\nstartxref\n{table}\n%%EOF\n"));
        self.put(text.as_bytes())
    }
}

impl Write for Pdf<'_> {
    fn write(&mut self, bytes: &[u8]) -> Result<usize, Error> {
        let written = self.to.write(bytes)?;
        self.at += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> Result<(), Error> {
        self.to.flush()
    }
}
