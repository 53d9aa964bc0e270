//! Programs whose files are in the request that starts the session, and the files of the workspace.

use crate::support::judged::{judged, run, student_output};
use crate::support::{TempFolder, refusal, setup};
use serde_json::{Value, json};

/// A judging script that finishes when the student's program has ended.
const UNTIL_EXIT: &str = "\
def evaluate(sim):
    if sim.state.run.exit_code is not None:
        sim.record(sim.state.run.exit_code)
        sim.finish()
";

#[test]
fn a_program_runs_with_the_files_of_the_request_and_leaves_nothing() {
    let work = TempFolder::new();
    std::fs::write(work.path().join("secret.py"), "of somebody else").expect("a file");
    let simulator = judged(setup().workspace(work.path()), UNTIL_EXIT);
    let mut api = simulator.api();
    let files = json!({"main.py": "import os, lib.talk\nprint(lib.talk.SAID, sorted(os.listdir('.')))\nprint(os.getcwd())\n", "lib/talk.py": "SAID = 'hello'\n"});
    for path in ["/evaluation/start", "/evaluation/run"] {
        let started = api.post(path, json!({"command": "python3 -B main.py", "files": files}));
        assert_eq!(started["ok"], true, "{started}");
        crate::support::judged::wait_for_end(&mut api);
        let lines = student_output(&api.get("/evaluation/record"));
        assert_eq!(lines[0], "hello ['lib', 'main.py']", "{lines:?}");
        assert!(!std::path::Path::new(&lines[1]).exists(), "the folder {} is removed", lines[1]);
    }
    assert_eq!(std::fs::read_dir(work.path()).expect("a folder").count(), 1, "the workspace is unchanged");
    // The package is available without an installation.
    let files = json!({"main.py": "import chicane\nprint(chicane.Sim().clock()['paused'])\n"});
    let record = run(&mut api, json!({"command": "env -u PYTHONHOME python3 main.py", "files": files}));
    assert_eq!(student_output(&record), ["False"], "{record}");
    let program = |text: &str| {
        let request = json!({"command": "python3 main.py", "files": {"main.py": text}});
        run(&mut simulator.api(), request)["program"].clone()
    };
    let (first, second) = (program("print(1)"), program("print(2)"));
    assert_eq!((&first["files"], &first["bytes"]), (&json!(1), &json!(8)), "{first}");
    assert_ne!(first["sha256"], second["sha256"], "the record names the program");
}

#[test]
fn files_that_are_no_program_are_refused() {
    let simulator = judged(setup(), UNTIL_EXIT);
    let refused =
        |body: Value| refusal(&simulator.client().post("/sim/api/evaluation/start", &body.to_string()));
    let command = "python3 main.py";
    for (files, text) in [
        (json!({"../x.py": ""}), "a name in files must be a relative path such as main.py or lib/drive.py"),
        (json!({"/etc/x": ""}), "a name in files must be a relative path such as main.py or lib/drive.py"),
        (json!({"a": "", "a/b": ""}), "\"a\" in files is a file and a folder"),
        (json!({}), "files must have 1 to 32 texts, each by its file name, of at most 512 KiB together"),
        (
            json!({"a": "x".repeat(600 << 10)}),
            "files must have 1 to 32 texts, each by its file name, of at most 512 KiB together",
        ),
    ] {
        assert_eq!(refused(json!({"command": command, "files": files})), (400, text.to_owned()));
    }
    let without = refused(json!({"files": {"main.py": ""}}));
    assert_eq!(without, (400, "files need a command, such as python3 main.py".to_owned()));
    assert_eq!(simulator.api().get("/evaluation/session")["active"], false);
}

#[test]
fn files_of_the_workspace_are_listed_and_read() {
    let work = TempFolder::new();
    for (path, text) in [("main.py", "print(1)\n"), ("lib/a.py", "ä"), (".token", "secret")] {
        let file = work.path().join(path);
        std::fs::create_dir_all(file.parent().expect("a folder")).expect("created");
        std::fs::write(file, text).expect("written");
    }
    std::fs::write(work.path().join("picture.png"), b"\x89PNG\xff").expect("written");
    std::os::unix::fs::symlink("/etc/passwd", work.path().join("link")).expect("a link");
    let simulator = judged(setup().workspace(work.path()), UNTIL_EXIT);
    let file = |path: &str, bytes: u32| json!({"path": path, "bytes": bytes});
    assert_eq!(
        simulator.api().get("/workspace"),
        json!({"files": [file("main.py", 9), file("picture.png", 5), file("lib/a.py", 2)], "more": false})
    );
    let get = |path: &str| simulator.client().get(&format!("/sim/api/workspace/file?path={path}"));
    let main = get("main.py");
    assert_eq!((main.status, main.header("content-type")), (200, Some("text/plain; charset=utf-8")));
    assert_eq!([main.text(), get("lib/a.py").text()], ["print(1)\n", "ä"]);
    for (path, status) in [
        ("none.py", 404),
        ("../x", 400),
        ("/etc/passwd", 400),
        ("link", 400),
        ("lib", 400),
        ("picture.png", 400),
        ("", 400),
    ] {
        assert_eq!(get(path).status, status, "{path}: {}", get(path).text());
    }
    let ask = "import os, urllib.request, urllib.error\n\
        for path in ('workspace', 'workspace/file?path=main.py'):\n    \
        try:\n        urllib.request.urlopen(os.environ['CHICANE_URL'] + '/sim/api/' + path)\n    \
        except urllib.error.HTTPError as error:\n        print(error.code)\n";
    let record = run(&mut simulator.api(), json!({"command": "python3 ask.py", "files": {"ask.py": ask}}));
    assert_eq!(student_output(&record), ["403", "403"], "a judged program can't read programs of others");
}
