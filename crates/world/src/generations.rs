//! The robot generations that are built into the program.

use crate::vehicle::Profile;

/// A built-in robot generation.
#[derive(Debug, Clone, Copy)]
pub struct Generation {
    /// Name of the generation, such as `gen1`.
    pub name: &'static str,
    /// Function that returns the profile of the generation.
    pub profile: fn() -> Profile,
}

impl Profile {
    /// All built-in generations. A new generation needs a file `vehicles/<name>.json` and an entry
    /// here.
    pub const GENERATIONS: &[Generation] =
        &[Generation { name: Profile::DEFAULT_GENERATION, profile: Profile::gen1 }];

    /// The generation that the simulator uses if the user does not choose one.
    pub const DEFAULT_GENERATION: &str = "gen1";

    /// The built-in profile of a generation, by the name of the generation or by an alias of its
    /// car. The result is `None` if the name is unknown.
    pub fn named(name: &str) -> Option<Profile> {
        Profile::GENERATIONS.iter().map(|generation| (generation.profile)()).find(|p| p.is_named(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_generation_has_the_profile_of_its_name() {
        for Generation { name, profile } in Profile::GENERATIONS {
            assert_eq!(profile().generation, *name);
            assert_eq!(Profile::named(name), Some(profile()));
        }
        assert!(Profile::named(Profile::DEFAULT_GENERATION).is_some());
    }

    #[test]
    fn an_unknown_generation_has_no_profile() {
        assert_eq!(Profile::named("gen7"), None);
        assert_eq!(Profile::named(""), None);
    }
}
