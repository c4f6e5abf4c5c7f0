#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# One fuzz target over its stored inputs, then some seconds of new ones, which
# are thrown away.
#
#     run.sh TARGET CORPUS SECONDS
target=$(realpath "$1") corpus=$(realpath "$2") || exit 1
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
cd "$dir" && mkdir new || exit 1
"$target" -seed=1 -max_total_time="$3" -timeout=20 -rss_limit_mb=2048 -verbosity=0 \
	"$dir/new" "$corpus"
ret=$?
if [ $ret -ne 0 ]; then
	ret=1 # libFuzzer's own 77 would read as "skipped"
	for f in "$dir"/crash-* "$dir"/timeout-* "$dir"/oom-*; do
		[ -f "$f" ] && { echo "failing input:"; od -c "$f" | head -50; }
	done
fi
exit $ret
