# Chicane. `make run` and `make test` are all a new machine needs; both may be run again.

CARGO ?= cargo
PYTHON ?= python3
CHROMIUM ?= chromium
CHICANE = target/release/chicane
# More words for the simulator: make run ARGS="--world technical --speed 2"
ARGS ?=

# Tools of the checks, installed beside what they check and nowhere else, but for cargo-nextest.
TOOLS = $(CURDIR)/target/tools
RUFF = $(TOOLS)/python/bin/ruff
SCHEMATHESIS = $(TOOLS)/python/bin/schemathesis
MOTO = $(TOOLS)/python/bin/moto_server
MYPY = $(TOOLS)/python/bin/mypy
# The package for Python as it lies here, and the program that it starts.
PACKAGE = CHICANE=$(CURDIR)/$(CHICANE) PYTHONPATH=$(CURDIR)/python/src
ROSLIBPY = $(TOOLS)/roslibpy/bin/python
# An rclpy and a Cyclone DDS of their own: what they bring may not meet the tools above.
ROS = $(TOOLS)/ros/bin/python
OTHERS = $(CURDIR)/target/bench-venv

# Nothing here is a file of its name, but what has a slash in it.
.PHONY: $(shell sed -n 's/^\([a-z-]*\):.*/\1/p' $(lastword $(MAKEFILE_LIST)))

help: ## Say what there is to make
	@grep -E '^[a-z-]+: .*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 16

build: need-cargo viewer ## Build the release program and all that it needs
	$(CARGO) build --release --locked -p chicane
	@$(CHICANE) setup || echo "The simulator is built; evaluations can't be run before chicane setup works."

wheel: build ## Build the wheel that carries the program, in target/wheel
	@mkdir -p target/wheel
	strip -o target/wheel/chicane $(CHICANE)
	$(PYTHON) python/backend.py target/wheel/chicane target/wheel
	@rm target/wheel/chicane

viewer: web/dist/index.html ## Build the page at /sim, which becomes part of the program

web/dist/index.html: web/node_modules/.package-lock.json web/index.html web/vite.config.ts $(shell find web/src web/public -type f)
	cd web && node_modules/.bin/vite build --logLevel warn

run: build ## Build, then start the simulator (ARGS="--world technical" and the like are handed on)
	$(CHICANE) serve $(ARGS)

test: need-cargo need-nextest need-python ## Everything that must pass
	@# Others that ours is held against are fetched while it is built.
	@$(MAKE) --no-print-directory peers & peers=$$!; \
	 $(MAKE) --no-print-directory check build need-judge need-gym need-schemathesis need-moto && wait $$peers
	@$(MAKE) --no-print-directory second-opinion readers ros clients
	$(PACKAGE) $(TOOLS)/python/bin/python -m unittest discover -s python/tests -t python
	cd docs && CHICANE="$(CURDIR)/$(CHICANE)" $(PYTHON) -m unittest discover -s runner/tests -t .
	$(TOOLS)/python/bin/python docs/run.py $(CHICANE)
	$(PYTHON) -m unittest discover -s soak/tests -t .
	$(PYTHON) -m soak $(CHICANE) --short --out target/soak-short
	$(PYTHON) -m unittest discover -s bench/tests -t bench
	$(PYTHON) fuzz/http/run.py $(CHICANE) $(SCHEMATHESIS)
	cd web && node_modules/.bin/vitest run
	node web/scripts/wire.js $(CHICANE) --check
	cd web && CHROMIUM="$$(command -v $(CHROMIUM))" node_modules/.bin/vitest run --config vitest.browser.config.ts
	MOTO_SERVER=$(MOTO) $(CARGO) nextest run --workspace --release --locked

check: need-cargo need-deny need-ruff need-mypy need-gym viewer ## Formatting, lints, documentation, licences
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --release --locked --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --release --locked --no-deps --quiet
	PATH="$(TOOLS)/bin:$$PATH" $(CARGO) deny --locked check licenses bans sources
	web/node_modules/.bin/tsc -p web
	$(RUFF) check python docs fuzz examples readers worlds bench soak clients crates
	$(RUFF) format --check python docs fuzz examples readers worlds bench soak clients crates
	$(MYPY) --config-file python/pyproject.toml python/src/chicane python/scripts python/backend.py

peers: need-chromium need-sdformat need-ros need-roslibpy clients/roslib/node_modules/.package-lock.json

ros: build need-ros ## Have Cyclone DDS and rclpy listen to our topics and drive the car
	$(ROS) python/ros/run.py $(CHICANE) test_cyclone test_crowd test_hostile
	$(ROS) python/ros/run.py $(CHICANE) test_outside
	$(ROS) python/ros/run.py $(CHICANE) test_rclpy

second-opinion: need-cargo need-chromium viewer ## Compare our pictures with what three.js draws in a browser
	$(CARGO) run --release --locked --quiet -p chicane-bench --bin second-opinion target/second-opinion
	CHROMIUM="$$(command -v $(CHROMIUM))" node web/second-opinion/run.js target/second-opinion

readers: build $(TOOLS)/poses need-chromium need-numpy web/node_modules/.package-lock.json ## Have libsdformat, three.js and NumPy read our worlds
	$(CARGO) build --release --locked --quiet -p chicane-bench --bin readers
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

clients: build need-roslibpy clients/roslib/node_modules/.package-lock.json ## Have roslibpy and roslib speak with the bridge
	CHICANE_PROGRAM=$(CURDIR)/$(CHICANE) $(ROSLIBPY) -m unittest discover -s clients/roslibpy
	CHICANE_PROGRAM=$(CURDIR)/$(CHICANE) node --test clients/roslib/roslib.test.js

$(TOOLS)/poses: readers/poses.cc | need-sdformat
	@mkdir -p $(TOOLS)
	c++ -std=c++17 -O1 $< -o $@ $$(pkg-config --cflags --libs $$(pkg-config --list-all | grep -o '^sdformat[0-9]*' | tail -1))

web/node_modules/.package-lock.json: web/package-lock.json | need-node
	cd web && npm ci --no-audit --no-fund --loglevel=error
	@touch $@

clients/roslib/node_modules/.package-lock.json: clients/roslib/package-lock.json | need-node
	cd clients/roslib && npm ci --no-audit --no-fund --loglevel=error
	@touch $@

# QUICK=1 takes some four minutes instead of six; PUBLISH=1 writes docs/BENCHMARKS.md and its picture;
# AGAINST=<file> compares with that result instead of the last one; ONLY="step lidar" does some of it;
# JOIN=<file> takes in contests that another benchmark held (bench/compare/joined.py).
bench: build need-python need-osmesa need-others ## Compare with other simulators, side by side in one run
	$(CARGO) build --release --locked -p chicane-bench --bin contender --bin http --bin judge
	PYTHONPATH=bench $(PYTHON) -m compare --chicane $(CHICANE) --programs target/release --others $(OTHERS)/bin/python \
	  $(if $(QUICK),--quick) $(if $(PUBLISH),--publish) $(if $(AGAINST),--against $(AGAINST)) $(ONLY:%=--only %) $(JOIN:%=--join %)

figures: build need-chromium need-ros ## Print the figures of the core, the service, the camera, the robot, worlds, the judge, ROS 2 and the page
	$(CARGO) run --release --locked -p chicane-bench --bin core
	$(CARGO) run --release --locked -p chicane-bench --bin http
	$(CARGO) run --release --locked -p chicane-bench --bin camera
	$(CARGO) run --release --locked -p chicane-bench --bin robot
	$(CARGO) run --release --locked -p chicane-bench --bin worlds
	$(CARGO) run --release --locked -p chicane-bench --bin install
	$(CARGO) run --release --locked -p chicane-bench --bin judge
	$(CARGO) run --release --locked -p chicane-bench --bin ros $(CHICANE) $(ROS)
	CHROMIUM="$$(command -v $(CHROMIUM))" node web/bench/viewer.js

worlds: build ## Build the shipped worlds into target/worlds, to look at their files
	for project in worlds/*.json; do $(CHICANE) build $$project -o target/worlds/$$(basename $$project .json) || exit 1; done

wire: build ## Write the wire types of the page and of the Python package anew from the OpenAPI documents
	node web/scripts/wire.js $(CHICANE)
	$(PYTHON) python/scripts/wire.py $(CHICANE)

curve: build need-gym need-matplotlib ## Train anew and draw the learning curve, docs/learning.png
	$(PACKAGE) $(TOOLS)/python/bin/python examples/train.py --picture docs/learning.png

shots: build need-chromium ## Take pictures of the page for people to look at, in target/shots
	CHROMIUM="$$(command -v $(CHROMIUM))" node web/tests/browser/shots.js target/shots

fuzz: ## Fuzz the parsers, ten minutes each (needs a nightly toolchain and cargo-fuzz)
	cd fuzz && for target in sdf collada npy; do ./run $$target 600 || exit 1; done

# How long, which plan, how fast: make soak MINUTES=2 SEED=7 SPEED=5
MINUTES ?= 10
SEED ?= 1
SPEED ?= 20
soak: build need-python need-judge ## Ten minutes of everything at once, checked against the contract; the report is in target/soak
	$(PYTHON) -m soak $(CHICANE) --minutes $(MINUTES) --seed $(SEED) --speed $(SPEED)

clean: ## Remove what was built
	$(CARGO) clean
	rm -rf web/dist

need-cargo:
	@command -v $(CARGO) >/dev/null || { echo "Rust is missing: install it with rustup, see https://rustup.rs"; exit 1; }

need-nextest:
	@$(CARGO) nextest --version >/dev/null 2>&1 || \
	 { echo "installing cargo-nextest, the test runner"; $(CARGO) install cargo-nextest --version 0.9.143 --locked --debug; }

need-deny: need-cargo
	@PATH="$(TOOLS)/bin:$$PATH" $(CARGO) deny --version >/dev/null 2>&1 || \
	 { echo "installing cargo-deny, which checks licences"; \
	   $(CARGO) install cargo-deny --version 0.20.2 --locked --debug --root $(TOOLS); }

need-ruff: need-venv
	@test -x $(RUFF) || \
	 { echo "installing ruff, which checks Python"; \
	   $(TOOLS)/python/bin/pip install --quiet --disable-pip-version-check ruff==0.17.4; }

need-mypy: need-venv
	@test -x $(MYPY) || \
	 { echo "installing mypy, which checks the types of Python"; \
	   $(TOOLS)/python/bin/pip install --quiet --disable-pip-version-check mypy==2.4.1; }

need-gym: need-numpy
	@$(TOOLS)/python/bin/python -c 'import gymnasium' 2>/dev/null || \
	 { echo "installing Gymnasium, whose environments we offer"; \
	   $(TOOLS)/python/bin/pip install --quiet --disable-pip-version-check gymnasium==1.4.0; }

need-matplotlib: need-venv
	@$(TOOLS)/python/bin/python -c 'import matplotlib' 2>/dev/null || \
	 { echo "installing matplotlib, which draws the learning curve"; \
	   $(TOOLS)/python/bin/pip install --quiet --disable-pip-version-check matplotlib==3.11.2; }

need-others: need-python
	@$(OTHERS)/bin/python -c 'import metadrive, highway_env, pybullet, Box2D' 2>/dev/null || \
	 { echo "installing environments of others, to compare with (700 MB)"; \
	   $(PYTHON) -m venv $(OTHERS) && \
	   $(OTHERS)/bin/pip install --quiet --disable-pip-version-check -r bench/gym/requirements.txt; }

need-schemathesis: need-venv
	@test -x $(SCHEMATHESIS) || \
	 { echo "installing schemathesis, which fuzzes the web API"; \
	   $(TOOLS)/python/bin/pip install --quiet --disable-pip-version-check schemathesis==4.32.5; }

need-moto: need-venv
	@test -x $(MOTO) || \
	 { echo "installing moto, a server of buckets that worlds are published to"; \
	   $(TOOLS)/python/bin/pip install --quiet --disable-pip-version-check 'moto[s3]==5.2.5' flask==3.1.3 flask-cors==6.0.5; }

# In a venv of its own, since it brings a dozen packages.
need-roslibpy: need-python
	@test -f $(TOOLS)/roslibpy/ready -a ! clients/roslibpy/requirements.txt -nt $(TOOLS)/roslibpy/ready || \
	 { echo "installing roslibpy, which speaks with the bridge" && $(PYTHON) -m venv $(TOOLS)/roslibpy && \
	   $(TOOLS)/roslibpy/bin/pip install --quiet --disable-pip-version-check -r clients/roslibpy/requirements.txt && \
	   touch $(TOOLS)/roslibpy/ready; }

need-numpy: need-venv
	@$(TOOLS)/python/bin/python -c 'import numpy' 2>/dev/null || \
	 { echo "installing NumPy, which reads our waypoints"; \
	   $(TOOLS)/python/bin/pip install --quiet --disable-pip-version-check numpy==2.4.6; }

need-ros: need-python need-ip
	@test -e $(TOOLS)/ros/installed || \
	 { echo "installing rclpy and Cyclone DDS, which listen to our topics (300 MB)"; \
	   rm -rf $(TOOLS)/ros && $(PYTHON) -m venv $(TOOLS)/ros && \
	   $(TOOLS)/ros/bin/pip install --quiet --disable-pip-version-check -r python/ros/requirements.txt && \
	   touch $(TOOLS)/ros/installed; } || \
	 { echo "rclpy and Cyclone DDS could not be installed: they need Python 3.10 to 3.13 with venv, and the Python package index"; exit 1; }

# Tests of the network happen in a network of their own.
need-ip:
	@PATH="$$PATH:/usr/sbin:/sbin" command -v ip >/dev/null || \
	 { test "$$(id -u)" = 0 && command -v apt-get >/dev/null && echo "installing iproute2, which makes networks for tests" && \
	   export DEBIAN_FRONTEND=noninteractive && \
	   { apt-get install -y -qq iproute2 || { apt-get update -qq && apt-get install -y -qq iproute2; }; } >/dev/null 2>&1; } || \
	 { echo "ip is missing: apt-get install iproute2"; exit 1; }

need-sdformat:
	@{ command -v c++ && pkg-config --list-all | grep -q '^sdformat'; } >/dev/null 2>&1 || \
	 { test "$$(id -u)" = 0 && command -v apt-get >/dev/null && \
	   echo "installing libsdformat, which reads our worlds as Gazebo would" && \
	   export DEBIAN_FRONTEND=noninteractive && packages="libsdformat-dev pkg-config g++" && \
	   { apt-get install -y -qq $$packages || { apt-get update -qq && apt-get install -y -qq $$packages; }; } >/dev/null 2>&1; } || \
	 { echo "libsdformat is missing: apt-get install libsdformat-dev pkg-config g++"; exit 1; }

need-venv: need-python
	@test -x $(TOOLS)/python/bin/pip || $(PYTHON) -m venv $(TOOLS)/python || \
	 { echo "Python can't make a venv: apt-get install python3-venv"; exit 1; }

need-python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
	 { echo "Python 3.11 or newer is missing: apt-get install python3"; exit 1; }

need-node:
	@command -v npm >/dev/null && node -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 22 || (a == 22 && b >= 12) || (a == 20 && b >= 19) ? 0 : 1)' || \
	 { echo "Node 20.19 or newer with npm is missing: apt-get install nodejs npm, or see https://nodejs.org"; exit 1; }

need-chromium:
	@command -v $(CHROMIUM) >/dev/null || \
	 { test "$$(id -u)" = 0 && command -v apt-get >/dev/null && \
	   echo "installing chromium, the browser that gives a second opinion on our pictures" && \
	   export DEBIAN_FRONTEND=noninteractive && \
	   { apt-get install -y -qq chromium || { apt-get update -qq && apt-get install -y -qq chromium; }; } >/dev/null 2>&1; } || \
	 { echo "Chromium is missing: apt-get install chromium"; exit 1; }

need-osmesa: need-python
	@$(PYTHON) -c 'import ctypes.util as u, sys; sys.exit(not u.find_library("OSMesa"))' || \
	 { test "$$(id -u)" = 0 && command -v apt-get >/dev/null && \
	   echo "installing libosmesa6, with which MuJoCo draws without a graphics card" && \
	   export DEBIAN_FRONTEND=noninteractive && \
	   { apt-get install -y -qq libosmesa6 || { apt-get update -qq && apt-get install -y -qq libosmesa6; }; } >/dev/null 2>&1; } || \
	 { echo "OSMesa is missing: apt-get install libosmesa6"; exit 1; }

# The tests run real judging scripts, and fail where that can't be done.
need-judge: build
	@$(CHICANE) setup >/dev/null || { echo "The tests need a judge: see what chicane setup says"; exit 1; }
