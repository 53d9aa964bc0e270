//! The role of a person or program that uses the simulator.

/// What the sender of a request may do. A greater role may do everything that a smaller role may
/// do. Without tokens every request has the role [`Role::Teacher`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// May read: GET requests and event streams, except those that show programs or are for
    /// teachers.
    Spectator,
    /// May also read programs, drive the robot, step, switch or respawn, run evaluations, and hand
    /// in submissions.
    Student,
    /// May do everything.
    Teacher,
}

impl Role {
    /// The name of the role, as it is stored with a session.
    pub fn name(self) -> &'static str {
        match self {
            Role::Spectator => "spectator",
            Role::Student => "student",
            Role::Teacher => "teacher",
        }
    }

    /// The role with this name.
    pub fn from_name(name: &str) -> Option<Role> {
        [Role::Spectator, Role::Student, Role::Teacher].into_iter().find(|role| role.name() == name)
    }
}
