//! Loads of the machine: processes that compute, and a simulator that has one processor only.

use std::process::{Child, Command, Stdio};

/// A load that slows a run down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Load {
    /// Number of processes that compute in a loop.
    busy: usize,
    /// Whether the busy processes have a lower priority.
    nice: bool,
    /// Whether the simulator, the program and the busy processes share one processor.
    one_cpu: bool,
    /// Real-time factor of the run; 0 is as fast as possible.
    speed: u32,
}

/// No load.
const QUIET: Load = Load { busy: 0, nice: false, one_cpu: false, speed: 0 };

/// The loads of all runs of a program. `CHICANE_REPEAT` is the number of runs; the default is three
/// runs.
pub(crate) fn loads() -> Vec<Load> {
    match runs() {
        None => vec![QUIET, Load { busy: 1, nice: true, ..QUIET }, Load { one_cpu: true, ..QUIET }],
        Some(count) => (0..count).map(Load::of_run).collect(),
    }
}

/// The number of runs in `CHICANE_REPEAT`. `None` if this variable is not set.
pub(crate) fn runs() -> Option<usize> {
    let text = std::env::var("CHICANE_REPEAT").ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("CHICANE_REPEAT={text} is not a number")))
}

impl Load {
    /// The load of a run in a long series: up to four busy processes, some with a low priority,
    /// some on one processor. Every second run has speed 1.
    fn of_run(number: usize) -> Load {
        Load {
            busy: number % 5,
            nice: number % 3 == 1,
            one_cpu: number % 4 == 3,
            speed: u32::from(number % 2 == 1),
        }
    }

    pub(crate) fn at_speed_1() -> Load {
        Load { speed: 1, ..QUIET }
    }

    pub(crate) fn speed(self) -> String {
        self.speed.to_string()
    }

    /// The command that restricts another command to the processors of this load.
    pub(crate) fn prefix(self) -> &'static [&'static str] {
        if self.one_cpu { &["taskset", "--cpu-list", "0"] } else { &[] }
    }

    /// Starts the processes of this load. They end when the value is dropped.
    pub(crate) fn start(self) -> Vec<Busy> {
        (0..self.busy).map(|_| Busy::start(self)).collect()
    }
}

/// A process that computes in a loop. It is killed on drop.
pub(crate) struct Busy(Child);

impl Busy {
    fn start(load: Load) -> Busy {
        let mut words: Vec<&str> = load.prefix().to_vec();
        if load.nice {
            words.extend(["nice", "-n", "10"]);
        }
        words.extend(["sh", "-c", "while :; do :; done"]);
        let child = Command::new(words[0]).args(&words[1..]).stdin(Stdio::null()).spawn();
        Busy(child.unwrap_or_else(|e| panic!("{words:?}: {e}")))
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
