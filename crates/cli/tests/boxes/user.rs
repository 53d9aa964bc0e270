//! Closed boxes of a simulator that an ordinary user runs. These tests start the simulator as a
//! test user, so they need root.

use crate::support::{TempFolder, evaluate, output, text};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

/// User id of the test user.
const USER: &str = "12345";

/// Runs a command as the test user. With `delegate`, the user may create control groups below the
/// control group of the command. The judge's root is mounted at a folder that the user can enter.
fn as_user(command: &Command, delegate: bool) -> Output {
    let scratch = TempFolder::new();
    let judge = chicane_session::root::folder().expect("a folder");
    let (root, home) = (scratch.0.join("judge"), scratch.0.join("home"));
    for folder in [&root, &home] {
        std::fs::create_dir(folder).expect("a folder");
    }
    std::os::unix::fs::chown(&home, USER.parse().ok(), None).expect("the test needs root");
    // The name does not begin with `chicane-`. Simulators remove empty groups with this prefix if
    // the process whose id is in the name has ended.
    let group = format!("test-of-boxes-{}", std::process::id());
    // With control groups of version 1, the group needs a folder in each hierarchy. With version 2,
    // it needs only one folder.
    let script = "set -e\n\
        mount --bind \"$1\" \"$2\"\n\
        folders=$(ls -d /sys/fs/cgroup/memory /sys/fs/cgroup/pids /sys/fs/cgroup/cpu /sys/fs/cgroup/cpuacct \
        2>/dev/null || true)\n\
        if [ -z \"$folders\" ]; then folders=/sys/fs/cgroup; fi\n\
        for folder in $folders; do\n\
        \x20   mkdir -p \"$folder/$3\"\n\
        \x20   if [ $4 = yes ]; then chown -R $5 \"$folder/$3\"; fi\n\
        \x20   echo $$ > \"$folder/$3/cgroup.procs\"\n\
        done\n\
        shift 5\n\
        exec setpriv --reuid 12345 --regid 12345 --clear-groups \"$@\"";
    let mut all = Command::new("unshare");
    all.args(["--mount", "--propagation", "private", "bash", "-c", script, "bash"]);
    all.arg(judge).arg(&root).arg(&group).arg(if delegate { "yes" } else { "no" }).arg(USER);
    all.arg(command.get_program()).args(command.get_args());
    all.env("CHICANE_JUDGE_ROOT", &root).env("HOME", &home).env("PATH", "/usr/bin:/bin");
    let output = all.output().expect("started");
    remove_groups(&group);
    output
}

fn remove_groups(name: &str) {
    for hierarchy in ["", "memory", "pids", "cpu", "cpuacct"] {
        let _ = std::fs::remove_dir(Path::new("/sys/fs/cgroup").join(hierarchy).join(name));
    }
}

#[test]
fn an_ordinary_user_got_a_box_with_fewer_limits() {
    let workspace = TempFolder::new();
    workspace.file(
        "main.py",
        "import chicane, os; print(os.getuid(), open('/proc/self/uid_map').read().split())\n",
    );
    let program = "python3 main.py; id -un; ls /; touch /x 2>&1 | grep -c Read-only; \
         unshare -U true 2>&1 | grep -c 'not permitted'; \
         python3 -c 'import time; x = [bytearray(1 << 20) for _ in range(600)]; time.sleep(100)'";
    let mut command = evaluate(&workspace.0, program);
    command.args(["--student-memory", "128"]);
    let done = as_user(&command, true);
    let record: Value =
        serde_json::from_slice(&done.stdout).unwrap_or_else(|e| panic!("{e}: {}", text(&done)));
    let found = output(&record);
    assert_eq!(found[0], "1000 ['1000', '12345', '1']", "{record:#}");
    assert_eq!(found[1], "student");
    assert!(!found.iter().any(|line| ["root", "sys", "work"].contains(&line.as_str())), "{found:#?}");
    assert_eq!(found[found.len() - 2..], ["1", "1"], "{found:#?}");
    assert_eq!(record["run"]["oom"], true, "{record:#}");
}

#[test]
fn a_box_without_enforced_limits_was_started() {
    let workspace = TempFolder::new();
    let done = as_user(&evaluate(&workspace.0, "echo STARTED"), false);
    assert!(!done.status.success(), "{}", text(&done));
    let said = text(&done);
    assert!(said.contains("a closed box needs control groups: run chicane as root"), "{said}");
    assert!(said.contains("Delegate=yes") && said.contains("--box host"), "{said}");
    assert!(!said.contains("STARTED"), "{said}");
}
