//! Process 1 of a jail: sets up the inside, starts the program, and reaps processes. It ends when
//! the control socket closes, or when the jail is over (see `watch`).

use super::error::PartError;
use super::file_watch::{self, FileWatch};
use super::plan::{self, BoxNetwork, ClosedPlan, JailPlan, JudgePlan, Report, StudentPlan, TimePlan};
use super::{closed, gate, host_box, limits, mounts, net, resolver, seccomp, student_filter, virtual_time};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::FdFlags;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, PidfdFlags, WaitOptions, WaitStatus, wait};
use rustix::stdio::{dup2_stderr, dup2_stdout, stderr, stdin, stdout};
use rustix::thread::CapabilitySet;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{SyncSender, sync_channel};

/// Interval between two checks of the free space for files.
const CHECK_INTERVAL: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };
/// A judge's file system counts as full if it has fewer free bytes than this.
const FULL_BELOW: u64 = 64 << 10;
/// The judge's Python inside the jail.
const PYTHON: &str = "/usr/bin/python3.14";

pub(super) fn run() -> Result<(), PartError> {
    limits::close_inherited_on_exec()?;
    let plan: JailPlan = plan::read(stdin())?;
    // Init becomes undumpable. Otherwise another process of the same user could trace init or read
    // its memory.
    let undumpable = rustix::process::DumpableBehavior::NotDumpable;
    rustix::process::set_dumpable_behavior(undumpable).map_err(PartError::call("prctl"))?;
    match plan {
        JailPlan::Judge(judge) => run_judge(&judge),
        JailPlan::Student(student) => run_student(*student),
    }
}

fn run_judge(plan: &JudgePlan) -> Result<(), PartError> {
    limits::limit_judge(plan)?;
    mounts::enter_judge_root()?;
    rustix::system::sethostname(b"judge").map_err(PartError::call("sethostname"))?;
    net::set_up(plan.internet, &plan.forbidden)?;

    // Descriptor 2 becomes the script's error output, so the channel of the harness moves to a
    // number of its own. The filter of system calls keeps the script from closing or replacing the
    // descriptor with this number.
    let channel = rustix::io::fcntl_dupfd_cloexec(stderr(), 3).map_err(PartError::call("fcntl"))?;
    rustix::io::fcntl_setfd(&channel, FdFlags::empty()).map_err(PartError::call("fcntl"))?;
    let output = || stdout().try_clone_to_owned().map(Stdio::from).map_err(PartError::call("dup"));
    let mut python = Command::new(PYTHON);
    python.args(["-I", "-X", "utf8", "-B", "/judge/harness.py", &channel.as_raw_fd().to_string()]);
    python.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", "/work").env("LANG", "C.UTF-8");
    python.env("SSL_CERT_FILE", "/etc/ssl/certs/ca-certificates.crt");
    python.stdin(Stdio::null()).stdout(output()?).stderr(output()?);

    limits::drop_privileges(CapabilitySet::empty())?;
    let number = channel.as_raw_fd();
    // Filters apply to one thread and to the processes that this thread starts. Therefore another
    // thread installs the filters and starts the harness: init's own thread must not be watched,
    // because it answers the watched calls.
    let counted = plan.counted;
    let (started, starting) = pipe_with(PipeFlags::CLOEXEC).map_err(PartError::call("pipe"))?;
    let (give, files) = sync_channel(1);
    let thread = std::thread::spawn(move || {
        // This end of the pipe closes when the harness was started or the start failed.
        let _starting = starting;
        start_watched(python, number, counted, &give)
    });
    // Nothing is received if the thread failed before it sent a result. `join` below then returns
    // the error.
    let files = files.recv().unwrap_or_else(|_| Err(io::Error::other("it was not started")));
    while !is_started(&started, files.as_ref().ok()) {}
    let python = thread.join().map_err(|_| PartError::Thread)??;
    seccomp::install(number, counted)?;
    drop(channel);
    let null = File::open("/dev/null").map_err(PartError::call("/dev/null"))?;
    dup2_stdout(&null).map_err(PartError::call("dup2"))?;
    dup2_stderr(&null).map_err(PartError::call("dup2"))?;
    watch(python.id(), Some(&files))
}

/// Starts the harness with two filters of system calls: that of `file_watch` and that of `seccomp`.
/// Sends the watch of files over `give`. If a program around the simulator already watches this
/// process, sends the kernel's error instead of a watch. Any other error of the watch is returned.
fn start_watched(
    mut python: Command,
    channel: i32,
    counted: bool,
    give: &SyncSender<io::Result<FileWatch>>,
) -> Result<Child, PartError> {
    let files = FileWatch::install(channel);
    if let Err(why) = &files
        && !file_watch::is_taken(why)
    {
        return Err(PartError::FileWatch(why.to_string()));
    }
    give.send(files).map_err(|_| PartError::Thread)?;
    seccomp::install(channel, counted)?;
    python.spawn().map_err(|source| PartError::Start { program: "Python", source })
}

/// Waits for a watched call or for the end of the pipe, and answers the call if there is one. The
/// start of the harness makes watched calls, so it would block without these answers. Returns true
/// if the pipe is closed, which means that the harness was started or that the start failed.
fn is_started(started: &OwnedFd, files: Option<&FileWatch>) -> bool {
    let listener = files.map(FileWatch::descriptor);
    let mut fds = vec![PollFd::new(started, PollFlags::IN)];
    fds.extend(listener.as_ref().map(|listener| PollFd::new(listener, PollFlags::IN)));
    let _ = poll(&mut fds, None);
    if let Some(files) = files.filter(|_| fds[1].revents().contains(PollFlags::IN)) {
        files.answer(|| ());
    }
    !fds[0].revents().is_empty()
}

fn run_student(plan: StudentPlan) -> Result<(), PartError> {
    if let Some(closed) = &plan.closed {
        return run_closed(&plan, closed);
    }
    limits::limit_student(plan.processes)?;
    host_box::build(&plan)?;
    if let Some(network) = &plan.network {
        set_up_network(network, plan.time.as_ref())?;
        if network.internet {
            resolver::replace_resolv_conf()?;
        }
    }
    std::env::set_current_dir(&plan.workspace)
        .map_err(|source| PartError::Workspace { path: plan.workspace.clone(), source })?;
    let mut bash = Command::new("bash");
    bash.arg("-c").arg(&plan.command).env_clear().envs(&plan.environment);
    bash.stdin(Stdio::null()).stdout(Stdio::inherit()).stderr(Stdio::inherit());
    // If the program runs as root, it keeps the rights over files and over its own processes. It
    // keeps no right with which it could undo the mounts.
    limits::drop_privileges(
        CapabilitySet::CHOWN
            | CapabilitySet::DAC_OVERRIDE
            | CapabilitySet::FOWNER
            | CapabilitySet::FSETID
            | CapabilitySet::SETUID
            | CapabilitySet::SETGID
            | CapabilitySet::KILL
            | CapabilitySet::NET_BIND_SERVICE,
    )?;
    let null = File::open("/dev/null").map_err(PartError::call("/dev/null"))?;
    let bash = bash.spawn().map_err(|source| PartError::Start { program: "bash", source })?;
    dup2_stdout(&null).map_err(PartError::call("dup2"))?;
    dup2_stderr(&null).map_err(PartError::call("dup2"))?;
    watch(bash.id(), None)
}

fn run_closed(plan: &StudentPlan, closed: &ClosedPlan) -> Result<(), PartError> {
    limits::limit_closed(plan.processes, closed.file_bytes)?;
    closed::enter(closed)?;
    rustix::system::sethostname(b"box").map_err(PartError::call("sethostname"))?;
    if let Some(network) = &plan.network {
        set_up_network(network, plan.time.as_ref())?;
    }
    let mut bash = Command::new("/bin/bash");
    bash.arg("-c").arg(&plan.command).env_clear();
    bash.envs(closed::search_path(closed).map(|path| ("PYTHONPATH", path))).envs(&plan.environment);
    bash.stdin(Stdio::null()).stdout(Stdio::inherit()).stderr(Stdio::inherit());
    limits::drop_privileges(CapabilitySet::empty())?;
    student_filter::install()?;
    let bash = bash.spawn().map_err(|source| PartError::Start { program: "/bin/bash", source })?;
    let null = File::open("/dev/null").map_err(PartError::call("/dev/null"))?;
    dup2_stdout(&null).map_err(PartError::call("dup2"))?;
    dup2_stderr(&null).map_err(PartError::call("dup2"))?;
    watch(bash.id(), None)
}

/// Sets up the network of a student's box and sends the sockets that lead to the simulator. In
/// virtual time, the two descriptors of virtual time follow the sockets.
fn set_up_network(network: &BoxNetwork, time: Option<&TimePlan>) -> Result<(), PartError> {
    net::set_up(network.internet, &network.forbidden)?;
    let mut descriptors = gate::open(&network.ports)?;
    if let Some(time) = time {
        descriptors.extend(virtual_time::set_up(time)?);
        virtual_time::fix_execution()?;
    }
    Ok(gate::send(stdin(), &descriptors)?)
}

/// Reaps processes until the jail is over. A judge's jail, which has `files`, is over when the
/// harness ends. A student's jail is over when no process is left. Either jail is over when the
/// simulator closes the control socket.
fn watch(program: u32, files: Option<&io::Result<FileWatch>>) -> Result<(), PartError> {
    let program = Pid::from_raw(program.cast_signed()).ok_or(PartError::NoPid)?;
    plan::send_report(stdin(), &Report::Started(program.as_raw_nonzero().get()))?;
    if let Some(Err(why)) = files {
        plan::send_report(stdin(), &Report::FilesPolled(why.to_string()))?;
    }
    let listener = files.and_then(|files| files.as_ref().ok());
    let ended =
        rustix::process::pidfd_open(program, PidfdFlags::empty()).map_err(PartError::call("pidfd_open"))?;
    let (mut full, mut exited) = (false, false);
    // `look` sends the report `Full` while the script's system call is still suspended, so the
    // harness can't answer yet. Therefore the simulator receives `Full` before the harness's
    // answer.
    let mut look = || {
        if !full && is_full() {
            full = true;
            let _ = plan::send_report(stdin(), &Report::Full);
        }
    };
    loop {
        let (code, none_left) = reap(program);
        if let Some(code) = code {
            exited = true;
            plan::send_report(stdin(), &Report::Exited(code))?;
        }
        if exited && (files.is_some() || none_left) {
            return Ok(());
        }
        if files.is_some() {
            look();
        }
        match wait_for_work(stdin(), (!exited).then_some(&ended), listener) {
            Work::Abandoned => return Ok(()),
            Work::Call(listener) => listener.answer(&mut look),
            Work::Other => {}
        }
    }
}

/// Why init's wait ended.
enum Work<'a> {
    /// The simulator closed the control socket.
    Abandoned,
    /// A watched call waits for an answer.
    Call(&'a FileWatch),
    /// The program ended, or `CHECK_INTERVAL` passed.
    Other,
}

/// Waits until there is work, but for at most `CHECK_INTERVAL`.
fn wait_for_work<'a>(control: impl AsFd, ended: Option<&OwnedFd>, files: Option<&'a FileWatch>) -> Work<'a> {
    let mut fds = vec![PollFd::new(&control, PollFlags::RDHUP)];
    let listener = files.map(FileWatch::descriptor);
    fds.extend(listener.as_ref().map(|listener| PollFd::new(listener, PollFlags::IN)));
    fds.extend(ended.map(|ended| PollFd::new(ended, PollFlags::IN)));
    let _ = poll(&mut fds, Some(&CHECK_INTERVAL));
    if fds[0].revents().intersects(PollFlags::RDHUP | PollFlags::HUP | PollFlags::ERR) {
        return Work::Abandoned;
    }
    files.filter(|_| fds[1].revents().contains(PollFlags::IN)).map_or(Work::Other, Work::Call)
}

/// Reaps ended processes. Returns the program's exit code if it ended, and whether no process is
/// left.
fn reap(program: Pid) -> (Option<i32>, bool) {
    let mut code = None;
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some((pid, status))) if pid == program => code = Some(exit_code(status)),
            Ok(Some(_)) => {}
            Ok(None) => return (code, false),
            Err(_) => return (code, true),
        }
    }
}

fn exit_code(status: WaitStatus) -> i32 {
    status.exit_status().or_else(|| status.terminating_signal().map(|signal| -signal)).unwrap_or(-1)
}

fn is_full() -> bool {
    rustix::fs::statvfs("/").is_ok_and(|fs| fs.f_bavail * fs.f_frsize < FULL_BELOW || fs.f_ffree < 8)
}
