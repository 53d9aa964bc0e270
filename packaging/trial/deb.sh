#!/bin/sh
# Installs, uses, upgrades, removes and purges the Debian package.
. /trial/common.sh

step "installation"
get ca-certificates python3
dpkg -i /packages/chicane_*_amd64.deb
getent passwd chicane
ls -ld /var/lib/chicane /var/lib/chicane/data /var/lib/chicane/work /etc/default/chicane
dpkg --verify chicane || fail "dpkg --verify found differences"
[ "$(stat -c '%U %a' /var/lib/chicane /etc/default/chicane | tr '\n' ' ')" = "chicane 750 root 600 " ] \
    || fail "owners or modes are wrong"
[ "$(dpkg-query -W -f '${Conffiles}' chicane | grep -c /)" = 1 ] || fail "there must be one conffile"
chicane --version

step "upgrade keeps the options"
echo "CHICANE_WORLD=oval" >>/etc/default/chicane
dpkg -i /packages/chicane_*_amd64.deb
grep -q '^CHICANE_WORLD=oval$' /etc/default/chicane || fail "the options were replaced"

step "judge: chicane setup as the user of the service"
cp /examples/lap_by_lidar.py /var/lib/chicane/work/
as_chicane() {
    # shellcheck disable=SC2046  # the unit has several variables per line
    setpriv --reuid chicane --regid chicane --init-groups --no-new-privs --bounding-set=-all \
        env -i PATH="$PATH" HOME=/var/lib/chicane $(unit_environment) "$@"
}
cd /
as_chicane chicane setup

step "serve, health and one judged run in a closed box"
(
    delegate chicane
    # shellcheck disable=SC2046
    exec setpriv --reuid chicane --regid chicane --init-groups --no-new-privs --bounding-set=-all \
        env -i PATH="$PATH" HOME=/var/lib/chicane $(unit_environment) CHICANE_WORLD=oval \
        CHICANE_LISTEN=127.0.0.1:$PORT chicane serve
) &
server=$!
trap 'kill $server 2>/dev/null || true; wait $server; undelegate' EXIT
python3 /trial/evaluate.py "http://127.0.0.1:$PORT" 'python3 lap_by_lidar.py $CHICANE_URL'
as_chicane chicane records export --data-dir /var/lib/chicane/data --csv | cut -d, -f2,5,6
kill -TERM $server
wait $server || fail "chicane serve ended with status $?"
undelegate
trap - EXIT

step "removal keeps options and records"
dpkg -r chicane
[ ! -e /usr/bin/chicane ] || fail "the program is still there"
[ -s /var/lib/chicane/data/chicane.db ] || fail "the records are gone"
[ -s /etc/default/chicane ] || fail "the options are gone"

step "purge"
dpkg -P chicane
! getent passwd chicane || fail "the user is still there"
left=$(find / -xdev \( -path /packages -o -path /proc -o -path /sys -o -path /trial \) -prune \
    -o -name '*chicane*' -print)
[ -z "$left" ] || fail "left behind: $left"
echo "nothing is left"
