//! The option `--robot`: the profile of the car that a command simulates.

use chicane_world::Profile;
use clap::Args;

/// The robot of a simulation.
#[derive(Debug, Clone, Args)]
pub(crate) struct RobotArgs {
    /// Robot: the name of a built-in generation, such as gen1, or a profile file
    #[arg(
        long,
        value_name = "GENERATION|FILE",
        env = "CHICANE_ROBOT",
        default_value = Profile::DEFAULT_GENERATION
    )]
    pub(crate) robot: String,
}
