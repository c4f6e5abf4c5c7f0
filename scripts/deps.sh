#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing (Debian 12), or prints the line that would.
# docs/dependencies.md gives the reason for each package.
#
#     deps.sh                to build and run
#     deps.sh mpi            also Open MPI, and the programs that tests run
#                            over it
#     deps.sh check          also everything else that `make check` needs
#     deps.sh check --ahead  the same in the background; `deps.sh check` waits
#                            for it
set -eu
cd "$(dirname "$0")/.."
tools=build/tools

packages="gcc libc6-dev make clang libclang-rt-14-dev clang-format meson
	ninja-build pkg-config libyaml-dev libsqlite3-dev libisal-dev
	libcmocka-dev sqlite3 jq python3 ca-certificates spin libfabric-dev"
mpi="openmpi-bin libopenmpi-dev gfortran hpcc lammps scalapack-mpi-test
	netpipe-openmpi gromacs"
check="chromium-headless-shell tshark libjudydebian1 libfabric-bin groff-base
	mandoc man-db nbdkit nbdkit-plugin-dev libnbd-bin qemu-utils fio
	otf2-tools libotf2-trace-dev fuse3 e2fsprogs xfsprogs postmark bzip2"
case ${1-} in
mpi) packages="$packages $mpi" ;;
check) packages="$packages $mpi $check" ;;
esac
# npm may have come from elsewhere.
command -v npm >/dev/null || packages="$packages npm"

if ! command -v dpkg-query >/dev/null; then
	echo "not a Debian system; needed:" $packages
	exit 0
fi

find_missing() {
	missing=
	for p in $packages; do
		case $(dpkg-query -W -f '${Status}' "$p" 2>/dev/null) in
		*'ok installed') ;;
		*) missing="$missing $p" ;;
		esac
	done
}

# Sets as_root, or prints the command for an administrator.
may_install() {
	if [ "$(id -u)" = 0 ]; then
		as_root=
	elif sudo -n true 2>/dev/null; then
		as_root="sudo -n"
	else
		echo "missing packages; run:"
		echo "    sudo apt-get update && sudo apt-get install$missing"
		return 1
	fi
}

# A server that does not answer is given up soon.  Nothing that is started here
# keeps the lock below.
apt() {
	# shellcheck disable=SC2086
	$as_root env DEBIAN_FRONTEND=noninteractive apt-get -q \
		-o DPkg::Lock::Timeout=300 -o Acquire::Retries=2 \
		-o Acquire::http::Timeout=20 -o Acquire::https::Timeout=20 \
		"$@" 9>&-
}

install_missing() {
	# shellcheck disable=SC2086
	apt update && apt -y install --no-install-recommends $missing || {
		echo "packages could not be installed:$missing"
		return 1
	}
}

# GTKWave's reader without its desktop: the package is unpacked, not installed.
wave_reader() {
	command -v vcd2fst >/dev/null || [ -x "$tools/usr/bin/vcd2fst" ] ||
		(mkdir -p "$tools" && cd "$tools" &&
			apt-get -q download gtkwave 2>/dev/null &&
			dpkg-deb -x gtkwave_*.deb . && rm gtkwave_*.deb) ||
		echo "no vcd2fst: waves are not read back in the tests"
}
# Chromium's reader of timelines.
trace_reader() {
	(cd tests/viewer && { [ -d node_modules ] ||
		npm ci --ignore-scripts --no-audit --no-fund \
			--fetch-retries=1 --fetch-timeout=20000 \
			--loglevel=error; }) ||
		echo "no trace engine: timelines are not read back in the tests"
}

if [ "${1-}" != check ]; then
	find_missing
	[ -z "$missing" ] || { may_install && install_missing; }
	exit
fi

mkdir -p "$tools"
if [ "${2-}" = --ahead ]; then
	find_missing
	[ -z "$missing" ] || may_install
	"$0" check >"$tools/deps.log" 2>&1 </dev/null &
	exit 0
fi
# One at a time: this is where `make check` waits for what it began ahead.
exec 9>"$tools/deps.lock"
flock -w 600 9 || { echo "another installation does not end"; exit 1; }
find_missing
[ -z "$missing" ] || { may_install && install_missing; }
wave_reader
trace_reader
