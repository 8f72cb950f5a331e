# make run     build the server and start it on 127.0.0.1:3306 with its data in ./data; root needs no password until an account is made
# make test    everything that CI runs: format, lints, unit, property, golden-script and end-to-end tests
# make bench   the figures of the README, side by side with MariaDB
# make lab     what threads, locks and calls cost on this machine, beside published figures (ARGS="wakeup"); minutes (docs/lab)
# make torture  tries to break it for an hour (ARGS="--seed N --time SECONDS --only PART"), and says what it tried
# make exams   what others have written, set to Paceline and MariaDB side by side (ARGS="tpch --scale 0.1"); minutes to hours
# make fuzz    the fuzz targets, a minute each (needs a nightly toolchain and cargo-fuzz)
# make libpaceline  the client library with the server in it, for C programs, in target/libpaceline/ (docs/embedding.md)
# make python-wheel  the Python module with the server in it, in target/python/ (docs/embedding.md)
# make deb     Debian packages in target/debian/
# make apt-repository DIR=… KEY=…  a signed apt repository of them; KEY is a secret key of gpg
# Each installs what it misses on a fresh Debian, and says so.

CARGO_TARGET_DIR ?= $(CURDIR)/target
export CARGO_TARGET_DIR
PACELINE = $(CARGO_TARGET_DIR)/release/paceline
PORT ?= 3306
DATADIR ?= ./data
SOCKET ?= $(DATADIR)/paceline.sock
# Replicas of 10 million rows are among them: an hour and a half, and 20 GB. REPLICATION_ARGS="--load updates" takes minutes.
REPLICATION_ARGS ?= --load updates,single,read-write --durability on,off --lag 30
# Faults of a cluster beside Patroni: bench/failover.py; empty for none. Its runs wait for Patroni, half a minute each.
FAILOVER_ARGS ?=

.PHONY: build run test bench lab torture exams fuzz libpaceline python-wheel deb apt-repository clean

build:
	tools/install.sh build
	cargo build --release --locked -p paceline --no-default-features

run: build
	$(PACELINE) server --datadir $(DATADIR) --port $(PORT) --socket $(SOCKET) --initialize-insecure $(ARGS)

test:
	tools/install.sh build library test packages
	tools/run_tests.py $(STEPS)

bench:
	tools/install.sh build bench
	cargo build --release --locked
	bench/bench.py $(ARGS)
	bench/replication.py $(REPLICATION_ARGS)
	bench/cluster.py
	cargo build --release --locked -p paceline-embedded --features wasm --examples
	bench/embedded.py
	$(if $(FAILOVER_ARGS),bench/failover.py $(FAILOVER_ARGS))

lab:
	tools/install.sh build lab
	cargo run --release --locked -p paceline-lab -- $(or $(ARGS),all)

torture:
	tools/install.sh build test
	mkdir -p $(CARGO_TARGET_DIR)
	tools/earlier_build.sh >$(CARGO_TARGET_DIR)/earlier.path
	cargo build --release --locked
	PACELINE_BINARY=$(PACELINE) .venv/bin/python tests/torture/run.py $(ARGS)
	cargo run --release --locked -p paceline-cluster --example simulate
	PACELINE_BINARY=$(PACELINE) .venv/bin/python -m pytest -q -p no:cacheprovider --effort 2.5 tests/replication/test_cluster_balancer.py
	PACELINE_BINARY=$(PACELINE) PACELINE_EARLIER=$$(cat $(CARGO_TARGET_DIR)/earlier.path) \
		.venv/bin/python -m pytest -q -rs -p no:cacheprovider tests/replication/test_cluster_upgrade.py

exams:
	tools/install.sh build test exams
	cargo build --release --locked
	PACELINE_BINARY=$(PACELINE) .venv/bin/python tests/exams/run.py $(ARGS)

fuzz:
	tools/install.sh build
	tools/fuzz.sh

libpaceline:
	tools/install.sh build library
	tools/build_libpaceline.sh

python-wheel:
	tools/install.sh build python
	tools/build_python_wheel.sh

deb:
	tools/install.sh build library packages
	packaging/build_deb.sh

apt-repository:
	tools/install.sh packages
	packaging/apt_repository.sh "$(DIR)" "$(KEY)"

clean:
	cargo clean
