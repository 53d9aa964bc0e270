//! A simulator for one test, and a client that checks the properties that all responses have in
//! common.

mod bridge;
mod bundles;
mod foxglove;
pub(crate) mod judged;
mod robot;
mod temp_folder;

pub(crate) use bridge::{Bridge, seconds};
pub(crate) use bundles::{LoadGate, many_boxes, open_route, plain, scenery, truncated};
pub(crate) use foxglove::{Event, FOXGLOVE_V1, Foxglove};
pub(crate) use robot::{Received, Robot, Socket, detail, status_when_full};
pub(crate) use temp_folder::TempFolder;

use chicane_host::{HostOptions, JudgeOptions};
use chicane_recording::RecordingOptions;
use chicane_remote::Token;
use chicane_server::{Options, Server, StartError};
use chicane_testkit::http::{Client, Events, HttpResponse, RESPONSE_TIMEOUT};
use chicane_world::Bundle;
use serde_json::Value;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

/// Longest time that the stop of a simulator may take. A stop usually takes a fraction of a second.
/// It waits for sessions, files, sockets and threads, and each of these waits is limited. On a busy
/// machine, all waits together can take more than 5 s. The limit excludes a stop that waits for a
/// client or for the work of a client, which takes much longer: for example 600 s for a held speed,
/// or 120 s for the judging of a recorded run.
pub(crate) const MAX_STOP_TIME: Duration = Duration::from_secs(20);

/// The options of a simulator, and its data folder.
pub(crate) struct Setup {
    options: Options,
    data: Arc<TempFolder>,
}

/// The default options: built-in worlds, a new data folder, a free port on loopback.
pub(crate) fn setup() -> Setup {
    setup_in(&Arc::new(TempFolder::new()))
}

/// The default options with an existing data folder.
pub(crate) fn setup_in(data: &Arc<TempFolder>) -> Setup {
    let host = HostOptions {
        data_dir: data.path().to_owned(),
        workspace: data.path().to_owned(),
        judge: JudgeOptions {
            launcher: Some(env!("CARGO_BIN_EXE_chicane").into()),
            ..JudgeOptions::default()
        },
        ..HostOptions::default()
    };
    let options = Options { host, ..Options::default() };
    Setup { options, data: Arc::clone(data) }
}

/// Starts a simulator with the default options and waits for its world.
pub(crate) fn start() -> Simulator {
    setup().start()
}

/// Starts a simulator that is paused at time 0.
pub(crate) fn start_paused() -> (Simulator, Api) {
    setup().start_paused()
}

impl Setup {
    pub(crate) fn world(mut self, name: &str) -> Setup {
        self.options.host.world = Some(name.to_owned());
        self
    }

    pub(crate) fn with_world(mut self, name: &str, bundle: impl Bundle + Send + Sync + 'static) -> Setup {
        self.options.host.library = self.options.host.library.with_bundle(name, Arc::new(bundle));
        self
    }

    pub(crate) fn judge_script(mut self, script: &str) -> Setup {
        self.options.host.judge.script = Some(script.to_owned());
        self
    }

    pub(crate) fn workspace(mut self, folder: &std::path::Path) -> Setup {
        self.options.host.workspace = folder.to_owned();
        self
    }

    pub(crate) fn speed(mut self, speed: f64) -> Setup {
        self.options.host.speed = speed;
        self
    }

    pub(crate) fn judge(mut self, change: impl FnOnce(&mut JudgeOptions)) -> Setup {
        change(&mut self.options.host.judge);
        self
    }

    pub(crate) fn listen(mut self, address: &str) -> Setup {
        self.options.listen = address.parse().expect("an address");
        self
    }

    pub(crate) fn token(mut self, token: &str) -> Setup {
        self.options.token = Some(Token::parse(token).expect("a token"));
        self
    }

    pub(crate) fn student_token(mut self, token: &str) -> Setup {
        self.options.student_token = Some(Token::parse(token).expect("a token"));
        self
    }

    pub(crate) fn spectator_token(mut self, token: &str) -> Setup {
        self.options.spectator_token = Some(Token::parse(token).expect("a token"));
        self
    }

    pub(crate) fn cdn(mut self, url: impl Into<String>) -> Setup {
        self.options.cdn = Some(url.into());
        self
    }

    pub(crate) fn cdn_token(mut self, token: &str) -> Setup {
        self.options.cdn_token = Some(Token::parse(token).expect("a token"));
        self
    }

    /// Sets how long a CDN may send nothing before a request to it fails.
    pub(crate) fn cdn_timeout(mut self, timeout: Duration) -> Setup {
        self.options.cdn_timeout = timeout;
        self
    }

    pub(crate) fn require_verified(mut self) -> Setup {
        self.options.require_verified = true;
        self
    }

    pub(crate) fn foxglove_origin(mut self, origin: &str) -> Setup {
        self.options.foxglove_origins.push(origin.to_owned());
        self
    }

    pub(crate) fn allow_origin(mut self, origin: &str) -> Setup {
        self.options.allowed_origins.push(origin.to_owned());
        self
    }

    pub(crate) fn allow_host(mut self, name: &str) -> Setup {
        self.options.allow_hosts.push(name.to_owned());
        self
    }

    pub(crate) fn recording(mut self, options: RecordingOptions) -> Setup {
        self.options.recording = Some(options);
        self
    }

    /// Records from the first tick on.
    pub(crate) fn record_at_once(mut self) -> Setup {
        self.options.record_at_once = true;
        self
    }

    /// Starts the simulator and waits for its world.
    pub(crate) fn start(self) -> Simulator {
        let simulator = self.start_unready();
        simulator.runtime.block_on(simulator.server().host().ready()).expect("the world is ready");
        simulator
    }

    /// Starts the simulator, pauses it and respawns its world, so that it is paused at time 0.
    pub(crate) fn start_paused(self) -> (Simulator, Api) {
        let simulator = self.start();
        let mut api = simulator.api();
        api.pause_at_zero();
        (simulator, api)
    }

    /// Starts the simulator without waiting for its world.
    pub(crate) fn start_unready(self) -> Simulator {
        self.try_start().unwrap_or_else(|e| panic!("the simulator does not start: {e}"))
    }

    pub(crate) fn try_start(self) -> Result<Simulator, StartError> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        let runtime = runtime.expect("a runtime");
        let server = runtime.block_on(Server::start(self.options))?;
        let address = chicane_server::reachable(server.address());
        Ok(Simulator { address, server: Some(server), data: self.data, runtime: Some(runtime).into() })
    }
}

/// A running simulator. It is stopped on drop.
pub(crate) struct Simulator {
    pub(crate) address: SocketAddr,
    server: Option<Server>,
    data: Arc<TempFolder>,
    runtime: BackgroundRuntime,
}

/// A runtime that does not wait for its tasks on drop.
struct BackgroundRuntime(Option<Runtime>);

impl From<Option<Runtime>> for BackgroundRuntime {
    fn from(runtime: Option<Runtime>) -> BackgroundRuntime {
        BackgroundRuntime(runtime)
    }
}

impl std::ops::Deref for BackgroundRuntime {
    type Target = Runtime;

    fn deref(&self) -> &Runtime {
        self.0.as_ref().expect("still running")
    }
}

impl Drop for BackgroundRuntime {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

impl Simulator {
    /// Runs a future on the runtime of the server, and waits for its result.
    pub(crate) fn block_on<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.block_on(work)
    }

    pub(crate) fn server(&self) -> &Server {
        self.server.as_ref().expect("still running")
    }

    /// A client of the API with its own connection.
    pub(crate) fn api(&self) -> Api {
        Api(self.client())
    }

    /// An HTTP client for any path.
    pub(crate) fn client(&self) -> Client {
        Client::new(self.address)
    }

    /// The value of this metric in the response of `/metrics`.
    pub(crate) fn metric(&self, name: &str) -> f64 {
        let text = self.client().get("/metrics").text();
        let line = text.lines().find_map(|l| l.strip_prefix(name).and_then(|r| r.strip_prefix(' ')));
        line.unwrap_or_else(|| panic!("{name} in\n{text}")).parse().expect("a number")
    }

    pub(crate) fn events(&self) -> Events {
        self.events_after(None)
    }

    /// Opens the event stream. If `last` is the id of an event, the stream continues after that
    /// event. If `last` is `None`, no earlier events are sent.
    pub(crate) fn events_after(&self, last: Option<&str>) -> Events {
        let headers: Vec<_> = last.map(|id| ("last-event-id", id)).into_iter().collect();
        let events = Events::open(self.address, "/sim/api/events", &headers);
        assert_eq!(events.head.status, 200);
        assert_eq!(events.head.header("content-type"), Some("text/event-stream"));
        events
    }

    /// The data folder.
    pub(crate) fn folder(&self) -> &std::path::Path {
        self.data.path()
    }

    /// Stops the simulator and returns how long stopping took.
    pub(crate) fn stop(mut self) -> Duration {
        self.end()
    }

    /// Stops the simulator and returns its data folder.
    pub(crate) fn stop_and_keep(self) -> Arc<TempFolder> {
        let data = Arc::clone(&self.data);
        self.stop();
        data
    }

    fn end(&mut self) -> Duration {
        let started = Instant::now();
        if let Some(server) = self.server.take() {
            self.runtime.block_on(server.stop());
        }
        started.elapsed()
    }
}

impl Drop for Simulator {
    fn drop(&mut self) {
        self.end();
    }
}

/// A JSON client for the paths under `/sim/api`.
pub(crate) struct Api(pub(crate) Client);

impl Api {
    /// Sends a GET request that must succeed, and returns the body.
    pub(crate) fn get(&mut self, path: &str) -> Value {
        let answer = self.0.get(&format!("/sim/api{path}"));
        assert_eq!(answer.status, 200, "GET {path}: {}", answer.text());
        json(&answer)
    }

    /// Sends a POST request that must succeed, and returns the body.
    pub(crate) fn post(&mut self, path: &str, body: Value) -> Value {
        let answer = self.try_post(path, &body.to_string());
        assert_eq!(answer.status, 200, "POST {path} {body}: {}", answer.text());
        let done = json(&answer);
        assert_eq!(done["ok"], true, "POST {path} {body}: {done}");
        done
    }

    /// Sends a GET request that must fail, and returns status and error text.
    pub(crate) fn get_refused(&mut self, path: &str) -> (u16, String) {
        refusal(&self.0.get(&format!("/sim/api{path}")))
    }

    /// Sends a POST request that must fail, and returns status and error text.
    pub(crate) fn refused(&mut self, path: &str, body: Value) -> (u16, String) {
        self.refused_raw(path, &body.to_string())
    }

    /// Sends a POST request with any text as body. The request must fail. Returns status and error
    /// text.
    pub(crate) fn refused_raw(&mut self, path: &str, body: &str) -> (u16, String) {
        refusal(&self.try_post(path, body))
    }

    pub(crate) fn try_post(&mut self, path: &str, body: &str) -> HttpResponse {
        self.0.post(&format!("/sim/api{path}"), body)
    }

    /// Pauses the simulation and respawns the world, so that the state is deterministic from here
    /// on.
    pub(crate) fn pause_at_zero(&mut self) {
        self.post("/clock", serde_json::json!({"paused": true}));
        self.post("/respawn", serde_json::json!({}));
    }

    /// Advances the simulation by `steps` ticks of 5 ms.
    pub(crate) fn step(&mut self, steps: u64) -> Value {
        self.post("/step", serde_json::json!({"steps": steps}))
    }

    /// The simulated time, in seconds.
    pub(crate) fn time(&mut self) -> f64 {
        number(&self.get("/clock")["sim_time"])
    }

    /// The colour that a light shows.
    pub(crate) fn light(&mut self, name: &str) -> String {
        let lights = self.get("/traffic_lights");
        let all = lights["lights"].as_array().expect("a list");
        let light = all.iter().find(|l| l["name"] == name).unwrap_or_else(|| panic!("{name}: {lights}"));
        light["state"].as_str().expect("a state").to_owned()
    }

    /// The entry of an object in the response of `/objects`.
    pub(crate) fn object(&mut self, name: &str) -> Value {
        let objects = self.get("/objects");
        let all = objects["objects"].as_array().expect("a list");
        all.iter().find(|o| o["name"] == name).cloned().unwrap_or_else(|| panic!("{name}: {objects}"))
    }
}

/// Parses the body of a response as JSON. Checks too that the response does not allow pages of
/// other origins to read the body.
pub(crate) fn json(answer: &HttpResponse) -> Value {
    assert_eq!(answer.header("access-control-allow-origin"), None);
    assert_eq!(answer.header("content-type"), Some("application/json"), "{}", answer.text());
    serde_json::from_slice(&answer.body).unwrap_or_else(|e| panic!("{e}: {}", answer.text()))
}

/// Status and text of an error response. The body must have exactly the fields `error` and `code`.
pub(crate) fn refusal(answer: &HttpResponse) -> (u16, String) {
    assert!(answer.status >= 400, "{} {}", answer.status, answer.text());
    let body = json(answer);
    let fields = body.as_object().unwrap_or_else(|| panic!("an object, not {body}"));
    assert!(fields.len() == 2 && is_code(&body["code"]), "{body}");
    (answer.status, body["error"].as_str().unwrap_or_else(|| panic!("a text, not {body}")).to_owned())
}

/// Whether a value is an error code: lower-case words with underscores.
pub(crate) fn is_code(value: &Value) -> bool {
    value.as_str().is_some_and(|code| code.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'))
}

pub(crate) fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("a number, not {value}"))
}

/// Whether two numbers differ by less than 2e-6. For lengths in metres, this is 2 µm.
pub(crate) fn near(value: &Value, expected: f64) -> bool {
    (number(value) - expected).abs() < 2e-6
}

/// Polls until the closure returns a value, and panics after a timeout.
pub(crate) fn until<T>(what: &str, mut asked: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + RESPONSE_TIMEOUT;
    loop {
        if let Some(found) = asked() {
            return found;
        }
        assert!(Instant::now() < deadline, "timeout after {RESPONSE_TIMEOUT:?}: {what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Formats JSON with indentation and sorted keys.
pub(crate) fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(&sorted(value)).expect("JSON")
}

fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let mut all: Vec<_> = fields.iter().collect();
            all.sort_by_key(|(name, _)| *name);
            Value::Object(all.into_iter().map(|(name, v)| (name.clone(), sorted(v))).collect())
        }
        Value::Array(list) => Value::Array(list.iter().map(sorted).collect()),
        other => other.clone(),
    }
}

/// Replaces a long list by its length, its first entry and its last entry.
pub(crate) fn shortened(list: &Value) -> Value {
    let all = list.as_array().unwrap_or_else(|| panic!("a list, not {list}"));
    serde_json::json!({"len": all.len(), "first": all.first(), "last": all.last()})
}
