#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The long test.  First multipath, 10^7 packets over paths of random delay under
# the eyes of an oracle, without losses and with one in 10^5
# (tests/system/test_watch.py); links of EXTOLL with bit errors, every retry
# accounted for; 65,536 processes on one Host Port; remote disks with fio, ext4,
# xfs and the programs of the FORTH papers; then every experiment called
# soak-*, which says itself how many packets it sends: nothing lost, nothing
# damaged, all credits home.  Before them 100,000 random machines
# (tests/random; WEFT_MACHINES=FIRST:COUNT for others), whose statistics are
# added to build/random.jsonl.
#
#     soak.sh WEFT [OPTION...]     options as of `weft run`, e.g. --seed 7
cd "$(dirname "$0")/.." || exit 1
weft=$1
watch=$(dirname "$weft")/tests/system/weft-test-watch.so
shift
ret=0 ran=0

seed=$(echo "$*" | sed -n 's/.*--seed[ =]\([0-9]*\).*/\1/p')
echo "== multipath"
# shellcheck disable=SC2086
python3 tests/system/test_watch.py "$weft" . "$watch" 10000000 $seed || ret=1

echo "== links"
# shellcheck disable=SC2086
python3 tests/system/test_links.py "$weft" . 1000000 $seed || ret=1

echo "== 65,536 processes on a Host Port, 10^6 instructions"
python3 tests/system/test_hostport.py "$weft" . 1000000 || ret=1

echo "== NIC and network against their references"
"$(dirname "$weft")"/src/systems/forth/tests/test_nic_ref 1 10000 || ret=1
"$(dirname "$weft")"/src/systems/extoll/tests/test_network_ref 1 10000 || ret=1

echo "== networks of routers against their references"
for t in network queued gateway; do
	"$(dirname "$weft")"/src/systems/router/tests/test_router_${t}_ref \
		1 3000 || ret=1
done

echo "== resequencing against its reference"
"$(dirname "$weft")"/src/systems/forth/tests/test_reseq 1 1000 || ret=1

echo "== Ethernet switch and MAC against their references"
"$(dirname "$weft")"/src/systems/ethernet/tests/test_switch_ref 1 20000 || ret=1
"$(dirname "$weft")"/src/systems/ethernet/tests/test_mac_ref 1 2000 || ret=1

echo "== HVIA-GE against its reference"
"$(dirname "$weft")"/src/systems/hvia/tests/test_nic_ref 1 10000 || ret=1

echo "== HVIA-GE's translation table, 10^6 operations, against its reference"
"$(dirname "$weft")"/src/systems/hvia/tests/test_translation_table 1000000 || ret=1

echo "== processes that are killed and stopped"
python3 tests/system/kills.py "$weft" . "$(dirname "$weft")"/tests 200 || ret=1
python3 tests/mpi/test_ends.py "$weft" . "$(dirname "$weft")"/tests Long || ret=1

echo "== remote disks: 10 GB verified by fio over four NICs and under faults"
disk=tests/nbd/test_clients.py
python3 $disk "$weft" . --soak 10240 || [ $? = 77 ] || ret=1

echo "== remote disks: file systems and programs of the FORTH papers"
python3 tests/nbd/test_suite.py "$weft" . large || [ $? = 77 ] || ret=1

echo "== remote disks: 100,000 schedules of faults"
"$(dirname "$weft")"/tests/unit/storage/test_storage_faults 100000 || ret=1

echo "== random machines"
machines=${WEFT_MACHINES:-0:100000}
other=build-clang/weft
[ -x $other ] || other=$weft
python3 tests/random/campaign.py "$weft" --from "${machines%:*}" \
	--count "${machines#*:}" --other "$other" --keep build/random \
	--stats build/random.jsonl || ret=1

echo "== published rows that no parameter moves, with a broken source"
python3 scripts/mutate --rows || ret=1

echo "== hpcc over EXTOLL"
WEFT_BULK=exec/extoll-eight python3 tests/mpi/test_programs.py "$weft" . \
	"$(dirname "$weft")"/tests/mpi Programs.test_hpcc_passes_its_own_checks || ret=1

if [ -n "$WEFT_MPICH" ]; then
	echo "== MPICH"
	python3 tests/mpi/test_mpich.py "$weft" . all || ret=1
fi

for file in src/systems/*/experiments/soak-*.yaml; do
	[ -f "$file" ] || continue
	echo "== $file"
	"$weft" run "$file" "$@" || ret=1
	ran=$((ran + 1))
done
[ $ran -gt 0 ] || { echo "no soak experiments"; exit 1; }
exit $ret
