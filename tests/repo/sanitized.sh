#!/usr/bin/env bash
# The parsers and stores of foreign bytes under AddressSanitizer and UndefinedBehaviorSanitizer: a build of their own,
# then their tests.
# usage: sanitized.sh SOURCE BUILD
set -euo pipefail
source=$1; build=$2
rooms=(base jobs log nkisim)
(cd "$source" && cmake --preset asan-ubsan -B "$build" >/dev/null)
targets=(); for room in "${rooms[@]}"; do targets+=("nkigrid_${room}_tests"); done
cmake --build "$build" --target "${targets[@]}" >/dev/null
# HDF5 1.10, linked statically (H5*), keeps what it allocated for files that it refused to open: its leak, not ours.
suppressions=$(mktemp); trap 'rm -f "$suppressions"' EXIT
echo 'leak:^H5' > "$suppressions"
export ASAN_OPTIONS=detect_stack_use_after_return=1 UBSAN_OPTIONS=print_stacktrace=1
export LSAN_OPTIONS=suppressions=$suppressions:print_suppressions=0
# Tests of memory and time bounds are left out: sanitizers have costs of their own.
bounds='Scale.*:Segment.FailedOpensLeakNoErrorStack'
for room in "${rooms[@]}"; do
  echo "== $room"
  "$build/tests/$room/nkigrid_${room}_tests" --gtest_brief=1 --gtest_filter="-$bounds"
done
