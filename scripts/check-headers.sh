#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every header but those of tests compiles alone, twice in a row, with the first
# compiler given; the public ones with each.
#
#     check-headers.sh ROOT COMPILER...
#     check-headers.sh --self-test
set -u

check() { # ROOT COMPILER FOLDER...
	root=$1 cc=$2 bad=0
	shift 2
	for h in $(cd "$root" && find "$@" -name '*.h' \
		! -path '*/tests/*' | sort); do
		printf '#include "%s"\n#include "%s"\n' "${h#*/}" "${h#*/}" |
			"$cc" -x c -std=gnu11 -D_GNU_SOURCE -fsyntax-only \
				-Wall -Wextra -Werror -Wno-unused-parameter \
				-Wno-unused-function -Wmissing-prototypes \
				-Wno-missing-field-initializers \
				-I"$root/include" -I"$root/src" - ||
			{ echo "$h does not stand alone ($cc)"; bad=1; }
	done
	return $bad
}

self_test() {
	dir=$(mktemp -d) || exit 1
	trap 'rm -rf "$dir"' EXIT
	mkdir -p "$dir/include" "$dir/src/base"
	echo '#include <stdint.h>' >"$dir/src/base/good.h"
	check "$dir" cc include src || { echo "a good header is refused"; exit 1; }
	echo 'static inline uint32_t f(void) { return 1; }' \
		>"$dir/src/base/bad.h"
	check "$dir" cc include src >"$dir/log" 2>&1 &&
		{ echo "a bad header is not found"; exit 1; }
	grep -q 'src/base/bad.h does not stand alone' "$dir/log"
}

if [ "$1" = --self-test ]; then
	self_test
	exit
fi
root=$1
shift
ret=0 folders="include src"
for cc in "$@"; do
	# shellcheck disable=SC2086
	check "$root" "$cc" $folders || ret=1
	folders=include
done
exit $ret
