#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs every fuzz target for some seconds, starting from its stored inputs.
#
#     fuzz.sh BUILD_DIR SECONDS
#
# New inputs are kept in BUILD_DIR/corpus, inputs that fail in BUILD_DIR.
cd "$(dirname "$0")/.." || exit 1
build=$1 seconds=$2 ret=0 ran=0

for target in "$build"/fuzz/fuzz_*; do
	[ -f "$target" ] && [ -x "$target" ] || continue
	name=${target##*/fuzz_}
	mkdir -p "$build/corpus/$name" "fuzz/corpus/$name"
	echo "== $name"
	"$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 \
		-print_final_stats=0 -verbosity=0 \
		-artifact_prefix="$build/fail-$name-" \
		"$build/corpus/$name" "fuzz/corpus/$name" || ret=1
	ran=$((ran + 1))
done
[ $ran -gt 0 ] || { echo "no fuzz targets in $build/fuzz"; exit 1; }
exit $ret
