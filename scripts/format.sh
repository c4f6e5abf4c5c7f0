#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Formats all C files of the tree, or says which are not formatted.
#
#     format.sh [--check]
#
# Layout depends on the tool's version: --check is skipped (77) without the
# one of Debian 12.
cd "$(dirname "$0")/.." || exit 1
files=$(find include src tests fuzz examples -name '*.[ch]' | sort)

if [ "${1:-}" != --check ]; then
	# shellcheck disable=SC2086
	exec clang-format -i $files
fi
case $(clang-format --version 2>/dev/null) in
*'version 14.'*) ;;
*)
	echo "skipped: clang-format 14 is not there"
	exit 77
	;;
esac
# shellcheck disable=SC2086
clang-format --dry-run --Werror --ferror-limit=1 $files 2>&1 |
	grep -E 'error:' && { echo "run: make format"; exit 1; }
exit 0
