//! Publishes the simulator's own channels: the live state, the scene, the objects and the transform
//! of the odometry. Also sends the simulated time and the changed parameters.
//!
//! All values come from the published view. A slow client gets only the newest value.

use super::channels::Channel;
use super::hub::Hub;
use super::parameters::ParameterSet;
use super::scene::{self, WORLD_FRAME};
use chicane_host::Host;
use chicane_host::driver::{Published, WorldView};
use chicane_ros::cdr;
use chicane_ros::messages::{Header, Quaternion, TFMessage, Time, Transform, TransformStamped, Vector3};
use chicane_world::{Pose, Profile};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

/// Shortest time between two messages of the live state, the objects, or the time. For a new client
/// or subscription, and after a restart of the world, these messages are sent at once.
const INTERVAL: Duration = Duration::from_millis(33);
/// Name of the frame whose origin is the pose at which the odometry started. The crate `ros` uses
/// the same name.
const ODOM_FRAME: &str = "odom";

/// Publishes the channels while there are clients, until the simulator stops.
pub(crate) async fn watch_view(host: &Host, hub: &Hub) {
    let mut clients = hub.clients();
    loop {
        tokio::select! {
            () = host.simulator.ended() => return,
            found = clients.wait_for(|count| *count > 0) => if found.is_err() { return },
        }
        tokio::select! {
            () = host.simulator.ended() => return,
            () = publish_views(host, hub) => {}
        }
    }
}

/// Publishes new views until there are no clients.
async fn publish_views(host: &Host, hub: &Hub) {
    let (mut clients, mut view) = (hub.clients(), host.simulator.watch());
    let first = hub.take_first_view().unwrap_or_else(|| host.simulator.now());
    let mut publisher = ViewPublisher::new(hub, &host.profile, first);
    let mut is_new_client = true;
    loop {
        {
            let count = clients.borrow_and_update();
            if *count == 0 {
                return;
            }
            // A client may subscribe at the same moment as a new view arrives, or while a view is
            // published. `select!` can then report the view only, and `borrow_and_update` marks the
            // new subscription as seen. Therefore the loop checks `has_changed` too.
            is_new_client |= count.has_changed();
        }
        let now = Arc::clone(&view.borrow_and_update());
        publisher.publish(now, is_new_client, Instant::now());
        is_new_client = false;
        tokio::select! {
            changed = clients.changed() => match changed {
                Ok(()) => is_new_client = true,
                Err(_) => return,
            },
            changed = view.changed() => if changed.is_err() { return },
            () = sleep_until(publisher.due), if publisher.is_waiting => {}
        }
    }
}

/// Publishes views. It remembers what was already sent to the clients.
struct ViewPublisher<'a> {
    hub: &'a Hub,
    profile: &'a Profile,
    /// The last view.
    last: Arc<Published>,
    /// Pose of the frame `odom` in the world; `None` before the first odometry of a world.
    world_from_odom: Option<Pose>,
    /// The live state, the objects and the time are not published before this time, except for a
    /// new client or after a restart of the world.
    due: Instant,
    /// Whether a view was not published because of `due`.
    is_waiting: bool,
}

impl<'a> ViewPublisher<'a> {
    fn new(hub: &'a Hub, profile: &'a Profile, now: Arc<Published>) -> ViewPublisher<'a> {
        let due = Instant::now();
        ViewPublisher { hub, profile, last: now, world_from_odom: None, due, is_waiting: false }
    }

    /// Publishes a view: the parameters that have changed, a new transform, and at most once per
    /// [`INTERVAL`] the live state, the objects and the time. If `for_new_client` is true or the
    /// world was restarted, this function publishes all channels at once, including the scene.
    fn publish(&mut self, now: Arc<Published>, for_new_client: bool, at: Instant) {
        let changed = ParameterSet::changed(&self.last, &now);
        if !changed.is_empty() {
            self.hub.change_parameters(changed);
        }
        let is_restarted = now.assets_version != self.last.assets_version || tick(&now) < tick(&self.last);
        if is_restarted {
            self.world_from_odom = None;
        }
        let publish_all = for_new_client || is_restarted;
        if let Some(seen) = &now.running {
            if publish_all {
                self.hub.send(Channel::Scene, seen.snapshot.tick, || {
                    json(&scene::fixed(&seen.served.world, seen.snapshot.time_s))
                });
            }
            self.publish_transform(seen, publish_all);
        }
        if publish_all || at >= self.due {
            self.publish_state(&now);
            (self.due, self.is_waiting) = (at + INTERVAL, false);
        } else {
            self.is_waiting = true;
        }
        self.last = now;
    }

    fn publish_state(&self, now: &Published) {
        self.hub.send_time(tick(now));
        self.hub.send(Channel::State, tick(now), || now.state_json());
        if let Some(seen) = &now.running {
            self.hub.send(Channel::Objects, seen.snapshot.tick, || {
                json(&scene::moving(&seen.served.world, &seen.snapshot, self.profile))
            });
        }
    }

    /// Publishes where the frame `odom` is in the world, so that viewers can show sensors and the
    /// scene together. The first transform of a world is computed from the newest odometry. Later
    /// transforms are computed only at the ticks of the odometry, because the pose and its estimate
    /// are only comparable at the same tick.
    fn publish_transform(&mut self, seen: &WorldView, again: bool) {
        let Some(odom) = &seen.robot.odom else { return };
        let is_new = odom.tick == seen.snapshot.tick || self.world_from_odom.is_none();
        if is_new {
            let odom_from_car = Pose::from_xyz_yaw(odom.x, odom.y, 0.0, odom.yaw);
            self.world_from_odom = Some(seen.snapshot.vehicle.pose.then(&odom_from_car.inverse()));
        }
        if let Some(pose) = self.world_from_odom.filter(|_| is_new || again) {
            let tick = seen.snapshot.tick;
            self.hub.send(Channel::Tf, tick, || cdr::encode(&transform(&pose, tick)).into());
        }
    }
}

/// The tick of a view; 0 if no world runs.
fn tick(now: &Published) -> u64 {
    now.running.as_ref().map_or(0, |seen| seen.snapshot.tick)
}

fn json(update: &scene::SceneUpdate) -> bytes::Bytes {
    serde_json::to_vec(update).unwrap_or_default().into()
}

fn transform(pose: &Pose, tick: u64) -> TFMessage {
    let (at, rotation) = (pose.position, pose.rotation);
    let transform = Transform {
        translation: Vector3 { x: at.x, y: at.y, z: at.z },
        rotation: Quaternion { x: rotation.x, y: rotation.y, z: rotation.z, w: rotation.w },
    };
    let header = Header { stamp: Time::of_tick(tick), frame_id: WORLD_FRAME.to_owned() };
    TFMessage {
        transforms: vec![TransformStamped { header, child_frame_id: ODOM_FRAME.to_owned(), transform }],
    }
}
