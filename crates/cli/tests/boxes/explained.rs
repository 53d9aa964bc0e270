//! The description of a box agrees with the box.

use crate::support::{TempFolder, evaluate, output, record};
use chicane_session::{
    BoxDescription, BoxOptions, BoxView, Launcher, Setting, SettingOptions, StudentProgram, explain, root,
};
use chicane_wire::BoxKind;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn describe(workspace: &Path, kind: BoxKind, paths: &[PathBuf]) -> BoxDescription {
    let options = SettingOptions {
        launcher: Launcher::open(Path::new(env!("CARGO_BIN_EXE_chicane"))).expect("the program"),
        folder: root::folder().expect("a folder"),
        isolation: None,
        engine: None,
    };
    let setting = Setting::find(&options).expect("a setting");
    let environment = ["CHICANE_URL", "CHICANE_SESSION"].map(|name| (name.to_owned(), String::new()));
    let program = StudentProgram {
        command: "python3 main.py".to_owned(),
        workspace: workspace.to_owned(),
        environment: BTreeMap::from(environment),
        hide: vec![workspace.join("data")],
        options: BoxOptions { paths: paths.to_owned(), ..BoxOptions::new(kind) },
        port: Some(1234),
        virtual_time: None,
    };
    explain(&setting, &program).expect("a description")
}

#[test]
fn the_description_of_a_closed_box_disagrees_with_the_box() {
    let (workspace, shown) = (TempFolder::new(), TempFolder::new());
    workspace.file("main.py", "print()\n");
    let description = describe(&workspace.0, BoxKind::Closed, std::slice::from_ref(&shown.0));
    let mounts = &description.mounts;
    let view = |path: &str| mounts.iter().find(|mount| mount.path == Path::new(path)).map(|m| &m.view);
    assert_eq!(view("/workspace"), Some(&BoxView::Copy { files: 1, bytes: 8 }));
    assert_eq!(view("/usr"), Some(&BoxView::ReadOnly));
    assert_eq!(view(shown.text()), Some(&BoxView::ReadOnly));
    assert_eq!(view(workspace.text()), Some(&BoxView::Link("/workspace".into())));
    assert_eq!(view("/tmp"), Some(&BoxView::Private));
    assert_eq!(
        description.environment,
        ["CHICANE_PACE", "CHICANE_SESSION", "CHICANE_URL", "HOME", "LANG", "PATH", "TERM"]
    );
    assert_eq!(description.network, "the simulator (localhost:1234, localhost:80)");
    let text = description.to_string();
    for line in [
        "box: closed",
        "file: /usr (read-only)",
        "not copied: .git",
        "variable: PATH",
        "memory: 2048 MiB",
        "files: 1024 MiB",
        "processes: 256",
    ] {
        assert!(text.lines().any(|other| other == line), "{line} is missing:\n{text}");
    }
    // Every listed path exists in a real box.
    let listed: Vec<String> = mounts.iter().map(|mount| mount.path.display().to_string()).collect();
    let program = format!("ls -d {} >/dev/null && echo COMPLETE", listed.join(" "));
    let mut command = evaluate(&workspace.0, &program);
    command.args(["--student-path", shown.text()]);
    assert_eq!(output(&record(command)), ["COMPLETE"]);
}

#[test]
fn a_box_with_internet_access_was_described_as_one_in_virtual_time() {
    let workspace = TempFolder::new();
    let has_hash_seed = |options: &[&str]| {
        let explained =
            evaluate(&workspace.0, "true").arg("--explain").args(options).output().expect("started");
        let text = String::from_utf8(explained.stdout).expect("UTF-8");
        assert!(
            text.contains("variable: CHICANE_PACE"),
            "{text}{}",
            String::from_utf8_lossy(&explained.stderr)
        );
        text.contains("variable: PYTHONHASHSEED")
    };
    assert!(has_hash_seed(&[]));
    assert!(!has_hash_seed(&["--pace", "real"]));
    assert!(!has_hash_seed(&["--student-network", "internet"]));
}

#[test]
fn the_description_of_a_host_box_names_what_is_hidden() {
    let workspace = TempFolder::new();
    let text = describe(&workspace.0, BoxKind::Host, &[]).to_string();
    assert!(text.contains("box: host") && text.contains("file: / (the files of this machine)"), "{text}");
    assert!(text.contains(&format!("file: {}/data (hidden)", workspace.text())), "{text}");
}
