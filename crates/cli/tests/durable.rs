//! Tests of the program as a process, for example that acknowledged settings survive a kill, that
//! signals end the program, and that invalid options are reported.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, clippy::panic)]

#[allow(dead_code, reason = "another test uses the rest")]
#[path = "durable/program.rs"]
mod program;

use chicane_testkit::Random;
use chicane_testkit::http::{Client, EventWait, Events};
use program::{Program, TempFolder, stderr_of_failure, stdout_of};
use serde_json::{Value, json};
use std::net::TcpListener;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

/// How long a test waits for an event. The timeout only ends a test that hangs.
const HANG_TIMEOUT: Duration = Duration::from_secs(60);

/// Settings that a simulator stores.
#[derive(Debug, Clone, PartialEq)]
struct Settings {
    brightness: f64,
    world: String,
    red: bool,
}

impl Settings {
    fn of(client: &mut Client) -> Settings {
        let mut get = |path: &str| -> Value {
            let answer = client.get(&format!("/sim/api{path}"));
            assert_eq!(answer.status, 200, "{path}");
            serde_json::from_slice(&answer.body).expect("JSON")
        };
        Settings {
            brightness: get("/brightness")["value"].as_f64().expect("a number"),
            world: get("/status")["current"].as_str().expect("a world").to_owned(),
            red: get("/traffic_lights")["lights"][0]["state"] != "green",
        }
    }
}

/// Chooses a random write request. Returns the path and the body of the request, and the settings
/// that the request leads to.
fn write(random: &mut Random, now: &Settings) -> (&'static str, Value, Settings) {
    let mut next = now.clone();
    match random.below(10) {
        0..5 => {
            next.brightness = (20 + random.below(181)) as f64 / 100.0;
            ("/sim/api/brightness", json!({"value": next.brightness}), next)
        }
        5..9 => {
            next.red = random.below(2) == 0;
            let state = if next.red { "red" } else { "green" };
            ("/sim/api/traffic_lights/signal1", json!({"state": state}), next)
        }
        _ => {
            next.world = ["oval", "field", "technical"][random.below(3) as usize].to_owned();
            next.red = false;
            ("/sim/api/switch", json!({"world": format!("{}.world", next.world)}), next)
        }
    }
}

/// Writes random settings until the server is killed. Returns the last acknowledged settings, and
/// the settings that the unanswered write requested.
fn write_until_killed(
    mut client: Client,
    mut random: Random,
    mut known: Settings,
    acknowledged: &std::sync::mpsc::Sender<()>,
) -> (Settings, Settings) {
    loop {
        let (path, body, next) = write(&mut random, &known);
        let Ok(answer) = client.try_request("POST", path, &[], body.to_string().as_bytes()) else {
            return (known, next);
        };
        match answer.status {
            200 => known = next,
            // The write was refused, because the light is yellow.
            409 => {}
            other => panic!("{path} {body}: {other} {}", answer.text()),
        }
        let _ = acknowledged.send(());
    }
}

#[test]
fn acknowledged_settings_survive_a_kill() {
    let scratch = TempFolder::new("kill");
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let mut known = Settings { brightness: 1.0, world: "oval".to_owned(), red: false };
    let mut asked = known.clone();
    for round in 0..8 {
        // The simulation runs fast, so that yellow phases are short.
        let mut program = Program::serve(&["--data-dir", scratch.path(), "--speed", "100"]);
        let found = Settings::of(&mut program.client());
        let brightness = found.brightness == known.brightness || found.brightness == asked.brightness;
        // World and light are compared together, because a switch of the world turns the light
        // green.
        let world = [&known, &asked].iter().any(|s| (&s.world, s.red) == (&found.world, found.red));
        assert!(brightness && world, "round {round}: {found:?} is neither {known:?} nor {asked:?}");

        let (send, acknowledged) = channel();
        let (client, seed) = (program.client(), Random(random.below(u64::MAX) | 1));
        let writing = std::thread::spawn(move || write_until_killed(client, seed, found, &send));
        for _ in 0..random.below(60) {
            acknowledged.recv_timeout(HANG_TIMEOUT).expect("an acknowledged write");
        }
        // The kill comes at a random time during one of the next writes.
        let moment = Instant::now() + Duration::from_micros(random.below(8000));
        while Instant::now() < moment {
            std::hint::spin_loop();
        }
        program.kill();
        (known, asked) = writing.join().expect("the writer");
    }
}

/// Saves a project until the server is killed. Returns the last acknowledged width of the road, and
/// the width that the unanswered save requested.
fn save_until_killed(
    mut client: Client,
    path: &str,
    mut revision: u64,
    mut document: Value,
    acknowledged: &std::sync::mpsc::Sender<()>,
) -> (Value, Value) {
    let mut known = document["track"]["width"].clone();
    loop {
        let next = json!((300 + revision * 7 % 400) as f64 / 1000.0);
        document["track"]["width"] = next.clone();
        let body = json!({"revision": revision, "document": document}).to_string();
        let Ok(answer) = client.try_request("PUT", path, &[], body.as_bytes()) else { return (known, next) };
        assert_eq!(answer.status, 200, "{}", answer.text());
        (known, revision) = (next, revision + 1);
        let _ = acknowledged.send(());
    }
}

#[test]
fn acknowledged_projects_survive_a_kill() {
    let scratch = TempFolder::new("project");
    let mut random = Random(0x2545_F491_4F6C_DD1D);
    let mut program = Program::serve(&["--data-dir", scratch.path()]);
    let made =
        program.client().post("/sim/api/builder/projects", "{\"from\": \"world\", \"world\": \"town\"}");
    assert_eq!(made.status, 201, "{}", made.text());
    let made: Value = serde_json::from_slice(&made.body).expect("JSON");
    let path = format!("/sim/api/builder/projects/{}", made["id"].as_str().expect("an id"));
    let mut allowed = [made["document"]["track"]["width"].clone(), Value::Null];
    // The first kill comes directly after the acknowledgement of the new project.
    program.kill();
    for round in 0..6 {
        program = Program::serve(&["--data-dir", scratch.path()]);
        let read = program.client().get(&path);
        assert_eq!(read.status, 200, "round {round}: {}", read.text());
        let read: Value = serde_json::from_slice(&read.body).expect("JSON");
        assert!(allowed.contains(&read["document"]["track"]["width"]), "round {round}: {allowed:?}");
        assert_eq!(read["files"], made["files"], "round {round}");
        let (send, acknowledged) = channel();
        let (client, address) = (program.client(), path.clone());
        let revision = read["revision"].as_u64().expect("a revision");
        let document = read["document"].clone();
        let saving =
            std::thread::spawn(move || save_until_killed(client, &address, revision, document, &send));
        for _ in 0..1 + random.below(20) {
            acknowledged.recv_timeout(HANG_TIMEOUT).expect("an acknowledged save");
        }
        program.kill();
        let (known, asked) = saving.join().expect("the writer");
        allowed = [known, asked];
    }
}

#[test]
fn a_second_program_with_the_same_data_folder_is_refused() {
    let scratch = TempFolder::new("twice");
    let first = Program::serve(&["--data-dir", scratch.path()]);
    let refused = stderr_of_failure(&["serve", "--listen", "127.0.0.1:0", "--data-dir", scratch.path()], &[]);
    assert_eq!(refused.lines().count(), 1, "{refused}");
    assert!(refused.starts_with("chicane: ") && refused.contains("in use"), "{refused}");
    assert!(refused.contains(scratch.path()) && refused.contains(&first.id().to_string()), "{refused}");
    assert_eq!(first.client().get("/sim/api/status").status, 200, "the first program was affected");
}

/// Sends a signal to a busy program and returns how long the program takes to end.
fn ended_by(signal: &str) -> Duration {
    let scratch = TempFolder::new("term");
    let mut program = Program::serve(&["--data-dir", scratch.path(), "--world", "technical"]);
    let mut events = Events::open(program.address, "/sim/api/events", &[]);
    events.next_of("state");
    let mut long = program.client();
    let body = b"{\"steps\": 100000, \"speed\": 1, \"steering\": 0.3}";
    long.send("POST", "/sim/api/step", &[], body);
    let asked = Instant::now();
    program.signal(signal);
    let code = program.wait(HANG_TIMEOUT);
    let took = asked.elapsed();
    assert_eq!(code, Some(0), "{signal}");
    loop {
        match events.hear(Duration::from_secs(5)) {
            EventWait::Event(_) => {}
            EventWait::End => return took,
            EventWait::TimedOut => panic!("the stream is still open"),
        }
    }
}

#[test]
fn a_signal_ends_the_program_within_one_second() {
    for signal in ["-TERM", "-INT"] {
        // A busy machine may be too slow in one run, but not in all of them.
        let mut took: Vec<Duration> = Vec::new();
        while took.last().is_none_or(|last| *last >= Duration::from_secs(1)) {
            assert!(took.len() < 10, "{signal}: {took:?}");
            took.push(ended_by(signal));
        }
    }
}

#[test]
fn the_program_ends_when_its_lifeline_closes_and_not_without_one() {
    let scratch = TempFolder::new("lifeline");
    let mut program = Program::serve_with_lifeline(&["--data-dir", scratch.path()]);
    assert_eq!(program.client().get("/sim/api/status").status, 200);
    program.close_lifeline();
    assert_eq!(program.wait(HANG_TIMEOUT), Some(0));
    // Without `--lifeline` the program ignores standard input. Here, standard input is empty from
    // the start.
    let program = Program::serve(&["--data-dir", scratch.path()]);
    assert_eq!(program.client().get("/sim/api/status").status, 200);
}

#[test]
fn settings_survive_a_normal_end() {
    let scratch = TempFolder::new("polite");
    let mut program = Program::serve(&["--data-dir", scratch.path()]);
    let mut client = program.client();
    assert_eq!(client.post("/sim/api/switch", "{\"world\": \"field.world\"}").status, 200);
    assert_eq!(client.post("/sim/api/brightness", "{\"value\": 0.5}").status, 200);
    assert_eq!(client.post("/sim/api/traffic_lights/signal1", "{\"state\": \"red\"}").status, 200);
    program.signal("-TERM");
    assert_eq!(program.wait(HANG_TIMEOUT), Some(0));
    let program = Program::serve(&["--data-dir", scratch.path()]);
    let expected = Settings { brightness: 0.5, world: "field".to_owned(), red: true };
    assert_eq!(Settings::of(&mut program.client()), expected);
}

#[test]
fn listening_to_other_machines_without_a_token_is_refused() {
    let scratch = TempFolder::new("open");
    let refused = stderr_of_failure(&["serve", "--listen", "0.0.0.0:0", "--data-dir", scratch.path()], &[]);
    assert_eq!(refused.lines().count(), 1, "{refused}");
    assert!(refused.contains("--token"), "{refused}");
}

#[test]
fn an_unknown_world_is_refused_with_the_list_of_worlds() {
    let scratch = TempFolder::new("world");
    let arguments = ["--listen", "127.0.0.1:0", "--data-dir", scratch.path(), "--world", "nosuch"];
    let refused = stderr_of_failure(&arguments, &[]);
    assert_eq!(refused.lines().count(), 1, "{refused}");
    for name in ["nosuch", "field", "oval", "technical"] {
        assert!(refused.contains(name), "{refused}");
    }
}

#[test]
fn a_port_in_use_is_reported() {
    let scratch = TempFolder::new("port");
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("an address").to_string();
    let refused = stderr_of_failure(&["serve", "--listen", &address, "--data-dir", scratch.path()], &[]);
    assert_eq!(refused.lines().count(), 1, "{refused}");
    assert!(refused.starts_with("chicane: ") && refused.contains(&address), "{refused}");
}

#[test]
fn invalid_options_are_reported() {
    let scratch = TempFolder::new("options");
    for (arguments, word) in [
        (["--speed", "1000"], "--speed"),
        (["--token", "short"], "token"),
        (["--listen", "nowhere"], "--listen"),
        (["--cdn", "ftp://example.org"], "--cdn"),
        (["--robot", "no/such/file"], "no/such/file"),
        (["--workspace", "no/such/folder"], "no/such/folder"),
        (["--log", "loud"], "--log"),
        (["--data-dir", "/proc/nothing/here"], "/proc/nothing"),
    ] {
        let mut all = vec!["serve", "--data-dir", scratch.path(), "--listen", "127.0.0.1:0"];
        all.retain(|a| arguments[0] != "--data-dir" || (*a != "--data-dir" && *a != scratch.path()));
        all.retain(|a| arguments[0] != "--listen" || (*a != "--listen" && *a != "127.0.0.1:0"));
        all.extend(arguments);
        let refused = stderr_of_failure(&all, &[]);
        assert!(refused.contains(word), "{arguments:?}: {refused}");
    }
}

#[test]
fn help_mentions_every_option() {
    let overview = stdout_of(&["--help"]);
    for words in ["  serve  ", "takes the options of `chicane serve`", "`chicane COMMAND -h`"] {
        assert!(overview.contains(words), "{words} is not in\n{overview}");
    }
    for arguments in [vec!["serve", "--help"], vec!["serve", "-h"]] {
        let help = stdout_of(&arguments);
        for option in [
            "--listen",
            "--data-dir",
            "--world",
            "--cdn",
            "--cdn-token",
            "--require-verified",
            "--token",
            "--student-token",
            "--spectator-token",
            "--allow-host",
            "--robot",
            "--speed",
            "--workspace",
            "--ros",
            "--ros-domain",
            "--ros-network",
            "--log",
            "--log-level",
        ] {
            assert!(help.contains(option), "{option} is not in\n{help}");
        }
    }
    let help = stdout_of(&["--help"]);
    for command in ["serve", "check", "lap", "openapi", "publish", "worlds"] {
        assert!(help.contains(command), "{command} is not in\n{help}");
    }
}

#[test]
fn options_can_be_set_by_environment_variables() {
    let scratch = TempFolder::new("environment");
    let environment = [
        ("CHICANE_LISTEN", "127.0.0.1:0"),
        ("CHICANE_DATA_DIR", scratch.path()),
        ("CHICANE_WORLD", "field"),
        ("CHICANE_SPEED", "2.5"),
        ("CHICANE_TOKEN", "0123456789abcdef"),
        ("CHICANE_ALLOW_HOST", "one.example,two.example"),
        ("CHICANE_CDN", "https://worlds.example/"),
    ];
    let program = Program::start(&[], &environment);
    assert!(program.ready_line.ends_with("/sim?token=…"), "{}", program.ready_line);
    let bearer = [("authorization", "Bearer 0123456789abcdef")];
    let ask = |host: &str, method: &str, path: &str| {
        let answer = program.client().with_host(host).request(method, path, &bearer, b"");
        assert_eq!(answer.status, 200, "{host} {path}: {}", answer.text());
        serde_json::from_slice::<Value>(&answer.body).expect("JSON")
    };
    assert_eq!(ask("one.example", "GET", "/sim/api/status")["current"], "field");
    assert_eq!(ask("two.example", "POST", "/sim/api/clock")["speed"], 2.5);
    assert_eq!(ask("localhost", "GET", "/sim/api/worldpub")["cdn"], "https://worlds.example");
    assert_eq!(program.client().get("/sim/api/status").status, 401);
    // Command line options override environment variables.
    drop(program);
    let refused = stderr_of_failure(&["--world", "nosuch"], &environment);
    assert!(refused.contains("nosuch"), "{refused}");
}

#[test]
fn a_generated_token_is_printed_once() {
    let scratch = TempFolder::new("token");
    let arguments = ["serve", "--listen", "0.0.0.0:0", "--token", "auto", "--data-dir", scratch.path()];
    let program = Program::start(&arguments, &[]);
    let (_, token) = program.ready_line.split_once("/sim?token=").expect("a token");
    assert!(token.len() >= 16, "{token}");
    assert!(program.ready_line.contains("http://127.0.0.1:"), "{}", program.ready_line);
    assert_eq!(program.client().get("/sim/api/status").status, 401);
    let bearer = format!("Bearer {token}");
    let answer = program.client().with_header("authorization", bearer).get("/sim/api/status");
    assert_eq!(answer.status, 200);
}

/// Runs `chicane serve` with these arguments and environment variables, signs in with each token,
/// stops the program, and returns its standard output and its log.
fn output_of_a_run(name: &str, arguments: &[&str], environment: &[(&str, &str)]) -> (String, String) {
    let scratch = TempFolder::new(name);
    let [out, log] = ["out", "log"].map(|name| std::path::Path::new(scratch.path()).join(name));
    let file = |path| std::fs::File::create(path).expect("a file");
    let data = format!("{}/data", scratch.path());
    let arguments =
        [&["serve", "--listen", "127.0.0.1:0", "--data-dir", &data, "--log-level", "debug"], arguments]
            .concat();
    let mut command = program::command(&arguments, environment);
    let mut child = command.stdout(file(&out)).stderr(file(&log)).spawn().expect("started");
    let text = |path| std::fs::read_to_string(path).expect("text");
    let deadline = Instant::now() + HANG_TIMEOUT;
    let ready = loop {
        let printed = text(&out);
        if let Some(line) = printed.split_inclusive('\n').find(|line| line.ends_with('\n')) {
            break line.trim_end().to_owned();
        }
        assert!(Instant::now() < deadline, "{}", text(&log));
        std::thread::sleep(Duration::from_millis(5));
    };
    let address = ready.strip_prefix("chicane is ready: http://").and_then(|rest| rest.split_once("/sim"));
    let address = address.expect("an address").0.parse().expect("an address");
    for (_, token) in environment {
        assert_eq!(Client::new(address).get(&format!("/sim?token={token}")).status, 303, "{token}");
    }
    assert_eq!(rustix::process::kill_process(pid_of(&child), rustix::process::Signal::TERM), Ok(()));
    assert!(child.wait().expect("ended").success());
    (text(&out), text(&log))
}

fn pid_of(child: &std::process::Child) -> rustix::process::Pid {
    rustix::process::Pid::from_child(child)
}

#[test]
fn a_chosen_token_was_printed() {
    let chosen = [
        ("CHICANE_TOKEN", "chosen-by-the-teacher"),
        ("CHICANE_STUDENT_TOKEN", "chosen-for-students"),
        ("CHICANE_SPECTATOR_TOKEN", "chosen-1"),
    ];
    let (out, log) = output_of_a_run("chosen", &[], &chosen);
    for (name, token) in chosen {
        assert!(!out.contains(token) && !log.contains(token), "{name} is in\n{out}\n{log}");
    }
    let lines: Vec<&str> = out.lines().map(|line| line.split_once("http").expect("an address").0).collect();
    assert_eq!(lines, ["chicane is ready: ", "for students: ", "for spectators: "]);
    assert!(out.lines().all(|line| line.ends_with("/sim?token=…")), "{out}");
    // Only the third token is short.
    let warnings: Vec<&str> = log.lines().filter(|line| line.contains("is short")).collect();
    assert!(warnings.len() == 1 && warnings[0].contains("--spectator-token"), "{log}");
}

#[test]
fn generated_tokens_of_all_roles_are_printed_once() {
    let arguments = ["--token", "auto", "--student-token", "auto", "--spectator-token", "auto"];
    let (out, log) = output_of_a_run("generated", &arguments, &[]);
    let tokens: Vec<&str> = out.lines().filter_map(|line| Some(line.split_once("?token=")?.1)).collect();
    assert_eq!(tokens.len(), 3, "{out}");
    for token in tokens {
        assert!(token.len() == 32 && out.matches(token).count() == 1 && !log.contains(token), "{out}");
    }
}

#[test]
fn tokens_that_do_not_differ_are_refused() {
    let scratch = TempFolder::new("equal");
    let serve = |more: &[&str]| {
        let arguments = ["serve", "--listen", "127.0.0.1:0", "--data-dir", scratch.path()];
        stderr_of_failure(&[&arguments, more].concat(), &[])
    };
    let same = "one-token-for-all";
    let refused = serve(&["--token", same, "--student-token", same]);
    assert!(
        refused.ends_with("the tokens of teacher and student are equal: every role needs a token of its own")
    );
    let refused = serve(&["--spectator-token", same]);
    assert!(refused.contains("--spectator-token") && refused.contains("add --token auto"), "{refused}");
}

#[test]
fn the_default_data_folder_is_the_one_of_the_platform() {
    let scratch = TempFolder::new("home");
    let environment = [("XDG_DATA_HOME", scratch.path()), ("HOME", scratch.path())];
    let program = Program::start(&["--listen", "127.0.0.1:0"], &environment);
    assert_eq!(program.client().get("/sim/api/status").status, 200);
    let made = std::fs::read_dir(scratch.path()).expect("a folder").count();
    assert!(made > 0, "no files were written to {}", scratch.path());
}

#[test]
fn an_unread_log_does_not_block_the_program() {
    let data = TempFolder::new("log");
    let mut program = Program::serve_with_unread_log(&["--data-dir", data.path(), "--log-level", "debug"]);
    let mut client = program.client();
    for _ in 0..3000 {
        assert_eq!(client.get("/sim/api/status").status, 200);
    }
    assert_eq!(client.post("/sim/api/respawn", "").status, 200);
    program.signal("-TERM");
    assert_eq!(program.wait(HANG_TIMEOUT), Some(0));
}
