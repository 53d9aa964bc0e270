//! The threads of a program, as the kernel shows them in `/proc`.
//!
//! A look reads the state of all threads once. A thread that is just starting or ending a wait can
//! appear to wait. Therefore the program counts as quiet only if two looks in a row agree: no
//! thread runs, no thread has run between the looks, and no thread was created or has ended.

use crate::syscalls::{self, Blocked};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;

/// A thread of the program.
struct Thread {
    /// Process id on the host.
    pid: i32,
    /// Thread id in the program's namespace.
    inner_tid: i32,
    syscall: File,
    schedstat: File,
    stat: File,
    children: File,
    /// As of the last look: the number of times that the kernel had let the thread run, and the ids
    /// of its child processes.
    seen: (u64, Vec<i32>),
    blocked: Blocked,
    /// Whether the thread had ended at the last look.
    ended: bool,
}

/// A thread as it was at the last look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BlockedThread {
    /// Thread id on the host.
    pub(crate) tid: i32,
    /// Process id on the host.
    pub(crate) pid: i32,
    /// Thread id in the program's namespace.
    pub(crate) inner_tid: i32,
    /// Whether the thread waits in a system call that ends after some real time.
    pub(crate) timed: bool,
}

/// The result of looking at all threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    /// A thread runs, or threads have changed since the last look.
    Changed,
    /// Nothing has changed since the last look, and every thread is blocked.
    Same,
}

/// All threads of the processes below one process.
pub(crate) struct Threads {
    /// The file `children` of the root process. `None` if the root had already ended.
    root_children: Option<File>,
    /// Processes whose parent is the root, for example orphans.
    orphans: Vec<i32>,
    /// The threads, by their thread ids on the host.
    threads: BTreeMap<i32, Thread>,
    /// The thread that was running at the last look. It is looked at first.
    running: Option<i32>,
    buffer: Vec<u8>,
}

fn parse<T: std::str::FromStr>(text: &str) -> Option<T> {
    text.trim().parse().ok()
}

/// Reads a file of `/proc` from its start. `None` if its thread has ended.
fn reread<'a>(file: &File, buffer: &'a mut Vec<u8>) -> Option<&'a [u8]> {
    buffer.resize(4096, 0);
    let length = file.read_at(buffer, 0).ok()?;
    buffer.get(..length)
}

/// The process ids in a file `children`. `None` if its thread has ended.
fn children(file: &File, buffer: &mut Vec<u8>) -> Option<Vec<i32>> {
    let text = std::str::from_utf8(reread(file, buffer)?).ok()?;
    Some(text.split_ascii_whitespace().filter_map(parse).collect())
}

impl Thread {
    fn open(pid: i32, tid: i32) -> io::Result<Thread> {
        let folder = format!("/proc/{pid}/task/{tid}");
        let open = |name: &str| File::open(format!("{folder}/{name}"));
        let status = fs::read_to_string(format!("{folder}/status"))?;
        let inner = status.lines().find_map(|line| line.strip_prefix("NSpid:"));
        let inner_tid = inner.and_then(|line| line.split_ascii_whitespace().last()).and_then(parse);
        Ok(Thread {
            pid,
            inner_tid: inner_tid.unwrap_or(tid),
            syscall: open("syscall")?,
            schedstat: open("schedstat")?,
            stat: open("stat")?,
            children: open("children")?,
            seen: (u64::MAX, Vec::new()),
            blocked: Blocked::Running,
            ended: false,
        })
    }

    /// Looks at the thread. Returns `None` if the thread is gone. Otherwise returns true if the
    /// thread is blocked and has not run since the last look.
    fn look(&mut self, buffer: &mut Vec<u8>) -> Option<bool> {
        self.blocked = syscalls::read(reread(&self.syscall, buffer)?);
        if matches!(self.blocked, Blocked::Running | Blocked::Connecting) {
            return Some(false);
        }
        let runs = reread(&self.schedstat, buffer)?;
        let runs = std::str::from_utf8(runs).ok()?.split_ascii_whitespace().nth(2).and_then(parse)?;
        let seen = (runs, children(&self.children, buffer)?);
        let same = seen == self.seen;
        self.seen = seen;
        // A thread in state D waits for the disk. It continues although simulated time stands still,
        // so it does not count as blocked.
        let stat = reread(&self.stat, buffer)?;
        let name_end = stat.iter().rposition(|byte| *byte == b')')?;
        let state = stat.get(name_end + 2)?;
        self.ended = b"ZX".contains(state);
        Some(same && b"STtZX".contains(state))
    }
}

impl Threads {
    /// The threads of all processes below the process `root`, without `root` itself.
    pub(crate) fn new(root: u32) -> io::Result<Threads> {
        let root_children = match File::open(format!("/proc/{root}/task/{root}/children")) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => None,
            other => Some(other?),
        };
        let (orphans, threads) = (Vec::new(), BTreeMap::new());
        Ok(Threads { root_children, orphans, threads, running: None, buffer: Vec::new() })
    }

    /// Whether a thread was running at the last look.
    pub(crate) fn is_running(&self) -> bool {
        self.running.is_some()
    }

    /// The thread that was running at the last look, and the processor time that it has used so far
    /// in nanoseconds. `None` if none was running.
    pub(crate) fn running(&mut self) -> Option<(i32, u64)> {
        let tid = self.running?;
        let thread = self.threads.get_mut(&tid)?;
        let text =
            reread(&thread.schedstat, &mut self.buffer).and_then(|text| std::str::from_utf8(text).ok());
        let used = text.and_then(|text| text.split_ascii_whitespace().next()).and_then(parse);
        Some((tid, used?))
    }

    /// Whether the program has no thread, as of the last look.
    pub(crate) fn is_empty(&self) -> bool {
        self.threads.is_empty()
    }

    /// Whether a thread of the program has this id in the program's namespace, as of the last look.
    /// The main thread of a process has the id of the process.
    pub(crate) fn has_process(&self, inner_pid: i32) -> bool {
        self.threads.values().any(|thread| thread.inner_tid == inner_pid)
    }

    /// All threads at the last look. After [`Look::Same`], all of them are blocked.
    pub(crate) fn blocked(&self) -> impl Iterator<Item = BlockedThread> {
        self.threads.iter().map(|(tid, thread)| BlockedThread {
            tid: *tid,
            pid: thread.pid,
            inner_tid: thread.inner_tid,
            timed: thread.blocked == Blocked::Timed,
        })
    }

    /// Looks at all threads.
    pub(crate) fn look(&mut self) -> Look {
        if let Some(tid) = self.running
            && let Some(thread) = self.threads.get_mut(&tid)
            && thread.look(&mut self.buffer).is_some()
            && thread.blocked == Blocked::Running
        {
            return Look::Changed;
        }
        self.running = None;
        let mut same = !self.refresh();
        for (tid, thread) in &mut self.threads {
            match thread.look(&mut self.buffer) {
                Some(unchanged) => same &= unchanged,
                None => same = false,
            }
            if thread.blocked == Blocked::Running {
                self.running = Some(*tid);
                return Look::Changed;
            }
        }
        // An orphan that has ended will soon be reaped by the root, so the program is not quiet
        // yet. Other ended processes do not count, because their parent may never reap them.
        let is_reaped =
            |pid: &i32| self.threads.values().filter(|t| t.pid == *pid).all(|thread| thread.ended);
        if same && !self.orphans.iter().any(is_reaped) { Look::Same } else { Look::Changed }
    }

    /// Finds new threads, and forgets threads that are gone. Returns whether there were any of
    /// either.
    fn refresh(&mut self) -> bool {
        let mut changed = false;
        let mut found = Vec::new();
        let root_children = self.root_children.as_ref();
        let processes = root_children.and_then(|root| children(root, &mut self.buffer));
        let mut processes = processes.unwrap_or_default();
        self.orphans.clone_from(&processes);
        while let Some(pid) = processes.pop() {
            let Ok(tasks) = fs::read_dir(format!("/proc/{pid}/task")) else { continue };
            for task in tasks.flatten() {
                let Some(tid) = task.file_name().to_str().and_then(parse::<i32>) else { continue };
                if self.threads.get(&tid).is_none_or(|known| known.pid != pid) {
                    changed = true;
                    let Ok(thread) = Thread::open(pid, tid) else { continue };
                    self.threads.insert(tid, thread);
                }
                found.push(tid);
                let thread = self.threads.get(&tid);
                let below = thread.and_then(|thread| children(&thread.children, &mut self.buffer));
                match below {
                    Some(below) => processes.extend(below),
                    None => changed = true,
                }
            }
        }
        let before = self.threads.len();
        self.threads.retain(|tid, _| found.contains(tid));
        changed || self.threads.len() != before
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    /// Looks until two looks in a row agree.
    fn wait_until_same(threads: &mut Threads) {
        while threads.look() != Look::Same {
            std::thread::yield_now();
        }
    }

    #[test]
    fn a_sleeping_child_is_blocked_and_a_computing_one_is_not() {
        // The outer shell waits for the inner shell, which waits for `cat`. `cat` waits for its
        // standard input.
        let mut shell = Command::new("sh")
            .args(["-c", "sh -c 'cat; while true; do :; done'; true"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .expect("sh");
        let mut threads = Threads::new(shell.id()).expect("/proc");
        while threads.blocked().count() < 2 {
            wait_until_same(&mut threads);
        }
        assert!(threads.blocked().all(|thread| !thread.timed));
        // When its input ends, `cat` ends, and the inner shell computes for ever.
        drop(shell.stdin.take());
        let started: Vec<i32> = threads.blocked().map(|thread| thread.pid).collect();
        while !threads.is_running() {
            threads.look();
        }
        let looks: Vec<Look> = (0..100).map(|_| threads.look()).collect();
        assert!(!looks.contains(&Look::Same));
        shell.kill().expect("killed");
        shell.wait().expect("ended");
        for pid in started.into_iter().filter_map(rustix::process::Pid::from_raw) {
            // `cat` has already ended, so killing it fails.
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        }
    }
}
