//! The numbers of one step: reward, end of the episode, and the parameters of a reward function.

/// The numbers of one step of one environment. The constants from [`Numbers::REWARD`] to
/// [`Numbers::LAP_DONE`] are the indices of the numbers that other code uses.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Numbers(pub [f64; Numbers::COUNT]);

impl Numbers {
    /// Names of the numbers, in their order.
    pub const NAMES: [&str; Numbers::COUNT] = [
        "reward",
        "terminated",
        "truncated",
        "ended",
        "progress",
        "time",
        "speed",
        "distance_from_center",
        "x",
        "y",
        "heading",
        "steering",
        "action_speed",
        "action_steering",
        "advance",
        "is_left_of_center",
        "track_heading",
        "track_width",
        "track_length",
        "off_track",
        "crashed",
        "lap_done",
        "closest_waypoint",
        "steps",
    ];
    /// How many numbers there are.
    pub const COUNT: usize = 24;
    /// The default reward.
    pub const REWARD: usize = 0;
    /// 1 if the episode is terminated.
    pub const TERMINATED: usize = 1;
    /// 1 if the episode is truncated.
    pub const TRUNCATED: usize = 2;
    /// Why the episode ended, as an index of [`Numbers::ENDS`].
    pub const ENDED: usize = 3;
    /// Laps since the start of the episode.
    pub const PROGRESS: usize = 4;
    /// Simulated seconds since the start of the episode.
    pub const TIME: usize = 5;
    /// Speed of the car, m/s.
    pub const SPEED: usize = 6;
    /// Distance of the car's centre from the centre line, m.
    pub const DISTANCE: usize = 7;
    /// Position of the car along x, m.
    pub const X: usize = 8;
    /// Position of the car along y, m.
    pub const Y: usize = 9;
    /// Yaw of the car, rad.
    pub const HEADING: usize = 10;
    /// Steering angle of the car, rad.
    pub const STEERING: usize = 11;
    /// Metres along the centre line in this step.
    pub const ADVANCE: usize = 14;
    /// 1 if the car's centre is outside the road.
    pub const OFF_TRACK: usize = 19;
    /// 1 if the car touched an object in this step.
    pub const CRASHED: usize = 20;
    /// 1 if the car has driven all laps.
    pub const LAP_DONE: usize = 21;
    /// Why an episode ended. The first entry means that the episode has not ended.
    pub const ENDS: [&str; 5] = ["", "lap", "off_track", "collision", "time"];

    /// Adds the default reward and the end of the episode, both of which follow from the other
    /// numbers.
    pub(crate) fn judge(&mut self, time_limit_s: f64) {
        let number = &mut self.0;
        let is = |value: f64| value != 0.0;
        let (lap, off, crashed) =
            (is(number[Self::LAP_DONE]), is(number[Self::OFF_TRACK]), is(number[Self::CRASHED]));
        let terminated = lap || off || crashed;
        let truncated = !terminated && number[Self::TIME] >= time_limit_s - 1e-9;
        let ends = [(crashed, 3), (off, 2), (lap, 1), (truncated, 4)];
        let ended = ends.iter().find(|(is, _)| *is).map_or(0, |(_, end)| *end);
        let mut reward = number[Self::ADVANCE];
        if lap {
            reward += 10.0;
        }
        if off || crashed {
            reward -= 5.0;
        }
        number[Self::REWARD] = reward;
        number[Self::TERMINATED] = f64::from(terminated);
        number[Self::TRUNCATED] = f64::from(truncated);
        number[Self::ENDED] = f64::from(ended);
    }

    /// Whether the episode has ended.
    pub(crate) fn has_ended(&self) -> bool {
        self.0[Self::ENDED] != 0.0
    }
}

impl Default for Numbers {
    fn default() -> Numbers {
        Numbers([0.0; Numbers::COUNT])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_collision_is_the_first_reason_and_time_the_last() {
        let ended = |set: &[usize], time: f64| {
            let mut numbers = Numbers::default();
            set.iter().for_each(|i| numbers.0[*i] = 1.0);
            numbers.0[Numbers::TIME] = time;
            numbers.0[Numbers::ADVANCE] = 0.25;
            numbers.judge(2.0);
            let end = Numbers::ENDS[numbers.0[Numbers::ENDED] as usize];
            (end, numbers.0[Numbers::REWARD], numbers.0[Numbers::TRUNCATED])
        };
        assert_eq!(ended(&[], 1.9), ("", 0.25, 0.0));
        assert_eq!(ended(&[], 2.0), ("time", 0.25, 1.0));
        assert_eq!(ended(&[Numbers::LAP_DONE], 2.0), ("lap", 10.25, 0.0));
        assert_eq!(ended(&[Numbers::LAP_DONE, Numbers::OFF_TRACK], 0.0), ("off_track", 5.25, 0.0));
        assert_eq!(ended(&[Numbers::OFF_TRACK, Numbers::CRASHED], 0.0), ("collision", -4.75, 0.0));
    }
}
