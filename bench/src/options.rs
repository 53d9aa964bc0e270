//! Command line of a benchmark: `[--json <file>] [--quick] [--only <part>]… [<path of chicane>]`.

use crate::BenchError;
use std::path::PathBuf;

/// The parsed command line.
#[derive(Debug, Default)]
pub struct Options {
    program: Option<PathBuf>,
    /// File to which the figures are written; `None` if they are only printed.
    pub json: Option<PathBuf>,
    /// Whether to make fewer and shorter measurements, to test the benchmark itself.
    pub quick: bool,
    only: Vec<String>,
}

impl Options {
    /// Parses the command line. `parts` are the names that `--only` accepts.
    pub fn read(parts: &[&str]) -> Result<Options, BenchError> {
        let mut options = Options::default();
        let mut args = std::env::args().skip(1);
        while let Some(arg) = args.next() {
            match arg.as_str() {
                "--json" => options.json = Some(args.next().ok_or("--json needs a file")?.into()),
                "--quick" => options.quick = true,
                "--only" => {
                    let part = args.next().unwrap_or_default();
                    if !parts.contains(&part.as_str()) {
                        return Err(format!(
                            "unknown part {part:?}: --only takes one of {}",
                            parts.join(", ")
                        )
                        .into());
                    }
                    options.only.push(part);
                }
                option if option.starts_with('-') => {
                    return Err(format!("unknown option {option:?}: use --json, --quick or --only").into());
                }
                path => options.program = Some(path.into()),
            }
        }
        Ok(options)
    }

    /// Whether to measure a part. Without `--only`, all parts are measured.
    pub fn wants(&self, part: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|o| o == part)
    }

    /// Path of the program to measure: from the command line, else from the environment variable
    /// `CHICANE`, else `chicane` in the folder of this program.
    pub fn program(&self) -> Result<PathBuf, BenchError> {
        let given = self.program.clone().or_else(|| std::env::var_os("CHICANE").map(PathBuf::from));
        let beside = || std::env::current_exe().map(|own| own.with_file_name("chicane"));
        let program = given.map_or_else(beside, Ok)?;
        if !program.is_file() {
            return Err(format!("no program at {}: build it, or give its path", program.display()).into());
        }
        Ok(program)
    }
}
