//! The command line with which podman or docker starts the container of a judging script, with the
//! script's limits as options.

use super::program::{Engine, EngineKind, EngineNetwork, LABEL};
use chicane_jail::judge_limits::{FILES, MEMORY, PROCESSES};
use rustix::process::{Resource, getrlimit};

/// Size of /dev/shm in bytes. /tmp gets the rest of `FILES`.
const SHARED: u64 = 64 << 20;
/// Maximum number of open files of a process.
const OPEN_FILES: u64 = 256;
/// Limit of the processes of the container's user (`nproc`). It is a fallback for an engine that
/// does not enforce `--pids-limit`.
const USER_PROCESSES: u64 = 1024;
/// User and group of the script inside (`nobody`).
const USER: &str = "65534:65534";
/// The Python program on the container's command line. It reads the text of the harness from the
/// channel and runs the harness.
const BOOT: &str = "\
import os
text = b''
while not text.endswith(b'\\0'):
    piece = os.read(0, 65536)
    if not piece:
        os._exit(0)
    text += piece
exec(compile(text[:-1], '/judge/harness.py', 'exec'), \
{'__name__': '__main__', '__file__': '/judge/harness.py'})
";

impl Engine {
    /// The command line of a new container.
    pub(super) fn arguments(&self, name: &str) -> Vec<String> {
        let podman = self.kind == EngineKind::Podman;
        let memory = MEMORY + FILES;
        let mut all: Vec<String> = Vec::new();
        let mut add = |some: &[&str]| all.extend(some.iter().map(|argument| (*argument).to_owned()));
        add(&["run", "--rm", "--interactive", "--pull=never", "--sig-proxy=false", "--log-driver=none"]);
        add(&["--no-healthcheck", "--hostname=judge", "--workdir=/tmp", &format!("--user={USER}")]);
        add(&[&format!("--name={name}"), &format!("--label={LABEL}")]);
        // The memory limit includes the script's files, because they are in memory too.
        // `--memory-swap` is the sum of memory and swap, so this value allows no swap.
        add(&[&format!("--memory={memory}"), &format!("--memory-swap={memory}")]);
        // The harness in process 1 counts as one more process.
        add(&[&format!("--pids-limit={}", PROCESSES + 1), "--cpus=1"]);
        add(&["--read-only", &format!("--shm-size={SHARED}")]);
        add(&[&format!("--tmpfs=/tmp:rw,nosuid,nodev,size={},mode=1777", FILES - SHARED)]);
        add(&["--cap-drop=ALL", "--security-opt=no-new-privileges"]);
        for (ulimit, resource, limit) in [
            ("nofile", Resource::Nofile, OPEN_FILES),
            ("nproc", Resource::Nproc, USER_PROCESSES),
            ("fsize", Resource::Fsize, FILES),
            ("core", Resource::Core, 0),
        ] {
            // The engine refuses a value above the hard limit of this process.
            let limit = getrlimit(resource).maximum.map_or(limit, |max| max.min(limit));
            add(&[&format!("--ulimit={ulimit}={limit}:{limit}")]);
        }
        add(&["--env=HOME=/tmp", "--env=LANG=C.UTF-8"]);
        add(&[match self.network {
            EngineNetwork::Slirp => "--network=slirp4netns:allow_host_loopback=false,enable_ipv6=false",
            EngineNetwork::Bridge => "--network=bridge",
            EngineNetwork::Closed | EngineNetwork::Missing => "--network=none",
        }]);
        if podman {
            // By default podman mounts file systems in memory without a size limit, and passes on
            // the host's proxy variables.
            add(&["--read-only-tmpfs=false", "--http-proxy=false"]);
        }
        add(&["--entrypoint=python3", &self.image, "-I", "-X", "utf8", "-B", "-c", BOOT, "engine", name]);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn engine(kind: EngineKind, network: EngineNetwork) -> Engine {
        Engine { kind, program: "x".into(), image: "an/image:1".to_owned(), network }
    }

    #[test]
    fn the_command_line_has_every_limit() {
        let podman = engine(EngineKind::Podman, EngineNetwork::Slirp).arguments("chicane-judge-1-2-3");
        for word in [
            "--rm",
            "--name=chicane-judge-1-2-3",
            "--label=chicane.judge=1",
            "--memory=805306368",
            "--memory-swap=805306368",
            "--pids-limit=65",
            "--cpus=1",
            "--read-only",
            "--read-only-tmpfs=false",
            "--shm-size=67108864",
            "--tmpfs=/tmp:rw,nosuid,nodev,size=201326592,mode=1777",
            "--cap-drop=ALL",
            "--security-opt=no-new-privileges",
            "--user=65534:65534",
            "--pull=never",
            "--network=slirp4netns:allow_host_loopback=false,enable_ipv6=false",
        ] {
            assert!(podman.iter().any(|one| one == word), "{word}: {podman:?}");
        }
        let image = podman.iter().position(|one| one == "an/image:1").expect("the image");
        assert_eq!(podman[image + 1..image + 6], ["-I", "-X", "utf8", "-B", "-c"]);
        assert_eq!(podman[image + 7..], ["engine", "chicane-judge-1-2-3"]);
        let docker = engine(EngineKind::Docker, EngineNetwork::Bridge).arguments("n");
        assert!(docker.contains(&"--network=bridge".to_owned()), "{docker:?}");
        assert!(!docker.iter().any(|one| one.contains("read-only-tmpfs") || one.contains("http-proxy")));
        for closed in [EngineNetwork::Closed, EngineNetwork::Missing] {
            let words = engine(EngineKind::Podman, closed).arguments("n");
            assert!(words.contains(&"--network=none".to_owned()));
        }
    }
}
