# Functions of the trials. A trial runs as root in a fresh Debian. There /packages has the packages,
# and /trial and /examples have the files of `packaging/trial` and `examples`.
set -eu
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8
PORT=${PORT:-18473}

step() { printf '\n== %s\n' "$*"; }
fail() { echo "FAILED: $*" >&2; exit 1; }

get() {
    apt-get update -qq
    apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

# Gives a user a control group of its own and moves this shell into it, as systemd does with
# Delegate=yes. Handles both versions of control groups. `undelegate` removes the group.
delegate() {
    if [ -f /sys/fs/cgroup/cgroup.controllers ]; then
        set -- "$1" /sys/fs/cgroup
    else
        set -- "$1" /sys/fs/cgroup/memory /sys/fs/cgroup/pids /sys/fs/cgroup/cpuacct \
            /sys/fs/cgroup/cpu /sys/fs/cgroup/systemd /sys/fs/cgroup/unified
    fi
    user=$1
    shift
    for above; do
        [ -d "$above" ] || continue
        mkdir -p "$above/trial-$PORT"
        chown -R "$user" "$above/trial-$PORT"
        echo 0 >"$above/trial-$PORT/cgroup.procs" # 0 is the process that writes
    done
}

undelegate() {
    find /sys/fs/cgroup -depth -type d -path "*/trial-$PORT*" -exec rmdir {} + 2>/dev/null || true
}

# The lines Environment= of the unit, as arguments of env.
unit_environment() { sed -n 's/^Environment=//p' /usr/lib/systemd/system/chicane.service; }
