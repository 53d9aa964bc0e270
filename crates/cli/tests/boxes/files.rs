//! What a program in a closed box sees of the files, processes and environment.

use crate::support::{TempFolder, evaluate, lines, output, record, text};
use std::collections::BTreeSet;

/// The names at the root of a box, without the names that depend on the machine.
const ROOT: [&str; 8] = ["dev", "etc", "home", "opt", "proc", "tmp", "usr", "workspace"];

#[test]
fn a_program_saw_files_of_the_host() {
    let (data, secret) = (TempFolder::new(), TempFolder::new());
    secret.file("secret.txt", "secret");
    let program = format!(
        "ls / | sed 's/^/root /'; ls -A /home | sed 's/^/home /'; ls -A /tmp | sed 's/^/tmp /'; \
         ls -d /sys /srv /boot /run /mnt /media 2>/dev/null | sed 's/^/system /'; \
         cat {secret}/secret.txt 2>&1; ls {data} 2>&1; ls /etc/shadow /etc/ssh /etc/ssl/private 2>&1; \
         ls -A /root 2>/dev/null | sed 's/^/rootfiles /'",
        secret = secret.text(),
        data = data.text(),
    );
    let found = lines(&["--data-dir", data.text()], &program);
    let named = |prefix: &str| -> BTreeSet<&str> {
        found.iter().filter_map(|line| line.strip_prefix(prefix)).collect()
    };
    let optional = ["bin", "sbin", "lib", "lib32", "lib64", "libx32", "root", "var"];
    let root: BTreeSet<&str> = named("root ").into_iter().filter(|name| !optional.contains(name)).collect();
    // The box may show a further folder that contains an interpreter, but no other folder of the
    // host.
    assert!(ROOT.iter().all(|name| root.contains(name)), "{found:#?}");
    for host in ["boot", "srv", "sys", "run", "mnt", "media", "lost+found", "old", ".dockerenv"] {
        assert!(!root.contains(host), "/{host} is visible: {found:#?}");
    }
    assert_eq!(named("home "), BTreeSet::from(["student"]), "{found:#?}");
    assert!(named("system ").is_empty(), "{found:#?}");
    assert!(named("rootfiles ").iter().all(|name| *name == ".pyenv"), "{found:#?}");
    let missing = found.iter().filter(|line| line.contains("No such file or directory")).count();
    assert_eq!(missing, 5, "{found:#?}");
    assert!(!found.iter().any(|line| line == "secret"), "{found:#?}");
}

#[test]
fn a_program_saw_processes_or_variables_of_the_simulator() {
    let workspace = TempFolder::new();
    let mut command = evaluate(
        &workspace.0,
        "ls -d /proc/[0-9]* | sed 's/^/process /'; env | cut -d= -f1 | sed 's/^/variable /'; \
         echo $SHOWN; cat /proc/1/environ /proc/1/maps 2>&1 | head -c 2000; ls -l /proc/1/fd 2>&1 | head -3; \
         kill -9 1; id -un; hostname; cat /proc/self/cgroup | cut -d: -f3 | sort -u",
    );
    command.env("CHICANE_TOKEN", "a-token-of-this-test").env("AWS_SECRET", "x").env("SHOWN", "shown value");
    command.args(["--student-env", "SHOWN", "--student-env", "NOT_SET"]);
    let found = output(&record(command));
    let named = |prefix: &str| found.iter().filter_map(|line| line.strip_prefix(prefix)).count();
    assert!((2..=8).contains(&named("process ")), "{found:#?}");
    let variables: BTreeSet<&str> = found.iter().filter_map(|line| line.strip_prefix("variable ")).collect();
    // The shell sets the last three of these variables.
    let expected =
        ["CHICANE_SESSION", "CHICANE_URL", "HOME", "LANG", "PATH", "SHOWN", "TERM", "PWD", "SHLVL", "_"];
    let of_time = ["CHICANE_PACE", "PYTHONHASHSEED"];
    assert_eq!(variables, expected.into_iter().chain(of_time).collect());
    let all = found.join("\n");
    assert!(!all.contains("a-token-of-this-test"), "{all}");
    assert!(all.contains("shown value") && all.contains("\nstudent\nbox\n/"), "{all}");
    assert_eq!(all.matches("/proc/1/").count(), 3, "init's memory or files can be read: {all}");
}

#[test]
fn a_program_changed_its_workspace_on_the_host() {
    let workspace = TempFolder::new();
    workspace.file("a.txt", "old\n");
    workspace.file("sub/b.txt", "b\n");
    let path = workspace.text();
    let program = format!(
        "pwd; echo new > a.txt; rm sub/b.txt; touch made; cat {path}/a.txt; ls {path}; \
         echo x > ~/x && echo x > /tmp/x && echo x > /dev/shm/x && echo WRITTEN; \
         touch /x /usr/x /etc/x /opt/chicane/x 2>&1 | grep -c Read-only"
    );
    let record = record(evaluate(&workspace.0, &program));
    assert_eq!(output(&record), ["/workspace", "new", "a.txt", "made", "sub", "WRITTEN", "4"]);
    assert_eq!(std::fs::read_to_string(workspace.0.join("a.txt")).expect("a file"), "old\n");
    assert!(workspace.0.join("sub/b.txt").exists() && !workspace.0.join("made").exists());
    assert_eq!((&record["program"]["files"], &record["program"]["bytes"]), (&2.into(), &6.into()));
    assert_eq!(record["box"], "closed");
}

#[test]
fn a_data_folder_inside_of_the_workspace_was_copied() {
    let workspace = TempFolder::new();
    workspace.file("main.py", "");
    let data = workspace.0.join("data");
    let mut command = evaluate(&workspace.0, "ls -A; find / -name chicane.db 2>/dev/null");
    command.arg("--data-dir").arg(&data);
    assert_eq!(output(&record(command)), ["main.py"]);
    assert!(data.join("chicane.db").exists(), "the test names the wrong file");
}

#[test]
fn a_workspace_above_the_limit_was_copied() {
    let workspace = TempFolder::new();
    let file = std::fs::File::create(workspace.0.join("big.bin")).expect("a file");
    file.set_len(2 << 30).expect("a sparse file");
    let record = record(evaluate(&workspace.0, "true"));
    assert_eq!(record["outcome"], "stopped");
    let reason = record["reason"].as_str().expect("a reason");
    assert!(reason.contains("has 2048 MiB of files, and the box holds 1024 MiB"), "{reason}");
    assert!(reason.contains("--student-files 2048") && reason.contains("--workspace"), "{reason}");
}

#[test]
fn student_paths_are_shown_read_only_at_their_own_path() {
    let (workspace, data) = (TempFolder::new(), TempFolder::new());
    data.file("folder/map.txt", "map\n");
    workspace.file("large/model.bin", "model\n");
    std::os::unix::fs::symlink(data.0.join("folder"), data.0.join("link")).expect("a link");
    let link = data.0.join("link");
    let program = format!(
        "cat {0}/map.txt large/model.bin; touch {0}/x large/x 2>&1 | grep -c Read-only; ls {1}",
        link.display(),
        data.text()
    );
    let mut command = evaluate(&workspace.0, &program);
    command.arg("--student-path").arg(&link).arg("--student-path").arg(workspace.0.join("large"));
    let record = record(command);
    assert_eq!(output(&record), ["map", "model", "2", "folder", "link"]);
    assert_eq!(record["program"]["files"], 0, "a mounted folder was copied");
    for (path, says) in
        [("/no/such/path", "--student-path /no/such/path: No such file"), ("/home", "name a folder below it")]
    {
        let mut command = evaluate(&workspace.0, "true");
        command.args(["--student-path", path]);
        let record = super::support::record(command);
        assert!(
            record["reason"].as_str().is_some_and(|reason| reason.contains(says)),
            "{}",
            record["reason"]
        );
    }
}

#[test]
fn a_link_or_environment_of_the_workspace_led_to_files_of_the_host() {
    let (workspace, secret) = (TempFolder::new(), TempFolder::new());
    secret.file("secret.txt", "SECRET\n");
    secret.file("bin/python3", "");
    for link in ["link", ".venv"] {
        std::os::unix::fs::symlink(&secret.0, workspace.0.join(link)).expect("a link");
    }
    workspace.file("env/pyvenv.cfg", &format!("home = {}/bin\n", secret.text()));
    workspace.file("env/bin/python", "");
    let program = format!(
        "cat link/secret.txt .venv/secret.txt {0}/secret.txt 2>&1; .venv/bin/python3; env/bin/python",
        secret.text()
    );
    let found = output(&record(evaluate(&workspace.0, &program)));
    assert_eq!(found.iter().filter(|line| line.contains("No such file")).count(), 4, "{found:#?}");
    assert!(!found.iter().any(|line| line == "SECRET"), "{found:#?}");
}

#[test]
fn a_hidden_folder_was_visible_through_a_student_path() {
    let home = TempFolder::new();
    home.file("notes.txt", "");
    let data = home.0.join("data");
    let program = format!("ls {0}; ls -A {0}/data | wc -l", home.text());
    let workspace = TempFolder::new();
    let mut command = evaluate(&workspace.0, &program);
    command.arg("--data-dir").arg(&data).args(["--student-path", home.text()]);
    assert_eq!(output(&record(command)), ["data", "notes.txt", "0"]);
}

#[test]
fn a_program_that_the_box_does_not_show_is_named_with_the_remedy() {
    let (workspace, tools) = (TempFolder::new(), TempFolder::new());
    let tool = tools.file("bin/own-tool", "#!/bin/sh\necho ran\n");
    std::fs::set_permissions(&tool, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("set");
    let path = format!("{}/bin:/usr/bin:/bin", tools.text());
    let start = |options: &[&str]| {
        let mut command = evaluate(&workspace.0, "own-tool || exit 127");
        command.env("PATH", &path).args(options);
        record(command)
    };
    let without = start(&[]);
    assert_eq!(without["run"]["exit_code"], 127, "{without:#}");
    let tail = without["run"]["output_tail"].to_string();
    assert!(tail.contains("own-tool: command not found"), "{tail}");
    assert!(tail.contains(&format!("--student-path {} shows it", tools.text())), "{tail}");
    let mut command = evaluate(&workspace.0, &format!("{}/bin/own-tool", tools.text()));
    command.args(["--student-path", tools.text()]);
    assert_eq!(output(&record(command)), ["ran"]);
}

#[test]
fn the_errors_of_a_program_are_in_the_record() {
    let workspace = TempFolder::new();
    workspace.file("main.py", "import no_such_module\n");
    let record = record(evaluate(&workspace.0, "python3 main.py"));
    let tail = record["run"]["output_tail"].to_string();
    assert!(tail.contains("Traceback (most recent call last):"), "{tail}");
    assert!(tail.contains("ModuleNotFoundError: No module named 'no_such_module'"), "{tail}");
    let mut command = evaluate(&workspace.0, "true");
    command.arg("--workspace").arg(workspace.0.join("missing"));
    let output = command.output().expect("started");
    assert!(!output.status.success(), "{}", text(&output));
}
