//! The role of a person or program that uses the simulator.

/// What the sender of a request may do. A greater role may do everything that a smaller role may
/// do. If the simulator has no tokens, every request has the role [`Role::Teacher`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// May read: may send GET requests and open event streams, except those that show programs and
    /// those that are for teachers only.
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

    /// The role with this name; `None` if no role has this name.
    pub fn from_name(name: &str) -> Option<Role> {
        [Role::Spectator, Role::Student, Role::Teacher].into_iter().find(|role| role.name() == name)
    }
}
