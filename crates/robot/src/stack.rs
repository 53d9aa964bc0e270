//! The stack: takes readings and commands, and stores the newest message of every topic.

use crate::attitude::Attitude;
use crate::audio::{Player, Playing, Sound, Stream};
use crate::drive::{Arbiter, Axis, Drive, Hold};
use crate::odometry::Odometry;
use crate::topics::{Imu, Joints, ODOM_RATE_HZ, Topics};
use chicane_world::Profile;
use chicane_world::readings::{Readings, TICK_S, Wheels, sample_at};
use std::sync::Arc;

/// A command to the car.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// Sets the speed in m/s. The speed expires after one second unless the command is sent again.
    Speed(f64),
    /// Sets a speed for a number of ticks. After these ticks the speed is zero.
    Hold {
        /// Speed, m/s.
        speed: f64,
        /// Duration in ticks.
        ticks: u64,
    },
    /// Sets the steering angle in rad, positive to the left. The angle stays in force until another
    /// command replaces it.
    Steering(f64),
    /// Sets speed and steering together. A value that is `None` is not changed.
    Drive {
        /// Speed in m/s. The speed expires after one second unless the command is sent again.
        speed: Option<f64>,
        /// Steering angle in rad, positive to the left.
        steering: Option<f64>,
    },
    /// A velocity command as used by navigation software.
    Twist {
        /// Forward speed, m/s.
        linear: f64,
        /// Turn rate in rad/s, positive to the left.
        angular: f64,
    },
    /// Sets the pan angle of the camera in rad, positive to the left.
    Pan(f64),
    /// Sets the tilt angle of the camera in rad, positive upwards.
    Tilt(f64),
    /// Reports that the client of a command disconnected. The command expires after at most 0.7
    /// simulated seconds, unless a newer command replaced it.
    Release {
        /// Axis of the command.
        axis: Axis,
        /// Serial number of the command.
        serial: u64,
    },
    /// Ends a command now, unless a newer command replaced it.
    End {
        /// Axis of the command.
        axis: Axis,
        /// Serial number of the command.
        serial: u64,
    },
    /// Starts a sound.
    Play(Box<Sound>),
    /// Opens a stream of PCM samples.
    Open(Stream),
    /// Adds samples to a stream.
    Pcm {
        /// Id of the stream.
        id: u64,
        /// 16-bit little-endian samples, channels interleaved.
        data: Arc<[u8]>,
    },
    /// Sets the volume of a sound.
    Volume {
        /// Id of the sound.
        id: u64,
        /// Volume, 0 to 1.
        volume: f64,
    },
    /// Stops a sound.
    Stop {
        /// Id of the sound.
        id: u64,
    },
    /// Stops every sound.
    StopAll,
}

/// The result of a command.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Done {
    /// The command of one axis is in force.
    Commanded {
        /// Serial number of the command.
        serial: u64,
        /// The value, clamped to the limits of the car.
        value: f64,
    },
    /// A [`Command::Drive`] or [`Command::Twist`] was applied. The value contains the commands of
    /// all axes that are now in force.
    Driving(Drive),
    /// A sound with this id started.
    SoundStarted(u64),
    /// The samples were added. The number is the playing time of all samples in the stream's
    /// buffer, in ticks.
    Buffered(u64),
    /// The command was carried out and has no result.
    Completed,
}

/// The reason why a command was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The maximum number of sounds is playing.
    #[error("too many sounds are playing; stop one first")]
    TooManySounds,
    /// No sound of this id is playing, or the sound that was to receive samples is not a stream.
    #[error("no sound with this id is playing")]
    NoSuchSound,
}

/// The on-board stack.
#[derive(Debug, Clone)]
pub struct Stack {
    profile: Arc<Profile>,
    arbiter: Arbiter,
    odometry: Odometry,
    attitude: Attitude,
    player: Player,
    topics: Topics,
    wheel_angles: [f64; 4],
    tick: u64,
}

impl Stack {
    /// The stack of a car that was just switched on.
    pub fn new(profile: Arc<Profile>) -> Stack {
        Stack {
            arbiter: Arbiter::new(&profile),
            odometry: Odometry::new(&profile),
            attitude: Attitude::new(),
            player: Player::default(),
            topics: Topics::default(),
            wheel_angles: [0.0; 4],
            tick: 0,
            profile,
        }
    }

    /// Processes the readings of a tick.
    pub fn sense(&mut self, readings: &Readings<'_>) {
        self.tick = readings.tick;
        let topics = &mut self.topics;
        if let Some(imu) = readings.imu {
            self.odometry.add_imu_sample(&imu, readings.tick);
            topics.imu = Some(Imu {
                sample: imu.sample,
                acceleration: imu.acceleration,
                angular_velocity: imu.angular_velocity,
                orientation: self.attitude.add_imu_sample(&imu, readings.tick),
            });
        }
        if let Some(scan) = readings.lidar {
            let mut laser = self.odometry.add_scan(scan, readings.tick);
            laser.sample = scan.sample;
            topics.laser = Some(laser);
            // The buffer of the last scan is reused, so that a tick allocates no memory.
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

    /// Carries out a command between two ticks.
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
                Done::Completed
            }
            Command::End { axis, serial } => {
                self.arbiter.end(axis, serial, tick);
                Done::Completed
            }
            Command::Play(sound) => {
                Done::SoundStarted(self.player.play(*sound, tick).ok_or(Refusal::TooManySounds)?)
            }
            Command::Open(stream) => {
                Done::SoundStarted(self.player.open(stream, tick).ok_or(Refusal::TooManySounds)?)
            }
            Command::Pcm { id, data } => {
                Done::Buffered(self.player.pcm(id, data, tick).ok_or(Refusal::NoSuchSound)?)
            }
            Command::Volume { id, volume } => completed(self.player.set_volume(id, volume))?,
            Command::Stop { id } => completed(self.player.stop(id))?,
            Command::StopAll => {
                self.player.stop_all();
                Done::Completed
            }
        };
        Ok(done)
    }

    /// Removes all commands and stops all sounds. The car then stops and its camera looks ahead.
    /// The odometry continues.
    pub fn clear_commands(&mut self) {
        self.arbiter.clear();
        self.player.stop_all();
    }

    /// The actuator commands until the next tick.
    pub fn drive(&self) -> Drive {
        self.arbiter.at(self.tick)
    }

    /// The state of a timed speed command.
    pub fn hold(&self, serial: u64) -> Hold {
        self.arbiter.hold(serial, self.tick)
    }

    /// Writes the tick, the commands in force, and the newest messages of odometry and joints as
    /// text, for comparisons. Equal texts mean equal values, because the text of a number is exact.
    pub fn write_state(&self, out: &mut impl std::fmt::Write) -> std::fmt::Result {
        let Topics { odom, laser, joints, .. } = &self.topics;
        write!(out, "{} {:?} {odom:?} {laser:?} {joints:?}", self.tick, self.arbiter)
    }

    /// The newest message of every topic.
    pub fn topics(&self) -> &Topics {
        &self.topics
    }

    /// The audio player.
    pub fn player(&self) -> &Player {
        &self.player
    }

    /// The sounds that are playing, in the order of their start.
    pub fn playing(&self) -> Vec<Playing> {
        self.player.playing(self.tick)
    }

    /// Returns the audio events since the last call.
    pub fn take_audio_events(&mut self) -> Vec<crate::audio::AudioEvent> {
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

fn completed(found: bool) -> Result<Done, Refusal> {
    if found { Ok(Done::Completed) } else { Err(Refusal::NoSuchSound) }
}
