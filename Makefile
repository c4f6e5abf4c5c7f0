# SPDX-License-Identifier: Apache-2.0
# The few names people type; Meson and Ninja do the work.
#
#   make          build/weft (installs nothing; see deps)
#   make run      the published numbers, computed and compared; the page
#                 build/report.html
#   make check    every test, twice: as shipped and under sanitizers
#   make bench    speed of the simulator itself
#   make soak     larger models; 10^8 packets of every traffic pattern; a
#                 thousand mutants (hours)
#   make mutate   changes the program in small ways: which does no test notice?
#                 e.g. MUTATE="--sample 600 --path src/systems"
#   make coverage lines and error paths that no test takes
#   make fuzz     the fuzz targets, FUZZ_SECONDS each (60)
#   make deps     install missing packages, or say which; deps-mpi: also Open
#                 MPI and programs for it
#   make golden   write results of experiments that tests compare (tests/golden)
#   make expected write sessions that tests compare (tests/cli/expected)
#   make truth    which parameters move each published row (docs/truth.md)
#   make docs, format, format-check, install, clean

# Debian's own: another Python earlier in PATH may bring another meson.
MESON ?= /usr/bin/meson
NINJA ?= /usr/bin/ninja
PREFIX ?= /usr/local
# e.g. SYSTEM=extoll; default: all
SYSTEM ?=
FUZZ_SECONDS ?= 60
# e.g. SOAK="--seed 7"
SOAK ?=

MUTATE ?= --sample 100

SANITIZE = -Db_sanitize=address,undefined -Db_lundef=false
COVERAGE = -Dc_args=-fsanitize=fuzzer-no-link

all: build

# Builds in $(1) and puts the program where people look for it.
ninja = ln -sf src/front/weft $(1)/weft && $(NINJA) -C $(1)

build: build/build.ninja
	$(call ninja,build)

build/build.ninja:
	CC=$${CC:-gcc} $(MESON) setup build --prefix $(PREFIX)

# -Og compiles in two thirds of the time that -O1 takes, a tenth slower; gold,
# which comes with ld, links 240 programs in a third of the time.
build-asan/build.ninja:
	CC=gcc CC_LD=gold $(MESON) setup build-asan $(SANITIZE) -Doptimization=g

# Compiles in a third of the time that -O1 takes; half as fast.
build-clang/build.ninja:
	CC=clang $(MESON) setup build-clang $(SANITIZE) $(COVERAGE) \
		-Doptimization=0

build-fuzz/build.ninja:
	CC=clang $(MESON) setup build-fuzz $(SANITIZE) $(COVERAGE) \
		-Doptimization=1

build-plain/build.ninja:
	CC=clang $(MESON) setup build-plain -Doptimization=0

build-coverage/build.ninja:
	CC=gcc CC_LD=gold $(MESON) setup build-coverage -Db_coverage=true \
		-Doptimization=1 -Dwerror=false

run: deps
	$(MAKE) build
	@build/weft reproduce $(SYSTEM) --out build/$(or $(SYSTEM),all).db; \
	status=$$?; [ $$status -gt 1 ] && exit $$status; \
	build/weft report build/$(or $(SYSTEM),all).db --quiet \
		--out build/report.html && \
		echo "open build/report.html in a browser"; \
	exit $$status

# What only tests need is installed meanwhile; a build without Open MPI that was
# there before is configured again.
check: deps
	@scripts/deps.sh check --ahead
	$(MAKE) build-asan/build.ninja build-clang/build.ninja
	$(call ninja,build-asan)
	$(call ninja,build-clang) src/front/weft fuzzers
	@scripts/deps.sh check
	$(MAKE) build/build.ninja
	grep -q tests/mpi/all64 build/build.ninja || \
		$(MESON) setup --reconfigure build
	$(MAKE) build
	scripts/check.sh

bench: build
	build/weft bench

soak: build
	scripts/spin.sh --large
	scripts/soak.sh build/weft $(SOAK)
	$(MAKE) mutate MUTATE="--sample 1000 --least 90"

mutate: build build-coverage/build.ninja
	$(NINJA) -C build-coverage
	/usr/bin/python3 scripts/mutate $(MUTATE)

coverage: build-coverage/build.ninja
	$(NINJA) -C build-coverage
	/usr/bin/python3 scripts/mutate --coverage
	$(MESON) test -C build-coverage --no-rebuild --suite unit
	scripts/check-scenarios.py --counted build-coverage .

fuzz: build-fuzz/build.ninja
	$(NINJA) -C build-fuzz fuzzers
	scripts/fuzz.sh build-fuzz $(FUZZ_SECONDS)

deps:
	@scripts/deps.sh

deps-mpi:
	@scripts/deps.sh mpi

# Fills the generated tables of docs/ and docs/systems/.
docs: build
	scripts/docs.py build/weft

# Parameters behind each published row: docs/truth.md, tests/system/rows.json.
truth: build
	scripts/truth.py build/weft

# Results that tests/golden compares: a change of a model is a decision.
golden: build
	tests/golden/golden.py build/weft --write tests/golden/*.txt \
		tests/golden/varied/*.txt
	tests/random/campaign.py build/weft --count 3180 \
		--write tests/random/golden.txt
	tests/system/test_attached.py build/weft . build --write
	for t in tests/replay/*.txt; do n=$$(basename $$t .txt); \
		[ $$n = units ] || \
		build/tests/replay/replay_$$n $$t fuzz/corpus/$$n --write || \
		exit 1; done
	rm -f build/units.txt
	REPLAY_WRITE=$(abspath build/units.txt) $(MESON) test -C build \
		--no-rebuild --suite units
	LC_ALL=C sort build/units.txt > tests/replay/units.txt

# Commands and what they print: look at the difference.
expected: build
	tests/cli/test_expected.py build/src/front/weft \
		build/tests/cli/weft-test-plug.so --write tests/cli/expected/*.txt
	tests/cli/varied.py build/src/front/weft --write tests/cli/varied/*.txt

format:
	scripts/format.sh

format-check:
	scripts/format.sh --check

# What must hold before a change leaves the desk: the tests and the libraries of
# processes compile with clang too.
pre-push: format-check check build-plain/build.ninja
	$(NINJA) -C build-plain

# The prefix of the first configuration does not win over the one that is given.
install: build
	$(MESON) configure build -Dprefix=$(abspath $(PREFIX))
	$(call ninja,build)
	$(MESON) install -C build --no-rebuild

clean:
	rm -rf build build-asan build-clang build-coverage build-fuzz \
		build-mutate build-plain

.PHONY: truth golden expected all build run check bench soak mutate coverage fuzz deps deps-mpi docs \
	format format-check pre-push install clean
