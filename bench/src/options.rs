//! The words that a benchmark is started with: `[--json <file>] [--quick] [--only <part>]… [<path of chicane>]`.

use crate::Broken;
use std::path::PathBuf;

/// What to measure, of which program, and where the figures go.
#[derive(Debug, Default)]
pub struct Options {
    program: Option<PathBuf>,
    /// File for the figures.
    pub json: Option<PathBuf>,
    /// Less of everything: to see that it works, not what it comes to.
    pub quick: bool,
    only: Vec<String>,
}

impl Options {
    /// Reads the words of this process. Parts that are not there are refused.
    pub fn read(parts: &[&str]) -> Result<Options, Broken> {
        let mut options = Options::default();
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            match word.as_str() {
                "--json" => options.json = Some(words.next().ok_or("--json takes a file")?.into()),
                "--quick" => options.quick = true,
                "--only" => {
                    let part = words.next().unwrap_or_default();
                    if !parts.contains(&part.as_str()) {
                        return Err(format!("--only takes one of {}", parts.join(", ")).into());
                    }
                    options.only.push(part);
                }
                option if option.starts_with('-') => {
                    return Err(
                        format!("there is no option {option}; there are --json, --quick and --only").into()
                    );
                }
                path => options.program = Some(path.into()),
            }
        }
        Ok(options)
    }

    /// Whether a part is to be measured: all are, unless some were named.
    pub fn wants(&self, part: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|o| o == part)
    }

    /// The program to measure: as given, or by the environment variable `CHICANE`, or the one beside this one.
    pub fn program(&self) -> Result<PathBuf, Broken> {
        let given = self.program.clone().or_else(|| std::env::var_os("CHICANE").map(PathBuf::from));
        let beside = || std::env::current_exe().map(|own| own.with_file_name("chicane"));
        let program = given.map_or_else(beside, Ok)?;
        if !program.is_file() {
            return Err(format!("{} is no program; build it, or give its path", program.display()).into());
        }
        Ok(program)
    }
}
