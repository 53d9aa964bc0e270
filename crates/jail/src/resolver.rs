//! Name resolution in a jail: the text of `resolv.conf`, and its replacement in a host box that has
//! a network of its own.

use super::mounts::MountError;
use super::net::NAME_SERVER;
use rustix::mount::{MountFlags, UnmountFlags, mount, mount_bind, mount_remount, unmount};
use std::path::Path;

/// The file that names the name servers.
const RESOLV_CONF: &str = "/etc/resolv.conf";
/// Where the replacement is written. A file system in memory is mounted here for it, and unmounted
/// afterwards.
const SCRATCH_FOLDER: &str = "/tmp";

/// The text of a `resolv.conf`. Without internet access it names the loopback address, where no
/// name server answers.
pub(super) fn resolv_conf(internet: bool) -> String {
    let server = if internet { NAME_SERVER } else { "127.0.0.1" };
    format!("nameserver {server}\noptions timeout:2 attempts:2\n")
}

/// Mounts a file with the name server of the box's own network over the host's `resolv.conf`. The
/// mounts of this namespace must be private. The host's file is not changed.
pub(super) fn replace_resolv_conf() -> Result<(), MountError> {
    // Without the host's file there is nothing to mount over.
    if !Path::new(RESOLV_CONF).exists() {
        return Ok(());
    }
    let replace = |source| MountError::ResolvConf(source);
    let safe = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    mount("chicane", SCRATCH_FOLDER, "tmpfs", safe, Some(c"size=64k,mode=755")).map_err(MountError::Tmpfs)?;
    let file = Path::new(SCRATCH_FOLDER).join("resolv.conf");
    let written = std::fs::write(&file, resolv_conf(true));
    let name = RESOLV_CONF.to_owned();
    written.map_err(|source| MountError::Write { name, source })?;
    mount_bind(&file, RESOLV_CONF).map_err(replace)?;
    mount_remount(RESOLV_CONF, MountFlags::BIND | MountFlags::RDONLY | safe, c"").map_err(replace)?;
    // The bound file stays mounted when its file system is removed from the scratch folder.
    unmount(SCRATCH_FOLDER, UnmountFlags::DETACH).map_err(replace)
}
