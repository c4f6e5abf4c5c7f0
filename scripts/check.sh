#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs the tests of the built directories and counts them.
#
#     check.sh
#
# build        gcc -O3: everything but fuzz targets
# build-asan   gcc, address and undefined-behaviour sanitizers: all but the
#              suites "tree" (about the source, not the program), "slow" (many
#              runs; "determinism" runs each system with this build) and "fuzz"
# build-clang  clang -O0, sanitizers, libFuzzer: compared by the test
#              "determinism"; the fuzz targets, briefly
cd "$(dirname "$0")/.." || exit 1
meson=/usr/bin/meson
# One more than there are cores: some tests wait for processes and browsers.
jobs=$(($(nproc) + 1))

# Other builds of the program, for tests that compare their output.
export WEFT_CLANG="$PWD/build-clang/weft" WEFT_ASAN="$PWD/build-asan/weft"
export ASAN_OPTIONS=detect_leaks=1:abort_on_error=1:detect_stack_use_after_return=0
# tests/mpi/test_launch.py preloads into weft itself.
ASAN_OPTIONS=$ASAN_OPTIONS:verify_asan_link_order=0
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1

rm -f build*/meson-logs/testlog.json
$meson test -C build --no-rebuild --print-errorlogs --num-processes "$jobs" \
	--no-suite fuzz
$meson test -C build-asan --no-rebuild --print-errorlogs \
	--num-processes "$jobs" --timeout-multiplier 4 \
	--no-suite tree --no-suite slow --no-suite fuzz
$meson test -C build-clang --no-rebuild --print-errorlogs \
	--num-processes "$jobs" --timeout-multiplier 4 --suite fuzz
exec /usr/bin/python3 scripts/count-tests.py build build-asan build-clang
