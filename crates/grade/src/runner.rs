//! Runs units, each in its own process, a few at a time.
//!
//! The standard input of each process is a pipe from the grading process. When the grading process
//! ends for any reason, the pipe closes, and the processes of the units end too. A unit whose
//! process leaves no result is started again, a limited number of times.

use crate::plan::Unit;
use crate::unit_result::UnitResult;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// Maximum number of times that a unit is started.
pub const ATTEMPTS: u32 = 3;
/// Time between two checks of a running process.
const POLL: Duration = Duration::from_millis(10);
/// When a process has ended, at most this number of bytes is read from the end of its standard
/// error.
const MAX_TAIL: u64 = 4096;

/// How the units are run.
pub struct Options<'a> {
    /// Number of units that run at the same time.
    pub jobs: usize,
    /// The command that evaluates a unit and stores its result in a folder.
    pub command: &'a (dyn Fn(&Unit, &Path) -> Command + Sync),
    /// The folder for the result of a unit.
    pub folder: &'a (dyn Fn(&Unit) -> PathBuf + Sync),
    /// Longest real time of one process.
    pub limit: Duration,
    /// The caller sets this flag to stop all units.
    pub stop: &'a AtomicBool,
}

/// What happened to a unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// A unit has a result.
    Done {
        /// Index of the unit.
        unit: usize,
    },
    /// A process left no result, and the unit is started again.
    Retried {
        /// Index of the unit.
        unit: usize,
        /// Why the process left no result.
        why: String,
    },
    /// A unit has no result after all attempts.
    Failed {
        /// Index of the unit.
        unit: usize,
        /// Why the last process left no result.
        why: String,
    },
}

/// Runs all units and passes each event to `on_event`. Returns early if `options.stop` is set.
pub fn run(units: &[&Unit], options: &Options<'_>, mut on_event: impl FnMut(Event)) {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let (send, events) = mpsc::channel();
        let jobs = options.jobs.clamp(1, units.len().max(1));
        for job in 0..jobs {
            let (send, next) = (send.clone(), &next);
            scope.spawn(move || {
                if jobs > 1 {
                    stay_on_one_processor(job);
                }
                while let Some((i, unit)) = take(units, next, options) {
                    let send = |event| drop(send.send(event));
                    run_unit(i, unit, options, &send);
                }
            });
        }
        drop(send);
        for event in events {
            on_event(event);
        }
    });
}

/// Restricts this thread, and the processes that it starts, to one processor. The threads of a unit
/// mostly wait for each other, and the kernel wakes a thread more slowly if it is on another
/// processor.
fn stay_on_one_processor(job: usize) {
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
    let Ok(allowed) = sched_getaffinity(None) else { return };
    let mut processors = (0..CpuSet::MAX_CPU).filter(|&i| allowed.is_set(i)).cycle();
    let mut own = CpuSet::new();
    let Some(processor) = processors.nth(job) else { return };
    own.set(processor);
    // A failure is ignored, because without the restriction the unit is only slower.
    let _ = sched_setaffinity(None, &own);
}

fn take<'a>(units: &[&'a Unit], next: &AtomicUsize, options: &Options<'_>) -> Option<(usize, &'a Unit)> {
    if options.stop.load(Ordering::Relaxed) {
        return None;
    }
    let i = next.fetch_add(1, Ordering::Relaxed);
    units.get(i).map(|unit| (i, *unit))
}

fn run_unit(i: usize, unit: &Unit, options: &Options<'_>, send: &dyn Fn(Event)) {
    let folder = (options.folder)(unit);
    for attempt in 1..=ATTEMPTS {
        let ended = Process::start(unit, &folder, options).and_then(|process| process.wait(options));
        let why = match ended {
            Ok(Ended::Stopped) => return,
            Ok(Ended::TooLong) => format!("it took longer than {} s", options.limit.as_secs()),
            Ok(Ended::Exited(status, said)) => {
                if UnitResult::load(&folder, unit).is_some() {
                    return send(Event::Done { unit: i });
                }
                if said.is_empty() { format!("the process ended with {status}") } else { said }
            }
            Err(error) => error.to_string(),
        };
        let failed = attempt == ATTEMPTS;
        send(if failed { Event::Failed { unit: i, why } } else { Event::Retried { unit: i, why } });
    }
}

enum Ended {
    /// The process ended. The text is the last line of its standard error.
    Exited(ExitStatus, String),
    TooLong,
    Stopped,
}

/// The process of a unit. It is killed on drop.
struct Process {
    child: Child,
    errors: File,
    started: Instant,
}

impl Process {
    fn start(unit: &Unit, folder: &Path, options: &Options<'_>) -> std::io::Result<Process> {
        use std::os::unix::process::CommandExt;
        if let Some(above) = folder.parent() {
            std::fs::create_dir_all(above)?;
        }
        let errors = unnamed_file(folder)?;
        let mut command = (options.command)(unit, folder);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(errors.try_clone()?);
        // The process gets its own process group, so that Ctrl-C in the terminal reaches only the
        // grading process, which then ends the units.
        command.process_group(0);
        Ok(Process { child: command.spawn()?, errors, started: Instant::now() })
    }

    fn wait(mut self, options: &Options<'_>) -> std::io::Result<Ended> {
        loop {
            if let Some(status) = self.child.try_wait()? {
                return Ok(Ended::Exited(status, self.last_line().unwrap_or_default()));
            }
            if options.stop.load(Ordering::Relaxed) {
                return Ok(Ended::Stopped);
            }
            if self.started.elapsed() > options.limit {
                return Ok(Ended::TooLong);
            }
            std::thread::sleep(POLL);
        }
    }

    /// The last line that the process wrote to its standard error.
    fn last_line(&mut self) -> std::io::Result<String> {
        let length = self.errors.metadata()?.len();
        self.errors.seek(SeekFrom::Start(length.saturating_sub(MAX_TAIL)))?;
        let mut tail = Vec::new();
        Read::by_ref(&mut self.errors).take(MAX_TAIL).read_to_end(&mut tail)?;
        let tail = String::from_utf8_lossy(&tail);
        let last = tail.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
        Ok(last.trim().trim_start_matches("chicane: ").chars().take(300).collect())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // If the process has already ended, killing it does nothing.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Creates a file beside a folder, and immediately removes its name, so that the file disappears
/// when it is closed.
fn unnamed_file(folder: &Path) -> std::io::Result<File> {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let mut name = folder.as_os_str().to_owned();
    name.push(format!(".{}-{}.stderr", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed)));
    let file = File::options().read(true).write(true).create_new(true).open(&name)?;
    std::fs::remove_file(&name)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    fn unit(seed: u64) -> Unit {
        let [student, world] = ["a", "oval"].map(str::to_owned);
        Unit { id: format!("a/oval/{seed}"), student, world, seed, hash: format!("hash-{seed}") }
    }

    /// Runs shell commands as units. The command of a unit gets its folder as `$0`.
    fn events(name: &str, scripts: &[&str], stop: &AtomicBool, limit: Duration) -> (PathBuf, Vec<Event>) {
        let scratch = std::env::temp_dir().join(format!("chicane-runner-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&scratch);
        let units: Vec<Unit> = (0..scripts.len() as u64).map(unit).collect();
        let mut seen = Vec::new();
        let options = Options {
            jobs: 2,
            command: &|unit, folder| {
                let mut command = Command::new("sh");
                command.args(["-c", scripts[unit.seed as usize]]).arg(folder);
                command
            },
            folder: &|unit| scratch.join(&unit.hash),
            limit,
            stop,
        };
        run(&units.iter().collect::<Vec<_>>(), &options, |event| seen.push(event));
        (scratch, seen)
    }

    const STORE: &str = r#"store() { mkdir "$0" && printf '{"format":1,"unit":"","hash":"%s","verdict":"finished",
        "line":"","record":{},"penalties":[],"run":null,"run_problem":null}' "${0##*/}" >"$0/result.json"; }; "#;

    #[test]
    fn a_unit_whose_process_dies_is_started_again_and_then_given_up() {
        let twice = format!("{STORE} test -e \"$0.once\" && store; touch \"$0.once\"; kill -9 $$");
        let (scratch, mut seen) = events(
            "dies",
            &[&format!("{STORE} store"), &twice, "echo noise >&2; echo 'chicane: no judge' >&2; exit 70"],
            &AtomicBool::new(false),
            Duration::from_secs(60),
        );
        seen.sort_by_key(|event| format!("{event:?}"));
        let why = |text: &str| text.to_owned();
        assert_eq!(
            seen,
            [
                Event::Done { unit: 0 },
                Event::Done { unit: 1 },
                Event::Failed { unit: 2, why: why("no judge") },
                Event::Retried { unit: 1, why: why("the process ended with signal: 9 (SIGKILL)") },
                Event::Retried { unit: 2, why: why("no judge") },
                Event::Retried { unit: 2, why: why("no judge") },
            ]
        );
        std::fs::remove_dir_all(scratch).expect("removed");
    }

    #[test]
    fn a_process_that_hangs_is_ended() {
        let (scratch, seen) =
            events("hangs", &["exec sleep 1000"], &AtomicBool::new(false), Duration::from_millis(20));
        assert_eq!(seen.len(), ATTEMPTS as usize);
        assert!(matches!(&seen[2], Event::Failed { why, .. } if why.contains("longer")), "{seen:?}");
        std::fs::remove_dir_all(scratch).expect("removed");
    }

    #[test]
    fn a_stop_ends_the_processes_and_starts_no_other() {
        let stop = AtomicBool::new(false);
        let started = Mutex::new(Vec::new());
        let scratch = std::env::temp_dir().join(format!("chicane-runner-stop-{}", std::process::id()));
        let units: Vec<Unit> = (0..5).map(unit).collect();
        let options = Options {
            jobs: 1,
            command: &|unit, _| {
                started.lock().expect("not poisoned").push(unit.seed);
                stop.store(true, Ordering::Relaxed);
                let mut command = Command::new("sleep");
                command.arg("1000");
                command
            },
            folder: &|unit| scratch.join(&unit.hash),
            limit: Duration::from_secs(1000),
            stop: &stop,
        };
        run(&units.iter().collect::<Vec<_>>(), &options, |event| panic!("{event:?}"));
        assert_eq!(*started.lock().expect("not poisoned"), [0]);
        std::fs::remove_dir_all(scratch).expect("removed");
    }
}
