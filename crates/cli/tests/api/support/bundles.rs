//! Worlds with properties that no built-in world has: they are minimal, invalid, crowded or slow to
//! load.

use chicane_testkit::http::RESPONSE_TIMEOUT;
use chicane_world::{Bundle, MemoryBundle, Route};
use glam::DVec2;
use std::borrow::Cow;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Instant;

/// A bundle that has only a world file with these models.
fn bundle(name: &str, models: &str) -> MemoryBundle {
    let mut bundle = MemoryBundle::default();
    let text = format!("<sdf version='1.7'><world name='{name}'>{models}</world></sdf>");
    bundle.insert(format!("worlds/{name}.world"), text);
    bundle
}

/// The SDF model of a cube with edges of 20 cm. `marker` is the name of its link. The link name
/// `object` marks a movable object.
fn cube(name: &str, marker: &str, [x, y, z]: [f64; 3]) -> String {
    format!(
        "<model name='{name}'><pose>{x} {y} {z} 0 0 0</pose><link name='{marker}'><inertial><mass>0.5</mass>\
         </inertial><collision name='c'><pose>0 0 0.1 0 0 0</pose><geometry><box><size>0.2 0.2 0.2</size></box>\
         </geometry></collision></link></model>"
    )
}

/// A world with one box, without route, lights, evaluation and ground.
pub(crate) fn plain(name: &str) -> MemoryBundle {
    bundle(name, &cube("box1", "object", [2.0, 1.0, 0.0]))
}

/// A world with a box, and with a table that is not marked as an object.
pub(crate) fn scenery(name: &str) -> MemoryBundle {
    let models = [cube("table", "top", [3.0, 1.0, 0.0]), cube("box1", "object", [2.0, 1.0, 0.0])];
    bundle(name, &models.concat())
}

/// A world whose route does not return to its start.
pub(crate) fn open_route(name: &str) -> MemoryBundle {
    let mut bundle = plain(name);
    let centre = (0..20).map(|i| DVec2::new(f64::from(i) * 0.5, 1.0)).collect();
    bundle.insert(format!("routes/{name}.npy"), Route { centre, borders: None }.to_npy());
    bundle
}

/// A world with 200 boxes in towers. Each tick of this world takes a long time.
pub(crate) fn many_boxes(name: &str) -> MemoryBundle {
    let mut models = String::new();
    for i in 0..200 {
        let (column, level) = (i / 4, i % 4);
        let (x, y) = (1.0 + 0.35 * f64::from(column % 7), 1.0 + 0.35 * f64::from(column / 7));
        models.push_str(&cube(&format!("box{i}"), "object", [x, y, 0.25 * f64::from(level)]));
    }
    bundle(name, &models)
}

/// A world whose file is truncated.
pub(crate) fn truncated(name: &str) -> MemoryBundle {
    let mut bundle = MemoryBundle::default();
    bundle.insert(format!("worlds/{name}.world"), "<sdf version='1.7'><world");
    bundle
}

/// Blocks the loading of a world until the test opens the gate, or until [`RESPONSE_TIMEOUT`] is
/// over.
#[derive(Clone, Default)]
pub(crate) struct LoadGate(Arc<(Mutex<LoadGateState>, Condvar)>);

#[derive(Default)]
struct LoadGateState {
    open: bool,
    waiting: usize,
}

impl LoadGate {
    pub(crate) fn open(&self) {
        self.0.0.lock().expect("the gate").open = true;
        self.0.1.notify_all();
    }

    pub(crate) fn close(&self) {
        self.0.0.lock().expect("the gate").open = false;
    }

    /// Waits until a loader is blocked at the gate.
    pub(crate) fn wait_until_blocked(&self) {
        let (state, bell) = &*self.0;
        let state = state.lock().expect("the gate");
        let (state, late) =
            bell.wait_timeout_while(state, RESPONSE_TIMEOUT, |s| s.waiting == 0).expect("the gate");
        assert!(!late.timed_out(), "no loader reached the gate");
        drop(state);
    }

    fn pass(&self) {
        let (state, bell) = &*self.0;
        let mut state = state.lock().expect("the gate");
        state.waiting += 1;
        bell.notify_all();
        let deadline = Instant::now() + RESPONSE_TIMEOUT;
        while !state.open && Instant::now() < deadline {
            state = bell.wait_timeout(state, RESPONSE_TIMEOUT).expect("the gate").0;
        }
        state.waiting -= 1;
    }

    /// Wraps a bundle, so that loading it blocks at this gate.
    pub(crate) fn wrap(&self, bundle: MemoryBundle) -> GatedBundle {
        GatedBundle { gate: self.clone(), bundle }
    }
}

/// A bundle whose loading blocks at a gate.
pub(crate) struct GatedBundle {
    gate: LoadGate,
    bundle: MemoryBundle,
}

impl Bundle for GatedBundle {
    fn read(&self, path: &str) -> Option<Cow<'_, [u8]>> {
        self.bundle.read(path)
    }

    fn list(&self, folder: &str) -> Vec<String> {
        self.gate.pass();
        self.bundle.list(folder)
    }
}
