//! The stack: one way in for readings, one for commands, and the newest of everything to read.

use crate::audio::{Player, Playing, Sound, Stream};
use crate::drive::{Arbiter, Axis, Drive, Hold};
use crate::odometry::Odometry;
use crate::topics::{Joints, ODOM_RATE_HZ, Topics};
use chicane_world::Profile;
use chicane_world::readings::{Readings, TICK_S, Wheels, sample_at};
use std::sync::Arc;

/// Something that the car is asked to do.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// m/s, for one second unless it is refreshed.
    Speed(f64),
    /// m/s for so many ticks, then none.
    Hold {
        /// m/s.
        speed: f64,
        /// How long.
        ticks: u64,
    },
    /// rad, + is left, until something else is asked for.
    Steering(f64),
    /// Both at once; what is omitted stays as it was.
    Drive {
        /// m/s, for one second unless it is refreshed.
        speed: Option<f64>,
        /// rad, + is left.
        steering: Option<f64>,
    },
    /// As navigation software says it.
    Twist {
        /// m/s ahead.
        linear: f64,
        /// rad/s, + is left.
        angular: f64,
    },
    /// Camera, rad, + is left.
    Pan(f64),
    /// Camera, rad, + is up.
    Tilt(f64),
    /// The client that gave this command went away: it ends soon unless a newer one came.
    Release {
        /// Of which axis.
        axis: Axis,
        /// Which command.
        serial: u64,
    },
    /// A command ends now unless a newer one came.
    End {
        /// Of which axis.
        axis: Axis,
        /// Which command.
        serial: u64,
    },
    /// Starts a sound.
    Play(Box<Sound>),
    /// Opens a stream of samples.
    Open(Stream),
    /// Samples of a stream.
    Pcm {
        /// Which stream.
        id: u64,
        /// 16 bits a sample, little end first, channels by turns.
        data: Arc<[u8]>,
    },
    /// Makes a sound louder or quieter.
    Volume {
        /// Which sound.
        id: u64,
        /// 0 to 1.
        volume: f64,
    },
    /// Stops a sound.
    Stop {
        /// Which sound.
        id: u64,
    },
    /// Stops every sound.
    StopAll,
}

/// What came of a command.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Done {
    /// A command of one axis is in force.
    Commanded {
        /// Its number.
        serial: u64,
        /// Brought within the limits of the car.
        value: f64,
    },
    /// Several axes were commanded; this is what is in force now.
    Driving(Drive),
    /// A sound began.
    Sounding(u64),
    /// Samples were taken; what came of the stream is so many ticks ahead of time.
    Ahead(u64),
    /// Done, and nothing to say about it.
    Well,
}

/// Why a command was not carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Too many sounds play.
    #[error("too many sounds play at once")]
    TooManySounds,
    /// No sound of this number plays.
    #[error("no such sound")]
    NoSuchSound,
}

/// The on-board stack.
#[derive(Debug, Clone)]
pub struct Stack {
    profile: Arc<Profile>,
    arbiter: Arbiter,
    odometry: Odometry,
    player: Player,
    topics: Topics,
    wheel_angles: [f64; 4],
    tick: u64,
}

impl Stack {
    /// A car that was just switched on.
    pub fn new(profile: Arc<Profile>) -> Stack {
        Stack {
            arbiter: Arbiter::new(&profile),
            odometry: Odometry::new(&profile),
            player: Player::default(),
            topics: Topics::default(),
            wheel_angles: [0.0; 4],
            tick: 0,
            profile,
        }
    }

    /// Takes the readings of a tick in.
    pub fn sense(&mut self, readings: &Readings<'_>) {
        self.tick = readings.tick;
        let topics = &mut self.topics;
        if let Some(imu) = readings.imu {
            self.odometry.feel(&imu, readings.tick);
            topics.imu = Some(imu);
        }
        if let Some(scan) = readings.lidar {
            let mut laser = self.odometry.look(scan, readings.tick);
            laser.sample = scan.sample;
            topics.laser = Some(laser);
            // Into the room that is there.
            let kept = topics.scan.get_or_insert_default();
            kept.sample = scan.sample;
            kept.ranges.clone_from(&scan.ranges);
        }
        if let Some(battery) = readings.battery {
            topics.battery = Some(battery);
        }
        for (angle, spin) in self.wheel_angles.iter_mut().zip(readings.wheels.spin) {
            *angle += spin * TICK_S;
        }
        if let Some(sample) = sample_at(readings.tick, ODOM_RATE_HZ) {
            let mut odom = self.odometry.at(readings.tick);
            odom.sample = sample;
            self.topics.odom = Some(odom);
            self.topics.joints = Some(self.joints(sample, &readings.wheels));
        }
        self.player.tick(readings.tick);
    }

    /// Carries a command out, between two ticks.
    pub fn apply(&mut self, command: Command) -> Result<Done, Refusal> {
        let tick = self.tick;
        let commanded = |(serial, value)| Done::Commanded { serial, value };
        let done = match command {
            Command::Speed(value) => commanded(self.arbiter.speed(value, tick)),
            Command::Hold { speed, ticks } => {
                commanded(self.arbiter.set(Axis::Speed, speed, Some(tick + ticks)))
            }
            Command::Steering(value) => commanded(self.arbiter.set(Axis::Steering, value, None)),
            Command::Drive { speed, steering } => {
                if let Some(speed) = speed {
                    self.arbiter.speed(speed, tick);
                }
                if let Some(steering) = steering {
                    self.arbiter.set(Axis::Steering, steering, None);
                }
                Done::Driving(self.drive())
            }
            Command::Twist { linear, angular } => {
                self.arbiter.twist(linear, angular, tick);
                Done::Driving(self.drive())
            }
            Command::Pan(value) => commanded(self.arbiter.set(Axis::Pan, value, None)),
            Command::Tilt(value) => commanded(self.arbiter.set(Axis::Tilt, value, None)),
            Command::Release { axis, serial } => {
                self.arbiter.release(axis, serial, tick);
                Done::Well
            }
            Command::End { axis, serial } => {
                self.arbiter.end(axis, serial, tick);
                Done::Well
            }
            Command::Play(sound) => {
                Done::Sounding(self.player.play(*sound, tick).ok_or(Refusal::TooManySounds)?)
            }
            Command::Open(stream) => {
                Done::Sounding(self.player.open(stream, tick).ok_or(Refusal::TooManySounds)?)
            }
            Command::Pcm { id, data } => {
                Done::Ahead(self.player.pcm(id, data, tick).ok_or(Refusal::NoSuchSound)?)
            }
            Command::Volume { id, volume } => well(self.player.set_volume(id, volume))?,
            Command::Stop { id } => well(self.player.stop(id))?,
            Command::StopAll => {
                self.player.stop_all();
                Done::Well
            }
        };
        Ok(done)
    }

    /// No command lives on: the car is to stand, look ahead and be silent. Odometry goes on.
    pub fn calm(&mut self) {
        self.arbiter.clear();
        self.player.stop_all();
    }

    /// What the actuators are asked for until the next tick.
    pub fn drive(&self) -> Drive {
        self.arbiter.at(self.tick)
    }

    /// What became of a speed that was to be held.
    pub fn hold(&self, serial: u64) -> Hold {
        self.arbiter.hold(serial, self.tick)
    }

    /// The newest of everything.
    pub fn topics(&self) -> &Topics {
        &self.topics
    }

    /// The loudspeaker.
    pub fn player(&self) -> &Player {
        &self.player
    }

    /// What plays now, in the order in which it began.
    pub fn playing(&self) -> Vec<Playing> {
        self.player.playing(self.tick)
    }

    /// What happened to sounds since this was last asked.
    pub fn take_audio_events(&mut self) -> Vec<crate::audio::Event> {
        self.player.take_events()
    }

    fn joints(&self, sample: u64, wheels: &Wheels) -> Joints {
        let turn = libm::tan(wheels.steering) / self.profile.wheelbase_m;
        let wheel = |i: usize| {
            let beside = self.profile.wheel_position(i)[1];
            libm::atan(self.profile.wheelbase_m * turn / (1.0 - beside * turn))
        };
        Joints {
            sample,
            tick: self.tick,
            wheel_angles: self.wheel_angles,
            wheel_spins: wheels.spin,
            steering: wheels.steering,
            front_wheels: [wheel(0), wheel(1)],
            pan: wheels.pan,
            tilt: wheels.tilt,
            speed: wheels.spin.iter().sum::<f64>() / 4.0 * self.profile.wheel_radius_m,
        }
    }
}

fn well(found: bool) -> Result<Done, Refusal> {
    if found { Ok(Done::Well) } else { Err(Refusal::NoSuchSound) }
}
