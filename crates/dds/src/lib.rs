//! The robot's topics on a ROS 2 graph.
//!
//! Theory of operation. The sim thread hands every tick to a tap and waits for nobody. One thread
//! of our own empties it, makes the messages of each tick and gives them to the DDS participant,
//! which has threads of its own; a task draws pictures while someone wants them; another takes commands in,
//! one at a time, and always the newest. What is said is in `chicane_ros`, how it is carried in `dds`, and
//! nothing outside this folder knows either. For programs without ROS there is `bridge`, which stands by itself.

mod commands;
mod graph;
mod images;
mod network;
mod options;
mod participant;

pub use options::RosOptions;

use chicane_host::Source;
use chicane_host::camera::Camera;
use chicane_host::driver::{Simulator, Tap};
use chicane_ros::{Direction, Publisher, Topic};
use chicane_world::Profile;
use participant::Dds;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::watch;

/// How long the others are told goodbye.
const GOODBYE: Duration = Duration::from_millis(500);

/// A place in a graph, where nothing was said yet.
pub struct Joined(Dds);

/// The robot in a graph.
pub struct Ros {
    thread: JoinHandle<()>,
    stop: watch::Sender<bool>,
}

/// Takes a place in a graph.
pub async fn join(options: RosOptions) -> Result<Joined, String> {
    let joined = tokio::task::spawn_blocking(move || Dds::join(&options)).await;
    joined.map_err(|e| e.to_string())?.map(Joined)
}

impl Joined {
    /// Speaks and listens from now on.
    pub fn start(
        self,
        simulator: &Simulator,
        camera: &Camera,
        profile: &Arc<Profile>,
    ) -> std::io::Result<Ros> {
        let dds = Arc::new(self.0);
        let (stop, stopped) = watch::channel(false);
        let heard: Vec<_> = Topic::ALL.into_iter().filter(|t| t.direction() == Direction::In).collect();
        tokio::spawn(commands::obey(dds.hear(&heard), simulator.acting_as(Source::Ros), stopped.clone()));
        tokio::spawn(images::draw(Arc::clone(&dds), camera.clone(), simulator.tap(), stopped.clone()));
        let (tap, publisher) = (simulator.tap(), Publisher::new(Arc::clone(profile)));
        let runtime = tokio::runtime::Handle::current();
        let thread = std::thread::Builder::new().name("ros".to_owned()).spawn(move || {
            runtime.block_on(speak(&dds, &tap, publisher, stopped));
            // Others are told that we go.
            drop(dds);
        })?;
        Ok(Ros { thread, stop })
    }
}

impl Ros {
    /// Leaves the graph.
    pub async fn stop(self) {
        self.stop.send_replace(true);
        let thread = tokio::task::spawn_blocking(move || self.thread.join());
        let _ = tokio::time::timeout(GOODBYE, thread).await;
    }
}

/// Says what there is to say, tick by tick.
async fn speak(dds: &Dds, tap: &Tap, mut publisher: Publisher, mut stopped: watch::Receiver<bool>) {
    loop {
        let moments = tokio::select! {
            moments = tap.take() => moments,
            _ = stopped.wait_for(|stop| *stop) => return,
        };
        for moment in moments {
            for out in publisher.messages(&moment.sample) {
                dds.say(out, moment.at);
            }
        }
    }
}
