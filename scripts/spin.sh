#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks the protocol models exhaustively with Spin: every line of models/runs,
# against the outcome written there.
#
#     spin.sh [--large] [--trace] [--runs FILE] [WORD...]
#
# --large   the lines for make soak (minutes) instead of those for make check
# --trace   shows the end of every counter-example
# --runs    another table
# WORD      only lines that contain every WORD, e.g. reseq LIVE
#
# Prints a line per run and a count; fails on any surprise.  Without spin or
# a C compiler: skipped (77).
cd "$(dirname "$0")/.." || exit 1
set -f
models=$PWD/models runs=$PWD/models/runs set=small trace=
while :; do
	case ${1:-} in
	--large) set=large ;;
	--trace) trace=1 ;;
	--runs)
		shift
		runs=$(realpath "$1")
		;;
	*) break ;;
	esac
	shift
done
words=$*
cc=${CC:-gcc}
for tool in spin "$cc"; do
	command -v "${tool%% *}" >/dev/null || {
		echo "skipped: $tool is not there (make deps)"
		exit 77
	}
done
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM
cd "$dir" || exit 1

# Prints the verdict of pan: ok, the name in "assertion violated !(name)",
# deadlock, livelock, or incomplete (out of memory or depth: nothing is proven).
outcome()
{
	sed -n -e 's/^pan:[0-9]*: assertion violated  *!(*\([a-z_]*\).*/\1/p' \
		-e 's/^pan:[0-9]*: invalid end state.*/deadlock/p' \
		-e 's/^pan:[0-9]*: acceptance cycle.*/livelock/p' \
		-e 's/^.*max search depth too small.*/incomplete/p' \
		-e 's/^.*reached -DMEMLIM.*/incomplete/p' \
		-e 's/^pan: out of memory.*/incomplete/p' out | head -n 1 |
		grep . || {
		grep -q 'errors: 0' out && echo ok || echo broken
	}
}

# run MODEL OPTION...: leaves pan's words in `out`
run()
{
	model=$1 defs='' mode=-DSAFETY search=''
	shift
	for o; do
		case $o in
		LIVE)
			defs="$defs -DLIVE" mode=-DNFAIR=4
			search="$search -a -f"
			;;
		OPEN) search="$search -E" ;;
		*) defs="$defs -D$o" ;;
		esac
	done
	rm -f pan pan.* ./*.trail
	# shellcheck disable=SC2086
	spin -a $defs "$models/$model.pml" >out 2>&1 &&
		$cc $copt $mode -DMEMLIM=8000 -w -o pan pan.c \
			>>out 2>&1 &&
		./pan -m$depth -w$hash $search >out 2>&1
	# shellcheck disable=SC2086
	if [ -n "$trace" ] && [ -f "$model.pml.trail" ]; then
		spin -k "$model.pml.trail" -p -g -l $defs \
			"$models/$model.pml" 2>&1 | tail -n 200
	fi
}

case $set in
small) copt=-O0 depth=300000 hash=18 ;;
large) copt="-O2 -DCOLLAPSE -DVECTORSZ=4096" depth=15000000 hash=26 ;;
esac

wanted()
{
	for w in $words; do
		case " $1 " in
		*" $w "*) ;;
		*) return 1 ;;
		esac
	done
}

total=0 good=0 states=0
while read -r size model expect options; do
	case $size in
	'' | '#'*) continue ;;
	esac
	[ "$size" = $set ] || continue
	wanted "$model $expect $options" || continue
	# shellcheck disable=SC2086
	run "$model" $options </dev/null
	got=$(outcome)
	n=$(sed -n 's/^ *\([0-9.e+]*\) states, stored.*/\1/p' out | head -n 1)
	n=$(printf %.0f "${n:-0}")
	total=$((total + 1)) states=$((states + n))
	if [ "$got" = "$expect" ]; then
		good=$((good + 1)) mark=ok
	else
		mark="FAIL, expected $expect"
	fi
	printf '%-8s%-10s%11d states  %s  [%s]\n' "$model" "$got" "$n" \
		"$options" "$mark"
	[ "$got" = broken ] && cat out
done <"$runs"
echo "models, $set: $good of $total as expected, $states states"
[ $total -gt 0 ] && [ $good -eq $total ]
