//! Options of the commands for operators: backups and `chicane doctor`.

use super::JudgeArgs;
use super::values::hours;
use clap::Args;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Options of the backups that `chicane serve` makes.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Backups")]
pub(crate) struct RollingBackupArgs {
    /// Back up the data folder to this folder while the simulator runs; `chicane restore` reads the
    /// files
    #[arg(long, value_name = "FOLDER", env = "CHICANE_BACKUP")]
    pub(crate) backup: Option<PathBuf>,
    /// Hours between two backups, 0.1 to 720
    #[arg(long, value_name = "HOURS", env = "CHICANE_BACKUP_EVERY", requires = "backup", default_value = "24", value_parser = hours)]
    pub(crate) backup_every: f64,
    /// Number of backups that are kept; older ones are removed
    #[arg(long, value_name = "NUMBER", env = "CHICANE_BACKUP_KEEP", requires = "backup", default_value_t = 7, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) backup_keep: u16,
}

/// Arguments of `chicane backup`.
#[derive(Debug, Clone, Args)]
pub(crate) struct BackupArgs {
    /// File to write; it must not exist
    pub(crate) file: PathBuf,
    /// Data folder to back up [default: the platform's folder for application data]
    #[arg(long, value_name = "FOLDER", env = "CHICANE_DATA_DIR")]
    pub(crate) data_dir: Option<PathBuf>,
}

/// Arguments of `chicane restore`.
#[derive(Debug, Clone, Args)]
pub(crate) struct RestoreArgs {
    /// File of `chicane backup` or `chicane serve --backup`
    pub(crate) file: PathBuf,
    /// Data folder to restore to; it must be missing or empty [default: the platform's folder for
    /// application data]
    #[arg(long, value_name = "FOLDER", env = "CHICANE_DATA_DIR")]
    pub(crate) data_dir: Option<PathBuf>,
    /// Replace a data folder; the old one is renamed and kept
    #[arg(long)]
    pub(crate) replace: bool,
    /// Check the file completely, and restore nothing
    #[arg(long, conflicts_with = "replace")]
    pub(crate) check: bool,
}

/// Arguments of `chicane doctor`.
#[derive(Debug, Clone, Args)]
pub(crate) struct DoctorArgs {
    /// Data folder to check [default: the platform's folder for application data]
    #[arg(long, value_name = "FOLDER", env = "CHICANE_DATA_DIR")]
    pub(crate) data_dir: Option<PathBuf>,
    /// Address and port that have to be free
    #[arg(long, value_name = "ADDRESS", env = "CHICANE_LISTEN", default_value = "127.0.0.1:8000")]
    pub(crate) listen: SocketAddr,
    /// Print the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) judge: JudgeArgs,
}
