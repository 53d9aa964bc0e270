#!/bin/sh
# Runs in a root folder with the files of the container image. Starts the entry point of the image as
# the user root, as a container engine does.
. /trial/common.sh

step "entry point, health and one judged run in a closed box"
token=trial-$(od -An -N12 -tx1 /dev/urandom | tr -d ' \n')
cp /examples/lap_by_lidar.py /var/lib/chicane/work/
(
    delegate chicane
    # shellcheck disable=SC2046  # one variable per line, without spaces
    exec env -i $(cat /trial/env) CHICANE_TOKEN="$token" chicane-entrypoint \
        serve --listen "0.0.0.0:$PORT" --log json
) &
server=$!
trap 'kill $server 2>/dev/null || true; wait $server; undelegate' EXIT
CHICANE_TOKEN=$token python3 /trial/evaluate.py "http://127.0.0.1:$PORT" \
    'python3 lap_by_lidar.py $CHICANE_URL'
user=$(stat -c %U "/proc/$server")
capabilities=$(sed -n 's/^CapBnd:\t//p' "/proc/$server/status")
echo "user $user, capabilities $capabilities"
[ "$user" = chicane ] || fail "the simulator runs as $user"
[ "$capabilities" = 0000000000000000 ] || fail "the simulator can get capabilities"
kill -TERM $server
wait $server || fail "the container ended with status $?"
undelegate
trap - EXIT
