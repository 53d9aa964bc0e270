//! The warning about student programs that run as root.

use chicane_wire::BoxKind;

/// The warning if student programs would run as root in a host box. `None` if they do not.
pub(crate) fn root_warning(kind: BoxKind) -> Option<&'static str> {
    (kind == BoxKind::Host && rustix::process::geteuid().is_root()).then_some(
        "student programs run as root in a host box, so they can read and change every file of this machine \
         that is not a simulator's: add --box closed, or start chicane as an ordinary user",
    )
}
