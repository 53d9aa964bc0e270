//! Options of recordings.

use chicane_recording::RecordingOptions;
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Recordings")]
pub(crate) struct RecordArgs {
    /// Record all topics as MCAP files in this folder, from the start of the simulator [default: no
    /// recording at the start; recordings that clients start are in the folder recordings of the
    /// data folder]
    #[arg(long = "record", value_name = "FOLDER", env = "CHICANE_RECORD")]
    pub(crate) folder: Option<PathBuf>,
    /// Largest size of a recorded file in MiB; a longer recording continues in the next file
    #[arg(long = "record-size", value_name = "MIB", env = "CHICANE_RECORD_SIZE", requires = "folder", default_value_t = RecordingOptions::MAX_FILE_BYTES >> 20, value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    file_mib: u64,
    /// Largest size of all recordings in the folder together, in GiB; the oldest files are removed
    #[arg(long = "record-disk", value_name = "GIB", env = "CHICANE_RECORD_DISK", requires = "folder", default_value_t = RecordingOptions::MAX_FOLDER_BYTES >> 30, value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    disk_gib: u64,
}

impl RecordArgs {
    /// The folder and the limits; `None` without `--record`.
    pub(crate) fn options(&self) -> Option<RecordingOptions> {
        let folder = self.folder.as_ref()?;
        Some(RecordingOptions {
            max_file_bytes: self.file_mib << 20,
            max_folder_bytes: self.disk_gib << 30,
            ..RecordingOptions::new(folder)
        })
    }
}
