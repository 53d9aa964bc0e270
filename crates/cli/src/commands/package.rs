//! `chicane __package`: writes the man pages and the shell completions of the program, for packages.

use crate::args::Cli;
use clap::CommandFactory;
use clap_complete::Shell;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

const PROGRAM: &str = "chicane";

/// Why the files could not be written.
#[derive(Debug, thiserror::Error)]
#[error("can't write to {}: {source}", .folder.display())]
pub(crate) struct PackageError {
    folder: PathBuf,
    source: io::Error,
}

/// Writes the man pages to the subfolder `man`, and the completions to the subfolder `completions`.
pub(crate) fn run(folder: &Path) -> Result<(), PackageError> {
    write(folder).map_err(|source| PackageError { folder: folder.to_owned(), source })
}

fn write(folder: &Path) -> io::Result<()> {
    let (man, completions) = (folder.join("man"), folder.join("completions"));
    fs::create_dir_all(&man)?;
    fs::create_dir_all(&completions)?;
    let mut program = without_hidden(&Cli::command());
    clap_mangen::generate_to(program.clone(), &man)?;
    for shell in [Shell::Bash, Shell::Fish, Shell::Zsh] {
        clap_complete::generate_to(shell, &mut program, PROGRAM, &completions)?;
    }
    Ok(())
}

/// The command line without its hidden commands. Otherwise the completions would offer the hidden
/// commands.
fn without_hidden(cli: &clap::Command) -> clap::Command {
    let shown = cli.get_subcommands().filter(|command| !command.is_hide_set()).cloned();
    clap::Command::new(PROGRAM)
        .version(env!("CARGO_PKG_VERSION"))
        .about(cli.get_about().cloned().unwrap_or_default())
        .args_conflicts_with_subcommands(true)
        .args(cli.get_arguments().cloned())
        .subcommands(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The texts that the command writes, without the man pages of single commands.
    fn written() -> Vec<String> {
        let folder = std::env::temp_dir().join(format!("chicane-package-{}", std::process::id()));
        run(&folder).expect("written");
        let names =
            ["man/chicane.1", "completions/chicane.bash", "completions/chicane.fish", "completions/_chicane"];
        let texts = names.map(|name| fs::read_to_string(folder.join(name)).expect(name));
        fs::remove_dir_all(&folder).expect("removed");
        texts.to_vec()
    }

    #[test]
    fn man_page_and_completions_show_every_command_except_the_hidden_ones() {
        for text in written() {
            // A man page writes each hyphen with a backslash.
            let text = text.replace("\\-", "-");
            for command in Cli::command().get_subcommands() {
                let name = command.get_name();
                assert_eq!(text.contains(name), !command.is_hide_set(), "{name}\n{text}");
            }
        }
    }
}
