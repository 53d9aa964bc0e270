//! The limits of a judging script in the words of podman and docker.

use super::{Engine, EngineKind, EngineNetwork, LABEL};
use crate::judge::{FILES, MEMORY, PROCESSES};
use rustix::process::{Resource, getrlimit};

/// Bytes of shared memory; the rest of the files are in /tmp.
const SHARED: u64 = 64 << 20;
/// Open files of a process inside.
const OPEN_FILES: u64 = 256;
/// Processes of the user inside, where nobody else counts: a net below the others.
const USER_PROCESSES: u64 = 1024;
/// Who the script is inside: nobody.
const USER: &str = "65534:65534";
/// Reads the harness from the channel, and is it from there on.
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
    /// Words that start a container.
    pub(super) fn arguments(&self, name: &str) -> Vec<String> {
        let podman = self.kind == EngineKind::Podman;
        let memory = MEMORY + FILES;
        let mut all: Vec<String> = Vec::new();
        let mut add = |words: &[&str]| all.extend(words.iter().map(|word| (*word).to_owned()));
        add(&["run", "--rm", "--interactive", "--pull=never", "--sig-proxy=false", "--log-driver=none"]);
        add(&["--no-healthcheck", "--hostname=judge", "--workdir=/tmp", &format!("--user={USER}")]);
        add(&[&format!("--name={name}"), &format!("--label={LABEL}")]);
        // Files of the script are memory too; what is its own is watched apart. Swap comes on top of memory.
        add(&[&format!("--memory={memory}"), &format!("--memory-swap={memory}")]);
        // Process 1 is ours.
        add(&[&format!("--pids-limit={}", PROCESSES + 1), "--cpus=1"]);
        add(&["--read-only", &format!("--shm-size={SHARED}")]);
        add(&[&format!("--tmpfs=/tmp:rw,nosuid,nodev,size={},mode=1777", FILES - SHARED)]);
        add(&["--cap-drop=ALL", "--security-opt=no-new-privileges"]);
        for (what, resource, most) in [
            ("nofile", Resource::Nofile, OPEN_FILES),
            ("nproc", Resource::Nproc, USER_PROCESSES),
            ("fsize", Resource::Fsize, FILES),
            ("core", Resource::Core, 0),
        ] {
            // Never above what is allowed here: that would be refused.
            let most = getrlimit(resource).maximum.map_or(most, |allowed| allowed.min(most));
            add(&[&format!("--ulimit={what}={most}:{most}")]);
        }
        add(&["--env=HOME=/tmp", "--env=LANG=C.UTF-8"]);
        add(&[match self.network {
            EngineNetwork::Slirp => "--network=slirp4netns:allow_host_loopback=false,enable_ipv6=false",
            EngineNetwork::Bridge => "--network=bridge",
            EngineNetwork::Closed | EngineNetwork::Missing => "--network=none",
        }]);
        if podman {
            // It would add file systems in memory that nobody limits, and addresses of proxies of the host.
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
    fn every_limit_is_said() {
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
