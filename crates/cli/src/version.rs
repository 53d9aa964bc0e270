//! The version of this program, for the records.

use chicane_wire::ProgramVersion;

/// The version and, if the program was built in its repository, the commit.
pub(crate) fn own() -> ProgramVersion {
    ProgramVersion {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        commit: option_env!("CHICANE_COMMIT").map(str::to_owned),
    }
}
