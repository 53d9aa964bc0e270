//! Shows the progress of an installation in the state of the simulator.

use chicane_host::driver::Simulator;
use chicane_remote::cdn::ProgressCallback;
use chicane_wire::{Num, Transition, TransitionKind, WorldId};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::watch;

/// Smallest change that is shown, as a part of the whole progress (0 to 1).
const MIN_PROGRESS_CHANGE: f64 = 0.01;

/// Running installations in the order of their start, each with its progress (0 to 1).
type Installations = Vec<(WorldId, f64)>;

/// Returns a callback that shows the oldest running installation in the state of the simulator.
/// The callback never blocks an installation: a task sends the newest progress to the sim thread.
pub(crate) fn show(simulator: Simulator) -> ProgressCallback {
    let (shown, mut to_show) = watch::channel::<Option<(WorldId, f64)>>(None);
    tokio::spawn(async move {
        while to_show.changed().await.is_ok() {
            let now = to_show.borrow_and_update().clone();
            let transition = now.map(|(id, progress)| Transition {
                kind: TransitionKind::Install,
                target: Arc::from(format!("custom_{id}.world")),
                progress: Num(progress),
            });
            if simulator.show_installation(transition).await.is_err() && simulator.is_stopping() {
                return;
            }
        }
    });
    let installations: Mutex<Installations> = Mutex::default();
    Arc::new(move |id: &WorldId, progress: Option<f64>| {
        let mut all = installations.lock().unwrap_or_else(PoisonError::into_inner);
        let at = all.iter().position(|(other, _)| other == id);
        match (at, progress) {
            (Some(at), Some(progress)) => all[at].1 = progress,
            (None, Some(progress)) => all.push((id.clone(), progress)),
            (Some(at), None) => drop(all.remove(at)),
            (None, None) => {}
        }
        let first = all.first().cloned();
        shown.send_if_modified(|shown| {
            let same = match (&*shown, &first) {
                (Some((a, x)), Some((b, y))) => a == b && (x - y).abs() < MIN_PROGRESS_CHANGE && *y < 1.0,
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
