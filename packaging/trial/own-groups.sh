#!/bin/sh
# Gives the control groups of the service to its user (version 1).
for hierarchy in memory pids cpu cpuacct; do
    group=$(sed -n "s/^[0-9]*:[^:]*\\b$hierarchy\\b[^:]*:\\(.*\\)/\\1/p" /proc/self/cgroup | head -n 1)
    # systemd makes no group in some hierarchies. Then the service is in the group of this trial.
    case $group in
        /?*) chown chicane "/sys/fs/cgroup/$hierarchy$group" "/sys/fs/cgroup/$hierarchy$group"/* ;;
        *) echo "the service has no group in $hierarchy" ;;
    esac
done
