#!/bin/sh
# Runs under systemd: installs the Debian package, and uses the service with its unit as it is.
. /etc/default/trial
. /trial/common.sh

step "$(systemctl --version | head -n 1)"
dpkg -i /packages/chicane_*_amd64.deb
systemd-analyze verify --man=no chicane.service || fail "the unit has errors"
systemd-analyze security --no-pager chicane.service | tail -n 1
if systemctl is-active --quiet chicane; then fail "the service was started before it was configured"; fi

step "service: health and one judged run in a closed box"
cp /examples/lap_by_lidar.py /var/lib/chicane/work/
token=trial-$(od -An -N12 -tx1 /dev/urandom | tr -d ' \n')
printf 'CHICANE_WORLD=oval\nCHICANE_TOKEN=%s\nCHICANE_LISTEN=127.0.0.1:%s\n' "$token" "$PORT" \
    >>/etc/default/chicane
if [ ! -f /sys/fs/cgroup/cgroup.controllers ]; then
    # With control groups of version 1, systemd delegates only to root. This drop-in gives the groups of
    # the service to its user, as systemd does with version 2.
    mkdir -p /etc/systemd/system/chicane.service.d
    printf '[Service]\nCPUAccounting=yes\nExecStartPre=+/bin/sh /trial/own-groups.sh\n' \
        >/etc/systemd/system/chicane.service.d/version-1.conf
    systemctl daemon-reload
fi
judge() {
    CHICANE_TOKEN=$token python3 /trial/evaluate.py "http://127.0.0.1:$PORT" \
        'python3 lap_by_lidar.py $CHICANE_URL' \
        || { journalctl -u chicane --no-pager -o cat | tail -n 40; fail "evaluation"; }
}
systemctl enable --quiet --now chicane || { journalctl -u chicane --no-pager -o cat | tail -n 40; fail "start"; }
judge
ps -o user:10,cmd -C chicane | head -n 3
journalctl -u chicane --no-pager -o cat | grep -o 'the judge is ready[^"]*' | head -n 1
journalctl -u chicane --no-pager -o cat | grep -q 'ready.*cgroup-v' || fail "control groups are not used"
if journalctl -u chicane --no-pager -o cat | grep -q "$token"; then fail "the log has the token"; fi

step "upgrade restarts the service"
before=$(systemctl show -P MainPID chicane)
dpkg -i /packages/chicane_*_amd64.deb
after=$(systemctl show -P MainPID chicane)
[ "$before" != "$after" ] && [ "$after" != 0 ] || fail "pid $before, then $after"
judge

step "stop, removal and purge"
systemctl stop chicane
[ "$(systemctl show -P Result chicane)" = success ] || fail "the service did not stop cleanly"
systemctl start chicane
dpkg -r chicane
if systemctl is-active --quiet chicane; then fail "the service is still running"; fi
[ -s /var/lib/chicane/data/chicane.db ] || fail "the records are gone"
dpkg -P chicane
[ ! -e /var/lib/chicane ] || fail "the data folder is still there"
echo "TRIAL PASSED"
