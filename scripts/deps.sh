#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing (Debian 12), or prints the line that would.
# docs/dependencies.md gives the reason for each package.
#
#     deps.sh          to build and run
#     deps.sh check    also what only `make check` needs
#     deps.sh mpi      also Open MPI, and the programs that tests run over it
set -eu

packages="gcc libc6-dev make clang libclang-rt-14-dev clang-format meson
	ninja-build pkg-config libyaml-dev libsqlite3-dev libisal-dev
	libcmocka-dev sqlite3 jq python3 ca-certificates spin libfabric-dev"
[ "${1-}" = check ] &&
	packages="$packages chromium-headless-shell tshark libjudydebian1
		libfabric-bin"
[ "${1-}" = mpi ] &&
	packages="$packages openmpi-bin libopenmpi-dev hpcc lammps
		scalapack-mpi-test netpipe-openmpi gromacs"
# npm may have come from elsewhere.
command -v npm >/dev/null || packages="$packages npm"

if ! command -v dpkg-query >/dev/null; then
	echo "not a Debian system; needed:" $packages
	exit 0
fi
missing=
for p in $packages; do
	case $(dpkg-query -W -f '${Status}' "$p" 2>/dev/null) in
	*'ok installed') ;;
	*) missing="$missing $p" ;;
	esac
done

# GTKWave's reader without its desktop: the package is unpacked, not installed.
wave_reader() {
	tools=$(dirname "$0")/../build/tools
	command -v vcd2fst >/dev/null || [ -x "$tools/usr/bin/vcd2fst" ] ||
		(mkdir -p "$tools" && cd "$tools" &&
			apt-get -q download gtkwave 2>/dev/null &&
			dpkg-deb -x gtkwave_*.deb . && rm gtkwave_*.deb) ||
		echo "no vcd2fst: waves are not read back in the tests"
}
# Chromium's reader of timelines.
trace_reader() {
	(cd "$(dirname "$0")/../tests/viewer" && { [ -d node_modules ] ||
		npm ci --ignore-scripts --no-audit --no-fund --loglevel=error; }) ||
		echo "no trace engine: timelines are not read back in the tests"
}
readers() {
	wave_reader
	trace_reader
}
if [ -z "$missing" ]; then
	[ "${1-}" = check ] && readers
	exit 0
fi

if [ "$(id -u)" = 0 ]; then
	as_root=
elif sudo -n true 2>/dev/null; then
	as_root="sudo -n"
else
	echo "missing packages; run:"
	echo "    sudo apt-get update && sudo apt-get install$missing"
	exit 1
fi
wait="-o DPkg::Lock::Timeout=300"
export DEBIAN_FRONTEND=noninteractive
# shellcheck disable=SC2086
$as_root apt-get $wait -q update
# shellcheck disable=SC2086
$as_root apt-get $wait -q -y install --no-install-recommends $missing
[ "${1-}" = check ] && readers
exit 0
