#!/bin/sh
# Gives the control groups of the service to its user (version 1).
for hierarchy in memory pids cpu cpuacct; do
    group=$(sed -n "s/^[0-9]*:[^:]*\\b$hierarchy\\b[^:]*:\\(.*\\)/\\1/p" /proc/self/cgroup | head -n 1)
    # systemd makes no group of the service in some hierarchies. There the path is `/`, which is the
    # group of the whole trial, so its owner stays the same.
    case $group in
        /?*) chown chicane "/sys/fs/cgroup/$hierarchy$group" "/sys/fs/cgroup/$hierarchy$group"/* ;;
        *) echo "the service has no group in $hierarchy" ;;
    esac
done
