//! The part of a jail that leaves the host's namespaces, and waits for the part that stays in the new ones.

use super::error::PartError;
use super::plan::{self, Hello, Plan, Report};
use super::{limits, mounts};
use rustix::fs::{Mode, OFlags};
use rustix::stdio::stdin;
use rustix::thread::{CapabilitySet, UnshareFlags};
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};

pub(super) fn run() -> Result<(), PartError> {
    limits::pass_on_nothing()?;
    let plan: Plan = plan::read(stdin())?;
    // The simulator may be called by any signal; what it starts for others is not.
    rustix::process::setsid().map_err(PartError::call("setsid"))?;
    leave(&plan)?;
    let root = open_root(&plan)?;
    plan::write(stdin(), &Report::Unshared)?;
    let Hello::Go = plan::read(stdin())?;
    become_mapped(&plan)?;
    // Here and not inside: what is open of the host stays with this process.
    if let (Plan::Judge(judge), Some(root)) = (&plan, &root) {
        mounts::build_judge_root(judge, root)?;
    }
    drop(root);

    // Not by path: this binary may lie where the new user can't go.
    let mut init = Command::new("/proc/self/exe");
    init.args([super::WORD, "init"]).stdin(Stdio::inherit());
    if let Plan::Judge(_) = plan {
        init.env_clear();
    }
    let mut init =
        init.spawn().map_err(|source| PartError::Start { program: "the first process inside", source })?;
    plan::write(stdin(), &Report::Init(init.id().cast_signed()))?;
    init.wait().map_err(PartError::call("wait"))?;
    Ok(())
}

#[allow(deprecated)] // The other form is `unsafe` for the sake of CLONE_FILES, which is not used here.
fn leave(plan: &Plan) -> Result<(), PartError> {
    let mut flags = UnshareFlags::NEWUSER | UnshareFlags::NEWPID | UnshareFlags::NEWNS;
    if let Plan::Judge(_) = plan {
        flags |= UnshareFlags::NEWIPC | UnshareFlags::NEWUTS | UnshareFlags::NEWNET | UnshareFlags::NEWCGROUP;
    }
    rustix::thread::unshare(flags).map_err(PartError::Unshare)
}

/// Opens the judge's root while this is still the user who prepared it, and in the new mount
/// namespace, or the overlay would not take it.
fn open_root(plan: &Plan) -> Result<Option<OwnedFd>, PartError> {
    let Plan::Judge(judge) = plan else { return Ok(None) };
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let fd = rustix::fs::open(&judge.root, flags, Mode::empty())
        .map_err(|source| PartError::OpenRoot { path: judge.root.clone(), source })?;
    Ok(Some(fd))
}

/// Takes on the user that the maps say, with the rights to build what is inside.
fn become_mapped(plan: &Plan) -> Result<(), PartError> {
    use rustix::process::{Gid, Uid};
    if let Plan::Judge(_) = plan {
        // Not allowed where the maps were written by an ordinary user, whose groups then stay.
        let _ = rustix::thread::set_thread_groups(&[]);
        let (gid, uid) = (Gid::ROOT, Uid::ROOT);
        rustix::thread::set_thread_res_gid(gid, gid, gid).map_err(PartError::call("setresgid"))?;
        rustix::thread::set_thread_res_uid(uid, uid, uid).map_err(PartError::call("setresuid"))?;
    }
    // An ordinary user loses its rights when a program is started, unless they are ambient.
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
