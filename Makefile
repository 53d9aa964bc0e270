# Chicane. `make run` and `make test` need no other target before them: each builds what it needs,
# and installs a missing tool or names it.

CARGO ?= cargo
PYTHON ?= python3
CHROMIUM ?= chromium
CHICANE = target/release/chicane
# Additional arguments of `chicane serve`: make run ARGS="--world technical --speed 2"
ARGS ?=
# Options of the Python program that `wheel-try`, `same-bytes` or `fuzz-native` runs. The other
# targets ignore them.
OPTIONS ?=

# Path of the native module in the folder of the Python package, where Python finds the module.
NATIVE = python/src/chicane/native.abi3.so
# Path to which cargo writes the native module.
LIBRARY = target/release/libchicane_native.so

# Folder for tools of the checks. They come from crates.io or PyPI, and only cargo-nextest is not in
# this folder but in cargo's own one.
TOOLS = $(CURDIR)/target/tools
RUFF = $(TOOLS)/python/bin/ruff
SCHEMATHESIS = $(TOOLS)/python/bin/schemathesis
MOTO = $(TOOLS)/python/bin/moto_server
MYPY = $(TOOLS)/python/bin/mypy
MATURIN = $(TOOLS)/python/bin/maturin
# Environment variables with which a program uses the Python package in this repository and the
# built simulator.
PACKAGE = CHICANE=$(CURDIR)/$(CHICANE) PYTHONPATH=$(CURDIR)/python/src
ROSLIBPY = $(TOOLS)/roslibpy/bin/python
RECORDINGS = $(TOOLS)/recordings/bin/python
# rclpy and Cyclone DDS have a separate venv, because their packages conflict with those in
# target/tools/python.
ROS = $(TOOLS)/ros/bin/python
OTHERS = $(CURDIR)/target/bench-venv
# The first build of `make test` already covers the whole workspace. With fewer packages, cargo
# would choose other features of some dependencies, and compile these again for the tests. This
# build also compiles the tests. The last crates of the program depend on each other, so cargo
# compiles them one after the other, and without the tests a processor would be idle. Clippy checks
# that the benchmarks compile, and only two of their programs are used here.
TARGETS = --workspace --lib --tests --bin chicane --bin second-opinion --bin readers
WHOLE = WORKSPACE="$(TARGETS)"
# If BUILT is set, the targets that `make test` runs do not run `cargo build`, and use the programs
# as they are.
BUILT =

# All targets without a slash in their name are phony.
.PHONY: $(shell sed -n 's/^\([a-z-]*\):.*/\1/p' $(lastword $(MAKEFILE_LIST)))

help: ## List the targets
	@grep -E '^[a-z-]+: .*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 16

build: need-cargo viewer $(NATIVE) ## Build the release program and the Python module, and prepare the judge
	$(if $(BUILT),,$(CARGO) build --release --locked $(or $(WORKSPACE),-p chicane -p chicane-native))
	@$(CHICANE) setup || echo "The simulator is built, but evaluations cannot run until \`chicane setup\` succeeds."

# A symbolic link to cargo's output, so that every build replaces the module. The target `build` has
# one cargo command for program and module. With two commands, cargo would choose different features
# of some dependencies, and compile these twice.
$(NATIVE):
	ln -sf ../../../$(LIBRARY) $@

wheel: build need-maturin ## Build the Python wheel with the program, in target/wheel
	PYTHONPATH=packaging $(PYTHON) -m release.wheel $(CHICANE) $(LIBRARY) $(MATURIN) target/wheel

wheel-try: wheel need-python ## Install the wheel with every Python from 3.11 to 3.14 at hand, and compare their bytes
	cd python && $(PYTHON) -m tests.wheel_try ../target/wheel $(OPTIONS)

# Writes the packages. The same program and sources give packages with the same bytes.
PACK = PYTHONPATH=packaging $(PYTHON) -m release $(CHICANE) $(LIBRARY) $(MATURIN)
dist: build need-maturin ## Build the packages of a release: tarball, .deb, wheel, container file, SBOM
	$(PACK) target/dist

try-dist: dist ## Build the packages again and compare, then use each in a fresh Debian (as root)
	$(PACK) target/dist-again >/dev/null
	diff -r target/dist target/dist-again
	packaging/try

viewer: web/dist/index.html ## Build the pages, which are embedded in the program

web/dist/index.html: web/node_modules/.package-lock.json web/index.html web/leaderboard.html web/build.html web/vite.config.ts examples/lap_by_route.py $(shell find web/src web/public -type f)
	cd web && node_modules/.bin/vite build --logLevel warn

run: build ## Build and start the simulator; ARGS="--world technical" adds arguments
	$(CHICANE) serve $(ARGS)

test: need-cargo need-nextest need-python ## Run all checks and tests
	@# Installs the tools of the tests and the programs that they compare with, in parallel with the
	@# build. Otherwise one processor would be idle for more than a minute after the build.
	@$(MAKE) --no-print-directory peers & peers=$$!; \
	 $(MAKE) --no-print-directory build need-judge $(WHOLE) && wait $$peers
	@# With these two files, nextest runs the tests without cargo, which would wait for the lints below.
	@$(CARGO) metadata --format-version 1 --locked \
	   --filter-platform "$$(rustc -vV | sed -n 's/^host: //p')" >target/cargo-metadata.json
	@$(CARGO) nextest list --workspace --tests --release --locked --list-type binaries-only --message-format json \
	   >target/test-binaries.json
	@# Most of the programs and tests below wait for a simulator that runs in real time. The lints and
	@# the doc tests use the processors meanwhile, at the lowest priority and in a session of their own,
	@# because the kernel divides processor time between sessions first.
	@echo "in the background: lints and doc tests, see target/background.log"
	@setsid sh -c '{ echo 19 >/proc/self/autogroup; } 2>/dev/null; exec nice -n 19 $(MAKE) --no-print-directory background' \
	   >target/background.log 2>&1 & background=$$!; \
	 trap 'kill -- -$$background 2>/dev/null' EXIT; \
	 $(MAKE) --no-print-directory suites BUILT=yes || exit 1; \
	 $(MAKE) --no-print-directory rust-tests || exit 1; \
	 wait $$background || { cat target/background.log; exit 1; }; \
	 tail -n 3 target/background.log

# Otherwise the first judge would start slowly, because the machine still writes the build results to
# disk. Runs one test more at a time than there are processors, because many tests wait for simulated
# time.
rust-tests:
	sync
	MOTO_SERVER=$(MOTO) $(CARGO) nextest run --cargo-metadata target/cargo-metadata.json \
	  --binaries-metadata target/test-binaries.json --test-threads $$(($$(nproc) + 1))

background: check
	$(CARGO) test --doc --workspace --release --locked --quiet

# Most of these programs wait for a simulator that runs in real time, so two run beside each other.
suites: need-gym need-maturin need-schemathesis need-chromium
	@echo "in the background: tests of the Python package, see target/package.log"
	@$(MAKE) --no-print-directory package-suite >target/package.log 2>&1 & package=$$!; \
	 trap 'kill $$package 2>/dev/null' EXIT; \
	 $(MAKE) --no-print-directory other-suites || exit 1; \
	 wait $$package || { cat target/package.log; exit 1; }; \
	 tail -n 3 target/package.log
	cd web && CHROMIUM="$$(command -v $(CHROMIUM))" node_modules/.bin/vitest run --config vitest.browser.config.ts

package-suite:
	$(PACKAGE) $(TOOLS)/python/bin/python -m unittest discover -s python/tests -t python

other-suites: second-opinion readers ros clients cluster
	cd docs && CHICANE="$(CURDIR)/$(CHICANE)" $(PYTHON) -m unittest discover -s runner/tests -t .
	$(TOOLS)/python/bin/python docs/run.py $(CHICANE)
	$(PYTHON) -m unittest discover -s soak/tests -t .
	$(PYTHON) -m soak $(CHICANE) --short --out target/soak-short
	$(PYTHON) -m unittest discover -s bench/tests -t bench
	$(PYTHON) -m unittest discover -s packaging/tests -t packaging
	$(PYTHON) fuzz/http/run.py $(CHICANE) $(SCHEMATHESIS)
	cd web && node_modules/.bin/vitest run
	node web/scripts/wire.js $(CHICANE) --check

# cargo nextest builds the whole workspace, and its filter selects the tests to run. With fewer
# packages, cargo would compile some dependencies again.
quick: need-cargo need-nextest need-judge ## Check formatting and lints, then test the pure crates and the API
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --release --locked --all-targets -- -D warnings
	$(CARGO) nextest run --workspace --tests --release --locked \
	  -E 'package(/^chicane-(world|wire|sim|robot|ros|render|builder|testkit)$$/) or (package(chicane) and binary(api))'

check: need-cargo need-ruff need-mypy need-gym viewer dependencies ## Check formatting, lints, documentation, licences and advisories
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --release --locked --all-targets -- -D warnings
	@# Without the programs of `bench`, which take a third of the time.
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --lib --bin chicane --release --locked --no-deps --quiet
	tools/advisories
	web/node_modules/.bin/tsc -p web
	$(RUFF) check python docs fuzz examples readers worlds bench soak clients crates packaging
	$(RUFF) format --check python docs fuzz examples readers worlds bench soak clients crates packaging
	$(MYPY) --config-file python/pyproject.toml python/src/chicane python/scripts

# The result depends on nothing but these files and the version of cargo-deny, so it is stored:
# `deny.passed` contains their digest. cargo-deny runs only if the digest differs, because it takes a
# minute and a half to compile.
DENY = 0.20.2
MANIFESTS = deny.toml Cargo.lock Cargo.toml bench/Cargo.toml $(sort $(wildcard crates/*/Cargo.toml))
DIGEST = { echo $(DENY); cat $(MANIFESTS); } | sha256sum | cut -d ' ' -f 1
dependencies: need-cargo ## Check licences, duplicates and sources of the Rust dependencies
	@test "$$($(DIGEST))" = "$$(cat deny.passed 2>/dev/null)" || \
	 { $(MAKE) --no-print-directory need-deny && \
	   PATH="$(TOOLS)/bin:$$PATH" $(CARGO) deny --locked check licenses bans sources && \
	   $(DIGEST) >deny.passed && echo "The dependencies passed. Commit deny.passed with the change."; }

peers: need-chromium need-sdformat need-gym need-maturin need-schemathesis need-moto need-ros need-roslibpy need-recordings need-repeat need-ray clients/roslib/node_modules/.package-lock.json clients/foxglove/node_modules/.package-lock.json

ros: build need-ros ## Test the ROS 2 topics and commands with Cyclone DDS and rclpy
	$(ROS) python/ros/run.py $(CHICANE) test_cyclone test_crowd test_hostile test_returning
	$(ROS) python/ros/run.py $(CHICANE) test_outside
	$(ROS) python/ros/run.py $(CHICANE) test_rclpy

second-opinion: need-cargo need-chromium viewer ## Compare rendered pictures with three.js in a browser
	$(if $(BUILT),,$(CARGO) build --release --locked --quiet $(or $(WORKSPACE),-p chicane-bench --bin second-opinion))
	target/release/second-opinion target/second-opinion
	CHROMIUM="$$(command -v $(CHROMIUM))" node web/second-opinion/run.js target/second-opinion

readers: build $(TOOLS)/poses need-chromium need-numpy web/node_modules/.package-lock.json ## Check that libsdformat, three.js and NumPy read the worlds
	$(if $(BUILT),,$(CARGO) build --release --locked --quiet $(or $(WORKSPACE),-p chicane-bench --bin readers))
	rm -rf target/readers
	for project in worlds/*.json examples/projects/*.json; do \
	  name=$$(basename $$project .json); folder=target/readers/$$name; \
	  $(CHICANE) build $$project -o $$folder >/dev/null 2>&1 || { $(CHICANE) check $$project; exit 1; }; \
	  $(TOOLS)/poses $$folder $$name readers >$$folder/poses || exit 1; \
	  target/release/readers poses $$folder $$name <$$folder/poses || exit 1; \
	done
	target/release/readers meshes target/readers >target/readers/meshes.json
	CHROMIUM="$$(command -v $(CHROMIUM))" node web/readers/run.js target/readers
	$(TOOLS)/python/bin/python readers/routes.py $(CHICANE) target/readers

clients: build need-roslibpy need-recordings clients/roslib/node_modules/.package-lock.json clients/foxglove/node_modules/.package-lock.json ## Test /rosbridge, /foxglove and recordings with the clients and readers of others
	CHICANE_PROGRAM=$(CURDIR)/$(CHICANE) $(ROSLIBPY) -m unittest discover -s clients/roslibpy
	CHICANE_PROGRAM=$(CURDIR)/$(CHICANE) node --test clients/roslib/roslib.test.js
	CHICANE_PROGRAM=$(CURDIR)/$(CHICANE) node --test clients/foxglove/foxglove.test.js
	CHICANE_PROGRAM=$(CURDIR)/$(CHICANE) PYTHONPATH=clients/roslibpy $(RECORDINGS) -m unittest discover -s clients/recordings

cluster: build need-judge need-ray ## Grade a class and drive episodes on a real Ray cluster of three nodes
	$(PACKAGE) $(TOOLS)/ray/bin/python -m unittest discover -s python/cluster

$(TOOLS)/poses: readers/poses.cc | need-sdformat
	@mkdir -p $(TOOLS)
	c++ -std=c++17 -O1 $< -o $@ $$(pkg-config --cflags --libs $$(pkg-config --list-all | grep -o '^sdformat[0-9]*' | tail -1))

web/node_modules/.package-lock.json: web/package-lock.json | need-node
	cd web && npm ci --no-audit --no-fund --loglevel=error
	@touch $@

clients/%/node_modules/.package-lock.json: clients/%/package-lock.json | need-node
	cd clients/$* && npm ci --no-audit --no-fund --loglevel=error
	@touch $@

# QUICK=1 shortens the run from about six minutes to four, with imprecise figures.
# PUBLISH=1 writes docs/BENCHMARKS.md and its picture.
# AGAINST=<file> compares with the result in that file instead of the last result.
# ONLY="step lidar" runs only these contests.
# JOIN=<file> adds the contests in the file of another benchmark (bench/compare/joined.py).
bench: build need-python need-osmesa need-others ## Compare with other simulators in one run
	$(CARGO) build --release --locked --workspace
	PYTHONPATH=bench $(PYTHON) -m compare --chicane $(CHICANE) --programs target/release --others $(OTHERS)/bin/python \
	  $(if $(QUICK),--quick) $(if $(PUBLISH),--publish) $(if $(AGAINST),--against $(AGAINST)) $(ONLY:%=--only %) $(JOIN:%=--join %)

figures: build need-chromium need-ros need-repeat ## Run the benchmarks of all parts and print the figures
	$(CARGO) run --release --locked -p chicane-bench --bin core
	$(CARGO) run --release --locked -p chicane-bench --bin http
	$(CARGO) run --release --locked -p chicane-bench --bin camera
	$(CARGO) run --release --locked -p chicane-bench --bin robot
	$(CARGO) run --release --locked -p chicane-bench --bin worlds
	$(CARGO) run --release --locked -p chicane-bench --bin install
	$(CARGO) run --release --locked -p chicane-bench --bin judge
	$(CARGO) run --release --locked -p chicane-bench --bin grade
	$(CARGO) run --release --locked -p chicane-bench --bin ros $(CHICANE) $(ROS)
	CHROMIUM="$$(command -v $(CHROMIUM))" node web/bench/viewer.js
	CHROMIUM="$$(command -v $(CHROMIUM))" node web/bench/build.js

# Runs each program RUNS times under different loads and at different speeds: make repeat RUNS=5
RUNS ?= 20
repeat: build need-repeat ## Show that the same program gets the same record; prints a table
	@$(CARGO) test --release --locked -p chicane --test repeat --no-run
	@mkdir -p target/repeat
	CHICANE_REPEAT=$(RUNS) $(CARGO) test --release --locked --quiet -p chicane --test repeat -- --test-threads 1 \
	  >target/repeat/output.txt 2>target/repeat/table.txt; status=$$?; \
	 echo "kind of program                  | distinct records"; \
	 sed -n 's/.*repeat | //p' target/repeat/table.txt; \
	 test $$status = 0 || cat target/repeat/output.txt; exit $$status

other-cpu: build ## Check under QEMU whether other processors compute the same bytes (slow)
	tools/other-cpu $(CHICANE)

# Thirty students with two worlds and three seeds. One of the programs computes for ever, and only
# the wall limit ends it.
CLASS = target/class
grade-class: build need-judge ## Generate a class of thirty submissions and grade it, in target/class
	@rm -rf $(CLASS) && mkdir -p $(CLASS)
	$(PYTHON) crates/cli/tests/grade/make_class.py $(CLASS)/submissions --roster $(CLASS)/roster.csv
	$(CHICANE) grade $(CLASS)/submissions --roster $(CLASS)/roster.csv --world oval --world technical --seeds 1-3 \
	  --points oval=25:100,40:70 --points technical=35:100,60:70 --refused-penalty 100 --late-penalty 10 \
	  --wall-limit 40 --assignment "Race 1" -o $(CLASS)/results
	$(CHICANE) verify $(CLASS)/results/runs >$(CLASS)/verified.txt
	@echo "all runs are verified, see $(CLASS)/verified.txt"

cluster-class: build need-judge need-ray ## Grade the class of thirty locally, by Ray, with a killed worker, and with 30 kills
	@rm -rf $(CLASS) && mkdir -p $(CLASS)
	$(PYTHON) crates/cli/tests/grade/make_class.py $(CLASS)/submissions --roster $(CLASS)/roster.csv
	$(PACKAGE) $(TOOLS)/ray/bin/python python/cluster/whole_class.py $(CLASS)
	$(CHICANE) verify $(CLASS)/local/runs >$(CLASS)/verified.txt

worlds: build ## Build the shipped worlds into target/worlds, to inspect their files
	for project in worlds/*.json; do $(CHICANE) build $$project -o target/worlds/$$(basename $$project .json) || exit 1; done

wire: build ## Generate the API types of the page and the Python package from OpenAPI
	node web/scripts/wire.js $(CHICANE)
	$(PYTHON) python/scripts/wire.py $(CHICANE)

curve: build need-gym need-matplotlib ## Run the training example and draw its learning curve, docs/learning.png
	$(PACKAGE) $(TOOLS)/python/bin/python examples/train.py --picture docs/learning.png --policy target/policy.json

# Example: make same-bytes OPTIONS="--steps 1000 --camera 160 120"
same-bytes: build need-gym ## Compare 10,000 steps of environments byte by byte: HTTP, native, batches, threads
	cd python && $(PACKAGE) $(TOOLS)/python/bin/python -m tests.same_bytes $(OPTIONS)

shots: build need-chromium ## Take screenshots of the page for visual inspection, in target/shots
	CHROMIUM="$$(command -v $(CHROMIUM))" node web/tests/browser/shots.js target/shots

fuzz: ## Fuzz the parsers for ten minutes each (needs nightly Rust and cargo-fuzz)
	cd fuzz && for target in sdf collada npy; do ./run $$target 600 || exit 1; done

# Example: make fuzz-native OPTIONS="--seed 7 --runs 10000"
fuzz-native: build need-gym ## Give the native module random arguments, arrays, saves and call orders
	cd python && $(PACKAGE) $(TOOLS)/python/bin/python -m tests.fuzz_boundary $(OPTIONS)

# Duration in minutes, seed of the requests, real-time factor: make soak MINUTES=2 SEED=7 SPEED=5
MINUTES ?= 10
SEED ?= 1
SPEED ?= 20
soak: build need-python need-judge ## Run the soak test for ten minutes; the report is in target/soak
	$(PYTHON) -m soak $(CHICANE) --minutes $(MINUTES) --seed $(SEED) --speed $(SPEED)

# OTHER="target/debug/chicane" names other builds of chicane. They record runs too, and the release
# program has to verify these runs.
proof: build need-python need-judge ## Verify a hundred runs of ten kinds, falsified ones, and runs ended by kill -9, in target/proof
	$(PYTHON) -m soak.proof $(CHICANE) $(OTHER:%=--other %)

clean: ## Remove all build results
	$(CARGO) clean
	rm -rf web/dist

need-cargo:
	@command -v $(CARGO) >/dev/null || { echo "Rust is missing. Install it with rustup, see https://rustup.rs"; exit 1; }

# Tools are compiled without optimisation and debug information, because that compiles fastest.
INSTALL = CARGO_PROFILE_DEV_DEBUG=none $(CARGO) install --locked --debug
need-nextest:
	@$(CARGO) nextest --version >/dev/null 2>&1 || \
	 { echo "installing cargo-nextest (test runner)"; $(INSTALL) cargo-nextest --version 0.9.143; }

need-deny: need-cargo
	@PATH="$(TOOLS)/bin:$$PATH" $(CARGO) deny --version >/dev/null 2>&1 || \
	 { echo "installing cargo-deny (licence checks)"; \
	   $(INSTALL) cargo-deny --version $(DENY) --root $(TOOLS); }

need-ruff: need-venv
	@test -x $(RUFF) || \
	 { echo "installing ruff (Python lints)"; \
	   $(TOOLS)/python/bin/pip install --quiet --disable-pip-version-check ruff==0.17.4; }

need-mypy: need-venv
	@test -x $(MYPY) || \
	 { echo "installing mypy (Python type checks)"; \
	   $(TOOLS)/python/bin/pip install --quiet --disable-pip-version-check mypy==2.4.1; }

need-maturin: need-venv
	@test -x $(MATURIN) || \
	 { echo "installing maturin and hatchling (Python wheels)"; \
	   $(TOOLS)/python/bin/pip install --quiet --disable-pip-version-check maturin==1.16.0 hatchling==1.33.0; }

need-gym: need-numpy
	@$(TOOLS)/python/bin/python -c 'import gymnasium' 2>/dev/null || \
	 { echo "installing Gymnasium (training environments)"; \
	   $(TOOLS)/python/bin/pip install --quiet --disable-pip-version-check gymnasium==1.4.0; }

need-matplotlib: need-venv
	@$(TOOLS)/python/bin/python -c 'import matplotlib' 2>/dev/null || \
	 { echo "installing matplotlib (learning curve)"; \
	   $(TOOLS)/python/bin/pip install --quiet --disable-pip-version-check matplotlib==3.11.2; }

need-others: need-python
	@$(OTHERS)/bin/python -c 'import metadrive, highway_env, pybullet, Box2D' 2>/dev/null || \
	 { echo "installing other driving environments for the benchmark (700 MB)"; \
	   $(PYTHON) -m venv $(OTHERS) && \
	   $(OTHERS)/bin/pip install --quiet --disable-pip-version-check -r bench/gym/requirements.txt; }

need-schemathesis: need-venv
	@test -x $(SCHEMATHESIS) || \
	 { echo "installing schemathesis (fuzzing of the web API)"; \
	   $(TOOLS)/python/bin/pip install --quiet --disable-pip-version-check schemathesis==4.32.5; }

need-moto: need-venv
	@test -x $(MOTO) || \
	 { echo "installing moto (S3 server for tests of publishing)"; \
	   $(TOOLS)/python/bin/pip install --quiet --disable-pip-version-check 'moto[s3]==5.2.5' flask==3.1.3 flask-cors==6.0.5; }

# A separate venv, because the box of a judged program makes the venv visible to the program.
need-repeat: need-python
	@$(TOOLS)/repeat/bin/python -c 'import requests, numpy, cv2' 2>/dev/null || \
	 { echo "installing requests, NumPy and OpenCV (tests of virtual time, 250 MB)" && \
	   rm -rf $(TOOLS)/repeat && $(PYTHON) -m venv $(TOOLS)/repeat && \
	   $(TOOLS)/repeat/bin/pip install --quiet --disable-pip-version-check \
	     requests==2.34.2 numpy==2.4.6 opencv-python-headless==5.0.0.93; }

# A separate venv, because roslibpy has a dozen dependencies.
need-roslibpy: need-python
	@test -f $(TOOLS)/roslibpy/ready -a ! clients/roslibpy/requirements.txt -nt $(TOOLS)/roslibpy/ready || \
	 { echo "installing roslibpy (tests of the rosbridge endpoint)" && $(PYTHON) -m venv $(TOOLS)/roslibpy && \
	   $(TOOLS)/roslibpy/bin/pip install --quiet --disable-pip-version-check -r clients/roslibpy/requirements.txt && \
	   touch $(TOOLS)/roslibpy/ready; }

# A separate venv, because rosbags has a dozen dependencies.
need-recordings: need-python
	@test -f $(TOOLS)/recordings/ready -a ! clients/recordings/requirements.txt -nt $(TOOLS)/recordings/ready || \
	 { echo "installing mcap and rosbags (tests of recordings)" && $(PYTHON) -m venv $(TOOLS)/recordings && \
	   $(TOOLS)/recordings/bin/pip install --quiet --disable-pip-version-check -r clients/recordings/requirements.txt && \
	   touch $(TOOLS)/recordings/ready; }

# A separate venv, because Ray has many dependencies and takes 360 MB.
need-ray: need-python
	@test -f $(TOOLS)/ray/ready -a ! python/cluster/requirements.txt -nt $(TOOLS)/ray/ready || \
	 { echo "installing Ray (cluster tests, 360 MB)" && $(PYTHON) -m venv $(TOOLS)/ray && \
	   $(TOOLS)/ray/bin/pip install --quiet --disable-pip-version-check -r python/cluster/requirements.txt && \
	   touch $(TOOLS)/ray/ready; }

need-numpy: need-venv
	@$(TOOLS)/python/bin/python -c 'import numpy' 2>/dev/null || \
	 { echo "installing NumPy (tests of waypoint files)"; \
	   $(TOOLS)/python/bin/pip install --quiet --disable-pip-version-check numpy==2.4.6; }

need-ros: need-python need-ip
	@test -e $(TOOLS)/ros/installed || \
	 { echo "installing rclpy and Cyclone DDS (ROS 2 tests, 300 MB)"; \
	   rm -rf $(TOOLS)/ros && $(PYTHON) -m venv $(TOOLS)/ros && \
	   $(TOOLS)/ros/bin/pip install --quiet --disable-pip-version-check -r python/ros/requirements.txt && \
	   touch $(TOOLS)/ros/installed; } || \
	 { echo "Cannot install rclpy and Cyclone DDS. They need Python 3.10 to 3.13 with venv and a connection to PyPI."; exit 1; }

# The command `ip` configures the network namespaces of the ROS 2 tests.
need-ip:
	@PATH="$$PATH:/usr/sbin:/sbin" command -v ip >/dev/null || \
	 { test "$$(id -u)" = 0 && command -v apt-get >/dev/null && echo "installing iproute2 (network namespaces for tests)" && \
	   export DEBIAN_FRONTEND=noninteractive && \
	   { apt-get install -y -qq iproute2 || { apt-get update -qq && apt-get install -y -qq iproute2; }; } >/dev/null 2>&1; } || \
	 { echo "The command ip is missing. Install it with: apt-get install iproute2"; exit 1; }

need-sdformat:
	@{ command -v c++ && pkg-config --list-all | grep -q '^sdformat'; } >/dev/null 2>&1 || \
	 { test "$$(id -u)" = 0 && command -v apt-get >/dev/null && \
	   echo "installing libsdformat (reads worlds as Gazebo does)" && \
	   export DEBIAN_FRONTEND=noninteractive && packages="libsdformat-dev pkg-config g++" && \
	   { apt-get install -y -qq $$packages || { apt-get update -qq && apt-get install -y -qq $$packages; }; } >/dev/null 2>&1; } || \
	 { echo "libsdformat is missing. Install it with: apt-get install libsdformat-dev pkg-config g++"; exit 1; }

need-venv: need-python
	@test -x $(TOOLS)/python/bin/pip || $(PYTHON) -m venv $(TOOLS)/python || \
	 { echo "Python cannot create a venv. Install the module with: apt-get install python3-venv"; exit 1; }

need-python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
	 { echo "Python 3.11 or newer is missing. Install it with: apt-get install python3"; exit 1; }

need-node:
	@command -v npm >/dev/null && node -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 22 || (a == 22 && b >= 12) || (a == 20 && b >= 19) ? 0 : 1)' || \
	 { echo "Node 20.19 or newer with npm is missing. Install it with: apt-get install nodejs npm, or see https://nodejs.org"; exit 1; }

need-chromium:
	@command -v $(CHROMIUM) >/dev/null || \
	 { test "$$(id -u)" = 0 && command -v apt-get >/dev/null && \
	   echo "installing chromium (browser tests)" && \
	   export DEBIAN_FRONTEND=noninteractive && \
	   { apt-get install -y -qq chromium || { apt-get update -qq && apt-get install -y -qq chromium; }; } >/dev/null 2>&1; } || \
	 { echo "Chromium is missing. Install it with: apt-get install chromium"; exit 1; }

need-osmesa: need-python
	@$(PYTHON) -c 'import ctypes.util as u, sys; sys.exit(not u.find_library("OSMesa"))' || \
	 { test "$$(id -u)" = 0 && command -v apt-get >/dev/null && \
	   echo "installing libosmesa6 (software rendering for MuJoCo)" && \
	   export DEBIAN_FRONTEND=noninteractive && \
	   { apt-get install -y -qq libosmesa6 || { apt-get update -qq && apt-get install -y -qq libosmesa6; }; } >/dev/null 2>&1; } || \
	 { echo "OSMesa is missing. Install it with: apt-get install libosmesa6"; exit 1; }

# The tests run real judging scripts, so they need a working judge.
need-judge: build
	@$(CHICANE) setup >/dev/null || { echo "The tests need a judge. Run \`chicane setup\` to see what is missing."; exit 1; }
