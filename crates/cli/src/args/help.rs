//! The help of the program: commands grouped by topic, and examples for every visible command.

use super::Cli;
use super::examples;
use crate::colour::{self, Tone};
use clap::{Command, CommandFactory};

/// The visible commands by topic, in the order of the help.
const TOPICS: &[(&str, &[&str])] = &[
    ("Run a simulator", &["serve", "setup", "doctor", "backup", "restore"]),
    ("Evaluate and grade programs", &["evaluate", "repeat", "grade", "report", "judge", "submit"]),
    ("Records and recorded runs", &["records", "verify", "replay", "rejudge"]),
    ("Worlds", &["worlds", "check", "lap", "print", "publish"]),
    ("Build worlds", &["new", "build"]),
    ("Other", &["openapi", "help"]),
];

/// The command line with its help. The options of `serve`, which the program also takes without a
/// command, are listed by `chicane serve --help` only: there are too many of them for an overview.
pub(crate) fn command() -> Command {
    let command = Cli::command().styles(colour::HELP).mut_args(|arg| {
        let is_own = matches!(arg.get_id().as_str(), "help" | "version");
        if is_own { arg } else { arg.hide(true) }
    });
    let mut command = examples::add(command, "");
    command.build();
    let overview = overview(&command);
    command.override_usage("chicane [COMMAND] [OPTIONS]").help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n{overview}{{after-help}}"
    ))
}

/// The visible commands by topic, and the options of the program itself.
fn overview(command: &Command) -> String {
    let width = command.get_subcommands().map(|one| one.get_name().len()).max().unwrap_or(0);
    let mut text = String::new();
    // clap removes the escape sequences if the output shows no colours.
    let head = |title: &str| format!("\n{}\n", Tone::Head.paint(format!("{title}:"), true));
    let line = |name: &str, about: &str| {
        let blanks = " ".repeat(width.saturating_sub(name.len()));
        format!("  {}{blanks}  {about}\n", Tone::Name.paint(name, true))
    };
    for (topic, names) in TOPICS {
        text += &head(topic);
        for name in *names {
            let about = command.find_subcommand(name).and_then(Command::get_about);
            let about = about.map_or_else(|| "Print the help of a command".to_owned(), ToString::to_string);
            text += &line(name, &about);
        }
    }
    text += &head("Options");
    text += &line("-h, --help", "Print this overview");
    text += &line("-V, --version", "Print the version");
    text + "\nWithout a command, chicane takes the options of `chicane serve`.\n\
            `chicane COMMAND -h` lists the options of a command, and `--help` adds details and examples.\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that no two options of a command have the same id or name. Checks the subcommands
    /// too. clap itself checks this in debug builds only.
    fn check_arguments(command: &Command) {
        let mut ids: Vec<&str> = command.get_arguments().map(|arg| arg.get_id().as_str()).collect();
        let mut names: Vec<&str> = command.get_arguments().filter_map(|arg| arg.get_long()).collect();
        for list in [&mut ids, &mut names] {
            let all = list.len();
            list.sort_unstable();
            list.dedup();
            assert_eq!(list.len(), all, "{}: an option exists twice", command.get_name());
        }
        command.get_subcommands().for_each(check_arguments);
    }

    #[test]
    fn two_options_with_the_same_id_share_a_value() {
        check_arguments(&command());
    }

    #[test]
    fn every_command_is_in_one_topic() {
        let command = command();
        let mut visible: Vec<&str> =
            command.get_subcommands().filter(|one| !one.is_hide_set()).map(Command::get_name).collect();
        let mut listed: Vec<&str> = TOPICS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        visible.sort_unstable();
        listed.sort_unstable();
        assert_eq!(listed, visible);
    }

    #[test]
    fn the_overview_has_one_line_per_command_and_fits_a_terminal() {
        let help = command().render_help().to_string();
        assert!(help.lines().all(|line| line.chars().count() <= 100), "{help}");
        assert!(help.lines().count() <= 55, "{help}");
        assert!(!help.contains("--listen"), "the options of serve are not in the overview:\n{help}");
    }
}
