#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The long test: every experiment called soak-*, which says itself how many
# packets it sends.  Nothing lost, nothing damaged, all credits home.
#
#     soak.sh WEFT [OPTION...]     options as of `weft run`, e.g. --seed 7
cd "$(dirname "$0")/.." || exit 1
weft=$1
shift
ret=0 ran=0

for file in experiments/*/soak-*.yaml; do
	[ -f "$file" ] || continue
	echo "== $file"
	"$weft" run "$file" "$@" || ret=1
	ran=$((ran + 1))
done
[ $ran -gt 0 ] || { echo "no soak experiments"; exit 1; }
exit $ret
