//! The examples at the end of `--help` of every visible command.

use crate::colour::Tone;
use clap::Command;

/// Names of commands, such as `worlds list`, each with its examples: a purpose and a command line.
const EXAMPLES: &[(&str, &[(&str, &str)])] = &[
    (
        "serve",
        &[
            ("Open http://127.0.0.1:8000/sim on this machine", "chicane serve --world oval"),
            ("Drive in a world of your own", "chicane serve --world my-track.json"),
            (
                "Serve a class, with tokens for teacher and students",
                "chicane serve --listen 0.0.0.0:8000 --token auto --student-token auto",
            ),
            (
                "Back up the data folder every 6 hours, and keep the last 28 backups",
                "chicane serve --backup /srv/backups --backup-every 6 --backup-keep 28",
            ),
        ],
    ),
    ("setup", &[("Install the Python of judging scripts, once per user", "chicane setup")]),
    (
        "doctor",
        &[
            ("See what works on this machine, and what to do about the rest", "chicane doctor"),
            (
                "Check the folder and the port of a service",
                "chicane doctor --data-dir /var/lib/chicane/data --listen 0.0.0.0:8000",
            ),
            ("Check in a script", "chicane doctor --json"),
        ],
    ),
    (
        "backup",
        &[(
            "Back up a data folder, also while a simulator uses it",
            "chicane backup chicane.backup --data-dir data",
        )],
    ),
    (
        "restore",
        &[
            (
                "Restore into a folder that does not exist or is empty",
                "chicane restore chicane.backup --data-dir data",
            ),
            (
                "Replace a folder, which is kept beside the new one",
                "chicane restore chicane.backup --data-dir data --replace",
            ),
            ("Check a backup and write nothing", "chicane restore chicane.backup --check"),
        ],
    ),
    (
        "check",
        &[
            ("Describe a built-in world", "chicane check oval"),
            ("Find mistakes in a project", "chicane check my-track.json"),
        ],
    ),
    ("build", &[("Write the files of a world", "chicane build my-track.json -o my-track")]),
    (
        "publish",
        &[
            (
                "Publish to the data folder; a simulator with that folder serves it at /cdn",
                "chicane publish my-track.json --access public",
            ),
            ("Publish to a bucket", "chicane publish my-track.json --to s3://worlds/class"),
        ],
    ),
    (
        "worlds",
        &[
            ("List the worlds that can be opened", "chicane worlds list"),
            ("See the examples of one operation", "chicane worlds install --help"),
        ],
    ),
    (
        "worlds list",
        &[
            ("List built-in and installed worlds", "chicane worlds list"),
            (
                "List what another simulator has published",
                "chicane worlds list --cdn http://192.0.2.7:8000/cdn",
            ),
        ],
    ),
    (
        "worlds install",
        &[(
            "Install a world of another simulator",
            "chicane worlds install 0123456789abcdef0123456789abcdef --cdn http://192.0.2.7:8000/cdn",
        )],
    ),
    (
        "worlds remove",
        &[("Remove an installed world", "chicane worlds remove 0123456789abcdef0123456789abcdef")],
    ),
    (
        "worlds rename",
        &[("Change a display name", "chicane worlds rename 0123456789abcdef0123456789abcdef 'Final race'")],
    ),
    (
        "worlds access",
        &[("Show a world in the list", "chicane worlds access 0123456789abcdef0123456789abcdef public")],
    ),
    (
        "worlds import",
        &[
            (
                "Import one world of a Gazebo collection",
                "chicane worlds import ~/gazebo --world race.world --as race",
            ),
            ("Import all of them", "chicane worlds import ~/gazebo --all"),
        ],
    ),
    ("new", &[("Create a project with a random track", "chicane new --random --seed 7 -o my-track.json")]),
    (
        "print",
        &[
            ("Write an image for a print shop", "chicane print oval -o floor.jpg"),
            (
                "Write sheets for an office printer, with cutting marks",
                "chicane print oval -o floor.pdf --paper A3",
            ),
            ("Print a part of the floor", "chicane print oval -o corner.pdf --area 0,0,2,2"),
        ],
    ),
    ("lap", &[("Drive one lap at 1.5 m/s", "chicane lap technical --speed 1.5")]),
    ("openapi", &[("Save the description of the web API", "chicane openapi > openapi.json")]),
    (
        "evaluate",
        &[
            (
                "Evaluate a program in its folder",
                "chicane evaluate --world oval --workspace my-robot --command 'python3 main.py'",
            ),
            (
                "Keep the run, to verify and replay it",
                "chicane evaluate --world oval --command 'python3 main.py' --save run.chicane",
            ),
            (
                "See what the program's box shows",
                "chicane evaluate --world oval --command 'python3 main.py' --explain",
            ),
        ],
    ),
    (
        "repeat",
        &[(
            "Run a program ten times, and compare the results",
            "chicane repeat --world oval --command 'python3 main.py' -n 10",
        )],
    ),
    (
        "grade",
        &[(
            "Grade a class with two worlds and three seeds",
            "chicane grade submissions --world oval --world technical --seeds 1-3 -o results",
        )],
    ),
    ("report", &[("Write the report again", "chicane report results")]),
    ("judge", &[("Try a judging script", "chicane judge race.py --world oval --drive drive.csv")]),
    ("verify", &[("Verify all runs of a graded class", "chicane verify results/runs")]),
    (
        "replay",
        &[
            ("Show a run in the viewer", "chicane replay run.chicane"),
            ("Make a film of a run", "chicane replay run.chicane --video run.mp4"),
        ],
    ),
    ("rejudge", &[("Judge a run with another script", "chicane rejudge run.chicane --script race.py")]),
    (
        "submit",
        &[("Hand in a folder", "chicane submit my-robot --student 'Ada L.' --url http://192.0.2.7:8000")],
    ),
    ("records", &[("Export all records as a table", "chicane records export > records.csv")]),
    (
        "records export",
        &[
            ("Export all records as a table", "chicane records export > records.csv"),
            (
                "Export the records of one world with their events",
                "chicane records export --json --world oval",
            ),
            ("Export one run", "chicane records export --run 4f1c0a6e2b7d -o run.chicane"),
        ],
    ),
];

/// Adds the examples to a command and its subcommands. `path` is the full name of the command, such
/// as `worlds list`. It is empty for the program itself.
pub(super) fn add(command: Command, path: &str) -> Command {
    let names: Vec<String> = command.get_subcommands().map(|one| one.get_name().to_owned()).collect();
    let command = names.into_iter().fold(command, |command, name| {
        let path = if path.is_empty() { name.clone() } else { format!("{path} {name}") };
        command.mut_subcommand(name, |one| add(one, &path))
    });
    match EXAMPLES.iter().find(|(known, _)| *known == path) {
        Some((_, examples)) => command.after_long_help(text(examples)),
        None => command,
    }
}

fn text(examples: &[(&str, &str)]) -> String {
    // clap removes the escape sequences if the output shows no colours.
    let head = Tone::Head.paint("Examples:", true);
    let lines =
        examples.iter().map(|(purpose, line)| format!("  # {purpose}\n  {}", Tone::Name.paint(line, true)));
    format!("{head}\n{}", lines.collect::<Vec<_>>().join("\n\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::help;

    /// The paths of all visible commands below a command.
    fn paths(command: &Command, path: &str) -> Vec<String> {
        let visible = command.get_subcommands().filter(|one| !one.is_hide_set() && one.get_name() != "help");
        visible
            .flat_map(|one| {
                let path = format!("{path} {}", one.get_name()).trim().to_owned();
                let below = paths(one, &path);
                std::iter::once(path).chain(below)
            })
            .collect()
    }

    /// The words of a command line, without the redirection of a shell (`>`).
    fn words(line: &str) -> Vec<String> {
        let line = line.split(" > ").next().unwrap_or(line);
        let mut words = Vec::new();
        for (i, part) in line.split('\'').enumerate() {
            if i % 2 == 1 {
                words.push(part.to_owned());
            } else {
                words.extend(part.split_whitespace().map(str::to_owned));
            }
        }
        words
    }

    #[test]
    fn every_command_has_examples_that_the_program_accepts() {
        let mut known: Vec<&str> = EXAMPLES.iter().map(|(path, _)| *path).collect();
        let mut all = paths(&help::command(), "");
        known.sort_unstable();
        all.sort_unstable();
        assert_eq!(known, all);
        for line in EXAMPLES.iter().flat_map(|(_, examples)| examples.iter().map(|(_, line)| *line)) {
            // For `chicane COMMAND --help`, clap returns the help text as an error, but the command
            // line is valid.
            match help::command().try_get_matches_from(words(line)) {
                Ok(_) => {}
                Err(error) => assert!(!error.use_stderr(), "{line}: {error}"),
            }
        }
    }

    #[test]
    fn examples_are_in_the_long_help_only() {
        let mut command = help::command();
        let lap = command.find_subcommand_mut("lap").expect("a command");
        assert!(lap.render_long_help().to_string().contains("chicane lap technical --speed 1.5"));
        assert!(!lap.render_help().to_string().contains("Examples"));
    }
}
