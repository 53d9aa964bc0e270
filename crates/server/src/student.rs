//! The requests of a judged program: which are allowed, and how they reach the simulator.
//!
//! Unless a student's program shares the network of the host, the program has a network of its own.
//! In that network, the address of the simulator leads to sockets of the session. Every request
//! through these sockets comes from the program, whatever token the request carries. The
//! evaluation's config lists which groups of paths the program may use besides the robot's own
//! paths.

use crate::access::HostRules;
use crate::body::drain;
use crate::error::ApiError;
use crate::error_response::error_response;
use crate::layers::with_student_layers;
use crate::listen;
use crate::metrics::HttpMetrics;
use crate::state::App;
use axum::Router;
use axum::extract::{Request, State};
use axum::http::Method;
use axum::middleware::Next;
use axum::response::Response;
use chicane_host::gate::{OpenGate, StudentGate};
use chicane_pace::{Serve, Task, VirtualStream};
use chicane_wire::{AllowedGroup, ErrorCode};
use serde_json::json;
use std::net::TcpListener;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::runtime::Handle;
use tokio::sync::watch;

/// How many connections a student's program may have open at a time.
const MAX_CONNECTIONS: usize = 256;
/// Groups that a program may use if the evaluation's config has no list of groups.
const DEFAULT_GROUPS: [AllowedGroup; 2] = [AllowedGroup::State, AllowedGroup::Step];
/// First segments of the paths below `/sim/api` whose requests belong to [`AllowedGroup::World`],
/// unless they only read.
const WORLD_SEGMENTS: [&str; 7] =
    ["pose", "models", "traffic_lights", "reset", "brightness", "overlay", "clock"];

/// Marks a request of the judged program. The middleware [`guard`] adds this extension, so no
/// client can forge it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FromStudent;

/// Who may use a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rule {
    /// Every judged program.
    Everyone,
    /// A program whose evaluation allows this group.
    Group(AllowedGroup),
    /// No judged program.
    Nobody,
}

/// The rule of a request.
fn rule(method: &Method, path: &str) -> Rule {
    let reads = matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS);
    let Some(below) = path.strip_prefix("/sim/api").map(|rest| rest.trim_matches('/')) else {
        return match path {
            // A WebSocket at `/` is connected to rosbridge, which serves the robot's topics.
            "/" => Rule::Everyone,
            _ if crate::robot::is_path(path) => Rule::Everyone,
            // `/foxglove` shows the true poses, as the live state does, so both are in the same
            // group. Each message that changes something has the rule of the POST request with the
            // same effect.
            crate::bridge::FOXGLOVE if reads => Rule::Group(AllowedGroup::State),
            "/sim/leaderboard" | "/sim/build" => Rule::Nobody,
            _ if reads && (path == "/sim" || path.starts_with("/sim/")) => Rule::Group(AllowedGroup::State),
            _ => Rule::Nobody,
        };
    };
    let first = below.split('/').next().unwrap_or_default();
    match below {
        // A program must not learn how other programs have driven.
        "evaluation/run" => Rule::Nobody,
        _ if below.starts_with("evaluation/replay") => Rule::Nobody,
        // The status of a recording names a folder of this machine.
        "recording" => Rule::Nobody,
        // A project can contain the judging script, and the workspace can contain programs of other
        // students.
        _ if matches!(first, "leaderboard" | "submissions" | "builder" | "workspace") => Rule::Nobody,
        _ if reads => Rule::Group(AllowedGroup::State),
        "evaluation/stop" => Rule::Everyone,
        "step" => Rule::Group(AllowedGroup::Step),
        _ if WORLD_SEGMENTS.contains(&first) => Rule::Group(AllowedGroup::World),
        _ => Rule::Nobody,
    }
}

/// Whether the evaluation of the running world allows a group.
fn allows(app: &App, group: AllowedGroup) -> bool {
    let now = app.simulator.now();
    let evaluation = now.running.as_ref().and_then(|running| running.served.world.evaluation.as_ref());
    match evaluation.and_then(|evaluation| evaluation.allow.as_ref()) {
        Some(groups) => groups.iter().any(|name| name == group.name()),
        None => DEFAULT_GROUPS.contains(&group),
    }
}

/// Whether the judged program may send a request. A refused request is counted in the record.
pub(crate) fn check(app: &App, method: &Method, path: &str) -> Result<(), ApiError> {
    let allowed = match rule(method, path) {
        Rule::Everyone => true,
        Rule::Group(group) => allows(app, group),
        Rule::Nobody => false,
    };
    if allowed {
        return Ok(());
    }
    app.evaluations.count_refused(path, json!({"method": method.as_str()}));
    Err(ApiError::new(ErrorCode::JudgedRun, "not allowed in a judged run"))
}

/// Passes an allowed request of the judged program to its handler. Every other request is refused
/// and counted in the record.
pub(crate) async fn guard(State(app): State<App>, mut request: Request, next: Next) -> Response {
    let Err(refused) = check(&app, request.method(), request.uri().path()) else {
        request.extensions_mut().insert(FromStudent);
        return next.run(request).await;
    };
    let path = request.uri().path().to_owned();
    drain(request).await;
    error_response(refused, &path)
}

/// Serves the sockets of student programs.
pub(crate) struct Gate {
    runtime: Handle,
    metrics: Arc<HttpMetrics>,
    /// The state of the web server; `None` before the server is assembled and after it has stopped.
    /// The state refers to the host, and the host refers to this gate. The server breaks this cycle
    /// when it stops.
    app: Mutex<Option<App>>,
}

impl Gate {
    /// A gate without routes. Must be called inside of the runtime that serves the connections.
    pub(crate) fn new(metrics: Arc<HttpMetrics>) -> Gate {
        Gate { runtime: Handle::current(), metrics, app: Mutex::default() }
    }

    /// Sets the state of the web server. `None` drops the earlier state, so that the host can be
    /// dropped too.
    pub(crate) fn set_app(&self, app: Option<App>) {
        *self.app.lock().unwrap_or_else(PoisonError::into_inner) = app;
    }

    fn app(&self) -> Option<App> {
        self.app.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl StudentGate for Gate {
    fn open(&self, listeners: Vec<TcpListener>) -> OpenGate {
        let (stop, stopped) = watch::channel(false);
        let _runtime = self.runtime.enter();
        let limit = listen::connection_limit(MAX_CONNECTIONS);
        let router = self.app().map(routes);
        for listener in listeners {
            let ready = listener.set_nonblocking(true);
            let listener = ready.and_then(|()| tokio::net::TcpListener::from_std(listener));
            match (listener, &router) {
                (Ok(listener), Some(router)) => {
                    let (router, metrics) = (router.clone(), Arc::clone(&self.metrics));
                    tokio::spawn(listen::serve_limited(
                        listener,
                        router,
                        metrics,
                        stopped.clone(),
                        limit.clone(),
                    ));
                }
                (Err(error), _) => tracing::error!(%error, "a student's requests can't be served"),
                (_, None) => tracing::error!("a student's requests can't be served: no routes"),
            }
        }
        // The listeners end when the sender is dropped.
        Box::new(stop)
    }

    fn paced(&self) -> Option<Arc<dyn Serve>> {
        let app = self.app()?.with_own_bridge();
        Some(Arc::new(PacedGate { router: routes(app.clone()), app }))
    }
}

/// The routes with the rules of judged programs.
fn routes(app: App) -> Router {
    with_student_layers(app, HostRules::default())
}

/// Serves the connections of one program in virtual time.
struct PacedGate {
    router: Router,
    app: App,
}

impl Serve for PacedGate {
    fn serve(&self, stream: VirtualStream) -> Task {
        let work = Arc::clone(self.app.simulator.work());
        Box::pin(listen::serve_paced(stream, self.router.clone(), work, Arc::clone(&self.app.http_metrics)))
    }

    fn background(&self) -> Task {
        // This task runs on the runtime whose clock is the virtual clock. Therefore the times at
        // which topics are published do not depend on the speed of the machine.
        Box::pin(self.app.bridge.clone().pump())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_has_the_rule_of_its_group() {
        use AllowedGroup::{State, Step, World};
        let rows = [
            ("GET", "/lidar", Rule::Everyone),
            ("POST", "/drive", Rule::Everyone),
            ("GET", "/rosbridge", Rule::Everyone),
            ("GET", "/health", Rule::Everyone),
            ("GET", "/", Rule::Everyone),
            ("POST", "/sim/api/evaluation/stop", Rule::Everyone),
            ("GET", "/sim/api/state", Rule::Group(State)),
            ("GET", "/sim/api/clock", Rule::Group(State)),
            ("GET", "/sim/scene/oval.glb", Rule::Group(State)),
            ("GET", "/foxglove", Rule::Group(State)),
            ("POST", "/foxglove", Rule::Nobody),
            ("GET", "/foxglove/x", Rule::Nobody),
            ("POST", "/sim/api/step", Rule::Group(Step)),
            ("POST", "/sim/api/pose", Rule::Group(World)),
            ("POST", "/sim/api/models/box/pose", Rule::Group(World)),
            ("POST", "/sim/api/traffic_lights/a", Rule::Group(World)),
            ("POST", "/sim/api/reset", Rule::Group(World)),
            ("POST", "/sim/api/clock", Rule::Group(World)),
            ("POST", "/sim/api/overlay", Rule::Group(World)),
            ("POST", "/sim/api/brightness", Rule::Group(World)),
            ("POST", "/sim/api/switch", Rule::Nobody),
            ("POST", "/sim/api/respawn", Rule::Nobody),
            ("POST", "/sim/api/evaluation/start", Rule::Nobody),
            ("DELETE", "/sim/api/worlds/oval", Rule::Nobody),
            ("GET", "/sim/api/recording", Rule::Nobody),
            ("POST", "/sim/api/recording/start", Rule::Nobody),
            ("GET", "/sim/leaderboard", Rule::Nobody),
            ("GET", "/build", Rule::Nobody),
            ("GET", "/sim/build", Rule::Nobody),
            ("GET", "/sim/api/leaderboard", Rule::Nobody),
            ("GET", "/sim/api/submissions/0123", Rule::Nobody),
            ("POST", "/sim/api/submissions", Rule::Nobody),
            ("GET", "/sim/api/builder/projects", Rule::Nobody),
            ("GET", "/sim/api/builder/projects/0123456789abcdef/files/judge.py", Rule::Nobody),
            ("PUT", "/sim/api/builder/projects/0123456789abcdef", Rule::Nobody),
            ("GET", "/metrics", Rule::Nobody),
            ("GET", "/cdn/worlds/x", Rule::Nobody),
            ("POST", "/sim/api/steps", Rule::Nobody),
            ("POST", "/sim", Rule::Nobody),
            ("POST", "/simulator", Rule::Nobody),
        ];
        for (method, path, expected) in rows {
            let method = Method::from_bytes(method.as_bytes()).expect("a method");
            assert_eq!(rule(&method, path), expected, "{method} {path}");
        }
    }
}
