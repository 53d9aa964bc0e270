//! The robot's topics on a ROS 2 graph.
//!
//! Theory of operation. The sim thread hands every tick to a tap and waits for nobody. One thread
//! of our own empties it, makes the messages of each tick and gives them to the DDS participant,
//! which has threads of its own; a task draws pictures while someone wants them; another takes commands in,
//! one at a time, and always the newest. What is said is in `chicane_ros`, how it is carried in `dds`, and
//! nothing outside this folder knows either. For programs without ROS there is `bridge`, which stands by itself.

pub(crate) mod bridge;
mod commands;
mod dds;
mod graph;
mod network;
mod pictures;

use crate::camera::Camera;
use crate::driver::{Simulator, Tap};
use chicane_ros::{Direction, Publisher, Topic};
use chicane_world::Profile;
use dds::Dds;
use std::fmt;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::watch;

/// How long the others are told goodbye.
const GOODBYE: Duration = Duration::from_millis(500);

/// Where ROS 2 is spoken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RosOptions {
    /// Domain, up to [`RosOptions::LAST_DOMAIN`].
    pub domain: u16,
    /// Network interface, by name or IPv4 address; this machine alone if omitted.
    pub network: Option<String>,
}

impl RosOptions {
    /// Higher ones have no ports.
    pub const LAST_DOMAIN: u16 = 232;

    /// The domain that the environment of ROS 2 programs says.
    pub fn usual_domain(variable: Option<&str>) -> Result<u16, String> {
        let Some(text) = variable.map(str::trim).filter(|text| !text.is_empty()) else { return Ok(0) };
        let domain = text.parse().ok().filter(|domain| *domain <= RosOptions::LAST_DOMAIN);
        domain.ok_or_else(|| {
            format!("ROS_DOMAIN_ID is {text:?}, but must be a number from 0 to {}", RosOptions::LAST_DOMAIN)
        })
    }
}

impl fmt::Display for RosOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "domain {}, ", self.domain)?;
        match &self.network {
            Some(network) => write!(f, "on {network}, where anyone can drive the car"),
            None => f.write_str("on this machine alone"),
        }
    }
}

/// A place in a graph, where nothing was said yet.
pub(crate) struct Joined(Dds);

/// The robot in a graph.
pub(crate) struct Ros {
    thread: JoinHandle<()>,
    stop: watch::Sender<bool>,
}

/// Takes a place in a graph.
pub(crate) async fn join(options: RosOptions) -> Result<Joined, String> {
    let joined = tokio::task::spawn_blocking(move || Dds::join(&options)).await;
    joined.map_err(|e| e.to_string())?.map(Joined)
}

impl Joined {
    /// Speaks and listens from now on.
    pub(crate) fn start(
        self,
        simulator: &Simulator,
        camera: &Camera,
        profile: &Arc<Profile>,
    ) -> std::io::Result<Ros> {
        let dds = Arc::new(self.0);
        let (stop, stopped) = watch::channel(false);
        let heard: Vec<_> = Topic::ALL.into_iter().filter(|t| t.direction() == Direction::In).collect();
        tokio::spawn(commands::obey(dds.hear(&heard), simulator.clone(), stopped.clone()));
        tokio::spawn(pictures::draw(Arc::clone(&dds), camera.clone(), simulator.tap(), stopped.clone()));
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
    pub(crate) async fn stop(self) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_domain_of_the_environment_is_checked() {
        assert_eq!(RosOptions::usual_domain(None), Ok(0));
        assert_eq!(RosOptions::usual_domain(Some("")), Ok(0));
        assert_eq!(RosOptions::usual_domain(Some(" 42 ")), Ok(42));
        for bad in ["233", "-1", "many"] {
            let error = RosOptions::usual_domain(Some(bad)).expect_err("refused");
            assert!(error.contains("from 0 to 232"), "{error}");
        }
    }
}
