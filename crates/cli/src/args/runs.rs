//! Options of the commands that take the file of a run.

use super::JudgeArgs;
use clap::Args;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Arguments of `chicane verify`.
#[derive(Debug, Clone, Args)]
pub(crate) struct VerifyArgs {
    /// Files of runs, or folders with them; `records export --run` and `evaluate --save` write them
    #[arg(required = true, value_name = "FILE")]
    pub(crate) paths: Vec<PathBuf>,
    /// Number of runs that are verified at the same time [default: the number of processors]
    #[arg(short, long, value_name = "NUMBER", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(crate) jobs: Option<u16>,
    #[command(flatten)]
    pub(crate) judge: JudgeArgs,
}

/// Arguments of `chicane replay`.
#[derive(Debug, Clone, Args)]
pub(crate) struct ReplayArgs {
    /// File of a run
    pub(crate) file: PathBuf,
    /// Address and port of the viewer
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8000", value_parser = loopback)]
    pub(crate) listen: SocketAddr,
    /// Write the drive as columns of numbers to a file, or to standard output for -, and exit
    #[arg(long, value_name = "FILE")]
    pub(crate) tracks: Option<PathBuf>,
    /// Write the ROS 2 topics with camera images to an MCAP file for Foxglove, and exit
    #[arg(long, value_name = "FILE")]
    pub(crate) mcap: Option<PathBuf>,
    /// Write the student's program to a new folder, and exit; see `records export --program`
    #[arg(long, value_name = "FOLDER")]
    pub(crate) program: Option<PathBuf>,
    /// Write a film of the run to a file .mp4 or .webm, and exit; needs the program ffmpeg
    #[arg(long, value_name = "FILE")]
    pub(crate) video: Option<PathBuf>,
}

/// Accepts loopback addresses only. The viewer of a run asks for no token, so anyone who can reach
/// its address can use it.
fn loopback(text: &str) -> Result<SocketAddr, String> {
    let address: SocketAddr =
        text.parse().map_err(|_| "must be an address and a port, such as 127.0.0.1:8000".to_owned())?;
    if address.ip().is_loopback() {
        return Ok(address);
    }
    Err("must be an address of this machine, such as 127.0.0.1:8000; for other machines, import the run into a \
         data folder and use chicane serve with a token"
        .to_owned())
}

/// Arguments of `chicane rejudge`.
#[derive(Debug, Clone, Args)]
pub(crate) struct RejudgeArgs {
    /// File of a run
    pub(crate) file: PathBuf,
    /// Judging script, a Python file
    #[arg(long, value_name = "FILE")]
    pub(crate) script: PathBuf,
    /// Print the result as JSON to standard output, and everything else to standard error
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) judge: JudgeArgs,
}
