#!/bin/sh
# Builds the container with rootless podman as an ordinary user, and runs it as compose.yaml does. The
# base image is made of /base.tar, because a machine for tests may have no access to a registry.
. /trial/common.sh

step "rootless podman: build"
useradd --create-home alice
loginctl enable-linger alice
id=$(id -u alice)
for _ in $(seq 100); do [ -S "/run/user/$id/bus" ] && break; sleep 0.1; done
cd /home/alice
as_alice() {
    runuser -u alice -- env -i PATH="$PATH" HOME=/home/alice XDG_RUNTIME_DIR="/run/user/$id" \
        DBUS_SESSION_BUS_ADDRESS="unix:path=/run/user/$id/bus" "$@"
}
as_alice podman import --quiet /base.tar localhost/debian >/dev/null
as_alice podman build --quiet --build-arg BASE=localhost/debian -t chicane /packages
as_alice podman image inspect --format '{{.Size}} bytes' chicane

step "rootless podman: health and one judged run in a closed box"
token=trial-$(od -An -N12 -tx1 /dev/urandom | tr -d ' \n')
as_alice podman run --detach --name trial --privileged --cgroupns private -p 8000:8000 \
    -e CHICANE_TOKEN="$token" -v data:/var/lib/chicane chicane >/dev/null
as_alice podman cp /examples/lap_by_lidar.py trial:/var/lib/chicane/work/
CHICANE_TOKEN=$token python3 /trial/evaluate.py http://127.0.0.1:8000 'python3 lap_by_lidar.py $CHICANE_URL' \
    || { as_alice podman logs trial; fail "evaluation in the container"; }
as_alice podman top trial user pid args | head -n 3
as_alice podman stop --time 30 trial >/dev/null
[ "$(as_alice podman inspect --format '{{.State.ExitCode}}' trial)" = 0 ] || fail "the container did not stop cleanly"
as_alice podman rm trial >/dev/null
