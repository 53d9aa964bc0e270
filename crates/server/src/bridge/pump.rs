//! From the sim thread's ticks to those who listen.
//!
//! A tap is open while someone listens to the robot, and closed otherwise. One task empties it and writes
//! what is wanted; another draws pictures, the newest frame only, so that nothing else waits for them.

use super::hub::Hub;
use crate::state::App;
use chicane_host::camera::Camera;
use chicane_host::driver::{Exposure, Published};
use chicane_host::image_topics::{FrameToPublish, publish_frame};
use chicane_ros::messages::{Clock, Time};
use chicane_ros::{Message, Outgoing, Publisher, Sample, Topic};
use std::sync::Arc;
use tokio::sync::watch;

/// A frame that was not drawn yet: the world, the tick, how bright.
type Undrawn = Option<(Arc<Exposure>, u64, f64)>;

/// Speaks to whoever listens, until the simulator ends.
pub(crate) async fn pump(app: App) {
    let mut listening = app.bridge.listening();
    loop {
        tokio::select! {
            () = app.simulator.ended() => return,
            some = listening.wait_for(|all| *all > 0) => if some.is_err() { return },
        }
        let (frames, newest) = watch::channel(None);
        let drawing = tokio::spawn(draw(Arc::clone(&app.bridge), app.camera.clone(), newest));
        tokio::select! {
            () = app.simulator.ended() => {}
            () = speak(&app, &frames) => {}
        }
        drawing.abort();
    }
}

/// Says what there is to say, tick by tick, until nobody listens any more.
async fn speak(app: &App, frames: &watch::Sender<Undrawn>) {
    let hub = &app.bridge;
    let mut listening = hub.listening();
    // Opened first: what comes from here on is in it, and what was before is published.
    let tap = app.simulator.tap();
    let mut speaker = Speaker::new(app, &app.simulator.now());
    let mut come = true;
    while !come || *listening.borrow_and_update() > 0 {
        if come {
            hub.welcome(|topic| speaker.kept(topic));
        }
        come = false;
        tokio::select! {
            changed = listening.changed() => match changed {
                Ok(()) => come = true,
                Err(_) => return,
            },
            moments = tap.take() => for moment in moments {
                for out in speaker.messages(&moment.sample) {
                    hub.say(out.topic, &out.message);
                }
                if let Some((of, brightness)) = &moment.frame {
                    frames.send_replace(Some((Arc::clone(of), moment.sample.tick, *brightness)));
                }
            },
        }
    }
}

/// What was said last.
struct Speaker {
    publisher: Publisher,
    /// Epoch and tick: nothing is said twice, and time goes ahead.
    last: (u64, u64),
    /// Whether there is a world, and so a time.
    begun: bool,
}

impl Speaker {
    fn new(app: &App, now: &Published) -> Speaker {
        let tick = now.running.as_ref().map(|seen| seen.snapshot.tick);
        let last = (now.epoch, tick.unwrap_or(0));
        let mut publisher = Publisher::new(Arc::clone(&app.profile));
        // It knows from now on what stays true.
        publisher.messages(&Sample::epoch_only(last.1, last.0));
        Speaker { publisher, last, begun: tick.is_some() }
    }

    fn messages(&mut self, sample: &Sample) -> Vec<Outgoing> {
        let at = (sample.epoch, sample.tick);
        if self.begun && at <= self.last {
            return Vec::new();
        }
        (self.last, self.begun) = (at, true);
        self.publisher.messages(sample)
    }

    /// What holds until something else is said.
    fn kept(&self, topic: Topic) -> Option<Message> {
        match topic {
            Topic::Clock => self.begun.then(|| Clock { clock: Time::of_tick(self.last.1) }.into()),
            _ => self.publisher.latched().into_iter().find(|out| out.topic == topic).map(|out| out.message),
        }
    }
}

/// Draws the newest frame again and again, while someone wants it.
async fn draw(hub: Arc<Hub>, camera: Camera, mut newest: watch::Receiver<Undrawn>) {
    while newest.changed().await.is_ok() {
        let Some((of, tick, brightness)) = newest.borrow_and_update().clone() else { continue };
        let say = |out: Outgoing| hub.say(out.topic, &out.message);
        let frame = FrameToPublish { exposure: &of, tick, brightness };
        publish_frame(&camera, frame, |topic| hub.is_heard(topic), say).await;
    }
}
