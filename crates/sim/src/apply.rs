//! Applies commands to a simulation. A command is applied completely or refused.

use crate::command::{Applied, Command, How, NotMovableWhy, Refusal, Who};
use crate::lights::Lamp;
use crate::motion::{Motion, UprightPose};
use crate::physics::{Car, SUBSTEP_S};
use crate::sim::Sim;
use chicane_world::Pose;
use std::sync::Arc;

impl Sim {
    /// Applies a command completely, or returns a refusal and changes nothing.
    pub fn apply(&mut self, command: Command) -> Result<Applied, Refusal> {
        command.check()?;
        match command {
            Command::Reset => Ok(Applied::Reset(self.reset())),
            Command::SetLight { name, red } => self.set_light(name, red),
            Command::Place { who, x, y, z, yaw, how } => {
                let object = match who {
                    Who::Vehicle => None,
                    Who::Object(name) => Some(self.movable(name)?),
                };
                let from = self.upright(object);
                let to = self.on_ground(
                    object,
                    UprightPose {
                        x: x.unwrap_or(from.x),
                        y: y.unwrap_or(from.y),
                        z: z.unwrap_or(from.z),
                        yaw: yaw.map_or(from.yaw, chicane_world::pose::wrap_angle),
                    },
                );
                Ok(Applied::Placed(self.place(object, self.on_ground(object, from), to, how, yaw.is_some())))
            }
        }
    }

    /// Copies the state of each light from the light of the same name in an earlier simulation of
    /// this world. A yellow light becomes red. A red light with a running timer becomes green,
    /// because the timer is not copied and the light would otherwise stay red.
    pub fn keep_lights_of(&mut self, earlier: &Sim) {
        let names = earlier.world.lights().map(|(_, o)| o.name.as_str());
        let waits = |i: usize| earlier.state.varied.red_ticks.get(i).is_some_and(|ticks| *ticks > 0);
        let lamps = earlier.state.lamps.iter().enumerate();
        let lamps = lamps.map(|(i, lamp)| if waits(i) { Lamp::Green } else { *lamp });
        let old: Vec<(&str, Lamp)> = names.zip(lamps).collect();
        let was = |name: &str| old.iter().find(|(n, _)| *n == name).map(|(_, lamp)| lamp.after_respawn());
        self.set_lamps(|name| was(name).unwrap_or_default());
    }

    /// Sets the lights for which `is_red` returns true to red and all others to green, without a
    /// yellow phase.
    pub fn start_with_red(&mut self, is_red: impl Fn(&str) -> bool) {
        self.set_lamps(|name| if is_red(name) { Lamp::Red } else { Lamp::Green });
    }

    fn set_lamps(&mut self, lamp_of: impl Fn(&str) -> Lamp) {
        for (lamp, (_, light)) in self.state.lamps.iter_mut().zip(self.world.lights()) {
            *lamp = lamp_of(&light.name);
        }
        self.state.varied.red_ticks.fill(0);
    }

    fn reset(&mut self) -> Vec<usize> {
        let initial = Arc::clone(&self.initial);
        self.restore_engine(&initial.engine, &initial.version);
        let state = &mut self.state;
        state.car = Car::default();
        state.imu.set_at_rest(state.engine.car().pose.rotation);
        state.lamps.fill(Lamp::Green);
        state.varied.reset();
        state.car_motion = None;
        state.motions.fill(None);
        self.state.touched.fill(false);
        let objects = self.world.objects.iter().enumerate();
        objects.filter(|(_, o)| o.movable).map(|(i, _)| i).collect()
    }

    fn set_light(&mut self, name: String, red: bool) -> Result<Applied, Refusal> {
        let Some(i) = self.world.lights().position(|(_, o)| o.name == name) else {
            return Err(Refusal::NoSuchLight { name });
        };
        match self.state.lamps[i].request(red) {
            Ok(lamp) => {
                self.state.lamps[i] = lamp;
                if let Some(ticks) = self.state.varied.red_ticks.get_mut(i) {
                    *ticks = 0;
                }
                Ok(Applied::Light(lamp))
            }
            Err(_) => Err(Refusal::YellowPhase { name }),
        }
    }

    fn movable(&self, name: String) -> Result<usize, Refusal> {
        match self.world.object(&name) {
            Some(i) if self.world.objects[i].movable => return Ok(i),
            Some(_) => return Err(Refusal::NotMovable { name, why: NotMovableWhy::Wall }),
            None => {}
        }
        match self.world.fixed_names.iter().find(|f| f.name == name) {
            Some(f) if f.is_track => Err(Refusal::NotMovable { name, why: NotMovableWhy::Track }),
            Some(_) => Err(Refusal::NotMovable { name, why: NotMovableWhy::Scenery }),
            None => Err(Refusal::NoSuchObject { name }),
        }
    }

    fn upright(&self, object: Option<usize>) -> UprightPose {
        UprightPose::of(&match object {
            None => self.state.engine.car().pose,
            Some(i) => self.state.engine.object_pose(i),
        })
    }

    /// Returns the pose with a corrected height. The car always stands on the ground, and an object
    /// that would be below the ground is raised onto the ground.
    fn on_ground(&self, object: Option<usize>, mut at: UprightPose) -> UprightPose {
        let ground = self.world.ground.z;
        at.z = match object.map(|i| &self.world.objects[i]) {
            None => ground,
            Some(o) => at.z.max(ground - (o.centre.z - 0.5 * o.size.z)),
        };
        at
    }

    fn place(
        &mut self,
        object: Option<usize>,
        from: UprightPose,
        to: UprightPose,
        how: How,
        yaw_given: bool,
    ) -> Pose {
        let motion = match how {
            How::Over { duration_s } if duration_s > SUBSTEP_S => Some(Motion::over(from, to, duration_s)),
            How::AtOnce | How::Over { .. } => None,
            How::Along { path, speed, repeat } => Some(Motion::along(to, &path, speed, repeat, !yaw_given)),
        };
        let start = match motion {
            Some(Motion::Over { .. }) => from.pose(),
            _ => to.pose(),
        };
        self.teleport(object, &start);
        if motion.is_some() {
            self.state.engine.start_carrying(object);
        }
        match object {
            None => self.state.car_motion = motion,
            Some(i) => self.state.motions[i] = motion,
        }
        start
    }

    /// Places the car (`None`) or an object at rest, and clears its contacts. The IMU does not
    /// measure the jump as an acceleration.
    pub(crate) fn teleport(&mut self, object: Option<usize>, pose: &Pose) {
        self.put(object, pose);
        match object {
            None => {
                self.state.imu.set_at_rest(self.state.engine.car().pose.rotation);
                self.state.touched.fill(false);
            }
            Some(i) => self.state.touched[i] = false,
        }
    }

    /// Places the car (`None`) or an object at rest. Keeps the state of the IMU and the contacts.
    pub(crate) fn put(&mut self, object: Option<usize>, pose: &Pose) {
        self.engine_changed();
        match object {
            None => {
                self.state.engine.put_car(pose);
                self.state.car.reset_tyres_and_motor();
            }
            Some(i) => self.state.engine.put_object(i, pose, self.world.objects[i].is_static),
        }
    }
}
