//! `chicane print`: writes the floor of a world as an image for printing.

use crate::args::PrintArgs;
use crate::file_error::FileError;
use crate::progress::Progress;
use crate::world_source::{self, WorldSourceError};
use chicane_render::{Print, PrintError};
use std::io::BufWriter;

/// Lowest resolution that the command accepts, pixels per inch.
const MIN_DPI: u16 = 10;

/// Why no image was written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PrintCommandError {
    #[error(transparent)]
    World(#[from] WorldSourceError),
    #[error(transparent)]
    Print(#[from] PrintError),
    /// The floor is too large even at the lowest resolution that the command accepts.
    #[error("{0}. Print a part of it with --area X0,Y0,X1,Y1")]
    NeedsArea(PrintError),
    #[error(transparent)]
    File(#[from] FileError),
}

pub(crate) fn run(args: &PrintArgs) -> Result<(), PrintCommandError> {
    let (output, dpi) = (&args.output, args.dpi);
    let mut world = world_source::load(&args.world, None, &args.resources.folders())?;
    world.ground.bounds = args.area.or(world.ground.bounds);
    let print = Print::new(&world, dpi).map_err(|error| match error {
        PrintError::TooLarge { max_dpi, .. } if max_dpi < MIN_DPI => PrintCommandError::NeedsArea(error),
        other => other.into(),
    })?;
    // The image is written under a temporary name and renamed when it is complete. Therefore a
    // failure leaves no partial image under the final name.
    let part = output.with_extension("jpg.part");
    let file = BufWriter::new(std::fs::File::create(&part).map_err(FileError::write(output))?);
    let mut progress = Progress::new(format!("printing {}", world.name));
    let written = print.write_jpeg_with_progress(file, |done| progress.set(done));
    drop(progress);
    written.and_then(|()| std::fs::rename(&part, output)).map_err(|e| {
        let _ = std::fs::remove_file(&part);
        FileError::write(output)(e)
    })?;
    let metres = |pixels: usize| pixels as f64 / print.pixels_per_metre();
    println!(
        "{}: {} × {} pixels, {:.2} × {:.2} m at {dpi} dpi",
        output.display(),
        print.width(),
        print.height(),
        metres(print.width()),
        metres(print.height())
    );
    Ok(())
}
