#!/bin/sh
# Installs the wheel in a venv of an ordinary user, and uses the program, `chicane.Sim` and Gymnasium.
. /trial/common.sh

step "installation in a venv"
get ca-certificates python3 python3-venv
useradd --create-home student
cd /home/student
as_student() { runuser -u student -- env -i HOME=/home/student PIP_CERT="${PIP_CERT:-}" "$@"; }
as_student /usr/bin/python3 -m venv venv
as_student venv/bin/pip install --quiet --disable-pip-version-check \
    "$(echo /packages/chicane-*.whl)[gym]"
as_student venv/bin/chicane --version

step "chicane.Sim with the program of the wheel"
as_student venv/bin/chicane serve --listen "127.0.0.1:$PORT" --world oval &
server=$!
trap 'kill $server 2>/dev/null || true' EXIT
as_student venv/bin/python /trial/drive.py "http://127.0.0.1:$PORT"

step "gymnasium.make"
as_student venv/bin/python /trial/train.py
