//! Shows in the state which world is being installed, and how far it is.

use chicane_host::driver::Simulator;
use chicane_remote::cdn::ProgressCallback;
use chicane_wire::{Num, Transition, TransitionKind, WorldId};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::watch;

/// Progress is shown in steps of this part.
const STEP: f64 = 0.01;

/// Worlds under way in the order in which they began, and how far they are.
type UnderWay = Vec<(WorldId, f64)>;

/// A report that ends in the state of the simulator. The oldest installation is shown; the newest word of
/// it wins, and none slows the installation.
pub(crate) fn show(simulator: Simulator) -> ProgressCallback {
    let (shown, mut to_show) = watch::channel::<Option<(WorldId, f64)>>(None);
    tokio::spawn(async move {
        while to_show.changed().await.is_ok() {
            let now = to_show.borrow_and_update().clone();
            let transition = now.map(|(id, part)| Transition {
                kind: TransitionKind::Install,
                target: Arc::from(format!("custom_{id}.world")),
                progress: Num(part),
            });
            if simulator.show_installation(transition).await.is_err() && simulator.is_stopping() {
                return;
            }
        }
    });
    let under_way: Mutex<UnderWay> = Mutex::default();
    Arc::new(move |id: &WorldId, part: Option<f64>| {
        let mut all = under_way.lock().unwrap_or_else(PoisonError::into_inner);
        let at = all.iter().position(|(other, _)| other == id);
        match (at, part) {
            (Some(at), Some(part)) => all[at].1 = part,
            (None, Some(part)) => all.push((id.clone(), part)),
            (Some(at), None) => drop(all.remove(at)),
            (None, None) => {}
        }
        let first = all.first().cloned();
        shown.send_if_modified(|shown| {
            let same = match (&*shown, &first) {
                (Some((a, x)), Some((b, y))) => a == b && (x - y).abs() < STEP && *y < 1.0,
                (None, None) => true,
                _ => false,
            };
            if !same {
                *shown = first;
            }
            !same
        });
    })
}
