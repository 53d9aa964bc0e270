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

.PHONY: help build run test check bench worlds fuzz clean second-opinion need-cargo need-nextest need-deny need-ruff need-schemathesis need-venv need-python need-node need-chromium need-judge

help: ## Say what there is to make
	@grep -E '^[a-z-]+: .*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 16

build: need-cargo ## Build the release program and all that it needs
	$(CARGO) build --release --locked -p chicane
	@$(CHICANE) setup || echo "The simulator is built; evaluations can't be run before chicane setup works."

run: build ## Build, then start the simulator (ARGS="--world technical" and the like are handed on)
	$(CHICANE) serve $(ARGS)

test: need-cargo need-nextest need-python need-schemathesis check build need-judge second-opinion ## Everything that must pass
	$(PYTHON) -m unittest discover -s python/tests -t python
	$(PYTHON) fuzz/http/run.py $(CHICANE) $(SCHEMATHESIS)
	$(CARGO) nextest run --workspace --release --locked

check: need-cargo need-deny need-ruff ## Formatting, lints, documentation, licences
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --release --locked --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --release --locked --no-deps --quiet
	PATH="$(TOOLS)/bin:$$PATH" $(CARGO) deny --locked check licenses bans sources
	$(RUFF) check python fuzz examples
	$(RUFF) format --check python fuzz examples

second-opinion: need-cargo need-chromium web/node_modules/.package-lock.json ## Compare our pictures with what three.js draws in a browser
	$(CARGO) run --release --locked --quiet -p chicane-bench --bin second-opinion target/second-opinion
	web/node_modules/.bin/tsc -p web
	CHROMIUM="$$(command -v $(CHROMIUM))" node web/second-opinion/run.js target/second-opinion

web/node_modules/.package-lock.json: web/package-lock.json | need-node
	cd web && npm ci --no-audit --no-fund --loglevel=error
	@touch $@

bench: build ## Print the figures of the core, the service, the camera, the robot, worlds and the judge
	$(CARGO) run --release --locked -p chicane-bench --bin core
	$(CARGO) run --release --locked -p chicane-bench --bin http
	$(CARGO) run --release --locked -p chicane-bench --bin camera
	$(CARGO) run --release --locked -p chicane-bench --bin robot
	$(CARGO) run --release --locked -p chicane-bench --bin worlds
	$(CARGO) run --release --locked -p chicane-bench --bin judge

worlds: need-cargo ## Write the shipped worlds anew
	$(CARGO) run --release --locked -p chicane-testkit --bin make-worlds worlds

fuzz: ## Fuzz the parsers, ten minutes each (needs a nightly toolchain and cargo-fuzz)
	cd fuzz && for target in sdf collada npy; do ./run $$target 600 || exit 1; done

clean: ## Remove what was built
	$(CARGO) clean

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

need-venv: need-python
	@test -x $(TOOLS)/python/bin/pip || $(PYTHON) -m venv $(TOOLS)/python || \
	 { echo "Python can't make a venv: apt-get install python3-venv"; exit 1; }

need-python:
	@command -v $(PYTHON) >/dev/null || { echo "Python 3.11 or newer is missing: apt-get install python3"; exit 1; }

need-node:
	@command -v npm >/dev/null && node -e 'process.exit(typeof require("zlib").crc32 == "function" ? 0 : 1)' || \
	 { echo "Node 20.15 or newer with npm is missing: apt-get install nodejs npm, or see https://nodejs.org"; exit 1; }

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
