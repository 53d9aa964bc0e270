#!/bin/sh
# Runs in a virtual machine with systemd: installs the Debian package, and uses the service with its
# unit as it is. Then it builds the container as an ordinary user, and runs it.
. /trial/common.sh

step "systemd $(systemctl --version | sed -n '1s/systemd \([0-9]*\).*/\1/p'), kernel $(uname -r)"
stat -f -c '%T' /sys/fs/cgroup
dpkg -i /packages/chicane_*_amd64.deb
systemd-analyze verify chicane.service || fail "the unit has errors"
systemd-analyze security --no-pager chicane.service | tail -n 1
systemctl is-active --quiet chicane && fail "the service was started before it was configured"

step "service: health and one judged run in a closed box"
cp /examples/lap_by_lidar.py /var/lib/chicane/work/
token=trial-$(od -An -N12 -tx1 /dev/urandom | tr -d ' \n')
printf 'CHICANE_WORLD=oval\nCHICANE_TOKEN=%s\n' "$token" >>/etc/default/chicane
systemctl enable --quiet --now chicane
CHICANE_TOKEN=$token python3 /trial/evaluate.py http://127.0.0.1:8000 'python3 lap_by_lidar.py $CHICANE_URL' \
    || { journalctl -u chicane --no-pager -o cat | tail -n 40; fail "evaluation"; }
ps -o user:10,cmd -C chicane | head -n 3
journalctl -u chicane --no-pager -o cat | grep -o '[^"]*cgroup-v2[^"]*' | head -n 2
journalctl -u chicane --no-pager -o cat | grep -q cgroup-v2 || fail "control groups are not used"
journalctl -u chicane --no-pager -o cat | grep -q "$token" && fail "the log has the token"

step "upgrade restarts the service"
before=$(systemctl show -P MainPID chicane)
dpkg -i /packages/chicane_*_amd64.deb
after=$(systemctl show -P MainPID chicane)
[ "$before" != "$after" ] && [ "$after" != 0 ] || fail "pid $before, then $after"
CHICANE_TOKEN=$token python3 /trial/evaluate.py http://127.0.0.1:8000 'python3 lap_by_lidar.py $CHICANE_URL'

step "stop, removal and purge"
systemctl stop chicane
[ "$(systemctl show -P Result chicane)" = success ] || fail "the service did not stop cleanly"
systemctl start chicane
dpkg -r chicane
systemctl is-active --quiet chicane && fail "the service is still running"
[ -s /var/lib/chicane/data/chicane.db ] || fail "the records are gone"
dpkg -P chicane
[ ! -e /var/lib/chicane ] || fail "the data folder is still there"

sh /trial/container.sh
echo "TRIAL PASSED"
