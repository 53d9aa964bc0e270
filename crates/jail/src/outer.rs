//! The part of a jail that leaves the host's namespaces, starts `init` in the new ones and waits
//! for it.

use super::closed::{self, Sources};
use super::error::PartError;
use super::plan::{self, HostMessage, JailPlan, Report, SUBCOMMAND};
use super::{limits, mounts};
use rustix::fs::{Mode, OFlags};
use rustix::stdio::stdin;
use rustix::thread::{CapabilitySet, UnshareFlags};
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};

pub(super) fn run() -> Result<(), PartError> {
    limits::close_inherited_on_exec()?;
    let plan: JailPlan = plan::read(stdin())?;
    // Outer starts a new session, so that a signal to the simulator's process group does not reach
    // the jail.
    rustix::process::setsid().map_err(PartError::call("setsid"))?;
    limits::prefer_for_oom_kill();
    let closed = plan.closed();
    let mut sources = closed.map(Sources::open_as_root).unwrap_or_default();
    unshare(&plan)?;
    let root = open_root(&plan)?;
    closed.map_or(Ok(()), |closed| sources.open_rest(closed))?;
    plan::send_report(stdin(), &Report::Unshared)?;
    let HostMessage::Go = plan::read(stdin())?;
    become_mapped(&plan)?;
    // The root is built here and not in init, so that init has no open descriptor of the host's
    // files.
    if let (JailPlan::Judge(judge), Some(root)) = (&plan, &root) {
        mounts::build_judge_root(judge, root)?;
    }
    drop(root);
    if let Some(closed) = closed {
        closed::build(closed, sources, plan.is_in_virtual_time(), stdin())?;
    }

    // The binary is not started by its path, because the new user may not have access to the folder
    // of the binary.
    let mut init = Command::new("/proc/self/exe");
    init.args([SUBCOMMAND, "init"]).stdin(Stdio::inherit());
    if plan.inside_id().is_some() {
        init.env_clear();
    }
    let mut init =
        init.spawn().map_err(|source| PartError::Start { program: "the first process inside", source })?;
    plan::send_report(stdin(), &Report::Init(init.id().cast_signed()))?;
    init.wait().map_err(PartError::call("wait"))?;
    Ok(())
}

/// The kernel's setting for the table of a network's connections: the number of entries, for
/// networks that are created later. The time keeper asks for all connections of a network after
/// every event, and each time the kernel searches the whole table. By default, all networks of the
/// machine share one table with, for example, 262,144 entries. Linux has this setting since version
/// 6.1. On an older kernel, the time keeper only takes longer.
const CHILD_HASH_SIZE: &str = "/proc/sys/net/ipv4/tcp_child_ehash_entries";
/// The number of entries for the network of a box in virtual time.
const HASH_SIZE: &str = "256";

#[allow(deprecated)] // The replacement is `unsafe` because of CLONE_FILES, which is not used here.
fn unshare(plan: &JailPlan) -> Result<(), PartError> {
    let mut flags = UnshareFlags::NEWUSER | UnshareFlags::NEWPID | UnshareFlags::NEWNS;
    if plan.inside_id().is_some() {
        flags |= UnshareFlags::NEWIPC | UnshareFlags::NEWUTS | UnshareFlags::NEWNET | UnshareFlags::NEWCGROUP;
    }
    if let JailPlan::Student(student) = plan {
        flags.set(UnshareFlags::NEWNET, student.network.is_some());
    }
    rustix::thread::unshare(flags).map_err(PartError::Unshare)?;
    if plan.is_in_virtual_time() && std::fs::write(CHILD_HASH_SIZE, HASH_SIZE).is_ok() {
        // The setting applies only to networks that are created from the present network, so outer
        // leaves its new network for another one. If this fails, the time keeper only takes longer.
        let _ = rustix::thread::unshare(UnshareFlags::NEWNET);
    }
    Ok(())
}

/// Opens the judge's root in the new mount namespace, because the overlay accepts no descriptor of
/// another namespace. The root is opened before the change of user, because the new user may lack
/// access. `None` for the jail of a student.
fn open_root(plan: &JailPlan) -> Result<Option<OwnedFd>, PartError> {
    let JailPlan::Judge(judge) = plan else { return Ok(None) };
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let fd = rustix::fs::open(&judge.root, flags, Mode::empty())
        .map_err(|source| PartError::OpenRoot { path: judge.root.clone(), source })?;
    Ok(Some(fd))
}

/// Changes to the mapped user, and keeps the capabilities that init needs to build the jail.
fn become_mapped(plan: &JailPlan) -> Result<(), PartError> {
    use rustix::process::{Gid, Uid};
    if let Some(inside) = plan.inside_id() {
        // This call fails if an unprivileged user wrote the maps. The process then keeps its
        // groups.
        let _ = rustix::thread::set_thread_groups(&[]);
        let (gid, uid) = (Gid::from_raw(inside), Uid::from_raw(inside));
        rustix::thread::set_thread_res_gid(gid, gid, gid).map_err(PartError::call("setresgid"))?;
        rustix::thread::set_thread_res_uid(uid, uid, uid).map_err(PartError::call("setresuid"))?;
    }
    // For a user other than root, exec drops all capabilities that are not in the ambient set.
    // Therefore all permitted capabilities are added to this set.
    let mut sets = rustix::thread::capabilities(None).map_err(PartError::call("capabilities"))?;
    sets.inheritable = sets.permitted;
    let permitted = sets.permitted;
    rustix::thread::set_capabilities(None, sets).map_err(PartError::call("capabilities"))?;
    for one in limits::each_capability().filter(|one| permitted.contains(*one)) {
        let kept = rustix::thread::configure_capability_in_ambient_set(one, true);
        if one == CapabilitySet::SYS_ADMIN {
            kept.map_err(PartError::call("ambient capabilities"))?;
        }
    }
    Ok(())
}
