//! The options of the box that student programs run in.

use chicane_session::BoxOptions;
use chicane_wire::{BoxKind, StudentNetwork};
use clap::{Args, ValueEnum};
use std::ffi::OsString;
use std::path::PathBuf;

/// How student programs are isolated.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Student programs")]
pub(crate) struct StudentArgs {
    /// Isolation of student programs [default: closed, or host for a simulator that only this
    /// machine can reach]
    #[arg(long = "box", value_enum, value_name = "KIND", env = "CHICANE_BOX")]
    kind: Option<BoxName>,
    /// What student programs reach besides the simulator [default: none in a closed box, else
    /// internet]
    #[arg(long = "student-network", value_enum, value_name = "NETWORK", env = "CHICANE_STUDENT_NETWORK")]
    network: Option<NetworkName>,
    /// Further file or folder that a closed box shows, read-only; can be repeated
    #[arg(long = "student-path", value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Further environment variable that student programs get; can be repeated
    #[arg(long = "student-env", value_name = "NAME")]
    environment: Vec<String>,
    /// Memory of a student program in MiB
    #[arg(long = "student-memory", value_name = "MIB", env = "CHICANE_STUDENT_MEMORY", value_parser = clap::value_parser!(u64).range(64..=1 << 20))]
    memory: Option<u64>,
    /// Processes and threads of a student program
    #[arg(long = "student-processes", value_name = "NUMBER", env = "CHICANE_STUDENT_PROCESSES", value_parser = clap::value_parser!(u64).range(8..=1 << 20))]
    processes: Option<u64>,
    /// Files of a program in a closed box in MiB, including the copy of its workspace
    #[arg(long = "student-files", value_name = "MIB", env = "CHICANE_STUDENT_FILES", value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    files: Option<u64>,
}

impl StudentArgs {
    /// The limits, further files and further environment variables of a box, as arguments of this
    /// program.
    pub(crate) fn limit_arguments(&self) -> Vec<OsString> {
        let limits = [
            ("--student-memory", self.memory),
            ("--student-processes", self.processes),
            ("--student-files", self.files),
        ];
        let limits = limits.into_iter().filter_map(|(name, value)| Some(format!("{name}={}", value?).into()));
        let paths =
            self.paths.iter().flat_map(|path| ["--student-path".into(), path.clone().into_os_string()]);
        let names = self.environment.iter().map(|name| format!("--student-env={name}").into());
        limits.chain(paths).chain(names).collect()
    }

    /// The options of the box. `default` is the kind of box if the command line names none.
    pub(crate) fn options(&self, default: BoxKind) -> BoxOptions {
        let kind = self.kind.map_or(default, |kind| match kind {
            BoxName::Closed => BoxKind::Closed,
            BoxName::Host => BoxKind::Host,
        });
        let mut options = BoxOptions::new(kind);
        if let Some(network) = self.network {
            options.network = match network {
                NetworkName::None => StudentNetwork::None,
                NetworkName::Internet => StudentNetwork::Internet,
                NetworkName::Host => StudentNetwork::Host,
            };
        }
        let limits = &mut options.limits;
        limits.memory = self.memory.map_or(limits.memory, |mib| mib << 20);
        limits.processes = self.processes.unwrap_or(limits.processes);
        limits.files = self.files.map_or(limits.files, |mib| mib << 20);
        options.paths.clone_from(&self.paths);
        options.environment.clone_from(&self.environment);
        options
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum BoxName {
    /// A file system of its own with a copy of the workspace, for grading
    Closed,
    /// The files of this machine without the simulator's own folders
    Host,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum NetworkName {
    /// Nothing
    None,
    /// The internet, but neither this machine nor private networks
    Internet,
    /// The network of this machine; the simulator then can't recognize the program's requests
    Host,
}
