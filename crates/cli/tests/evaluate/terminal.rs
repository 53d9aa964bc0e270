//! What a person sees on a terminal.

use crate::support::{TempFolder, command, root, text};
use std::process::Command;

/// Python code that runs a command on a terminal of its own and prints everything that the command
/// wrote to the terminal. When the terminal shows the status line of a running session, the code
/// creates the file that the variable `SHOWN` names. It exits with the status of the command.
const ON_A_TERMINAL: &str = r#"
import os, pty, sys
def read(fd):
    data = os.read(fd, 4096)
    if b'running ' in data and 'SHOWN' in os.environ:
        open(os.environ['SHOWN'], 'w').close()
    return data
status = pty.spawn(sys.argv[1:], read)
sys.exit(os.waitstatus_to_exitcode(status))
"#;

/// Runs the program on a terminal. Returns its exit status and its output.
fn on_a_terminal(arguments: &[&str], environment: &[(&str, &str)]) -> (Option<i32>, String) {
    let plain = command(arguments);
    let mut wrapper = Command::new("python3");
    wrapper.args(["-c", ON_A_TERMINAL]).arg(plain.get_program()).args(plain.get_args());
    wrapper.current_dir(root()).env_remove("NO_COLOR").env("TERM", "xterm").envs(environment.iter().copied());
    let output = wrapper.stdin(std::process::Stdio::null()).output().expect("python3");
    (output.status.code(), text(&output.stdout).replace("\r\n", "\n"))
}

#[test]
fn a_terminal_shows_output_status_and_a_coloured_verdict() {
    let scratch = TempFolder::new("terminal");
    let project = scratch.project(
        "def evaluate(sim):\n    sim.record(7)\n    if sim.state.run.exit_code is not None:\n        \
         print('judged')\n        sim.finish()\n",
    );
    let workspace = scratch.workspace("x", "");
    // The program runs until the terminal has shown the status line.
    let program = r"printf 'driving\033[2J\n'; until [ -e shown ]; do sleep 0.02; done";
    let arguments = ["evaluate", "--world", &project, "--workspace", &workspace, "--box", "host"];
    let arguments = [&arguments[..], &["--command", program]].concat();
    let seen = format!("{workspace}/shown");
    let (status, shown) = on_a_terminal(&arguments, &[("SHOWN", &seen)]);
    assert_eq!(status, Some(0), "{shown}");
    // The escape sequence of the program is shown as text, so the terminal does not execute it.
    assert!(shown.contains("\x1b[2mstudent │ driving\\x1b[2J\x1b[0m\n"), "{shown:?}");
    assert!(!shown.contains("\x1b[2J") && shown.contains("judge   │ judged\n"), "{shown:?}");
    assert!(shown.contains("\r\x1b[Krunning "), "no status line: {shown:?}");
    let last = shown.lines().last().unwrap_or_default();
    assert!(last.contains("\x1b[32mfinished  record 7 (lower is better) after "), "{shown:?}");
    assert!(last.ends_with(" s\x1b[0m"), "{shown:?}");

    let (status, plain) = on_a_terminal(&arguments, &[("NO_COLOR", "1")]);
    assert_eq!(status, Some(0), "{plain}");
    assert!(!plain.contains("\x1b[2m") && !plain.contains("\x1b[32m"), "{plain:?}");
    assert!(plain.contains("student │ driving\\x1b[2J\n"), "{plain:?}");

    let failing = [&arguments[..8], &["exit 4"]].concat();
    let (status, shown) = on_a_terminal(&failing, &[]);
    assert_eq!(status, Some(1), "{shown}");
    let last = shown.lines().last().unwrap_or_default();
    assert!(last.contains("\x1b[31mfailed    the program exited with status 4 after "), "{shown:?}");
}

/// Regression test: the colours of a session's output followed other rules than the colours of all
/// other output.
#[test]
fn a_verdict_ignored_the_variable_that_forces_colours() {
    let scratch = TempFolder::new("forced");
    let script = "def initialize(sim):\n    pass\n\ndef evaluate(sim):\n    sim.finish(1)\n";
    let script = scratch.file("script.py", script);
    let drive = scratch.file("drive.csv", "0, 0.5, 0\n");
    let mut judge = command(&["judge", &script, "--world", "oval", "--drive", &drive]);
    let output = judge.env("CLICOLOR_FORCE", "1").output().expect("started");
    let shown = text(&output.stdout);
    assert!(shown.contains("\x1b[32mfinished"), "{shown:?} {}", text(&output.stderr));
}

#[test]
fn a_flood_of_output_is_bounded() {
    let scratch = TempFolder::new("flood");
    let project = scratch.project(
        "def evaluate(sim):\n    sim.record(1)\n    if sim.state.run.exit_code is not None:\n        sim.finish()\n",
    );
    let workspace = scratch.workspace("x", "");
    let program = "timeout 2 yes; true";
    let arguments = ["evaluate", "--world", &project, "--workspace", &workspace, "--pace", "real"];
    let arguments = [&arguments[..], &["--command", program]].concat();
    let output = command(&arguments).output().expect("started");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let shown = text(&output.stdout);
    assert!(shown.lines().count() < 2000 && shown.contains(" more lines\n"), "{}", shown.lines().count());
}
