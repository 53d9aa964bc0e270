# Chicane. `make run` and `make test` are all a new machine needs; both may be run again.

CARGO ?= cargo
PYTHON ?= python3
CHROMIUM ?= chromium
CHICANE = target/release/chicane
# More words for the simulator: make run ARGS="--world technical --speed 2"
ARGS ?=

# Tools of the checks, installed beside what they check and nowhere else.
TOOLS = $(CURDIR)/target/tools
RUFF = $(TOOLS)/python/bin/ruff
SCHEMATHESIS = $(TOOLS)/python/bin/schemathesis
ROSLIBPY = $(TOOLS)/roslibpy/bin/python
# An rclpy and a Cyclone DDS of their own: what they bring may not meet the tools above.
ROS = $(TOOLS)/ros/bin/python

.PHONY: help build viewer wire shots run test check bench worlds fuzz clean second-opinion readers clients need-sdformat need-numpy need-cargo need-nextest need-deny need-ruff need-schemathesis need-roslibpy need-venv need-python need-node need-chromium need-judge need-ros ros

help: ## Say what there is to make
	@grep -E '^[a-z-]+: .*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 16

build: need-cargo viewer ## Build the release program and all that it needs
	$(CARGO) build --release --locked -p chicane
	@$(CHICANE) setup || echo "The simulator is built; evaluations can't be run before chicane setup works."

viewer: web/dist/index.html ## Build the page at /sim, which becomes part of the program

web/dist/index.html: web/node_modules/.package-lock.json web/index.html web/vite.config.ts $(shell find web/src web/public -type f)
	cd web && node_modules/.bin/vite build --logLevel warn

run: build ## Build, then start the simulator (ARGS="--world technical" and the like are handed on)
	$(CHICANE) serve $(ARGS)

test: need-cargo need-nextest need-python need-schemathesis check build need-judge second-opinion readers ros clients ## Everything that must pass
	$(PYTHON) -m unittest discover -s python/tests -t python
	$(PYTHON) fuzz/http/run.py $(CHICANE) $(SCHEMATHESIS)
	cd web && node_modules/.bin/vitest run
	node web/scripts/wire.js $(CHICANE) --check
	cd web && CHROMIUM="$$(command -v $(CHROMIUM))" node_modules/.bin/vitest run --config vitest.browser.config.ts
	$(CARGO) nextest run --workspace --release --locked

check: need-cargo need-deny need-ruff viewer ## Formatting, lints, documentation, licences
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --release --locked --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --release --locked --no-deps --quiet
	PATH="$(TOOLS)/bin:$$PATH" $(CARGO) deny --locked check licenses bans sources
	web/node_modules/.bin/tsc -p web
	$(RUFF) check python fuzz examples readers worlds clients
	$(RUFF) format --check python fuzz examples readers worlds clients

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

bench: build need-chromium need-ros ## Print the figures of the core, the service, the camera, the robot, worlds, the judge, ROS 2 and the page
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

wire: build ## Write the page's wire types anew from the OpenAPI documents
	node web/scripts/wire.js $(CHICANE)

shots: build need-chromium ## Take pictures of the page for people to look at, in target/shots
	CHROMIUM="$$(command -v $(CHROMIUM))" node web/tests/browser/shots.js target/shots

fuzz: ## Fuzz the parsers, ten minutes each (needs a nightly toolchain and cargo-fuzz)
	cd fuzz && for target in sdf collada npy; do ./run $$target 600 || exit 1; done

clean: ## Remove what was built
	$(CARGO) clean
	rm -rf web/dist

need-cargo:
	@command -v $(CARGO) >/dev/null || { echo "Rust is missing: install it with rustup, see https://rustup.rs"; exit 1; }

need-nextest:
	@$(CARGO) nextest --version >/dev/null 2>&1 || \
	 { echo "installing cargo-nextest, the test runner"; $(CARGO) install cargo-nextest --version 0.9.143 --locked; }

need-deny: need-cargo
	@PATH="$(TOOLS)/bin:$$PATH" $(CARGO) deny --version >/dev/null 2>&1 || \
	 { echo "installing cargo-deny, which checks licences"; \
	   $(CARGO) install cargo-deny --version 0.20.2 --locked --root $(TOOLS); }

need-ruff: need-venv
	@test -x $(RUFF) || \
	 { echo "installing ruff, which checks Python"; \
	   $(TOOLS)/python/bin/pip install --quiet --disable-pip-version-check ruff==0.17.4; }

need-schemathesis: need-venv
	@test -x $(SCHEMATHESIS) || \
	 { echo "installing schemathesis, which fuzzes the web API"; \
	   $(TOOLS)/python/bin/pip install --quiet --disable-pip-version-check schemathesis==4.32.5; }

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

need-ros: need-python
	@test -e $(TOOLS)/ros/installed || \
	 { echo "installing rclpy and Cyclone DDS, which listen to our topics (300 MB)"; \
	   rm -rf $(TOOLS)/ros && $(PYTHON) -m venv $(TOOLS)/ros && \
	   $(TOOLS)/ros/bin/pip install --quiet --disable-pip-version-check -r python/ros/requirements.txt && \
	   touch $(TOOLS)/ros/installed; } || \
	 { echo "rclpy and Cyclone DDS could not be installed: they need Python 3.10 to 3.13 with venv, and the Python package index"; exit 1; }

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
	@command -v $(PYTHON) >/dev/null || { echo "Python 3.11 or newer is missing: apt-get install python3"; exit 1; }

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

# The tests run real judging scripts, and fail where that can't be done.
need-judge: build
	@$(CHICANE) setup >/dev/null || { echo "The tests need a judge: see what chicane setup says"; exit 1; }
