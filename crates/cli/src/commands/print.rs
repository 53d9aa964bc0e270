//! `chicane print`: writes the floor of a world as an image or a PDF document for printing.

use crate::args::{PrintArgs, PrintKind};
use crate::file_error::FileError;
use crate::progress::Progress;
use crate::world_source::{self, WorldSourceError};
use chicane_render::PrintError;
use chicane_studio::{PrintFormat, PrintJob, PrintJobError};
use chicane_wire::Paper;
use std::io::{BufWriter, Write};
use std::path::Path;

/// Lowest resolution that the command accepts, in pixels per inch.
const MIN_DPI: u16 = 10;

/// Why nothing was written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PrintCommandError {
    #[error(transparent)]
    World(#[from] WorldSourceError),
    #[error(transparent)]
    Print(#[from] PrintJobError),
    /// The floor is too large even at the lowest resolution that the command accepts.
    #[error("{0}. Print a part of it with --area X0,Y0,X1,Y1")]
    NeedsArea(PrintError),
    #[error(
        "--paper is for PDF files, but {0} is an image. Omit --paper, or give -o a name that ends in .pdf"
    )]
    PaperOfImage(String),
    #[error(transparent)]
    File(#[from] FileError),
}

impl PrintCommandError {
    /// Whether the command line is wrong.
    pub(crate) fn is_usage(&self) -> bool {
        match self {
            PrintCommandError::World(error) => error.is_unknown(),
            PrintCommandError::PaperOfImage(_) => true,
            _ => false,
        }
    }
}

pub(crate) fn run(args: &PrintArgs) -> Result<(), PrintCommandError> {
    let (output, dpi) = (args.output.path.as_path(), args.dpi);
    let format = match args.output.kind {
        PrintKind::Jpeg if args.paper.is_some() => {
            return Err(PrintCommandError::PaperOfImage(output.display().to_string()));
        }
        PrintKind::Jpeg => PrintFormat::Jpg,
        PrintKind::Pdf => PrintFormat::Pdf,
    };
    let mut world = world_source::load(&args.world, None, &args.resources.folders())?;
    world.ground.bounds = args.area.or(world.ground.bounds);
    let paper = args.paper.map_or(Paper::A4, Into::into);
    let job = PrintJob::of_world(&world, &world.name, dpi, paper).map_err(|error| match error {
        PrintJobError::Print(error @ PrintError::TooLarge { max_dpi, .. }) if max_dpi < MIN_DPI => {
            PrintCommandError::NeedsArea(error)
        }
        other => other.into(),
    })?;
    if format == PrintFormat::Pdf {
        job.check_sheets()?;
    }
    write(&job, format, output, &world.name)?;
    let print = job.print();
    let metres = |pixels: usize| pixels as f64 / print.pixels_per_metre();
    let sheets = match (format, job.sheets()) {
        (PrintFormat::Jpg, _) => String::new(),
        (PrintFormat::Pdf, 1) => ", 1 sheet".to_owned(),
        (PrintFormat::Pdf, sheets) => format!(", {sheets} sheets"),
    };
    println!(
        "{}: {} × {} pixels, {:.2} × {:.2} m at {dpi} dpi{sheets}",
        output.display(),
        print.width(),
        print.height(),
        metres(print.width()),
        metres(print.height())
    );
    Ok(())
}

/// Writes the file under a temporary name and renames it when it is complete. Therefore a failure
/// leaves no partial file under the final name.
fn write(job: &PrintJob, format: PrintFormat, output: &Path, world: &str) -> Result<(), FileError> {
    let mut part = output.as_os_str().to_owned();
    part.push(".part");
    let part = Path::new(&part);
    let mut file = BufWriter::new(std::fs::File::create(part).map_err(FileError::write(output))?);
    let mut progress = Progress::new(format!("printing {world}"));
    let written = job.write_with_progress(format, &mut file, &mut |done| progress.set(done));
    let written = written.and_then(|()| file.flush()).and_then(|()| std::fs::rename(part, output));
    if let Err(error) = written {
        let _ = std::fs::remove_file(part);
        return Err(FileError::write(output)(error));
    }
    progress.finish();
    Ok(())
}
